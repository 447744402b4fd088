//! What a log says about its run, and who made two runs part.

use std::path::Path;

use serde::Serialize;

use crate::inspect::{Cause, Comparison, compare};
use crate::record::TickId;
use crate::replay::Player;
use hardstand_error::Result;
use hardstand_protocol::Event;

/// A controller that has joined, as the log has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lease {
    /// Tick at whose start it joined.
    pub tick: u64,
    /// Number of its name.
    pub number: u64,
    /// Ticks wait for it.
    pub required: bool,
}

/// What a log tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogSummary {
    /// Number of the state that it begins with.
    pub first_tick: u64,
    /// Ticks.
    pub ticks: u64,
    /// Digest after the last one: it is chained, so it stands for all of them.
    pub digest: u64,
    /// The plant has stopped itself in the last one.
    pub fault: bool,
    /// Where the replay of the log differs from it, or the log is damaged.
    pub replay: Option<String>,
    /// Who has joined.
    pub leases: Vec<Lease>,
}

/// Replays a log, and tells what it says.
///
/// # Errors
/// As [`Player::open`] and [`Player::advance`].
pub fn listen(log: &Path) -> Result<LogSummary> {
    let mut player = Player::open(log)?;
    let (mut told, mut first) = (LogSummary::default(), None);
    while player.advance()? {
        let Some(moment) = player.moment() else { continue };
        let applied = moment.applied;
        first.get_or_insert(applied.tick);
        (told.digest, told.fault) = (applied.digest, applied.fault.is_some());
        told.ticks += 1;
        let lease = |event: &Event| match event {
            Event::Grant(g) => {
                Some(Lease { tick: applied.tick, number: g.controller, required: g.required })
            }
            _ => None,
        };
        told.leases.extend(applied.events.iter().filter_map(lease));
    }
    told.first_tick = first.unwrap_or_default();
    let differs = |d: &crate::replay::Difference| {
        format!("the replay differs from the log at tick {}: {}", d.tick, d.quantity)
    };
    let gap = player.gaps().first().map(|gap| format!("ticks {} are lost", gap.from_tick));
    told.replay =
        player.difference().map(differs).or(gap).or_else(|| player.damage().map(Into::into));
    Ok(told)
}

impl LogSummary {
    /// True if the other run is the same to the last bit.
    #[must_use]
    pub fn equals(&self, other: &Self) -> bool {
        let key = |t: &Self| (t.first_tick, t.ticks, t.digest, t.fault);
        key(self) == key(other)
    }
}

/// Where two runs part, and whose doing it is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// Ticks done when it showed.
    pub tick: u64,
    /// Simulated time then, s.
    pub time_s: f64,
    /// `"controller"`, `"plant"`, `"events"`, `"scenario"` or `"beginning"`.
    pub cause: &'static str,
    /// What differs first: a set-point, a quantity of the state, or an event.
    pub quantity: String,
    /// Its values in the run that was compared with, and in this one.
    pub values: [String; 2],
    /// The first quantity of the robot that differs, with its tick and both values.
    pub state: Option<String>,
    /// In words.
    pub words: String,
}

/// Compares a run with the one that it should be equal to. Its digests are different.
///
/// # Errors
/// As [`Player::open`] and [`compare`].
pub fn attribute(reference: &Path, log: &Path) -> Result<(Difference, Comparison)> {
    let (mut a, mut b) = (Player::open(reference)?, Player::open(log)?);
    let found = compare(&mut a, &mut b, |_, _| ())?;
    let period_s = a.info().period_ns as f64 * 1e-9;
    Ok((difference(&found, period_s), found))
}

fn difference(found: &Comparison, period_s: f64) -> Difference {
    let at = |seen: &Option<(TickId, String)>| seen.as_ref().map(|(at, _)| *at);
    let inputs = found.inputs.as_ref().map(|(at, _)| *at);
    let all = [at(&found.quantity), inputs, at(&found.leases), found.digest];
    // runs of another length part after the last tick that both have
    let first = all.into_iter().flatten().min().or(found.last).unwrap_or_default();
    let here = |seen: Option<TickId>| seen == Some(first);
    let state = found.quantity.as_ref().map(|(at, text)| format!("tick {}: {text}", at.tick));
    let tick = first.tick;
    let (cause, text, words) = match (&found.inputs, &found.leases, &found.quantity) {
        (Some((_, cause)), _, _) if here(inputs) => of_inputs(cause, tick),
        (_, Some((_, text)), _) if here(at(&found.leases)) => (
            "controller",
            format!("who joins: {text}"),
            format!(
                "the controller joined or left in another way at tick {tick}: where several join, \
                 name them in control.controllers, so that none is run ahead of"
            ),
        ),
        (_, _, Some((_, text))) if here(at(&found.quantity)) => {
            ("plant", text.clone(), of_plant(tick))
        }
        _ if found.digest.is_some() => (
            "plant",
            "digest: of the complete state; no published quantity differs yet".into(),
            of_plant(tick),
        ),
        _ => (
            "controller",
            "number of ticks: one run is longer".into(),
            format!("up to tick {tick}, where one of them ends, the runs are the same"),
        ),
    };
    let (quantity, values) = parts(&text);
    Difference { tick, time_s: tick as f64 * period_s, cause, quantity, values, state, words }
}

fn of_plant(tick: u64) -> String {
    format!(
        "the plant: in tick {tick} the same was applied to the same state, and gave another one. \
         This is an injected fault of Hardstand, or two builds of it ran: please report it with both logs"
    )
}

/// What is said of a difference in what was applied.
fn of_inputs(cause: &Cause, tick: u64) -> (&'static str, String, String) {
    match cause {
        Cause::Controller(text) if text.ends_with(" and none") || text.contains(": none and") => (
            "controller",
            text.clone(),
            format!(
                "one run has a command for tick {tick}, the other has none: the controller is \
                 advisory, so ticks do not wait for it, or it joins, leaves or comes again at \
                 another tick"
            ),
        ),
        Cause::Controller(text) => (
            "controller",
            text.clone(),
            format!(
                "the controller gave another command for tick {tick} after the same states: it \
                 depends on something else than what the robot sent, such as wall time, threads, \
                 random numbers, how often a state came, or memory that was not initialised"
            ),
        ),
        Cause::Verdicts(text) => (
            "controller",
            text.clone(),
            format!(
                "the same commands came at another time before tick {tick}: the controller is \
                 advisory, so ticks do not wait for it, or it sends commands nobody waits for"
            ),
        ),
        Cause::Events(text) => (
            "events",
            text.clone(),
            format!("something else happened to the robot at tick {tick}: somebody else is there"),
        ),
        Cause::Beginning => {
            ("beginning", "state before the first tick".into(), "the runs begin apart".into())
        }
        Cause::Plant => ("plant", String::new(), of_plant(tick)),
    }
}

/// "NAME: X and Y" in its parts.
fn parts(text: &str) -> (String, [String; 2]) {
    let (name, values) = text.split_once(": ").unwrap_or((text, ""));
    let (x, y) = values.split_once(" and ").unwrap_or((values, ""));
    (name.into(), [x.into(), y.into()])
}
