//! `hardstand campaign`.

mod compare;
mod matrix;
mod page;
mod plan;
mod plots;
mod repeat;
mod report;

use std::collections::{BTreeMap, BTreeSet};
use std::io::IsTerminal as _;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Instant;

use serde::Serialize;

use crate::campaign::{
    self, Case, Held, Maker, Manifest, Outcome, Plan, Results, Store, Word, Workers,
};
use hardstand_error::{Error, ErrorKind, Result};

use super::arguments::{CampaignArguments, CampaignRunArguments, CampaignVerb};
use super::{ExitCode, progress, show, stop_on_signal};

pub(super) fn campaign(a: &CampaignArguments) -> Result<ExitCode> {
    match (&a.verb, &a.run.file) {
        (Some(CampaignVerb::Report(a)), _) => report::report(a),
        (Some(CampaignVerb::Compare(a)), _) => compare::compare(a),
        (Some(CampaignVerb::Plan(a)), _) => plan::plan(a),
        (None, Some(file)) => run_file(file, &a.run),
        (None, None) => Err(Error::new(ErrorKind::Input, "FILE, the campaign, is missing")),
    }
}

fn run_file(file: &Path, a: &CampaignRunArguments) -> Result<ExitCode> {
    let file = std::path::absolute(file).map_err(|e| no_place(file, &e))?;
    let reports = report::Places::of(&a.reports)?;
    let mut plan = Plan::load(&file)?;
    for (old, new) in &plan.renamed {
        show::note(&format!("fail_if: the outcome \"{old}\" is now called \"{new}\""));
    }
    let slice = slice(&plan, a)?;
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
    let store = Store::new(out);
    let folder = command(&mut plan, &store, a)?;
    plan.controller_files = campaign::controller_files(&plan.controller);
    let mut manifest = Manifest::of(&plan, &file.to_string_lossy(), folder);
    reports.check(plan.files().into_iter().chain([file]), &store)?;
    if !a.table {
        run(&plan, &mut manifest, &store, &slice, a)?;
    }
    let results = store.write_tables(&plan, manifest, a.shard.unwrap_or([0, 1]))?;
    let ids: BTreeSet<&str> = slice.iter().map(|case| case.id.as_str()).collect();
    let result = CampaignResult::of(&results, &store, &ids);
    if a.json {
        show::json(&result)?;
    } else {
        result.show();
    }
    // last, so that a disk that is full by now does not hide the result
    reports.write(&results.only(&ids))?;
    if !a.json {
        reports.show();
    }
    Ok(result.code())
}

/// The cases that the arguments choose.
fn slice(plan: &Plan, a: &CampaignRunArguments) -> Result<Vec<Case>> {
    let mut slice = plan.slice(a.shard.unwrap_or([0, 1]));
    if a.case.is_empty() {
        return Ok(slice);
    }
    slice.retain(|case| a.case.contains(&case.id));
    let unknown = |name: &&String| slice.iter().all(|case| case.id != **name);
    match a.case.iter().find(unknown) {
        None => Ok(slice),
        Some(name) => Err(Error::new(
            ErrorKind::Input,
            format!("--case {name}: there is no such case (of this slice); --list prints them all"),
        )),
    }
}

pub(super) fn no_place(path: &Path, e: &std::io::Error) -> Error {
    Error::new(ErrorKind::File, format!("{}: {e}", path.display()))
}

/// `NAME-results` beside `NAME.toml`.
fn results_of(file: &Path) -> PathBuf {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    file.with_file_name(format!("{stem}-results"))
}

/// The controller's command: that of the command line, or the file's, which runs where it says; of
/// a table that is made again, that of `campaign.json`. Returns where one of a command line was
/// given.
fn command(plan: &mut Plan, store: &Store, a: &CampaignRunArguments) -> Result<Option<String>> {
    if !a.command.is_empty() {
        plan.controller.clone_from(&a.command);
        let here = std::env::current_dir().map_err(|e| no_place(Path::new("."), &e))?;
        return Ok(Some(here.to_string_lossy().into_owned()));
    }
    let mut given = None;
    if plan.controller.is_empty() && a.table {
        let before = store.manifest().unwrap_or_default();
        plan.controller = before.controller.into_iter().map(Into::into).collect();
        given = before.folder;
    }
    if plan.controller.is_empty() {
        let text = "the controller's command is missing: give it after --, or as `controller` in \
                    the file";
        return Err(Error::new(ErrorKind::Input, text));
    }
    let folder = given.as_ref().map_or(plan.controller_folder.as_path(), Path::new);
    match std::env::set_current_dir(folder) {
        Err(e) if given.is_none() => Err(no_place(folder, &e).within("controller_folder")),
        // without its files, outcomes that have them are refused
        _ => Ok(given),
    }
}

/// Runs the cases of the slice that are not finished, and notes what they were run by.
fn run(
    plan: &Plan,
    manifest: &mut Manifest,
    store: &Store,
    slice: &[Case],
    a: &CampaignRunArguments,
) -> Result<()> {
    let stop = stop_on_signal()?;
    if a.again {
        store.forget_outcomes(slice)?;
    } else {
        store.refuse_other(plan, slice)?;
    }
    let open = store.to_run(plan, slice.to_vec())?;
    if !open.is_empty() {
        manifest.made_by.push(Maker::here(plan)?);
        store.write_manifest(manifest.clone())?;
    }
    // cases that keep a pace would disturb each other
    let cores = if plan.is_paced() { None } else { thread::available_parallelism().ok() };
    let jobs = a.jobs.or(cores).unwrap_or(NonZeroUsize::MIN);
    let there = slice.len() - open.len();
    let before = match there {
        0 => String::new(),
        _ => format!("; {there} are finished already, --again runs them anew"),
    };
    let print = |text: &str| {
        if !a.json {
            show::line(text);
        }
    };
    print(&format!("cases      {} to run, {jobs} at a time{before}", open.len()));
    let (bar, begin) = (progress::bar(open.len() as u64, "cases"), Instant::now());
    let (mut count, mut failed) = (0_usize, 0_usize);
    campaign::run(plan, store, &open, (jobs, &Workers::default()), &stop, |outcome| {
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

/// The exit code of results with so many cases that have not run, that `fail_if` names, and whose
/// daemon failed.
const fn code(missing: usize, failing: usize, daemon_failed: usize) -> ExitCode {
    match (missing, failing, daemon_failed) {
        (1.., ..) | (0, 0, 1..) => ExitCode::Incomplete,
        (0, 0, 0) => ExitCode::Done,
        (0, 1.., _) => ExitCode::Negative,
    }
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
    #[serde(serialize_with = "crate::path_text::one")]
    table_csv: PathBuf,
    #[serde(serialize_with = "crate::path_text::one")]
    table_parquet: PathBuf,
    /// Cases of this slice without an outcome.
    missing: usize,
    /// Cases of this slice that `fail_if` names.
    failing: Vec<&'a str>,
    /// Cases of this slice whose daemon failed: they say nothing.
    daemon_failed: Vec<&'a str>,
}

impl<'a> CampaignResult<'a> {
    /// Of the results, and of the cases `ids` of a slice.
    fn of(results: &'a Results, store: &Store, ids: &BTreeSet<&str>) -> Self {
        let (mut words, mut held) = (BTreeMap::new(), BTreeMap::new());
        for (_, outcome) in results.finished() {
            *words.entry(outcome.outcome.word()).or_insert(0) += 1;
            for (name, when) in &outcome.conditions {
                *held.entry(name.as_str()).or_insert(0) +=
                    usize::from(matches!(when, Held::AtS(_)));
            }
        }
        let of_slice = results.finished().map(|(_, outcome)| outcome);
        let of_slice: Vec<&Outcome> = of_slice.filter(|o| ids.contains(o.case.as_str())).collect();
        let fails = |o: &&&Outcome| !results.manifest.failing(o).is_empty();
        let has_failed = |o: &&&Outcome| !o.outcome.is_verdict();
        let [table_csv, table_parquet] = store.tables();
        Self {
            cases: results.cases.len(),
            finished: results.finished().count(),
            outcomes: words,
            conditions: held,
            table_csv,
            table_parquet,
            missing: ids.len() - of_slice.len(),
            failing: of_slice.iter().filter(fails).map(|o| o.case.as_str()).collect(),
            daemon_failed: of_slice.iter().filter(has_failed).map(|o| o.case.as_str()).collect(),
        }
    }

    fn code(&self) -> ExitCode {
        code(self.missing, self.failing.len(), self.daemon_failed.len())
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
        if let [first, ..] = self.daemon_failed[..] {
            let count = self.daemon_failed.len();
            let text = "by their daemon; the same command runs them again";
            show::line(&format!("failed     {count} cases {text}, first {first}"));
        }
    }
}
