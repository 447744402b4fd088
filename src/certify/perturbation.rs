//! What is done to a run from outside.

use std::hint::spin_loop;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::process_harness::{Running, Side};
use hardstand_client::{Client, Controller};
use hardstand_error::Result;
use hardstand_protocol::Phase;

use super::plan::STOPPED_S;

/// Longest wait for the daemon's answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// Longest wait for a state at a time.
const STATE: Duration = Duration::from_millis(5);

/// Threads that take all the time that they get, until this is dropped.
pub(super) struct Load {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Load {
    pub(super) fn of(count: usize) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let spin = |_| {
            let stop = Arc::clone(&stop);
            std::thread::spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    spin_loop();
                }
            })
        };
        Self { threads: (0..count).map(spin).collect(), stop }
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ended = thread.join().is_ok();
        }
    }
}

/// A stop that is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop {
    /// The newest state when it began.
    pub tick: u64,
    /// Ticks that were run while it lasted.
    pub ticks: u64,
}

/// Stops one side when a run has come to some tick, and lets it go on.
pub(super) struct Stopper {
    side: Side,
    at_tick: u64,
    stage: Stage,
    /// Kept until the end: a session that closes speaks to the daemon.
    states: Option<(Client, Controller)>,
}

enum Stage {
    Begin,
    Watching,
    Stopped { since: Instant, tick: u64 },
    Done(Stop),
}

impl Stopper {
    pub(super) fn new(side: Side, at_tick: u64) -> Self {
        Self { side, at_tick, stage: Stage::Begin, states: None }
    }

    /// Called again and again while the run lasts.
    pub(super) fn look(&mut self, running: &Running) -> Result<()> {
        match &self.stage {
            Stage::Begin => {
                let client = running.client(PATIENCE)?;
                let Ok(model) = client.model(PATIENCE) else { return Ok(()) };
                let states = client.control(&model)?;
                self.states = Some((client, states));
                self.stage = Stage::Watching;
            }
            Stage::Watching => {
                let Some((_, states)) = &self.states else { return Ok(()) };
                let Some(state) = states.next_state(STATE)? else { return Ok(()) };
                if state.tick >= self.at_tick && state.phase == Phase::Running.code() {
                    running.signal(self.side, Signal::STOP);
                    self.stage = Stage::Stopped { since: Instant::now(), tick: state.tick };
                }
            }
            Stage::Stopped { since, tick } => {
                if since.elapsed().as_secs_f64() >= STOPPED_S {
                    let (tick, states) = (*tick, self.states.as_ref());
                    let newest = states.map_or(Ok(None), |(_, states)| states.next_state(STATE));
                    running.signal(self.side, Signal::CONT);
                    let ticks = newest?.map_or(0, |state| state.tick.saturating_sub(tick));
                    self.stage = Stage::Done(Stop { tick, ticks });
                }
            }
            Stage::Done(_) => {}
        }
        Ok(())
    }

    /// The stop, if it is over.
    pub(super) const fn stop(&self) -> Option<Stop> {
        match self.stage {
            Stage::Done(stop) => Some(stop),
            _ => None,
        }
    }
}
