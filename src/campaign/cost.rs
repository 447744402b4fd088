//! What a campaign will take, from the cases that are finished.

use serde::Serialize;

use super::outcome::Outcome;
use super::plan::{Case, Plan};
use super::statistics::PairedMean;
use super::store::Store;

/// The size of a campaign, and what its finished cases took.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cost {
    /// All cases of the file.
    pub cases: usize,
    /// Counts whose product they are.
    pub scenarios: usize,
    /// See `scenarios`.
    pub faults: usize,
    /// See `scenarios`.
    pub seeds: usize,
    /// Simulated time of each case, s.
    pub duration_s: f64,
    /// Cases with an outcome that is a verdict, of the same scenario, changes and duration.
    pub finished: usize,
    /// Mean of the wall time of a finished case, s, and half of the width of its 95 % interval.
    pub case_s: Option<f64>,
    /// See `case_s`; `None` of a single case.
    pub half_width_s: Option<f64>,
    /// What all cases take on one worker, s: of each group its mean, of a group without a finished
    /// case the mean of all.
    pub all_s: Option<f64>,
    /// The same for the cases without an outcome, s.
    pub open_s: Option<f64>,
    /// Each scenario with each fault.
    pub groups: Vec<GroupCost>,
}

/// What the cases of a scenario with a fault took.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GroupCost {
    /// Name of the scenario.
    pub scenario: String,
    /// Name of the fault.
    pub fault: String,
    /// Its cases.
    pub cases: usize,
    /// Those that are finished.
    pub finished: usize,
    /// Mean, least and largest wall time of these, s.
    pub case_s: Option<f64>,
    /// See `case_s`.
    pub least_s: Option<f64>,
    /// See `case_s`.
    pub most_s: Option<f64>,
}

impl Cost {
    /// Of a plan, with the finished cases of `store`.
    #[must_use]
    pub fn of(plan: &Plan, store: &Store) -> Self {
        let (mut groups, mut all) = (Vec::new(), Vec::new());
        let cases = plan.cases();
        let same = |a: &Case, b: &Case| (a.scenario, a.fault) == (b.scenario, b.fault);
        for group in cases.chunk_by(same) {
            let Some(first) = group.first() else { continue };
            let walls_s: Vec<f64> =
                group.iter().filter_map(|case| Some(measured(plan, store, case)?.wall_s)).collect();
            groups.push(GroupCost {
                scenario: plan.scenarios[first.scenario].name.clone(),
                fault: plan.faults[first.fault].name.clone(),
                cases: group.len(),
                finished: walls_s.len(),
                case_s: PairedMean::of(&walls_s, CONFIDENCE).map(|mean| mean.mean),
                least_s: walls_s.iter().copied().reduce(f64::min),
                most_s: walls_s.iter().copied().reduce(f64::max),
            });
            all.extend(walls_s);
        }
        let mean = PairedMean::of(&all, CONFIDENCE);
        let case_s = mean.map(|mean| mean.mean);
        let sum_s = |count: fn(&GroupCost) -> usize| {
            let group_s = |g: &GroupCost| Some(count(g) as f64 * g.case_s.or(case_s)?);
            groups.iter().map(group_s).sum::<Option<f64>>()
        };
        Self {
            cases: cases.len(),
            scenarios: plan.scenarios.len(),
            faults: plan.faults.len(),
            seeds: plan.seeds.len(),
            duration_s: plan.duration_s,
            finished: all.len(),
            case_s,
            half_width_s: mean.and_then(|mean| mean.half_width),
            all_s: sum_s(|g| g.cases),
            open_s: sum_s(|g| g.cases - g.finished),
            groups,
        }
    }
}

const CONFIDENCE: f64 = 0.95;

/// The outcome of a case, unless its daemon failed, or it is one of another scenario, with other
/// changes, or of another duration: the controller's command may not be known yet.
fn measured(plan: &Plan, store: &Store, case: &Case) -> Option<Outcome> {
    let outcome = store.read(&case.id).filter(|outcome| outcome.outcome.is_verdict())?;
    let now = plan.inputs(case);
    super::comparison::IDENTITY
        .iter()
        .all(|key| outcome.inputs.get(key) == now.get(key))
        .then_some(outcome)
}
