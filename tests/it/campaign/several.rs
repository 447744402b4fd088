//! Campaigns whose scenario has several robots.

use std::collections::BTreeSet;
use std::fs;

use super::stage::{Row, STAND, Stage, same};
use crate::common::process::quadruped_text;

/// Two robots side by side; the right one has an event of its own.
const ROBOTS: &str = r#"

[[robots]]
name = "left"
initial = { position_m = [0.0, 0.5, 0.0] }

[[robots]]
name = "right"
initial = { position_m = [0.0, -0.5, 0.0] }
events = [{ at_s = 0.01, kind = "encoder_noise", amplitude = 0.001, seed = 3 }]
"#;

/// Without a fault, with a push that throws one robot over, and with one for both.
const CAMPAIGN: &str = r#"
duration_s = 1.0
fail_if = ["fell"]

[[scenarios]]
name = "pair"
file = "pair.toml"

[[faults]]
name = "none"

[[faults]]
name = "left"
events = [{ robot = "left", PUSH }]

[[faults]]
name = "both"
events = [{ PUSH }]

[conditions]
fell = "fell"
left_fell = "left.fell"
right_fell = "right.fell"
apart = "left.base.y - right.base.y > 1.2"

[measures]
left_tilt_rad = { quantity = "left.base.tilt", take = "max" }
right_tilt_rad = { quantity = "right.base.tilt", take = "max" }
right_margin = { margin = "right.fell" }
"#;

const PUSH: &str = "kind = \"push\", link = \"trunk\", at_s = 0.1, duration_s = 0.2, \
                    force_n = [0.0, 700.0, 0.0], point_m = [0.0, 0.0, 0.1]";

fn pair(campaign: &str) -> Stage {
    let stage = Stage::new(&campaign.replace("PUSH", PUSH));
    fs::write(stage.path("pair.toml"), quadruped_text() + ROBOTS).unwrap();
    stage
}

fn held(row: &Row) -> [&str; 4] {
    ["fell", "left_fell", "right_fell", "apart"].map(|name| row[name].as_str())
}

/// A row speaks of all robots of a case, each of which has a controller and a log.
#[test]
fn a_case_has_a_controller_and_a_log_for_each_robot() {
    let stage = pair(CAMPAIGN);
    let said = stage.run(&["--jobs", "2"], 1);
    assert!(said.contains("outcomes   3 of 3 cases: done 3"), "{said}");
    let rows = stage.rows();
    let names: Vec<&str> = rows.iter().map(|row| row["case"].as_str()).collect();
    assert_eq!(names, ["pair__none__s0001", "pair__left__s0001", "pair__both__s0001"]);
    assert_eq!(held(&rows[0]), ["false"; 4]);
    assert_eq!(held(&rows[1]), ["true", "true", "false", "true"]);
    assert_eq!(held(&rows[2])[..3], ["true"; 3]);
    let number = |row: &Row, name: &str| row[name].parse::<f64>().unwrap();
    for row in &rows {
        // a margin above 0 is a condition that holds
        let fell = number(row, "right_margin") > 0.0;
        assert_eq!(fell, row["right_fell"] == "true", "{row:?}");
    }
    assert!(number(&rows[1], "left_tilt_rad") > 1.0 && number(&rows[1], "right_tilt_rad") < 0.3);
    let digests: BTreeSet<&str> = rows.iter().map(|row| row["digest"].as_str()).collect();
    assert_eq!(digests.len(), 3);

    // those that failed are kept
    assert!(!stage.results().join("cases/pair__none__s0001/run-left.mcap").exists());
    let kept = stage.results().join("cases/pair__left__s0001");
    for name in ["run-left.mcap", "run-right.mcap", "run-left.html", "run-right.html"] {
        assert!(kept.join(name).is_file(), "{name}");
    }
    for name in ["controller-left.txt", "controller-right.txt"] {
        assert!(kept.join(name).is_file(), "{name}");
    }
    assert_eq!(rows[1]["log"], "cases/pair__left__s0001/run-left.mcap");
    assert_eq!(rows[1]["page"], "cases/pair__left__s0001/run-left.html");

    let again = pair(CAMPAIGN);
    again.run(&["--jobs", "1"], 1);
    assert_eq!(same(&again.rows()), same(&rows));
}

/// It ends where it is not the first one's, and finds the names of all.
#[test]
fn one_program_may_control_all_robots() {
    let mut stage =
        pair("duration_s = 0.1\n[[scenarios]]\nname = \"pair\"\nfile = \"pair.toml\"\n");
    let script = r#"
        [ "$HARDSTAND_ROBOT" = left ] || exit 0
        for robot in $(echo "$HARDSTAND_ROBOTS" | tr , ' '); do
            $STAND --robot "$robot" &
        done
        wait
    "#;
    let script = script.replace("$STAND", &STAND.join(" "));
    stage.controller = ["sh", "-c", &script].map(String::from).into();
    let said = stage.run(&[], 0);
    assert!(said.contains("outcomes   1 of 1 cases: done 1"), "{said}");
}

/// The reason names the robot that ended the others.
#[test]
fn the_reason_names_the_robot() {
    let mut stage = pair(
        "duration_s = 0.5\nset = [\"control.patience_s=1.0\"]\n\
         [[scenarios]]\nname = \"pair\"\nfile = \"pair.toml\"\n",
    );
    let script = r#"[ "$HARDSTAND_ROBOT" = left ] || exec sleep 60; exec $STAND"#;
    let script = script.replace("$STAND", &STAND.join(" "));
    stage.controller = ["sh", "-c", &script].map(String::from).into();
    stage.run(&[], 0);
    let rows = stage.rows();
    assert_eq!(rows[0]["outcome"], "controller_timeout");
    assert!(rows[0]["reason"].starts_with("right: timed out"), "{}", rows[0]["reason"]);

    let script = script.replace("exec sleep 60", "exit 3");
    stage.controller = ["sh", "-c", &script].map(String::from).into();
    stage.run(&["--again"], 0);
    let rows = stage.rows();
    assert_eq!(rows[0]["outcome"], "controller_ended");
    assert_eq!(rows[0]["reason"], "right: the controller's exit code 3");
}

#[test]
fn what_does_not_fit_the_robots_is_refused() {
    let other = CAMPAIGN.replace("robot = \"left\"", "robot = \"centre\"");
    let said = pair(&other).run(&[], 2);
    assert!(said.contains("robot is \"centre\"; it must be one of left, right"), "{said}");

    let said = pair(&CAMPAIGN.replace("\"left.fell\"", "\"base.z < 0.2\"")).run(&[], 2);
    assert!(said.contains("there is no quantity base.z"), "{said}");
    assert!(said.contains("left.base.z"), "{said}");

    for key in ["in_process", "controller_resets"] {
        let campaign = CAMPAIGN.replace("fail_if", &format!("{key} = true\nfail_if"));
        let said = pair(&campaign).run(&[], 2);
        let expected = format!("has several [[robots]], which need {key} = false");
        assert!(said.contains(&expected), "{said}");
    }
}
