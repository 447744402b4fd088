//! Arguments of `branch`.

#[cfg(feature = "zenoh")]
use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(in crate::cli) struct BranchArguments {
    /// Print one JSON document instead of text (docs/cli.md)
    #[arg(long)]
    pub(in crate::cli) json: bool,
    /// Log file (MCAP) written by `run --log`, `demo` or `branch`
    pub(in crate::cli) log: PathBuf,
    /// Tick at which the branch begins: the first that runs under the changed scenario
    #[arg(long, value_name = "TICK")]
    pub(in crate::cli) at: u64,
    /// Run number that TICK is of [default: the first in the log]
    #[arg(long, alias = "epoch", value_name = "N")]
    pub(in crate::cli) run_id: Option<u32>,
    /// Change a key of the recorded scenario, e.g. --set sim.micro_steps=20 (repeatable)
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(in crate::cli) sets: Vec<String>,
    /// Events from the branch on, in place of those of the log, as a scenario has them under
    /// `events`; [] for none
    #[arg(long, value_name = "LIST")]
    pub(in crate::cli) events: Option<String>,
    /// Where the new log goes; an earlier run of that name is replaced
    #[arg(long = "log", value_name = "FILE")]
    pub(in crate::cli) to: PathBuf,
    /// Draw what differs most, .svg or .png; an existing file is overwritten
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) plot: Option<PathBuf>,
    /// Another controller in place of the log's commands, after `--`: it has to join, finds the
    /// daemon where bus.listen of the log's scenario says (also in HARDSTAND_CONNECT), and commands
    /// in lockstep up to the tick with which the log ends
    #[cfg(feature = "zenoh")]
    #[arg(last = true, value_name = "COMMAND")]
    pub(in crate::cli) command: Vec<OsString>,
}
