//! Detects a real robot on the domain, so that a controller for the simulation cannot move it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use super::hg::HgLowState;
use super::messages::LowState;
use crate::bus::PanicGuard;
use crate::ros2::messages::Message;
use crate::ros2::orders::Refused;
use crate::ros2::{RosCounters, RosRejection};

/// Time for which the guard listens before it permits messages. A robot publishes 500 times a
/// second.
const LISTENED_FOR: Duration = Duration::from_secs(2);
/// Time between two queries of the domain.
const LOOK_AGAIN: Duration = Duration::from_millis(500);
/// A bridge lists every DDS writer of this topic here, also writers without a ROS node.
pub(crate) const WRITERS: &str = "@/*/ros2/dds/*/writer/*/rt/lowstate";

const LISTENING: u8 = 0;
const FREE: u8 = 1;
const TAKEN: u8 = 2;

/// What to do about another robot: messages have the domain of the daemon, or that of a bridge.
const OTHER_DOMAIN: &str = "another robot's rt/lowstate is on this domain: set another \
                            ros2.domain, and the same domain for the controller, and start again";
const OTHER_DOMAIN_OF_BRIDGE: &str = "another robot's rt/lowstate is on this domain: set another \
                                      domain for the bridge (--domain, or ROS_DOMAIN_ID) and the \
                                      controller, and start again";

/// Whether this daemon is the only robot on the domain. Another robot blocks it until the end.
#[derive(Clone, Debug)]
pub(crate) struct Guard {
    state: Arc<AtomicU8>,
    own: [u32; 2],
    taken_text: &'static str,
    counters: Arc<RosCounters>,
}

impl Guard {
    /// A guard in the listening state; the daemon's own states have the number `own`: `sn`, or of
    /// a humanoid `reserve`, and its messages come by a bridge or not. It tells `counters` when it
    /// blocks for good.
    pub(crate) fn new(own: [u32; 2], bridged: bool, counters: Arc<RosCounters>) -> Self {
        let taken_text = if bridged { OTHER_DOMAIN_OF_BRIDGE } else { OTHER_DOMAIN };
        Self { state: Arc::new(AtomicU8::new(LISTENING)), own, taken_text, counters }
    }

    /// The reason why messages are blocked; `None` if they are permitted.
    pub(crate) fn block_reason(&self) -> Option<&'static str> {
        match self.state.load(Ordering::Acquire) {
            FREE => None,
            LISTENING => Some("still checking that no other robot is on this domain"),
            _ => Some(self.taken_text),
        }
    }

    /// # Errors
    /// [`RosRejection::Guard`] while messages are blocked.
    pub(crate) fn permit(&self) -> Result<(), Refused> {
        let refused = |why: &str| Err(Refused::new(RosRejection::Guard, why.into()));
        self.block_reason().map_or(Ok(()), refused)
    }

    /// Ends the listening state; a domain with another robot stays blocked.
    fn free(&self) {
        let (from, to, order) = (LISTENING, FREE, Ordering::AcqRel);
        let _was_taken = self.state.compare_exchange(from, to, order, Ordering::Acquire).is_err();
    }

    /// Blocks the domain.
    fn take(&self) {
        if self.state.swap(TAKEN, Ordering::AcqRel) != TAKEN {
            self.counters.tell(RosRejection::Guard, self.taken_text);
        }
    }

    /// Checks a published state.
    pub(crate) fn observe(&self, bytes: &[u8]) {
        // a robot of another model publishes another message with this name
        let own = LowState::decode(bytes).is_ok_and(|m| m.sn == self.own)
            || HgLowState::decode(bytes).is_ok_and(|m| m.reserve[..2] == self.own);
        if !own {
            self.take();
        }
    }
}

/// Asks `is_taken` whether another robot is on the domain, on a thread of its own until the session
/// ends.
pub(crate) fn watch(
    guard: Guard,
    is_taken: Box<dyn Fn() -> bool + Send>,
    panic_guard: PanicGuard,
) -> std::io::Result<()> {
    let begin = Instant::now();
    let look = move || {
        while !panic_guard.is_over() {
            if is_taken() {
                guard.take();
            } else if begin.elapsed() > LISTENED_FOR {
                guard.free();
            }
            std::thread::sleep(LOOK_AGAIN);
        }
    };
    std::thread::Builder::new().name("unitree-guard".into()).spawn(look).map(|_detached| ())
}
