//! `hardstand campaign`.

use std::collections::{BTreeMap, BTreeSet};
use std::io::IsTerminal as _;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Instant;

use serde::Serialize;

use crate::campaign::{self, Case, Held, Outcome, Plan, Store, Word};
use hardstand_error::{Error, ErrorKind, Result};

use super::arguments::CampaignArguments;
use super::{ExitCode, progress, show, stop_on_signal};

pub(super) fn campaign(a: &CampaignArguments) -> Result<ExitCode> {
    let file = std::path::absolute(&a.file).map_err(|e| no_place(&a.file, &e))?;
    let mut plan = Plan::load(&file)?;
    for (old, new) in &plan.renamed {
        show::note(&format!("fail_if: the outcome \"{old}\" is now called \"{new}\""));
    }
    let slice = plan.slice(a.shard.unwrap_or([0, 1]));
    if a.list {
        let names: Vec<&str> = slice.iter().map(|case| case.id.as_str()).collect();
        if a.json {
            show::json(&names)?;
        } else {
            names.iter().for_each(|name| show::line(name));
        }
        return Ok(ExitCode::Done);
    }
    let out = match &a.out {
        Some(out) => std::path::absolute(out).map_err(|e| no_place(out, &e))?,
        None => results_of(&file),
    };
    command(&mut plan, a, &file)?;
    let store = Store::new(out);
    if !a.table {
        run(&plan, &store, &slice, a)?;
    }
    let outcomes = store.write_tables(&plan)?;
    let result = CampaignResult::of(&plan, &store, &slice, &outcomes);
    if a.json {
        show::json(&result)?;
    } else {
        result.show();
    }
    Ok(result.code())
}

pub(super) fn no_place(path: &Path, e: &std::io::Error) -> Error {
    Error::new(ErrorKind::File, format!("{}: {e}", path.display()))
}

/// `NAME-results` beside `NAME.toml`.
fn results_of(file: &Path) -> PathBuf {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    file.with_file_name(format!("{stem}-results"))
}

/// The controller's command: that of the command line, or the file's, which runs where the file is.
fn command(plan: &mut Plan, a: &CampaignArguments, file: &Path) -> Result<()> {
    if !a.command.is_empty() {
        plan.controller.clone_from(&a.command);
    } else if plan.controller.is_empty() {
        let text = "the controller's command is missing: give it after --, or as `controller` in \
                    the file";
        return Err(Error::new(ErrorKind::Input, text));
    } else if let Some(folder) = file.parent() {
        std::env::set_current_dir(folder).map_err(|e| no_place(folder, &e))?;
    }
    Ok(())
}

/// Runs the cases of the slice that are not finished.
fn run(plan: &Plan, store: &Store, slice: &[Case], a: &CampaignArguments) -> Result<()> {
    let stop = stop_on_signal()?;
    let open = store.unfinished(plan, slice)?;
    // cases that keep a pace would disturb each other
    let cores = if plan.is_paced() { None } else { thread::available_parallelism().ok() };
    let jobs = a.jobs.or(cores).unwrap_or(NonZeroUsize::MIN);
    let there = slice.len() - open.len();
    let before = if there > 0 { format!("; {there} are finished already") } else { String::new() };
    let print = |text: &str| {
        if !a.json {
            show::line(text);
        }
    };
    print(&format!("cases      {} to run, {jobs} at a time{before}", open.len()));
    let (bar, begin) = (progress::bar(open.len() as u64, "cases"), Instant::now());
    let (mut count, mut failed) = (0_usize, 0_usize);
    campaign::run(plan, store, &open, jobs, &stop, |outcome| {
        count += 1;
        let bad = outcome.outcome != Word::Done || plan.fails(outcome);
        failed += usize::from(bad);
        bar.inc(1);
        bar.set_message(format!("{count} of {}, {failed} failed", open.len()));
        if std::io::stderr().is_terminal() {
            if bad {
                bar.println(line(outcome));
            }
        } else {
            print(&line(outcome));
        }
    })?;
    bar.finish_and_clear();
    let wall_s = begin.elapsed().as_secs_f64();
    print(&format!("ran        {count} cases in {wall_s:.1} s"));
    if stop.load(Ordering::Relaxed) {
        print("stopped    cases that were running have no outcome; the same command continues");
    }
    Ok(())
}

fn line(o: &Outcome) -> String {
    let why = if o.reason.is_empty() { String::new() } else { format!(": {}", o.reason) };
    let held = o.conditions.iter().filter_map(|(name, held)| match held {
        Held::AtS(first_s) => Some(format!(", {name} at {first_s:.3} s")),
        _ => None,
    });
    let held: String = held.collect();
    format!("{:16} {} {:.3} s{held}{why}", o.outcome.word(), o.case, o.time_s)
}

/// The result of a campaign.
#[derive(Debug, Serialize)]
struct CampaignResult<'a> {
    /// All cases of the file.
    cases: usize,
    /// Cases that are finished.
    finished: usize,
    /// Count of each outcome.
    outcomes: BTreeMap<&'static str, usize>,
    /// For each condition, the count of cases in which it held.
    conditions: BTreeMap<&'a str, usize>,
    table_csv: PathBuf,
    table_parquet: PathBuf,
    /// Cases of this slice without an outcome.
    missing: usize,
    /// Cases of this slice that `fail_if` names.
    failing: Vec<&'a str>,
}

impl<'a> CampaignResult<'a> {
    fn of(plan: &Plan, store: &Store, slice: &[Case], outcomes: &'a [(Case, Outcome)]) -> Self {
        let (mut words, mut held) = (BTreeMap::new(), BTreeMap::new());
        for (_, outcome) in outcomes {
            *words.entry(outcome.outcome.word()).or_insert(0) += 1;
            for (name, when) in &outcome.conditions {
                *held.entry(name.as_str()).or_insert(0) +=
                    usize::from(matches!(when, Held::AtS(_)));
            }
        }
        let ids: BTreeSet<&str> = slice.iter().map(|case| case.id.as_str()).collect();
        let of_slice = outcomes.iter().map(|(_, outcome)| outcome);
        let of_slice: Vec<&Outcome> = of_slice.filter(|o| ids.contains(o.case.as_str())).collect();
        let [table_csv, table_parquet] = store.tables();
        Self {
            cases: plan.cases().len(),
            finished: outcomes.len(),
            outcomes: words,
            conditions: held,
            table_csv,
            table_parquet,
            missing: slice.len() - of_slice.len(),
            failing: of_slice.iter().filter(|o| plan.fails(o)).map(|o| o.case.as_str()).collect(),
        }
    }

    fn code(&self) -> ExitCode {
        match (self.missing, self.failing.is_empty()) {
            (1.., _) => ExitCode::Incomplete,
            (0, true) => ExitCode::Done,
            (0, false) => ExitCode::Negative,
        }
    }

    fn show(&self) {
        let words: Vec<String> = self.outcomes.iter().map(|(w, n)| format!("{w} {n}")).collect();
        let (finished, cases) = (self.finished, self.cases);
        show::line(&format!("outcomes   {finished} of {cases} cases: {}", words.join(", ")));
        for (name, n) in &self.conditions {
            show::line(&format!("condition  {name}: in {n} of {finished}"));
        }
        let (csv, parquet) = (self.table_csv.display(), self.table_parquet.display());
        show::line(&format!("table      {csv}\n           {parquet}"));
        if self.missing > 0 {
            show::line(&format!("missing    {} cases have not run", self.missing));
        } else if let [first, ..] = self.failing[..] {
            let count = self.failing.len();
            show::line(&format!("failed     {count} cases by fail_if, first {first}"));
        }
    }
}
