//! What the user typed after `campaign`.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(super) struct CampaignArguments {
    /// Campaign file (TOML)
    pub(super) file: PathBuf,
    /// Folder of outcomes and tables; several slices may share it [default: FILE's name with
    /// -results, beside it]
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
    /// Cases at a time [default: one for each core; one if the file gives a speed]
    #[arg(long, value_name = "N")]
    pub(super) jobs: Option<NonZeroUsize>,
    /// Only slice I of N, 0 to N − 1: every N-th case
    #[arg(long, value_name = "I/N", value_parser = shard)]
    pub(super) shard: Option<[usize; 2]>,
    /// Print the names of the cases, and run none
    #[arg(long)]
    pub(super) list: bool,
    /// Make the tables of the outcomes that are there, and run nothing
    #[arg(long, conflicts_with = "list")]
    pub(super) table: bool,
    /// Controller's command, after `--` [default: the file's]
    #[arg(last = true, value_name = "COMMAND")]
    pub(super) command: Vec<OsString>,
}

fn shard(text: &str) -> std::result::Result<[usize; 2], String> {
    let numbers = text.split_once('/').and_then(|(i, n)| Some([i.parse().ok()?, n.parse().ok()?]));
    numbers.filter(|[i, n]| i < n).ok_or_else(|| "it must be I/N with I from 0 to N − 1".into())
}
