//! Compares two runs: the first difference, its cause, and the quantities that differ most.

use std::collections::BTreeMap;

use crate::replay::{Player, TickView};
use crate::simulation::PartNames;
use hardstand_error::Result;
use hardstand_log::TickId;

use super::cause::{self, Cause, Names};
use super::mismatch::Mismatch;
use super::{Quantities, Quantity, Role};

/// The comparison of two runs.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// Ticks that both have.
    pub ticks: u64,
    /// The first of them.
    pub first: Option<TickId>,
    /// The last of them.
    pub last: Option<TickId>,
    /// The run that has more ticks after the last common one: 0 or 1.
    pub goes_on: Option<usize>,
    /// The first tick with different inputs, and the difference.
    pub inputs: Option<(TickId, Cause)>,
    /// The first tick after which a published quantity differs, and which, with both values.
    pub quantity: Option<(TickId, Mismatch)>,
    /// The first tick after which the digests differ: of the complete state, session numbers too.
    pub digest: Option<TickId>,
    /// The first tick with different joins or leaves, and the difference.
    pub leases: Option<(TickId, Mismatch)>,
    /// Sessions with other numbers have joined or sent commands: that alone makes digests differ.
    pub sessions: bool,
    /// The cause of the first difference; `None` if there is none.
    pub cause: Option<Cause>,
    /// All quantities that differ, the one that differs most first.
    pub ranked: Vec<Ranked>,
}

/// A quantity that differs.
#[derive(Clone, Debug)]
pub struct Ranked {
    /// Its name.
    pub name: String,
    /// Its unit.
    pub unit: &'static str,
    /// Root mean square of its difference, from the tick on at which the runs part, as a share of
    /// its range: from its smallest to its largest value in both runs.
    pub share: f64,
    /// Where it differs first.
    pub first: TickId,
    /// Its largest difference.
    pub largest: f64,
    /// Where that is.
    pub largest_at: TickId,
    /// Both values there.
    pub values: [f64; 2],
}

/// A quantity in both runs.
struct Track<'a> {
    of: [&'a Quantity; 2],
    range: [f64; 2],
    squares: f64,
    first: Option<TickId>,
    largest: f64,
    largest_at: TickId,
    values: [f64; 2],
    missing: bool,
}

/// Compares two runs, tick by tick; ticks with the same run number and tick number belong together.
/// `progress` gets the ticks compared now and then.
///
/// # Errors
/// As [`Player::advance`].
pub fn compare(
    a: &mut Player,
    b: &mut Player,
    mut progress: impl FnMut(u64, &Player),
) -> Result<Comparison> {
    let known = [&*a, &*b].map(|p| Quantities::of(&p.scenario().simulation()));
    let mut tracks = pairs(&known);
    let model = a.scenario().model.clone();
    let named = [&*a, &*b].map(|p| p.scenario().control.controllers.clone());
    let names = Names::of(named.iter().flatten(), PartNames::of(&model, &a.scenario().spec));
    let mut found = Comparison::default();
    let (mut differing, mut began_apart) = (0_u64, false);
    let goes_on = in_step(a, b, |a, b, at| {
        let (Some(x), Some(y)) = (a.view(), b.view()) else { return };
        if found.first.is_none() {
            found.first = Some(at);
            began_apart = a.digest_before() != b.digest_before();
        }
        found.ticks += 1;
        found.last = Some(at);
        let sessions = |m: &TickView<'_>| m.applied.candidates.iter().map(|o| o.session).max();
        if found.leases.is_none() {
            found.leases = cause::of_leases(&x, &y, &names).map(|text| (at, text));
        }
        found.sessions |= sessions(&x) != sessions(&y) || found.leases.is_some();
        if x.applied.digest != y.applied.digest {
            found.digest.get_or_insert(at);
        }
        if found.inputs.is_none() {
            found.inputs = cause::of_inputs(&x, &y, &model, &names).map(|cause| (at, cause));
        }
        let texts = tracks.iter_mut().filter_map(|track| track.add(&x, &y, at));
        // the first one names it, but all have to be added
        let text = texts.reduce(|first, _| first);
        if let (None, Some(text)) = (&found.quantity, text) {
            found.quantity = Some((at, text));
        }
        differing += u64::from(found.quantity.is_some() || found.inputs.is_some());
        if found.ticks.is_multiple_of(1024) {
            progress(found.ticks, a);
        }
    })?;
    found.goes_on = goes_on;
    let began_apart = began_apart && !found.sessions;
    found.cause = found.caused(began_apart);
    found.ranked = tracks.iter().filter_map(|track| track.ranked(differing)).collect();
    found.ranked.sort_by(|a, b| b.share.total_cmp(&a.share).then_with(|| a.name.cmp(&b.name)));
    Ok(found)
}

impl Comparison {
    /// The first tick in which the runs differ in anything but session numbers.
    #[must_use]
    pub fn parted(&self) -> Option<TickId> {
        let digest = self.digest.filter(|_| !self.sessions);
        let quantity = self.quantity.as_ref().map(|(at, _)| *at);
        let inputs = self.inputs.as_ref().map(|(at, _)| *at);
        [digest, quantity, inputs].into_iter().flatten().min()
    }

    fn caused(&self, began_apart: bool) -> Option<Cause> {
        let parted = self.parted()?;
        match &self.inputs {
            Some((at, cause)) if *at == parted => Some(cause.clone()),
            _ if began_apart && self.first == Some(parted) => Some(Cause::Beginning),
            _ => Some(Cause::Plant),
        }
    }
}

/// Goes through both runs with `look` at each tick that both have; says which one goes on.
fn in_step(
    a: &mut Player,
    b: &mut Player,
    mut look: impl FnMut(&Player, &Player, TickId),
) -> Result<Option<usize>> {
    let (mut more_a, mut more_b) = (a.advance()?, b.advance()?);
    while more_a && more_b {
        let (Some(x), Some(y)) = (a.position(), b.position()) else { break };
        if x == y {
            look(a, b, x);
        }
        if x <= y {
            more_a = a.advance()?;
        }
        if y <= x {
            more_b = b.advance()?;
        }
    }
    Ok(if more_a { Some(0) } else { more_b.then_some(1) })
}

/// The quantities that both robots have.
fn pairs(known: &[Quantities; 2]) -> Vec<Track<'_>> {
    let others: BTreeMap<&str, &Quantity> =
        known[1].list().iter().map(|q| (q.name.as_str(), q)).collect();
    let compared = known[0].list().iter().filter(|q| q.role != Role::Label);
    compared.filter_map(|q| Some(Track::new([q, others.get(q.name.as_str())?]))).collect()
}

impl<'a> Track<'a> {
    fn new(of: [&'a Quantity; 2]) -> Self {
        Self {
            of,
            range: [f64::INFINITY, f64::NEG_INFINITY],
            squares: 0.0,
            first: None,
            largest: -1.0,
            largest_at: TickId::default(),
            values: [0.0; 2],
            missing: false,
        }
    }

    /// Adds a tick. Gives both values if the quantity is a result and differs for the first time.
    fn add(&mut self, x: &TickView<'_>, y: &TickView<'_>, at: TickId) -> Option<Mismatch> {
        let (a, b) = (self.of[0].of(x), self.of[1].of(y));
        if a.is_nan() || b.is_nan() {
            self.missing = true;
            return None;
        }
        self.range = [self.range[0].min(a).min(b), self.range[1].max(a).max(b)];
        if a.to_bits() == b.to_bits() {
            return None;
        }
        let difference = (a - b).abs();
        self.squares += difference * difference;
        if difference > self.largest {
            (self.largest, self.largest_at, self.values) = (difference, at, [a, b]);
        }
        let new = self.first.replace(self.first.unwrap_or(at)).is_none();
        let result = matches!(self.of[0].role, Role::Measure | Role::Detail);
        (new && result).then(|| Mismatch::of_numbers(self.of[0].name.clone(), a, b))
    }

    fn ranked(&self, ticks: u64) -> Option<Ranked> {
        let first = self.first.filter(|_| !self.missing)?;
        let range = self.range[1] - self.range[0];
        let share = (self.squares / ticks.max(1) as f64).sqrt() / range;
        let of = self.of[0];
        (share > 0.0 && of.role != Role::Detail).then(|| Ranked {
            name: of.name.clone(),
            unit: of.unit,
            share,
            first,
            largest: self.largest,
            largest_at: self.largest_at,
            values: self.values,
        })
    }
}

/// A quantity in both runs over time, in columns: smallest and largest value in each.
#[derive(Clone, Debug)]
pub struct Trace {
    /// Its name.
    pub name: String,
    /// Its unit.
    pub unit: &'static str,
    /// Per run and column.
    pub columns: [Vec<Option<[f64; 2]>>; 2],
}

/// The values of `names` over the ticks that both runs have from `from` on: `count` of them.
///
/// # Errors
/// As [`Player::advance`].
pub fn trace(
    a: &mut Player,
    b: &mut Player,
    names: &[String],
    from: TickId,
    count: u64,
    columns: usize,
) -> Result<Vec<Trace>> {
    let known = [&*a, &*b].map(|p| Quantities::of(&p.scenario().simulation()));
    let found = |name: &String| Some([known[0].find(name)?, known[1].find(name)?]);
    let shown: Vec<[&Quantity; 2]> = names.iter().filter_map(found).collect();
    let mut traces: Vec<Trace> = shown
        .iter()
        .map(|of| Trace {
            name: of[0].name.clone(),
            unit: of[0].unit,
            columns: [vec![None; columns], vec![None; columns]],
        })
        .collect();
    let mut tick = 0_u64;
    in_step(a, b, |a, b, at| {
        let (Some(x), Some(y)) = (a.view(), b.view()) else { return };
        if at < from {
            return;
        }
        let column = (tick * columns as u64 / count.max(1)) as usize;
        tick += 1;
        for (of, trace) in shown.iter().zip(&mut traces) {
            for (side, m) in [x, y].iter().enumerate() {
                let value = of[side].of(m);
                if let Some(slot) = trace.columns[side].get_mut(column).filter(|_| !value.is_nan())
                {
                    let [low, high] = slot.unwrap_or([value; 2]);
                    *slot = Some([low.min(value), high.max(value)]);
                }
            }
        }
    })?;
    Ok(traces)
}
