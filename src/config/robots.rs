//! Several robots in one scenario.

use toml::{Table, Value};

use hardstand_error::{Error, ErrorKind, Result};

use crate::limits::ROBOTS_MAX;

use super::merge::overwrite;
use super::{Ros2Mode, Scenario, drives, sensors};

/// The section.
const ROBOTS: &str = "robots";
/// What a robot may have for itself. Everything else holds for all: one world, one clock, one bus.
const OWN: [&str; 21] = [
    "battery",
    "bodies",
    "buses",
    "command",
    "commands",
    "constraints",
    "control",
    "drives",
    "events",
    "feet",
    "foot_switch",
    "imu",
    "initial",
    "joints",
    "lcm",
    "links",
    "robot",
    "sensors",
    "shared_memory",
    "udp",
    "unitree",
];

/// The complete table of each robot: what is common, and its own keys over that. One table without
/// a name if there is no section.
///
/// # Errors
/// [`ErrorKind::Input`] with all mistakes of the section.
pub(super) fn split(mut complete: Table, file: &str) -> Result<Vec<(Option<String>, Table)>> {
    let Some(section) = complete.remove(ROBOTS) else { return Ok(vec![(None, complete)]) };
    let mut mistakes = Vec::new();
    let entries = match &section {
        Value::Array(entries) if (1..=ROBOTS_MAX).contains(&entries.len()) => entries.clone(),
        Value::Array(entries) => {
            mistakes.push(format!("robots has {} entries; 1 to {ROBOTS_MAX}", entries.len()));
            Vec::new()
        }
        other => {
            mistakes.push(format!("robots is {other}; it must be a list of tables: [[robots]]"));
            Vec::new()
        }
    };
    let mut all: Vec<(Option<String>, Table)> = Vec::new();
    for (i, entry) in entries.into_iter().enumerate() {
        match robot(entry, i, &complete) {
            Ok((name, _)) if all.iter().any(|(other, _)| other.as_ref() == Some(&name)) => {
                mistakes.push(format!("robots.{i}.name is \"{name}\"; another robot has it"));
            }
            Ok((name, table)) => all.push((Some(name), table)),
            Err(m) => mistakes.extend(m),
        }
    }
    if mistakes.is_empty() {
        return Ok(all);
    }
    Err(Error::list(ErrorKind::Input, &format!("{file}: the scenario was refused"), &mistakes))
}

/// The name and the table of entry `i`.
fn robot(
    entry: Value,
    i: usize,
    common: &Table,
) -> std::result::Result<(String, Table), Vec<String>> {
    let Value::Table(mut own) = entry else {
        return Err(vec![format!("robots.{i} is {entry}; it must be a table")]);
    };
    let mut mistakes = Vec::new();
    let name = match own.remove("name") {
        Some(Value::String(name)) if !name.is_empty() => name,
        other => {
            let is = other.map_or("missing".into(), |v| v.to_string());
            mistakes
                .push(format!("robots.{i}.name is {is}; it must be the robot's name in the keys"));
            String::new()
        }
    };
    for key in own.keys().filter(|key| !OWN.contains(&key.as_str())) {
        let allowed = OWN.join(", ");
        mistakes.push(format!("robots.{i}.{key}: a robot may have for itself {allowed}"));
    }
    if own.get("control").and_then(|control| control.get("mode")).is_some() {
        mistakes.push(format!("robots.{i}.control.mode: it holds for all; set control.mode"));
    }
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    let mut table = common.clone();
    overwrite(&mut table, own);
    let named = Table::from_iter([("name".to_string(), Value::String(name.clone()))]);
    overwrite(&mut table, Table::from_iter([("robot".to_string(), Value::Table(named))]));
    in_namespace(&mut table, &name);
    drives::expand(&mut table);
    sensors::expand(&mut table);
    Ok((name, table))
}

/// True of `left.part2` and `left`: a log is continued in files of such names.
fn is_part_of(name: &str, other: &str) -> bool {
    let number = name.strip_prefix(other).and_then(|rest| rest.strip_prefix(".part"));
    number.is_some_and(|number| !number.is_empty() && number.chars().all(|c| c.is_ascii_digit()))
}

/// Puts the robot's ROS 2 topics below its name, with `robot_` before a digit, which no name
/// of ROS begins with.
fn in_namespace(table: &mut Table, name: &str) {
    let Some(Value::Table(ros2)) = table.get_mut("ros2") else { return };
    let Some(Value::String(namespace)) = ros2.get("namespace") else { return };
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let begin = if name.starts_with(|c: char| c.is_ascii_digit()) { "robot_" } else { "" };
    let name: String = name.chars().map(|c| if is_letter(c) { c } else { '_' }).collect();
    let namespace = format!("{}/{begin}{name}", namespace.trim_matches('/'));
    ros2.insert("namespace".into(), Value::String(namespace.trim_matches('/').into()));
}

/// Refuses what only one of the robots can have.
///
/// # Errors
/// [`ErrorKind::Input`] with all mistakes.
pub(super) fn check(robots: &[Scenario], file: &str) -> Result<()> {
    let mut mistakes = Vec::new();
    let mut one = |what: &str, has: fn(&Scenario) -> bool| {
        let names: Vec<&str> =
            robots.iter().filter(|r| has(r)).map(|r| r.bus.robot.as_str()).collect();
        if names.len() > 1 {
            let names = names.join(", ");
            mistakes.push(format!("{what}: {names} have it; its topics are for one robot"));
        }
    };
    one("unitree", |robot| robot.unitree.is_some());
    one("lcm", |robot| robot.lcm.is_some());
    for (i, robot) in robots.iter().enumerate() {
        let name = &robot.bus.robot;
        for other in &robots[..i] {
            let (first, space) = (&other.bus.robot, &robot.ros2.namespace);
            if *space == other.ros2.namespace && robot.ros2.mode != Ros2Mode::Off {
                mistakes.push(format!(
                    "robots.{i}.name is \"{name}\": its topics of ROS 2 would be those of \
                     \"{first}\", below {space}; choose another name"
                ));
            }
        }
        let is_part = |other: &&Scenario| is_part_of(name, &other.bus.robot);
        if let Some(other) = robots.iter().find(is_part) {
            let other = &other.bus.robot;
            mistakes.push(format!(
                "robots.{i}.name is \"{name}\": its log would be called as a further file of that \
                 of \"{other}\"; choose another name"
            ));
        }
    }
    if mistakes.is_empty() {
        return Ok(());
    }
    Err(Error::list(ErrorKind::Input, &format!("{file}: the scenario was refused"), &mistakes))
}
