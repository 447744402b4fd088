//! The results of a campaign, read from their folder, and a judgement of each case.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use hardstand_error::{Error, ErrorKind, Result};

use super::manifest::Manifest;
use super::outcome::{Held, Outcome, Word};
use super::plan::Case;
use super::store::{MANIFEST, Store};

/// The results of a campaign: each of its cases, with its outcome if it is finished.
#[derive(Clone, Debug)]
pub struct Results {
    /// Their folder.
    pub folder: PathBuf,
    /// What they are the results of.
    pub manifest: Manifest,
    /// In the order of the campaign.
    pub cases: Vec<(Case, Option<Outcome>)>,
}

/// What a case comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grade {
    /// All ticks were run, and `fail_if` does not apply.
    Passed,
    /// `fail_if` applies.
    Failed,
    /// It did not reach its end, and `fail_if` does not name that.
    Broken,
    /// It has no outcome.
    Unfinished,
}

/// A case, judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// What it comes to.
    pub grade: Grade,
    /// Names of `fail_if` that apply, or else the outcome, if it did not pass.
    pub kind: String,
    /// Why it did not pass: condition, tick, values; or how it ended.
    pub why: String,
}

/// Inputs that all outcomes of a campaign have in common, and one that those of a scenario have.
const COMMON_INPUTS: [&str; 8] = [
    "hardstand",
    "controller",
    "controller_files",
    "duration_s",
    "mode",
    "speed",
    "conditions",
    "measures",
];
const SCENARIO: &str = "scenario";
/// Longest value in a message.
const VALUE_CHARS_MAX: usize = 80;

impl Results {
    /// Those in `folder`.
    ///
    /// # Errors
    /// [`ErrorKind::File`] if it holds no `campaign.json` that can be read.
    pub fn open(folder: &Path) -> Result<Self> {
        let store = Store::new(folder.into());
        let manifest = store.manifest().map_err(|e| {
            let text = format!(
                "{}: {e}. It must be a folder of results; `hardstand campaign FILE --table` writes \
                 this file to one of an earlier version",
                folder.join(MANIFEST).display()
            );
            Error::new(ErrorKind::File, text)
        })?;
        let with_outcome = |case: Case| {
            let outcome = store.read(&case.id);
            (case, outcome)
        };
        let cases = manifest.cases().into_iter().map(with_outcome).collect();
        Ok(Self { folder: folder.into(), manifest, cases })
    }

    /// Refuses outcomes of several campaigns, which say nothing together.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] with a case, another one, and what differs.
    pub fn refuse_mixed(&self) -> Result<()> {
        let Some((_, first)) = self.finished().next() else { return Ok(()) };
        let mut of_scenario: BTreeMap<usize, &Outcome> = BTreeMap::new();
        for (case, outcome) in self.finished() {
            let same_scenario = *of_scenario.entry(case.scenario).or_insert(outcome);
            let all = COMMON_INPUTS.iter().map(|key| (*key, first));
            for (key, other) in all.chain([(SCENARIO, same_scenario)]) {
                let [here, there] = [outcome, other].map(|o| o.inputs.get(key));
                if here != there {
                    return Err(self.mixed(key, [outcome, other]));
                }
            }
        }
        Ok(())
    }

    fn mixed(&self, key: &str, outcomes: [&Outcome; 2]) -> Error {
        let value = |o: &Outcome| {
            let value = o.inputs.get(key).map_or("none".into(), ToString::to_string);
            value.chars().take(VALUE_CHARS_MAX).collect::<String>()
        };
        let ([here, there], [a, b]) = (outcomes.map(value), outcomes.map(|o| &o.case));
        let text = format!(
            "{}: the outcomes of {a} and {b} are of two campaigns: {key} is {here} and {there}. \
             Remove cases/{a} or cases/{b} and all that are like it, and run these again",
            self.folder.display()
        );
        Error::new(ErrorKind::Input, text)
    }

    /// Only the cases of these names.
    #[must_use]
    pub fn only(&self, names: &BTreeSet<&str>) -> Self {
        let cases = self.cases.iter().filter(|(case, _)| names.contains(case.id.as_str()));
        Self { cases: cases.cloned().collect(), ..self.clone() }
    }

    /// Those that are finished.
    pub fn finished(&self) -> impl Iterator<Item = (&Case, &Outcome)> {
        self.cases.iter().filter_map(|(case, outcome)| Some((case, outcome.as_ref()?)))
    }

    /// Judges a case by its outcome.
    #[must_use]
    pub fn judge(&self, outcome: Option<&Outcome>) -> Judgement {
        let Some(outcome) = outcome else {
            let why = "this case has not run, or was interrupted".into();
            return Judgement { grade: Grade::Unfinished, kind: "unfinished".into(), why };
        };
        let failing = self.manifest.failing(outcome);
        let done = outcome.outcome == Word::Done;
        let (grade, kind) = match (failing.is_empty(), done) {
            (false, _) => (Grade::Failed, failing.join(", ")),
            (true, true) => (Grade::Passed, String::new()),
            (true, false) => (Grade::Broken, outcome.outcome.word().into()),
        };
        let held = failing.iter().filter_map(|name| self.sentence(name, outcome));
        let mut why: Vec<String> = held.collect();
        if !done {
            why.insert(0, ending(outcome));
        }
        Judgement { grade, kind, why: why.join("; ") }
    }

    /// When a condition held, and the values that made it so.
    fn sentence(&self, name: &str, outcome: &Outcome) -> Option<String> {
        let Some(Held::AtS(at_s)) = outcome.conditions.get(name) else { return None };
        let text = self.manifest.conditions.iter().find(|(n, _)| n == name);
        let text = text.map_or("", |(_, text)| text);
        let Some(first) = outcome.first.get(name) else {
            return Some(format!("{name}: {text} held at {at_s:.3} s"));
        };
        let values = first.values.iter().map(|v| {
            let value = v.value.map_or("no number".into(), |x| format!("{x:.6}"));
            format!(", {} = {value} {}", v.name, v.unit).trim_end().to_string()
        });
        let values: String = values.collect();
        Some(format!("{name}: {text} held first at tick {} ({at_s:.3} s){values}", first.tick))
    }
}

fn ending(o: &Outcome) -> String {
    let why = if o.reason.is_empty() { "no reason is known" } else { &o.reason };
    format!("{} after {} ticks ({:.3} s): {why}", o.outcome.word(), o.ticks, o.time_s)
}
