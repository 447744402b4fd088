//! What made two runs part: what was applied, or what computed.

use toml::{Table, Value};

use crate::model::Model;
use crate::plant::{Event, JointCommand, Verdict};
use crate::record::Moment;
use crate::rt::OfferRecord;

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

/// The first difference in what was applied in a tick; session and sequence numbers are not
/// looked at, for they are other ones in every run.
pub(super) fn of_inputs(a: &Moment<'_>, b: &Moment<'_>, model: &Model) -> Option<Cause> {
    let (x, y) = (a.applied, b.applied);
    if x.events != y.events {
        let text =
            format!("events {} and {}", described(&x.events, model), described(&y.events, model));
        return Some(Cause::Events(text));
    }
    let answers = |o: &[OfferRecord]| o.iter().map(|o| o.answers_tick).collect::<Vec<_>>();
    let verdicts = |o: &[OfferRecord]| o.iter().map(|o| o.verdict).collect::<Vec<_>>();
    let (p, q) = (verdicts(&x.offers), verdicts(&y.offers));
    let accepted = |v: &[Verdict]| v.contains(&Verdict::Accepted);
    if p != q && answers(&x.offers) == answers(&y.offers) && accepted(&p) != accepted(&q) {
        return Some(Cause::Verdicts(format!("verdicts {p:?} and {q:?}")));
    }
    match (x.joints.is_empty(), y.joints.is_empty()) {
        (true, true) => return None,
        (false, true) => return Some(Cause::Controller("a command, and none".into())),
        (true, false) => return Some(Cause::Controller("no command, and one".into())),
        (false, false) => {}
    }
    if let Some(text) = differing_command(&x.joints, &y.joints, model) {
        return Some(Cause::Controller(text));
    }
    let answered = |o: &[OfferRecord]| {
        o.iter().rev().find(|o| o.verdict == Verdict::Accepted).map(|o| o.answers_tick)
    };
    let (p, q) = (answered(&x.offers)?, answered(&y.offers)?);
    (p != q).then(|| Cause::Controller(format!("the command answers tick {p} and {q}")))
}

fn differing_command(a: &[JointCommand], b: &[JointCommand], model: &Model) -> Option<String> {
    if a.len() != b.len() {
        return Some(format!("set-points for {} and {} joints", a.len(), b.len()));
    }
    let all = a.len() == model.joint_count();
    for (i, (a, b)) in a.iter().zip(b).enumerate() {
        // those of several controllers follow each other
        let joint = model.joints.get(i).filter(|_| all);
        let name = joint.map_or_else(|| i.to_string(), |joint| joint.name.clone());
        for (field, x, y) in [
            ("q", a.q, b.q),
            ("dq", a.dq, b.dq),
            ("kp", a.kp, b.kp),
            ("kd", a.kd, b.kd),
            ("tau_ff", a.tau_ff, b.tau_ff),
        ] {
            if x.to_bits() != y.to_bits() {
                return Some(format!("command.{name}.{field}: {x:e} and {y:e}"));
            }
        }
    }
    None
}

fn described(events: &[Event], model: &Model) -> String {
    if events.is_empty() {
        return "none".into();
    }
    let one = |event: &Event| match event {
        Event::Push { body, force_W: [x, y, z], ticks, .. } => {
            let link = model.bodies.get(*body as usize).map_or("nothing", |b| &b.name);
            format!("push of {link} with ({x}, {y}, {z}) N for {ticks} ticks")
        }
        Event::Friction { scope, mu_static, mu_kinetic } => {
            format!("friction of {scope:?} {mu_static}, {mu_kinetic}")
        }
        Event::Grant(grant) => format!("a controller joins with session {:016x}", grant.session),
        Event::Leave { session } => format!("session {session:016x} leaves"),
        Event::Fault { defect, .. } => {
            format!("fault {} {:?} {:?}", defect.kind.row().name, defect.part, defect.values)
        }
        Event::Mend { kind, part } => format!("mend {kind:?} {part:?}"),
        Event::Stop => "emergency stop".into(),
        Event::Arm => "end of the emergency stop".into(),
    };
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
