//! Checks the numbers after each tick: a plant with bad numbers stops.

use crate::actuator::Reference;
use crate::contact::SpringForce;

use super::failure::{FORCE_MAX_N, NUMBER_MAX, REACH_MAX_M, SPEED_MAX};
use super::{BodyState, ContactResult, Plant, PlantFailure, Walk};

impl Plant {
    /// Looks for bad numbers in all that a snapshot shows. NaN fails every comparison.
    pub(super) fn check(&self) -> Option<PlantFailure> {
        let (q, v, imu) = (&self.state.q, &self.state.v, &self.imu);
        let usable = |x: &f64| x.abs() <= NUMBER_MAX;
        let finite = q.quat_WB.wxyz().iter().all(usable)
            && [&q.p_WB, &v.w_WB, &v.v_WB].into_iter().all(|of| of.iter().all(usable))
            && q.joints.iter().all(usable)
            && v.joints.iter().all(usable)
            && self.state.motor.iter().all(usable)
            && imu.specific_force_I.iter().all(usable)
            && imu.angular_velocity_I.iter().all(usable)
            && imu.quat_WI.wxyz().iter().all(usable)
            && self.contacts.forces().all(is_usable)
            && self.collisions.points().iter().all(|p| is_usable(p.spring_force()))
            && self.state.bodies.iter().all(is_finite)
            && self.state.drives.is_usable();
        let slow = |x: &f64| x.abs() <= SPEED_MAX;
        let near = |x: &f64| x.abs() <= REACH_MAX_M;
        let in_range = q.p_WB.iter().all(near)
            && q.joints.iter().all(near)
            && v.w_WB.iter().all(slow)
            && v.v_WB.iter().all(slow)
            && v.joints.iter().all(slow)
            && !self.contacts.evaluated().iter().any(is_crushed)
            && !self.collisions.points().iter().any(|p| p.normal_n() > FORCE_MAX_N)
            && self.state.bodies.iter().all(is_in_range)
            && self.state.drives.is_in_range();
        match (finite, in_range) {
            (false, _) => Some(PlantFailure::NotFinite),
            (true, false) => Some(PlantFailure::OutOfRange),
            (true, true) if self.collisions.overflows() => Some(PlantFailure::TooManyContacts),
            (true, true) => self.check_sensors(),
        }
    }

    /// Bad numbers that sensors show.
    fn check_sensors(&self) -> Option<PlantFailure> {
        (!self.state.sensors.is_usable()).then_some(PlantFailure::NotFinite)
    }

    /// Back to the last good state, for good.
    pub(super) fn freeze(&mut self, failure: PlantFailure) {
        self.state.overwrite(self.digest.words());
        self.references.fill(Reference::default());
        self.failure = Some(failure);
        self.settle();
        let evaluated = self.contacts.evaluated();
        let touching = self.collisions.points();
        if !self.contacts.forces().all(is_usable)
            || evaluated.iter().any(is_crushed)
            || !touching.iter().all(|p| is_usable(p.spring_force()))
        {
            // only if the very first state was bad: there is no good one to show
            self.contacts.clear();
            self.collisions.clear();
        }
        self.rest_imus();
    }
}

fn is_finite(body: &BodyState) -> bool {
    let numbers = body.quat_WB.wxyz();
    let vectors = [body.p_WB, body.w_WB, body.v_WB];
    let mut all = numbers.iter().chain(vectors.iter().flat_map(|v| v.iter()));
    all.all(|x| x.abs() <= NUMBER_MAX)
}

fn is_in_range(body: &BodyState) -> bool {
    body.p_WB.iter().all(|x| x.abs() <= REACH_MAX_M)
        && body.w_WB.iter().chain(body.v_WB.iter()).all(|x| x.abs() <= SPEED_MAX)
}

fn is_crushed(at: &ContactResult) -> bool {
    at.force.normal_n > FORCE_MAX_N
}

fn is_usable(f: &SpringForce) -> bool {
    let planar = [f.friction_elastic_P, f.friction_damping_P, f.next_anchor_P];
    let single = [
        f.normal_elastic_n,
        f.normal_damping_n,
        f.normal_n,
        f.mu,
        f.friction_limit_n,
        f.next_sliding,
        f.potential_energy_j,
        f.power_dissipation_w,
    ];
    let spatial = [f.p_P, f.v_P];
    let mut all = planar.as_flattened().iter().chain(&single).chain(spatial.as_flattened());
    all.all(|x| x.abs() <= NUMBER_MAX)
}
