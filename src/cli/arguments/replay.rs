//! Arguments of `replay`.

#[cfg(feature = "zenoh")]
use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(in crate::cli) struct ReplayArguments {
    /// Print one JSON document instead of text (docs/cli.md)
    #[arg(long)]
    pub(in crate::cli) json: bool,
    /// Log file (MCAP) written by `run --log` or `demo`
    pub(in crate::cli) log: PathBuf,
    /// Stretches of the log, between keyframes, that run side by side; the result is the same for
    /// any number [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..))]
    pub(in crate::cli) threads: Option<u8>,
    /// Change a key of the recorded scenario, e.g. --set sim.micro_steps=20, to see where the run
    /// would have taken another way (repeatable)
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(in crate::cli) sets: Vec<String>,
    /// Replay a log whose chain of checksums breaks, up to that place
    #[arg(long)]
    pub(in crate::cli) until_break: bool,
    /// Show the log to controllers that join, in lockstep, and compare their answers with those of
    /// the log
    ///
    /// The daemon is at bus.listen of the log's scenario, or of --set. What is applied is in the
    /// log, so its states come whatever is answered. Exit code 0: all answers are equal, bit for
    /// bit; 1: some differ or are missing; 3: equal, but the log is damaged; 8: a controller was
    /// missing for longer than control.patience_s.
    #[cfg(feature = "zenoh")]
    #[arg(long, conflicts_with_all = ["threads", "until_break"])]
    pub(in crate::cli) to_controller: bool,
    /// Simulated seconds per second of wall time [default: as many as the controllers allow]
    #[cfg(feature = "zenoh")]
    #[arg(long, value_name = "X", allow_negative_numbers = true, requires = "to_controller")]
    pub(in crate::cli) speed: Option<f64>,
    /// The controller's command, after `--`; without it, you start the controller. It finds the
    /// daemon in HARDSTAND_CONNECT
    #[cfg(feature = "zenoh")]
    #[arg(last = true, value_name = "COMMAND", requires = "to_controller")]
    pub(in crate::cli) command: Vec<OsString>,
}
