//! Arguments of `demo`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(in crate::cli) struct DemoArguments {
    /// Print one JSON document instead of text (docs/cli.md)
    #[arg(long)]
    pub(in crate::cli) json: bool,
    /// Show the robot in the browser, at http://127.0.0.1:8765/
    #[cfg(feature = "view")]
    #[arg(long)]
    pub(in crate::cli) view: bool,
    /// Where the log goes; an earlier run of that name is replaced
    #[arg(long, value_name = "FILE", default_value = "hardstand-demo.mcap")]
    pub(in crate::cli) log: PathBuf,
    /// Change a key of the scenario (repeatable)
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(in crate::cli) sets: Vec<String>,
}
