//! Arguments of `campaign`.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(in crate::cli) struct CampaignArguments {
    #[command(subcommand)]
    pub(in crate::cli) verb: Option<CampaignVerb>,
    #[command(flatten)]
    pub(in crate::cli) run: CampaignRunArguments,
}

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum CampaignVerb {
    /// Write the results in a folder as JUnit XML or as a page
    ///
    /// Needs neither the campaign's file nor its scenarios. Exit code 0: all cases have passed; 1:
    /// a case is one of fail_if; 3: cases are missing.
    Report(CampaignReportArguments),
    /// Compare the results in two folders: cases that became worse or better, and measures
    ///
    /// Cases are paired by their names. Intervals and tests are those of paired seeds
    /// (docs/campaigns.md). Exit code 0: no case is worse; 1: a case that passed in A does not in
    /// B; 2: the folders share no case; 3: none is worse, but cases are missing in B.
    Compare(CampaignCompareArguments),
    /// Count the cases of a campaign, and say what they will take
    ///
    /// From the wall times of the cases that are finished. Runs nothing.
    Plan(CampaignPlanArguments),
}

#[derive(Debug, Args)]
pub(in crate::cli) struct CampaignRunArguments {
    /// Print one JSON document instead of text (docs/cli.md)
    #[arg(long)]
    pub(in crate::cli) json: bool,
    /// Campaign file (TOML)
    #[arg(required = true)]
    pub(in crate::cli) file: Option<PathBuf>,
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
    /// Only the case of this name, as --list prints it (repeatable)
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    pub(in crate::cli) case: Vec<String>,
    /// Run finished cases again, too: as a test after a change of the controller
    #[arg(long, conflicts_with_all = ["list", "table"])]
    pub(in crate::cli) again: bool,
    /// Print the names of the cases, and run none
    #[arg(long)]
    pub(in crate::cli) list: bool,
    /// Make the tables of the outcomes that are there, and run nothing
    #[arg(long, conflicts_with = "list")]
    pub(in crate::cli) table: bool,
    #[command(flatten)]
    pub(in crate::cli) reports: ReportFiles,
    /// Controller's command, after `--` [default: the file's]
    #[arg(last = true, value_name = "COMMAND")]
    pub(in crate::cli) command: Vec<OsString>,
}

/// Reports to write.
#[derive(Debug, Args)]
pub(in crate::cli) struct ReportFiles {
    /// JUnit XML to write, for continuous integration: a test for each case
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) junit: Option<PathBuf>,
    /// Page to write: one HTML file that needs no network
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) html: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct CampaignReportArguments {
    /// Print one JSON document instead of text (docs/cli.md)
    #[arg(long)]
    pub(in crate::cli) json: bool,
    /// Folder of results
    #[arg(value_name = "DIR")]
    pub(in crate::cli) folder: PathBuf,
    #[command(flatten)]
    pub(in crate::cli) reports: ReportFiles,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct CampaignCompareArguments {
    /// Print one JSON document instead of text (docs/cli.md)
    #[arg(long)]
    pub(in crate::cli) json: bool,
    /// Folder of results before
    #[arg(value_name = "A")]
    pub(in crate::cli) before: PathBuf,
    /// Folder of results after
    #[arg(value_name = "B")]
    pub(in crate::cli) after: PathBuf,
    /// Confidence of the intervals
    #[arg(long, value_name = "P", default_value_t = 0.95, value_parser = confidence)]
    pub(in crate::cli) confidence: f64,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct CampaignPlanArguments {
    /// Print one JSON document instead of text (docs/cli.md)
    #[arg(long)]
    pub(in crate::cli) json: bool,
    /// Campaign file (TOML)
    pub(in crate::cli) file: PathBuf,
    /// Folder of results with finished cases [default: FILE's name with -results, beside it]
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) out: Option<PathBuf>,
    /// Numbers of workers that run one case at a time each
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_value = "1,10,100")]
    pub(in crate::cli) workers: Vec<NonZeroUsize>,
}

fn confidence(text: &str) -> std::result::Result<f64, String> {
    let found = text.parse().ok().filter(|p| *p > 0.0 && *p < 1.0);
    found.ok_or_else(|| "it must be a number above 0 and below 1, such as 0.95".into())
}

pub(super) fn shard(text: &str) -> std::result::Result<[usize; 2], String> {
    let numbers = text.split_once('/').and_then(|(i, n)| Some([i.parse().ok()?, n.parse().ok()?]));
    numbers.filter(|[i, n]| i < n).ok_or_else(|| "it must be I/N with I from 0 to N − 1".into())
}
