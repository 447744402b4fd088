//! A process in a group of its own.

use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use std::os::unix::process::CommandExt as _;

use rustix::process::{Pid, Signal, kill_process_group};

use hardstand_error::{Error, ErrorKind, Result};

/// One of the two processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// `hardstand run`.
    Daemon,
    /// The controller's command, and all that it has started.
    Controller,
}

/// A process; dropping it kills it and all that it has started.
#[derive(Debug)]
pub struct Process {
    child: Child,
    ended: Option<ExitStatus>,
}

impl Process {
    /// Starts it in a process group of its own, so that Ctrl-C reaches the caller only.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] if the command cannot be started.
    pub fn start(mut command: Command) -> Result<Self> {
        let own = command.stdin(Stdio::null()).process_group(0);
        let child = own.spawn().map_err(|e| {
            let name = command.get_program().to_string_lossy().into_owned();
            Error::new(ErrorKind::Input, format!("cannot start {name:?}: {e}"))
        })?;
        Ok(Self { child, ended: None })
    }

    /// Its number, which is that of its group.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Its exit status, if it has ended.
    ///
    /// # Errors
    /// [`ErrorKind::Internal`] if the system does not report its state.
    pub fn ended(&mut self) -> Result<Option<ExitStatus>> {
        if self.ended.is_none() {
            self.ended = self.child.try_wait().map_err(|e| {
                Error::new(ErrorKind::Internal, format!("process {}: {e}", self.child.id()))
            })?;
        }
        Ok(self.ended)
    }

    pub(super) fn signal(&self, signal: Signal) {
        let group = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        // a group that has ended receives nothing
        let _sent = group.is_some_and(|group| kill_process_group(group, signal).is_ok());
    }

    /// Sends SIGTERM, and SIGKILL to what still runs after `patience`.
    pub(super) fn end(&mut self, patience: Duration) -> Result<()> {
        let begin = Instant::now();
        if self.ended()?.is_none() {
            self.signal(Signal::TERM);
            // a stopped process receives SIGTERM only once it continues
            self.signal(Signal::CONT);
        }
        while self.ended()?.is_none() && begin.elapsed() < patience {
            std::thread::sleep(Duration::from_millis(5));
        }
        // also the rest of its group
        self.signal(Signal::KILL);
        while self.ended()?.is_none() {
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ended = self.end(Duration::ZERO).is_ok();
    }
}
