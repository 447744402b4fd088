//! The lease of the controller of a [`Solo`], and the set-points under it.

use hardstand_controllers::Runner;
use hardstand_error::{Error, ErrorKind, Result};
use hardstand_protocol::{CommandSchedule, Event, Grant, JointCommand, JointSet};

use super::Solo;

/// Every state is answered, and its answer applies at once.
pub(super) const EVERY_TICK: CommandSchedule = CommandSchedule { period: 1, phase: 0, offset: 0 };

/// All joints of a robot that has `count`.
pub(super) fn all_joints(count: usize) -> JointSet {
    let mut joints = JointSet::default();
    for joint in 0..count {
        joints.insert(joint);
    }
    joints
}

impl Solo {
    /// The controller joins again in the next tick, for the joints and with the period of a control
    /// law, if they are others than now.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] if the law commands a joint that the robot does not have.
    pub fn join(&mut self, runner: &Runner) -> Result<()> {
        let mut joints = JointSet::default();
        for name in runner.joints() {
            let all = &self.simulation.model().joints;
            let place = all.iter().position(|joint| joint.name == *name);
            let unknown = || {
                let text = format!("the robot has no joint {name}, which the controller commands");
                Error::new(ErrorKind::Input, text)
            };
            joints.insert(place.ok_or_else(unknown)?);
        }
        let schedule = CommandSchedule { period: runner.period_ticks(), ..self.grant.schedule };
        self.join_as(Grant { schedule, joints, ..self.grant });
        Ok(())
    }

    /// The same for all joints and every tick. The joints that it has now keep their set-points;
    /// those of the others are 0.
    pub fn join_all(&mut self) {
        let joints = all_joints(self.simulation.model().joint_count());
        self.join_as(Grant { schedule: EVERY_TICK, joints, ..self.grant });
    }

    fn join_as(&mut self, grant: Grant) {
        if grant == self.grant {
            return;
        }
        let set_points = self.set_points_by_joint();
        self.grant = grant;
        self.pending.retain(|event| !matches!(event, Event::Grant(_)));
        self.pending.push(Event::Grant(grant));
        self.take_set_points(&set_points);
    }

    /// Goes on under the lease that the state gives this controller, or joins in the next tick.
    /// What is in force in the state stays so; joints without a command keep their set-points.
    pub(super) fn take_over(&mut self) {
        let mut set_points = self.set_points_by_joint();
        match self.lease() {
            Some(grant) => self.grant = grant,
            None => self.pending.push(Event::Grant(self.grant)),
        }
        let arbitration = &self.simulation.arbitration;
        for (joint, set_point) in set_points.iter_mut().enumerate() {
            if !arbitration.leases.of_joint(joint).is_free() {
                *set_point = arbitration.command[joint];
            }
        }
        self.take_set_points(&set_points);
    }

    /// What the state has granted to this controller.
    fn lease(&self) -> Option<Grant> {
        let leases = self.simulation.leases();
        let (place, lease) = leases.of_session(self.grant.session)?;
        if lease.controller != self.grant.controller || lease.left {
            return None;
        }
        let mut joints = JointSet::default();
        for joint in 0..self.simulation.model().joint_count() {
            if leases.owner(joint) == Some(place) {
                joints.insert(joint);
            }
        }
        Some(Grant { schedule: lease.schedule, required: lease.required, joints, ..self.grant })
    }

    /// A set-point for each joint of the robot; 0 for those that this controller does not have.
    #[must_use]
    pub fn set_points_by_joint(&mut self) -> Vec<JointCommand> {
        let (own, count) = (self.grant.joints, self.simulation.model().joint_count());
        let mut given = self.set_points().iter().copied();
        let of = |joint| if own.contains(joint) { given.next() } else { None };
        (0..count).map(of).map(Option::unwrap_or_default).collect()
    }

    fn take_set_points(&mut self, by_joint: &[JointCommand]) {
        let own = self.grant.joints;
        self.take_answer_back();
        if let Some(command) = &mut self.answer {
            let joints = by_joint.iter().enumerate().filter(|(joint, _)| own.contains(*joint));
            command.joints = joints.map(|(_, set_point)| *set_point).collect();
        }
    }
}
