//! Several robots in one daemon. Each has a loop, a recorder and a front of its own, as if it were
//! alone; the session of the bus, the clock and the limits of the process are common.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
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
    robots: Vec<(Scenario, Option<PathBuf>)>,
    #[cfg(feature = "zenoh")]
    bus: SharedBus,
    line: StartLine,
    /// The first robot has limited the system calls of all threads.
    calls_limited: AtomicBool,
}

/// A robot's part in it.
#[derive(Debug)]
pub(super) struct Member {
    team: Arc<Team>,
    /// The first limits the process for all.
    pub(super) is_first: bool,
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

    /// What the first robot has found out about the limits of the process, for the others.
    pub(super) fn share(&self, sandbox: &mut Applied) {
        if self.is_first {
            self.team.calls_limited.store(sandbox.seccomp, Ordering::Relaxed);
        }
        sandbox.seccomp |= self.team.calls_limited.load(Ordering::Relaxed);
    }

    /// Waits for the other robots; false if one of them did not come so far.
    pub(super) fn meets(&self) -> bool {
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
    robots: Vec<(Scenario, Option<PathBuf>)>,
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
        calls_limited: AtomicBool::new(false),
    });
    let member = |(place, bell)| Member {
        team: Arc::clone(&team),
        is_first: false,
        meeting: Some((place, bell)),
    };
    let mut members: Vec<Member> = places.into_iter().zip(bells).map(member).collect();
    members.iter_mut().take(1).for_each(|first| first.is_first = true);
    let watch = Mutex::new(watch);
    let run = |k: usize, member: Member| {
        let (scenario, log) = &team.robots[k];
        run_robot(scenario, Begin::Afresh, log.clone(), host, Some(member), stop, |happening| {
            watch.lock().unwrap_or_else(PoisonError::into_inner)(k, happening);
        })
    };
    let run = &run;
    let ends: Vec<Result<Option<Summary>>> = thread::scope(|scope| {
        let start = |(k, member)| {
            let name = format!("robot-{k}");
            thread::Builder::new().name(name).spawn_scoped(scope, move || run(k, member))
        };
        let threads: Vec<_> = members.into_iter().enumerate().map(start).collect();
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
