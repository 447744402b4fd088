//! What is kept of a case, and cases that begin at once.

use std::fs;

use super::stage::{HARDSTAND, STAND, Stage};
use crate::common::process::{Process, quadruped_text};

/// A case of a scenario of its own, which starts like this.
fn with_scenario(campaign: &str, start: &str) -> Stage {
    let stage = Stage::new(&format!(
        "duration_s = 0.1\n{campaign}\n[[scenarios]]\nname = \"own\"\nfile = \"own.toml\"\n"
    ));
    let scenario = format!("sim.start = \"{start}\"\n{}", quadruped_text());
    fs::write(stage.path("own.toml"), scenario).unwrap();
    stage
}

/// Without a controller nothing is tested.
#[test]
fn a_scenario_that_starts_at_once_waits_for_its_controller() {
    let mut stage = with_scenario("set = [\"control.patience_s=0.5\"]", "now");
    stage.controller = ["sleep", "100"].map(String::from).into();
    stage.run(&[], 0);
    assert_eq!(stage.rows()[0]["outcome"], "controller_timeout");
}

/// The socket of the case is gone, and the log can be run again all the same.
#[test]
fn a_log_that_was_kept_branches_and_is_shown_to_controllers() {
    let stage = with_scenario("keep_logs = \"all\"", "on_controller");
    stage.run(&[], 0);
    let log = stage.results().join("cases/own__none__s0001/run.mcap").display().to_string();
    let to = stage.path("branch.mcap").display().to_string();
    for (words, code) in [
        (&["branch", &log, "--at", "50", "--log", &to][..], [0, 1]),
        (&["replay", &log, "--to-controller"], [0, 0]),
    ] {
        let mut command = std::process::Command::new(HARDSTAND);
        command.args(words).arg("--").args(STAND);
        let mut process = Process::start(stage.dir.path(), words[0], command);
        let ended = process.wait();
        let said = format!("{}{}", process.out(), process.err());
        // a controller that was started anew need not answer as the one of the log did
        assert!(ended.code().is_some_and(|ended| code.contains(&ended)), "{ended}: {said}");
    }
}

/// A place that the user has chosen is not replaced, and the message says what is missing.
#[test]
fn a_folder_of_a_socket_that_does_not_exist_is_named() {
    let stage = with_scenario("keep_logs = \"all\"", "on_controller");
    let mut command = std::process::Command::new(HARDSTAND);
    command.arg("run").arg(stage.path("own.toml"));
    command.args(["--set", "bus.listen=[\"unixsock-stream//tmp/no/such/place/s\"]"]);
    let said = Process::start(stage.dir.path(), "run", command).ends_with(5);
    assert!(said.contains("the folder /tmp/no/such/place does not exist; make it"), "{said}");
}
