//! The readings of free bodies and of the points where shapes touch.

use hardstand_physics::plant::{BodyState, Carrier, CollisionPoint};
use hardstand_physics::spatial::Vec3;
use hardstand_protocol::limits::TOUCHES_MAX;
use hardstand_protocol::{BodiesReading, BodyReading, TouchReading};

use super::Simulation;
use super::readings::is_shown;

impl Simulation {
    /// Room for what [`fill_bodies`](Self::fill_bodies) can find.
    pub(super) fn new_bodies_reading(&self) -> BodiesReading {
        let spec = &self.spec().collisions;
        let points = if spec.shapes.is_empty() { 0 } else { spec.points_max.min(TOUCHES_MAX) };
        BodiesReading::with_room(spec.bodies.len(), points)
    }

    /// Does not allocate: what finds no room is counted.
    pub(super) fn fill_bodies(&self, out: &mut BodiesReading) {
        (out.layout_hash, out.tick, out.time_ns) =
            (self.layout_hash(), self.state().tick, self.time_ns());
        for (out, body) in out.bodies.iter_mut().zip(&self.state().bodies) {
            *out = body_reading(body);
        }
        out.points.clear();
        out.points_left_out = 0;
        let points = self.plant.collisions().points().iter();
        for point in points.filter(|at| is_shown(at.spring_force()) && at.weight > 0.0) {
            if out.points.len() < out.points.capacity().min(TOUCHES_MAX) {
                out.points.push(touch_reading(point));
            } else {
                out.points_left_out += 1;
            }
        }
    }
}

fn body_reading(body: &BodyState) -> BodyReading {
    BodyReading {
        position_world_m: body.p_WB.into(),
        quat_wxyz: body.quat_WB.wxyz(),
        velocity_world_m_per_s: body.v_WB.into(),
        angular_velocity_world_rad_per_s: body.w_WB.into(),
    }
}

fn touch_reading(at: &CollisionPoint) -> TouchReading {
    let [(a_kind, a_index), (b_kind, b_index)] = at.carriers.map(carrier);
    let [x, y, _] = at.v_C.to_array();
    TouchReading {
        a_kind,
        a_index,
        b_kind,
        b_index,
        point_world_m: at.point_W.into(),
        normal_world: (at.R_WC * Vec3::z()).into(),
        force_world_n: at.force_W().into(),
        depth_m: at.depth_m,
        slip_m_per_s: (x * x + y * y).sqrt(),
        sliding: at.sliding(),
        mu: at.spring_force().mu,
    }
}

/// Number of its kind on the wire, and its index.
pub(super) const fn carrier(of: Carrier) -> (u8, u32) {
    match of {
        Carrier::Surface(i) => (TouchReading::SURFACE, i as u32),
        Carrier::Link(i) => (TouchReading::LINK, i as u32),
        Carrier::Body(i) => (TouchReading::BODY, i as u32),
    }
}
