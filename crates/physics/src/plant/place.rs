//! Putting the robot elsewhere.

use super::Plant;
use super::collision::{Carrier, pose_of};
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
        self.settle();
        self.begin_contacts();
        self.forget_momentum();
        self.go_on_from_here();
    }

    /// Evaluates the contacts as [`place_base`](Self::place_base) does with the base at `p_WB`, and
    /// nothing else: for a search of a place. Only [`contacts`](Self::contacts) and
    /// [`collisions`](Self::collisions) are those of that place; call `place_base` before a tick.
    pub fn contacts_at(&mut self, p_WB: Vec3) {
        self.state.q.p_WB = p_WB;
        self.evaluate(self.time_ns(), true);
        self.begin_contacts();
        self.evaluate(self.time_ns(), true);
    }

    /// The same with the origin of free body `body` at `p_WB`; call
    /// [`place_body`](Self::place_body) before a tick.
    pub fn contacts_with_body_at(&mut self, body: usize, p_WB: Vec3) {
        let Some(state) = self.state.bodies.get_mut(body) else { return };
        state.p_WB = p_WB;
        self.state.touches.clear();
        self.evaluate(self.time_ns(), true);
    }

    /// Lets all contacts begin where the stations were evaluated last.
    fn begin_contacts(&mut self) {
        let begun = self.contacts.initial_states(&self.model, &self.spec, self.time_ns());
        self.state.touches.clear();
        for (contact, begun) in self.state.contacts.iter_mut().zip(begun) {
            contact.law = begun.law;
        }
    }

    /// Puts the origin of free body `body` at `p_WB`, as if the run had begun there. Its attitude
    /// and velocity and all else stay; contacts between shapes begin anew. A body that is not there
    /// is not moved.
    pub fn place_body(&mut self, body: usize, p_WB: Vec3) {
        let Some(state) = self.state.bodies.get_mut(body) else { return };
        state.p_WB = p_WB;
        self.state.touches.clear();
        self.forget_momentum();
        self.go_on_from_here();
    }

    /// Puts the robot at `q`, moving at `v`, in the middle of what it does: anchors move with
    /// their stations and motors with their joints, so that friction springs, gears and elastic
    /// drives stay stretched as they were; contacts between shapes begin anew. All else is as in
    /// [`place_base`](Self::place_base).
    pub fn carry_to(&mut self, q: &Positions, v: &Velocities) {
        self.move_to(q, v);
        self.state.touches.clear();
        self.forget_momentum();
        self.go_on_from_here();
    }

    /// Moves the robot a little, to `q`, moving at `v`, as [`carry_to`](Self::carry_to) does;
    /// contacts between shapes go on as well, stretched as they were.
    pub fn pull_to(&mut self, q: &Positions, v: &Velocities) {
        self.settle();
        let X_WB = self.data.X_WB.clone();
        self.move_to(q, v);
        let Self { data, contacts, collisions, state, .. } = self;
        let after = |carrier| pose_of(carrier, contacts, data, &state.bodies);
        let before = |carrier| match carrier {
            Carrier::Link(i) => X_WB[i],
            other => after(other),
        };
        collisions.carry_anchors(&mut state.touches, before, after);
        self.forget_momentum();
        self.go_on_from_here();
    }

    /// The robot at `q` and `v`; anchors and motors move with it.
    fn move_to(&mut self, q: &Positions, v: &Velocities) {
        self.settle();
        let before: Vec<_> = self.contacts.evaluated().to_vec();
        for (i, drive) in self.state.drives.joints.iter_mut().enumerate() {
            let by = q.joints[i] - self.state.q.joints[i];
            drive.carry(by, v.joints[i] - self.state.v.joints[i]);
        }
        self.state.q.clone_from(q);
        self.state.v.clone_from(v);
        self.settle();
        let after = self.contacts.evaluated();
        for ((contact, before), after) in self.state.contacts.iter_mut().zip(&before).zip(after) {
            if before.surface == after.surface {
                contact.law.carry(before, after);
            }
        }
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
