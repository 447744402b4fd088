//! `--json` of every command that needs no controller: fields, types, exit codes.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::bench::quadruped;
use crate::common::logs::{Script, run_of, write};
use hardstand::cli::ExitCode;
use hardstand::daemon::{EndKind, Report, reports};
use serde_json::Value;

fn logged(dir: &Path, name: &str, script: &Script) -> PathBuf {
    let path = dir.join(name);
    write(&path, &quadruped(&[]), &run_of(&quadruped(&[]), script, 60));
    path
}

/// Standard output and the exit code.
fn output(arguments: &[&str]) -> (String, i32) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hardstand"));
    let out = command.current_dir(env!("CARGO_MANIFEST_DIR")).args(arguments).output().unwrap();
    (String::from_utf8(out.stdout).unwrap(), out.status.code().unwrap())
}

/// The one document that a command prints.
fn json(arguments: &[&str], code: ExitCode) -> Value {
    let (text, found) = output(arguments);
    assert_eq!(found, i32::from(code.number()), "{arguments:?}: {text}");
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{arguments:?}: {e}: {text}"))
}

#[test]
fn a_replay_is_one_document() {
    let dir = tempfile::tempdir().unwrap();
    let log = logged(dir.path(), "a.mcap", &Script::default());
    let log = log.to_str().unwrap();
    let replay = json(&["replay", log, "--json"], ExitCode::Done);
    assert_eq!((&replay["identical"], &replay["ticks"]), (&true.into(), &60.into()));
    assert_eq!(replay["equal_ticks"], 60);
    assert_eq!(replay["digest"].as_str().unwrap().len(), 16);
    assert!(replay["simulated_s"].is_f64() && replay["wall_s"].is_f64());
    assert!(replay["difference"].is_null() && replay["gaps"].as_array().unwrap().is_empty());
    let set = ["replay", log, "--json", "--set", "contact.cz_s_per_m=0.6"];
    let replay = json(&set, ExitCode::Negative);
    assert_eq!(replay["identical"], false);
    assert!(replay["difference"]["tick"].is_u64() && replay["difference"]["quantity"].is_string());
}

#[test]
fn a_search_prints_the_tick_and_accepts_old_names_of_quantities() {
    let dir = tempfile::tempdir().unwrap();
    let log = logged(dir.path(), "a.mcap", &Script::default());
    let log = log.to_str().unwrap();
    let found = json(&["bisect", log, "--where", "tick > 9", "--json"], ExitCode::Negative);
    assert_eq!(found["found"]["tick"], 10);
    assert_eq!(found["values"][0]["name"], "tick");
    assert_eq!(found["values"][0]["value"], 10.0);
    for condition in ["epoch > 1 or fault > 0", "run_id > 1 or failure > 0"] {
        let found = json(&["bisect", log, "--where", condition, "--json"], ExitCode::Done);
        assert!(found["found"].is_null(), "{found}");
    }
    let list = json(&["bisect", log, "--list", "--at", "5", "--json"], ExitCode::Done);
    let tick = list.as_array().unwrap().iter().find(|q| q["name"] == "tick").unwrap();
    assert_eq!(tick["value"], 5.0);
    let judged = ["bisect", log, "--json", "--", "sh", "-c", "test $HARDSTAND_TICK -lt 20"];
    let judged = json(&judged, ExitCode::Negative);
    assert_eq!(judged["first_bad"]["tick"], 20);
    assert!(judged["judged"].as_array().unwrap().len() > 3);
}

#[test]
fn a_comparison_names_cause_quantity_and_values() {
    let dir = tempfile::tempdir().unwrap();
    let a = logged(dir.path(), "a.mcap", &Script::default());
    let b = logged(dir.path(), "b.mcap", &Script { other_from: 30, ..Script::default() });
    let (a, b) = (a.to_str().unwrap(), b.to_str().unwrap());
    let same = json(&["bisect", a, a, "--json"], ExitCode::Done);
    assert_eq!((&same["identical"], &same["cause"]), (&true.into(), &Value::Null));
    let found = json(&["bisect", a, b, "--json"], ExitCode::Negative);
    assert_eq!((&found["identical"], &found["cause"]), (&false.into(), &"controller".into()));
    assert_eq!(found["inputs"]["quantity"], "command.FL_hip_joint.kp");
    assert_eq!(found["inputs"]["values"][0], "1e2");
    assert!(found["ranked"][0]["share"].as_f64().unwrap() > 0.0);
    assert!(found["parted"]["time_s"].is_f64());
}

#[test]
fn a_branch_has_its_run_and_the_comparison() {
    let dir = tempfile::tempdir().unwrap();
    let log = logged(dir.path(), "a.mcap", &Script::default());
    let to = dir.path().join("b.mcap");
    let (log, to) = (log.to_str().unwrap(), to.to_str().unwrap());
    let branch = json(&["branch", log, "--at", "20", "--log", to, "--json"], ExitCode::Done);
    assert_eq!((&branch["at_tick"], &branch["ticks"]), (&20.into(), &40.into()));
    assert_eq!(branch["log_files"][0], to);
    assert!(branch["plant_failure"].is_null() && branch["controller"].is_null());
    assert_eq!(branch["comparison"]["identical"], true);
}

#[test]
fn a_recovery_a_model_and_the_faults_are_documents() {
    let dir = tempfile::tempdir().unwrap();
    let log = logged(dir.path(), "a.mcap", &Script::default());
    let recovered = json(&["recover", log.to_str().unwrap(), "--json"], ExitCode::Done);
    assert_eq!(recovered["ticks"], 60);
    assert!(recovered["file"].as_str().unwrap().ends_with("a.recovered.mcap"));
    assert!(recovered["damage"].is_null());
    let model = json(&["model", "config/robots/quadruped.urdf", "--json"], ExitCode::Done);
    assert_eq!(
        (&model["base"], model["joints"].as_array().unwrap().len()),
        (&"floating".into(), 12)
    );
    assert!(model["mass_kg"].as_f64().unwrap() > 1.0);
    assert!(model["bodies"][0]["parent"].is_null() && model["bodies"][1]["parent"].is_string());
    assert_eq!(model["possible_feet"].as_array().unwrap().len(), 4);
    let faults = json(&["faults", "--json"], ExitCode::Done);
    let faults = faults.as_array().unwrap();
    assert!(faults.len() > 5 && faults.iter().all(|f| f["parameters"].is_array()));
}

/// The stream of `--json` and the file of `--report` agree; both parse back into the typed report.
#[test]
fn a_run_reports_its_start_and_its_end() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("report");
    let run = ["run", "config/quadruped.toml", "--pace", "free", "--duration", "0.05", "--json"];
    let more = ["--set", "bus.listen=[]", "--report", file.to_str().unwrap()];
    let (out, code) = output(&[&run[..], &more].concat());
    assert_eq!(code, 0, "{out}");
    let written = reports(&std::fs::read_to_string(&file).unwrap());
    assert_eq!(reports(&out), written);
    let [Report::Ready(ready), Report::Ended(end)] = &written[..] else { panic!("{written:?}") };
    assert_eq!((ready.robot.as_str(), ready.run_id, ready.first_tick), ("quadruped", 1, 0));
    assert_eq!((end.kind, end.ticks), (EndKind::DurationReached, 50));
    assert!(end.missing.is_empty() && end.plant_failure.is_none());
    // no tick takes less than 1 µs
    assert!(end.wall_s > 1e-6 * 50.0, "50 ticks in {} s", end.wall_s);
    let refused = [&run[..], &more, &["--set", "sim.rate_hz=0"]].concat();
    let (out, code) = output(&refused);
    assert_eq!(code, 2);
    let [Report::Error(error)] = &reports(&out)[..] else { panic!("{out}") };
    assert_eq!(error.kind, "input");
}

/// docs/cli.md has every exit code with its meaning, and `--help` too.
#[test]
fn exit_codes_are_documented() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/cli.md");
    let page = std::fs::read_to_string(page).unwrap();
    let help = output(&["--help"]).0.split_whitespace().collect::<Vec<_>>().join(" ");
    for code in ExitCode::ALL {
        let (number, meaning) = (code.number(), code.meaning());
        assert!(page.contains(&format!("| {number} | {meaning} |")), "{number} {meaning}");
        assert!(help.contains(&format!("{number} {meaning}")), "{number} {meaning}: {help}");
    }
}
