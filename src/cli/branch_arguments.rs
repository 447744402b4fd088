//! What the user typed for `branch` and `certify`.

#[cfg(feature = "zenoh")]
use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(super) struct BranchArguments {
    /// Log file (MCAP) written by `run --log`, `demo` or `branch`
    pub(super) log: PathBuf,
    /// Tick at which the branch begins: the first that runs under the changed scenario
    #[arg(long, value_name = "TICK")]
    pub(super) at: u64,
    /// Run number that TICK is of [default: the first in the log]
    #[arg(long, alias = "epoch", value_name = "N")]
    pub(super) run_id: Option<u32>,
    /// Change a key of the recorded scenario, e.g. --set contact.mu_static=0.3 (repeatable)
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(super) sets: Vec<String>,
    /// Events from the branch on, in place of those of the log, as a scenario has them under
    /// `events`; [] for none
    #[arg(long, value_name = "LIST")]
    pub(super) events: Option<String>,
    /// Where the new log goes; an earlier run of that name is replaced
    #[arg(long = "log", value_name = "FILE")]
    pub(super) to: PathBuf,
    /// Draw what differs most; an existing file is overwritten
    #[arg(long, value_name = "FILE.svg")]
    pub(super) plot: Option<PathBuf>,
    /// Another controller in place of the log's commands, after `--`: it has to join, finds the
    /// daemon where bus.listen of the log's scenario says (also in HARDSTAND_CONNECT), and commands
    /// in lockstep up to the tick with which the log ends
    #[cfg(feature = "zenoh")]
    #[arg(last = true, value_name = "COMMAND")]
    pub(super) command: Vec<OsString>,
}

#[cfg(feature = "zenoh")]
#[derive(Debug, Args)]
pub(super) struct CertifyArguments {
    /// Scenario file (TOML)
    pub(super) scenario: PathBuf,
    /// Change a key of the scenario, e.g. --set contact.mu_static=0.3 (repeatable)
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(super) sets: Vec<String>,
    /// Simulated seconds of a run; all runs together take about 13 times that and half a minute
    /// [default: the scenario's sim.duration_s, or else 2]
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub(super) duration: Option<f64>,
    /// Folder of the certificate and of the logs; what is in the way there is replaced
    #[arg(long, value_name = "FOLDER", default_value = "hardstand-certificate")]
    pub(super) out: PathBuf,
    /// Keep all logs, not only those of the reference and of runs that differ
    #[arg(long)]
    pub(super) keep_logs: bool,
    /// Seconds to wait for the controller to join, and for each of its answers
    #[arg(long, value_name = "S", default_value_t = 30.0, allow_negative_numbers = true)]
    pub(super) patience: f64,
    /// The controller's command, after `--`; it finds the daemon where bus.listen of the scenario
    /// says, which is also in HARDSTAND_CONNECT, and the robot's name in HARDSTAND_ROBOT
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(super) command: Vec<OsString>,
}
