//! Arguments of `hunt`.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(in crate::cli) struct HuntArguments {
    /// Print one JSON document instead of text (docs/cli.md)
    #[arg(long)]
    pub(in crate::cli) json: bool,
    /// Scenario with a section `hunt` (TOML)
    pub(in crate::cli) scenario: PathBuf,
    /// Condition to look for, as of `bisect --where`: `fell`, `joint.FL_calf_joint.tau > 30`
    #[arg(long, value_name = "CONDITION")]
    pub(in crate::cli) until: String,
    /// Change a key in all cases: `--set contact.mu_static=0.6`
    #[arg(long, value_name = "KEY=VALUE")]
    pub(in crate::cli) set: Vec<String>,
    /// Length of a case, simulated s [default: hunt.duration_s, or 5]
    #[arg(long, value_name = "S")]
    pub(in crate::cli) duration: Option<f64>,
    /// Most cases of the search; shrinking takes more
    #[arg(long, value_name = "N", default_value = "400")]
    pub(in crate::cli) cases: NonZeroUsize,
    /// Cases at random before the search is guided by how near they came
    #[arg(long, value_name = "N", default_value = "40")]
    pub(in crate::cli) random: usize,
    /// Seed of the search; the controller finds it in HARDSTAND_SEED
    #[arg(long, default_value = "1")]
    pub(in crate::cli) seed: u32,
    /// Cases at a time [default: one for each core]
    #[arg(long, value_name = "N")]
    pub(in crate::cli) jobs: Option<NonZeroUsize>,
    /// Folder of outcomes; an interrupted hunt goes on there [default: SCENARIO's name with -hunt]
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) out: Option<PathBuf>,
    /// The controller simulates the robot itself, as `hardstand controller` does with this option
    #[arg(long)]
    pub(in crate::cli) in_process: bool,
    /// Controller's command, after `--`
    #[arg(last = true, value_name = "COMMAND", required = true)]
    pub(in crate::cli) command: Vec<OsString>,
}
