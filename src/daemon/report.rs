//! What a daemon reports to the process that started it: a line of JSON when it is ready, and a
//! line when it ends.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::net::SocketAddr;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::config::Scenario;
use crate::rt::{Ending, Grants};
use hardstand_error::{Error, ErrorKind, Result};
use hardstand_protocol::{ModelReply, PlantFailure};

use super::Summary;

/// One line of a report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Report {
    /// The daemon accepts controllers.
    Ready(ReadyReport),
    /// The run has ended.
    Ended(EndReport),
    /// The daemon could not run, or broke off.
    Error(ErrorReport),
}

/// A daemon that accepts controllers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadyReport {
    /// The robot's name in the keys.
    pub robot: String,
    /// Endpoints on which the daemon listens.
    pub endpoints: Vec<String>,
    /// Number of the first run.
    pub run_id: u32,
    /// Ticks done in the state with which the run begins.
    pub first_tick: u64,
    /// Length of a tick, ns.
    pub period_ns: u64,
    /// Hash of names, order and period that goes into every command, 16 hex digits.
    #[serde(default)]
    pub layout_hash: String,
    /// Where the UDP port listens, if the scenario has one.
    #[serde(default)]
    pub udp: Option<SocketAddr>,
    /// What the process has given up; `None` if nothing was to be.
    #[serde(default)]
    pub sandbox: Option<SandboxReport>,
}

/// What limits the daemon's process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxReport {
    /// Version of the kernel's rules for files and ports; `None` if it has none.
    pub landlock_abi: Option<u32>,
    /// System calls are limited to a list.
    pub seccomp: bool,
    /// What is not limited, and why.
    pub not_applied: Vec<String>,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EndReport {
    /// The robot's name in the keys.
    #[serde(default)]
    pub robot: String,
    /// Why it ended.
    pub kind: EndKind,
    /// Controllers that did not answer, if it ended for that; empty if none had joined.
    pub missing: Vec<String>,
    /// Of these, those whose commands were rejected.
    #[serde(default)]
    pub rejected: Vec<RejectedController>,
    /// Why the plant stopped itself, if it did.
    pub plant_failure: Option<PlantFailure>,
    /// Number of the last run.
    pub run_id: u32,
    /// Ticks done in the last state.
    pub tick: u64,
    /// Ticks that this process has run.
    pub ticks: u64,
    /// Simulated time of the last state, s.
    pub time_s: f64,
    /// Wall time since the first tick, s.
    pub wall_s: f64,
    /// Digest after the last tick, 16 hex digits.
    pub digest: String,
    /// Files of the log, in order.
    #[serde(serialize_with = "crate::path_text::many")]
    pub log_files: Vec<PathBuf>,
    /// Why the log is not whole, if it is not: recording ended early, or a file was lost.
    pub recording_error: Option<String>,
}

/// A controller whose commands were rejected at arrival.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RejectedController {
    /// Its name.
    pub controller: String,
    /// Number of its commands that were rejected.
    pub count: u64,
    /// The reason of the last rejection, as in the names of the counters.
    pub reason: String,
    /// Tick of the state that this command answered.
    pub answers_tick: u64,
}

impl fmt::Display for RejectedController {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { controller, count, reason, answers_tick } = self;
        write!(
            f,
            "{controller} has sent {count} commands that were rejected; the last, for the state of \
             tick {answers_tick}, as {reason}"
        )
    }
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndKind {
    /// All ticks of the duration are done.
    DurationReached,
    /// A signal or an operator stopped it.
    Stopped,
    /// Another robot of the daemon ended before its time.
    AnotherEnded,
    /// A deadline was missed under `realtime.overrun = "stop"`.
    Overrun,
    /// The system's monotonic clock went back.
    ClockWentBack,
    /// A controller did not join, or did not answer, within `control.patience_s`.
    ControllerTimeout,
    /// The plant stopped itself.
    PlantFailure,
}

/// An error that ended a daemon.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorReport {
    /// `"input"`, `"file"`, `"log"`, `"real_time"`, `"bus"` or `"internal"`.
    pub kind: String,
    /// What is wrong, with what is allowed.
    pub message: String,
}

impl ReadyReport {
    /// The daemon of `scenario` with `model`, which begins after `first_tick`.
    #[must_use]
    pub fn of(
        scenario: &Scenario,
        model: &ModelReply,
        first_tick: u64,
        udp: Option<SocketAddr>,
        grants: &Grants,
    ) -> Self {
        let sandbox = grants.sandbox.clone().map(|applied| SandboxReport {
            landlock_abi: applied.landlock_abi,
            seccomp: applied.seccomp,
            not_applied: applied.not_applied,
        });
        Self {
            robot: scenario.bus.robot.clone(),
            endpoints: scenario.bus.listen.clone(),
            run_id: model.run_id,
            first_tick,
            period_ns: scenario.spec.period_ns,
            layout_hash: format!("{:016x}", model.layout_hash),
            udp,
            sandbox,
        }
    }
}

impl EndReport {
    /// True if it says more than `other`, that of another robot of the daemon: one whose end ended
    /// the others says most, then one whose log is not whole.
    #[must_use]
    pub const fn outweighs(&self, other: &Self) -> bool {
        self.weight() > other.weight()
    }

    const fn weight(&self) -> u8 {
        match self.kind {
            EndKind::AnotherEnded => 0,
            EndKind::DurationReached if self.recording_error.is_none() => 1,
            EndKind::DurationReached => 2,
            _ => 3,
        }
    }
}

impl From<&Summary> for EndReport {
    fn from(s: &Summary) -> Self {
        let plant_failure = match s.ending {
            Ending::PlantFailure(failure) => Some(failure),
            _ => None,
        };
        let timeout = matches!(s.ending, Ending::ControllerTimeout(_));
        Self {
            robot: s.robot.clone(),
            kind: EndKind::of(s.ending),
            missing: if timeout { s.status.missing.clone() } else { Vec::new() },
            rejected: s.rejected.clone(),
            plant_failure,
            run_id: s.status.run_id,
            tick: s.status.tick,
            ticks: s.ticks,
            time_s: s.last.time_s,
            wall_s: s.wall_s,
            digest: format!("{:016x}", s.digest),
            log_files: s.recorded.segments.clone(),
            recording_error: s.recorded.problem(),
        }
    }
}

impl EndKind {
    const fn of(ending: Ending) -> Self {
        match ending {
            Ending::Done => Self::DurationReached,
            Ending::Stopped => Self::Stopped,
            Ending::AnotherEnded => Self::AnotherEnded,
            Ending::Overrun => Self::Overrun,
            Ending::ClockWentBack => Self::ClockWentBack,
            Ending::ControllerTimeout(_) => Self::ControllerTimeout,
            Ending::PlantFailure(_) => Self::PlantFailure,
        }
    }
}

impl From<&Error> for ErrorReport {
    fn from(e: &Error) -> Self {
        let kind = match e.kind() {
            ErrorKind::Input => "input",
            ErrorKind::File => "file",
            ErrorKind::Log => "log",
            ErrorKind::RealTime => "real_time",
            ErrorKind::Bus => "bus",
            ErrorKind::Internal => "internal",
        };
        Self { kind: kind.into(), message: e.to_string() }
    }
}

impl ErrorReport {
    /// True if a file, key, value or argument was refused.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        matches!(self.kind.as_str(), "input" | "file")
    }
}

impl fmt::Display for EndReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self.kind {
            EndKind::DurationReached => "duration reached",
            EndKind::Stopped => "stopped by a signal or an operator",
            EndKind::AnotherEnded => "another robot of the daemon ended before its time",
            EndKind::Overrun => "a deadline was missed and realtime.overrun is \"stop\"",
            EndKind::ClockWentBack => {
                "the system's monotonic clock went back, so no deadline can be kept; the log is \
                 complete. Start the run again, and see `dmesg` for the clock source"
            }
            EndKind::ControllerTimeout if self.missing.is_empty() => {
                "timed out: no controller joined within control.patience_s"
            }
            EndKind::ControllerTimeout => {
                let names = self.missing.join(", ");
                write!(f, "timed out waiting for {names} (control.patience_s)")?;
                return self.rejected.iter().try_for_each(|rejected| write!(f, "; {rejected}"));
            }
            EndKind::PlantFailure => {
                let advice = self.plant_failure.map_or("", PlantFailure::advice);
                return write!(f, "plant failure: {advice}");
            }
        };
        f.write_str(text)
    }
}

/// Where the lines of a report go.
#[derive(Debug)]
pub struct ReportFile {
    file: File,
    path: PathBuf,
}

impl ReportFile {
    /// Opens `path` for writing; an existing file is replaced. `/dev/fd/3` is the descriptor 3.
    ///
    /// # Errors
    /// [`ErrorKind::File`] if that is impossible.
    pub fn create(path: &Path) -> Result<Self> {
        let file = Self::open(path).map_err(|e| match Errno::from_io_error(&e) {
            Some(Errno::NXIO) => Error::new(
                ErrorKind::File,
                format!(
                    "--report {}: no program reads this named pipe, or it is a socket; start its \
                     reader first, or name a file",
                    path.display()
                ),
            ),
            _ => failed(path, &e),
        })?;
        Ok(Self { file, path: path.into() })
    }

    /// Does not wait for the reader of a named pipe, as a plain open would, also after SIGTERM.
    fn open(path: &Path) -> std::io::Result<File> {
        let mut options = OpenOptions::new();
        let flags = OFlags::NONBLOCK.bits() as i32;
        let options = options.write(true).create(true).truncate(true).custom_flags(flags);
        let file = options.open(path)?;
        // a pipe that is full is waited for
        fcntl_setfl(&file, fcntl_getfl(&file)? - OFlags::NONBLOCK)?;
        Ok(file)
    }

    /// Writes one line.
    ///
    /// # Errors
    /// [`ErrorKind::File`] if the file cannot be written.
    pub fn write(&mut self, report: &Report) -> Result<()> {
        let line = serde_json::to_string(report)
            .map_err(|e| Error::new(ErrorKind::Internal, format!("report: {e}")))?;
        self.file.write_all(format!("{line}\n").as_bytes()).map_err(|e| failed(&self.path, &e))
    }
}

fn failed(path: &Path, e: &std::io::Error) -> Error {
    Error::new(ErrorKind::File, format!("--report {}: {e}", path.display()))
}

/// The reports in a text, of which the last line may still be incomplete. Lines of another kind are
/// left out: a later version may have more.
#[must_use]
pub fn reports(text: &str) -> Vec<Report> {
    let complete = text.rfind('\n').map_or("", |end| &text[..end]);
    complete.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests fail by panic")]
mod tests {
    use super::{EndKind, EndReport, PlantFailure, RejectedController, Report, reports};

    #[test]
    fn an_end_report_survives_its_line_and_a_cut_line_is_ignored() {
        let end = EndReport {
            robot: "quadruped".into(),
            kind: EndKind::ControllerTimeout,
            missing: vec!["rear".into()],
            rejected: Vec::new(),
            plant_failure: None,
            run_id: 1,
            tick: 40,
            ticks: 40,
            time_s: 0.04,
            wall_s: 1.5,
            digest: "00000000000000ff".into(),
            log_files: vec!["run.mcap".into()],
            recording_error: None,
        };
        assert_eq!(end.to_string(), "timed out waiting for rear (control.patience_s)");
        let (controller, reason) = ("rear".into(), "not_finite".into());
        let rejected = RejectedController { controller, count: 3, reason, answers_tick: 40 };
        let noisy = EndReport { rejected: vec![rejected], ..end.clone() };
        let text = "rear has sent 3 commands that were rejected; the last, for the state of tick \
                    40, as not_finite";
        assert!(noisy.to_string().ends_with(text), "{noisy}");
        let line = serde_json::to_string(&Report::Ended(end.clone())).unwrap();
        assert!(line.contains("\"kind\":\"controller_timeout\",\"missing\":[\"rear\"]"), "{line}");
        let text = format!("{line}\n{{\"later\":{{}}}}\n{{\"ended\":");
        assert_eq!(reports(&text), [Report::Ended(end.clone())]);
        let failed = EndReport { plant_failure: Some(PlantFailure::OutOfRange), ..end };
        let line = serde_json::to_string(&Report::Ended(failed.clone())).unwrap();
        assert!(line.contains("\"plant_failure\":\"out_of_range\""), "{line}");
        assert_eq!(reports(&format!("{line}\n")), [Report::Ended(failed)]);
    }
}
