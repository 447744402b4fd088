//! Keeps the bus alive: when one of its threads panics, all of it is closed and opened again. The
//! physics does not notice.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crate::config::Scenario;
use hardstand_error::{Error, ErrorKind, Result};
use hardstand_protocol::{EventReading, ModelReply, StatusReading};

use super::front::{Ends, Front};

/// Restarts within [`WINDOW`] after which it is given up.
const RESTARTS_MAX: usize = 5;
const WINDOW: Duration = Duration::from_secs(60);
/// A bus that cannot be opened again for so long is given up: its endpoint may be free a moment
/// later only.
const REOPEN: Duration = Duration::from_secs(10);

/// The bus, and what it takes to open it again.
#[derive(Debug)]
pub(super) struct Io<'a> {
    scenario: &'a Scenario,
    model: &'a ModelReply,
    ends: Ends,
    front: Option<Front>,
    deaths: VecDeque<Instant>,
    restarts: u64,
}

impl<'a> Io<'a> {
    pub(super) fn open(scenario: &'a Scenario, model: &'a ModelReply, ends: Ends) -> Result<Self> {
        let front = Some(Front::open(scenario, model, ends.clone())?);
        Ok(Self { scenario, model, ends, front, deaths: VecDeque::new(), restarts: 0 })
    }

    /// Opens what has died again, and counts it.
    ///
    /// # Errors
    /// [`ErrorKind::Internal`] if it dies too often, [`ErrorKind::Bus`] if it cannot be opened.
    pub(super) fn tend(&mut self) -> Result<()> {
        if self.front.as_ref().is_some_and(Front::has_died) {
            self.bury()?;
        }
        if self.front.is_none() {
            match Front::open(self.scenario, self.model, self.ends.clone()) {
                Ok(front) => {
                    self.front = Some(front);
                    self.restarts += 1;
                }
                Err(e) if self.deaths.back().is_none_or(|d| d.elapsed() > REOPEN) => return Err(e),
                Err(_not_yet) => {}
            }
        }
        Ok(())
    }

    fn bury(&mut self) -> Result<()> {
        if let Some(front) = self.front.take() {
            front.close();
        }
        let now = Instant::now();
        self.deaths.push_back(now);
        self.deaths.retain(|&death| now.duration_since(death) < WINDOW);
        if self.deaths.len() > RESTARTS_MAX {
            return Err(Error::new(
                ErrorKind::Internal,
                format!(
                    "a thread of the bus panicked {} times within a minute; the run was stopped in \
                     order. This is a defect of Hardstand: please report it with the output \
                     above and the \
                     log",
                    self.deaths.len()
                ),
            ));
        }
        Ok(())
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
        if let Some(front) = self.front {
            front.close();
        }
    }
}
