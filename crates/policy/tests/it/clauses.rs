//! Contracts that are violated, against the clauses that the Python package finds.

use hardstand_policy::{Contract, Network, Policy, RobotFacts};
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize)]
struct Case {
    text: String,
    robot: Robot,
    command: BTreeMap<String, f64>,
    clauses: Vec<String>,
}

#[derive(Deserialize)]
struct Robot {
    joints: Vec<String>,
    period: f64,
    q_min: Vec<f64>,
    q_max: Vec<f64>,
    kp_max: f64,
    kd_max: f64,
    feet: usize,
    imu_on_base: bool,
    prismatic: Vec<bool>,
}

fn facts(robot: Robot) -> RobotFacts {
    RobotFacts {
        joints: robot.joints,
        period_s: robot.period,
        q_min: robot.q_min,
        q_max: robot.q_max,
        kp_max: robot.kp_max,
        kd_max: robot.kd_max,
        feet: robot.feet,
        imu_quat_wxyz: [1.0, 0.0, 0.0, 0.0],
        imu_on_base: robot.imu_on_base,
        prismatic: robot.prismatic,
    }
}

fn cases() -> BTreeMap<String, Case> {
    let file = std::fs::read(crate::data().join("clauses.json")).unwrap();
    serde_json::from_slice(&file).unwrap()
}

fn network() -> Network {
    Network::read(crate::data().join("elu.onnx")).unwrap()
}

/// The policy for a changed example on the usual robot, or the lines of the error.
fn clauses(text: &str, facts: &RobotFacts, command: &[(String, f64)]) -> Vec<String> {
    let made = Contract::parse(text, "broken.toml")
        .and_then(|contract| Policy::new(contract, network(), facts, command));
    let Err(error) = made else { return Vec::new() };
    let text = error.to_string();
    let mut lines = text.split("\n  - ").map(String::from);
    let head = lines.next().unwrap();
    let lines: Vec<String> = lines.collect();
    assert!(head.ends_with(&format!(": {} clauses are violated", lines.len())), "{text}");
    lines
}

/// Keys that the Python package knows by other names: it has `folder` among its own.
fn without_lists_of_keys(clauses: &[String]) -> Vec<&str> {
    clauses.iter().map(|line| line.split("; known are name,").next().unwrap()).collect()
}

#[test]
fn every_violated_clause_is_named_as_in_python() {
    let cases = cases();
    assert!(cases.len() > 30);
    assert!(cases["everything"].clauses.len() > 10, "{:?}", cases["everything"].clauses);
    for (name, case) in cases {
        let command: Vec<(String, f64)> = case.command.into_iter().collect();
        let found = clauses(&case.text, &facts(case.robot), &command);
        let expected = without_lists_of_keys(&case.clauses);
        assert_eq!(without_lists_of_keys(&found), expected, "{name}");
    }
}

/// What the Python package does not check, or reports with an error of another kind.
#[test]
fn clauses_that_only_this_crate_checks_are_named() {
    let example = cases().remove("whole").unwrap();
    let facts = facts(example.robot);
    let first = "[[observation]]\nterm = \"gyro\"";
    let held = format!("[[hold]]\njoints = [\"FR_hip\"]\nq = [1, 2]\nkp = 900\nkd = 1\n{first}");
    let changes = [
        (
            "policy_hz = 50.0",
            "policy_hz = \"fast\"",
            "policy_hz is of type string; it must be a number",
        ),
        (
            "kp = 25.0",
            "kp = \"file\"",
            "kp is \"file\"; it must be a number, a list, or \"policy\"",
        ),
        ("kp = 25.0", "kp = nan", "kp is nan; it must be finite"),
        (
            "vx = [-1.0, 1.0]",
            "vx = [-1.0]",
            "commands is of type table; it must be a table of names",
        ),
        (
            "vx = [-1.0, 1.0]",
            "vx = [1.0, -1.0]",
            "commands.vx is [1, -1]; the least must come first",
        ),
        (first, "[clock]\nperiod_s = 0\n[[observation]]\nterm = \"gyro\"", "clock.period_s is 0"),
        ("scale = 0.25\n\n", "history = 20000\n\n", "history times decimation may be 10000"),
        (first, &held, "hold[0].q has 2 numbers; its joints has 1 names"),
        (first, &held, "kp of FR_hip is 900; the robot takes 0 to 100"),
    ];
    for (old, new, expected) in changes {
        assert!(example.text.contains(old), "{old}");
        let found = clauses(&example.text.replacen(old, new, 1), &facts, &[]);
        assert!(found.iter().any(|line| line.contains(expected)), "{expected:?}: {found:?}");
    }
    let twice = [("vx".to_string(), 0.0), ("vx".to_string(), 0.1)];
    assert_eq!(clauses(&example.text, &facts, &twice), ["command vx is given twice"]);
}

#[test]
fn a_refused_command_changes_nothing() {
    let example = cases().remove("whole").unwrap();
    let contract = Contract::parse(&example.text, "example.toml").unwrap();
    let given = [("vx".to_string(), 0.5)];
    let mut policy = Policy::new(contract, network(), &facts(example.robot), &given).unwrap();
    let sensors = hardstand_policy::Sensors {
        gyro_rad_per_s: [0.0; 3],
        acc_m_per_s2: [0.0; 3],
        imu_quat_wxyz: [1.0, 0.0, 0.0, 0.0],
        q_rad: &[0.0; 4],
        dq_rad_per_s: &[0.0; 4],
        foot_contact: &[],
        truth: None,
    };
    let refused = policy.set_command(&[("vx".to_string(), f64::NAN)]).unwrap_err();
    assert!(refused.to_string().contains("command vx is nan; it must be -1 to 1"), "{refused}");
    policy.act(&sensors);
    assert!((policy.observation()[6] - 0.5).abs() < 1e-9);
    policy.set_command(&[]).unwrap();
    policy.act(&sensors);
    assert!(policy.observation()[6].abs() < 1e-9);
    let short = hardstand_policy::Sensors { q_rad: &[0.0; 3], ..sensors };
    assert!(policy.act(&short).iter().all(|target| target.is_nan()));
}
