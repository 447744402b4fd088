//! Compares the results of two campaigns, case by case.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use hardstand_error::{Error, ErrorKind, Result};

use super::outcome::{Outcome, Word};
use super::plan::Case;
use super::results::{Grade, Results};
use super::statistics::{PairedMean, sign_test};

/// Two campaigns, a before and b after, compared by the cases that they share.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// Cases that are finished in both, with the same scenario, changes and duration.
    pub compared: usize,
    /// Of these, those whose last digests are equal: they were the same run.
    pub identical: usize,
    /// Of these, those that passed in both, and in neither.
    pub passed: usize,
    /// See `passed`.
    pub failed: usize,
    /// Passed in a, not in b.
    pub worse: Vec<Change>,
    /// Not in a, passed in b.
    pub better: Vec<Change>,
    /// Inputs that differ in all of these: `hardstand`, `controller`, ….
    pub inputs: Vec<String>,
    /// Cases of both names that are not compared, because they are not the same case.
    pub other_inputs: Vec<Other>,
    /// Cases only of a, and only of b.
    pub only_a: Vec<String>,
    /// See `only_a`.
    pub only_b: Vec<String>,
    /// Cases of both that have no outcome in a, and in b, or one whose daemon failed.
    pub unfinished_a: Vec<String>,
    /// See `unfinished_a`.
    pub unfinished_b: Vec<String>,
    /// Confidence of all intervals.
    pub confidence: f64,
    /// All cases that are compared, taken by their seeds.
    pub total: Group,
    /// Each scenario with each fault.
    pub groups: Vec<Group>,
}

/// A case that passes in one campaign only.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// Its name.
    pub case: String,
    /// Why it does not pass in the other one.
    pub why: String,
}

/// A case that has another meaning in each campaign.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Other {
    /// Its name.
    pub case: String,
    /// The inputs that differ.
    pub inputs: Vec<String>,
}

/// Cases that are judged together.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Group {
    /// Their scenario; empty for all.
    pub scenario: String,
    /// Their fault.
    pub fault: String,
    /// How many cases they are.
    pub cases: usize,
    /// Independent pairs among them: seeds whose runs are not all equal to those of another seed.
    pub pairs: usize,
    /// Pairs that became worse, and better.
    pub worse: usize,
    /// See `worse`.
    pub better: usize,
    /// Exact two-sided sign test of these: the probability of a division at least as uneven if
    /// neither campaign is better.
    pub p: f64,
    /// Differences b − a of measures that both have.
    pub measures: Vec<Difference>,
}

/// The difference of a measure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// Its name.
    pub measure: String,
    /// Mean in a.
    pub mean_a: f64,
    /// Mean in b.
    pub mean_b: f64,
    /// Mean of the paired differences, and its interval.
    #[serde(flatten)]
    pub difference: PairedMean,
    /// The interval does not contain 0.
    pub differs: bool,
}

/// A shared case: its seed, and what came out in a and b.
struct Pair<'a> {
    case: &'a Case,
    outcomes: [&'a Outcome; 2],
    passed: [bool; 2],
}

/// Inputs that make a case what it is; the others are what is compared.
pub(super) const IDENTITY: [&str; 5] = ["scenario", "changes", "duration_s", "mode", "speed"];

impl Comparison {
    /// Compares `a` and `b`. Both are judged by the `fail_if` of `b`.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] if they share no finished case, or if `fail_if` of `b` names a
    /// condition that `a` has not evaluated.
    pub fn of(a: &Results, b: &Results, confidence: f64) -> Result<Self> {
        let a = &judged_as(a, b)?;
        let of_a: BTreeMap<&str, &Option<Outcome>> =
            a.cases.iter().map(|(case, o)| (case.id.as_str(), o)).collect();
        let names_b: BTreeSet<&str> = b.cases.iter().map(|(case, _)| case.id.as_str()).collect();
        let mut found = Self::empty(confidence);
        let missing = a.cases.iter().filter(|(case, _)| !names_b.contains(case.id.as_str()));
        found.only_a = missing.map(|(case, _)| case.id.clone()).collect();
        let mut pairs = Vec::new();
        for (case, after) in &b.cases {
            let before = of_a.get(case.id.as_str()).map(|before| verdict(before.as_ref()));
            match (before, verdict(after.as_ref())) {
                (None, _) => found.only_b.push(case.id.clone()),
                (Some(Some(before)), Some(after)) => {
                    let other = differing(before, after, &IDENTITY);
                    if !other.is_empty() {
                        found.other_inputs.push(Other { case: case.id.clone(), inputs: other });
                        continue;
                    }
                    let passed = [a.judge(Some(before)), b.judge(Some(after))]
                        .map(|judged| judged.grade == Grade::Passed);
                    pairs.push(Pair { case, outcomes: [before, after], passed });
                }
                (Some(before), after) => {
                    if before.is_none() {
                        found.unfinished_a.push(case.id.clone());
                    }
                    if after.is_none() {
                        found.unfinished_b.push(case.id.clone());
                    }
                }
            }
        }
        if pairs.is_empty() {
            return Err(found.nothing_shared(a, b));
        }
        found.count(&pairs, a, b);
        Ok(found)
    }

    fn empty(confidence: f64) -> Self {
        Self {
            compared: 0,
            identical: 0,
            passed: 0,
            failed: 0,
            worse: Vec::new(),
            better: Vec::new(),
            inputs: Vec::new(),
            other_inputs: Vec::new(),
            only_a: Vec::new(),
            only_b: Vec::new(),
            unfinished_a: Vec::new(),
            unfinished_b: Vec::new(),
            confidence,
            total: Group::default(),
            groups: Vec::new(),
        }
    }

    fn nothing_shared(&self, a: &Results, b: &Results) -> Error {
        let why = match self.other_inputs.first() {
            Some(other) => format!(
                "{} cases have the same names, but they are other cases: {} of {} differs",
                self.other_inputs.len(),
                other.inputs.join(", "),
                other.case
            ),
            None if self.unfinished_a.len() + self.unfinished_b.len() > 0 => {
                "no case is finished in both".into()
            }
            None => "no case of one has the name of a case of the other".into(),
        };
        let [a, b] = [a, b].map(|r| r.folder.display().to_string());
        let text = format!(
            "{a} and {b} cannot be compared: {why}. Compare results of one campaign with two \
             controllers or two versions, or of two campaigns that share cases"
        );
        Error::new(ErrorKind::Input, text)
    }

    fn count(&mut self, pairs: &[Pair<'_>], a: &Results, b: &Results) {
        self.compared = pairs.len();
        let mut inputs = BTreeSet::new();
        for pair in pairs {
            let [before, after] = pair.outcomes;
            let ran = !before.digest.is_empty();
            self.identical += usize::from(ran && before.digest == after.digest);
            inputs.extend(differing(
                before,
                after,
                &["hardstand", "controller", "controller_files"],
            ));
            let case = pair.case.id.clone();
            match pair.passed {
                [true, true] => self.passed += 1,
                [false, false] => self.failed += 1,
                [true, false] => {
                    self.worse.push(Change { case, why: b.judge(Some(after)).why });
                }
                [false, true] => {
                    self.better.push(Change { case, why: a.judge(Some(before)).why });
                }
            }
        }
        self.inputs = inputs.into_iter().collect();
        let measures: Vec<&str> = b
            .manifest
            .measures
            .iter()
            .filter(|m| a.manifest.measures.contains(m))
            .map(|(name, _)| name.as_str())
            .collect();
        let same_group =
            |p: &Pair<'_>, q: &Pair<'_>| b.manifest.names(p.case) == b.manifest.names(q.case);
        for group in pairs.chunk_by(same_group) {
            let [scenario, fault] =
                group.first().map_or(["", ""], |pair| b.manifest.names(pair.case));
            let mut judged = Group::of(group, &measures, self.confidence);
            (judged.scenario, judged.fault) = (scenario.into(), fault.into());
            self.groups.push(judged);
        }
        self.total = Group::of(pairs, &measures, self.confidence);
    }
}

/// The outcome, if it says something about the case.
fn verdict(outcome: Option<&Outcome>) -> Option<&Outcome> {
    outcome.filter(|outcome| outcome.outcome.is_verdict())
}

/// `a` with the `fail_if` of `b`, whose conditions it must have evaluated.
fn judged_as(a: &Results, b: &Results) -> Result<Results> {
    let has = |name: &&String| {
        let condition = b.manifest.conditions.iter().find(|(n, _)| n == *name);
        Word::ALL.iter().any(|w| w.word() == **name)
            || condition.is_some_and(|condition| a.manifest.conditions.contains(condition))
    };
    if let Some(name) = b.manifest.fail_if.iter().find(|name| !has(name)) {
        let text = format!(
            "{} is judged by the condition \"{name}\", which {} has not evaluated, or with another \
             text: run one of them again",
            b.folder.display(),
            a.folder.display()
        );
        return Err(Error::new(ErrorKind::Input, text));
    }
    let mut a = a.clone();
    a.manifest.fail_if.clone_from(&b.manifest.fail_if);
    Ok(a)
}

/// Of these inputs, those that differ.
fn differing(a: &Outcome, b: &Outcome, keys: &[&str]) -> Vec<String> {
    let differs = |key: &&&str| a.inputs.get(**key) != b.inputs.get(**key);
    keys.iter().filter(differs).map(ToString::to_string).collect()
}

impl Group {
    /// Judges pairs by their seeds, which are what is independent: cases of one seed share what it
    /// draws. Seeds whose runs are equal in all their cases, in both campaigns, are one: there the
    /// seed decides nothing.
    fn of(pairs: &[Pair<'_>], measures: &[&str], confidence: f64) -> Self {
        let mut by_seed: BTreeMap<u32, Vec<&Pair<'_>>> = BTreeMap::new();
        pairs.iter().for_each(|pair| by_seed.entry(pair.case.seed).or_default().push(pair));
        let mut seen = BTreeSet::new();
        by_seed.retain(|_, of_seed| seen.insert(fingerprint(of_seed)));
        let mut group = Self { cases: pairs.len(), pairs: by_seed.len(), ..Self::default() };
        for of_seed in by_seed.values() {
            let count = |passed| of_seed.iter().filter(|pair| pair.passed == passed).count();
            match count([true, false]).cmp(&count([false, true])) {
                std::cmp::Ordering::Greater => group.worse += 1,
                std::cmp::Ordering::Less => group.better += 1,
                std::cmp::Ordering::Equal => {}
            }
        }
        group.p = sign_test(group.worse, group.better);
        let most = by_seed.values().map(Vec::len).max().unwrap_or(0);
        for name in measures {
            // a seed that lacks a case would be the mean of others
            let whole = by_seed.values().filter(|of_seed| of_seed.len() == most);
            let means: Vec<[f64; 2]> = whole.filter_map(|seed| means(seed, name)).collect();
            let differences: Vec<f64> = means.iter().map(|[a, b]| b - a).collect();
            let Some(difference) = PairedMean::of(&differences, confidence) else { continue };
            let mean = |k: usize| means.iter().map(|m| m[k]).sum::<f64>() / means.len() as f64;
            group.measures.push(Difference {
                measure: (*name).into(),
                mean_a: mean(0),
                mean_b: mean(1),
                differs: difference.differs(),
                difference,
            });
        }
        group
    }
}

/// What is equal for seeds that decide nothing: the names but for the seed, and both digests.
fn fingerprint(of_seed: &[&Pair<'_>]) -> Vec<(usize, usize, String, String, [bool; 2])> {
    let of = |pair: &&Pair<'_>| {
        let [a, b] = pair.outcomes;
        let Pair { case, passed, .. } = pair;
        (case.scenario, case.fault, a.digest.clone(), b.digest.clone(), *passed)
    };
    of_seed.iter().map(of).collect()
}

/// Means of a measure over the cases of a seed, in a and b; none if one of them lacks it.
fn means(of_seed: &[&Pair<'_>], name: &str) -> Option<[f64; 2]> {
    let mut sums = [0.0; 2];
    for pair in of_seed {
        for (sum, outcome) in sums.iter_mut().zip(pair.outcomes) {
            *sum += outcome.measures.get(name).copied().flatten()?;
        }
    }
    Some(sums.map(|sum| sum / of_seed.len() as f64))
}
