//! Every way in which a case can end is a row.

use std::fs;
use std::time::Duration;

use hardstand_client::Client;
use hardstand_protocol::JoinRequest;
use hardstand_protocol::JointCommand;
use rustix::process::{Pid, Signal, kill_process};

use super::stage::{Row, Stage, same};
use crate::common::process::{PATIENCE, wait_for};

fn row<'a>(rows: &'a [Row], scenario: &str) -> &'a Row {
    rows.iter().find(|row| row["scenario"] == scenario).unwrap()
}

fn assert_row(rows: &[Row], scenario: &str, expected: [&str; 4]) {
    let row = row(rows, scenario);
    let found = ["outcome", "exit_code", "ticks", "reason"].map(|name| row[name].as_str());
    assert_eq!(found, expected, "{row:?}");
}

const ENDS: &str = r#"
duration_s = 0.1
fail_if = ["controller_ended", "fault"]
conditions.fell = "base.z < 0.2"

[[scenarios]]
name = "stands"
file = "QUADRUPED"

[[scenarios]]
name = "leaves"
file = "QUADRUPED"

[[scenarios]]
name = "crashes"
file = "QUADRUPED"

[[scenarios]]
name = "silent"
file = "QUADRUPED"
set = ["control.patience_s=0.5"]

[[scenarios]]
name = "hurled"
file = "QUADRUPED"
set = ["""events=[
    {at_s=0, kind="push", link="trunk", force_n=[1e6, 0, 0], duration_s=1},
    {at_s=0, kind="push", link="trunk", force_n=[1e6, 0, 0], duration_s=1},
    {at_s=0, kind="push", link="trunk", force_n=[1e6, 0, 0], duration_s=1}]"""]

[[scenarios]]
name = "lonely"
file = "QUADRUPED"
"#;

const SCRIPT: &str = "case $HARDSTAND_CASE in
    leaves*) exit 3;;
    crashes*) kill -SEGV $$;;
    silent*|lonely*) exec sleep 100;;
    *) exec $STAND;;
esac";

#[test]
fn no_end_of_a_case_ends_the_campaign() {
    let stage = Stage::with_script(ENDS, SCRIPT);
    let mut campaign = stage.start("campaign", &["--jobs", "2"]);
    let daemon =
        wait_for("the daemon of the last case", || daemon_of("cases/lonely__none__s0001/"));
    kill_process(daemon, Signal::KILL).unwrap();
    let said = campaign.ends_with(1);
    assert!(said.contains("failed     3 cases by fail_if, first leaves__none__s0001"), "{said}");
    assert!(said.contains("the outcome \"fault\" is now called \"failure\""), "{said}");

    let rows = stage.rows();
    assert_eq!(rows.len(), 6);
    assert_row(&rows, "stands", ["done", "0", "100", ""]);
    assert_row(&rows, "leaves", ["controller_ended", "3", "0", "the controller's exit code 3"]);
    assert_row(&rows, "crashes", ["controller_ended", "-11", "0", "the controller's signal 11"]);
    let why = "timed out: no controller joined within control.patience_s";
    assert_row(&rows, "silent", ["controller_timeout", "8", "0", why]);
    let hurled = row(&rows, "hurled");
    assert_eq!((hurled["outcome"].as_str(), hurled["exit_code"].as_str()), ("failure", "6"));
    assert_eq!(hurled["reason"], "a number is out of range");
    assert!((1..100).contains(&hurled["ticks"].parse().unwrap()), "{hurled:?}");
    let lonely = row(&rows, "lonely");
    assert_eq!((lonely["outcome"].as_str(), lonely["exit_code"].as_str()), ("daemon_failed", "-9"));
    // of no tick there is nothing to say
    assert_eq!(["digest", "fell"].map(|name| row(&rows, "leaves")[name].as_str()), ["", ""]);
    assert_eq!(row(&rows, "hurled")["fell"], "false");
    // what failed is kept
    assert_eq!(hurled["log"], "cases/hurled__none__s0001/run.mcap");
    assert!(stage.results().join(&hurled["log"]).is_file());
    assert_eq!(hurled["page"], "cases/hurled__none__s0001/run.html");
    let page = std::fs::read_to_string(stage.results().join(&hurled["page"])).unwrap();
    assert!(page.contains("hardstand-run"), "{} bytes", page.len());
    let daemon = stage.results().join("cases/leaves__none__s0001/daemon.txt");
    let printed = std::fs::read_to_string(&daemon).unwrap();
    let log = daemon.with_file_name("run.mcap");
    assert!(printed.contains(&log.display().to_string()), "where the log is now: {printed}");
    assert!(!printed.contains("/try-"), "{printed}");
    let kept = fs::read_dir(stage.results().join("cases/stands__none__s0001")).unwrap();
    assert_eq!(kept.count(), 1, "the outcome and nothing else");
}

/// The daemon of a case whose folder has this in its name.
pub fn daemon_of(place: &str) -> Option<Pid> {
    fs::read_dir("/proc").unwrap().flatten().find_map(|process| {
        let pid = process.file_name().to_str()?.parse().ok().and_then(Pid::from_raw)?;
        let words = fs::read(process.path().join("cmdline")).ok()?;
        let words = String::from_utf8_lossy(&words);
        (words.contains("\0run\0") && words.contains(place)).then_some(pid)
    })
}

/// One that never begins, and one that stops on its way and ends in order when it is told to.
#[test]
fn a_controller_that_hangs_in_one_process_is_a_row_too() {
    let campaign = "duration_s = 1e6\nin_process = true\nset = [\"control.patience_s=1.0\"]\n\
                    keep_logs = \"none\"\n[[scenarios]]\nname = \"flat\"\nfile = \"QUADRUPED\"\n";
    let stops = "(sleep 0.2; kill -STOP $$) & exec $STAND \"$0\" \"$@\"";
    for script in ["exec sleep 100", stops] {
        let stage = Stage::with_script(campaign, script);
        stage.run(&[], 0);
        let row = &stage.rows()[0];
        let found = ["outcome", "exit_code", "reason"].map(|name| row[name].as_str());
        let why = "timed out: the controller did not go on within control.patience_s";
        assert_eq!(found, ["controller_timeout", "8", why], "{script}: {row:?}");
    }
}

/// What the ends of `vary` do not show.
#[test]
fn a_scenario_that_is_refused_is_a_row() {
    let stage = Stage::new(
        "duration_s = 0.05\nseeds = 4\n[[scenarios]]\nname = \"flat\"\nfile = \"QUADRUPED\"\n\
         [[vary]]\nkey = \"contact.mu_static\"\nbetween = [0.5, 0.9]\n\
         [[vary]]\nkey = \"contact.mu_kinetic\"\nbetween = [0.4, 0.8]\n",
    );
    stage.run(&[], 0);
    let mut refused = 0;
    for row in stage.rows() {
        let number = |name: &str| row[name].parse::<f64>().unwrap();
        if number("contact_mu_kinetic") > number("contact_mu_static") {
            refused += 1;
            assert_eq!((row["outcome"].as_str(), row["exit_code"].as_str()), ("refused", "2"));
            assert!(row["reason"].contains("mu_kinetic"), "{row:?}");
        } else {
            assert_eq!(row["outcome"], "done", "{row:?}");
        }
    }
    assert!((1..4).contains(&refused), "{refused} of 4");
}

/// Ticks that it answers.
const ANSWERS: u64 = 60;

/// A controller, not a test: it answers so many states, then crashes.
#[test]
#[ignore = "run by a campaign"]
fn controller_that_crashes() {
    let at = |name: &str| std::env::var(name).unwrap();
    let client = Client::connect(&at("HARDSTAND_CONNECT"), &at("HARDSTAND_ROBOT")).unwrap();
    let model = client.model(PATIENCE).unwrap();
    let hold = |q: f64| JointCommand { q, kp: 100.0, kd: 3.0, ..Default::default() };
    let joints: Vec<JointCommand> = model.joints.iter().map(|j| hold(j.q_initial)).collect();
    let request = JoinRequest {
        layout_hash: model.layout_hash,
        physics_hash: 0,
        session: hardstand_protocol::random_number(),
        role: hardstand_protocol::Role::Required.code(),
        period_ticks: 1,
        phase_ticks: 0,
        offset_ticks: 0,
        controller: "brittle".into(),
        units: "SI".into(),
        joints: model.joints.iter().map(|j| j.name.clone()).collect(),
    };
    let mut controller = client.join(request, PATIENCE).unwrap();
    loop {
        let Some(state) = controller.next_state(Duration::from_secs(1)).unwrap() else { continue };
        if state.tick == ANSWERS {
            std::process::abort();
        }
        controller.answer(&state, &joints).unwrap();
    }
}

/// Its row is the same every time, though the crash is seen by a clock.
#[test]
fn a_crash_in_the_middle_is_the_same_row_every_time() {
    let mut stage = Stage::new(
        "duration_s = 0.1\nseeds = 2\nkeep_logs = \"none\"\n\
         [[scenarios]]\nname = \"flat\"\nfile = \"QUADRUPED\"\n",
    );
    let program = std::env::current_exe().unwrap().display().to_string();
    let words = ["--ignored", "--exact", "campaign::ends::controller_that_crashes"];
    stage.controller = [program.as_str()].into_iter().chain(words).map(String::from).collect();
    stage.run(&[], 0);
    let mut rows = same(&stage.rows());
    assert_row(&rows, "flat", ["controller_ended", "-6", "60", "the controller's signal 6"]);
    assert_eq!(rows[0]["log"], "");
    for row in &mut rows {
        row.retain(|name, _| name != "case" && name != "seed");
    }
    assert_eq!(rows[0], rows[1]);
}
