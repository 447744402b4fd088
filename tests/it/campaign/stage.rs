//! A folder with a campaign in it, and its table as others read it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::common::process::{Process, repository};

pub const HARDSTAND: &str = env!("CARGO_BIN_EXE_hardstand");
/// The controller of most tests.
pub const STAND: [&str; 5] = [HARDSTAND, "controller", "stand", "--join", "stand"];

/// Two scenarios, two faults, two seeds; 0.15 s each.
pub const EIGHT: &str = r#"
duration_s = 0.15
seeds = [7, 9]

[[scenarios]]
name = "flat"
file = "QUADRUPED"

[[scenarios]]
name = "slick"
file = "QUADRUPED"
set = ["contact.mu_static=0.7"]

[[faults]]
name = "none"

[[faults]]
name = "noise"
events = [{ at_s = 0.05, kind = "encoder_noise", amplitude = 0.01 }]

[conditions]
late = "time > 0.1"
fell = "base.z < 0.2"
slick = "abs(station.FL.mu_static - 0.7) < 0.01"

[measures]
ticks_mean = { quantity = "tick", take = "mean" }
ticks_min = { quantity = "tick", take = "min" }
ticks_max = { quantity = "tick", take = "max" }
height_m = { quantity = "base.z", take = "last" }
"#;

pub struct Stage {
    pub dir: tempfile::TempDir,
    pub controller: Vec<String>,
}

impl Stage {
    /// With this campaign; QUADRUPED stands for the shipped scenario.
    pub fn new(campaign: &str) -> Self {
        let stage =
            Self { dir: tempfile::tempdir().unwrap(), controller: STAND.map(String::from).into() };
        stage.write(campaign);
        stage
    }

    /// With a controller that is a script of the shell; `$STAND` is the usual one.
    pub fn with_script(campaign: &str, script: &str) -> Self {
        let script = script.replace("$STAND", &STAND.join(" "));
        let controller = ["sh", "-c", &script].map(String::from).into();
        Self { controller, ..Self::new(campaign) }
    }

    pub fn write(&self, campaign: &str) {
        let text = campaign.replace("QUADRUPED", &repository("config/quadruped.toml"));
        fs::write(self.path("campaign.toml"), text).unwrap();
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn results(&self) -> PathBuf {
        self.path("campaign-results")
    }

    pub fn start(&self, name: &str, more: &[&str]) -> Process {
        let mut command = Command::new(HARDSTAND);
        command.arg("campaign").arg(self.path("campaign.toml")).args(more);
        command.arg("--").args(&self.controller);
        Process::start(self.dir.path(), name, command)
    }

    /// Runs it to its end; what it printed.
    pub fn run(&self, more: &[&str], code: i32) -> String {
        self.start("campaign", more).ends_with(code)
    }

    pub fn rows(&self) -> Vec<Row> {
        rows(&self.results())
    }

    /// Names of the cases that are finished.
    pub fn finished(&self) -> Vec<String> {
        let Ok(cases) = fs::read_dir(self.results().join("cases")) else { return Vec::new() };
        let done = cases.flatten().filter(|c| c.path().join("outcome.json").is_file());
        let mut names: Vec<String> =
            done.map(|c| c.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

/// A row by the names of its columns.
pub type Row = BTreeMap<String, String>;

/// The table, read by the csv crate.
pub fn rows(results: &Path) -> Vec<Row> {
    let mut reader = csv::Reader::from_path(results.join("table.csv")).unwrap();
    reader.deserialize().map(Result::unwrap).collect()
}

/// What must be the same every time.
pub fn same(rows: &[Row]) -> Vec<Row> {
    let mut rows = rows.to_vec();
    rows.iter_mut().for_each(|row| assert!(row.remove("wall_s").is_some()));
    rows
}

/// [`EIGHT`], run once in one piece.
pub fn eight() -> &'static Stage {
    static RUN: OnceLock<Stage> = OnceLock::new();
    RUN.get_or_init(|| {
        let stage = Stage::new(EIGHT);
        let said = stage.run(&["--jobs", "2"], 0);
        assert!(said.contains("outcomes   8 of 8 cases: done 8"), "{said}");
        stage
    })
}
