//! A point of one body that stays on a plane of another one, and does not slip on it unless it
//! is let.
//!
//! Simbody's `Constraint::PointOnPlaneContact`, and `PointInPlane` where the point slides. The
//! original returns errors and multipliers as z, x, y, though its pages say x, y, z; here they are
//! in x, y, z order.

use crate::spatial::{Force, Motion, Transform, Vec3};

use super::Data;

/// The follower point F of the body B is held at the plane z = 0 of the frame P on the body S, and
/// at rest in it: one equation for positions, three for velocities and accelerations. It holds in
/// both directions: the plane also pulls.
///
/// C is the point of S that coincides with F. Components are those of P, in x, y, z order, z being
/// the plane's normal.
///
/// ```
/// use hardstand_physics::dynamics::{Data, PointOnPlane, Positions, Velocities, kinematics};
/// use hardstand_physics::model::{Base, BodySpec, Builder};
/// use hardstand_physics::spatial::{SpatialInertia, Transform, Vec3};
///
/// let mut one = Builder::new("brick", Base::Floating);
/// one.bodies.push(BodySpec { name: "brick".into(), inertia: SpatialInertia::zero() });
/// let model = one.build()?;
/// let mut data = Data::new(&model);
/// kinematics(&model, &Positions::zero(&model), &Velocities::zero(&model), &mut data);
/// let corner = PointOnPlane {
///     plane_body: None, // the world
///     X_SP: Transform::identity(),
///     follower_body: 0,
///     p_BF: Vec3::new(0.1, 0.2, -0.3),
///     slides: false,
/// };
/// assert_eq!(corner.position_error(&data), -0.3);
/// # Ok::<(), hardstand_error::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointOnPlane {
    /// The body S that carries the plane; `None` for the world.
    pub plane_body: Option<usize>,
    /// Pose of the plane's frame P in S; z is the normal.
    pub X_SP: Transform,
    /// The body B that carries the point.
    pub follower_body: usize,
    /// The point, from B's origin, in B, m.
    pub p_BF: Vec3,
    /// The point moves in the plane as it likes: only the normal equations hold.
    pub slides: bool,
}

impl PointOnPlane {
    /// Whether the equation along this axis of P holds: 0, 1 or 2 for x, y or z.
    #[must_use]
    pub const fn holds(&self, axis: usize) -> bool {
        axis == 2 || !self.slides
    }

    /// Height of F above the plane, m. Needs [`kinematics`](super::kinematics()), as all of these.
    #[must_use]
    pub fn position_error(&self, data: &Data) -> f64 {
        self.X_WP(data).point_inverse(&self.p_WF(data)).z
    }

    /// Velocity of F in P: `R_Pᵀ (v_F − v_C)`, m/s. The z component is the rate of the position
    /// error.
    #[must_use]
    pub fn velocity_errors(&self, data: &Data) -> Vec3 {
        self.velocity_in_plane(data, &data.V)
    }

    /// Acceleration of F in P: `R_Pᵀ (a_F − a_C − 2 ω_S × (v_F − v_C))`, m/s², from the
    /// accelerations `data.A` under the gravity `gravity_W`. The rates of the velocity errors.
    #[must_use]
    pub fn acceleration_errors(&self, data: &Data, gravity_W: &Vec3) -> Vec3 {
        let (_, mut a_W) = data.acceleration_W(self.follower_body, &self.p_BF, gravity_W);
        if let Some(s) = self.plane_body {
            let p_SC = self.p_SC(data, s);
            let (_, a_C) = data.acceleration_W(s, &p_SC, gravity_W);
            let w_S = data.X_WB[s].R * data.V[s].ang;
            let v_F = data.point_velocity_W(self.follower_body, &self.p_BF);
            let v_C = data.point_velocity_W(s, &p_SC);
            a_W = a_W - a_C - w_S.cross(&(v_F - v_C)) * 2.0;
        }
        self.X_WP(data).R.tr_mul(&a_W)
    }

    /// `R_Pᵀ (v_F − v_C)` if the bodies had the spatial velocities `V` (each about the body's
    /// origin in its axes): the Jacobian `G` of this constraint, applied to a motion.
    #[must_use]
    pub fn velocity_in_plane(&self, data: &Data, V: &[Motion]) -> Vec3 {
        let b = self.follower_body;
        let mut v_W = data.X_WB[b].R * V[b].at_point(&self.p_BF);
        if let Some(s) = self.plane_body {
            v_W -= data.X_WB[s].R * V[s].at_point(&self.p_SC(data, s));
        }
        self.X_WP(data).R.tr_mul(&v_W)
    }

    /// Adds the force `f_P` (N, in P) on the follower at F and the opposite one on S at the same
    /// place to `forces_B` (about each body's origin in its axes): `Gᵀ`, applied to a force. Also
    /// for impulses.
    pub fn add_force(&self, data: &Data, f_P: &Vec3, forces_B: &mut [Force]) {
        let f_W = self.X_WP(data).R * f_P;
        let b = self.follower_body;
        forces_B[b] += Force::at_point(data.X_WB[b].R.tr_mul(&f_W), &self.p_BF);
        if let Some(s) = self.plane_body {
            let p_SC = self.p_SC(data, s);
            forces_B[s] -= Force::at_point(data.X_WB[s].R.tr_mul(&f_W), &p_SC);
        }
    }

    /// Pose of the plane's frame in W.
    #[must_use]
    pub fn X_WP(&self, data: &Data) -> Transform {
        match self.plane_body {
            Some(s) => data.X_WB[s].compose(&self.X_SP),
            None => self.X_SP,
        }
    }

    /// Position of the follower point in W, m.
    #[must_use]
    pub fn p_WF(&self, data: &Data) -> Vec3 {
        data.point_W(self.follower_body, &self.p_BF)
    }

    fn p_SC(&self, data: &Data, s: usize) -> Vec3 {
        data.X_WB[s].point_inverse(&self.p_WF(data))
    }
}
