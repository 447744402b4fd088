//! What a log says about its run, and the cause of a difference between two runs.

use std::path::Path;

use serde::Serialize;

use crate::inspect::{Cause, Comparison, Mismatch, compare};
use crate::replay::Player;
use hardstand_error::Result;
use hardstand_log::TickId;
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

/// The summary of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogSummary {
    /// Number of the state that it begins with.
    pub first_tick: u64,
    /// Ticks.
    pub ticks: u64,
    /// Digest after the last one: it is chained, so it stands for all of them.
    pub digest: u64,
    /// The plant stopped itself in the last tick.
    pub plant_failure: bool,
    /// Why the log does not replay identically, if it does not.
    pub replay: Option<ReplayProblem>,
    /// The controllers that joined.
    pub leases: Vec<Lease>,
}

/// Why a log does not replay identically.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplayProblem {
    /// The replay differs from the log.
    Differs {
        /// First tick that differs.
        tick: u64,
        /// What differs, with both values.
        quantity: String,
    },
    /// The log has lost ticks.
    TicksLost {
        /// The first of them.
        from_tick: u64,
    },
    /// The file is damaged or cut short; how.
    Damaged(String),
}

/// Replays a log and summarizes it.
///
/// # Errors
/// As [`Player::open`] and [`Player::advance`].
pub fn summarize(log: &Path) -> Result<LogSummary> {
    let mut player = Player::open(log)?;
    let (mut summary, mut first) = (LogSummary::default(), None);
    while player.advance()? {
        let Some(view) = player.view() else { continue };
        let applied = view.applied;
        first.get_or_insert(applied.tick);
        (summary.digest, summary.plant_failure) = (applied.digest, applied.failure.is_some());
        summary.ticks += 1;
        let lease = |event: &Event| match event {
            Event::Grant(g) => {
                Some(Lease { tick: applied.tick, number: g.controller, required: g.required })
            }
            _ => None,
        };
        summary.leases.extend(applied.events.iter().filter_map(lease));
    }
    summary.first_tick = first.unwrap_or_default();
    let difference = player.difference();
    let differs =
        difference.map(|d| ReplayProblem::Differs { tick: d.tick, quantity: d.quantity.clone() });
    let gap = player.gaps().first();
    let lost = gap.map(|gap| ReplayProblem::TicksLost { from_tick: gap.from_tick });
    let damaged = || player.damage().map(|damage| ReplayProblem::Damaged(damage.into()));
    summary.replay = differs.or(lost).or_else(damaged);
    Ok(summary)
}

impl LogSummary {
    /// True if the other run is the same to the last bit.
    #[must_use]
    pub fn equals(&self, other: &Self) -> bool {
        let key = |t: &Self| (t.first_tick, t.ticks, t.digest, t.plant_failure);
        key(self) == key(other)
    }
}

/// The first difference between two runs, and its attribution.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// Ticks done in the first state that differs.
    pub tick: u64,
    /// Its simulated time, s.
    pub time_s: f64,
    /// What caused it.
    pub cause: Attribution,
    /// How the cause shows.
    pub reason: Reason,
    /// The controller that gave it, where several have joined or the scenario names it.
    pub controller: Option<String>,
    /// What differs first: a set-point, a quantity of the state, `events`, `leases` or `digest`.
    pub quantity: String,
    /// The values in the run that it was compared with, and in this one; `null` where a run has
    /// none.
    pub values: [Option<String>; 2],
    /// The first quantity of the robot that differs.
    pub state: Option<StateDifference>,
}

/// The cause of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Attribution {
    /// The controller answered differently.
    Controller,
    /// The plant computed something else from the same inputs.
    Plant,
    /// Other events happened to the robot.
    Events,
    /// The runs began in different states.
    Beginning,
}

/// How the cause of a difference shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Another command after the same states.
    CommandDiffers,
    /// One run has a command where the other has none.
    CommandMissing,
    /// The same commands arrived at other ticks.
    CommandTiming,
    /// Controllers joined or left at other ticks.
    LeasesDiffer,
    /// Other events.
    EventsDiffer,
    /// Other states before the first tick.
    BeginningDiffers,
    /// The same inputs gave another state.
    StateDiffers,
    /// One run has more ticks.
    LengthDiffers,
}

/// A quantity of the robot that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StateDifference {
    /// Ticks done in the state.
    pub tick: u64,
    /// Name of the quantity.
    pub quantity: String,
    /// Both values.
    pub values: [Option<String>; 2],
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
    let at = |seen: &Option<(TickId, Mismatch)>| seen.as_ref().map(|(at, _)| *at);
    let inputs = found.inputs.as_ref().map(|(at, _)| *at);
    let all = [at(&found.quantity), inputs, at(&found.leases), found.digest];
    // runs of different lengths differ after the last tick that both have
    let first = all.into_iter().flatten().min().or(found.last).unwrap_or_default();
    let here = |seen: Option<TickId>| seen == Some(first);
    let (reason, mismatch) = match (&found.inputs, &found.leases, &found.quantity) {
        (Some((_, cause)), _, _) if here(inputs) => of_inputs(cause),
        (_, Some((_, leases)), _) if here(at(&found.leases)) => {
            (Reason::LeasesDiffer, Some(leases))
        }
        (_, _, Some((_, quantity))) if here(at(&found.quantity)) => {
            (Reason::StateDiffers, Some(quantity))
        }
        _ if found.digest.is_some() => (Reason::StateDiffers, None),
        _ => (Reason::LengthDiffers, None),
    };
    let unnamed = match reason {
        Reason::LengthDiffers => "ticks",
        Reason::BeginningDiffers => "initial state",
        _ => "digest",
    };
    Difference {
        tick: first.tick,
        time_s: first.tick as f64 * period_s,
        cause: reason.attribution(),
        reason,
        controller: mismatch.and_then(|m| m.controller.clone()),
        quantity: mismatch.map_or_else(|| unnamed.into(), |m| m.quantity.clone()),
        values: mismatch.map_or([None, None], |m| m.values.clone()),
        state: found.quantity.as_ref().map(|(at, m)| StateDifference {
            tick: at.tick,
            quantity: m.quantity.clone(),
            values: m.values.clone(),
        }),
    }
}

/// The reason for a difference in what was applied.
fn of_inputs(cause: &Cause) -> (Reason, Option<&Mismatch>) {
    match cause {
        Cause::Controller(m) if m.values.contains(&None) => (Reason::CommandMissing, Some(m)),
        Cause::Controller(m) => (Reason::CommandDiffers, Some(m)),
        Cause::Verdicts(m) => (Reason::CommandTiming, Some(m)),
        Cause::Events(m) => (Reason::EventsDiffer, Some(m)),
        Cause::Beginning => (Reason::BeginningDiffers, None),
        Cause::Plant => (Reason::StateDiffers, None),
    }
}

impl Reason {
    /// The cause that shows so.
    #[must_use]
    pub const fn attribution(self) -> Attribution {
        match self {
            Self::CommandDiffers
            | Self::CommandMissing
            | Self::CommandTiming
            | Self::LeasesDiffer
            | Self::LengthDiffers => Attribution::Controller,
            Self::EventsDiffer => Attribution::Events,
            Self::BeginningDiffers => Attribution::Beginning,
            Self::StateDiffers => Attribution::Plant,
        }
    }
}
