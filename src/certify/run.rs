//! Runs one task: daemon, controller and perturbation; then reads the log.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::process_harness::{DAEMON_OUTPUT, Ended, Failure, Harness, LOG};
use crate::replay::{Player, write_state};
use hardstand_error::{Error, ErrorKind, Result};
use hardstand_log::RunIndex;

use super::attribution::{Difference, LogSummary, ReplayProblem, summarize};
use super::perturbation::{Load, Stop, Stopper};
use super::plan::{Perturbation, REFERENCE, Task};

/// Time between two looks at what the controller has in memory: each reads a file of every process
/// of the machine.
const NOTED_EVERY: Duration = Duration::from_millis(100);

/// What all runs have in common.
#[derive(Clone, Debug, Default)]
pub struct Bench {
    /// Each run has a folder in it.
    pub folder: PathBuf,
    /// Arguments of `hardstand run` in every run: the scenario, its keys, how long.
    pub run: Vec<OsString>,
    /// Where the daemon listens.
    pub endpoint: String,
    /// The robot's name in the keys.
    pub robot: String,
    /// The controller's command.
    pub controller: Vec<OsString>,
    /// Number of ticks.
    pub ticks: u64,
    /// The tick at which a side is stopped.
    pub stop_at: u64,
    /// Threads of a load.
    pub load: usize,
}

/// The result of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Others are compared with it.
    Reference,
    /// The same as what it was compared with, to the last bit.
    Equal,
    /// Another.
    Different,
    /// It did not reach its end.
    Failed,
}

/// Why a run counts as bad although no difference was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Problem {
    /// It did not reach its end.
    RunFailed(Failure),
    /// The run that it had to be compared with failed.
    ReferenceFailed(String),
    /// Its log does not replay.
    Replay(ReplayProblem),
}

/// A run of a certificate.
#[derive(Clone, Debug, Serialize)]
pub struct Run {
    /// Its name.
    pub name: String,
    /// What was done, as text.
    pub what: String,
    /// How it was perturbed.
    pub perturbation: Perturbation,
    /// Simulated seconds per second of wall time that were asked for; `None` for as many as can be.
    pub speed: Option<f64>,
    /// The tick at which a side was stopped, if one was.
    pub stopped_at_tick: Option<u64>,
    /// Ticks that were run meanwhile.
    pub ticks_while_stopped: Option<u64>,
    /// Name of the run that it was compared with.
    pub compared_with: Option<String>,
    /// Number of the state that it began with.
    pub first_tick: u64,
    /// Ticks.
    pub ticks: u64,
    /// Digest after the last one, 16 hex digits. It is chained: the same digest, the same ticks.
    pub digest: String,
    /// The plant has stopped itself in the last tick.
    pub plant_failure: bool,
    /// The log replays identically.
    pub replays: bool,
    /// Wall time from the start of the daemon to the end of both processes, s.
    pub wall_s: f64,
    /// The result.
    pub verdict: Verdict,
    /// Why it did not reach its end, or why its log does not replay.
    pub problem: Option<Problem>,
    /// Its first difference from the run that it was compared with.
    pub difference: Option<Difference>,
}

/// A run that has finished.
#[derive(Clone, Debug)]
pub struct FinishedRun {
    /// The summary of its log; empty if there is none.
    pub log: LogSummary,
    /// Wall time, s.
    pub wall_s: f64,
    /// The stop of a side, if there was one.
    pub stop: Option<Stop>,
    /// Why it did not reach its end.
    pub failure: Option<Failure>,
    /// Programs and libraries that the controller's processes had in memory, of the reference.
    pub mapped: BTreeSet<PathBuf>,
}

impl Bench {
    /// The log of a run.
    #[must_use]
    pub fn log_of(&self, name: &str) -> PathBuf {
        self.folder.join(name).join(LOG)
    }

    /// Sets the tick of a stop from the length of the reference: a plant that stopped itself made
    /// it shorter.
    pub fn note_reference(&mut self, log: &LogSummary) {
        self.stop_at = log.ticks / 4;
    }

    /// Runs a task. Calls `look` repeatedly with the seconds since the start; if it returns false,
    /// the run is ended.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] if the controller cannot be started; [`ErrorKind::File`] if a folder
    /// cannot be written; [`ErrorKind::Internal`] if a side could not be stopped in time.
    pub fn run(&self, task: &Task, mut look: impl FnMut(f64) -> bool) -> Result<FinishedRun> {
        let folder = self.folder.join(task.name);
        clear(&folder)?;
        std::fs::create_dir_all(&folder).map_err(|e| file_error(&folder, &e))?;
        let harness = Harness {
            folder: folder.clone(),
            run: self.arguments(task, &folder)?,
            endpoint: self.endpoint.clone(),
            robots: vec![self.robot.clone()],
            controller: self.controller.clone(),
            ..Harness::default()
        };
        let _load = (task.perturbation == Perturbation::Load).then(|| Load::of(self.load));
        let stopped_side = task.perturbation.stopped();
        let mut stopper = stopped_side.map(|side| Stopper::new(side, self.stop_at));
        let is_reference = task.name == REFERENCE;
        let (mut mapped, mut noted) = (BTreeSet::new(), None::<Instant>);
        let (begin, mut stopped) = (Instant::now(), false);
        let mut running = harness.start()?;
        let ended = running.wait(|running| {
            let is_over = running.daemon_has_ended();
            if let Some(stopper) = stopper.as_mut().filter(|_| !is_over) {
                stopper.look(running)?;
            }
            // seldom in a long run, and again soon in one that has just begun to load its libraries
            let is_due = |at: Instant| at.elapsed() >= NOTED_EVERY.min(at - begin);
            if is_reference && (is_over || noted.is_none_or(is_due)) {
                running.note_mapped(&mut mapped);
                noted = Some(Instant::now());
            }
            stopped |= !look(begin.elapsed().as_secs_f64());
            Ok(!stopped)
        })?;
        let wall_s = begin.elapsed().as_secs_f64();
        let log = match RunIndex::of(&self.log_of(task.name), |_, _| ()) {
            Ok(_there_are_ticks) => summarize(&self.log_of(task.name))?,
            Err(_none) => LogSummary::default(),
        };
        let failure = if stopped {
            Some(Failure::stopped(log.ticks))
        } else {
            self.failure(&ended, &log, &folder)
        };
        let stop = stopper.as_ref().and_then(Stopper::stop);
        if stopper.is_some() && stop.is_none() && failure.is_none() {
            let text = format!(
                "run {} ended before it could be stopped; give a longer --duration",
                task.name
            );
            return Err(Error::new(ErrorKind::Input, text));
        }
        Ok(FinishedRun { log, wall_s, stop, failure, mapped })
    }

    fn arguments(&self, task: &Task, folder: &Path) -> Result<Vec<OsString>> {
        let mut run = self.run.clone();
        match task.speed {
            Some(speed) => {
                run.extend(["--pace", "realtime", "--speed"].map(OsString::from));
                run.push(speed.to_string().into());
            }
            None => run.extend(["--pace", "free"].map(OsString::from)),
        }
        if task.perturbation == Perturbation::SavedState {
            let file = folder.join("state.bin");
            self.save_half(&file)?;
            run.extend(["--from".into(), file.into_os_string()]);
        }
        Ok(run)
    }

    /// Writes the state in which half of the reference is over.
    fn save_half(&self, file: &Path) -> Result<()> {
        let log = self.log_of(REFERENCE);
        let index = RunIndex::of(&log, |_, _| ())?;
        let player = Player::open_before(&log, &index, index.run_id(), index.ticks() / 2)?;
        let differs = || Error::new(ErrorKind::Log, "the reference does not replay");
        write_state(file, &player.saved_state().ok_or_else(differs)?).map(|_bytes| ())
    }

    /// Why the run did not reach its end, if it did not.
    fn failure(&self, ended: &Ended, log: &LogSummary, folder: &Path) -> Option<Failure> {
        let complete =
            log.ticks > 0 && (log.plant_failure || log.first_tick + log.ticks >= self.ticks);
        if complete {
            return None;
        }
        Some(ended.failure(log.ticks, folder))
    }
}

fn file_error(file: &Path, e: &std::io::Error) -> Error {
    Error::new(ErrorKind::File, format!("{}: {e}", file.display()))
}

/// Removes what an earlier certification has left; a folder of something else is refused.
fn clear(folder: &Path) -> Result<()> {
    let is_empty = || folder.read_dir().is_ok_and(|mut entries| entries.next().is_none());
    let is_run = [LOG, DAEMON_OUTPUT].iter().any(|name| folder.join(name).exists());
    if !folder.exists() || is_run || is_empty() {
        let _there_may_be_none = std::fs::remove_dir_all(folder).is_ok();
        return Ok(());
    }
    let text = format!(
        "{} exists and is not a run of an earlier certificate; choose another folder with --out",
        folder.display()
    );
    Err(Error::new(ErrorKind::Input, text))
}
