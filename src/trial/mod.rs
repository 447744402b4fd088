//! A daemon and its controller, each a process of its own: what certificates and campaigns run.

mod process;

pub use process::Side;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::bus::Client;
use crate::error::{Error, ErrorKind, Result};

use process::Process;

/// The log, in the folder of a trial.
pub const LOG: &str = "run.mcap";
/// Time for a process to end by itself once it is asked to, before it is killed.
const ENDING: Duration = Duration::from_secs(5);
/// Where the controller finds the daemon: the endpoint.
pub const CONNECT_VARIABLE: &str = "HARDSTAND_CONNECT";
/// Likewise: the robot's name in the keys.
pub const ROBOT_VARIABLE: &str = "HARDSTAND_ROBOT";

/// What is run.
#[derive(Clone, Debug, Default)]
pub struct Trial {
    /// Where the log and what both processes say are written; it exists. What is in the way there
    /// is replaced.
    pub folder: PathBuf,
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
    controller: Process,
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

impl Trial {
    /// Starts the daemon, then the controller, which has to wait until the daemon answers.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] if the controller's command cannot be started;
    /// [`ErrorKind::File`] if the folder cannot be written.
    pub fn start(&self) -> Result<Running> {
        let program = std::env::current_exe().map_err(|e| {
            Error::new(ErrorKind::Internal, format!("cannot find this program's file: {e}"))
        })?;
        let mut daemon = Command::new(program);
        daemon.arg("run").args(&self.run).arg("--log").arg(self.folder.join(LOG));
        let daemon = Process::start(daemon, &self.folder.join("daemon.txt"))?;
        let (name, arguments) = self.controller.split_first().ok_or_else(|| {
            Error::new(ErrorKind::Input, "the controller's command is missing: give it after --")
        })?;
        let mut controller = Command::new(name);
        controller.args(arguments);
        controller.env(CONNECT_VARIABLE, &self.endpoint).env(ROBOT_VARIABLE, &self.robot);
        controller.envs(self.variables.iter().map(|(k, v)| (k, v)));
        let controller = Process::start(controller, &self.folder.join("controller.txt"))?;
        let (endpoint, robot) = (self.endpoint.clone(), self.robot.clone());
        Ok(Running { daemon, controller, endpoint, robot })
    }
}

impl Running {
    /// How it has ended, if it has. It ends with the daemon; a controller that fails before takes
    /// the daemon with it, one that has ended well leaves it to the daemon whether to wait.
    ///
    /// # Errors
    /// [`ErrorKind::Internal`] if the system does not tell.
    pub fn poll(&mut self) -> Result<Option<Ended>> {
        let controller = self.controller.ended()?;
        if controller.is_some_and(|status| !status.success()) {
            self.daemon.end(ENDING)?;
        }
        let Some(daemon) = self.daemon.ended()? else { return Ok(None) };
        self.controller.end(ENDING)?;
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
            Side::Controller => self.controller.signal(signal),
        }
    }
}
