//! Arguments of `model`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub(in crate::cli) struct ModelArguments {
    /// Print one JSON document instead of text (docs/cli.md)
    #[arg(long)]
    pub(in crate::cli) json: bool,
    /// Print the robot as URDF: a MuJoCo model as it is simulated
    #[arg(long, conflicts_with = "json")]
    pub(in crate::cli) urdf: bool,
    /// Robot description: URDF, or a MuJoCo model (MJCF)
    #[arg(value_name = "FILE")]
    pub(in crate::cli) file: PathBuf,
    /// How the root link is held
    #[arg(long, value_enum, default_value = "auto")]
    pub(in crate::cli) base: BaseArgument,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(in crate::cli) enum BaseArgument {
    /// Floating, unless the root link is called "world"
    Auto,
    /// Free in space
    Floating,
    /// Welded to the world
    Fixed,
}
