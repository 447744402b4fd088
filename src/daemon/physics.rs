//! The physics thread: rights, warm-up, executive.

use std::hint::black_box;
use std::thread::JoinHandle;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, TryRecvError, bounded};

use crate::config::{Pace, Scenario};
use crate::rt::{
    ControllerReplay, Ending, Executive, Grants, Links, MonotonicClock, RunLimits, drop_privileges,
    enter_realtime, lock_memory,
};
use crate::simulation::{EventSchedule, Simulation};
use hardstand_error::{Error, ErrorKind, Result, no_thread};
use hardstand_protocol::TickInput;

use super::confinement::Confinement;

/// Ticks of a copy of the plant that are run before the first real one, to bring code and data
/// into memory.
const WARM_UP_TICKS: usize = 100;
/// Stack that is touched before the loop, bytes.
const STACK_BYTES: usize = 128 << 10;

/// A running physics thread.
#[derive(Debug)]
pub(super) struct PhysicsThread {
    thread: JoinHandle<Option<(Ending, Simulation)>>,
    grants: Receiver<Grants>,
    /// What the thread got at last, before its first tick.
    started: Receiver<Result<Grants>>,
    go: Sender<(Links, Option<Confinement>)>,
    /// Nothing comes; its other end is gone when the loop has ended.
    ended: Receiver<()>,
    required: bool,
}

impl PhysicsThread {
    pub(super) fn start(
        scenario: &Scenario,
        (simulation, controller_replay): (Simulation, Option<ControllerReplay>),
        limits: RunLimits,
        core: Option<usize>,
    ) -> Result<Self> {
        let (grants_out, grants_in) = bounded(1);
        let (started_out, started_in) = bounded(1);
        let (go_out, go_in) = bounded::<(Links, Option<Confinement>)>(1);
        let (running, ended) = bounded(0);
        let (pace, settings) = (scenario.pace, scenario.realtime.clone());
        let schedule = EventSchedule::new(scenario.events.clone());
        let required = settings.required && pace != Pace::Free;
        let work = move || {
            let _running: Sender<()> = running;
            let mut grants = Grants::default();
            // at free pace a FIFO thread would only starve the machine
            if pace != Pace::Free {
                enter_realtime(&settings, core, &mut grants);
                if settings.lock_memory {
                    lock_memory(&mut grants);
                }
            }
            let (go, locked) = (grants.enforce(required).is_ok(), grants.memory_locked);
            let _received = grants_out.send(grants).is_ok();
            if !go {
                return None;
            }
            warm_up(&simulation);
            let (links, confinement) = go_in.recv().ok()?;
            let started = last_rights(locked, required, confinement.as_ref());
            let go = started.is_ok();
            let _received = started_out.send(started).is_ok();
            if !go {
                return None;
            }
            let clock = MonotonicClock::spinning(settings.spin_ns, simulation.spec().period_ns);
            let executive = Executive::new(simulation, clock, links, schedule, pace, limits);
            Some(match controller_replay {
                Some(replay) => replay.run(executive),
                None => executive.run(),
            })
        };
        let thread = std::thread::Builder::new()
            .name("physics".into())
            .spawn(work)
            .map_err(|e| no_thread("physics", &e))?;
        Ok(Self { thread, grants: grants_in, started: started_in, go: go_out, ended, required })
    }

    /// What the system granted.
    ///
    /// # Errors
    /// [`ErrorKind::RealTime`] if something was refused that the scenario requires.
    pub(super) fn grants(&self) -> Result<Grants> {
        let grants = self.grants.recv().map_err(|e| {
            Error::new(ErrorKind::Internal, format!("the physics thread ended at once ({e})"))
        })?;
        grants.enforce(self.required)?;
        Ok(grants)
    }

    /// Lets the loop begin, connected to `links`. Memory is locked once more, with all that has
    /// come since, and the thread is confined; what came of that goes to `grants`.
    ///
    /// # Errors
    /// As [`grants`](Self::grants), also if a sandbox was refused that the scenario requires.
    pub(super) fn go(
        &self,
        links: Links,
        confinement: Option<Confinement>,
        grants: &mut Grants,
    ) -> Result<()> {
        let _it_waits = self.go.send((links, confinement)).is_ok();
        // a thread that has panicked is reported at the end of the run
        let Ok(started) = self.started.recv() else { return Ok(()) };
        let started = started?;
        if grants.memory_locked {
            grants.memory_locked = started.memory_locked;
            grants.refused.extend(started.refused);
        }
        if let (Some(all), Some(own)) = (&mut grants.sandbox, started.sandbox) {
            all.not_applied.extend(own.not_applied);
            all.not_applied.sort();
            all.not_applied.dedup();
        }
        grants.enforce(self.required)
    }

    /// Waits for the end of the loop, at most so long.
    pub(super) fn wait(&self, patience: Duration) {
        let _nothing_comes = self.ended.recv_timeout(patience).is_ok();
    }

    /// True from the end of the loop on; the thread may still have to free what it used.
    pub(super) fn is_finished(&self) -> bool {
        self.ended.try_recv() == Err(TryRecvError::Disconnected)
    }

    /// How the loop ended; `None` if the thread panicked.
    pub(super) fn join(self) -> Option<(Ending, Simulation)> {
        self.thread.join().ok().flatten()
    }
}

/// The last that the thread asks of the system: memory is locked with all that has come since, then
/// all rights are given up.
fn last_rights(locked: bool, required: bool, confinement: Option<&Confinement>) -> Result<Grants> {
    let mut grants = Grants::default();
    if locked {
        lock_memory(&mut grants);
        grants.enforce(required)?;
    }
    drop_privileges(None);
    grants.sandbox = confinement.map(Confinement::confine_loop).transpose()?;
    Ok(grants)
}

fn warm_up(simulation: &Simulation) {
    touch_stack();
    let (mut copy, input) = (simulation.clone(), TickInput::new());
    let mut snapshot = copy.new_snapshot();
    for _ in 0..WARM_UP_TICKS {
        black_box(copy.step(&input));
        copy.fill(&mut snapshot);
    }
    black_box(&snapshot);
}

#[inline(never)]
fn touch_stack() {
    let mut area = [0_u8; STACK_BYTES];
    black_box(&mut area);
}
