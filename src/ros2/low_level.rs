//! Unitree's two topics: states to whoever listens, commands to the intake.

use std::sync::Arc;

use super::command_subscriber::{CommandSubscriber, LOW_CMD};
use super::counters::{RosCounters, RosRejection};
use super::messages::Message;
use super::naming::gid_of;
use super::orders::Refused;
use super::topic_publisher::Line;
use super::unitree::{Guard, LowCmd, LowState, fill, has_its_crc, set_crc, set_points};
use crate::config::Motors;
use hardstand_protocol::{JointCommand, StateReading};

/// Names as the robot's own; no namespace applies.
pub(super) const LOW_STATE_TOPIC: &str = "/lowstate";
pub(super) const LOW_CMD_TOPIC: &str = "/lowcmd";

/// Where states are published.
#[derive(Debug)]
pub(super) struct LowStates {
    line: Line,
    motors: Motors,
    guard: Guard,
    message: LowState,
}

impl LowStates {
    /// States of the robot with the serial number `own`, which are the guard's own ones.
    pub(super) fn new(line: Line, motors: Motors, guard: Guard, own: [u32; 2]) -> Self {
        let mut message =
            LowState { head: [0xFE, 0xEF], level_flag: 0xFF, sn: own, ..Default::default() };
        // controllers stop at an empty battery
        message.bms_state.soc = 100;
        Self { line, motors, guard, message }
    }

    /// Ticks between two states, if anybody listens and may hear them.
    pub(super) fn wanted(&self) -> Option<u64> {
        let wanted = self.line.topic.is_wanted() && self.guard.objection().is_none();
        wanted.then_some(self.line.every)
    }

    /// Publishes the state with this number, if it is due.
    pub(super) fn say(
        &mut self,
        (number, state): (u64, &StateReading),
        unix_ns: u64,
        buffer: &mut Vec<u8>,
        counters: &RosCounters,
    ) {
        if self.wanted().is_none_or(|every| !number.is_multiple_of(every)) {
            return;
        }
        fill(&self.motors, state, &mut self.message);
        self.message.encode(buffer);
        set_crc::<LowState>(buffer);
        self.line.put(buffer, unix_ns, counters);
    }
}

/// Takes commands in.
pub(super) fn take_commands(
    motors: Motors,
    guard: Guard,
    intake: Arc<CommandSubscriber>,
) -> impl Fn(&[u8], Option<&[u8]>) + Send + Sync + 'static {
    move |bytes, attachment| {
        let read = match guard.objection() {
            Some(why) => Err(Refused::new(RosRejection::Guard, why.into())),
            None => commands(&motors, bytes),
        };
        intake.take_set_points(LOW_CMD_TOPIC, (LOW_CMD, attachment.and_then(gid_of)), read)
    }
}

fn commands(motors: &Motors, bytes: &[u8]) -> Result<Vec<JointCommand>, Refused> {
    let message = LowCmd::decode(bytes)?;
    // whatever the order of its bytes was
    let mut encoded = Vec::with_capacity(bytes.len());
    message.encode(&mut encoded);
    if has_its_crc::<LowCmd>(&encoded) {
        return Ok(set_points(motors, &message));
    }
    let text = format!("crc is {:08x}, which is not that of the message", message.crc);
    Err(Refused::new(RosRejection::Crc, text))
}
