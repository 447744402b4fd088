//! Runs cases and judges their outcomes.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use serde::Serialize;

use crate::campaign::{
    self, Case, Common, Held, Keep, MARGIN, Outcome, Plan, Store, UNTIL, Word, Workers,
};
use hardstand_error::{Error, ErrorKind, Result};

use super::space::{Candidate, Space};

/// Time between two looks whether other processes have finished their cases.
const LOOK_AGAIN: Duration = Duration::from_millis(20);
/// Time after which a wait for a case of another process is reported.
const LONG_WAIT: Duration = Duration::from_secs(5);

/// Why a case is one that is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The condition held.
    Held,
    /// The plant stopped itself.
    Failure,
    /// The controller failed.
    ControllerEnded,
    /// The controller did not answer in time.
    ControllerTimeout,
}

impl Kind {
    /// As tables have it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Failure => Word::Failure.word(),
            Self::ControllerEnded => Word::ControllerEnded.word(),
            Self::ControllerTimeout => Word::ControllerTimeout.word(),
        }
    }
}

/// A case that was run.
#[derive(Clone, Debug)]
pub struct Judged {
    /// What was run.
    pub case: Candidate,
    /// What came out.
    pub outcome: Outcome,
    /// Set if it is one that is looked for.
    pub kind: Option<Kind>,
}

/// Runs cases of a space.
#[derive(Debug)]
pub struct Judge<'a> {
    space: &'a Space,
    common: &'a Common,
    store: Store,
    jobs: NonZeroUsize,
    workers: Workers,
    shard: [usize; 2],
    stop: Arc<AtomicBool>,
    /// When this process began, if others share the folder.
    began: Option<SystemTime>,
    /// Called with the name of the awaited case of another process.
    report_wait: fn(&str),
    /// Every case that was run, in its order.
    run: Vec<Judged>,
    /// Its place in this order, by what `--set` changes.
    places: BTreeMap<Vec<String>, usize>,
}

impl<'a> Judge<'a> {
    /// Cases of `space`, `jobs` at a time, whose outcomes go to `folder`. Once `stop` is set, no
    /// more cases are run. Of every step it runs those of slice `shard`, and waits until other
    /// processes, which share the folder, have run the others; `report_wait` is called with the
    /// name of the awaited case after 5 s.
    #[must_use]
    pub fn new(
        space: &'a Space,
        common: &'a Common,
        folder: PathBuf,
        jobs: NonZeroUsize,
        shard: [usize; 2],
        stop: Arc<AtomicBool>,
        report_wait: fn(&str),
    ) -> Self {
        let store = Store::new(folder);
        let began = if shard[1] > 1 { store.time() } else { None };
        let (run, places, workers) = (Vec::new(), BTreeMap::new(), Workers::default());
        Self { space, common, store, jobs, workers, shard, stop, began, report_wait, run, places }
    }

    /// The space.
    #[must_use]
    pub const fn space(&self) -> &'a Space {
        self.space
    }

    /// Count of the cases that were run.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.run.len()
    }

    /// Why the first of the cases was refused that the scenario refused, and their count.
    #[must_use]
    pub fn refused(&self) -> Option<(usize, &str)> {
        let refused = || self.run.iter().filter(|j| j.is_refused());
        Some((refused().count(), refused().next()?.outcome.reason.as_str()))
    }

    /// Runs these cases, those excepted that have been run already, and judges them. `None` if it
    /// was stopped.
    ///
    /// # Errors
    /// Those of [`campaign::run`]; [`ErrorKind::File`] if a daemon failed, such as one that was
    /// killed; [`ErrorKind::Internal`] if a log does not replay.
    pub fn judge(&mut self, cases: &[Candidate]) -> Result<Option<Vec<Judged>>> {
        let mut asked = Vec::new();
        let mut new: Vec<(String, Vec<String>)> = Vec::new();
        let mut in_step: BTreeMap<Vec<String>, usize> = BTreeMap::new();
        let mut candidates = Vec::new();
        for case in cases {
            let sets = self.space.sets(case);
            let before = self.run.len();
            let place = self.places.get(&sets).or_else(|| in_step.get(&sets)).copied();
            let next = before + new.len();
            asked.push(place.unwrap_or(next));
            if place.is_none() {
                in_step.insert(sets.clone(), next);
                new.push((format!("c{next:05}"), sets));
                candidates.push(case.clone());
            }
        }
        let outcomes = self.outcomes(&new, self.space.duration_s(), Keep::None)?;
        let Some(outcomes) = outcomes else { return Ok(None) };
        for (((_, sets), case), outcome) in new.into_iter().zip(candidates).zip(outcomes) {
            let kind = kind_of(&outcome)?;
            self.places.insert(sets, self.run.len());
            self.run.push(Judged { case, outcome, kind });
        }
        Ok(Some(asked.into_iter().map(|place| self.run[place].clone()).collect()))
    }

    /// Runs one case again under this name and for this long, and keeps its log.
    ///
    /// # Errors
    /// As [`judge`](Self::judge).
    pub fn keep(&self, name: &str, case: &Candidate, duration_s: f64) -> Result<Option<Judged>> {
        let named = [(name.to_string(), self.space.sets(case))];
        let Some(mut outcomes) = self.outcomes(&named, duration_s, Keep::All)? else {
            return Ok(None);
        };
        let outcome = outcomes.remove(0);
        Ok(Some(Judged { case: case.clone(), kind: kind_of(&outcome)?, outcome }))
    }

    fn outcomes(
        &self,
        named: &[(String, Vec<String>)],
        duration_s: f64,
        keep: Keep,
    ) -> Result<Option<Vec<Outcome>>> {
        let plan = Plan::of_hunt(self.common, named, duration_s, keep);
        let open = self.store.to_run(&plan, plan.slice(self.shard))?;
        campaign::run(&plan, &self.store, &open, (self.jobs, &self.workers), &self.stop, |_| {})?;
        let all = plan.cases();
        if self.shard[1] > 1 {
            self.wait_for_others(&plan, &all)?;
        }
        if self.stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        all.iter().map(|case| self.store.outcome(&plan, case)).collect()
    }

    /// Waits until all cases have outcomes, or until `stop` is set.
    fn wait_for_others(&self, plan: &Plan, all: &[Case]) -> Result<()> {
        let begin = Instant::now();
        let mut reported = false;
        while let Some(case) = self.store.awaited(plan, all, self.began)? {
            if self.stop.load(Ordering::Relaxed) {
                break;
            }
            if !reported && begin.elapsed() > LONG_WAIT {
                (self.report_wait)(&case.id);
                reported = true;
            }
            thread::sleep(LOOK_AGAIN);
        }
        Ok(())
    }
}

impl Judged {
    /// True if the scenario refused its numbers.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        self.outcome.outcome == Word::Refused
    }

    /// True if the same happened in another run of the case, at the same time if the condition is
    /// what happened.
    #[must_use]
    pub fn repeats(&self, other: &Self) -> bool {
        let at_s = |judged: &Self| Some(judged.at_s()).filter(|_| judged.kind == Some(Kind::Held));
        self.kind == other.kind && at_s(self) == at_s(other)
    }

    /// How near it came: positive where the condition held. `None` of a case that was refused.
    #[must_use]
    pub fn margin(&self) -> Option<f64> {
        self.outcome.measures.get(MARGIN).copied().flatten()
    }

    /// When it happened, s: the first tick in which the condition held, or the last one of the run.
    #[must_use]
    pub fn at_s(&self) -> f64 {
        match self.outcome.conditions.get(UNTIL) {
            Some(Held::AtS(at)) => *at,
            _ => self.outcome.time_s,
        }
    }
}

fn kind_of(outcome: &Outcome) -> Result<Option<Kind>> {
    if matches!(outcome.conditions.get(UNTIL), Some(Held::AtS(_))) {
        return Ok(Some(Kind::Held));
    }
    match outcome.outcome {
        // numbers that do not fit together are no case
        Word::Done | Word::Refused => Ok(None),
        Word::Failure => Ok(Some(Kind::Failure)),
        Word::ControllerEnded => Ok(Some(Kind::ControllerEnded)),
        Word::ControllerTimeout => Ok(Some(Kind::ControllerTimeout)),
        Word::DaemonFailed => Err(Error::new(
            ErrorKind::File,
            format!(
                "case {}: the daemon failed: {}; the same command runs this case again",
                outcome.case, outcome.reason
            ),
        )),
        Word::Differs => Err(Error::new(
            ErrorKind::Internal,
            format!("case {}: {}: {}", outcome.case, outcome.outcome.word(), outcome.reason),
        )),
    }
}
