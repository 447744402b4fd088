//! Ways between a control law and a daemon.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hardstand_error::{Error, ErrorKind, Result};
#[cfg(not(target_family = "wasm"))]
use hardstand_port::SharedMemory;
use hardstand_protocol::{JointCommand, StateReading};

use crate::Runner;

/// Longest single wait for a state, so that a signal soon ends the run.
const TURN: Duration = Duration::from_millis(20);

/// A connection that brings states and takes answers.
pub trait Link {
    /// The next state that is to be answered; `None` after `patience` without one.
    ///
    /// # Errors
    /// `ErrorKind::Bus` if the connection has ended.
    fn next_state(&mut self, patience: Duration) -> Result<Option<StateReading>>;

    /// When a state came last, also one that needs no answer, as in a pause.
    fn heard(&self) -> Instant;

    /// Answers `state`.
    ///
    /// # Errors
    /// `ErrorKind::Bus` if the answer cannot be sent.
    fn answer(&mut self, state: &StateReading, set_points: &[JointCommand]) -> Result<()>;
}

#[cfg(not(target_family = "wasm"))]
impl Link for SharedMemory {
    fn next_state(&mut self, patience: Duration) -> Result<Option<StateReading>> {
        Self::next_state(self, patience)
    }

    fn heard(&self) -> Instant {
        Self::heard(self)
    }

    fn answer(&mut self, state: &StateReading, set_points: &[JointCommand]) -> Result<()> {
        Self::answer(self, state, set_points);
        Ok(())
    }
}

#[cfg(feature = "bus")]
impl Link for hardstand_client::JoinedController {
    fn next_state(&mut self, patience: Duration) -> Result<Option<StateReading>> {
        Self::next_state(self, patience)
    }

    fn heard(&self) -> Instant {
        Self::heard(self)
    }

    fn answer(&mut self, state: &StateReading, set_points: &[JointCommand]) -> Result<()> {
        Self::answer(self, state, set_points)
    }
}

impl Runner {
    /// Answers the states of `link` until `stop` is set. `after` sees the link
    /// after each state.
    ///
    /// # Errors
    /// `ErrorKind::Bus` after `patience` without a state; as [`answer`](Self::answer); those of the
    /// link.
    pub fn run<L: Link>(
        &mut self,
        link: &mut L,
        patience: Duration,
        stop: &AtomicBool,
        mut after: impl FnMut(&L),
    ) -> Result<()> {
        while !stop.load(Ordering::Relaxed) {
            match link.next_state(TURN.min(patience))? {
                Some(state) => {
                    after(link);
                    link.answer(&state, self.answer(&state)?)?;
                }
                None if link.heard().elapsed() >= patience => {
                    let seconds = patience.as_secs_f64();
                    let text = format!("no state for {seconds} s: the daemon has ended");
                    return Err(Error::new(ErrorKind::Bus, text));
                }
                None => {}
            }
        }
        Ok(())
    }
}
