//! Arguments of `bisect`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("question").required(true))]
pub(in crate::cli) struct BisectArguments {
    /// Print one JSON document instead of text (docs/cli.md)
    #[arg(long)]
    pub(in crate::cli) json: bool,
    /// Log file (MCAP) written by `run --log`, `demo` or `branch`
    pub(in crate::cli) log: PathBuf,
    /// Another log, to be compared with it
    #[arg(group = "question")]
    pub(in crate::cli) other: Option<PathBuf>,
    /// Condition on quantities of a tick: < <= > >= == !=, and or not, + - * /, abs min max
    #[arg(long = "where", value_name = "EXPR", group = "question", allow_hyphen_values = true)]
    pub(in crate::cli) condition: Option<String>,
    /// Show all quantities with unit and meaning; with --at, their values
    #[arg(long, group = "question")]
    pub(in crate::cli) list: bool,
    /// Ticks done, as in the state after the tick
    #[arg(long, value_name = "TICK", requires = "list",
          conflicts_with_all = ["condition", "other", "command"])]
    pub(in crate::cli) at: Option<u64>,
    /// Run number that TICK is of [default: the first in the log]
    #[arg(long, alias = "epoch", value_name = "N", requires = "at")]
    pub(in crate::cli) run_id: Option<u32>,
    /// Draw what differs most, or the quantities of --where from 1 s before the tick to 1 s after
    /// it: .svg or .png; an existing file is overwritten
    #[arg(long, value_name = "FILE", conflicts_with_all = ["list", "command"])]
    pub(in crate::cli) plot: Option<PathBuf>,
    /// Stretches of the log that run side by side [default: all cores]
    #[arg(long, value_name = "N", requires = "condition",
          value_parser = clap::value_parser!(u8).range(1..))]
    pub(in crate::cli) threads: Option<u8>,
    /// Command that judges a tick, after `--`: it gets the quantities as JSON on standard input and
    /// the tick as HARDSTAND_TICK. Exit code 0: good; 1 to 127: bad, but for 125: cannot be judged
    #[arg(last = true, value_name = "COMMAND", group = "question")]
    pub(in crate::cli) command: Vec<OsString>,
}
