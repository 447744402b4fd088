//! Bodies that are not part of the robot: what they are, and how forces move them.

use crate::spatial::{Force, Mat3, Motion, Quaternion, SpatialInertia, Transform, Vec3};

use super::super::Word;
use super::super::contact_state::walk3;

/// What a free body can do. Axes are unit vectors in the frame of the body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mobility {
    /// Everything. The origin of its frame is its centre of mass.
    Free,
    /// It turns about an axis through its origin, which stays where it is: a door.
    Hinge {
        /// The axis.
        axis_B: Vec3,
    },
    /// It moves along an axis and does not turn: a cart.
    Slide {
        /// The axis.
        axis_B: Vec3,
    },
}

/// A body that is not part of the robot.
#[derive(Clone, Debug, PartialEq)]
pub struct FreeBody {
    /// Name, unique.
    pub name: String,
    /// Inertia about the origin of its frame B.
    pub inertia: SpatialInertia,
    /// What it can do.
    pub mobility: Mobility,
    /// Viscous damping of a hinge, N·m·s/rad, or slide, N·s/m.
    pub damping: f64,
    /// Pose at the start.
    pub X_WB: Transform,
    /// Angular velocity and velocity of its origin at the start, both in W, rad/s and m/s.
    pub V_W: Motion,
}

/// Pose and velocity of a free body: part of the state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyState {
    /// Orientation of B in W.
    pub quat_WB: Quaternion,
    /// Position of B's origin in W, m.
    pub p_WB: Vec3,
    /// Angular velocity in W, rad/s.
    pub w_WB: Vec3,
    /// Velocity of B's origin in W, m/s.
    pub v_WB: Vec3,
}

impl BodyState {
    /// The state at the start.
    pub(super) fn of(body: &FreeBody) -> Self {
        Self {
            quat_WB: Quaternion::from_matrix(&body.X_WB.R),
            p_WB: body.X_WB.p,
            w_WB: body.V_W.ang,
            v_WB: body.V_W.lin,
        }
    }

    /// Pose of B in W.
    #[must_use]
    pub fn pose(&self) -> Transform {
        Transform::new(self.quat_WB.to_matrix(), self.p_WB)
    }

    /// Velocity in W of the body's point that is at `p_W`, m/s.
    #[must_use]
    pub fn velocity_at(&self, p_W: &Vec3) -> Vec3 {
        self.v_WB + self.w_WB.cross(&(p_W - self.p_WB))
    }

    #[inline(always)]
    pub(in super::super) fn walk(
        &mut self,
        i: usize,
        visit: &mut impl FnMut(&'static str, usize, Word<'_>),
    ) {
        let quat = &mut self.quat_WB;
        for (k, x) in [&mut quat.w, &mut quat.x, &mut quat.y, &mut quat.z].into_iter().enumerate() {
            visit("body.quat_WB_wxyz", 4 * i + k, Word::F64(x));
        }
        for (name, vector) in [
            ("body.p_WB", &mut self.p_WB),
            ("body.w_WB", &mut self.w_WB),
            ("body.v_WB", &mut self.v_WB),
        ] {
            let mut numbers = vector.to_array();
            walk3(name, i, &mut numbers, visit);
            *vector = numbers.into();
        }
    }
}

impl FreeBody {
    /// Changes the velocities by `force_W` in `h` seconds: moment about B's origin and force, both
    /// in W, without gravity.
    pub(super) fn accelerate(
        &self,
        state: &mut BodyState,
        force_W: &Force,
        gravity_W: &Vec3,
        h: f64,
    ) {
        let R = state.quat_WB.to_matrix();
        match self.mobility {
            Mobility::Free => {
                state.v_WB += (force_W.lin / self.inertia.mass + gravity_W) * h;
                state.w_WB += self.spin(&R, &(force_W.ang * h));
            }
            Mobility::Hinge { axis_B } => {
                let axis_W = R * axis_B;
                let weight = (R * self.inertia.h).cross(gravity_W);
                let speed = axis_W.dot(&state.w_WB);
                let (moment, inertia) = (axis_W.dot(&(force_W.ang + weight)), self.about(&axis_B));
                state.w_WB = axis_W * self.damped(speed + h * moment / inertia, inertia, h);
            }
            Mobility::Slide { axis_B } => {
                let axis_W = R * axis_B;
                let speed = axis_W.dot(&state.v_WB);
                let mass = self.inertia.mass;
                let along = axis_W.dot(&(force_W.lin + gravity_W * mass));
                state.v_WB = axis_W * self.damped(speed + h * along / mass, mass, h);
            }
        }
    }

    /// A speed after `h` seconds of damping, taken at the end of the step: it never turns round,
    /// whatever the damping.
    fn damped(&self, speed: f64, inertia: f64, h: f64) -> f64 {
        speed / (1.0 + h * self.damping / inertia)
    }

    /// Moves the body for `h` seconds with its velocities. One that is free keeps its angular
    /// momentum to rounding.
    pub(super) fn advance(&self, state: &mut BodyState, h: f64) {
        match self.mobility {
            Mobility::Free => {
                state.p_WB += state.v_WB * h;
                // angular momentum is what lasts, not angular velocity
                let R = state.quat_WB.to_matrix();
                let L_W = R * (self.inertia.I * R.tr_mul(&state.w_WB));
                // the mean of the step: the velocity that the momentum has half-way
                let middle = turned(&state.quat_WB, &(state.w_WB * (0.5 * h)));
                let mean_W = self.spin(&middle.to_matrix(), &L_W);
                state.quat_WB = turned(&state.quat_WB, &(mean_W * h));
                state.w_WB = self.spin(&state.quat_WB.to_matrix(), &L_W);
            }
            Mobility::Hinge { .. } => {
                state.quat_WB = turned(&state.quat_WB, &(state.w_WB * h));
            }
            Mobility::Slide { .. } => state.p_WB += state.v_WB * h,
        }
    }

    /// How angular velocity and velocity of B's origin jump under an impulse that acts `arm_W` from
    /// the origin, N·s; all in W.
    pub(in super::super) fn jump(
        &self,
        state: &BodyState,
        arm_W: &Vec3,
        impulse_W: &Vec3,
    ) -> (Vec3, Vec3) {
        let R = state.quat_WB.to_matrix();
        match self.mobility {
            Mobility::Free => {
                let dw_W = self.spin(&R, &arm_W.cross(impulse_W));
                (dw_W, *impulse_W / self.inertia.mass)
            }
            Mobility::Hinge { axis_B } => {
                let axis_W = R * axis_B;
                let about_axis = axis_W.dot(&arm_W.cross(impulse_W));
                (axis_W * (about_axis / self.about(&axis_B)), Vec3::zeros())
            }
            Mobility::Slide { axis_B } => {
                let axis_W = R * axis_B;
                (Vec3::zeros(), axis_W * (axis_W.dot(impulse_W) / self.inertia.mass))
            }
        }
    }

    /// Angular velocity that belongs to an angular momentum, both in W.
    fn spin(&self, R: &Mat3, L_W: &Vec3) -> Vec3 {
        *R * (self.per_inertia() * R.tr_mul(L_W))
    }

    fn per_inertia(&self) -> Mat3 {
        self.inertia.I.inverse().unwrap_or(Mat3::zeros())
    }

    /// Inertia about an axis through the origin, kg·m².
    pub(super) fn about(&self, axis_B: &Vec3) -> f64 {
        axis_B.dot(&(self.inertia.I * *axis_B))
    }
}

fn turned(quat_WB: &Quaternion, by_W: &Vec3) -> Quaternion {
    Quaternion::from_rotation_vector(by_W).mul(quat_WB).renormalised()
}
