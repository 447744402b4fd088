//! A brick on a half-space: linear penalty at the corners of one face, as in Simbody's
//! `CompliantContactSubsystem`.

use crate::spatial::{Motion, Transform, Vec3};
use hardstand_error::Result;

use super::compliant::Stribeck;
use super::hertz::{HUGE, RelativeVelocity, harmonic, mixed_dissipation, mixed_friction};
use super::material::positive;
use super::{ContactForce, ContactMaterial, ContactSlopes, Friction, HalfSpace};

/// A brick (surface 2) on a half-space (surface 1). Only the four corners of one face act: of the
/// three faces at the deepest corner, the one that faces the half-space most. At a corner of depth
/// `x` and approach `ẋ`, with `k = E₁ E₂ / (E₁ + E₂)` taken as N/m:
///
/// - `f = k x (1 + c ẋ)` (the factor of `c` is 1 here, not 1.5) and energy `k x² / 2`;
/// - friction as in [`CompliantContact`](super::CompliantContact).
///
/// A corner that leaves faster than it can spring back has no force; its energy still counts and is
/// booked as lost at the rate `−k x ẋ`.
///
/// ```
/// use hardstand_physics::contact::{BrickContact, ContactMaterial, HalfSpace};
/// use hardstand_physics::spatial::{Motion, Transform, Vec3};
///
/// let wood = ContactMaterial::new(2e4, 0.1, 0.5, 0.4, 0.0)?;
/// let brick = BrickContact::new(&wood, &wood, Vec3::new(0.2, 0.1, 0.05), 0.01)?;
/// let floor = HalfSpace { point: Vec3::zeros(), normal: Vec3::z() };
/// let pose = Transform::from_xyz_rpy([0.0, 0.0, 0.049], [0.0; 3]);
/// let mu = brick.initial_friction();
/// let sum = brick.evaluate(&mu, &floor, &pose, &Motion::zero()).unwrap();
/// assert_eq!(sum.vertices().len(), 4);
/// assert!((sum.contact.force.z - 4.0 * 1e4 * 1e-3).abs() < 1e-9);
/// # Ok::<(), hardstand_error::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BrickContact {
    half_lengths_m: Vec3,
    stiffness_n_per_m: f64,
    dissipation_s_per_m: f64,
    share_1: f64,
    friction: Friction,
    mu_viscous_s_per_m: f64,
    transition_velocity_m_per_s: f64,
}

/// What one corner of a brick does.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct VertexForce {
    /// Depth of the corner, m.
    pub depth_m: f64,
    /// Rate of the depth, m/s.
    pub depth_rate_m_per_s: f64,
    /// Tangential velocity of the brick past the half-space at the contact point, m/s.
    pub slip: Vec3,
    /// Normal force on the brick, N.
    pub normal: Vec3,
    /// Its record, without moment.
    pub contact: ContactForce,
}

/// Forces of a brick.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BrickForce {
    /// The resultant at the centre of pressure, taken from the half-space's `point`: see
    /// [`ContactForce::resultant`] on what that choice means.
    pub contact: ContactForce,
    vertices: [VertexForce; 4],
    count: usize,
}

impl BrickForce {
    /// The corners that are inside the half-space, at least one.
    #[must_use]
    pub fn vertices(&self) -> &[VertexForce] {
        &self.vertices[..self.count]
    }
}

impl BrickContact {
    /// A brick of given half lengths (m) on a half-space, with a transition velocity (m/s;
    /// Simbody's default is 0.01).
    ///
    /// # Errors
    /// [`ErrorKind::Input`](hardstand_error::ErrorKind::Input) unless half lengths and transition
    /// velocity are finite and greater than 0 and both materials are
    /// [valid](ContactMaterial::is_valid).
    pub fn new(
        half_space: &ContactMaterial,
        brick: &ContactMaterial,
        half_lengths_m: Vec3,
        transition_velocity_m_per_s: f64,
    ) -> Result<Self> {
        for (name, material) in [("half-space", half_space), ("brick", brick)] {
            positive("stiffness_pa", material.stiffness_pa()).map_err(|e| e.within(name))?;
        }
        for (axis, length) in ["x", "y", "z"].iter().zip(half_lengths_m.iter()) {
            positive(&format!("half_lengths_m.{axis}"), *length)?;
        }
        positive("transition_velocity_m_per_s", transition_velocity_m_per_s)?;
        let (one, two) = (half_space.stiffness_pa(), brick.stiffness_pa());
        let share_1 = two / (one + two);
        Ok(Self {
            half_lengths_m,
            stiffness_n_per_m: one * share_1,
            dissipation_s_per_m: mixed_dissipation(half_space, brick, share_1),
            share_1,
            friction: mixed_friction(half_space, brick),
            mu_viscous_s_per_m: harmonic(
                half_space.mu_viscous_s_per_m(),
                brick.mu_viscous_s_per_m(),
            ),
            transition_velocity_m_per_s,
        })
    }

    /// `μₛ` and `μ_d` of the combined materials, to start with.
    #[must_use]
    pub const fn initial_friction(&self) -> Friction {
        self.friction
    }

    /// Forces of the brick with pose `X_AB`, or `None` if no corner is inside. `V_21_A` is the
    /// spatial velocity of the brick relative to the half-space, at A's origin and in A; the
    /// half-space and the result are in A, too.
    #[must_use]
    pub fn evaluate(
        &self,
        friction: &Friction,
        half_space: &HalfSpace,
        X_AB: &Transform,
        V_21_A: &Motion,
    ) -> Option<BrickForce> {
        let mut vertices = [VertexForce::default(); 4];
        let mut count = 0;
        for p_B in self.face(&X_AB.R.tr_mul(&half_space.normal)) {
            let p = X_AB.point(&p_B);
            let depth_m = -half_space.distance_m(&p);
            if depth_m > 0.0 {
                let point = self.contact_point(&p, &half_space.normal, depth_m);
                let v_12 = -V_21_A.at_point(&point);
                vertices[count] = self.vertex(friction, &half_space.normal, &point, depth_m, &v_12);
                count += 1;
            }
        }
        let parts = vertices[..count].iter().map(|v| (v.contact, v.normal));
        let contact = ContactForce::resultant(parts, &half_space.point);
        (count > 0).then_some(BrickForce { contact, vertices, count })
    }

    /// The corners, in B, of the face that faces the half-space of outward normal `normal_B`: at
    /// the deepest corner every sign is against the normal, so the face across the normal's largest
    /// component is the most anti-parallel of the three there.
    pub(crate) fn face(&self, normal_B: &Vec3) -> [Vec3; 4] {
        let axis = normal_B.iamax();
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        let mut corners = [self.half_lengths_m; 4];
        for (i, corner) in corners.iter_mut().enumerate() {
            if normal_B[axis] > 0.0 {
                corner[axis] = -corner[axis];
            }
            if i & 1 == 1 {
                corner[u] = -corner[u];
            }
            if i & 2 == 2 {
                corner[v] = -corner[v];
            }
        }
        corners
    }

    /// Where a corner at `p`, `depth_m` deep, has its force.
    pub(crate) fn contact_point(&self, p: &Vec3, normal: &Vec3, depth_m: f64) -> Vec3 {
        p + normal * (depth_m.min(HUGE) * (1.0 - self.share_1))
    }

    /// One corner, `depth_m` deep, with the velocity of surface 1 less that of surface 2 at its
    /// contact point.
    pub(crate) fn vertex(
        &self,
        friction: &Friction,
        normal: &Vec3,
        point: &Vec3,
        depth_m: f64,
        v_12: &Vec3,
    ) -> VertexForce {
        let law = Stribeck {
            friction: *friction,
            mu_viscous_s_per_m: self.mu_viscous_s_per_m,
            transition_velocity_m_per_s: self.transition_velocity_m_per_s,
        };
        let (depth_m, point) = (depth_m.min(HUGE), *point);
        let v = RelativeVelocity::new(v_12, normal);
        let rate = v.approach_m_per_s;
        let elastic_n = self.elastic_n(depth_m);
        let damping_n = (self.dissipation_s_per_m * rate * elastic_n).clamp(-HUGE, HUGE);
        let normal_n = elastic_n + damping_n;
        let mut contact = ContactForce {
            point,
            potential_energy_j: 0.5 * elastic_n * depth_m,
            power_dissipation_w: -elastic_n * rate,
            ..ContactForce::default()
        };
        let mut normal_force = Vec3::zeros();
        if normal_n > 0.0 {
            let (friction, friction_w) = law.force(normal_n, &v);
            normal_force = normal * normal_n;
            contact.force = normal_force + friction;
            contact.power_dissipation_w = damping_n * rate + friction_w;
        }
        VertexForce {
            depth_m,
            depth_rate_m_per_s: rate,
            slip: -v.slip,
            normal: normal_force,
            contact,
        }
    }

    /// Elastic part of the force of a corner, N.
    pub(crate) fn elastic_n(&self, depth_m: f64) -> f64 {
        (self.stiffness_n_per_m * depth_m).min(HUGE)
    }

    /// How fast the force of a corner gives way; its friction as a damper of friction over slip.
    pub(crate) fn slopes(&self, at: &VertexForce) -> ContactSlopes {
        let (normal_n, slip) = (at.normal.norm(), at.slip.norm());
        if normal_n <= 0.0 {
            return ContactSlopes::default();
        }
        let friction_n = (at.contact.force - at.normal).norm();
        ContactSlopes {
            normal_n_per_m: normal_n / at.depth_m,
            normal_n_s_per_m: self.dissipation_s_per_m * self.elastic_n(at.depth_m),
            friction_n_per_m: 0.0,
            friction_n_s_per_m: if slip > 0.0 { friction_n / slip } else { 0.0 },
        }
    }

    /// Slip at which friction is fully there, m/s.
    pub(crate) const fn transition_m_per_s(&self) -> f64 {
        self.transition_velocity_m_per_s
    }
}
