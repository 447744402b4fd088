//! Hertz contact of a sphere with a half-space or a sphere: overlap and combined material.
//!
//! Surface 1 is the half-space or the first sphere, and normals point from surface 1 to surface 2.
//! All vectors are in one frame A of the caller's choice.

use crate::spatial::Vec3;
use hardstand_error::Result;

use super::material::positive;
use super::{ContactMaterial, Friction};

/// Depths (m), speeds (m/s) and forces (N) beyond this are cut off: far above anything physical,
/// and a product of two of them is still finite.
pub(super) const HUGE: f64 = 1e100;

/// All space on one side of a plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HalfSpace {
    /// A point of the surface, m.
    pub point: Vec3,
    /// Unit normal of the surface; it points out of the half-space.
    pub normal: Vec3,
}

impl HalfSpace {
    /// Signed distance of `p` from the surface, m: positive outside.
    #[must_use]
    pub fn distance_m(&self, p: &Vec3) -> f64 {
        self.normal.dot(&(p - self.point))
    }
}

/// How two undeformed surfaces overlap.
///
/// ```
/// use hardstand_physics::contact::{HalfSpace, Overlap};
/// use hardstand_physics::spatial::Vec3;
///
/// let floor = HalfSpace { point: Vec3::zeros(), normal: Vec3::z() };
/// let o = Overlap::sphere_on_half_space(&floor, &Vec3::new(1.0, 0.0, 0.048), 0.05).unwrap();
/// assert!((o.depth_m - 0.002).abs() < 1e-15 && (o.point.z + 0.001).abs() < 1e-15);
/// assert!((o.patch_radius_m() - 0.01).abs() < 1e-14);
/// assert_eq!(Overlap::sphere_on_half_space(&floor, &Vec3::new(1.0, 0.0, 0.05), 0.05), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overlap {
    /// Depth, m.
    pub depth_m: f64,
    /// The point in the middle of the overlap, m: where the contact were between surfaces of equal
    /// stiffness. [`HertzPair::contact_point`] is where it is.
    pub point: Vec3,
    /// Unit normal, from surface 1 to surface 2.
    pub normal: Vec3,
    /// Effective radius `R` of curvature, m.
    pub radius_m: f64,
}

impl Overlap {
    /// Radius `a = √(R x)` of the patch in which the deformed surfaces touch, m.
    #[must_use]
    pub fn patch_radius_m(&self) -> f64 {
        (self.radius_m * self.depth_m).sqrt()
    }

    /// A sphere (surface 2) on a half-space (surface 1), or `None` if they do not overlap.
    #[must_use]
    pub fn sphere_on_half_space(
        half_space: &HalfSpace,
        centre: &Vec3,
        radius_m: f64,
    ) -> Option<Self> {
        let distance_m = half_space.distance_m(centre);
        Self::sphere_at_distance(distance_m, &half_space.normal, centre, radius_m)
    }

    /// The same where only the signed distance of the sphere's centre from the surface (m) and the
    /// outward unit normal there are known: a local tangent plane will do.
    #[must_use]
    pub fn sphere_at_distance(
        distance_m: f64,
        normal: &Vec3,
        centre: &Vec3,
        radius_m: f64,
    ) -> Option<Self> {
        let depth_m = radius_m - distance_m;
        let point = centre - normal * (distance_m + 0.5 * depth_m);
        Self::of(depth_m, point, *normal, radius_m)
    }

    /// Two spheres by centre and radius (m), the first being surface 1. `None` if they do not
    /// overlap, and as in Simbody if the centres coincide: then there is no normal.
    #[must_use]
    pub fn sphere_on_sphere(
        centre_1: &Vec3,
        radius_1_m: f64,
        centre_2: &Vec3,
        radius_2_m: f64,
    ) -> Option<Self> {
        let between = centre_2 - centre_1;
        let distance_m = between.norm();
        // written so that NaN and an overflow of the norm are no contact
        if !(distance_m > 0.0 && distance_m < f64::INFINITY) {
            return None;
        }
        let normal = between / distance_m;
        let depth_m = radius_1_m + radius_2_m - distance_m;
        let point = centre_1 + normal * (radius_1_m - 0.5 * depth_m);
        let radius_m = radius_1_m * (radius_2_m / (radius_1_m + radius_2_m));
        Self::of(depth_m, point, normal, radius_m)
    }

    /// NaN is no overlap.
    fn of(depth_m: f64, point: Vec3, normal: Vec3, radius_m: f64) -> Option<Self> {
        (depth_m > 0.0 && radius_m > 0.0).then_some(Self { depth_m, point, normal, radius_m })
    }
}

/// The combined material of two surfaces in a Hertz contact. With `k_i = E_i^(2/3)` and
/// `s₁ = k₂ / (k₁ + k₂)`, the share of the deformation that surface 1 takes:
/// `k = k₁ s₁`, `c = c₁ s₁ + c₂ (1 − s₁)`, and `μ = 2 μ₁ μ₂ / (μ₁ + μ₂)` for each coefficient of
/// friction (Simbody's `HuntCrossleyForce`).
///
/// ```
/// use hardstand_physics::contact::{ContactMaterial, HertzPair};
///
/// let soft = ContactMaterial::new(1e5, 0.4, 0.8, 0.6, 0.0)?;
/// let hard = ContactMaterial::new(1e11, 0.0, 0.8, 0.3, 0.0)?;
/// let pair = HertzPair::new(&soft, &hard)?;
/// assert!(pair.share_1() > 0.999, "the soft one deforms");
/// assert!((pair.friction().mu_kinetic() - 0.4).abs() < 1e-15);
/// # Ok::<(), hardstand_error::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HertzPair {
    stiffness23: f64,
    dissipation_s_per_m: f64,
    share_1: f64,
    friction: Friction,
    mu_viscous_s_per_m: f64,
}

impl HertzPair {
    /// Combines the materials of the surfaces 1 and 2.
    ///
    /// # Errors
    /// [`ErrorKind::Input`](hardstand_error::ErrorKind::Input) if a material is not
    /// [valid](ContactMaterial::is_valid): one without stiffness cannot carry anything.
    pub fn new(one: &ContactMaterial, two: &ContactMaterial) -> Result<Self> {
        for (name, material) in [("surface 1", one), ("surface 2", two)] {
            positive("stiffness_pa", material.stiffness_pa()).map_err(|e| e.within(name))?;
        }
        let share_1 = two.stiffness23() / (one.stiffness23() + two.stiffness23());
        Ok(Self {
            stiffness23: one.stiffness23() * share_1,
            dissipation_s_per_m: mixed_dissipation(one, two, share_1),
            share_1,
            friction: mixed_friction(one, two),
            mu_viscous_s_per_m: harmonic(one.mu_viscous_s_per_m(), two.mu_viscous_s_per_m()),
        })
    }

    /// `k = E^(2/3)` of the pair, Pa^(2/3).
    #[must_use]
    pub const fn stiffness23(&self) -> f64 {
        self.stiffness23
    }

    /// `c` of the pair, s/m.
    #[must_use]
    pub const fn dissipation_s_per_m(&self) -> f64 {
        self.dissipation_s_per_m
    }

    /// `s₁`: the share of the deformation that surface 1 takes, 0 to 1.
    #[must_use]
    pub const fn share_1(&self) -> f64 {
        self.share_1
    }

    /// `μₛ` and `μ_d` of the pair.
    #[must_use]
    pub const fn friction(&self) -> Friction {
        self.friction
    }

    /// `μᵥ` of the pair, s/m.
    #[must_use]
    pub const fn mu_viscous_s_per_m(&self) -> f64 {
        self.mu_viscous_s_per_m
    }

    /// Where the contact acts, m: nearer to the stiffer surface. The velocities that the force laws
    /// ask for are those of the two bodies here.
    #[must_use]
    pub fn contact_point(&self, overlap: &Overlap) -> Vec3 {
        overlap.point + overlap.normal * (overlap.depth_m * (0.5 - self.share_1))
    }

    /// Elastic normal force `(4/3) k x √(R k x)`, N, and its energy `(2/5) f x`, J.
    #[must_use]
    pub fn elastic(&self, overlap: &Overlap) -> (f64, f64) {
        // Overlap's fields are open to anyone: no depth or no radius is no force, not a NaN
        if !(overlap.depth_m > 0.0 && overlap.radius_m > 0.0) {
            return (0.0, 0.0);
        }
        let depth_m = overlap.depth_m.min(HUGE);
        let pressed = self.stiffness23 * depth_m;
        let force_n = (4.0 / 3.0 * pressed * (overlap.radius_m * pressed).sqrt()).min(HUGE);
        (force_n, 0.4 * force_n * depth_m)
    }

    /// Damping part `1.5 c ẋ f` of the normal force, N, for an elastic force `elastic_n > 0`.
    pub(super) fn damping_n(&self, elastic_n: f64, approach_m_per_s: f64) -> f64 {
        let share = self.dissipation_s_per_m * approach_m_per_s * 1.5;
        (share * elastic_n).clamp(-HUGE, HUGE)
    }
}

/// Each material dissipates in the share of the deformation that it takes.
pub(super) fn mixed_dissipation(one: &ContactMaterial, two: &ContactMaterial, share_1: f64) -> f64 {
    one.dissipation_s_per_m() * share_1 + two.dissipation_s_per_m() * (1.0 - share_1)
}

pub(super) fn mixed_friction(one: &ContactMaterial, two: &ContactMaterial) -> Friction {
    Friction::new(
        harmonic(one.mu_static(), two.mu_static()),
        harmonic(one.mu_dynamic(), two.mu_dynamic()),
    )
}

/// `2 a b / (a + b)`, and 0 if either is 0; in an order that does not overflow.
pub(super) fn harmonic(a: f64, b: f64) -> f64 {
    if a > 0.0 && b > 0.0 { 2.0 * (a * (b / (a + b))) } else { 0.0 }
}

/// A relative velocity taken apart along a contact normal.
pub(super) struct RelativeVelocity {
    /// Speed of approach, m/s: positive while the depth grows.
    pub(super) approach_m_per_s: f64,
    /// Tangential velocity of surface 1 past surface 2, m/s.
    pub(super) slip: Vec3,
    /// Its length, m/s.
    pub(super) slip_m_per_s: f64,
}

impl RelativeVelocity {
    /// `v_12` is the velocity of surface 1 minus that of surface 2, m/s.
    pub(super) fn new(v_12: &Vec3, normal: &Vec3) -> Self {
        let v = v_12.map(|x| x.clamp(-HUGE, HUGE));
        let approach_m_per_s = v.dot(normal);
        let slip = v - normal * approach_m_per_s;
        Self { approach_m_per_s, slip, slip_m_per_s: slip.norm() }
    }
}
