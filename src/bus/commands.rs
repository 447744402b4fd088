//! Commands on their way in: bytes, claim, check, hand-over.

use std::sync::Arc;

use zenoh::Wait;
use zenoh::pubsub::Subscriber;

use crate::error::Result;
use crate::fault_point;
use crate::handover::Outbox;
use crate::message::{ArrivalCounters, CommandLimits, check_command, decode_command};
use crate::plant::{Command, Rejection};

use super::{Bus, Keys, bus_error};

/// Where commands arrive: the first of their two checks, and the hand-over to the physics thread.
#[derive(Debug)]
pub struct CommandDesk {
    outbox: Outbox<Command>,
    limits: CommandLimits,
    counters: Arc<ArrivalCounters>,
}

impl CommandDesk {
    /// A desk that hands accepted commands to `outbox` and counts in `counters`.
    #[must_use]
    pub const fn new(
        outbox: Outbox<Command>,
        limits: CommandLimits,
        counters: Arc<ArrivalCounters>,
    ) -> Self {
        Self { outbox, limits, counters }
    }

    /// Takes in the bytes of one command. Whatever they are, this returns; a refusal is counted
    /// under its reason.
    ///
    /// # Errors
    /// The reason of the refusal.
    pub fn take_in(&self, bytes: &[u8]) -> std::result::Result<(), Rejection> {
        self.counters.count_received();
        let result = self.check(bytes);
        if let Err(reason) = result {
            self.counters.count(reason);
        }
        result
    }

    fn check(&self, bytes: &[u8]) -> std::result::Result<(), Rejection> {
        let claim = decode_command(bytes, self.limits.joints)?;
        let mut checked = Command::default();
        check_command(&claim, &self.limits, &mut checked)?;
        let mut command = match self.outbox.take_free() {
            Some(free) => free,
            // newest wins: the oldest command that waits gives way
            None => {
                self.counters.count(Rejection::QueueFull);
                self.outbox.recall_oldest().ok_or(Rejection::QueueFull)?
            }
        };
        *command = checked;
        self.outbox.send(command);
        Ok(())
    }

    /// Subscribes to the commands of `keys`; they are taken in on zenoh's own thread. The
    /// subscription lasts as long as the returned value.
    ///
    /// # Errors
    /// [`ErrorKind::Bus`](crate::ErrorKind::Bus).
    pub fn subscribe(self, bus: &Bus, keys: &Keys) -> Result<Subscriber<()>> {
        let life = bus.life.clone();
        bus.session
            .declare_subscriber(keys.cmd.clone())
            .callback(move |sample| {
                life.guard(|| {
                    fault_point::visit("command");
                    let bytes = sample.payload().to_bytes();
                    let _counted = self.take_in(&bytes).is_ok();
                });
            })
            .wait()
            .map_err(|e| bus_error(&keys.cmd, e))
    }
}
