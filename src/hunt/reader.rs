//! Reads the section `hunt` of a scenario; all mistakes are reported at once.

use toml::{Table, Value};

use crate::campaign::{BETWEEN, Lists, ROBOT, own_key, tables, value_of};
use crate::config::{Mistakes, Range, Scenario, Section, keys_of, parse};
use hardstand_error::{Error, ErrorKind, Result};

use super::draw::Draw;
use super::space::{LISTS, List, Slot, Space, Vary};
use super::template::draws;

/// Most copies of an event in a case.
const COPIES_MAX: u32 = 64;
/// Length of a case if nothing else is given, s.
const DURATION_S: f64 = 5.0;
/// Keys of a link, 1 where they are not given.
const SCALES: [&str; 2] = ["mass_scale", "inertia_scale"];
/// m/s².
const STANDARD_GRAVITY: f64 = 9.81;

impl Space {
    /// Reads the section `hunt` of a scenario with these robots; without one, a space of pushes,
    /// delays and friction. `sets` are changes to all cases.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] with all mistakes.
    pub fn of(robots: &[Scenario], sets: &[String]) -> Result<Self> {
        let tables = tables(robots)?;
        let mut table = tables.first().map(|(_, table)| table.clone()).unwrap_or_default();
        let is_usual = !table.contains_key("hunt");
        if is_usual {
            table.extend(parse(&usual_space(robots), "the usual space")?);
        }
        let mistakes = Mistakes::default();
        let root = Section::new(String::new(), Some(&table), &mistakes);
        let section = root.section("hunt");
        let own = own_lists(&tables);
        let duration_s = section.f64_if_given("duration_s", Range::above(0.0));
        let mut space = Self {
            vary: Vec::new(),
            slots: Vec::new(),
            own,
            duration_s: duration_s.unwrap_or(DURATION_S),
            sets: sets.to_vec(),
            is_usual,
        };
        for s in section.sections("vary") {
            space.vary.extend(vary(&s, &tables));
            s.finish();
        }
        let keys = space.vary.iter().flat_map(|vary| &vary.keys);
        mistakes.refuse_twins("hunt.vary", keys.map(String::as_str));
        for (key, list) in LISTS {
            for (i, s) in section.sections(key).iter().enumerate() {
                match slots(list, s).and_then(|slots| known(slots, &space.own[list as usize])) {
                    Ok(slots) => space.slots.extend(slots),
                    Err(text) => mistakes.add(format!("hunt.{key}[{i}]: {text}")),
                }
            }
        }
        section.finish();
        if mistakes.count() == 0 && space.genes() == 0 {
            mistakes.add(
                "hunt: there is nothing to draw; it must have [[hunt.vary]], [[hunt.events]] or \
                 [[hunt.commands]]"
                    .into(),
            );
        }
        let list = mistakes.into_list();
        if list.is_empty() {
            return Ok(space);
        }
        Err(Error::list(ErrorKind::Input, "the hunt was refused", &list))
    }
}

/// Weight of a robot, N; without gravity, what it would be on Earth.
pub(super) fn weight_n(scenario: &Scenario) -> f64 {
    let gravity = scenario.spec.gravity_W.norm();
    let gravity = if gravity > 0.0 { gravity } else { STANDARD_GRAVITY };
    gravity * scenario.model.total_mass()
}

/// Events and commands of the robots themselves.
pub(super) fn own_lists(robots: &[(String, Table)]) -> [Lists; 2] {
    LISTS.map(|(key, _)| Lists::of(robots, key))
}

/// For each robot up to two pushes on the base, of half the robot's weight each, and a delay of
/// commands; and less friction.
fn usual_space(robots: &[Scenario]) -> String {
    let friction = r#"
        [[hunt.vary]]
        keys = ["contact.mu_static", "contact.mu_kinetic"]
        between = [0.1, 1.0]
        "#;
    std::iter::once(friction.into()).chain(robots.iter().map(usual_events)).collect()
}

fn usual_events(scenario: &Scenario) -> String {
    let base = Value::String(scenario.model.bodies[0].name.clone());
    let force_n = 0.5 * weight_n(scenario);
    let robot = match scenario.has_company() {
        false => String::new(),
        true => format!("robot = {}", Value::String(scenario.bus.robot.clone())),
    };
    format!(
        r#"
        [[hunt.events]]
        {robot}
        kind = "push"
        link = {base}
        at_s = {{ between = [0.5, 4.5] }}
        force_n = [
            {{ between = [-{force_n:.1}, {force_n:.1}] }},
            {{ between = [-{force_n:.1}, {force_n:.1}] }},
            0.0,
        ]
        duration_s = {{ between = [0.05, 0.2] }}
        count = 2

        [[hunt.events]]
        {robot}
        kind = "link_delay"
        at_s = {{ between = [0.0, 4.5] }}
        delay_ticks = {{ between = [1, 20] }}
        "#
    )
}

fn vary(s: &Section<'_>, robots: &[(String, Table)]) -> Option<Vary> {
    let keys = match s.text_if_given("key") {
        Some(key) => vec![key.to_string()],
        None => s.texts("keys"),
    };
    let between = s.get("between").map(|v| Table::from_iter([("between".into(), v.clone())]));
    let draw = match Draw::of(&Value::Table(between.unwrap_or_default())) {
        Ok(Some(draw)) => draw,
        Ok(None) | Err(_) => {
            s.mistake("between", BETWEEN);
            return None;
        }
    };
    if keys.is_empty() {
        if s.has("keys") {
            s.mistake("keys", "at least one key");
        }
        return None;
    }
    let mut own = Vec::new();
    for key in &keys {
        match usual(robots, key) {
            _ if own_key(key).is_some() => s.complain(
                "key",
                &format!(
                    "{key} is not allowed: a hunt sets pace, start, mode and length of its cases \
                     itself"
                ),
            ),
            Some(value @ (Value::Float(_) | Value::Integer(_))) => own.push(value),
            _ => {
                s.complain(
                    "key",
                    &format!("{key} must be a key of the scenario that has a number"),
                );
            }
        }
    }
    // a number may be written without decimals in either place
    let draw = match draw {
        Draw::Whole([a, b]) if own.iter().any(Value::is_float) => {
            Draw::number([a as f64, b as f64])
        }
        draw => draw,
    };
    if matches!(draw, Draw::Number { .. }) {
        for value in &mut own {
            if let Value::Integer(i) = value {
                *value = Value::Float(*i as f64);
            }
        }
    }
    (own.len() == keys.len()).then_some(Vary { keys, draw, own })
}

/// The scenario's own value of a key.
fn usual(robots: &[(String, Table)], key: &str) -> Option<Value> {
    value_of(robots, key).cloned().or_else(|| usual_scale(robots, key))
}

/// Likewise of `links.NAME.mass_scale` and `links.NAME.inertia_scale`, which no file needs to have;
/// that there is such a link is seen when its ends are tried.
fn usual_scale(robots: &[(String, Table)], key: &str) -> Option<Value> {
    let keys = keys_of(key);
    let (robot, keys) = match keys.as_slice() {
        [all, robot, keys @ ..] if all == "robots" && robots.len() > 1 => {
            let robot: usize = robot.parse().ok()?;
            (robots.get(robot).map(|_| format!("robots.{robot}."))?, keys)
        }
        keys => (String::new(), keys),
    };
    match keys {
        [links, _, scale] if links == "links" && SCALES.contains(&scale.as_str()) => {
            let of_all = value_of(robots, &format!("{robot}links.\"*\".{scale}"));
            Some(of_all.cloned().unwrap_or(Value::Float(1.0)))
        }
        _ => None,
    }
}

/// Slots whose robots the scenario has.
fn known(slots: Vec<Slot>, own: &Lists) -> std::result::Result<Vec<Slot>, String> {
    let robots = slots.iter().filter_map(|slot| slot.template.get(ROBOT));
    for robot in robots {
        let drawn = match Draw::of(robot)? {
            Some(Draw::OneOf(values)) => values,
            _ => vec![robot.clone()],
        };
        let entry = |robot| Value::Table(Table::from_iter([(ROBOT.into(), robot)]));
        if let Some(refusal) = drawn.into_iter().find_map(|robot| own.refusal(&entry(robot))) {
            return Err(refusal);
        }
    }
    Ok(slots)
}

/// `count` copies of a slot.
///
/// # Errors
/// What is wrong with a draw.
fn slots(list: List, s: &Section<'_>) -> std::result::Result<Vec<Slot>, String> {
    let (mut template, mut count) = (Table::new(), 1);
    for key in s.keys() {
        let Some(value) = s.get(key) else { continue };
        if key == "count" {
            count = s.count(key, 1, COPIES_MAX) as usize;
        } else {
            template.insert(key.into(), value.clone());
        }
    }
    let template = Value::Table(template);
    let draws = draws(&template)?;
    Ok(vec![Slot { list, template, draws }; count])
}
