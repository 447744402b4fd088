//! Hunts: planted bugs are found, shrunk to their cause, and kept.

use std::ffi::OsStr;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use hardstand_client::Client;
use hardstand_protocol::{JoinRequest, StateReading};
use rustix::process::{Pid, Signal};
use serde_json::Value;

use crate::common::process::{PATIENCE, Process, quadruped_text, script, serial, wait_for};

/// Longest hunt of these tests, s.
const HUNT_S: u32 = 1200;
const HARDSTAND: &str = env!("CARGO_BIN_EXE_hardstand");

/// Eight pushes and errors that the robot stands, and a key; delays of up to 12 ticks.
const SPACE: &str = r#"
[hunt]
duration_s = 1.0

[[hunt.vary]]
keys = ["contact.mu_static", "contact.mu_kinetic"]
between = [0.6, 0.9]

[[hunt.events]]
kind = "push"
at_s = { between = [0.2, 0.8] }
link = "trunk"
force_n = [{ between = [-30.0, 30.0] }, { between = [-30.0, 30.0] }, 0.0]
point_m = [{ between = [-0.2, 0.2] }, 0.0, 0.0]
duration_s = 0.1
count = 4

[[hunt.events]]
kind = "encoder_noise"
at_s = { between = [0.2, 0.8] }
amplitude = { between = [0.0, 0.001] }
duration_s = 0.1
count = 3

[[hunt.events]]
kind = "link_delay"
at_s = { between = [0.2, 0.8] }
delay_ticks = { between = [1, 12] }
duration_s = 0.1
"#;

/// Three cases: without a delay, and with each of two.
const DELAYS: &str = r#"
[hunt]
duration_s = 0.1

[[hunt.events]]
kind = "link_delay"
at_s = 0.0
delay_ticks = { between = [1, 2] }
"#;

/// Two robots; pushes on either, delays of each, and a place of one.
const TWO_ROBOTS: &str = r#"
[hunt]
duration_s = 1.0

[[hunt.vary]]
key = "robots.1.initial.position_m.1"
between = [-1.2, -0.8]

[[hunt.events]]
kind = "push"
robot = { one_of = ["left", "right"] }
at_s = { between = [0.2, 0.8] }
link = "trunk"
force_n = [{ between = [-30.0, 30.0] }, { between = [-30.0, 30.0] }, 0.0]
duration_s = 0.1
count = 2

[[hunt.events]]
kind = "link_delay"
robot = "left"
at_s = { between = [0.2, 0.8] }
delay_ticks = { between = [1, 12] }
duration_s = 0.1

[[hunt.events]]
kind = "link_delay"
robot = "right"
at_s = { between = [0.2, 0.8] }
delay_ticks = { between = [1, 12] }
duration_s = 0.1

[[robots]]
name = "left"
initial = { position_m = [0.0, 1.0, 0.0] }

[[robots]]
name = "right"
initial = { position_m = [0.0, -1.0, 0.0] }
"#;

struct Stage(tempfile::TempDir);

impl Stage {
    fn new(space: &str) -> Self {
        let stage = Self(tempfile::tempdir().unwrap());
        fs::write(stage.path("legs.toml"), quadruped_text() + space).unwrap();
        stage
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A hunt of its scenario until the robot falls.
    fn command(&self) -> Command {
        self.until("fell")
    }

    fn until(&self, condition: &str) -> Command {
        let mut command = Command::new(HARDSTAND);
        command.arg("hunt").arg(self.path("legs.toml")).args(["--until", condition]);
        command
    }

    /// A hunt with this bug, whose outcomes go to a folder of this name.
    fn start(&self, bug: &str, out: &str, more: &[&str]) -> Process {
        self.start_until("fell", bug, out, more)
    }

    fn start_until(&self, condition: &str, bug: &str, out: &str, more: &[&str]) -> Process {
        let mut command = self.until(condition);
        command.env("BUG", bug).args(["--json", "--out"]).arg(self.path(out)).args(more);
        let (_, module) = module_path!().split_once("::").unwrap();
        command.arg("--").arg(std::env::current_exe().unwrap());
        command.args(["--ignored", "--exact", &format!("{module}::controller_with_a_bug")]);
        let name = format!("{out}{}", more.concat().replace('/', "-"));
        Process::start(self.0.path(), &name, command)
    }

    fn hunt(&self, bug: &str, out: &str, more: &[&str], code: i32) -> Value {
        Self::result(self.start(bug, out, more), code)
    }

    fn result(mut hunt: Process, code: i32) -> Value {
        // hundreds of cases take longer than a test usually waits
        for _ in 0..HUNT_S {
            if hunt.has_ended() {
                break;
            }
            std::thread::sleep(Duration::from_secs(1));
        }
        let said = hunt.ends_with(code);
        serde_json::from_str(&said).unwrap_or_else(|e| panic!("{e}: {said}"))
    }
}

/// Stands, and gives up for good where its bug shows.
#[test]
#[ignore = "a program for the tests below"]
fn controller_with_a_bug() {
    let Ok(bug) = std::env::var("BUG") else { return };
    let variable = |name: &str| std::env::var(name).unwrap();
    let client = wait_for("the daemon", || {
        Client::connect(&variable("HARDSTAND_CONNECT"), &variable("HARDSTAND_ROBOT")).ok()
    });
    let model = client.model(PATIENCE).unwrap();
    let mut controller = client.join(JoinRequest::new(&model, "planted"), PATIENCE).unwrap();
    let (held, mut limp) = (model.hold(), false);
    while let Ok(state) = controller.next_state(Duration::from_secs(5)) {
        let Some(state) = state else { continue };
        limp |= shows(&bug, &state);
        let mut joints = held.clone();
        if limp {
            joints.iter_mut().for_each(|j| (j.kp, j.kd) = (0.0, 0.5));
        }
        controller.answer(&state, &joints).unwrap();
    }
}

/// Whether a program runs that has this in its environment.
fn runs_with(text: &str) -> bool {
    let has = |process: fs::DirEntry| {
        let environment = fs::read(process.path().join("environ")).unwrap_or_default();
        String::from_utf8_lossy(&environment).contains(text)
    };
    fs::read_dir("/proc").unwrap().flatten().any(has)
}

fn shows(bug: &str, s: &StateReading) -> bool {
    // twice the third part is the yaw where angles are small
    let yaw = 2.0 * s.imu_quat_wxyz[3];
    let rates = s.imu_angular_velocity_rad_per_s;
    match bug {
        "none" => false,
        // longer than its buffer
        "race" => matches!(s.authority, 1 | 2) && s.command_age_ticks > 7,
        // some states of a hundred have the wrong sign
        "sign" => (0.15..0.17).contains(&rates[0]),
        // from 0.02 rad on it is taken for one turn more
        "wrapped" => yaw > 0.02,
        // a filter that begins with what the gyro shows then
        "filter" => s.tick == 2000 && rates[0].abs() > 0.05,
        other => panic!("no bug is called {other}"),
    }
}

#[test]
fn a_hunt_says_which_of_two_robots_needs_what() {
    let _one = serial();
    let stage = Stage::new(TWO_ROBOTS);
    let found = Stage::result(stage.start_until("right.fell", "race", "found", &[]), 1);
    let catch = &found["found"];
    let changes = catch["changes"].as_array().unwrap();
    assert_eq!(changes.len(), 1, "{catch:#}");
    let sentence = catch["sentence"].as_str().unwrap();
    for part in ["right.fell at", "if link_delay at", "delay_ticks 8", "robot \"right\""] {
        assert!(sentence.contains(part), "{part}: {sentence}");
    }
    let set = catch["sets"][0].as_str().unwrap();
    assert!(set.starts_with("robots.1.events=[") && !set.contains("robot ="), "{set}");
    assert_eq!(catch["repeats"], true, "{catch:#}");
    assert!(stage.path("found/cases/found__none__s0001/run-right.html").is_file());

    let refused = |from: &str, to: &str, said: &str| {
        let stage = Stage::new(&TWO_ROBOTS.replace(from, to));
        let found = stage.start_until("right.fell", "race", "found", &[]).ends_with(2);
        assert!(found.contains(said), "{found}");
    };
    let known = "must be one of left, right";
    refused("one_of = [\"left\", ", "one_of = [\"lift\", ", known);
    refused("robot = \"right\"", "robot = \"rite\"", known);
    let number = "robots.2.initial.position_m.1 must be a key of the scenario that has a number";
    refused("robots.1.initial", "robots.2.initial", number);
}

#[test]
fn a_race_under_delay_is_found_and_shrunk_to_the_delay() {
    let _one = serial();
    let stage = Stage::new(SPACE);
    let found = stage.hunt("race", "first", &["--jobs", "1"], 1);
    let catch = &found["found"];
    let changes = catch["changes"].as_array().unwrap();
    assert_eq!(changes.len(), 1, "{catch:#}");
    let sentence = catch["sentence"].as_str().unwrap();
    assert!(
        sentence.contains("if link_delay at ") && sentence.contains("delay_ticks 8"),
        "{sentence}"
    );
    let edge = &catch["edges"][0];
    assert_eq!((&edge["name"], &edge["not_at"]), (&"link_delay delay_ticks".into(), &"7".into()));

    // the same way with another number of cases at a time, and after an interruption
    let mut other = stage.start("race", "second", &["--jobs", "2"]);
    let cases = stage.path("second/cases");
    let count = || fs::read_dir(&cases).map_or(0, |all| all.flatten().count());
    wait_for("some cases", || (count() > 4).then_some(()));
    let left = format!("HARDSTAND_FAMILY={}-", other.pid());
    other.signal(Signal::KILL);
    wait_for("its end", || other.has_ended().then_some(()));
    // its controllers wait for their daemon for ever
    let again = stage.hunt("race", "second", &["--jobs", "2"], 1);
    assert!(!runs_with(&left), "a killed hunt's controllers still run");
    for key in ["sentence", "sets", "edges", "digest", "at_s"] {
        assert_eq!(again["found"][key], catch[key], "{key}");
    }
    assert_eq!(again["cases"], found["cases"]);

    // what is kept fails as long as the bug is there
    let campaign = |bug: &str, code: i32| {
        let mut command = Command::new(HARDSTAND);
        command.env("BUG", bug).arg("campaign").arg(stage.path("first/found.toml"));
        command.arg("--out").arg(stage.path(&format!("campaign-{bug}")));
        Process::start(stage.0.path(), "campaign", command).ends_with(code)
    };
    campaign("race", 1);
    campaign("none", 0);
}

#[test]
fn without_a_bug_nothing_is_found_and_the_nearest_case_is_told() {
    let _one = serial();
    let stage = Stage::new(SPACE);
    let result = stage.hunt("none", "out", &["--cases", "24", "--random", "8"], 0);
    assert_eq!((result["cases"].as_u64(), &result["found"]), (Some(24), &Value::Null));
    assert!(result["best_margin"].as_f64().unwrap() < 0.0, "{result}");
}

/// With a controller of the program's own: the same cases, to the sentence.
#[test]
fn a_hunt_in_one_process_finds_what_one_with_a_daemon_finds() {
    let _one = serial();
    let space = "[hunt]\nduration_s = 0.6\n\n[[hunt.events]]\nkind = \"push\"\nat_s = 0.1\n\
                 link = \"trunk\"\nforce_n = [0.0, { between = [0.0, 900.0] }, 0.0]\n\
                 duration_s = 0.2\n\n[[hunt.events]]\nkind = \"link_delay\"\nat_s = 0.1\n\
                 delay_ticks = { between = [1, 12] }\n\n[[hunt.events]]\nkind = \"state_jitter\"\n\
                 at_s = 0.1\ndelay_ticks = { between = [1, 6] }\n";
    let hunt = |more: &[&str]| {
        let stage = Stage::new(space);
        let mut command = stage.command();
        command.args(["--json", "--cases", "12", "--random", "12", "--out"]);
        command.arg(stage.path("out")).args(more);
        command.args(["--", HARDSTAND, "controller", "stand", "--join", "legs"]);
        let said = Process::start(stage.0.path(), "hunt", command).ends_with(1);
        let found: Value = serde_json::from_str(&said).unwrap();
        (found["cases"].clone(), found["shrink_cases"].clone(), found["found"]["sentence"].clone())
    };
    assert_eq!(hunt(&["--in-process"]), hunt(&[]));
}

/// One hunt of two processes that share a folder; one of them is killed, and started again.
#[test]
fn two_processes_with_one_folder_make_one_hunt() {
    let _one = serial();
    let stage = Stage::new(SPACE);
    let whole = stage.hunt("race", "whole", &["--jobs", "1"], 1);
    let shard = |i: usize| ["0/2", "1/2"][i];
    let start = |i: usize| stage.start("race", "both", &["--jobs", "1", "--shard", shard(i)]);
    let mut first = start(0);
    let cases = stage.path("both/cases");
    let count = || fs::read_dir(&cases).map_or(0, |all| all.flatten().count());
    // the scenario as it is, and every second of eight cases at random; the others are not its own
    wait_for("its half of a step", || (count() >= 5).then_some(()));
    let reported = || first.err().contains("waits for case c00002").then_some(());
    wait_for("what it waits for", reported);
    assert_eq!(count(), 5);
    first.signal(Signal::KILL);
    wait_for("its end", || first.has_ended().then_some(()));
    let both = || {
        let mut second = start(1);
        let found = stage.hunt("race", "both", &["--jobs", "1", "--shard", shard(0)], 1);
        for _ in 0..HUNT_S {
            if second.has_ended() {
                break;
            }
            std::thread::sleep(Duration::from_secs(1));
        }
        let other: Value = serde_json::from_str(&second.ends_with(1)).unwrap();
        for key in ["sentence", "sets", "edges", "digest"] {
            assert_eq!(found["found"][key], whole["found"][key], "{key}");
            assert_eq!(other["found"][key], whole["found"][key], "{key}");
        }
    };
    both();
    // a daemon of the second process failed before both were started again: the first waits
    let all = fs::read_dir(&cases).unwrap().flatten();
    let is_second = |name: &OsStr| name.to_string_lossy().starts_with("c00002");
    let case = all.map(|case| case.path()).find(|path| path.file_name().is_some_and(is_second));
    let file = case.unwrap().join("outcome.json");
    let mut outcome: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    assert_ne!(outcome["outcome"], "daemon_failed");
    outcome["outcome"] = "daemon_failed".into();
    fs::write(&file, outcome.to_string()).unwrap();
    both();
}

#[test]
fn a_controller_that_ends_is_found() {
    let _one = serial();
    let stage = Stage::new(SPACE);
    let mut command = stage.command();
    command.args(["--json", "--out"]).arg(stage.path("out")).args(["--", "false"]);
    let said = Process::start(stage.0.path(), "ends", command).ends_with(1);
    let found: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(found["found"]["kind"], "controller_ended");
    assert_eq!(found["found"]["changes"], serde_json::json!([]));
    let sentence = found["found"]["sentence"].as_str().unwrap();
    assert!(sentence.ends_with("in the scenario as it is"), "{sentence}");
}

#[test]
fn mistakes_of_the_section_are_told_all_at_once() {
    let stage = Stage::new(
        r#"
[hunt]
duration_s = 0
what = 1
commands = 3
[[hunt.vary]]
key = "contact.mu"
between = [0.6, 0.9]
[[hunt.vary]]
key = "contact.mu_static"
between = [0.9, 0.6]
[[hunt.vary]]
keys = []
between = [0.6, 0.9]
[[hunt.vary]]
keys = ["contact.mu_kinetic", "contact.mu_kinetic"]
between = [0.6, 0.7]
[[hunt.vary]]
key = "sim.duration_s"
between = [1.0, 2.0]
[[hunt.vary]]
key = "contact.d0_m"
between = [-1e308, 1e308]
[[hunt.events]]
kind = "push"
count = 0
[[hunt.events]]
kind = "push"
at_s = { between = [1.0] }
[[hunt.events]]
kind = "push"
link = { one_of = [] }
"#,
    );
    let mut command = stage.command();
    command.args(["--", "true"]);
    let said = Process::start(stage.0.path(), "refused", command).ends_with(2);
    for line in [
        "hunt.duration_s is 0; it must be finite and greater than 0",
        "hunt.what",
        "contact.mu must be a key of the scenario that has a number",
        "hunt.vary[1].between is [0.9, 0.6]; it must be two finite numbers, the smaller first",
        "hunt.vary[2].keys is []; it must be at least one key",
        "hunt.vary: the name \"contact.mu_kinetic\" is used twice",
        "sim.duration_s is not allowed",
        "hunt.events[0].count is 0; it must be a whole number, 1 to 64",
        "hunt.vary[5].between is [-1",
        "at most 1.7976931348623157e308 apart",
        "hunt.events[1]: between is [1.0]; it must be two finite numbers, the smaller first",
        "hunt.events[2]: one_of is []; it must be a list of at least one value",
        "hunt.commands is 3; it must be a list of tables",
    ] {
        assert!(said.contains(line), "{line} is not in {said}");
    }
}

/// A hunt whose cases are all refused has looked at nothing.
#[test]
fn cases_that_the_scenario_refuses_are_told() {
    let refused = |space: &str, code: i32| {
        let stage = Stage::new(space);
        let mut command = stage.command();
        command.args(["--cases", "20", "--random", "20", "--out"]).arg(stage.path("out"));
        command.args(["--in-process", "--", HARDSTAND, "controller", "stand", "--join", "legs"]);
        Process::start(stage.0.path(), "refused", command).ends_with(code)
    };
    // both ends of a key that is not the first, of two
    let said = refused(
        "[[hunt.vary]]\nkeys = [\"contact.mu_static\", \"contact.mu_kinetic\"]\n\
         between = [-0.9, -0.6]\n",
        2,
    );
    assert!(
        said.contains("contact.mu_static and contact.mu_kinetic are -0.6 instead of"),
        "{said}"
    );
    // nor is the scenario as it is a case, if it is refused for what the command asks
    let long = "[hunt]\nduration_s = 1e10\n[[hunt.vary]]\nkey = \"contact.mu_kinetic\"\n\
                between = [0.1, 0.5]\n";
    let said = refused(long, 2);
    assert!(said.contains("sim.duration_s is 1"), "{said}");
    // an end of the range is told; what lies near it counts as none
    let space = "[hunt]\nduration_s = 0.1\n[[hunt.vary]]\nkey = \"contact.mu_kinetic\"\n\
                 between = [0.1, 1.5]\n";
    let said = refused(space, 0);
    assert!(said.contains("such cases are refused, and count as none"), "{said}");
    assert!(said.contains("cases count as none; the first: "), "{said}");
    assert!(said.contains("nothing    in 20 cases"), "{said}");
}

/// Each of hundreds of cases would be refused.
#[test]
fn a_length_that_the_scenario_refuses_is_told_before_the_first_case() {
    for duration_s in ["1e-4", "1e300"] {
        let stage = Stage::new(DELAYS);
        let mut command = stage.command();
        command.args(["--duration", duration_s, "--out"]).arg(stage.path("out"));
        command.args(["--", "true"]);
        let said = Process::start(stage.0.path(), "length", command).ends_with(2);
        assert!(said.contains("sim.duration_s is "), "{said}");
        assert!(!stage.path("out").exists(), "a case was run: {said}");
    }
}

/// No file has their keys.
#[test]
fn masses_of_links_are_drawn() {
    let hunt = |link: &str, code: i32| {
        let stage = Stage::new(&format!(
            "[hunt]\nduration_s = 0.05\n[[hunt.vary]]\nkey = \"links.{link}.mass_scale\"\n\
             between = [0.8, 1.2]\n"
        ));
        let mut command = stage.command();
        command.args(["--cases", "4", "--random", "4", "--in-process", "--out"]);
        command.arg(stage.path("out"));
        command.args(["--", HARDSTAND, "controller", "stand", "--join", "legs"]);
        let said = Process::start(stage.0.path(), "masses", command).ends_with(code);
        let case = stage.path("out/cases/c00001__none__s0001/outcome.json");
        said + &fs::read_to_string(case).unwrap_or_default()
    };
    let said = hunt("trunk", 0);
    assert!(said.contains("nothing    in 4 cases"), "{said}");
    assert!(said.contains("links.trunk.mass_scale="), "{said}");
    assert!(hunt("tail", 2).contains("no body has this name"));
}

/// It is the range of what is drawn, and no larger than a number.
#[test]
fn a_push_without_measure_is_refused_by_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let stage = Stage::new("");
    let mut command = Command::new(HARDSTAND);
    command.arg("pushes").arg(stage.path("legs.toml")).args(["--until", "fell", "--most", "1e308"]);
    command.arg("--out").arg(folder.path().join("out")).args(["--", "true"]);
    let said = Process::start(folder.path(), "pushes", command).ends_with(2);
    assert!(said.contains("--most is 1e308; it must be at most 8.98"), "{said}");
}

/// A space that is smaller than the number of cases is looked through, and the hunt ends.
#[test]
fn a_hunt_ends_when_no_case_is_left() {
    let _one = serial();
    let stage = Stage::new(DELAYS);
    let mut command = stage.command();
    command.args(["--json", "--out"]).arg(stage.path("out"));
    command.args(["--in-process", "--", HARDSTAND, "controller", "stand", "--join", "legs"]);
    let said = Process::start(stage.0.path(), "small", command).ends_with(0);
    let result: Value = serde_json::from_str(&said).unwrap();
    // without it, and with each delay
    assert_eq!(result["cases"], 3, "{result}");
}

/// What was found with one seed is not replaced by what another finds.
#[test]
fn another_seed_needs_another_folder() {
    let stage = Stage::new(DELAYS);
    fs::create_dir_all(stage.path("out/cases/c00000__none__s0009")).unwrap();
    let mut command = stage.command();
    command.args(["--seed", "7", "--out"]).arg(stage.path("out")).args(["--", "true"]);
    let said = Process::start(stage.0.path(), "seed", command).ends_with(2);
    assert!(said.contains("--seed differs, it is 7"), "{said}");
}

/// The document is there, whatever ended the hunt.
#[test]
fn a_hunt_that_is_stopped_prints_its_document() {
    let _one = serial();
    let stage = Stage::new(DELAYS);
    let waits = stage.path("waits");
    let mut command = stage.command();
    command.args(["--json", "--jobs", "1", "--out"]).arg(stage.path("out"));
    command.args(["--", "sh", "-c", &format!("touch {}; sleep 60", waits.display())]);
    let mut hunt = Process::start(stage.0.path(), "stopped", command);
    wait_for("the first case", || waits.exists().then_some(()));
    hunt.signal(Signal::INT);
    let said = hunt.ends_with(3);
    let found: Value = serde_json::from_str(&said).unwrap_or_else(|e| panic!("{e}: {said}"));
    assert_eq!((&found["stopped"], &found["found"]), (&true.into(), &Value::Null), "{found}");
}

/// In one process the controller is the process.
#[test]
fn a_controller_that_crashes_in_one_process_is_a_find_and_stays_one() {
    let _one = serial();
    let stage = Stage::new(DELAYS);
    let controller = stage.path("crashes");
    script(&controller, "kill -SEGV $$");
    let mut command = stage.command();
    // a path that begins where the hunt runs, and leads through a link and up again
    fs::create_dir_all(stage.path("deep/er/place")).unwrap();
    std::os::unix::fs::symlink(stage.path("deep/er/place"), stage.path("link")).unwrap();
    let out = "a/../link/b/out";
    command.current_dir(stage.0.path()).args(["--json", "--in-process", "--out", out]);
    command.args(["--", "./crashes"]);
    let said = Process::start(stage.0.path(), "crashes", command).ends_with(1);
    let found: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(found["found"]["kind"], "controller_ended", "{found}");
    assert_eq!(found["found"]["repeats"], true, "{found}");
    let sentence = found["found"]["sentence"].as_str().unwrap();
    assert!(sentence.starts_with("the controller ends (signal 11) at 0.000 s"), "{sentence}");

    let campaign = |code: i32| {
        let mut command = Command::new(HARDSTAND);
        command.arg("campaign").arg(stage.path("link/b/out/found.toml"));
        let out = stage.path(&format!("campaign-{code}"));
        command.current_dir("/").args(["--json", "--out"]).arg(&out);
        let said = Process::start(stage.0.path(), "campaign", command).ends_with(code);
        let row = fs::read_to_string(out.join("table.csv")).unwrap();
        assert!(row.contains("controller_ended"), "{row} {said}");
    };
    campaign(1);
    // one that does not even begin is no reason to pass, and old rows are not of its file
    script(&controller, "exit 3");
    let mut again = Command::new(HARDSTAND);
    again.arg("campaign").arg(stage.path("link/b/out/found.toml"));
    again.arg("--out").arg(stage.path("campaign-1"));
    let said = Process::start(stage.0.path(), "again", again).ends_with(2);
    assert!(said.contains("controller_files differs"), "{said}");
    fs::remove_dir_all(stage.path("campaign-1")).unwrap();
    campaign(1);
}

/// A daemon that was killed stops the hunt, and the same command goes on.
#[test]
fn a_case_whose_daemon_was_killed_is_run_again() {
    let _one = serial();
    let stage = Stage::new(DELAYS);
    let waits = stage.path("waits");
    let line = format!(
        "[ -e {0} ] || {{ touch {0}; sleep 60; }}; exec {HARDSTAND} controller stand --join legs",
        waits.display()
    );
    let start = || {
        let mut command = stage.command();
        command.args(["--jobs", "1", "--out"]).arg(stage.path("out"));
        command.args(["--", "sh", "-c", &line]);
        Process::start(stage.0.path(), "killed", command)
    };
    let mut hunt = start();
    wait_for("the first case", || waits.exists().then_some(()));
    let scenario = stage.path("legs.toml").display().to_string();
    for process in fs::read_dir("/proc").unwrap().flatten() {
        let line = fs::read_to_string(process.path().join("cmdline")).unwrap_or_default();
        if line.split('\0').nth(1) == Some("run") && line.contains(&scenario) {
            let number = process.file_name().to_string_lossy().parse().unwrap();
            rustix::process::kill_process(Pid::from_raw(number).unwrap(), Signal::KILL).unwrap();
        }
    }
    let said = hunt.ends_with(2);
    let told = "the daemon failed: signal 9; the same command runs this case again";
    assert!(said.contains(told), "{said}");
    let said = start().ends_with(0);
    assert!(said.contains("nothing    in 3 cases"), "{said}");
}

/// With keys that have different values in the scenario, and a number that it refuses.
#[test]
fn what_does_not_happen_was_tried() {
    let _one = serial();
    let stage = Stage::new(
        "[hunt]\nduration_s = 0.05\n[[hunt.vary]]\nkeys = [\"contact.mu_static\", \
         \"contact.mu_kinetic\"]\nbetween = [0.5, 1.0]\n[[hunt.events]]\nkind = \"link_delay\"\n\
         at_s = 0.0\ndelay_ticks = { between = [0, 12] }\n",
    );
    let found = |condition: &str| {
        let mut command = stage.until(condition);
        let out = stage.path(&condition.replace(' ', "-"));
        command.args(["--json", "--in-process", "--random", "40", "--out"]).arg(out);
        command.args(["--", HARDSTAND, "controller", "stand", "--join", "legs"]);
        let mut hunt = Process::start(stage.0.path(), "edges", command);
        hunt.ends_with(1);
        serde_json::from_str::<Value>(&hunt.out()).unwrap()
    };
    // with any delay; 0 is refused
    let delayed = found("age > 0 and age < 100");
    let changes = delayed["found"]["changes"].as_array().unwrap();
    assert!(changes[0].as_str().unwrap().contains("delay_ticks 1"), "{delayed:#}");
    assert_eq!(delayed["found"]["edges"], serde_json::json!([]), "{delayed:#}");

    let found = found("station.FL.mu_static > 0.85");
    let edges = found["found"]["edges"].as_array().unwrap();
    assert_eq!(edges.len(), 1, "{found:#}");
    let (value, not_at) =
        (edges[0]["value"].as_str().unwrap(), edges[0]["not_at"].as_str().unwrap());
    assert!(value.parse::<f64>().unwrap() > 0.85, "{found:#}");
    assert!(not_at == "0.8 and 0.6" || not_at.parse::<f64>().is_ok_and(|x| x <= 0.85), "{found:#}");
    let sentence = found["found"]["sentence"].as_str().unwrap();
    let words = "contact.mu_static and contact.mu_kinetic are ";
    assert!(
        sentence.contains(words) && sentence.ends_with(" instead of 0.8 and 0.6"),
        "{sentence}"
    );
}

#[test]
fn an_event_that_the_scenario_refuses_is_named_before_the_first_case() {
    let stage = Stage::new(
        "[[hunt.events]]\nkind = \"motor_dead\"\njoint = \"no_joint\"\nat_s = { between = [0.1, 1] }\n",
    );
    let mut command = stage.command();
    command.args(["--", "true"]);
    let said = Process::start(stage.0.path(), "refused", command).ends_with(2);
    assert!(said.contains("motor_dead at 1.0 s with joint \"no_joint\""), "{said}");
}

/// A fall that comes once is told as one that does not repeat.
#[test]
fn a_find_that_does_not_repeat_says_so() {
    let _one = serial();
    let stage = Stage::new(DELAYS);
    let (once, ran) = (stage.path("once"), stage.path("ran"));
    let ran = ran.display();
    let stand = format!("exec {HARDSTAND} controller stand --join legs \"$@\"");
    script(&once, &format!("[ -e {ran} ] && {stand}\ntouch {ran}; exit 3"));
    let mut command = stage.command();
    command.arg("--in-process").arg("--out").arg(stage.path("out")).arg("--").arg(&once);
    let said = Process::start(stage.0.path(), "once", command).ends_with(1);
    assert!(said.contains("the controller ends (exit code 3) at 0.000 s"), "{said}");
    assert!(said.contains("not when it was run again"), "{said}");
}

/// Each planted bug, in at most 400 cases, whose most are decoys.
#[test]
#[ignore = "hundreds of cases"]
fn every_planted_bug_is_found_and_shrunk() {
    let _one = serial();
    for (bug, kind, duration) in
        [("sign", "push", "1"), ("wrapped", "push", "1"), ("filter", "push", "2.5")]
    {
        let space =
            SPACE.replace("[0.2, 0.8]", if bug == "filter" { "[0.2, 2.3]" } else { "[0.2, 0.8]" });
        let stage = Stage::new(&space);
        let more = ["--duration", duration];
        let found = stage.hunt(bug, "out", &more, 1);
        println!(
            "{bug}: {} cases, {} to shrink: {}",
            found["cases"], found["shrink_cases"], found["found"]["sentence"]
        );
        let changes = found["found"]["changes"].as_array().unwrap();
        assert_eq!(changes.len(), 1, "{bug}: {changes:?}");
        assert!(changes[0].as_str().unwrap().starts_with(kind), "{bug}: {changes:?}");
        let none = stage.hunt("none", "none", &[&more[..], &["--cases", "40"]].concat(), 0);
        assert_eq!(none["found"], Value::Null);
    }
}
