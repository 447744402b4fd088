//! Reads the section `hunt` of a scenario; all mistakes are reported at once.

use toml::{Table, Value};

use crate::config::{Mistakes, Range, Scenario, Section, get, keys_of, parse};
use hardstand_error::{Error, ErrorKind, Result};
use hardstand_physics::model::Model;

use super::draw::Draw;
use super::space::{LISTS, List, Slot, Space, Vary};
use super::template::draws;

/// Most copies of an event in a case.
const COPIES_MAX: u32 = 64;
/// Length of a case if nothing else is given, s.
const DURATION_S: f64 = 5.0;
/// m/s².
const STANDARD_GRAVITY: f64 = 9.81;

impl Space {
    /// Reads the section `hunt` of a scenario; without one, a space of pushes, delays and friction.
    /// `sets` are changes to all cases.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] with all mistakes.
    pub fn of(scenario: &Scenario, sets: &[String]) -> Result<Self> {
        let mut table = parse(&scenario.complete_toml, "the scenario")?;
        let is_usual = !table.contains_key("hunt");
        if is_usual {
            table.extend(parse(&usual_space(&scenario.model), "the usual space")?);
        }
        let mistakes = Mistakes::default();
        let root = Section::new(String::new(), Some(&table), &mistakes);
        let section = root.section("hunt");
        let own = own_lists(&table);
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
            space.vary.extend(vary(&s, &table));
            s.finish();
        }
        for (key, list) in LISTS {
            let tables = section.get(key).and_then(Value::as_array);
            for (i, template) in tables.into_iter().flatten().enumerate() {
                let name = format!("hunt.{key}.{i}");
                space.slots.extend(slots(list, template, &name, &mistakes));
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

/// Weight of a robot, N.
pub(super) fn weight_n(model: &Model) -> f64 {
    STANDARD_GRAVITY * model.total_mass()
}

/// Events and commands of the scenario itself.
pub(super) fn own_lists(scenario: &Table) -> [Vec<Value>; 2] {
    LISTS.map(|(key, _)| scenario.get(key).and_then(Value::as_array).cloned().unwrap_or_default())
}

/// Up to two pushes on the base, of half the robot's weight each, a delay of commands, and less
/// friction.
fn usual_space(model: &Model) -> String {
    let base = Value::String(model.bodies[0].name.clone());
    let force_n = 0.5 * weight_n(model);
    format!(
        r#"
        [[hunt.vary]]
        keys = ["contact.mu_static", "contact.mu_kinetic"]
        between = [0.1, 1.0]

        [[hunt.events]]
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
        kind = "link_delay"
        at_s = {{ between = [0.0, 4.5] }}
        delay_ticks = {{ between = [1, 20] }}
        "#
    )
}

fn vary(s: &Section<'_>, scenario: &Table) -> Option<Vary> {
    let keys = match s.text_if_given("key") {
        Some(key) => vec![key.to_string()],
        None => s.texts("keys"),
    };
    let table = s.get("between").map(|v| Table::from_iter([("between".into(), v.clone())]));
    let draw = match Draw::of(&Value::Table(table.unwrap_or_default())) {
        Ok(Some(draw)) => draw,
        Ok(None) => {
            s.mistake("between", "two numbers, the smaller first");
            return None;
        }
        Err(text) => {
            s.complain("between", &text);
            return None;
        }
    };
    let usual = get(scenario, &keys_of(keys.first()?));
    match (usual, &draw) {
        (Some(Value::Float(_)), Draw::Number { .. })
        | (Some(Value::Integer(_)), Draw::Whole(_)) => {}
        // a key may be written without decimals in either place
        (Some(Value::Integer(i)), Draw::Number { .. }) => {
            return Some(Vary { keys, draw, usual: Value::Float(*i as f64) });
        }
        (Some(Value::Float(_)), Draw::Whole([a, b])) => {
            let draw = Draw::number([*a as f64, *b as f64]);
            return Some(Vary { keys, draw, usual: usual?.clone() });
        }
        _ => {
            let text = format!("{} must be a key of the scenario that has a number", keys[0]);
            s.complain("key", &text);
            return None;
        }
    }
    Some(Vary { keys, draw, usual: usual?.clone() })
}

/// `count` copies of a slot.
fn slots(list: List, template: &Value, name: &str, mistakes: &Mistakes) -> Vec<Slot> {
    let Some(mut table) = template.as_table().cloned() else {
        mistakes.add(format!("{name} is {template}; it must be a table"));
        return Vec::new();
    };
    let count = match table.remove("count") {
        None => 1,
        Some(Value::Integer(n)) if (1..=i64::from(COPIES_MAX)).contains(&n) => n as usize,
        Some(other) => {
            let most = COPIES_MAX;
            mistakes
                .add(format!("{name}.count is {other}; it must be a whole number, 1 to {most}"));
            return Vec::new();
        }
    };
    let template = Value::Table(table);
    let draws = draws(&template).unwrap_or_else(|text| {
        mistakes.add(format!("{name}: {text}"));
        Vec::new()
    });
    vec![Slot { list, template, draws }; count]
}
