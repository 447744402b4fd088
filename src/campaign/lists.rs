//! The robots of a scenario as tables, and their lists of events and commands, which cases add to.

use toml::{Table, Value};

use crate::config::{Scenario, get, keys_of, parse};
use hardstand_error::Result;

/// A list that a scenario has, `events` or `commands`; of several robots each has one.
#[derive(Clone, Debug, Default)]
pub struct Lists {
    key: &'static str,
    /// Name and list of each robot.
    own: Vec<(String, Vec<Value>)>,
}

/// Which of several robots an event is for; without it, all.
pub const ROBOT: &str = "robot";

/// Name and complete scenario of each robot.
///
/// # Errors
/// [`ErrorKind::Input`](hardstand_error::ErrorKind::Input) if a scenario's text cannot be read.
pub fn tables(robots: &[Scenario]) -> Result<Vec<(String, Table)>> {
    let table = |robot: &Scenario| {
        Ok((robot.bus.robot.clone(), parse(&robot.complete_toml, "the scenario")?))
    };
    robots.iter().map(table).collect()
}

/// The value of a key: of a robot's own key `robots.1.…` that robot's, of another the first one's.
#[must_use]
pub fn value_of<'a>(robots: &'a [(String, Table)], key: &str) -> Option<&'a Value> {
    let own = key.strip_prefix("robots.").and_then(|rest| rest.split_once('.'));
    let ((_, robot), key) = match own.and_then(|(i, key)| Some((i.parse::<usize>().ok()?, key))) {
        Some((i, key)) if robots.len() > 1 => (robots.get(i)?, key),
        _ => (robots.first()?, key),
    };
    get(robot, &keys_of(key))
}

impl Lists {
    /// The lists `key` of the robots of a scenario.
    #[must_use]
    pub fn of(robots: &[(String, Table)], key: &'static str) -> Self {
        let list = |table: &Table| table.get(key).and_then(Value::as_array).cloned();
        let own =
            robots.iter().map(|(robot, table)| (robot.clone(), list(table).unwrap_or_default()));
        Self { key, own: own.collect() }
    }

    /// Length of the longest.
    #[must_use]
    pub fn len(&self) -> usize {
        self.own.iter().map(|(_, list)| list.len()).max().unwrap_or(0)
    }

    /// True if they are empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What is wrong with the robot that an entry is for.
    #[must_use]
    pub fn refusal(&self, added: &Value) -> Option<String> {
        let names: Vec<&str> = self.own.iter().map(|(name, _)| name.as_str()).collect();
        let robot = added.get(ROBOT)?;
        let known = robot.as_str().is_some_and(|robot| names.contains(&robot));
        (!known).then(|| format!("{ROBOT} is {robot}; it must be one of {}", names.join(", ")))
    }

    /// What `--set` changes so that the robots have `added` behind their own, each the entries that
    /// are for it.
    #[must_use]
    pub fn with(&self, added: &[Value]) -> Vec<String> {
        let mut sets = Vec::new();
        for (i, (robot, own)) in self.own.iter().enumerate() {
            let is_for = |entry: &&Value| {
                entry.get(ROBOT).is_none_or(|name| name.as_str() == Some(robot.as_str()))
            };
            let added: Vec<Value> = added.iter().filter(is_for).map(without_robot).collect();
            if added.is_empty() {
                continue;
            }
            let key = match self.own.len() {
                1 => self.key.into(),
                _ => format!("robots.{i}.{}", self.key),
            };
            let all: Vec<Value> = own.iter().cloned().chain(added).collect();
            sets.push(format!("{key}={}", Value::Array(all)));
        }
        sets
    }
}

fn without_robot(entry: &Value) -> Value {
    let mut entry = entry.clone();
    if let Some(table) = entry.as_table_mut() {
        table.remove(ROBOT);
    }
    entry
}
