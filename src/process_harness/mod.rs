//! Runs a daemon and its controller, each as a process of its own, for certificates, branches and
//! campaigns; of several robots each has a controller. The daemon reports its readiness and its end
//! as data (`run --report`); what the processes print goes to files for people, and no code reads
//! it.

mod failure;
mod family;
mod mapped;
mod process;
mod progress;
mod worker;

pub use failure::{Failure, FailureKind};
pub use process::{Process, Side};
pub use worker::{Task, Worker};

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::daemon::{EndReport, ErrorReport, Report, file_of, reports};
use hardstand_client::Client;
use hardstand_error::{Error, ErrorKind, Result};

use process::wait_for_end;
use progress::Progress;

/// The log, in the folder of a harness.
pub const LOG: &str = "run.mcap";
/// The daemon's report, in the folder of a harness: a line of JSON when it is ready, one at its
/// end.
pub const REPORT: &str = "report.jsonl";
/// What the daemon printed, in the folder of a harness.
pub const DAEMON_OUTPUT: &str = "daemon.txt";
/// What the controller printed.
pub const CONTROLLER_OUTPUT: &str = "controller.txt";
/// Longest wait for the daemon to be ready; after it the controller is started anyway.
const READY_TIMEOUT: Duration = Duration::from_secs(30);
/// Lines at the end of a process's output that a failure keeps.
const TAIL_LINES: usize = 12;
/// Bytes of it that are read at most.
const TAIL_BYTES: u64 = 64 * 1024;
/// Time between two looks whether the daemon is ready.
const READY_LOOK: Duration = Duration::from_millis(1);
/// Longest time between two looks whether the caller stops the run.
const LOOK_AGAIN: Duration = Duration::from_millis(10);
/// Time between SIGTERM and SIGKILL.
const ENDING: Duration = Duration::from_secs(5);
/// Where the controller finds the daemon: the endpoint.
pub const CONNECT_VARIABLE: &str = "HARDSTAND_CONNECT";
/// Likewise: the robot's name in the keys.
pub const ROBOT_VARIABLE: &str = "HARDSTAND_ROBOT";
/// Likewise: the names of all robots of the daemon, with commas between them.
pub const ROBOTS_VARIABLE: &str = "HARDSTAND_ROBOTS";
/// Where a ROS 2 node with `rmw_zenoh` finds its router: settings of zenoh, `KEY=VALUE;…`.
pub const ZENOH_VARIABLE: &str = "ZENOH_CONFIG_OVERRIDE";

/// A daemon and a controller that are to be run.
#[derive(Clone, Debug, Default)]
pub struct Harness {
    /// The `hardstand` program; `None` for the program that runs now.
    pub program: Option<PathBuf>,
    /// Existing folder for the log, the report and the output of both processes. Existing files of
    /// these names are replaced.
    pub folder: PathBuf,
    /// File of the log, if it is not in `folder`.
    pub log: Option<PathBuf>,
    /// Arguments of `hardstand run` except for log and report: the scenario first. The daemon
    /// listens at `endpoint`.
    pub run: Vec<OsString>,
    /// Where the controller finds the daemon.
    pub endpoint: String,
    /// The robots' names in the keys, in their order.
    pub robots: Vec<String>,
    /// The controller's command. It is started for each robot, and finds endpoint and robot in its
    /// environment.
    pub controller: Vec<OsString>,
    /// The controller simulates the robot itself: it gets the arguments of `run` behind
    /// `--in-process`, there is no other process, and `endpoint` means nothing.
    pub in_process: bool,
    /// Then it hangs if log and report, both in `folder`, do not grow for so long; `None`: never.
    pub patience: Option<Duration>,
    /// More environment variables of the controller.
    pub variables: Vec<(String, OsString)>,
}

/// A daemon and its controllers that have been started. Dropping it kills them.
#[derive(Debug)]
pub struct Running {
    daemon: Process,
    report: PathBuf,
    /// Empty if the daemon has ended before they could be started.
    controllers: Vec<Process>,
    endpoint: String,
    robots: Vec<String>,
    /// Of a controller that simulates the robot itself, if it must not hang.
    progress: Option<Progress>,
    hangs: bool,
}

/// How the processes ended.
#[derive(Clone, Debug)]
pub struct Ended {
    /// The daemon's exit status.
    pub daemon: ExitStatus,
    /// The controller's exit status, if it ended before the daemon; of several that of the first
    /// that failed, or else of the first that ended.
    pub controller: Option<ExitStatus>,
    /// The robot of that controller.
    pub controller_of: Option<String>,
    /// A controller that simulates the robot itself did not go on, and was ended for that.
    pub hung: bool,
    /// True if the daemon was ready: from then on a log of that name is its own.
    pub was_ready: bool,
    /// The daemon's report of its end; `None` if it was killed or met an error. Of several robots
    /// that of the one whose end ended the others.
    pub report: Option<EndReport>,
    /// The error that ended the daemon.
    pub error: Option<ErrorReport>,
}

impl Ended {
    fn of(daemon: ExitStatus, controller: Option<ExitStatus>, reports: Vec<Report>) -> Self {
        let mut ended = Self {
            daemon,
            controller,
            controller_of: None,
            hung: false,
            was_ready: false,
            report: None,
            error: None,
        };
        for report in reports {
            match report {
                Report::Ready(_) => ended.was_ready = true,
                Report::Ended(end) => {
                    if ended.report.as_ref().is_none_or(|before| end.outweighs(before)) {
                        ended.report = Some(end);
                    }
                }
                Report::Error(e) => ended.error = Some(e),
            }
        }
        ended
    }
}

impl Harness {
    /// Starts the daemon, and the controller once the daemon listens.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] if the controller's command cannot be started;
    /// [`ErrorKind::File`] if the folder cannot be written.
    pub fn start(&self) -> Result<Running> {
        let (arguments, report) = self.arguments()?;
        let mut daemon = self.simulating()?;
        daemon.args(arguments);
        let daemon = into_file(daemon, &self.folder.join(DAEMON_OUTPUT))?;
        let daemon = match self.in_process {
            // its programs end with it
            true => Process::start_family(daemon)?,
            false => Process::start_marked(daemon)?,
        };
        let patience = self.patience.filter(|_| self.in_process);
        let mut running = Running {
            daemon,
            report,
            controllers: Vec::new(),
            endpoint: self.endpoint.clone(),
            robots: self.robots.clone(),
            progress: patience.map(|patience| Progress::new(&self.folder, patience)),
            hangs: false,
        };
        if !self.in_process && running.becomes_ready()? {
            for robot in &self.robots {
                running.controllers.push(self.start_controller(robot)?);
            }
        }
        Ok(running)
    }

    /// Arguments of `run`, and where the report will be.
    fn arguments(&self) -> Result<(Vec<OsString>, PathBuf)> {
        let log = self.log.clone().unwrap_or_else(|| self.folder.join(LOG));
        let report = self.folder.join(REPORT);
        // a report of an earlier run must not be taken for this one
        File::create(&report).map_err(|e| refused(&report, &e))?;
        let mut all = self.run.clone();
        all.extend(["--log".into(), log.into(), "--report".into(), report.clone().into()]);
        Ok((all, report))
    }

    /// The command of the process that simulates, without the arguments of `run`.
    fn simulating(&self) -> Result<Command> {
        if self.in_process {
            let mut command = self.controller_command(self.first_robot())?;
            command.arg("--in-process");
            return Ok(command);
        }
        let program = self.program.clone().map_or_else(this_program, Ok)?;
        let mut command = Command::new(program);
        command.arg("run");
        Ok(command)
    }

    fn first_robot(&self) -> &str {
        first(&self.robots)
    }

    fn controller_command(&self, robot: &str) -> Result<Command> {
        let mut command = controller_command(&self.controller, &self.endpoint, robot)?;
        command.env(ROBOTS_VARIABLE, self.robots.join(","));
        command.envs(self.variables.iter().map(|(k, v)| (k, v)));
        Ok(command)
    }

    fn start_controller(&self, robot: &str) -> Result<Process> {
        let controller = self.controller_command(robot)?;
        let output = file_of(&self.folder.join(CONTROLLER_OUTPUT), robot, self.robots.len());
        Process::start_family(into_file(controller, &output)?)
    }
}

/// The file of this program.
///
/// # Errors
/// [`ErrorKind::Internal`] if the system does not name it.
pub fn this_program() -> Result<PathBuf> {
    std::env::current_exe().map_err(|e| {
        Error::new(ErrorKind::Internal, format!("cannot find this program's file: {e}"))
    })
}

/// A controller's command that finds endpoint and robot in its environment.
///
/// # Errors
/// [`ErrorKind::Input`] if it is empty.
pub fn controller_command(words: &[OsString], endpoint: &str, robot: &str) -> Result<Command> {
    let (name, arguments) = words.split_first().ok_or_else(|| {
        Error::new(ErrorKind::Input, "the controller's command is missing: give it after --")
    })?;
    let mut command = Command::new(name);
    command.args(arguments).env(CONNECT_VARIABLE, endpoint).env(ROBOT_VARIABLE, robot);
    let mut settings = std::env::var_os(ZENOH_VARIABLE).unwrap_or_default();
    if !settings.is_empty() {
        settings.push(";");
    }
    settings.push(format!("connect/endpoints=[{endpoint:?}]"));
    command.env(ZENOH_VARIABLE, settings);
    Ok(command)
}

fn first(robots: &[String]) -> &str {
    robots.first().map_or("", String::as_str)
}

fn reports_in(file: &Path) -> Vec<Report> {
    reports(&std::fs::read_to_string(file).unwrap_or_default())
}

/// True if so many robots are.
fn is_ready(reports: &[Report], robots: usize) -> bool {
    let ready = reports.iter().filter(|report| matches!(report, Report::Ready(_)));
    ready.count() >= robots.max(1)
}

/// Sends both outputs of a command to a file, which is replaced.
fn into_file(mut command: Command, file: &Path) -> Result<Command> {
    let out = File::create(file).map_err(|e| refused(file, &e))?;
    let err = out.try_clone().map_err(|e| refused(file, &e))?;
    command.stdout(out).stderr(err);
    Ok(command)
}

fn refused(file: &Path, e: &std::io::Error) -> Error {
    Error::new(ErrorKind::File, format!("cannot write {}: {e}", file.display()))
}

impl Running {
    /// Waits until the daemon reports that it is ready; false if it ended before.
    fn becomes_ready(&mut self) -> Result<bool> {
        let begin = Instant::now();
        while self.daemon.ended()?.is_none() {
            if is_ready(&self.reports(), self.robots.len()) || begin.elapsed() > READY_TIMEOUT {
                return Ok(true);
            }
            wait_for_end([&self.daemon], READY_LOOK);
        }
        Ok(false)
    }

    fn reports(&self) -> Vec<Report> {
        reports_in(&self.report)
    }

    /// How all ended, if they have. The daemon's end ends the controllers. A controller that fails
    /// ends the daemon; after one that succeeds, the daemon decides whether to wait. A controller
    /// that simulates the robot itself is ended if it hangs.
    ///
    /// # Errors
    /// [`ErrorKind::Internal`] if the system does not report the state of a process.
    pub fn poll(&mut self) -> Result<Option<Ended>> {
        let of_robots = self.controllers.iter_mut().zip(&self.robots);
        let ended = of_robots.filter_map(|(process, robot)| {
            let ended = process.ended().transpose()?;
            Some(ended.map(|status| (robot, status)))
        });
        let ended: Vec<(&String, ExitStatus)> = ended.collect::<Result<_>>()?;
        let failed = ended.iter().find(|(_, status)| !status.success());
        let first = failed.or(ended.first()).copied();
        let (controller_of, controller) =
            first.map(|(robot, status)| (robot.clone(), status)).unzip();
        if controller.is_some_and(|status| !status.success()) {
            self.daemon.end(ENDING)?;
        }
        let runs = self.daemon.ended()?.is_none();
        if runs && self.progress.as_mut().is_some_and(Progress::has_ceased) {
            self.hangs = true;
            self.daemon.end(ENDING)?;
        }
        let Some(daemon) = self.daemon.ended()? else { return Ok(None) };
        self.controllers.iter_mut().try_for_each(|controller| controller.end(ENDING))?;
        let ended = Ended::of(daemon, controller, self.reports());
        Ok(Some(Ended { controller_of, hung: self.hangs, ..ended }))
    }

    /// Waits for the end. Calls `look` repeatedly meanwhile; if it returns false, all processes are
    /// ended. Once more it is called when the daemon has ended and the controller may not have.
    ///
    /// # Errors
    /// As [`poll`](Self::poll), and those of `look`.
    pub fn wait(&mut self, mut look: impl FnMut(&Self) -> Result<bool>) -> Result<Ended> {
        loop {
            if self.daemon.ended()?.is_some() {
                look(self)?;
            }
            if let Some(ended) = self.poll()? {
                return Ok(ended);
            }
            if !look(self)? {
                self.daemon.end(ENDING)?;
            }
            wait_for_end([&self.daemon].into_iter().chain(&self.controllers), LOOK_AGAIN);
        }
    }

    /// True once the daemon was seen to have ended.
    #[must_use]
    pub const fn daemon_has_ended(&self) -> bool {
        self.daemon.has_ended()
    }

    /// A client of the daemon's first robot, which may not be ready yet.
    ///
    /// # Errors
    /// [`ErrorKind::Bus`] if it does not answer within `patience`.
    pub fn client(&self, patience: Duration) -> Result<Client> {
        let begin = Instant::now();
        loop {
            match Client::connect(&self.endpoint, first(&self.robots)) {
                Err(_not_yet) if begin.elapsed() < patience => {
                    std::thread::sleep(Duration::from_millis(20));
                }
                found => return found,
            }
        }
    }

    /// Adds the programs and libraries that the controller's processes have in memory now.
    pub fn note_mapped(&self, files: &mut BTreeSet<PathBuf>) {
        for controller in &self.controllers {
            mapped::note(&controller.family(), files);
        }
    }

    /// Sends a signal to one side: the daemon, or the controllers and all that they have started.
    pub fn signal(&self, side: Side, signal: Signal) {
        match side {
            Side::Daemon => self.daemon.signal(signal),
            Side::Controller => {
                self.controllers.iter().for_each(|controller| controller.signal(signal));
            }
        }
    }
}

/// The last lines of a file that has the output of a process; of long ones, their ends.
#[must_use]
pub fn last_lines(file: &Path) -> String {
    let end = || -> std::io::Result<Vec<u8>> {
        let mut file = File::open(file)?;
        let begin = file.metadata()?.len().saturating_sub(TAIL_BYTES);
        file.seek(SeekFrom::Start(begin))?;
        let mut bytes = Vec::new();
        file.take(TAIL_BYTES).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = end().unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n")
}
