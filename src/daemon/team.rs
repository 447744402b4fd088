//! Several robots in one daemon. Each has a loop, a recorder and a front of its own, as if it were
//! alone; the session of the bus, the clock and the limits of the process are common.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::thread;

use hardstand_error::{Error, ErrorKind, Result, no_thread};
use hardstand_sandbox::Applied;

use crate::buffer_pool::{Notifier, Waiter, bell};
#[cfg(feature = "zenoh")]
use crate::bus::SharedBus;
use crate::config::Scenario;
use crate::rt::{Place, Touching};

use super::{Begin, Happening, Host, Summary, run_robot};

/// What the robots have in common.
#[derive(Debug)]
struct Team {
    /// Scenarios and logs.
    robots: Arc<[(Scenario, Option<PathBuf>)]>,
    #[cfg(feature = "zenoh")]
    bus: SharedBus,
    line: StartLine,
    /// How the first robot has limited the process.
    limits: OnceLock<Option<Applied>>,
}

/// A robot's part in it.
#[derive(Debug)]
pub(super) struct Member {
    team: Arc<Team>,
    /// Its place among the robots.
    own: usize,
    /// Where its loop meets the others, and what wakes it.
    meeting: Option<(Place, (Notifier, Waiter))>,
}

impl Member {
    /// Scenario and log of each robot.
    pub(super) fn robots(&self) -> &[(Scenario, Option<PathBuf>)] {
        &self.team.robots
    }

    #[cfg(feature = "zenoh")]
    pub(super) fn bus(&self) -> SharedBus {
        self.team.bus.clone()
    }

    /// For the links of its loop, once.
    pub(super) fn take_meeting(&mut self) -> Option<(Place, (Notifier, Waiter))> {
        self.meeting.take()
    }

    /// Lets the first robot limit the process, when all have come so far. What it has applied, for
    /// each of them; `None` if one of them has not come.
    ///
    /// # Errors
    /// That of `limit`, of the first robot.
    pub(super) fn once_for_all(
        &self,
        limit: impl FnOnce() -> Result<Option<Applied>>,
    ) -> Result<Option<Option<Applied>>> {
        let Team { robots, line, limits, .. } = &*self.team;
        if !line.meets(robots.len()) {
            return Ok(None);
        }
        if self.own == 0 {
            let _only_here = limits.set(limit()?).is_ok();
        }
        let all = line.meets(robots.len());
        Ok(limits.get().filter(|_| all).cloned())
    }

    /// Waits for all robots at this place; false if one of them has not come.
    pub(super) fn all_come(&self) -> bool {
        self.team.line.meets(self.team.robots.len())
    }
}

impl Drop for Member {
    /// No robot waits for one that has not started.
    fn drop(&mut self) {
        self.team.line.give_up();
    }
}

/// Where robots wait for each other while they start.
#[derive(Debug, Default)]
struct StartLine {
    /// How many have come so far, all waits together, and whether one will not.
    state: Mutex<(usize, bool)>,
    changed: Condvar,
}

impl StartLine {
    fn meets(&self, robots: usize) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.0 += 1;
        let all = state.0.next_multiple_of(robots);
        self.changed.notify_all();
        while state.0 < all && !state.1 {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.0 >= all
    }

    fn give_up(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).1 = true;
        self.changed.notify_all();
    }
}

/// Runs all `robots`, each a scenario with the name of its log, until their ends. A tick of one
/// waits for those of the others; one that fails ends all. `watch` also gets the robot's place.
///
/// # Errors
/// As [`run`](super::run), of the first robot that met one.
pub fn run_all(
    robots: Arc<[(Scenario, Option<PathBuf>)]>,
    host: &Host,
    stop: &Arc<AtomicBool>,
    watch: impl FnMut(usize, Happening<'_>) + Send,
) -> Result<Vec<Summary>> {
    let bells: Vec<_> = robots.iter().map(|_| bell()).collect();
    let begun: Vec<_> = robots.iter().map(|(scenario, _)| scenario.simulation()).collect();
    let notifiers = bells.iter().map(|(notifier, _)| notifier.clone()).collect();
    let places = Place::all(notifiers, Touching::of(&begun));
    let team = Arc::new(Team {
        robots,
        #[cfg(feature = "zenoh")]
        bus: SharedBus::default(),
        line: StartLine::default(),
        limits: OnceLock::new(),
    });
    let member = |(own, meeting)| Member { team: Arc::clone(&team), own, meeting: Some(meeting) };
    let members: Vec<Member> = places.into_iter().zip(bells).enumerate().map(member).collect();
    let watch = Mutex::new(watch);
    let run = |member: Member| {
        let k = member.own;
        let (scenario, log) = &team.robots[k];
        run_robot(scenario, Begin::Afresh, log.clone(), host, Some(member), stop, |happening| {
            watch.lock().unwrap_or_else(PoisonError::into_inner)(k, happening);
        })
    };
    let run = &run;
    let ends: Vec<Result<Option<Summary>>> = thread::scope(|scope| {
        let start = |member: Member| {
            let name = format!("robot-{}", member.own);
            thread::Builder::new().name(name).spawn_scoped(scope, move || run(member))
        };
        let threads: Vec<_> = members.into_iter().map(start).collect();
        let end = |started: std::io::Result<thread::ScopedJoinHandle<'_, _>>| match started {
            Ok(thread) => thread.join().unwrap_or_else(|_| Err(panicked())),
            Err(e) => Err(no_thread("robot", &e)),
        };
        threads.into_iter().map(end).collect()
    });
    let summaries: Vec<Option<Summary>> = ends.into_iter().collect::<Result<_>>()?;
    summaries.into_iter().map(|summary| summary.ok_or_else(panicked)).collect()
}

fn panicked() -> Error {
    Error::new(ErrorKind::Internal, "a robot's thread panicked: please report this")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::thread;

    use super::StartLine;

    #[test]
    fn robots_meet_as_often_as_they_wait() {
        let line = Arc::new(StartLine::default());
        let other = Arc::clone(&line);
        let thread = thread::spawn(move || [other.meets(2), other.meets(2)]);
        assert_eq!([line.meets(2), line.meets(2)], [true, true]);
        assert!(thread.join().is_ok_and(|all| all == [true, true]));
    }

    #[test]
    fn no_robot_waits_for_one_that_does_not_come() {
        let line = Arc::new(StartLine::default());
        let other = Arc::clone(&line);
        let thread = thread::spawn(move || other.meets(2));
        line.give_up();
        assert!(thread.join().is_ok_and(|all| !all));
    }
}
