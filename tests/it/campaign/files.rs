//! Campaigns that are refused, and slices.

use std::process::Command;

use super::recipes::with_hardstand;
use super::stage::{EIGHT, HARDSTAND, Stage, eight, rows};
use crate::common::process::{Process, repository};

/// Whatever is wrong is said at once.
#[test]
fn all_mistakes_of_a_file_are_reported_at_once() {
    let stage = Stage::new(
        r#"
duration_s = -1
seeds = []
mode = "fast"
keep_logs = "some"
fail_if = ["fallen"]
colour = "red"
set = ["contact.mu_statik=1"]

[[scenarios]]
name = "flat"
file = "QUADRUPED"
set = ["sim.micro_steps=0"]

[[scenarios]]
name = "no/slash"
file = "nowhere.toml"
"#,
    );
    let said = stage.run(&[], 2);
    for mistake in [
        "duration_s is -1; it must be finite and greater than 0",
        "seeds is []; it must be a number of seeds, a list of them",
        "mode is \"fast\"; it must be \"lockstep\" or \"budgeted\" or \"realtime\"",
        "keep_logs is \"some\"; it must be \"failed\" or \"all\" or \"none\"",
        "fail_if has \"fallen\"; it must be a condition, or of done, failure,",
        "colour is unknown; known here: ",
        "scenario \"flat\": contact.mu_statik is unknown",
        "scenario \"flat\": sim.micro_steps is 0; it must be",
        "scenarios[1].name is \"no/slash\"; it must be 1 to 64 letters",
        "scenario \"no/slash\": scenario ",
    ] {
        assert!(said.contains(mistake), "{mistake}\nis not in\n{said}");
    }
    assert!(!stage.results().exists());

    // what has no case does not pass
    let said = Stage::new("duration_s = 1\nscenarios = []\nfaults = []\n").run(&[], 2);
    for key in ["scenarios", "faults"] {
        let mistake = format!("{key} is []; it must be at least one [[{key}]] table");
        assert!(said.contains(&mistake), "{mistake}\nis not in\n{said}");
    }
}

#[test]
fn what_is_done_to_a_scenario_is_tried_before_anything_is_run() {
    let stage = Stage::new(
        r#"
duration_s = 1

[[scenarios]]
name = "flat"
file = "QUADRUPED"

[[faults]]
name = "none"

[[faults]]
name = "none"

[[faults]]
name = "slip"
events = [{ at_s = 0, kind = "friction", foot = "XX", mu_static = 0.1, mu_kinetic = 0.05 }]

[[vary]]
key = "contact.mu_static"
between = [0.5, 200]

[[vary]]
key = "contact.mu_kinetic"
between = [0.4, 0.3]

[conditions]
fell = "base.altitude < 0.2"
done = "time > 1"
"2nd" = "time > 1"

[measures]
ticks = { quantity = "tick", take = "max" }
tilt = { quantity = "base.tilted", take = "sum" }
"#,
    );
    let said = stage.run(&[], 2);
    for mistake in [
        "faults: the name \"none\" is used twice",
        "scenario \"flat\", fault \"slip\": events[0].foot is \"XX\"; it must be",
        "scenario \"flat\", all of vary at their upper ends: contact.mu_static is 200.0",
        "vary[1].between is [0.4, 0.3]; it must be two finite numbers, the smaller first",
        "scenario \"flat\", condition \"fell\": ",
        "base.altitude",
        "\"done\" is another column, or an outcome, already",
        "conditions.2nd: a name must be",
        "\"ticks\" is another column, or an outcome, already",
        "measures.tilt.take is \"sum\"; it must be",
        "measure \"tilt\": there is no quantity base.tilted; near to it: base.tilt",
    ] {
        assert!(said.contains(mistake), "{mistake}\nis not in\n{said}");
    }
}

#[test]
fn a_command_that_does_not_start_ends_the_campaign() {
    let mut stage = Stage::new(EIGHT);
    stage.controller = vec!["/nowhere/controller".into()];
    let said = stage.run(&[], 2);
    assert!(said.contains("cannot start \"/nowhere/controller\""), "{said}");
    assert!(stage.finished().is_empty());
    stage.controller.clear();
    let said = stage.run(&[], 2);
    assert!(said.contains("the controller's command is missing"), "{said}");
}

/// Each case is in one slice, and slices are as long as each other.
#[test]
fn slices_share_out_all_cases() {
    let stage = eight();
    let list = |more: &[&str]| {
        let said = stage.start("list", &[&["--list"], more].concat()).ends_with(0);
        said.lines().map(String::from).collect::<Vec<_>>()
    };
    let all = list(&[]);
    assert_eq!(all.len(), 8);
    let slices = ["0/3", "1/3", "2/3"].map(|slice| list(&["--shard", slice]));
    assert_eq!(slices.each_ref().map(Vec::len), [3, 3, 2]);
    let mut together = slices.concat();
    together.sort();
    let mut sorted = all;
    sorted.sort();
    assert_eq!(together, sorted);
    for wrong in ["3/3", "0/0", "1", "-1/2"] {
        let shard = format!("--shard={wrong}");
        let said = stage.start("list", &["--list", &shard]).ends_with(2);
        assert!(said.contains("I/N"), "{wrong}: {said}");
    }
}

/// One case of each ground.
#[test]
fn the_shipped_campaign_runs_as_it_is() {
    let stage = Stage::new(EIGHT);
    let out = stage.path("out").display().to_string();
    let file = repository("examples/campaign.toml");
    for slice in ["0/24", "23/24"] {
        let mut command = with_hardstand("hardstand");
        command.args(["campaign", &file, "--out", &out, "--shard", slice]);
        let code = if slice == "0/24" { 0 } else { 1 };
        let said = Process::start(stage.dir.path(), "shipped", command).ends_with(code);
        assert!(said.contains("of 24 cases"), "{said}");
    }
    let rows = rows(&stage.path("out"));
    assert_eq!(rows.len(), 2);
    assert_eq!([&rows[0], &rows[1]].map(|row| row["fell"].as_str()), ["false", "true"]);
}

/// A fault that cannot happen would pass for one that is survived.
#[test]
fn a_fault_after_the_end_is_refused() {
    let stage = Stage::new(&EIGHT.replace("at_s = 0.05", "at_s = 500.0"));
    let said = stage.run(&[], 2);
    let text = "fault \"noise\": at_s is 500; a case ends at 0.15 s";
    assert!(said.contains(text), "{said}");
}

#[test]
fn what_a_campaign_decides_itself_cannot_be_changed() {
    let stage = Stage::new(
        r#"
duration_s = 1
seeds = [1, 2, 1]
set = ["sim.pace=\"realtime\"", "sim.start=\"now\"", "sim.duration_s=3"]

[[scenarios]]
name = "flat"
file = "QUADRUPED"
set = ["control.mode=\"realtime\"", " bus.listen = []", "record.file=\"x.mcap\""]

[[scenarios]]
name = "-flat"
file = "QUADRUPED"

[[scenarios]]
name = ".."
file = "QUADRUPED"

[[vary]]
key = "sim.speed"
between = [1.0, 2.0]

[[vary]]
key = "robot.urdf"
between = [1.0, 2.0]
"#,
    );
    let said = stage.run(&[], 2);
    for mistake in [
        "set: sim.pace is not allowed: a campaign sets",
        "set: sim.start is not allowed",
        "set: sim.duration_s is not allowed",
        "scenarios[0].set: control.mode is not allowed",
        "scenarios[0].set: bus.listen is not allowed",
        "scenarios[0].set: record.file is not allowed",
        "scenarios[1].name is \"-flat\"; it must be 1 to 64 letters",
        "scenarios[2].name is \"..\"; it must be 1 to 64 letters",
        "vary[0].key: sim.speed is not allowed",
        "it must be a key that has a number",
        "seeds is [1, 2, 1]; it must be a list without a seed twice",
    ] {
        assert!(said.contains(mistake), "{mistake}\nis not in\n{said}");
    }
}

/// A file that may not grow is a write that failed, and not the end of the program.
#[test]
fn a_limit_of_the_size_of_files_is_told() {
    let stage = Stage::new(EIGHT);
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -f 1; exec \"$0\" \"$@\"", HARDSTAND, "campaign"]);
    command.arg(stage.path("campaign.toml")).arg("--").args(&stage.controller);
    let said = Process::start(stage.dir.path(), "limited", command).ends_with(2);
    assert!(said.contains("cannot write ") && said.contains("File too large"), "{said}");
}
