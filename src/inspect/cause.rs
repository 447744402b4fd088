//! What made two runs part: what was applied, or what computed.

use std::collections::BTreeMap;

use toml::{Table, Value};

use crate::replay::TickView;
use crate::rt::{LogTick, OfferRecord, SetPoint};
use hardstand_physics::model::Model;
use hardstand_protocol::{Event, JointCommand, Verdict, controller_number};

/// Who made two runs part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Other commands were applied: with what differs first.
    Controller(String),
    /// Other events happened.
    Events(String),
    /// The same commands were judged differently.
    Verdicts(String),
    /// They were in different states before the first tick that both have.
    Beginning,
    /// The same inputs gave another state.
    Plant,
}

/// Names of controllers, which logs know by number.
#[derive(Clone, Debug, Default)]
pub(super) struct Names(BTreeMap<u64, String>);

impl Names {
    /// Those that scenarios name.
    pub(super) fn of<'a>(names: impl IntoIterator<Item = &'a String>) -> Self {
        Self(names.into_iter().map(|name| (controller_number(name), name.clone())).collect())
    }

    /// "controller rear, " or the like where there are several, or one with a name.
    fn who(&self, this: &SetPoint, all: &[SetPoint], model: &Model) -> String {
        let Some(number) = this.controller else { return String::new() };
        if let Some(name) = self.0.get(&number) {
            return format!("controller {name}, ");
        }
        let own = |s: &&SetPoint| s.controller == Some(number);
        let (count, first) = (all.iter().filter(own).count(), all.iter().find(own));
        if count == all.len() {
            return String::new();
        }
        let joint = first.map_or("", |s| joint_name(s.joint, model));
        format!("the controller of {joint} and {} joints more, ", count.saturating_sub(1))
    }

    pub(super) fn known(&self, number: u64) -> Option<&str> {
        self.0.get(&number).map(String::as_str)
    }

    fn name(&self, number: u64) -> String {
        self.0.get(&number).cloned().unwrap_or_else(|| format!("{number:016x}"))
    }
}

pub(super) fn joint_name(joint: usize, model: &Model) -> &str {
    model.joints.get(joint).map_or("", |joint| joint.name.as_str())
}

/// The first difference in what was applied in a tick. Session and sequence numbers are not looked
/// at, for they are other ones in every run, and neither is who has joined: what they command is.
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
        let words = |events| described(events, model, names);
        return Some(Cause::Events(format!("events {} and {}", words(&p), words(&q))));
    }
    let answers = |o: &[OfferRecord]| o.iter().map(|o| o.answers_tick).collect::<Vec<_>>();
    let verdicts = |o: &[OfferRecord]| o.iter().map(|o| o.verdict).collect::<Vec<_>>();
    let (p, q) = (verdicts(&x.offers), verdicts(&y.offers));
    let accepted = |v: &[Verdict]| v.contains(&Verdict::Accepted);
    if p != q && answers(&x.offers) == answers(&y.offers) && accepted(&p) != accepted(&q) {
        return Some(Cause::Verdicts(format!("verdicts {p:?} and {q:?}")));
    }
    let of = |m: &TickView<'_>| m.applied.set_points(m.leases, model.joint_count());
    differing_command(&of(a), &of(b), model, names).map(Cause::Controller)
}

/// What differs in who comes and goes, sessions too.
pub(super) fn of_leases(
    a: &TickView<'_>,
    b: &TickView<'_>,
    model: &Model,
    names: &Names,
) -> Option<String> {
    let coming = |m: &TickView<'_>| m.applied.events.iter().copied().filter(is_coming).collect();
    let (p, q): (Vec<Event>, Vec<Event>) = (coming(a), coming(b));
    let words = |events| described(events, model, names);
    (p != q).then(|| format!("{} and {}", words(&p), words(&q)))
}

const fn is_coming(event: &Event) -> bool {
    matches!(event, Event::Grant(_) | Event::Leave { .. })
}

fn differing_command(
    a: &[SetPoint],
    b: &[SetPoint],
    model: &Model,
    names: &Names,
) -> Option<String> {
    match (a.is_empty(), b.is_empty()) {
        (true, true) => return None,
        (false, true) => return Some("command: one and none".into()),
        (true, false) => return Some("command: none and one".into()),
        (false, false) => {}
    }
    let of = |list: &[SetPoint], joint| list.iter().find(|s| s.joint == joint).copied();
    for joint in 0..model.joint_count() {
        let name = joint_name(joint, model);
        let (x, y) = match (of(a, joint), of(b, joint)) {
            (Some(x), Some(y)) => (x, y),
            (None, None) => continue,
            (Some(x), None) => {
                return Some(format!("{}command.{name}: one and none", names.who(&x, a, model)));
            }
            (None, Some(y)) => {
                return Some(format!("{}command.{name}: none and one", names.who(&y, b, model)));
            }
        };
        let who = names.who(&x, a, model);
        if let Some(text) = differing_fields(&x.command, &y.command) {
            return Some(format!("{who}command.{name}.{text}"));
        }
        let (p, q) = (x.answers_tick, y.answers_tick);
        if p != q {
            return Some(format!("{who}the command answers tick {p} and {q}"));
        }
    }
    None
}

pub(super) fn differing_fields(x: &JointCommand, y: &JointCommand) -> Option<String> {
    let mut both = JointCommand::NAMES.iter().zip(x.numbers().into_iter().zip(y.numbers()));
    let (name, (x, y)) = both.find(|(_, (x, y))| x.to_bits() != y.to_bits())?;
    Some(format!("{name}: {x:e} and {y:e}"))
}

fn described(events: &[Event], model: &Model, names: &Names) -> String {
    if events.is_empty() {
        return "none".into();
    }
    let one =
        |event: &Event| event.words(|body| model.body_name(body), |number| names.name(number));
    events.iter().map(one).collect::<Vec<_>>().join(" + ")
}

/// Sections that have no part in what a tick computes.
const NO_PART: [&str; 6] = ["realtime", "control", "bus", "ros2", "unitree", "record"];

/// Keys in which two scenarios differ, with both values; those of sections that have no part in
/// what a tick computes are left out.
#[must_use]
pub fn scenario_differences(a: &str, b: &str) -> Vec<String> {
    let parsed = |text: &str| {
        let mut table = text.parse::<Table>().unwrap_or_default();
        NO_PART.iter().for_each(|section| drop(table.remove(*section)));
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
