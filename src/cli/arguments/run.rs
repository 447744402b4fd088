//! Arguments of `run`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub(in crate::cli) struct RunArguments {
    /// Print one JSON document a line instead of text (docs/cli.md)
    #[arg(long)]
    pub(in crate::cli) json: bool,
    /// Show the robot in the browser, at http://127.0.0.1:8765/
    #[cfg(feature = "view")]
    #[arg(long)]
    pub(in crate::cli) view: bool,
    /// Scenario file (TOML)
    pub(in crate::cli) scenario: PathBuf,
    /// Simulated seconds to run, in all: those before a state of --from too [default: the
    /// scenario's sim.duration_s]
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub(in crate::cli) duration: Option<f64>,
    /// Begin in a state that `ctl snapshot` has saved, of the same robot and physics; in lockstep,
    /// the required controllers of that state are waited for
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) from: Option<PathBuf>,
    /// Record everything needed for a replay; an earlier run of that name is replaced [default: the
    /// scenario's record.file]
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) log: Option<PathBuf>,
    /// Change a key of the scenario, e.g. --set sim.micro_steps=20 (repeatable)
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(in crate::cli) sets: Vec<String>,
    /// Write a line of JSON to FILE when the daemon accepts controllers, and a line when it ends
    /// (docs/cli.md); /dev/fd/N is the file descriptor N
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) report: Option<PathBuf>,
    /// How time passes [default: the scenario's sim.pace]
    #[arg(long, value_enum)]
    pub(in crate::cli) pace: Option<PaceArgument>,
    /// Simulated seconds per second of wall time [default: the scenario's sim.speed]
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub(in crate::cli) speed: Option<f64>,
    /// Whether ticks wait for controllers [default: the scenario's control.mode]
    #[arg(long, value_enum)]
    pub(in crate::cli) mode: Option<ModeArgument>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(in crate::cli) enum ModeArgument {
    /// Never: what is late is counted
    Realtime,
    /// Always: a run is a function of its inputs
    Lockstep,
    /// For so long, see control.budget_ms
    Budgeted,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(in crate::cli) enum PaceArgument {
    /// One tick per period of wall time
    Realtime,
    /// As fast as the machine allows; without waiting for a controller to come, unless in lockstep
    Free,
}
