//! Free bodies, and the points where shapes touch: the payload of `bodies`.

use std::mem::take;

use serde::{Deserialize, Serialize};

/// Free bodies of the scenario, and the points where collision shapes touch the ground or each
/// other, after `tick` ticks. Stations are not among them: they are in `contacts`.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BodiesReading {
    /// Layout hash, as in the state.
    pub layout_hash: u64,
    /// Run number.
    pub run_id: u32,
    /// Ticks done.
    pub tick: u64,
    /// Simulated time, ns.
    pub time_ns: u64,
    /// Points that carry a force but are not in `points`, which has room for
    /// [`TOUCHES_MAX`](crate::limits::TOUCHES_MAX).
    pub points_left_out: u32,
    /// One entry per free body, in the order of `model`.
    pub bodies: Vec<BodyReading>,
    /// Points that carry a force.
    pub points: Vec<TouchReading>,
}

/// Pose and velocity of a free body, in world axes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BodyReading {
    /// Origin of its frame, m: of a body without joint its centre of mass.
    pub position_world_m: [f64; 3],
    /// Orientation of its frame in the world, order w, x, y, z.
    pub quat_wxyz: [f64; 4],
    /// Velocity of the origin, m/s.
    pub velocity_world_m_per_s: [f64; 3],
    /// Angular velocity, rad/s.
    pub angular_velocity_world_rad_per_s: [f64; 3],
}

/// One point where two shapes touch. A and B are the sides; B is the ground where the ground is one
/// of them. Vectors are in world axes, and forces act *on A*.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TouchReading {
    /// What A is: [`TouchReading::LINK`] or [`TouchReading::BODY`].
    pub a_kind: u8,
    /// Its index in `links` or `bodies` of `model`.
    pub a_index: u32,
    /// What B is: [`TouchReading::SURFACE`], [`TouchReading::LINK`] or [`TouchReading::BODY`].
    pub b_kind: u8,
    /// Its index in `surfaces`, `links` or `bodies` of `model`.
    pub b_index: u32,
    /// Where the force acts, m.
    pub point_world_m: [f64; 3],
    /// Unit normal, from B to A.
    pub normal_world: [f64; 3],
    /// Force on A, N; the force on B is opposite.
    pub force_world_n: [f64; 3],
    /// How deep the shapes overlap, m; negative for a gap.
    pub depth_m: f64,
    /// Tangential speed of A relative to B, m/s.
    pub slip_m_per_s: f64,
    /// Sliding: 0 sticks, 1 slides.
    pub sliding: f64,
    /// Coefficient of friction in use.
    pub mu: f64,
}

impl TouchReading {
    /// A surface of the ground.
    pub const SURFACE: u8 = 0;
    /// A link of the robot.
    pub const LINK: u8 = 1;
    /// A free body.
    pub const BODY: u8 = 2;
}

impl BodiesReading {
    /// Room for so many bodies, which are all there, and points, of which there is none.
    #[must_use]
    pub fn with_room(bodies: usize, points: usize) -> Self {
        let mut all = vec![TouchReading::default(); points];
        all.clear(); // written once, so that the loop causes no page fault
        Self { bodies: vec![BodyReading::default(); bodies], points: all, ..Self::default() }
    }

    /// Whether there is nothing to report.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.bodies.is_empty() && self.points.is_empty() && self.points_left_out == 0
    }

    /// Copies without allocating; both have been filled by the same plant.
    pub fn copy_from(&mut self, o: &Self) {
        let (mut bodies, mut points) = (take(&mut self.bodies), take(&mut self.points));
        bodies.clone_from(&o.bodies);
        points.clone_from(&o.points);
        *self = Self { bodies, points, ..*o };
    }
}

/// A derived clone would have no room for more points.
impl Clone for BodiesReading {
    fn clone(&self) -> Self {
        let mut out = Self::with_room(self.bodies.len(), self.points.capacity());
        out.copy_from(self);
        out
    }
}
