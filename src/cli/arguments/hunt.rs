//! Arguments of `hunt` and `pushes`.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;

use super::campaign::shard;

#[derive(Debug, Args)]
pub(in crate::cli) struct HuntArguments {
    #[command(flatten)]
    pub(in crate::cli) cases: CaseArguments,
    /// Length of a case, simulated s [default: hunt.duration_s, or 5]
    #[arg(long, value_name = "S")]
    pub(in crate::cli) duration: Option<f64>,
    /// Most cases of the search; shrinking takes more
    #[arg(long = "cases", value_name = "N", default_value = "400")]
    pub(in crate::cli) cases_max: NonZeroUsize,
    /// Cases at random before the search is guided by how near they came
    #[arg(long, value_name = "N", default_value = "40")]
    pub(in crate::cli) random: usize,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct PushesArguments {
    #[command(flatten)]
    pub(in crate::cli) cases: CaseArguments,
    /// Link that is pushed, at its origin [default: the base]
    #[arg(long, value_name = "LINK")]
    pub(in crate::cli) link: Option<String>,
    /// Length of a push, simulated s
    #[arg(long, value_name = "S", default_value = "0.1")]
    pub(in crate::cli) push: f64,
    /// Directions, evenly spaced from +x of the world towards +y
    #[arg(long, value_name = "N", default_value = "16")]
    pub(in crate::cli) directions: NonZeroUsize,
    /// When the first pushes begin, simulated s
    #[arg(long, value_name = "S", default_value = "2")]
    pub(in crate::cli) at: f64,
    /// Period of the gait, s: pushes begin at times evenly spaced over it
    #[arg(long, value_name = "S", requires = "times")]
    pub(in crate::cli) period: Option<f64>,
    /// Count of these times
    #[arg(long, value_name = "N", requires = "period", default_value = "1")]
    pub(in crate::cli) times: NonZeroUsize,
    /// Largest force, N [default: twice the robot's weight]
    #[arg(long, value_name = "N")]
    pub(in crate::cli) most: Option<f64>,
    /// Steps of the force: a limit is found to one of them
    #[arg(long, value_name = "N", default_value = "80")]
    pub(in crate::cli) steps: NonZeroUsize,
    /// Length of a case after the last push, simulated s
    #[arg(long, value_name = "S", default_value = "3")]
    pub(in crate::cli) after: f64,
    /// Try every step instead of narrowing down: the same map at many times the cost
    #[arg(long)]
    pub(in crate::cli) sweep: bool,
}

/// What all searches through cases take.
#[derive(Debug, Args)]
pub(in crate::cli) struct CaseArguments {
    /// Print one JSON document instead of text (docs/cli.md)
    #[arg(long)]
    pub(in crate::cli) json: bool,
    /// Scenario (TOML)
    pub(in crate::cli) scenario: PathBuf,
    /// Condition to look for, as of `bisect --where`: `fell`, `joint.FL_calf_joint.tau > 30`
    #[arg(long, value_name = "CONDITION")]
    pub(in crate::cli) until: String,
    /// Change a key in all cases: `--set contact.mu_static=0.6`
    #[arg(long, value_name = "KEY=VALUE")]
    pub(in crate::cli) set: Vec<String>,
    /// Seed of the search; the controller finds it in HARDSTAND_SEED
    #[arg(long, default_value = "1")]
    pub(in crate::cli) seed: u32,
    /// Cases at a time [default: one for each core]
    #[arg(long, value_name = "N")]
    pub(in crate::cli) jobs: Option<NonZeroUsize>,
    /// Of each step only slice I of N, 0 to N − 1: N processes with the same --out, on any
    /// machines, make one search
    #[arg(long, value_name = "I/N", value_parser = shard, requires = "out")]
    pub(in crate::cli) shard: Option<[usize; 2]>,
    /// Folder of outcomes; an interrupted search goes on there [default: the scenario's name with
    /// -hunt or -pushes]
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) out: Option<PathBuf>,
    /// The controller simulates the robot itself, as `hardstand controller` does with this option
    #[arg(long, conflicts_with = "controller_resets")]
    pub(in crate::cli) in_process: bool,
    /// The controller begins again with each run, so it and its daemon stay up from case to case
    #[arg(long)]
    pub(in crate::cli) controller_resets: bool,
    /// Controller's command, after `--`
    #[arg(last = true, value_name = "COMMAND", required = true)]
    pub(in crate::cli) command: Vec<OsString>,
}
