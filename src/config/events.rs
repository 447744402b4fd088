//! Planned events of a scenario.

use crate::limits::PUSHES_MAX;
use crate::model::Model;
use crate::plant::{Event, PlantSpec, Scope};

use super::contact_law::MU;
use super::section::{Mistakes, Range, Section};

#[derive(Clone, Copy)]
enum Kind {
    Push,
    Friction,
}

pub(super) fn events(
    root: &Section<'_>,
    model: &Model,
    spec: &PlantSpec,
    mistakes: &Mistakes,
) -> Vec<(u64, Event)> {
    let mut out = Vec::new();
    for s in root.sections("events") {
        let ticks_of = |seconds: f64| (seconds * 1e9 / spec.period_ns as f64).round() as u64;
        let at = ticks_of(s.f64("at_s", Range::between(0.0, 1e9)));
        match s.choice("kind", &[("push", Kind::Push), ("friction", Kind::Friction)]) {
            Some(Kind::Push) => {
                let duration_s = s.f64("duration_s", Range::between(0.0, 1e6));
                if ticks_of(duration_s) == 0 {
                    let tick_s = spec.period_ns as f64 / 1e9;
                    s.mistake("duration_s", &format!("at least one tick, which is {tick_s} s"));
                }
                out.extend(push(&s, model, ticks_of(duration_s)).map(|e| (at, e)));
            }
            Some(Kind::Friction) => out.extend(friction(&s, spec).map(|e| (at, e))),
            None => {}
        }
        s.finish();
    }
    let pushes = out.iter().filter(|(_, e)| matches!(e, Event::Push { .. })).count();
    if most_at_once(&out) > PUSHES_MAX {
        mistakes
            .add(format!("events: of {pushes} pushes more than {PUSHES_MAX} act at the same time"));
    }
    out
}

fn push(s: &Section<'_>, model: &Model, ticks: u64) -> Option<Event> {
    let force_W = s.vec3("force_n", Range::between(-1e6, 1e6));
    let point_F =
        if s.has("point_m") { s.vec3("point_m", Range::between(-1e3, 1e3)) } else { [0.0; 3] };
    let Some(frame) = model.frame(s.text("link")) else {
        s.mistake("link", "the name of a link of the robot");
        return None;
    };
    let point_B = frame.X_BF.point(&point_F.into()).into();
    Some(Event::Push { body: frame.body as u32, point_B, force_W, ticks })
}

fn friction(s: &Section<'_>, spec: &PlantSpec) -> Option<Event> {
    let (mu_static, mu_kinetic) = (s.f64("mu_static", MU), s.f64("mu_kinetic", MU));
    if mu_kinetic > mu_static {
        s.mistake("mu_kinetic", &format!("at most mu_static, which is {mu_static}"));
    }
    scope(s, spec).map(|scope| Event::Friction { scope, mu_static, mu_kinetic })
}

/// A key, the names that it may have, and the scope that it makes of a name's index.
type Named<'a> = (&'a str, Vec<&'a str>, fn(u32) -> Scope);

/// One of `foot`, `station` and `region`; all stations without any.
fn scope(s: &Section<'_>, spec: &PlantSpec) -> Option<Scope> {
    let feet: Vec<&str> = spec.feet.iter().map(|f| f.name.as_str()).collect();
    let stations = spec.stations.iter().map(|s| s.name.as_str()).collect();
    let regions = spec.regions.iter().map(|r| r.name.as_str()).collect();
    let kinds: [Named<'_>; 3] = [
        ("foot", feet, Scope::Foot),
        ("station", stations, Scope::Station),
        ("region", regions, Scope::Region),
    ];
    let mut found = Vec::new();
    for (key, names, scope) in kinds {
        let name = s.text_if_given(key).unwrap_or_default();
        if name.is_empty() {
            continue;
        }
        let index = names.iter().position(|n| *n == name);
        if index.is_none() {
            s.mistake(key, &format!("the name of a {key}, or \"\" for all stations"));
        }
        found.push(index.map(|i| scope(i as u32)));
    }
    if found.len() > 1 {
        s.complain("foot", "at most one of foot, station and region can be named");
    }
    found.pop().unwrap_or(Some(Scope::All))
}

fn most_at_once(events: &[(u64, Event)]) -> usize {
    let span = |(at, e): &(u64, Event)| match e {
        Event::Push { ticks, .. } => Some((*at, at.saturating_add(*ticks))),
        _ => None,
    };
    let spans: Vec<(u64, u64)> = events.iter().filter_map(span).collect();
    let acting = |t: u64| spans.iter().filter(|(from, to)| (*from..*to).contains(&t)).count();
    spans.iter().map(|&(from, _)| acting(from)).max().unwrap_or(0)
}
