//! Arguments of `drive`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(in crate::cli) struct DriveArguments {
    /// Name of a shipped drive, or a file (.toml) with the keys of joints.*.drive; without it, the
    /// shipped drives and where their numbers come from
    #[arg(value_name = "FILE|NAME")]
    pub(in crate::cli) drive: Option<String>,
    /// Voltage of the supply, V; 0: as the drive says
    #[arg(long, value_name = "V", default_value_t = 0.0)]
    pub(in crate::cli) supply: f64,
    /// Drawing to write, .svg or .png
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) svg: Option<PathBuf>,
    /// Print one JSON document instead of text (docs/cli.md)
    #[arg(long)]
    pub(in crate::cli) json: bool,
}
