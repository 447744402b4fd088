//! A process in a group of its own.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, PidfdFlags, Signal, getpgid, kill_process, kill_process_group, pidfd_open,
};

use hardstand_error::{Error, ErrorKind, Result};

use super::family::Family;

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
    /// Can be read once it has ended; `None` if the kernel has no such thing.
    end: Option<OwnedFd>,
    ended: Option<ExitStatus>,
    /// Known if it may start others, which may leave its group.
    family: Option<Family>,
}

impl Process {
    /// Starts it in a process group of its own, so that Ctrl-C reaches the caller only.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] if the command cannot be started.
    pub fn start(mut command: Command) -> Result<Self> {
        command.stdin(Stdio::null());
        Self::spawn(command)
    }

    /// The same, also ended by the next process with a harness if this one is killed.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub(super) fn start_marked(mut command: Command) -> Result<Self> {
        Family::new().mark(&mut command);
        Self::start(command)
    }

    /// The same of a program that may start others: they are signalled and ended with it, also
    /// those that have left its group.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub fn start_family(mut command: Command) -> Result<Self> {
        let family = Family::new();
        family.mark(&mut command);
        let mut process = Self::start(command)?;
        process.family = Some(family);
        Ok(process)
    }

    /// As [`start_marked`](Self::start_marked), with pipes to its input and from its output.
    pub(super) fn start_piped(mut command: Command) -> Result<(Self, ChildStdin, ChildStdout)> {
        Family::new().mark(&mut command);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = Self::spawn(command)?;
        match (process.child.stdin.take(), process.child.stdout.take()) {
            (Some(input), Some(output)) => Ok((process, input, output)),
            _ => Err(Error::new(ErrorKind::Internal, "a process was started without its pipes")),
        }
    }

    fn spawn(mut command: Command) -> Result<Self> {
        let child = command.process_group(0).spawn().map_err(|e| {
            let name = command.get_program().to_string_lossy().into_owned();
            Error::new(ErrorKind::Input, format!("cannot start {name:?}: {e}"))
        })?;
        let end = number(&child).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        Ok(Self { child, end, ended: None, family: None })
    }

    /// Its number, which is that of its group.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// True once it was seen to have ended.
    #[must_use]
    pub const fn has_ended(&self) -> bool {
        self.ended.is_some()
    }

    /// Its number, and those of the programs that it has started, as far as they run; none if its
    /// family is not known.
    pub(super) fn family(&self) -> Vec<Pid> {
        self.family.as_ref().map_or_else(Vec::new, Family::members)
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
        // a group that has ended receives nothing
        let _sent =
            number(&self.child).is_some_and(|group| kill_process_group(group, signal).is_ok());
        for pid in self.family() {
            if getpgid(Some(pid)).ok() != number(&self.child) {
                let _sent = kill_process(pid, signal).is_ok();
            }
        }
    }

    /// Sends SIGTERM, and SIGKILL to what still runs of its family after `patience`.
    pub(super) fn end(&mut self, patience: Duration) -> Result<()> {
        let begin = Instant::now();
        // also what its own end has left
        if self.ended()?.is_none() || !self.family().is_empty() {
            self.signal(Signal::TERM);
            // a stopped process receives SIGTERM only once it continues
            self.signal(Signal::CONT);
        }
        while self.ended()?.is_none() && begin.elapsed() < patience {
            wait_for_end([&*self], LOOK_AGAIN);
        }
        while !self.family().is_empty() && begin.elapsed() < patience {
            std::thread::sleep(LOOK_AGAIN);
        }
        // also the rest of its group
        self.signal(Signal::KILL);
        while self.ended()?.is_none() {
            wait_for_end([&*self], LOOK_AGAIN);
        }
        // who is dropped then need not be looked for again
        self.family = None;
        Ok(())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ended = self.end(Duration::ZERO).is_ok();
    }
}

/// Longest wait for the end of a process between two looks at its state.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// Waits until one of these processes has ended that had not when its state was last looked at, at
/// most so long.
pub(super) fn wait_for_end<'a>(
    processes: impl IntoIterator<Item = &'a Process>,
    patience: Duration,
) {
    wait_for_end_or(None, processes, patience);
}

/// The same; what can be read from a pipe, or its end, ends the wait, too. True if that is so.
pub(super) fn wait_for_end_or<'a>(
    pipe: Option<BorrowedFd<'_>>,
    processes: impl IntoIterator<Item = &'a Process>,
    patience: Duration,
) -> bool {
    let running = processes.into_iter().filter(|process| process.ended.is_none());
    let ends = running.filter_map(|process| process.end.as_ref().map(AsFd::as_fd));
    let all = pipe.into_iter().chain(ends);
    let mut all: Vec<_> = all.map(|end| PollFd::from_borrowed_fd(end, PollFlags::IN)).collect();
    let timeout = Timespec::try_from(patience).ok();
    if all.is_empty() || poll(&mut all, timeout.as_ref()).is_err() {
        std::thread::sleep(patience);
        return false;
    }
    pipe.is_some() && !all[0].revents().is_empty()
}

fn number(child: &Child) -> Option<Pid> {
    i32::try_from(child.id()).ok().and_then(Pid::from_raw)
}
