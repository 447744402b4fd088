//! The outcome of a case.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// How a case ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Word {
    /// All ticks were run.
    Done,
    /// The plant stopped itself.
    #[serde(alias = "fault")]
    Failure,
    /// The controller's command failed before the last tick.
    ControllerEnded,
    /// A controller did not join, or did not answer, within `control.patience_s`.
    #[serde(alias = "deserted")]
    ControllerTimeout,
    /// The scenario was refused.
    Refused,
    /// The daemon ended in another way.
    DaemonFailed,
    /// The log does not replay.
    Differs,
}

impl Word {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Done,
        Self::Failure,
        Self::ControllerEnded,
        Self::ControllerTimeout,
        Self::Refused,
        Self::DaemonFailed,
        Self::Differs,
    ];

    /// False if the daemon failed, which says nothing about the case.
    #[must_use]
    pub const fn is_verdict(self) -> bool {
        !matches!(self, Self::DaemonFailed)
    }

    /// As the table has it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failure => "failure",
            Self::ControllerEnded => "controller_ended",
            Self::ControllerTimeout => "controller_timeout",
            Self::Refused => "refused",
            Self::DaemonFailed => "daemon_failed",
            Self::Differs => "differs",
        }
    }
}

/// Outcomes of earlier versions, which `fail_if` accepts, and their names now.
pub const RENAMED: [(&str, &str); 2] = [("fault", "failure"), ("deserted", "controller_timeout")];

/// When a condition held.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Held {
    /// No tick was run.
    Unknown,
    /// In no tick.
    Never,
    /// First at this time, s.
    AtS(f64),
}

/// The tick in which a condition held first, and what made it so.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct First {
    /// Number of the tick.
    pub tick: u64,
    /// The quantities of the condition.
    pub values: Vec<Value>,
}

/// The value of a quantity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Value {
    /// Its name.
    pub name: String,
    /// Its unit; empty if it has none.
    pub unit: String,
    /// `None` if it is not a number.
    pub value: Option<f64>,
}

/// The result of a case, as its `outcome.json` has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Name of the case.
    pub case: String,
    /// How it ended.
    pub outcome: Word,
    /// Exit code of the daemon, or of the controller if it ended the case; −N after signal N.
    pub exit_code: i32,
    /// Why it ended so, unless it is done.
    pub reason: String,
    /// Ticks that were run.
    pub ticks: u64,
    /// Their length, s.
    pub time_s: f64,
    /// Digest after the last, in hex; empty if there was none.
    pub digest: String,
    /// For each condition, when it held.
    pub conditions: BTreeMap<String, Held>,
    /// For each condition that held, where it did first.
    #[serde(default)]
    pub first: BTreeMap<String, First>,
    /// For each measure its value, if it has one.
    pub measures: BTreeMap<String, Option<f64>>,
    /// Wall time of all of it, s.
    pub wall_s: f64,
    /// Log in the folder of results, if it was kept.
    pub log: Option<String>,
    /// Page of a failed case in the folder of results: the run in the browser.
    #[serde(default)]
    pub page: Option<String>,
    /// What it is the outcome of.
    pub inputs: serde_json::Value,
}
