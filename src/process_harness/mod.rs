//! A daemon and its controller, each a process of its own: what certificates and campaigns run.

mod failure;
mod process;

pub use failure::Failure;
pub use process::{Process, Side};

use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::bus::Client;
use hardstand_error::{Error, ErrorKind, Result};

/// The log, in the folder of a trial.
pub const LOG: &str = "run.mcap";
/// What the daemon has said, in the folder of a trial.
pub const DAEMON_WORDS: &str = "daemon.txt";
/// What the controller has said.
pub const CONTROLLER_WORDS: &str = "controller.txt";
/// The daemon says so where it listens, and from then on it does.
const READY: &str = "bus        ";
/// Time for the daemon to come up before the controller is started anyway.
const COMING_UP: Duration = Duration::from_secs(30);
/// Lines of a process's last words that are shown.
const TAIL_LINES: usize = 12;
/// Time for a process to end by itself once it is asked to, before it is killed.
const ENDING: Duration = Duration::from_secs(5);
/// Where the controller finds the daemon: the endpoint.
pub const CONNECT_VARIABLE: &str = "HARDSTAND_CONNECT";
/// Likewise: the robot's name in the keys.
pub const ROBOT_VARIABLE: &str = "HARDSTAND_ROBOT";

/// What is run.
#[derive(Clone, Debug, Default)]
pub struct Harness {
    /// Where the log and what both processes say are written; it exists. What is in the way there
    /// is replaced.
    pub folder: PathBuf,
    /// The log, if it goes elsewhere.
    pub log: Option<PathBuf>,
    /// What `hardstand run` is told, but for its log: the scenario first. It listens at `endpoint`.
    pub run: Vec<OsString>,
    /// Where the controller finds the daemon.
    pub endpoint: String,
    /// The robot's name in the keys.
    pub robot: String,
    /// The controller's command. It finds endpoint and robot in its environment.
    pub controller: Vec<OsString>,
    /// What else the controller finds in its environment.
    pub variables: Vec<(String, OsString)>,
}

/// A trial that has been started. What still runs of it when it is dropped is killed.
#[derive(Debug)]
pub struct Running {
    daemon: Process,
    /// `None` if the daemon has ended before it could be started.
    controller: Option<Process>,
    endpoint: String,
    robot: String,
}

/// How a trial has ended.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    /// The daemon's end.
    pub daemon: ExitStatus,
    /// The controller's end, if it was over before the daemon.
    pub controller: Option<ExitStatus>,
}

impl Harness {
    /// Starts the daemon, and the controller once the daemon listens.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] if the controller's command cannot be started;
    /// [`ErrorKind::File`] if the folder cannot be written.
    pub fn start(&self) -> Result<Running> {
        let mut daemon = Command::new(this_program()?);
        let log = self.log.clone().unwrap_or_else(|| self.folder.join(LOG));
        daemon.arg("run").args(&self.run).arg("--log").arg(log);
        let words = self.folder.join(DAEMON_WORDS);
        let daemon = Process::start(into_file(daemon, &words)?)?;
        let (endpoint, robot) = (self.endpoint.clone(), self.robot.clone());
        let mut running = Running { daemon, controller: None, endpoint, robot };
        if running.comes_up(&words)? {
            running.controller = Some(self.start_controller()?);
        }
        Ok(running)
    }

    fn start_controller(&self) -> Result<Process> {
        let mut controller = controller_command(&self.controller, &self.endpoint, &self.robot)?;
        controller.envs(self.variables.iter().map(|(k, v)| (k, v)));
        Process::start(into_file(controller, &self.folder.join(CONTROLLER_WORDS))?)
    }
}

/// The file of this program.
///
/// # Errors
/// [`ErrorKind::Internal`] if the system does not tell.
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
    Ok(command)
}

/// What the command says goes to a file, which is replaced.
fn into_file(mut command: Command, words: &Path) -> Result<Command> {
    let refused = |e| Error::new(ErrorKind::File, format!("cannot write {}: {e}", words.display()));
    let out = File::create(words).map_err(refused)?;
    let err = out.try_clone().map_err(refused)?;
    command.stdout(out).stderr(err);
    Ok(command)
}

impl Running {
    /// Waits until the daemon listens; false if it has ended.
    fn comes_up(&mut self, words: &Path) -> Result<bool> {
        let begin = Instant::now();
        while self.daemon.ended()?.is_none() {
            let said = std::fs::read_to_string(words).unwrap_or_default();
            if said.lines().any(|line| line.starts_with(READY)) || begin.elapsed() > COMING_UP {
                return Ok(true);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(false)
    }

    /// How it has ended, if it has. It ends with the daemon; a controller that fails before takes
    /// the daemon with it, one that has ended well leaves it to the daemon whether to wait.
    ///
    /// # Errors
    /// [`ErrorKind::Internal`] if the system does not tell.
    pub fn poll(&mut self) -> Result<Option<Ended>> {
        let controller = self.controller.as_mut().map_or(Ok(None), Process::ended)?;
        if controller.is_some_and(|status| !status.success()) {
            self.daemon.end(ENDING)?;
        }
        let Some(daemon) = self.daemon.ended()? else { return Ok(None) };
        self.controller.as_mut().map_or(Ok(()), |controller| controller.end(ENDING))?;
        Ok(Some(Ended { daemon, controller }))
    }

    /// Waits for the end. `look` is called again and again meanwhile; when it says false both
    /// processes are ended.
    ///
    /// # Errors
    /// As [`poll`](Self::poll), and what `look` says.
    pub fn wait(&mut self, mut look: impl FnMut(&Self) -> Result<bool>) -> Result<Ended> {
        loop {
            if let Some(ended) = self.poll()? {
                return Ok(ended);
            }
            if !look(self)? {
                self.daemon.end(ENDING)?;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// A client of the daemon, which may not have come up yet.
    ///
    /// # Errors
    /// [`ErrorKind::Bus`] if it does not answer within `patience`.
    pub fn client(&self, patience: Duration) -> Result<Client> {
        let begin = Instant::now();
        loop {
            match Client::connect(&self.endpoint, &self.robot) {
                Err(_not_yet) if begin.elapsed() < patience => {
                    std::thread::sleep(Duration::from_millis(20));
                }
                found => return found,
            }
        }
    }

    /// Sends a signal to one side: the daemon, or the controller and all that it has started.
    pub fn signal(&self, side: Side, signal: Signal) {
        match side {
            Side::Daemon => self.daemon.signal(signal),
            Side::Controller => {
                if let Some(controller) = &self.controller {
                    controller.signal(signal);
                }
            }
        }
    }
}

/// What a daemon says of its end, in its words.
#[must_use]
pub fn why_ended(words: &str) -> Option<&str> {
    words.lines().find_map(|line| line.strip_prefix("ended ")).map(str::trim)
}

/// The last words of a process, from one of the files of a trial.
#[must_use]
pub fn last_words(file: &Path) -> String {
    let bytes = std::fs::read(file).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n")
}
