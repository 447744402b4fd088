//! Arguments of `campaign`.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(in crate::cli) struct CampaignArguments {
    /// Print one JSON document instead of text (docs/cli.md)
    #[arg(long)]
    pub(in crate::cli) json: bool,
    /// Campaign file (TOML)
    pub(in crate::cli) file: PathBuf,
    /// Folder of outcomes and tables; several slices may share it [default: FILE's name with
    /// -results, beside it]
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) out: Option<PathBuf>,
    /// Cases at a time [default: one for each core; one if the file gives a speed]
    #[arg(long, value_name = "N")]
    pub(in crate::cli) jobs: Option<NonZeroUsize>,
    /// Only slice I of N, 0 to N − 1: every N-th case
    #[arg(long, value_name = "I/N", value_parser = shard)]
    pub(in crate::cli) shard: Option<[usize; 2]>,
    /// Print the names of the cases, and run none
    #[arg(long)]
    pub(in crate::cli) list: bool,
    /// Make the tables of the outcomes that are there, and run nothing
    #[arg(long, conflicts_with = "list")]
    pub(in crate::cli) table: bool,
    /// Controller's command, after `--` [default: the file's]
    #[arg(last = true, value_name = "COMMAND")]
    pub(in crate::cli) command: Vec<OsString>,
}

fn shard(text: &str) -> std::result::Result<[usize; 2], String> {
    let numbers = text.split_once('/').and_then(|(i, n)| Some([i.parse().ok()?, n.parse().ok()?]));
    numbers.filter(|[i, n]| i < n).ok_or_else(|| "it must be I/N with I from 0 to N − 1".into())
}
