//! Campaigns that are interrupted, and those that come again.

use std::fs;
use std::path::Path;
use std::process::Command;

use rustix::process::Signal;

use super::stage::{EIGHT, HARDSTAND, Stage, eight, rows, same};
use crate::common::process::{Process, wait_for};

/// The tries that are left of cases that were running.
fn tries(stage: &Stage) -> usize {
    let Ok(cases) = fs::read_dir(stage.results().join("cases")) else { return 0 };
    let files =
        cases.flatten().flat_map(|c| fs::read_dir(c.path()).into_iter().flatten().flatten());
    files.filter(|f| f.file_name().to_string_lossy().starts_with("try-")).count()
}

/// Once so that it ends in order, once so that it cannot; what was finished is not run again, and
/// in the end nobody sees that anything has happened.
#[test]
fn a_campaign_that_was_interrupted_twice_goes_on() {
    let starts = tempfile::tempdir().unwrap();
    let starts = starts.path().join("starts");
    let started = || fs::read_to_string(&starts).unwrap_or_default();
    let script =
        format!("echo $HARDSTAND_CASE $HARDSTAND_SEED >> {}; exec $STAND", starts.display());
    let stage = Stage::with_script(EIGHT, &script);

    let mut first = stage.start("first", &["--jobs", "1"]);
    // in the middle of the third case
    wait_for("three cases", || (started().lines().count() == 3).then_some(()));
    first.signal(Signal::INT);
    let said = first.ends_with(3);
    assert!(said.contains("stopped    cases that were running have no outcome"), "{said}");
    assert!(said.contains("missing    6 cases have not run"), "{said}");
    let finished = stage.finished();
    assert_eq!(finished, ["flat__none__s0007", "flat__none__s0009"]);
    assert_eq!(tries(&stage), 0, "something is left of the third");
    let before = stage.rows();
    assert_eq!(before.len(), 2);

    let mut second = stage.start("second", &["--jobs", "1"]);
    wait_for("two cases more", || (started().lines().count() == 5).then_some(()));
    second.kill();
    let finished = stage.finished();
    assert_eq!(finished, ["flat__noise__s0007", "flat__none__s0007", "flat__none__s0009"]);
    assert_eq!(tries(&stage), 1, "the try that was killed");

    let said = stage.run(&["--jobs", "2"], 0);
    assert!(said.contains("cases      5 to run, 2 at a time; 3 are finished already"), "{said}");
    assert_eq!(tries(&stage), 0);
    let count = |case: &str| started().lines().filter(|l| l.starts_with(case)).count();
    for (case, times) in [("flat__none", 2), ("flat__noise__s0007", 2), ("flat__noise__s0009", 2)] {
        assert_eq!(count(case), times, "{case}\n{}", started());
    }
    assert_eq!((count("slick"), started().lines().count()), (4, 10), "{}", started());
    assert!(started().lines().all(|l| l.ends_with("__s0007 7") || l.ends_with("__s0009 9")));
    let all = stage.rows();
    assert_eq!(all[..2], before[..], "with the wall time that they took");
    assert_eq!(same(&all), same(&eight().rows()));
}

/// A terminal that is closed leaves nothing running.
#[test]
fn the_end_of_the_terminal_is_the_end_of_the_campaign() {
    let stage = Stage::with_script(ONE, "exec sleep 100");
    // tests may run under `nohup`, which the campaign would obey
    let mut command = Command::new("env");
    command.args(["--default-signal=HUP", HARDSTAND, "campaign"]).arg(stage.path("campaign.toml"));
    command.arg("--").args(&stage.controller);
    let mut campaign = Process::start(stage.dir.path(), "campaign", command);
    let place = stage.dir.path().display().to_string();
    wait_for("the daemon", || super::ends::daemon_of(&place));
    campaign.signal(Signal::HUP);
    let said = campaign.ends_with(3);
    assert!(said.contains("stopped    cases that were running have no outcome"), "{said}");
    assert_eq!(super::ends::daemon_of(&place), None, "the daemon has ended too");
}

/// `timeout` sends its signal to its child and to its group, at the same time.
#[test]
fn signals_at_the_same_time_are_one_request() {
    let stage = Stage::with_script(ONE, "exec sleep 100");
    let mut campaign = stage.start("campaign", &[]);
    let place = stage.dir.path().display().to_string();
    wait_for("the daemon", || super::ends::daemon_of(&place));
    for _ in 0..20 {
        campaign.signal(Signal::INT);
        campaign.signal(Signal::TERM);
    }
    let said = campaign.ends_with(3);
    assert!(said.contains("stopped    cases that were running have no outcome"), "{said}");
    assert_eq!(super::ends::daemon_of(&place), None, "the daemon has ended too");
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), &target).unwrap();
        }
    }
}

fn results_of_eight(campaign: &str) -> Stage {
    let stage = Stage::new(campaign);
    copy(&eight().results(), &stage.results());
    stage
}

#[test]
fn outcomes_of_another_campaign_are_refused() {
    for (from, to, named) in [
        ("duration_s = 0.15", "duration_s = 0.16", "duration_s differs"),
        ("mu_static=0.7", "mu_static=0.75", "changes, scenario differs"),
        ("base.z < 0.2", "base.z < 0.1", "conditions differs"),
        ("take = \"mean\"", "take = \"last\"", "measures differs"),
        ("duration_s = 0.15", "duration_s = 0.15\nmode = \"budgeted\"", "mode, speed differs"),
    ] {
        assert!(EIGHT.contains(from), "{from}");
        let stage = results_of_eight(&EIGHT.replace(from, to));
        let before = stage.rows();
        for verb in [&[][..], &["--table"]] {
            let said = stage.run(verb, 2);
            assert!(said.contains(named) && said.contains("--out"), "{to}: {said}");
        }
        assert_eq!(stage.rows(), before);
    }
    let mut stage = results_of_eight(EIGHT);
    stage.controller.push("--kp=90".into());
    assert!(stage.run(&[], 2).contains("controller differs"));
}

/// The tables need no command where the folder says what ran.
#[test]
fn tables_are_made_again_with_the_command_of_the_folder() {
    let stage = results_of_eight(EIGHT);
    let tables = |code: i32| {
        let mut command = Command::new(HARDSTAND);
        command.arg("campaign").arg(stage.path("campaign.toml")).arg("--table");
        Process::start(stage.dir.path(), "tables", command).ends_with(code)
    };
    fs::remove_file(stage.results().join("table.csv")).unwrap();
    tables(0);
    assert_eq!(stage.rows(), eight().rows());
    let manifest = |of: &Stage| fs::read(of.results().join("campaign.json")).unwrap();
    let [here, there] = [&stage, eight()].map(|of| {
        let mut read: serde_json::Value = serde_json::from_slice(&manifest(of)).unwrap();
        read.as_object_mut().unwrap().remove("file");
        read
    });
    assert_eq!(here, there);
    fs::remove_file(stage.results().join("campaign.json")).unwrap();
    assert!(tables(2).contains("the controller's command is missing"));
}

/// More or fewer seeds, faults and scenarios are another choice of the same cases.
#[test]
fn a_campaign_may_grow_and_shrink() {
    let stage = results_of_eight(&EIGHT.replace("seeds = [7, 9]", "seeds = [9]"));
    let said = stage.run(&[], 0);
    assert!(said.contains("cases      0 to run") && said.contains("4 are finished"), "{said}");
    let nine = |row: &super::stage::Row| row["seed"] == "9";
    let expected: Vec<_> = eight().rows().into_iter().filter(nine).collect();
    assert_eq!(stage.rows(), expected);

    stage.write(&EIGHT.replace("seeds = [7, 9]", "seeds = { from = 8, to = 9 }"));
    let said = stage.run(&["--shard", "0/8"], 0);
    assert!(said.contains("outcomes   5 of 8 cases: done 5"), "{said}");
    assert_eq!(stage.rows()[0]["case"], "flat__none__s0008");
    let said = stage.run(&["--table"], 3);
    assert!(said.contains("missing    3 cases have not run"), "{said}");
}

/// A machine that loses its power may leave half a file.
#[test]
fn half_an_outcome_is_none() {
    let stage = results_of_eight(EIGHT);
    let file = stage.results().join("cases/slick__noise__s0007/outcome.json");
    let text = fs::read(&file).unwrap();
    fs::write(&file, &text[..text.len() / 2]).unwrap();
    let said = stage.run(&[], 0);
    assert!(said.contains("cases      1 to run") && said.contains("7 are finished"), "{said}");
    assert_eq!(same(&rows(&stage.results())), same(&eight().rows()));
}

/// One case, 0.15 s.
const ONE: &str = r#"
duration_s = 0.15
fail_if = ["controller_ended"]

[[scenarios]]
name = "flat"
file = "QUADRUPED"
"#;

/// A test that is repeated after a change that no file tells: the old verdict is not the new one.
#[test]
fn finished_cases_are_run_again_if_that_is_asked() {
    let dir = tempfile::tempdir().unwrap();
    let good = dir.path().join("good");
    let script = format!("[ -e {} ] || exit 3; exec $STAND", good.display());
    let stage = Stage::with_script(ONE, &script);
    stage.run(&[], 1);
    fs::write(&good, "").unwrap();
    let said = stage.run(&[], 1);
    assert!(said.contains("1 are finished already, --again runs them anew"), "{said}");
    let said = stage.run(&["--again"], 0);
    assert!(said.contains("cases      1 to run"), "{said}");
    assert_eq!(stage.rows()[0]["outcome"], "done");
    let left = fs::read_dir(stage.results().join("cases/flat__none__s0001")).unwrap();
    assert_eq!(left.count(), 1, "what the old outcome had kept is gone");
}

/// A daemon that was killed says nothing about the controller.
#[test]
fn a_case_whose_daemon_failed_is_no_verdict_and_is_run_again() {
    let dir = tempfile::tempdir().unwrap();
    let good = dir.path().join("good");
    let script = format!("[ -e {} ] || exec sleep 100; exec $STAND", good.display());
    let stage = Stage::with_script(ONE, &script);
    let mut campaign = stage.start("campaign", &[]);
    let place = stage.dir.path().display().to_string();
    let daemon = wait_for("the daemon", || super::ends::daemon_of(&place));
    rustix::process::kill_process(daemon, Signal::KILL).unwrap();
    let said = campaign.ends_with(3);
    assert!(said.contains("failed     1 cases by their daemon"), "{said}");
    let hardstand = |words: &[&str], code: i32| {
        let mut command = std::process::Command::new(super::stage::HARDSTAND);
        command.arg("campaign").args(words).current_dir(stage.dir.path());
        Process::start(stage.dir.path(), words[0], command).ends_with(code)
    };
    hardstand(&["report", "campaign-results"], 3);
    let said = hardstand(&["plan", "campaign.toml"], 0);
    assert!(said.contains("finished   0, 1 to run"), "{said}");
    let said = hardstand(&["compare", "campaign-results", "campaign-results"], 2);
    assert!(said.contains("no case is finished in both"), "{said}");
    fs::write(&good, "").unwrap();
    let said = stage.run(&[], 0);
    assert!(said.contains("cases      1 to run"), "{said}");
}
