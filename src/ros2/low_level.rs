//! Unitree's two topics: publishes states and receives commands.

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

/// Topic names of the real robot; the namespace does not apply.
pub(super) const LOW_STATE_TOPIC: &str = "/lowstate";
pub(super) const LOW_CMD_TOPIC: &str = "/lowcmd";

/// Publishes states.
#[derive(Debug)]
pub(super) struct LowStates {
    line: Line,
    motors: Motors,
    guard: Guard,
    message: LowState,
}

impl LowStates {
    /// Publishes states of a robot with the serial number `own`, which the guard recognises.
    pub(super) fn new(line: Line, motors: Motors, guard: Guard, own: [u32; 2]) -> Self {
        let mut message =
            LowState { head: [0xFE, 0xEF], level_flag: 0xFF, sn: own, ..Default::default() };
        // real controllers stop if the battery is empty
        message.bms_state.soc = 100;
        Self { line, motors, guard, message }
    }

    /// Ticks between two states; `None` without subscribers or if the guard blocks.
    pub(super) fn wanted(&self) -> Option<u64> {
        let wanted = self.line.topic.is_wanted() && self.guard.block_reason().is_none();
        wanted.then_some(self.line.every)
    }

    /// Publishes the state with this number, if it is due.
    pub(super) fn publish(
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

/// Receives commands.
pub(super) fn receive_commands(
    motors: Motors,
    guard: Guard,
    subscriber: Arc<CommandSubscriber>,
) -> impl Fn(&[u8], Option<&[u8]>) + Send + Sync + 'static {
    move |bytes, attachment| {
        let read = match guard.block_reason() {
            Some(why) => Err(Refused::new(RosRejection::Guard, why.into())),
            None => commands(&motors, bytes),
        };
        subscriber.receive_set_points(LOW_CMD_TOPIC, (LOW_CMD, attachment.and_then(gid_of)), read)
    }
}

fn commands(motors: &Motors, bytes: &[u8]) -> Result<Vec<JointCommand>, Refused> {
    let message = LowCmd::decode(bytes)?;
    // the checksum is over little-endian CDR, and the message may be big-endian
    let mut encoded = Vec::with_capacity(bytes.len());
    message.encode(&mut encoded);
    if has_its_crc::<LowCmd>(&encoded) {
        return Ok(set_points(motors, &message));
    }
    let text = format!("crc is {:08x}, which is not the checksum of the message", message.crc);
    Err(Refused::new(RosRejection::Crc, text))
}
