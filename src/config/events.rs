//! Planned events of a scenario: faults, each of a kind in [`FaultKind::TABLE`], and velocity
//! commands.

use crate::limits::{FAULTS_MAX, PUSHES_MAX};
use crate::simulation::fault_event;
use hardstand_physics::model::Model;
use hardstand_physics::plant::PlantSpec;
use hardstand_protocol::limits::VELOCITY_COMMAND_MAX;
use hardstand_protocol::{Event, FaultKind, FaultSpec, Parameter, UNTIL_CLEARED, VelocityCommand};

use super::section::{Mistakes, Range, Section};

const AT_S: Range = Range::between(0.0, 1e9);

pub(super) fn events(
    root: &Section<'_>,
    model: &Model,
    spec: &PlantSpec,
    mistakes: &Mistakes,
) -> Vec<(u64, Event)> {
    let kinds = FaultKind::TABLE.each_ref().map(|row| (row.name, row));
    let mut out = Vec::new();
    for s in root.sections("events") {
        let at = ticks_of(s.f64("at_s", AT_S), spec);
        if let Some(row) = s.choice("kind", &kinds) {
            out.extend(event(&s, row, model, spec, mistakes).map(|e| (at, e)));
        }
        s.finish();
    }
    let is_push = |e: &Event| matches!(e, Event::Push { .. });
    for (what, most, of) in [
        ("pushes", PUSHES_MAX, &is_push as &dyn Fn(&Event) -> bool),
        ("other faults", FAULTS_MAX, &|e| !is_push(e)),
    ] {
        let spans: Vec<[u64; 2]> =
            out.iter().filter(|(_, e)| of(e)).filter_map(|(at, e)| span(*at, e)).collect();
        if most_at_once(&spans) > most {
            let count = spans.len();
            mistakes.add(format!(
                "events: more than {most} of the {count} {what} act at the same time"
            ));
        }
    }
    out.extend(velocity_commands(root, spec));
    out
}

/// What `[[commands]]` ask controllers that walk for.
fn velocity_commands(root: &Section<'_>, spec: &PlantSpec) -> Vec<(u64, Event)> {
    let range = Range::between(-VELOCITY_COMMAND_MAX, VELOCITY_COMMAND_MAX);
    let command = |s: Section<'_>| {
        let at = ticks_of(s.f64("at_s", AT_S), spec);
        let names = ["vx_m_per_s", "vy_m_per_s", "yaw_rate_rad_per_s"];
        let values = names.map(|name| s.f64_if_given(name, range).unwrap_or(0.0));
        s.finish();
        (at, Event::Velocity(VelocityCommand::from(values)))
    };
    root.sections("commands").into_iter().map(command).collect()
}

fn ticks_of(seconds: f64, spec: &PlantSpec) -> u64 {
    (seconds * 1e9 / spec.period_ns as f64).round() as u64
}

fn event(
    s: &Section<'_>,
    row: &FaultSpec,
    model: &Model,
    spec: &PlantSpec,
    mistakes: &Mistakes,
) -> Option<Event> {
    let before = mistakes.count();
    let words = row.place.words().iter();
    let found: Vec<(&str, &str)> = words
        .filter_map(|&word| Some((word, s.text_if_given(word).filter(|name| !name.is_empty())?)))
        .collect();
    if found.len() > 1 {
        s.complain("foot", "at most one of foot, station and region can be named");
    }
    let mut values = Vec::new();
    for p in row.parameters {
        numbers(s, p, &mut values);
    }
    let ticks = duration(s, row, spec);
    if mistakes.count() > before {
        return None;
    }
    match fault_event(row, model, spec, found.first().copied(), &values, ticks) {
        Ok(event) => Some(event),
        Err(wrong) => {
            s.mistake(&wrong.field, &wrong.allowed);
            None
        }
    }
}

/// The numbers of one parameter.
fn numbers(s: &Section<'_>, p: &Parameter, out: &mut Vec<f64>) {
    let range = Range::between(p.range[0], p.range[1]);
    match p.default {
        Some(default) if !s.has(p.name) => out.extend(vec![default; p.count]),
        _ if p.count == 3 => out.extend(s.vec3(p.name, range)),
        _ => out.push(s.f64(p.name, range)),
    }
}

/// Duration in ticks; `None` if the fault has no end.
fn duration(s: &Section<'_>, row: &FaultSpec, spec: &PlantSpec) -> Option<u64> {
    if !row.needs_duration && !s.has("duration_s") {
        return None;
    }
    let tick_s = spec.period_ns as f64 / 1e9;
    Some(ticks_of(s.f64("duration_s", Range::between(tick_s, 1e6)), spec))
}

/// First tick of an event with a duration, and the first tick after it.
const fn span(at: u64, event: &Event) -> Option<[u64; 2]> {
    match event {
        Event::InjectFault { ticks: UNTIL_CLEARED, .. } => Some([at, u64::MAX]),
        Event::Push { ticks, .. } | Event::InjectFault { ticks, .. } => {
            Some([at, at.saturating_add(*ticks)])
        }
        _ => None,
    }
}

fn most_at_once(spans: &[[u64; 2]]) -> usize {
    let acting = |t: u64| spans.iter().filter(|[from, to]| (*from..*to).contains(&t)).count();
    spans.iter().map(|&[from, _]| acting(from)).max().unwrap_or(0)
}
