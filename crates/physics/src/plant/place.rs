//! Putting the robot elsewhere.

use super::Plant;
use super::imus::velocity_W;
use crate::dynamics::{Positions, Velocities};
use crate::spatial::{Quaternion, Vec3};

impl Plant {
    /// Puts the base B at `quat_WB` and `p_WB`, moving at `w_WB` and, its origin, at `v_WB`, as
    /// if the robot had begun there: anchors under their stations, foot switches settled. Joints,
    /// time, commands, pushes and coefficients of friction stay. If no run can go on from there,
    /// the plant has a [`failure`](Self::failure).
    pub fn place_base(&mut self, quat_WB: Quaternion, p_WB: Vec3, w_WB: Vec3, v_WB: Vec3) {
        (self.state.q.quat_WB, self.state.q.p_WB) = (quat_WB, p_WB);
        (self.state.v.w_WB, self.state.v.v_WB) = (w_WB, v_WB);
        // where the stations are now
        self.settle();
        let begun = self.contacts.initial_states(&self.model, &self.spec, self.time_ns());
        self.state.touches.clear();
        self.forget_momentum();
        for (contact, begun) in self.state.contacts.iter_mut().zip(begun) {
            contact.law = begun.law;
        }
        self.go_on_from_here();
    }

    /// Puts the robot at `q`, moving at `v`, in the middle of what it does: anchors move with
    /// their stations and motors with their joints, so that friction springs, gears and elastic
    /// drives stay stretched as they were; contacts between shapes begin anew. All else is as in
    /// [`place_base`](Self::place_base).
    pub fn carry_to(&mut self, q: &Positions, v: &Velocities) {
        self.settle();
        let before: Vec<_> = self.contacts.evaluated().to_vec();
        for (i, drive) in self.state.drives.joints.iter_mut().enumerate() {
            let by = q.joints[i] - self.state.q.joints[i];
            drive.carry(by, v.joints[i] - self.state.v.joints[i]);
        }
        self.state.q.clone_from(q);
        self.state.v.clone_from(v);
        self.settle();
        self.state.touches.clear();
        self.forget_momentum();
        let after = self.contacts.evaluated();
        for ((contact, before), after) in self.state.contacts.iter_mut().zip(&before).zip(after) {
            if before.surface == after.surface {
                contact.law.carry(before, after);
            }
        }
        self.go_on_from_here();
    }

    /// Sensors and forces of a state that was set.
    fn go_on_from_here(&mut self) {
        // with the forces of the anchors
        self.settle();
        self.state.imu_v_before_W = velocity_W(&self.spec.imu, &self.data);
        self.rest_imus();
        self.start_sensors();
        self.wake();
    }
}
