//! `hardstand campaign`.

use std::collections::{BTreeMap, BTreeSet};
use std::io::IsTerminal as _;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Instant;

use crate::campaign::{self, Case, Held, Outcome, Plan, Store, Word};
use hardstand_error::{Error, ErrorKind, Result};

use super::campaign_arguments::CampaignArguments;
use super::{ExitCode, progress, show, stop_on_signal};

pub(super) fn campaign(a: &CampaignArguments) -> Result<ExitCode> {
    let file = std::path::absolute(&a.file).map_err(|e| no_place(&a.file, &e))?;
    let mut plan = Plan::load(&file)?;
    let slice = plan.slice(a.shard.unwrap_or([0, 1]));
    if a.list {
        slice.iter().for_each(|case| show::line(&case.id));
        return Ok(ExitCode::Done);
    }
    let out = match &a.out {
        Some(out) => std::path::absolute(out).map_err(|e| no_place(out, &e))?,
        None => results_of(&file),
    };
    command(&mut plan, a, &file)?;
    let store = Store::new(out);
    if !a.table {
        run(&plan, &store, &slice, a.jobs)?;
    }
    let outcomes = store.write_tables(&plan)?;
    Ok(report(&plan, &store, &slice, &outcomes))
}

fn no_place(path: &Path, e: &std::io::Error) -> Error {
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
fn run(plan: &Plan, store: &Store, slice: &[Case], jobs: Option<NonZeroUsize>) -> Result<()> {
    let stop = stop_on_signal()?;
    let mut open = Vec::new();
    for case in slice {
        if store.outcome(plan, case)?.is_none() {
            open.push(case.clone());
        }
    }
    // whose ticks keep a pace would disturb each other
    let cores = if plan.is_paced() { None } else { thread::available_parallelism().ok() };
    let jobs = jobs.or(cores).unwrap_or(NonZeroUsize::MIN);
    let there = slice.len() - open.len();
    let before = if there > 0 { format!("; {there} are there already") } else { String::new() };
    show::line(&format!("cases      {} to run, {jobs} at a time{before}", open.len()));
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
            show::line(&line(outcome));
        }
    })?;
    bar.finish_and_clear();
    let wall_s = begin.elapsed().as_secs_f64();
    show::line(&format!("ran        {count} cases in {wall_s:.1} s"));
    if stop.load(Ordering::Relaxed) {
        show::line("stopped    what was running is not in the table; the same command goes on");
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

/// Says what the table holds; the exit code is the verdict on the slice.
fn report(plan: &Plan, store: &Store, slice: &[Case], outcomes: &[(Case, Outcome)]) -> ExitCode {
    let (mut words, mut held) = (BTreeMap::new(), BTreeMap::new());
    for (_, outcome) in outcomes {
        *words.entry(outcome.outcome).or_insert(0_usize) += 1;
        for (name, when) in &outcome.conditions {
            *held.entry(name).or_insert(0_usize) += usize::from(matches!(when, Held::AtS(_)));
        }
    }
    let all = plan.cases().len();
    let words: Vec<String> = words.iter().map(|(w, n)| format!("{} {n}", w.word())).collect();
    show::line(&format!("outcomes   {} of {all} cases: {}", outcomes.len(), words.join(", ")));
    for (name, n) in held {
        show::line(&format!("condition  {name}: in {n} of {}", outcomes.len()));
    }
    let [csv, parquet] = store.tables();
    show::line(&format!("table      {}\n           {}", csv.display(), parquet.display()));
    let ids: BTreeSet<&str> = slice.iter().map(|case| case.id.as_str()).collect();
    let of_slice = outcomes.iter().map(|(_, outcome)| outcome);
    let of_slice: Vec<&Outcome> = of_slice.filter(|o| ids.contains(o.case.as_str())).collect();
    if of_slice.len() < slice.len() {
        show::line(&format!("missing    {} cases have not run", slice.len() - of_slice.len()));
        return ExitCode::Incomplete;
    }
    let failing: Vec<&str> =
        of_slice.iter().filter(|o| plan.fails(o)).map(|o| o.case.as_str()).collect();
    if failing.is_empty() {
        return ExitCode::Done;
    }
    show::line(&format!("failed     {} cases by fail_if, first {}", failing.len(), failing[0]));
    ExitCode::Negative
}
