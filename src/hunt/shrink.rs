//! Shrinks a case: the fewest events, the smallest numbers, with which it still happens.

use serde::Serialize;
use toml::Value;

use crate::optimize::SplitMix;
use hardstand_error::Result;

use super::judge::{Judge, Judged, Kind};
use super::space::{Candidate, Place};

/// Shares of the way to the least value that are tried at a time, and how often: a value is found
/// to 1/4³ of its way.
const SHARES: [f64; 3] = [0.75, 0.5, 0.25];
const ROUNDS: usize = 3;
/// Draws of an event that may do alone what several do.
const REDRAWN: usize = 16;
/// Most passes through all values: a smaller one can make another, or an event, needless.
const PASSES: usize = 6;

/// A number of a shrunk case and the nearest smaller one with which it does not happen.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Edge {
    /// What it is.
    pub name: String,
    /// In the case.
    pub value: String,
    /// With this one it does not happen.
    pub not_at: String,
}

/// A case with nothing in it that is not needed.
#[derive(Clone, Debug)]
pub struct Shrunk {
    /// The case.
    pub judged: Judged,
    /// Where its numbers begin to matter.
    pub edges: Vec<Edge>,
}

/// Takes away what `found` does not need, as long as the same thing happens; `seed` decides what is
/// tried where one event instead of several might do. `None` if the judge was stopped.
///
/// # Errors
/// Those of [`Judge::judge`].
pub fn shrink(judge: &mut Judge<'_>, found: Judged, seed: u64) -> Result<Option<Shrunk>> {
    let Some(now) = without_events(judge, found)? else { return Ok(None) };
    let Some(now) = with_one_event(judge, now, &mut SplitMix(seed))? else { return Ok(None) };
    let mut shrunk = Shrunk { judged: now, edges: Vec::new() };
    for _ in 0..PASSES {
        let before = shrunk.judged.case.clone();
        let Some(smaller) = with_smaller_values(judge, shrunk.judged)? else { return Ok(None) };
        let case = smaller.judged.case.clone();
        let Some(now) = without_events(judge, smaller.judged)? else { return Ok(None) };
        let edges = if now.case == case { smaller.edges } else { Vec::new() };
        shrunk = Shrunk { judged: now, edges };
        if shrunk.judged.case == before {
            break;
        }
    }
    Ok(Some(shrunk))
}

/// Moves each value once. What is known of the others after one has moved does not count.
fn with_smaller_values(judge: &mut Judge<'_>, found: Judged) -> Result<Option<Shrunk>> {
    let (mut now, mut edges) = (found, Vec::new());
    for place in now.case.places() {
        let before = now.case.clone();
        let Some((smaller, edge)) = with_smaller(judge, now, place)? else { return Ok(None) };
        now = smaller;
        if now.case != before {
            edges.clear();
        }
        edges.extend(edge);
    }
    Ok(Some(Shrunk { judged: now, edges }))
}

/// Removes events: all but one, halves, single ones, as delta debugging does (Zeller & Hildebrandt
/// 2002).
fn without_events(judge: &mut Judge<'_>, found: Judged) -> Result<Option<Judged>> {
    let mut now = found;
    let mut parts = 2;
    while now.case.events() > 0 {
        let there: Vec<usize> = (0..now.case.slots.len()).filter(|i| is_there(&now, *i)).collect();
        let parts_now = parts.min(there.len());
        let chunks: Vec<&[usize]> = there.chunks(there.len().div_ceil(parts_now)).collect();
        // each part alone, then all but one part; none at all first
        let mut cases = vec![keep_only(&now.case, &[])];
        cases.extend(chunks.iter().map(|chunk| keep_only(&now.case, chunk)));
        for i in 0..chunks.len() {
            let rest: Vec<usize> = chunks
                .iter()
                .enumerate()
                .filter(|(k, _)| *k != i)
                .flat_map(|(_, c)| c.to_vec())
                .collect();
            cases.push(keep_only(&now.case, &rest));
        }
        cases.retain(|case| case.events() < now.case.events());
        match first_of(judge, &cases, now.kind)? {
            None => return Ok(None),
            Some(Some(smaller)) => (now, parts) = (smaller, 2),
            Some(None) if parts_now < there.len() => parts = parts_now * 2,
            Some(None) => break,
        }
    }
    Ok(Some(now))
}

/// Where none of several events can go, each of them alone with other values: two weak pushes in a
/// row, say, are found more easily than a strong one, and say less.
fn with_one_event(
    judge: &mut Judge<'_>,
    now: Judged,
    random: &mut SplitMix,
) -> Result<Option<Judged>> {
    if now.case.events() < 2 {
        return Ok(Some(now));
    }
    for slot in (0..now.case.slots.len()).filter(|i| is_there(&now, *i)) {
        let alone = keep_only(&now.case, &[slot]);
        let drawn = |_| {
            let places = alone.places().into_iter().filter(|p| matches!(p, Place::Slot(..)));
            places.fold(alone.clone(), |case, place| {
                let value = judge.space().draw(place).at(random.uniform());
                case.with(place, Some(value))
            })
        };
        let cases: Vec<Candidate> = (0..REDRAWN).map(drawn).collect();
        match first_of(judge, &cases, now.kind)? {
            None => return Ok(None),
            Some(Some(one)) => return without_events(judge, one),
            Some(None) => {}
        }
    }
    Ok(Some(now))
}

fn is_there(judged: &Judged, slot: usize) -> bool {
    judged.case.slots[slot].is_some()
}

fn keep_only(case: &Candidate, slots: &[usize]) -> Candidate {
    let mut kept = case.clone();
    for (_, slot) in kept.slots.iter_mut().enumerate().filter(|(i, _)| !slots.contains(i)) {
        *slot = None;
    }
    kept
}

/// The first of these cases in which the same happens. The outer `None`: it was stopped.
fn first_of(
    judge: &mut Judge<'_>,
    cases: &[Candidate],
    kind: Option<Kind>,
) -> Result<Option<Option<Judged>>> {
    let judged = judge.judge(cases)?;
    Ok(judged.map(|all| all.into_iter().find(|j| j.kind == kind)))
}

/// Moves one value towards the one with the least effect, as far as the same happens.
fn with_smaller(
    judge: &mut Judge<'_>,
    now: Judged,
    place: Place,
) -> Result<Option<(Judged, Option<Edge>)>> {
    let Some(mut happens) = now.case.value(place).cloned() else { return Ok(Some((now, None))) };
    let least = judge.space().with_least(&now.case, place);
    if least == now.case {
        return Ok(Some((now, None)));
    }
    let kind = now.kind;
    let Some(mut judged) = judge.judge(&[least])? else { return Ok(None) };
    let tried = judged.remove(0);
    if tried.kind == kind {
        return Ok(Some((tried, None)));
    }
    let mut bound = Bound {
        value: judge.space().least(place),
        words: judge.space().least_words(place),
        is_case: !tried.is_refused(),
    };
    let mut now = now;
    for _ in 0..ROUNDS {
        let draw = judge.space().draw(place);
        let between = |share: &f64| draw.between(&happens, &bound.value, *share);
        let values: Vec<Value> = SHARES.iter().map(between).collect();
        let cases: Vec<Candidate> =
            values.iter().map(|v| now.case.with(place, Some(v.clone()))).collect();
        let Some(judged) = judge.judge(&cases)? else { return Ok(None) };
        // the farthest one with which it happens; the one beyond it does not
        let found = judged.iter().position(|j| j.kind == kind);
        let beyond = found.map_or(Some(SHARES.len() - 1), |i| i.checked_sub(1));
        if let Some(i) = beyond {
            bound = Bound {
                value: values[i].clone(),
                words: values[i].to_string(),
                is_case: !judged[i].is_refused(),
            };
        }
        if let Some(i) = found {
            (now, happens) = (judged[i].clone(), values[i].clone());
        }
        if happens == bound.value {
            break;
        }
    }
    let is_number = !matches!(happens, Value::String(_)) && happens != bound.value;
    let edge = Edge {
        name: judge.space().name(&now.case, place),
        value: happens.to_string(),
        not_at: bound.words,
    };
    Ok(Some((now, (is_number && bound.is_case).then_some(edge))))
}

/// The nearest value with which it does not happen.
struct Bound {
    value: Value,
    words: String,
    /// The scenario does not refuse it.
    is_case: bool,
}
