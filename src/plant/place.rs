//! Putting the robot elsewhere.

use super::Plant;
use crate::dynamics::{Positions, Velocities};
use crate::sensor::FootSwitch;

impl Plant {
    /// Puts the robot at `q` with `v`, of the model's sizes, as if it had begun there: anchors under
    /// their stations, foot switches settled. Time, commands, pushes, motor efforts and coefficients
    /// of friction stay. If no run can go on from there, the plant has a [`fault`](Self::fault).
    pub fn place(&mut self, q: Positions, v: Velocities) {
        (self.state.q, self.state.v) = (q, v);
        // where the stations are now
        self.settle();
        let begun = self.contacts.initial_states(&self.model, &self.spec, self.time_ns());
        for (contact, begun) in self.state.contacts.iter_mut().zip(begun) {
            contact.memory = begun.memory;
        }
        // with the forces of the new anchors
        self.settle();
        for (foot, switch) in self.spec.feet.iter().zip(&mut self.state.switches) {
            let normal_n = self.contacts.normal_sum_n(&foot.stations);
            *switch = FootSwitch::settled(&self.spec.foot_switch, normal_n);
        }
        let imu = &self.spec.imu;
        self.state.imu_v_before_W = self.data.point_velocity_W(imu.body, &imu.X_BI.p);
        self.wake();
    }
}
