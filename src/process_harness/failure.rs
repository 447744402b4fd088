//! Why a run did not reach its end, as data.

use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::ExitStatus;

use serde::Serialize;

use crate::daemon::{EndKind, ErrorReport, RejectedController};

use super::{CONTROLLER_OUTPUT, DAEMON_OUTPUT, Ended, last_lines};

/// Why a run did not reach its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// What failed.
    pub kind: FailureKind,
    /// Ticks that the log has.
    pub ticks: u64,
    /// Controllers that the daemon was waiting for, by name.
    pub missing: Vec<String>,
    /// Of these, those whose commands were rejected.
    pub rejected: Vec<RejectedController>,
    /// Exit code of the process that failed.
    pub exit_code: Option<i32>,
    /// Signal that ended it.
    pub signal: Option<i32>,
    /// The error that the daemon reported.
    pub error: Option<ErrorReport>,
    /// The last lines that the process printed, for people.
    pub output: String,
}

/// What failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// The daemon ended otherwise than by its own rules.
    DaemonFailed,
    /// No controller joined in time.
    ControllerNotJoined,
    /// The controller's process ended before the run.
    ControllerEnded,
    /// A controller did not answer in time.
    ControllerTimeout,
    /// The caller stopped the run.
    Stopped,
}

impl Failure {
    /// The caller stopped the run after so many ticks.
    #[must_use]
    pub const fn stopped(ticks: u64) -> Self {
        Self {
            kind: FailureKind::Stopped,
            ticks,
            missing: Vec::new(),
            rejected: Vec::new(),
            exit_code: None,
            signal: None,
            error: None,
            output: String::new(),
        }
    }
}

impl Ended {
    /// What failed.
    #[must_use]
    pub fn failure_kind(&self, ticks: u64) -> FailureKind {
        let kind = self.report.as_ref().map(|end| end.kind);
        match (kind, self.controller) {
            (Some(EndKind::DurationReached | EndKind::Stopped), Some(_))
                if self.report.as_ref().is_some_and(|end| end.recording_error.is_none()) =>
            {
                FailureKind::ControllerEnded
            }
            (Some(EndKind::ControllerTimeout), Some(_)) => FailureKind::ControllerEnded,
            (Some(EndKind::ControllerTimeout), None) if ticks == 0 => {
                FailureKind::ControllerNotJoined
            }
            (Some(EndKind::ControllerTimeout), None) => FailureKind::ControllerTimeout,
            // the harness ended it because the controller failed, maybe before it could report
            (None, Some(status)) if self.error.is_none() && !status.success() => {
                match self.daemon.signal() {
                    Some(TERM | KILL) => FailureKind::ControllerEnded,
                    _ => FailureKind::DaemonFailed,
                }
            }
            _ => FailureKind::DaemonFailed,
        }
    }

    /// Why the run did not reach its end, if its log has `ticks` ticks; `folder` is that of the
    /// harness.
    #[must_use]
    pub fn failure(&self, ticks: u64, folder: &Path) -> Failure {
        let kind = self.failure_kind(ticks);
        let (status, file): (Option<ExitStatus>, _) = match kind {
            FailureKind::DaemonFailed => (Some(self.daemon), DAEMON_OUTPUT),
            _ => (self.controller, CONTROLLER_OUTPUT),
        };
        Failure {
            kind,
            ticks,
            missing: self.report.as_ref().map_or_else(Vec::new, |end| end.missing.clone()),
            rejected: self.report.as_ref().map_or_else(Vec::new, |end| end.rejected.clone()),
            exit_code: status.and_then(|status| status.code()),
            signal: status.and_then(|status| status.signal()),
            error: self.error.clone(),
            output: last_lines(&folder.join(file)),
        }
    }
}

const TERM: i32 = rustix::process::Signal::TERM.as_raw();
const KILL: i32 = rustix::process::Signal::KILL.as_raw();
