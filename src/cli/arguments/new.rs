//! Arguments of `new`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(in crate::cli) struct NewArguments {
    /// Robot description: URDF, or a MuJoCo model (MJCF)
    #[arg(value_name = "ROBOT")]
    pub(in crate::cli) robot: PathBuf,
    /// Scenario to write [default: standard output]
    #[arg(short, long, value_name = "FILE.toml")]
    pub(in crate::cli) output: Option<PathBuf>,
    /// Replace an existing file
    #[arg(long, requires = "output")]
    pub(in crate::cli) force: bool,
    /// Print one JSON document instead of text (docs/cli.md)
    #[arg(long)]
    pub(in crate::cli) json: bool,
}
