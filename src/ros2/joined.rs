//! Commands over ROS 2 as those of a controller that has joined: ticks wait for them.

use super::counters::RosRejection;
use super::orders::Refused;
use crate::bus::SharedNewest;
use crate::config::{Mode, Ros2Join, Scenario};
use crate::ingress::CommandIngress;
use crate::ports::{BusOrders, Source, SourceSpec};
use hardstand_protocol::{Authority, JointCommand, ModelReply, Rejection, Role, controller_number};

/// Its name as a controller.
const CONTROLLER: &str = "ros2";

/// A controller of all joints that joins with its first command.
#[derive(Debug)]
pub struct Joined {
    source: Source,
    newest: SharedNewest,
}

impl Joined {
    /// One for the scenario, and whether it joins with its first command; `None` if nothing over
    /// ROS 2 may join.
    pub(super) fn of(
        scenario: &Scenario,
        model: &ModelReply,
        (newest, orders): (SharedNewest, BusOrders),
        ingress: impl FnOnce() -> CommandIngress,
    ) -> Option<(Self, bool)> {
        let waits = scenario.control.mode != Mode::RealTime;
        let joins = match scenario.ros2.join {
            Ros2Join::Auto => waits,
            Ros2Join::Required => true,
            Ros2Join::Off => return None,
        };
        let spec = SourceSpec {
            name: CONTROLLER.into(),
            joints: (0..model.joints.len()).collect(),
            joint_names: model.joints.iter().map(|joint| joint.name.clone()).collect(),
            role: Role::Required,
            every_ticks: scenario.ros2.answers_every_ticks,
            hold_ticks: scenario.watchdog.hold_ticks,
            layout_hash: model.layout_hash,
        };
        Some((Self { source: Source::new(spec, orders, ingress()), newest }, joins))
    }

    /// True if another controller commands the robot.
    pub(super) fn is_taken(&self, authority: u8, session: u64) -> bool {
        Authority::is_command(authority) && session != controller_number(CONTROLLER)
    }

    /// Sends set-points as the answer to the state of a run and tick; joins before if necessary.
    ///
    /// # Errors
    /// [`RosRejection::Join`] if it may not join now.
    pub(super) fn send(
        &mut self,
        at: (u32, u64),
        joints: Vec<JointCommand>,
    ) -> Result<Result<(), Rejection>, Refused> {
        self.join()?;
        Ok(self.source.send(at, joints))
    }

    /// Joins, if it has not the joints.
    ///
    /// # Errors
    /// [`RosRejection::Join`] if it may not join now.
    pub(super) fn join(&mut self) -> Result<(), Refused> {
        let now = self.newest.port_state();
        if self.source.holds(&now) || self.source.join(&now) {
            return Ok(());
        }
        let text = format!(
            "the controller \"{CONTROLLER}\" may not join now: another one has joints of the \
             robot, or commands hold it that have not joined (join before the first of them, or \
             after command.hold_ticks without one), or it has been stopped"
        );
        Err(Refused::new(RosRejection::Join, text))
    }

    /// Joins although it may just have been refused: it is asked to.
    ///
    /// # Errors
    /// As [`join`](Self::join).
    pub(super) fn join_now(&mut self) -> Result<(), Refused> {
        if !self.source.holds(&self.newest.port_state()) {
            self.source.forget();
        }
        self.join()
    }

    /// Gives the joints back.
    pub(super) fn leave(&mut self) {
        self.source.leave();
    }

    /// Whether the state of a run and tick asks for a command that it has not got yet.
    pub(super) fn owes(&self, (run_id, tick): (u32, u64)) -> bool {
        tick.is_multiple_of(self.source.spec().every_ticks)
            && !self.source.has_answered((run_id, tick))
    }
}
