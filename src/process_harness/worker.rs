//! A daemon's process and a controller that stay up from run to run.

use std::ffi::OsString;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, ChildStdout, Command, ExitStatus};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::daemon::EndKind;
use hardstand_error::{Error, ErrorKind, Result};

use super::process::{Process, wait_for_end_or};
use super::{
    CONTROLLER_OUTPUT, DAEMON_OUTPUT, ENDING, Ended, Harness, LOOK_AGAIN, READY_LOOK,
    READY_TIMEOUT, into_file, is_ready, refused, reports_in, this_program,
};

/// A run for `hardstand worker`, a line of JSON; the answer is a line with the exit code.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Task {
    /// Arguments of `hardstand run`.
    pub run: Vec<OsString>,
    /// What the run prints goes to this file.
    pub output: OsString,
}

/// A process that runs one scenario after another on one endpoint, and a controller that begins
/// again with each run. Dropping it ends both.
#[derive(Debug)]
pub struct Worker {
    daemon: Process,
    tasks: ChildStdin,
    answers: ChildStdout,
    controller: Option<Resident>,
    folder: PathBuf,
}

/// A controller that stays up.
#[derive(Debug)]
struct Resident {
    process: Process,
    /// What it was started for: its command, robot and endpoint, and the model that it asked for.
    purpose: (Vec<OsString>, String, String, u64),
    /// Its output, and how much of that belongs to earlier runs, bytes.
    output: PathBuf,
    bytes_before: u64,
}

impl Worker {
    /// Starts the process; `folder` takes what the controller prints.
    ///
    /// # Errors
    /// As [`Process::start`].
    pub fn start(folder: PathBuf) -> Result<Self> {
        let mut command = Command::new(this_program()?);
        command.arg("worker");
        let (daemon, tasks, answers) = Process::start_piped(command)?;
        Ok(Self { daemon, tasks, answers, controller: None, folder })
    }

    /// Runs it to its end, as a harness does. The controller is started again if it has ended, or
    /// was started for another `model`. If `go_on` says no, both processes are ended.
    ///
    /// # Errors
    /// As [`Harness::start`] and [`Running::wait`](super::Running::wait).
    pub fn run(
        &mut self,
        harness: &Harness,
        model: u64,
        go_on: &dyn Fn() -> bool,
    ) -> Result<Ended> {
        let (run, report) = harness.arguments()?;
        self.keep_controller_for(harness, model)?;
        let output = harness.folder.join(DAEMON_OUTPUT);
        File::create(&output).map_err(|e| refused(&output, &e))?;
        let mut line = serde_json::to_vec(&Task { run, output: output.into() })
            .map_err(|e| Error::new(ErrorKind::Internal, format!("a task for a worker: {e}")))?;
        line.push(b'\n');
        // a worker that has died is noticed below
        let _sent = self.tasks.write_all(&line).is_ok();
        let mut answer = None;
        if self.controller.is_none() {
            answer = self.wait_until_ready(&report)?;
            if answer.is_none() {
                self.controller = Some(self.start_controller(harness, model)?);
            }
        }
        let (daemon, controller) = self.wait(answer, go_on)?;
        if let Some(resident) = &mut self.controller {
            resident.hand_out(&harness.folder.join(CONTROLLER_OUTPUT));
        }
        Ok(Ended::of(daemon, controller, reports_in(&report)))
    }

    /// True if it can do another run after one that ended like this.
    pub fn stays(&mut self, ended: &Ended) -> bool {
        let whole = [EndKind::DurationReached, EndKind::PlantFailure];
        ended.report.as_ref().is_some_and(|end| whole.contains(&end.kind))
            && ended.controller.is_none_or(|status| status.success())
            && matches!(self.daemon.ended(), Ok(None))
    }

    /// Ends a controller that has ended already, or was started for something else.
    fn keep_controller_for(&mut self, harness: &Harness, model: u64) -> Result<()> {
        let Some(resident) = &mut self.controller else { return Ok(()) };
        if resident.process.ended()?.is_some() || resident.purpose != purpose(harness, model) {
            resident.process.end(ENDING)?;
            self.controller = None;
        }
        Ok(())
    }

    fn start_controller(&self, harness: &Harness, model: u64) -> Result<Resident> {
        let output = self.folder.join(CONTROLLER_OUTPUT);
        let command = harness.controller_command(harness.first_robot())?;
        let process = Process::start_family(into_file(command, &output)?)?;
        Ok(Resident { process, purpose: purpose(harness, model), output, bytes_before: 0 })
    }

    /// Waits until the daemon accepts controllers; its answer, if it ends before.
    fn wait_until_ready(&mut self, report: &Path) -> Result<Option<ExitStatus>> {
        let begin = Instant::now();
        while !is_ready(&reports_in(report), 1) && begin.elapsed() < READY_TIMEOUT {
            if let Some(status) = self.answer(READY_LOOK)? {
                return Ok(Some(status));
            }
        }
        Ok(None)
    }

    /// The exit status of the run, and that of the controller if it ended before.
    fn wait(
        &mut self,
        mut answer: Option<ExitStatus>,
        go_on: &dyn Fn() -> bool,
    ) -> Result<(ExitStatus, Option<ExitStatus>)> {
        loop {
            let resident = self.controller.as_mut();
            let controller = resident.map_or(Ok(None), |resident| resident.process.ended())?;
            if let Some(status) = answer {
                return Ok((status, controller));
            }
            if !go_on() || controller.is_some_and(|status| !status.success()) {
                self.daemon.end(ENDING)?;
            }
            answer = self.answer(LOOK_AGAIN)?;
        }
    }

    /// Waits for the answer to a task, or the end of a process, at most so long.
    fn answer(&mut self, patience: Duration) -> Result<Option<ExitStatus>> {
        let residents = self.controller.iter().map(|resident| &resident.process);
        let processes = std::iter::once(&self.daemon).chain(residents);
        if !wait_for_end_or(Some(self.answers.as_fd()), processes, patience) {
            return self.daemon.ended();
        }
        let mut text = [0; 16];
        let count = self.answers.read(&mut text).unwrap_or(0);
        let code: Option<u8> =
            std::str::from_utf8(&text[..count]).ok().and_then(|code| code.trim().parse().ok());
        match code {
            Some(code) => Ok(Some(ExitStatus::from_raw(i32::from(code) << 8))),
            // the pipe has ended: so has the process, or soon
            None => {
                self.daemon.end(ENDING)?;
                self.daemon.ended()
            }
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // the controller first: it would lose its daemon
        if let Some(resident) = &mut self.controller {
            let _ended = resident.process.end(ENDING).is_ok();
        }
        let _ended = self.daemon.end(Duration::ZERO).is_ok();
    }
}

impl Resident {
    /// Copies what it has printed in this run.
    fn hand_out(&mut self, to: &Path) {
        let copied = File::open(&self.output).and_then(|mut from| {
            from.seek(SeekFrom::Start(self.bytes_before))?;
            std::io::copy(&mut from, &mut File::create(to)?)
        });
        // words for people: a case does not hang on them
        self.bytes_before += copied.unwrap_or(0);
    }
}

fn purpose(harness: &Harness, model: u64) -> (Vec<OsString>, String, String, u64) {
    let Harness { controller, endpoint, .. } = harness;
    (controller.clone(), harness.first_robot().into(), endpoint.clone(), model)
}
