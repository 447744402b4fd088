//! What every search through cases begins with.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::campaign::{Common, Way, own_key};
use crate::config::Scenario;
use crate::hunt::{Judge, Space};
use crate::inspect::{Condition, Quantities};
use hardstand_error::{Error, ErrorKind, Result};

use super::super::arguments::CaseArguments;
use super::super::calibrate::threads;
use super::super::campaign::no_place;
use super::super::run::for_one_robot;
use super::super::{show, stop_on_signal};

/// The checked arguments of a search.
pub(super) struct Setup {
    /// One of the scenario for each of its robots.
    pub(super) robots: Vec<Scenario>,
    pub(super) common: Common,
    /// Folder of outcomes.
    pub(super) out: PathBuf,
    pub(super) jobs: NonZeroUsize,
    shard: [usize; 2],
    stop: Arc<AtomicBool>,
}

impl Setup {
    /// `verb` is the end of the folder's name.
    pub(super) fn of(a: &CaseArguments, verb: &str) -> Result<Self> {
        let file = std::path::absolute(&a.scenario).map_err(|e| no_place(&a.scenario, &e))?;
        if let Some(key) = a.set.iter().find_map(|set| own_key(set)) {
            let text = format!(
                "--set {key} is not allowed: {verb} sets pace, start, mode, length, log and \
                 endpoint of its cases itself"
            );
            return Err(Error::new(ErrorKind::Input, text));
        }
        let robots = Scenario::load_all(&file, &a.set)?;
        Condition::parse(&a.until, &Quantities::of_all(&robots))?;
        let out = a.out.clone().unwrap_or_else(|| results_of(&file, verb));
        let out = std::path::absolute(&out).map_err(|e| no_place(&out, &e))?;
        refuse_other_seed(&out, a.seed)?;
        let mut common = Common::new(&robots, file, a.command.clone(), a.until.clone(), a.seed);
        common.way = match a {
            CaseArguments { in_process: true, .. } => Way::InProcess,
            CaseArguments { controller_resets: true, .. } => Way::StaysUp,
            _ => Way::OwnProcess,
        };
        if common.way != Way::OwnProcess && robots.len() > 1 {
            return Err(for_one_robot("--in-process and --controller-resets are"));
        }
        let stop = stop_on_signal()?;
        let shard = a.shard.unwrap_or([0, 1]);
        Ok(Self { robots, common, out, jobs: threads(a.jobs), shard, stop })
    }

    /// The robot of a scenario that must have one only.
    pub(super) fn one_robot(&self) -> Result<&Scenario> {
        match &*self.robots {
            [robot] => Ok(robot),
            _ => Err(for_one_robot("`hardstand pushes` is")),
        }
    }

    pub(super) fn judge<'a>(&'a self, space: &'a Space) -> Judge<'a> {
        let (out, stop) = (self.out.clone(), Arc::clone(&self.stop));
        Judge::new(space, &self.common, out, self.jobs, self.shard, stop, report_wait)
    }

    /// Refuses a length that the scenario refuses, and keys and events that it refuses at both of
    /// their ends; later, a case that is refused is no find. Notes those that it refuses at one of
    /// them.
    pub(super) fn check(&self, space: &Space, what: &str) -> Result<()> {
        Scenario::load_all(&self.common.file, &space.usual_sets()).map_err(|e| e.within(what))?;
        let (mut mistakes, mut notes) = (Vec::new(), BTreeSet::new());
        for ends in space.probes() {
            let refused = |(words, sets): &(String, Vec<String>)| {
                let error = Scenario::load_all(&self.common.file, sets).err()?;
                Some(format!("{words}: {error}"))
            };
            let refused: Vec<Option<String>> = ends.iter().map(refused).collect();
            let all: Option<Vec<String>> = refused.iter().cloned().collect();
            match all {
                Some(mut all) => mistakes.extend(all.pop()),
                None => notes.extend(refused.into_iter().flatten()),
            }
        }
        for note in notes {
            show::note(&format!("such cases are refused, and count as none: {note}"));
        }
        if mistakes.is_empty() {
            return Ok(());
        }
        Err(Error::list(ErrorKind::Input, what, &mistakes))
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

fn report_wait(case: &str) {
    show::note(&format!(
        "waits for case {case} of another process with this --out; if that process was lost, start \
         it again"
    ));
}

/// Cases of another seed have other names, but what is found is kept under one name.
fn refuse_other_seed(out: &Path, seed: u32) -> Result<()> {
    let own = format!("__s{seed:04}");
    let cases = std::fs::read_dir(out.join("cases")).into_iter().flatten().flatten();
    let mut names = cases.map(|case| case.file_name().to_string_lossy().into_owned());
    let Some(other) = names.find(|name| !name.ends_with(&own)) else { return Ok(()) };
    let text = format!(
        "{} is the folder of another search, which has the case {other}: --seed differs, it is \
         {seed}. Take another folder with --out, or remove this one",
        out.display()
    );
    Err(Error::new(ErrorKind::Input, text))
}

/// `NAME-VERB` in the current folder.
fn results_of(scenario: &Path, verb: &str) -> PathBuf {
    let stem = scenario.file_stem().unwrap_or_default().to_string_lossy();
    format!("{stem}-{verb}").into()
}
