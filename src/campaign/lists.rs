//! Lists of events and of commands, which cases add to.

use toml::{Table, Value};

use crate::config::{Scenario, parse};
use hardstand_error::Result;

/// A list that a scenario has, `events` or `commands`; of several robots each has one.
#[derive(Clone, Debug)]
pub struct Lists {
    key: &'static str,
    /// Name and list of each robot.
    own: Vec<(String, Vec<Value>)>,
}

/// Which of several robots an event is for; without it, all.
pub const ROBOT: &str = "robot";

impl Lists {
    /// The lists `key` of the robots of a scenario.
    ///
    /// # Errors
    /// [`ErrorKind::Input`](hardstand_error::ErrorKind::Input) if a scenario's text cannot be read.
    pub fn of(robots: &[Scenario], key: &'static str) -> Result<Self> {
        let own = |robot: &Scenario| {
            let complete: Table = parse(&robot.complete_toml, "the scenario")?;
            let list = complete.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
            Ok((robot.bus.robot.clone(), list))
        };
        Ok(Self { key, own: robots.iter().map(own).collect::<Result<_>>()? })
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
