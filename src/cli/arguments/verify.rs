//! Arguments of `verify`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(in crate::cli) struct VerifyArguments {
    /// Print one JSON document instead of text (docs/cli.md)
    #[arg(long)]
    pub(in crate::cli) json: bool,
    /// First file of the log (MCAP); it is read with all files in which the run goes on
    pub(in crate::cli) log: PathBuf,
}
