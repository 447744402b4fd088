//! Arguments of `recover`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(in crate::cli) struct RecoverArguments {
    /// Print one JSON document instead of text (docs/cli.md)
    #[arg(long)]
    pub(in crate::cli) json: bool,
    /// Log file (MCAP); it is left as it is
    pub(in crate::cli) log: PathBuf,
    /// The new file, which must not exist [default: NAME.recovered.mcap beside the log]
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) to: Option<PathBuf>,
}
