//! The search: at random first, then towards the condition.

use crate::optimize::{Search, SplitMix};
use hardstand_error::Result;

use super::judge::{Judge, Judged};
use super::space::Candidate;

/// Cases of a step. It does not depend on how many run at a time, for then neither would the way.
const BATCH: usize = 8;
/// A search whose points lie this close to each other begins somewhere else.
const STEP_MIN: f64 = 0.01;
/// So does one that has not come nearer for so many steps.
const PATIENCE: usize = 8;
/// Points of which the farthest from all cases is where a search begins.
const FAR: usize = 64;
/// After so many steps without a case that is new there is none left.
const REPEATED_MAX: usize = 32;
/// Spread of the first points of a search, of the range of each value.
const STEP: f64 = 0.25;

/// How long a search goes on.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Most cases.
    pub cases: usize,
    /// Cases at random before the search is guided.
    pub random: usize,
    /// Seed of the search.
    pub seed: u64,
}

/// After each step.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Cases so far.
    pub cases: usize,
    /// The largest margin so far.
    pub best: f64,
    /// The step was drawn at random.
    pub at_random: bool,
}

/// Looks for a case: the first one in which the condition holds, or in which something fails. The
/// scenario itself is the first that is tried. `watch` gets the progress after each step. `None` if
/// there was none, or the judge was stopped.
///
/// # Errors
/// Those of [`Judge::judge`].
pub fn search(
    judge: &mut Judge<'_>,
    limits: &Limits,
    watch: &mut dyn FnMut(Progress),
) -> Result<Option<Judged>> {
    let genes = judge.space().genes();
    let mut random = SplitMix(limits.seed);
    let mut tried: Vec<(Vec<f64>, f64)> = Vec::new();
    let Some(mut first) = judge.judge(&[judge.space().usual()])? else { return Ok(None) };
    let first = first.remove(0);
    watch(Progress { cases: 1, best: margin(&first), at_random: true });
    if first.kind.is_some() {
        return Ok(Some(first));
    }
    let (mut guide, mut guides): (Option<Guide>, u64) = (None, 0);
    let mut repeated = 0;
    while judge.count() < limits.cases && repeated < REPEATED_MAX {
        let at_random = tried.len() < limits.random;
        let points: Vec<Vec<f64>> = if at_random {
            (0..BATCH).map(|_| (0..genes).map(|_| random.uniform()).collect()).collect()
        } else {
            let guide = guide.get_or_insert_with(|| {
                guides += 1;
                Guide::new(genes, &tried, guides, &mut random)
            });
            guide.search.ask().iter().map(|p| p.iter().map(|x| reflected(*x)).collect()).collect()
        };
        let before = judge.count();
        let rest = points.iter().take(limits.cases - before);
        let cases: Vec<Candidate> = rest.map(|p| judge.space().candidate(p)).collect();
        let Some(judged) = judge.judge(&cases)? else { return Ok(None) };
        let margins: Vec<f64> = judged.iter().map(margin).collect();
        tried.extend(points.into_iter().zip(margins.iter().copied()));
        let best = tried.iter().map(|(_, m)| *m).fold(margin(&first), f64::max);
        watch(Progress { cases: judge.count(), best, at_random });
        if let Some(found) = judged.into_iter().find(|j| j.kind.is_some()) {
            return Ok(Some(found));
        }
        repeated = if judge.count() == before { repeated + 1 } else { 0 };
        if margins.len() < BATCH {
            break;
        }
        if guide.as_mut().is_some_and(|guide| guide.is_over(&margins)) {
            guide = None;
        }
    }
    Ok(None)
}

/// A guided search, until it does not come nearer.
struct Guide {
    search: Search,
    best: f64,
    idle: usize,
}

impl Guide {
    /// Guides with odd numbers begin at the best case so far, the others far from all cases.
    fn new(genes: usize, tried: &[(Vec<f64>, f64)], number: u64, random: &mut SplitMix) -> Self {
        let mut drawn = || (0..genes).map(|_| random.uniform()).collect::<Vec<f64>>();
        let distance =
            |p: &Vec<f64>| tried.iter().map(|(q, _)| square(p, q)).fold(f64::INFINITY, f64::min);
        let begin = if number.is_multiple_of(2) {
            let new = (0..FAR).map(|_| drawn());
            new.max_by(|a, b| distance(a).total_cmp(&distance(b)))
        } else {
            tried.iter().max_by(|a, b| a.1.total_cmp(&b.1)).map(|(point, _)| point.clone())
        };
        let begin = begin.unwrap_or_else(|| vec![0.5; genes]);
        // each has numbers of its own: those with odd numbers draw nothing
        let seed = random.0 ^ number.wrapping_mul(0xd134_2543_de82_ef95);
        let search = Search::new(&begin, STEP, BATCH, seed);
        Self { search, best: f64::NEG_INFINITY, idle: 0 }
    }

    /// Takes the margins of its points.
    fn is_over(&mut self, margins: &[f64]) -> bool {
        let costs: Vec<f64> = margins.iter().map(|m| -m).collect();
        self.search.tell(&costs);
        let best = margins.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        self.idle = if best > self.best { 0 } else { self.idle + 1 };
        self.best = self.best.max(best);
        self.idle >= PATIENCE || self.search.step() < STEP_MIN
    }
}

fn square(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// A gene outside of 0 to 1, thrown back at the border.
fn reflected(x: f64) -> f64 {
    let x = x.abs() % 2.0;
    if x > 1.0 { 2.0 - x } else { x }
}

fn margin(judged: &Judged) -> f64 {
    judged.margin().unwrap_or(f64::NEG_INFINITY)
}
