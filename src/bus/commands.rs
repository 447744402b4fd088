//! Commands on their way in: bytes, claim, check, hand-over.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use zenoh::Wait;
use zenoh::pubsub::Subscriber;

use crate::error::Result;
use crate::handover::Outbox;
use crate::message::{CommandLimits, check_command, decode_command};
use crate::plant::{Command, Rejection};

use super::{Bus, Keys, bus_error};

/// How many commands (or requests) arrived, and how many were refused at arrival, by reason.
#[derive(Debug, Default)]
pub struct ArrivalCounters {
    received: AtomicU64,
    rejected: [AtomicU64; Rejection::ALL.len()],
}

impl ArrivalCounters {
    /// All that were received.
    pub fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    /// Those refused for `reason` at arrival.
    pub fn rejected(&self, reason: Rejection) -> u64 {
        self.rejected[reason as usize].load(Ordering::Relaxed)
    }

    pub(super) fn count_received(&self) {
        self.received.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn count(&self, reason: Rejection) {
        self.rejected[reason as usize].fetch_add(1, Ordering::Relaxed);
    }
}

/// Where commands arrive: the first of their two checks, and the hand-over to the physics thread.
#[derive(Debug)]
pub struct CommandDesk {
    outbox: Outbox<Command>,
    limits: CommandLimits,
    counters: Arc<ArrivalCounters>,
}

impl CommandDesk {
    /// A desk that hands accepted commands to `outbox`.
    #[must_use]
    pub fn new(outbox: Outbox<Command>, limits: CommandLimits) -> Self {
        Self { outbox, limits, counters: Arc::default() }
    }

    /// The counters.
    #[must_use]
    pub fn counters(&self) -> Arc<ArrivalCounters> {
        Arc::clone(&self.counters)
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
        bus.session
            .declare_subscriber(keys.cmd.clone())
            .callback(move |sample| {
                let bytes = sample.payload().to_bytes();
                let _counted = self.take_in(&bytes).is_ok();
            })
            .wait()
            .map_err(|e| bus_error(&keys.cmd, e))
    }
}
