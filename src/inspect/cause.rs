//! The cause of a difference between two runs: their inputs, or the plant.

use std::collections::BTreeMap;

use serde::Serialize;
use toml::{Table, Value};

use crate::config::WITHOUT_PHYSICS;
use crate::replay::TickView;
use crate::rt::{SetPoint, set_points};
use crate::simulation::PartNames;
use hardstand_physics::model::Model;
use hardstand_protocol::{CandidateRecord, LogTick};
use hardstand_protocol::{Event, JointCommand, Verdict, controller_number};

use super::mismatch::Mismatch;

/// The cause of a difference between two runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// Different commands were applied; the first difference.
    Controller(Mismatch),
    /// Different events happened.
    Events(Mismatch),
    /// The same commands had different verdicts.
    Verdicts(Mismatch),
    /// The runs were in different states before the first tick that both have.
    Beginning,
    /// The same inputs gave different states.
    Plant,
}

impl Cause {
    /// What differs, if the cause is an input.
    #[must_use]
    pub const fn mismatch(&self) -> Option<&Mismatch> {
        match self {
            Self::Controller(m) | Self::Events(m) | Self::Verdicts(m) => Some(m),
            Self::Beginning | Self::Plant => None,
        }
    }
}

/// Names of controllers and parts, which logs know by number.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    controllers: BTreeMap<u64, String>,
    parts: PartNames,
}

impl Names {
    /// Controllers that scenarios name, and parts of a robot.
    pub(super) fn of<'a>(names: impl IntoIterator<Item = &'a String>, parts: PartNames) -> Self {
        let numbered = names.into_iter().map(|name| (controller_number(name), name.clone()));
        Self { controllers: numbered.collect(), parts }
    }

    /// "controller rear" or the like where there are several controllers, or one with a name.
    fn label(&self, this: &SetPoint, all: &[SetPoint], model: &Model) -> Option<String> {
        let number = this.controller?;
        if let Some(name) = self.controllers.get(&number) {
            return Some(format!("controller {name}"));
        }
        let own = |s: &&SetPoint| s.controller == Some(number);
        let (count, first) = (all.iter().filter(own).count(), all.iter().find(own));
        if count == all.len() {
            return None;
        }
        let joint = first.map_or("", |s| joint_name(s.joint, model));
        Some(format!("the controller of {joint} and {} more joints", count.saturating_sub(1)))
    }

    pub(super) fn known(&self, number: u64) -> Option<&str> {
        self.controllers.get(&number).map(String::as_str)
    }

    fn name(&self, number: u64) -> String {
        self.controllers.get(&number).cloned().unwrap_or_else(|| format!("{number:016x}"))
    }
}

pub(super) fn joint_name(joint: usize, model: &Model) -> &str {
    model.joints.get(joint).map_or("", |joint| joint.name.as_str())
}

/// The first difference in what was applied in a tick. Session and sequence numbers differ in every
/// run and are ignored, as are joins and leaves: their commands are compared.
pub(super) fn of_inputs(
    a: &TickView<'_>,
    b: &TickView<'_>,
    model: &Model,
    names: &Names,
) -> Option<Cause> {
    let (x, y) = (a.applied, b.applied);
    let other = |t: &LogTick| t.events.iter().copied().filter(|e| !is_coming(e)).collect();
    let (p, q): (Vec<Event>, Vec<Event>) = (other(x), other(y));
    if p != q {
        let values = [&p, &q].map(|events| described(events, names));
        return Some(Cause::Events(Mismatch::new("events", values)));
    }
    let answers = |o: &[CandidateRecord]| o.iter().map(|o| o.answers_tick).collect::<Vec<_>>();
    let verdicts = |o: &[CandidateRecord]| o.iter().map(|o| o.verdict).collect::<Vec<_>>();
    let (p, q) = (verdicts(&x.candidates), verdicts(&y.candidates));
    let accepted = |v: &[Verdict]| v.contains(&Verdict::Accepted);
    if p != q && answers(&x.candidates) == answers(&y.candidates) && accepted(&p) != accepted(&q) {
        let values = [&p, &q].map(|verdicts| Some(format!("{verdicts:?}")));
        return Some(Cause::Verdicts(Mismatch::new("verdicts", values)));
    }
    let of = |m: &TickView<'_>| set_points(m.applied, m.leases, model.joint_count());
    differing_command(&of(a), &of(b), model, names).map(Cause::Controller)
}

/// The difference in joins and leaves: which controllers, and with what. Neither the order within
/// the tick nor the numbers of their sessions mean anything.
pub(super) fn of_leases(a: &TickView<'_>, b: &TickView<'_>, names: &Names) -> Option<Mismatch> {
    let (p, q) = (coming(&a.applied.events), coming(&b.applied.events));
    let values = || [&p, &q].map(|events| described(events, names));
    (p != q).then(|| Mismatch::new("leases", values()))
}

fn coming(events: &[Event]) -> Vec<Event> {
    let mut coming: Vec<Event> = events.iter().copied().filter(is_coming).collect();
    for event in &mut coming {
        if let Event::Grant(grant) = event {
            grant.session = 0;
        }
    }
    coming.sort_by_key(|event| match event {
        Event::Grant(grant) => (0, grant.controller),
        Event::Leave { session } => (1, *session),
        _ => (2, 0),
    });
    coming
}

const fn is_coming(event: &Event) -> bool {
    matches!(event, Event::Grant(_) | Event::Leave { .. })
}

fn differing_command(
    a: &[SetPoint],
    b: &[SetPoint],
    model: &Model,
    names: &Names,
) -> Option<Mismatch> {
    let one = |there: bool| there.then(|| "one".to_string());
    if a.is_empty() && b.is_empty() {
        return None;
    }
    if a.is_empty() || b.is_empty() {
        return Some(Mismatch::new("command", [one(!a.is_empty()), one(!b.is_empty())]));
    }
    let of = |list: &[SetPoint], joint| list.iter().find(|s| s.joint == joint).copied();
    for joint in 0..model.joint_count() {
        let command = format!("command.{}", joint_name(joint, model));
        let (x, y) = (of(a, joint), of(b, joint));
        let label =
            x.map(|x| names.label(&x, a, model)).or_else(|| Some(names.label(&y?, b, model)));
        let controller = label.flatten();
        let (Some(x), Some(y)) = (x, y) else {
            if x.is_some() || y.is_some() {
                let values = [one(x.is_some()), one(y.is_some())];
                return Some(Mismatch::new(command, values).by(controller));
            }
            continue;
        };
        if let Some(found) = differing_field(&command, &x.command, &y.command) {
            return Some(found.by(controller));
        }
        let (p, q) = (x.answers_tick, y.answers_tick);
        if p != q {
            let values = [p, q].map(|tick| Some(tick.to_string()));
            return Some(Mismatch::new("answered tick", values).by(controller));
        }
    }
    None
}

/// The first number of a set-point that differs; `command` is `command.JOINT`.
pub(super) fn differing_field(
    command: &str,
    x: &JointCommand,
    y: &JointCommand,
) -> Option<Mismatch> {
    let mut both = JointCommand::NAMES.iter().zip(x.numbers().into_iter().zip(y.numbers()));
    let (name, (x, y)) = both.find(|(_, (x, y))| x.to_bits() != y.to_bits())?;
    Some(Mismatch::of_numbers(format!("{command}.{name}"), x, y))
}

fn described(events: &[Event], names: &Names) -> Option<String> {
    let one = |event: &Event| names.parts.words(event, |number| names.name(number));
    (!events.is_empty()).then(|| events.iter().map(one).collect::<Vec<_>>().join(" + "))
}

/// Keys in which two scenarios differ, with both values; those of sections that have no part in
/// what a tick computes are left out.
#[must_use]
pub fn scenario_differences(a: &str, b: &str) -> Vec<String> {
    let parsed = |text: &str| {
        let mut table = text.parse::<Table>().unwrap_or_default();
        WITHOUT_PHYSICS.iter().for_each(|section| drop(table.remove(*section)));
        Value::Table(table)
    };
    let mut found = Vec::new();
    walk("", Some(&parsed(a)), Some(&parsed(b)), &mut found);
    found
}

fn walk(key: &str, a: Option<&Value>, b: Option<&Value>, found: &mut Vec<String>) {
    if a == b {
        return;
    }
    let below = |name: &str| {
        if key.is_empty() { name.to_string() } else { format!("{key}.{name}") }
    };
    match (a, b) {
        (Some(Value::Table(x)), Some(Value::Table(y))) => {
            let mut names: Vec<&String> = x.keys().chain(y.keys()).collect();
            names.sort();
            names.dedup();
            for name in names {
                walk(&below(name), x.get(name), y.get(name), found);
            }
        }
        (Some(Value::Array(x)), Some(Value::Array(y))) if x.len() == y.len() => {
            for (i, (x, y)) in x.iter().zip(y).enumerate() {
                walk(&below(&i.to_string()), Some(x), Some(y), found);
            }
        }
        _ => {
            let shown = |v: Option<&Value>| v.map_or_else(|| "nothing".into(), Value::to_string);
            found.push(format!("{key} is {} and {}", shown(a), shown(b)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hardstand_protocol::{CommandSchedule, Grant};

    fn grant(controller: u64, session: u64, period: u64) -> Event {
        let schedule = CommandSchedule { period, phase: 0, offset: 0 };
        Event::Grant(Grant { controller, session, schedule, required: true, ..Grant::default() })
    }

    #[test]
    fn the_order_of_joining_and_numbers_of_sessions_are_no_difference() {
        let (a, b) = ([grant(3, 7, 1), grant(5, 8, 2)], [grant(5, 9, 2), grant(3, 7, 1)]);
        assert_eq!(coming(&a), coming(&b));
        assert_ne!(coming(&a), coming(&a[..1]));
        assert_ne!(coming(&a), coming(&[grant(3, 7, 2), grant(5, 8, 2)]), "another schedule");
    }
}
