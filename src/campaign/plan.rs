//! What a campaign is to run, checked.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::json;
use toml::Value;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::certify::{self, named_files};
use crate::config::Scenario;
use crate::simulation::chance;
use hardstand_protocol::FaultKind;

use super::lists::Lists;
use super::manifest::applies;
use super::outcome::Outcome;

/// A campaign, checked.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The controller's command; empty if the file names none.
    pub controller: Vec<OsString>,
    /// Where that command runs.
    pub controller_folder: PathBuf,
    /// Hash of the files that it names; [`controller_files`].
    pub controller_files: String,
    /// How the controller runs.
    pub way: Way,
    /// Kept of a case, beside its row.
    pub keep: Keep,
    /// Conditions and outcomes that make it fail.
    pub fail_if: Vec<String>,
    /// Outcomes that `fail_if` calls by the name of an earlier version: that name, and the name
    /// now.
    pub renamed: Vec<(&'static str, &'static str)>,
    pub(super) duration_s: f64,
    pub(super) mode: &'static str,
    /// Simulated s per s of wall time; `None` for as many as the machine allows.
    pub(super) speed: Option<f64>,
    pub(super) scenarios: Vec<Ground>,
    pub(super) faults: Vec<Break>,
    pub(super) seeds: Vec<u32>,
    pub(super) vary: Vec<Vary>,
    /// Name and text.
    pub(super) conditions: Vec<(String, String)>,
    pub(super) measures: Vec<Measure>,
}

/// One of the scenarios.
#[derive(Clone, Debug)]
pub(super) struct Ground {
    pub(super) name: String,
    pub(super) file: PathBuf,
    /// All files that were read: the scenario, its robot, its overlays.
    pub(super) files: Vec<PathBuf>,
    pub(super) sets: Vec<String>,
    /// The robots' names in the keys.
    pub(super) robots: Vec<String>,
    /// Its own events; of a hunt none, for its cases bring their own.
    pub(super) events: Lists,
    /// Of the complete scenario and of the robots.
    pub(super) hash: u64,
    /// Wall time that a controller has for its answer; `None`: no limit.
    pub(super) patience: Option<Duration>,
}

/// First change of every case: no topics of ROS 2 in the log, unless they are asked for, for it is
/// half as long without.
pub(super) const WITHOUT_ROS2: &str = "record.ros2=false";

/// The key of a change in the form of `--set`, or a key alone, if cases cannot change it.
#[must_use]
pub fn own_key(set: &str) -> Option<&str> {
    certify::own_key(set, &["bus.listen"])
}

/// Last change of every case.
const WAITS: &str = "sim.start=\"on_controller\"";

/// One of the lists of faults.
#[derive(Clone, Debug)]
pub(super) struct Break {
    pub(super) name: String,
    pub(super) events: Vec<Value>,
}

impl Break {
    /// Its events; what hangs on chance gets the case's seed.
    pub(super) fn seeded(&self, seed: u32) -> Vec<Value> {
        let seeded = |event: &Value| {
            let mut event = event.clone();
            let kind = event.get("kind").and_then(Value::as_str);
            let row = FaultKind::TABLE.iter().find(|row| Some(row.name) == kind);
            if row.is_some_and(|row| row.parameters.iter().any(|p| p.name == "seed"))
                && let Some(table) = event.as_table_mut()
            {
                table.entry("seed").or_insert(Value::Integer(seed.into()));
            }
            event
        };
        self.events.iter().map(seeded).collect()
    }
}

/// A key that is drawn from the seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Vary {
    /// A key of the scenario.
    pub key: String,
    /// The smallest and the largest value.
    pub between: [f64; 2],
}

impl Vary {
    /// Name of its column: many readers take a dot for something else.
    #[must_use]
    pub fn column(&self) -> String {
        self.key.replace('.', "_")
    }

    /// The value that this seed draws.
    #[must_use]
    pub fn draw(&self, seed: u32) -> f64 {
        let [low, high] = self.between;
        // by its name, so that a key more or less changes no other
        let x = chance(seed.into(), xxh3_64(self.key.as_bytes()), 0);
        (low + (high - low) * x).clamp(low, high)
    }
}

/// A number that is made of all ticks.
#[derive(Clone, Debug)]
pub(super) struct Measure {
    pub(super) name: String,
    pub(super) of: Of,
}

/// What it is made of.
#[derive(Clone, Debug)]
pub(super) enum Of {
    Quantity(String, Take),
    /// The largest margin of a condition.
    Margin(String),
}

impl fmt::Display for Of {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Quantity(quantity, take) => write!(f, "{take:?} {quantity}"),
            Self::Margin(condition) => write!(f, "Margin {condition}"),
        }
    }
}

/// How it is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Take {
    Max,
    Min,
    Mean,
    Last,
}

/// How the controller of a case runs. A row does not depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Way {
    /// In a process of its own, as the daemon does.
    #[default]
    OwnProcess,
    /// It begins again with each run, so its process and the daemon's stay up from case to case.
    StaysUp,
    /// It simulates the robot itself (`--in-process`): a case is one process.
    InProcess,
}

/// Of which cases log and words of both processes are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// All.
    All,
    /// Those that did not reach their end, or made the campaign fail.
    Failed,
    /// None.
    None,
}

/// One of the cases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// Its name, made of those of scenario and fault, and of the seed.
    pub id: String,
    pub(super) scenario: usize,
    pub(super) fault: usize,
    pub(super) seed: u32,
}

impl Case {
    /// Which of the scenarios.
    #[must_use]
    pub const fn scenario(&self) -> usize {
        self.scenario
    }

    /// Which of the faults.
    #[must_use]
    pub const fn fault(&self) -> usize {
        self.fault
    }

    /// Its seed.
    #[must_use]
    pub const fn seed(&self) -> u32 {
        self.seed
    }
}

/// What all cases of a [hunt](crate::hunt) have in common.
#[derive(Clone, Debug)]
pub struct Common {
    /// The scenario's file.
    pub file: PathBuf,
    robots: Vec<String>,
    hash: u64,
    patience: Option<Duration>,
    controller_files: String,
    /// The controller's command.
    pub controller: Vec<OsString>,
    /// As in a [`Plan`].
    pub way: Way,
    /// The condition that is looked for.
    pub until: String,
    /// What the controller finds as its seed.
    pub seed: u32,
}

impl Common {
    /// Of the robots of the scenario that was read from `file`.
    #[must_use]
    pub fn new(
        robots: &[Scenario],
        file: PathBuf,
        controller: Vec<OsString>,
        until: String,
        seed: u32,
    ) -> Self {
        let patience = patience_of(robots);
        let (robots, hash) = (names_of(robots), hash_of(robots));
        let (controller_files, way) = (controller_files(&controller), Way::default());
        Self { file, robots, hash, patience, controller_files, controller, way, until, seed }
    }
}

/// Hash of the files that a controller's command names by a path, in the current folder; empty if
/// it names none. A program that is found in `PATH` does not count: it may be another on another
/// machine.
#[must_use]
pub fn controller_files(command: &[OsString]) -> String {
    let files = files_of(command);
    let mut hasher = Xxh3::new();
    for file in &files {
        let bytes = std::fs::read(file).unwrap_or_default();
        hasher.update(&bytes.len().to_le_bytes());
        hasher.update(&bytes);
    }
    if files.is_empty() { String::new() } else { format!("{:016x}", hasher.digest()) }
}

fn files_of(command: &[OsString]) -> BTreeSet<PathBuf> {
    let mut files = named_files(command);
    let program = command.first().map(PathBuf::from);
    files.extend(program.filter(|file| file.components().count() > 1 && file.is_file()));
    files
}

/// Hash of the complete scenario and of each robot.
pub(super) fn hash_of(robots: &[Scenario]) -> u64 {
    let text = |robot: &Scenario| format!("{}\n{}", robot.complete_toml, robot.robot_urdf);
    xxh3_64(robots.iter().map(text).collect::<Vec<_>>().join("\n").as_bytes())
}

pub(super) fn names_of(robots: &[Scenario]) -> Vec<String> {
    robots.iter().map(|robot| robot.bus.robot.clone()).collect()
}

/// `control.patience_s` of the first robot, as a daemon without a terminal takes it.
pub(super) fn patience_of(robots: &[Scenario]) -> Option<Duration> {
    let first = robots.first()?;
    first.control.patience_without_terminal_ns().map(Duration::from_nanos)
}

/// Name of the condition and of its margin in the outcome of a case of [`Plan::of_hunt`].
pub const UNTIL: &str = "until";
/// The largest margin of that condition.
pub const MARGIN: &str = "margin";

impl Plan {
    /// Cases that differ in what `--set` changes, each with its name.
    #[must_use]
    pub fn of_hunt(
        common: &Common,
        cases: &[(String, Vec<String>)],
        duration_s: f64,
        keep: Keep,
    ) -> Self {
        let ground = |(name, sets): &(String, Vec<String>)| Ground {
            name: name.clone(),
            file: common.file.clone(),
            files: Vec::new(),
            sets: std::iter::once(WITHOUT_ROS2.into()).chain(sets.iter().cloned()).collect(),
            robots: common.robots.clone(),
            events: Lists::default(),
            hash: common.hash,
            patience: common.patience,
        };
        let until = common.until.clone();
        Self {
            controller: common.controller.clone(),
            controller_folder: PathBuf::new(),
            controller_files: common.controller_files.clone(),
            way: common.way,
            keep,
            fail_if: vec![UNTIL.into()],
            renamed: Vec::new(),
            duration_s,
            mode: "lockstep",
            speed: None,
            scenarios: cases.iter().map(ground).collect(),
            faults: vec![Break { name: "none".into(), events: Vec::new() }],
            seeds: vec![common.seed],
            vary: Vec::new(),
            conditions: vec![(UNTIL.into(), until.clone())],
            measures: vec![Measure { name: MARGIN.into(), of: Of::Margin(until) }],
        }
    }

    /// All files that decide what comes out: those that the scenarios are read from, and those that
    /// the controller's command names, in the current folder.
    #[must_use]
    pub fn files(&self) -> BTreeSet<PathBuf> {
        let scenarios = self.scenarios.iter().flat_map(|s| s.files.iter().cloned());
        scenarios.chain(files_of(&self.controller)).collect()
    }

    /// All cases, in their order: by scenario, then fault, then seed.
    #[must_use]
    pub fn cases(&self) -> Vec<Case> {
        let scenarios: Vec<&str> = self.scenarios.iter().map(|s| s.name.as_str()).collect();
        let faults: Vec<&str> = self.faults.iter().map(|f| f.name.as_str()).collect();
        cases(&scenarios, &faults, &self.seeds)
    }

    /// The cases of slice `index` of `count`: every `count`-th, so that slices take equally long.
    #[must_use]
    pub fn slice(&self, [index, count]: [usize; 2]) -> Vec<Case> {
        self.cases().into_iter().skip(index).step_by(count.max(1)).collect()
    }

    /// True if the pace is real time, or a multiple of it: then cases should not share cores.
    #[must_use]
    pub const fn is_paced(&self) -> bool {
        self.speed.is_some()
    }

    /// True if this outcome makes the campaign fail.
    #[must_use]
    pub fn fails(&self, outcome: &Outcome) -> bool {
        self.fail_if.iter().any(|name| applies(name, outcome))
    }

    /// What `--set` changes for this case, in the file's words.
    pub(super) fn sets(&self, case: &Case) -> Vec<String> {
        let ground = &self.scenarios[case.scenario];
        let mut sets = ground.sets.clone();
        sets.extend(ground.events.with(&self.faults[case.fault].seeded(case.seed)));
        sets.extend(self.vary.iter().map(|v| format!("{}={:?}", v.key, v.draw(case.seed))));
        sets
    }

    /// The arguments of `hardstand run` for this case, but for endpoint and log.
    pub(super) fn arguments(&self, case: &Case) -> Vec<OsString> {
        let mut all: Vec<OsString> = vec![self.scenarios[case.scenario].file.clone().into()];
        let duration = format!("{:?}", self.duration_s);
        all.extend(["--duration", &duration].map(OsString::from));
        if self.way != Way::InProcess {
            all.extend(["--mode", self.mode, "--pace"].map(OsString::from));
            match self.speed {
                Some(speed) => {
                    all.extend(["realtime", "--speed", &format!("{speed:?}")].map(OsString::from));
                }
                None => all.push("free".into()),
            }
        }
        // a case whose ticks do not wait for a controller may be over before one is there
        for set in self.sets(case).into_iter().chain([String::from(WAITS)]) {
            all.extend([OsString::from("--set"), set.into()]);
        }
        all
    }

    /// Everything that decides what comes out, to be compared with that of an earlier outcome.
    pub(super) fn inputs(&self, case: &Case) -> serde_json::Value {
        let words: Vec<_> = self.controller.iter().map(|w| w.to_string_lossy()).collect();
        let measures: Vec<String> =
            self.measures.iter().map(|m| format!("{} = {}", m.name, m.of)).collect();
        json!({
            "hardstand": env!("CARGO_PKG_VERSION"),
            "scenario": format!("{:016x}", self.scenarios[case.scenario].hash),
            "changes": self.sets(case),
            "duration_s": self.duration_s,
            "mode": self.mode,
            "speed": self.speed,
            "controller": words,
            "controller_files": self.controller_files,
            "conditions": self.conditions,
            "measures": measures,
        })
    }
}

/// All cases of these, in their order: by scenario, then fault, then seed.
pub(super) fn cases(scenarios: &[&str], faults: &[&str], seeds: &[u32]) -> Vec<Case> {
    let mut all = Vec::with_capacity(scenarios.len() * faults.len() * seeds.len());
    for (scenario, s) in scenarios.iter().enumerate() {
        for (fault, f) in faults.iter().enumerate() {
            all.extend(seeds.iter().map(|&seed| Case {
                id: format!("{s}__{f}__s{seed:04}"),
                scenario,
                fault,
                seed,
            }));
        }
    }
    all
}
