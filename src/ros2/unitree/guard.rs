//! The guard of the domain: a controller that means the simulation must not move a robot.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use super::messages::LowState;
use crate::bus::{PanicGuard, Probe};
use crate::ros2::messages::Message;

/// It listens for so long before anything is said or obeyed. A robot publishes 500 times a second.
const LISTENED_FOR: Duration = Duration::from_secs(2);
/// Time between two looks at the domain.
const LOOK_AGAIN: Duration = Duration::from_millis(500);
/// A bridge tells of every DDS writer of this topic here, also of those that are no ROS nodes.
const WRITERS: &str = "@/*/ros2/dds/*/writer/*/rt/lowstate";

const LISTENING: u8 = 0;
const FREE: u8 = 1;
const TAKEN: u8 = 2;

/// Whether this daemon is the only robot on the domain. Once another was there, it is not.
#[derive(Clone, Debug)]
pub(crate) struct Guard {
    state: Arc<AtomicU8>,
    own: [u32; 2],
}

impl Guard {
    /// A guard that has heard nothing yet; our own states have the serial number `own`.
    pub(crate) fn new(own: [u32; 2]) -> Self {
        Self { state: Arc::new(AtomicU8::new(LISTENING)), own }
    }

    /// Why nothing may be said or obeyed, if so.
    pub(crate) fn objection(&self) -> Option<&'static str> {
        match self.state.load(Ordering::Acquire) {
            FREE => None,
            LISTENING => Some("listening whether a robot is on this domain"),
            _ => Some(
                "another robot's rt/lowstate is on this domain: set another domain for the bridge \
                 and the controller, and start again",
            ),
        }
    }

    /// Nobody was heard for long enough; but nothing frees a domain on which somebody was.
    fn free(&self) {
        let (from, to, order) = (LISTENING, FREE, Ordering::AcqRel);
        let _was_taken = self.state.compare_exchange(from, to, order, Ordering::Acquire).is_err();
    }

    /// Hears a state that somebody has published.
    pub(crate) fn hear(&self, bytes: &[u8]) {
        // a robot of another kind has another message under this name
        if LowState::decode(bytes).map_or(true, |m| m.sn != self.own) {
            self.state.store(TAKEN, Ordering::Release);
        }
    }
}

/// Looks at the domain on a thread of its own, as long as the session lives.
pub(crate) fn watch(guard: Guard, probe: Probe, panic_guard: PanicGuard) -> std::io::Result<()> {
    let begin = Instant::now();
    let look = move || {
        while !panic_guard.is_over() {
            if probe.is_answered(WRITERS) {
                guard.state.store(TAKEN, Ordering::Release);
            } else if begin.elapsed() > LISTENED_FOR {
                guard.free();
            }
            std::thread::sleep(LOOK_AGAIN);
        }
    };
    std::thread::Builder::new().name("unitree-guard".into()).spawn(look).map(|_detached| ())
}
