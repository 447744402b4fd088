//! Arguments of `doctor`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(in crate::cli) struct DoctorArguments {
    /// Scenario file (TOML) [default: the quadruped, which is built in]
    pub(in crate::cli) scenario: Option<PathBuf>,
    /// How long to measure, 1 to 604800 (a week)
    #[arg(long, value_name = "S", default_value_t = 60.0, allow_negative_numbers = true)]
    pub(in crate::cli) seconds: f64,
    /// One JSON object on standard output instead of text
    #[arg(long)]
    pub(in crate::cli) json: bool,
    /// Draw both histograms, .svg or .png; an existing file is overwritten
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) plot: Option<PathBuf>,
    /// Change a key of the scenario, e.g. --set realtime.core=3 (repeatable)
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(in crate::cli) sets: Vec<String>,
}
