//! Keeps the bus alive: when one of its threads panics, or when it does not answer any more, all of
//! it is closed and opened again. The physics does not notice.

use std::time::{Duration, Instant};

use crossbeam_channel::bounded;

use crate::config::Scenario;
use crate::rt::RecentPanics;
use hardstand_error::{Error, ErrorKind, Result};
use hardstand_protocol::{EventReading, ModelReply, StatusReading};

use super::MONITOR_POLL;
use super::front::{Ends, Front};

/// A bus that cannot be opened again for so long is given up: its endpoint may be free a moment
/// later only.
const REOPEN: Duration = Duration::from_secs(10);
/// Looks without an answer after which the bus is opened again. Looks, not time: a daemon that was
/// stopped by a signal has not asked.
const SILENT_LOOKS_MAX: u32 = (10_000 / MONITOR_POLL.as_millis()) as u32;
/// Restarts in a row without one answer after which the bus is given up.
const UNANSWERED_MAX: u32 = 2;
/// Longest wait for a bus that is closed to be opened again.
const CLOSE: Duration = Duration::from_secs(10);
/// The same at the end of the run: a reader that is stopped, which takes no more, holds it up.
const CLOSE_AT_END: Duration = Duration::from_secs(1);

/// The bus, and what it takes to open it again.
#[derive(Debug)]
pub(super) struct Io<'a> {
    scenario: &'a Scenario,
    model: &'a ModelReply,
    ends: Ends,
    front: Option<Front>,
    panics: RecentPanics,
    closed: Option<Instant>,
    restarts: u64,
    silence: Silence,
    twin_told: bool,
}

/// How long the bus has not answered.
#[derive(Debug, Default)]
struct Silence {
    answers: u64,
    looks: u32,
    /// Restarts since the last answer.
    restarts: u32,
}

impl Silence {
    /// Looks at the number of answers; true if it has stood still for too long.
    const fn is_too_long(&mut self, answers: u64) -> bool {
        if answers != self.answers {
            *self = Self { answers, looks: 0, restarts: 0 };
        }
        self.looks += 1;
        self.looks > SILENT_LOOKS_MAX
    }
}

impl<'a> Io<'a> {
    pub(super) fn open(scenario: &'a Scenario, model: &'a ModelReply, ends: Ends) -> Result<Self> {
        let front = Some(Front::open(scenario, model, ends.clone())?);
        Ok(Self {
            scenario,
            model,
            ends,
            front,
            panics: RecentPanics::default(),
            closed: None,
            restarts: 0,
            silence: Silence::default(),
            twin_told: false,
        })
    }

    /// Opens what has died again, and counts it.
    ///
    /// # Errors
    /// [`ErrorKind::Internal`] if it dies too often, [`ErrorKind::Bus`] if it cannot be opened.
    pub(super) fn tend(&mut self) -> Result<()> {
        if let Some(front) = self.front.take() {
            if front.has_died() {
                self.end(front)?;
                self.count_panic()?;
            } else if front.answers().is_some_and(|n| self.silence.is_too_long(n)) {
                self.end(front)?;
                self.count_silence()?;
            } else {
                self.front = Some(front);
            }
        }
        if self.front.is_none() {
            match Front::open(self.scenario, self.model, self.ends.clone()) {
                Ok(front) => {
                    self.front = Some(front);
                    self.restarts += 1;
                }
                Err(e) if self.closed.is_none_or(|at| at.elapsed() > REOPEN) => return Err(e),
                Err(_not_yet) => {}
            }
        }
        Ok(())
    }

    /// Once, that another daemon simulates a robot of the same name.
    pub(super) fn take_twin(&mut self) -> Option<String> {
        if self.twin_told || !self.front.as_ref().is_some_and(Front::has_twin) {
            return None;
        }
        self.twin_told = true;
        let robot = &self.scenario.bus.robot;
        Some(format!(
            "another daemon on this bus has a robot named {robot}, too: commands and orders reach \
             both; give one of them another robot.name"
        ))
    }

    fn end(&mut self, front: Front) -> Result<()> {
        if !close(front, false) {
            let text = "the bus does not answer and cannot be closed; the run was stopped in order";
            return Err(defect(text));
        }
        self.closed = Some(Instant::now());
        Ok(())
    }

    fn count_panic(&mut self) -> Result<()> {
        let Some(count) = self.panics.add() else { return Ok(()) };
        Err(defect(&format!(
            "a thread of the bus panicked {count} times within a minute; the run was stopped in \
             order"
        )))
    }

    fn count_silence(&mut self) -> Result<()> {
        let restarts = self.silence.restarts;
        self.silence = Silence { restarts: restarts + 1, ..Silence::default() };
        if restarts < UNANSWERED_MAX {
            return Ok(());
        }
        Err(defect(&format!(
            "the bus did not answer, and {restarts} restarts did not help; the run was stopped in \
             order"
        )))
    }

    /// The ends of the loop's links.
    pub(super) const fn ends(&self) -> &Ends {
        &self.ends
    }

    pub(super) const fn restarts(&self) -> u64 {
        self.restarts
    }

    pub(super) fn publish_status(&self, status: &StatusReading) {
        if let Some(front) = &self.front {
            front.publish_status(status);
        }
    }

    pub(super) fn publish_event(&self, event: &EventReading) {
        if let Some(front) = &self.front {
            front.publish_event(event);
        }
    }

    pub(super) fn close(self) {
        self.front.map(|front| close(front, true));
    }
}

/// True if the front could be closed. A bus that hangs keeps a thread until the process ends.
fn close(front: Front, at_end: bool) -> bool {
    let patience = if at_end { CLOSE_AT_END } else { CLOSE };
    let (done, closed) = bounded(1);
    let closing = std::thread::Builder::new().name("bus-close".into()).spawn(move || {
        front.close(at_end);
        _ = done.send(()).is_ok();
    });
    closing.is_ok() && closed.recv_timeout(patience).is_ok()
}

fn defect(text: &str) -> Error {
    let report =
        "This is a defect of Hardstand: please report it with the output above and the log";
    Error::new(ErrorKind::Internal, format!("{text}. {report}"))
}
