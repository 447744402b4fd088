//! What a folder of results holds, beside the outcomes: `campaign.json`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use hardstand_error::Result;

use crate::certify::{Inputs, Machine};

use super::outcome::{Held, Outcome};
use super::plan::{Case, Ground, Plan, Vary, cases};

/// What a campaign is made of, so that its results can be read without its file and its scenarios.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of the program that ran last.
    pub hardstand: String,
    /// The campaign's file.
    pub file: String,
    /// The controller's command.
    pub controller: Vec<String>,
    /// Where that command was given; `None` if it is the file's own.
    pub folder: Option<String>,
    /// Simulated time of each case, s.
    pub duration_s: f64,
    /// `lockstep`, `budgeted` or `realtime`.
    pub mode: String,
    /// Simulated s per s of wall time; `None` for as many as the machine allows.
    pub speed: Option<f64>,
    /// In the order of the file.
    pub scenarios: Vec<NamedScenario>,
    /// Names, in the order of the file.
    pub faults: Vec<String>,
    /// In the order of the file.
    pub seeds: Vec<u32>,
    /// What the seed draws.
    pub vary: Vec<Vary>,
    /// Name and text of each condition.
    pub conditions: Vec<(String, String)>,
    /// Name of each measure, and what it is made of.
    pub measures: Vec<(String, String)>,
    /// Conditions and outcomes that make a case fail.
    pub fail_if: Vec<String>,
    /// Programs and machines that ran cases.
    pub made_by: Vec<Maker>,
}

/// One of the scenarios.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedScenario {
    /// Its name.
    pub name: String,
    /// Its file.
    pub file: String,
    /// XXH3 of the complete scenario and of the robot, 16 hex digits.
    pub hash: String,
}

/// What ran cases: a program, a controller, a machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Maker {
    /// Files and packages, as in a certificate.
    pub inputs: Inputs,
    /// The machine.
    pub machine: Machine,
}

impl Maker {
    /// This program and this machine, with the controller of the plan.
    ///
    /// # Errors
    /// [`ErrorKind::File`](hardstand_error::ErrorKind::File) if a file of them cannot be read.
    pub fn here(plan: &Plan) -> Result<Self> {
        let files: BTreeSet<PathBuf> =
            plan.scenarios.iter().flat_map(|s| s.files.iter().cloned()).collect();
        let files: Vec<PathBuf> = files.into_iter().collect();
        let inputs = Inputs::here(&files, &plan.controller, &[])?;
        Ok(Self { inputs, machine: Machine::here() })
    }
}

/// More of them say nothing to a reader.
const MAKERS_MAX: usize = 64;

impl Manifest {
    /// Of this plan, whose file is `file`; `folder` is where its command was given.
    #[must_use]
    pub fn of(plan: &Plan, file: &str, folder: Option<String>) -> Self {
        let scenario = |s: &Ground| NamedScenario {
            name: s.name.clone(),
            file: s.file.display().to_string(),
            hash: format!("{:016x}", s.hash),
        };
        Self {
            hardstand: env!("CARGO_PKG_VERSION").into(),
            file: file.into(),
            controller: plan.controller.iter().map(|w| w.to_string_lossy().into_owned()).collect(),
            folder,
            duration_s: plan.duration_s,
            mode: plan.mode.into(),
            speed: plan.speed,
            scenarios: plan.scenarios.iter().map(scenario).collect(),
            faults: plan.faults.iter().map(|f| f.name.clone()).collect(),
            seeds: plan.seeds.clone(),
            vary: plan.vary.clone(),
            conditions: plan.conditions.clone(),
            measures: plan.measures.iter().map(|m| (m.name.clone(), m.of.to_string())).collect(),
            fail_if: plan.fail_if.clone(),
            made_by: Vec::new(),
        }
    }

    /// The campaign's name: that of its file.
    #[must_use]
    pub fn name(&self) -> &str {
        let name = Path::new(&self.file).file_stem();
        name.and_then(|name| name.to_str()).unwrap_or("campaign")
    }

    /// The files that it was made of, as far as it names them.
    #[must_use]
    pub fn files(&self) -> BTreeSet<PathBuf> {
        let file = PathBuf::from(&self.file);
        let here = file.parent().unwrap_or(Path::new("")).to_path_buf();
        let folder = self.folder.as_ref().map_or(here, PathBuf::from);
        let inputs = self.made_by.iter().map(|maker| &maker.inputs);
        let hashed = inputs.flat_map(|inputs| inputs.scenario.iter().chain(&inputs.controller));
        let scenarios = self.scenarios.iter().map(|s| &s.file);
        let all = scenarios.chain(hashed.map(|hashed| &hashed.file));
        all.map(|file| folder.join(file)).chain([file]).collect()
    }

    /// All cases, in their order.
    #[must_use]
    pub fn cases(&self) -> Vec<Case> {
        let scenarios: Vec<&str> = self.scenarios.iter().map(|s| s.name.as_str()).collect();
        let faults: Vec<&str> = self.faults.iter().map(String::as_str).collect();
        cases(&scenarios, &faults, &self.seeds)
    }

    /// Name of the scenario of a case, and of its fault.
    #[must_use]
    pub fn names(&self, case: &Case) -> [&str; 2] {
        let scenario = self.scenarios.get(case.scenario).map_or("", |s| s.name.as_str());
        [scenario, self.faults.get(case.fault).map_or("", String::as_str)]
    }

    /// Names of `fail_if` that apply to an outcome.
    #[must_use]
    pub fn failing(&self, outcome: &Outcome) -> Vec<&str> {
        let names = self.fail_if.iter().filter(|name| applies(name, outcome));
        names.map(String::as_str).collect()
    }

    /// Notes what ran cases, once.
    pub(super) fn add_makers(&mut self, makers: Vec<Maker>) {
        for maker in makers {
            let same = |known: &&Maker| {
                known.machine == maker.machine && known.inputs.differences(&maker.inputs).is_empty()
            };
            if self.made_by.len() < MAKERS_MAX && !self.made_by.iter().any(|known| same(&known)) {
                self.made_by.push(maker);
            }
        }
    }
}

/// True if this name of `fail_if` applies.
pub(super) fn applies(name: &str, outcome: &Outcome) -> bool {
    let held = matches!(outcome.conditions.get(name), Some(Held::AtS(_)));
    held || name == outcome.outcome.word()
}
