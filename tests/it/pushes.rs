//! Push limits: narrowing down finds what trying every force finds, in a fraction of the cases.

use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::common::process::{Process, repository, script, serial};

const HARDSTAND: &str = env!("CARGO_BIN_EXE_hardstand");

/// `hardstand pushes` of the quadruped that stands, with these options; its result.
fn pushes(folder: &TempDir, name: &str, options: &[&str], code: i32) -> (String, Value) {
    let mut command = std::process::Command::new(HARDSTAND);
    command.arg("pushes").arg(repository("config/quadruped.toml")).arg("--json").args(options);
    command.arg("--out").arg(folder.path().join(name));
    command.args(["--", HARDSTAND, "controller", "stand", "--join", "legs"]);
    let said = Process::start(folder.path(), name, command).ends_with(code);
    let result = serde_json::from_str(&said).unwrap_or_default();
    (said, result)
}

/// Two times of four directions each.
const SMALL: [&str; 16] = [
    "--until",
    "fell",
    "--directions",
    "4",
    "--at",
    "0.3",
    "--period",
    "0.2",
    "--times",
    "2",
    "--steps",
    "24",
    "--most",
    "1200",
    "--after",
    "0.9",
];

#[test]
fn few_cases_find_the_limits_that_every_case_finds() {
    let _one = serial();
    let folder = tempfile::tempdir().unwrap();
    let with = |more: &[&'static str]| [&SMALL[..], &["--in-process"], more].concat();
    let (_, few) = pushes(&folder, "few", &with(&["--jobs", "1"]), 0);
    let (_, every) = pushes(&folder, "every", &with(&["--sweep"]), 0);
    let limits = few["limits"].as_array().unwrap();
    assert_eq!(few["limits"], every["limits"]);
    assert_eq!(limits.len(), 8);
    let times: Vec<f64> = limits.iter().map(|l| l["at_s"].as_f64().unwrap()).collect();
    assert_eq!(times, [0.3, 0.3, 0.3, 0.3, 0.4, 0.4, 0.4, 0.4]);
    for limit in limits {
        let force_n = limit["limit_n"].as_f64().unwrap();
        assert!((50.0..1200.0).contains(&force_n), "{limit}");
        assert!(limit["happens_at_s"].as_f64().unwrap() > limit["at_s"].as_f64().unwrap());
    }
    // one without a push, and every step
    assert_eq!(every["cases"], json!(1 + 8 * 24));
    // five for each direction of the first time, and fewer where the time before has said where
    let cases = few["cases"].as_u64().unwrap();
    assert!(cases <= 1 + 4 * 5 + 4 * 4, "{cases}");
    assert_eq!(few["cases_of_a_sweep"], json!(8 * 24));

    // the same with more cases at a time, and with a daemon for each
    let (_, again) = pushes(&folder, "again", &with(&["--jobs", "2"]), 0);
    assert_eq!(again["limits"], few["limits"]);
    let one = ["--times", "1", "--directions", "1", "--steps", "3"];
    let one: Vec<&str> = SMALL[..2].iter().chain(&SMALL[12..]).chain(&one).copied().collect();
    let one = [&one[..], &["--at", "0.3", "--period", "1"]].concat();
    let (_, daemons) = pushes(&folder, "daemons", &one, 0);
    let (_, process) = pushes(&folder, "process", &[&one[..], &["--in-process"]].concat(), 0);
    assert_eq!(daemons["limits"], process["limits"]);

    let table = fs::read_to_string(few["table"].as_str().unwrap()).unwrap();
    assert_eq!(table.lines().count(), 1 + limits.len());
    assert!(table.starts_with("at_s,direction_deg,limit_n,impulse_n_s,happens_at_s,kind\n0.3,0,"));
    let plot = fs::read_to_string(few["plot"].as_str().unwrap()).unwrap();
    assert!(plot.contains("at 0.400 s") && plot.contains("least force until fell"), "{plot}");
}

#[test]
fn where_no_push_suffices_there_is_no_limit() {
    let _one = serial();
    let folder = tempfile::tempdir().unwrap();
    let options =
        ["--until", "fell", "--in-process", "--directions", "2", "--at", "0.1", "--after", "0.2"];
    let weak = [&options[..], &["--most", "4", "--steps", "4"]].concat();
    let (_, result) = pushes(&folder, "weak", &weak, 0);
    let none = json!({
        "at_s": 0.1, "direction_deg": 180.0, "limit_n": null, "happens_at_s": null, "kind": null
    });
    assert_eq!(result["limits"][1], none);
    let table = fs::read_to_string(result["table"].as_str().unwrap()).unwrap();
    assert!(table.ends_with("\n0.1,180,,,,\n"), "{table}");
}

/// A controller that gives up is told apart from the condition.
#[test]
fn the_end_of_a_controller_is_no_condition() {
    let _one = serial();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("gives_up");
    // pushed, it ends; without a push it stands
    let stand = format!("exec {HARDSTAND} controller stand --join legs \"$@\"");
    script(&file, &format!("case \"$*\" in *push*) exit 3;; esac\n{stand}"));
    let pushes = |name: &str, command: &str, code: i32| {
        let mut pushes = std::process::Command::new(HARDSTAND);
        pushes.arg("pushes").arg(repository("config/quadruped.toml"));
        pushes.args(["--until", "base.z < -5", "--in-process", "--directions", "1", "--at", "0.1"]);
        pushes
            .args(["--after", "0.1", "--out"])
            .arg(folder.path().join(name))
            .args(["--", command]);
        Process::start(folder.path(), name, pushes).ends_with(code)
    };
    let said = pushes("ends", &file.display().to_string(), 0);
    assert!(said.contains("towards 0.0°: controller_ended at 0.000 s"), "{said}");
    assert!(
        said.contains("failed     1 limits are the end of the plant or of the controller"),
        "{said}"
    );
    let table = fs::read_to_string(folder.path().join("ends/pushes.csv")).unwrap();
    assert!(table.ends_with(",controller_ended\n"), "{table}");
    let said = pushes("never", "false", 2);
    assert!(
        said.contains("without a push the run ends at 0.000 s: the controller's exit code 1"),
        "{said}"
    );
}

#[test]
fn what_cannot_be_measured_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (options, text) in [
        (&["--until", "base.height > 0"][..], "without a push it happens at 0.001 s"),
        (&["--until", "fell", "--push", "0"], "--push is 0; it must be finite and greater than 0"),
        (&["--until", "fell", "--at=-1"], "--at is -1; it must be finite and at least 0"),
        (&["--until", "fell", "--link", "tail"], "tail"),
        (&["--until", "fell", "--most", "2e6"], "force_n"),
        (&["--until", "fell", "--times", "3"], "--period"),
        (&["--until", "felt"], "felt"),
        (&["--until", "fell", "--at", "1.0005"], "--at is 1.0005; it must be a whole number of ms"),
        (&["--until", "fell", "--period", "0.002", "--times", "4"], "it must be at least 0.004"),
        (&["--until", "fell", "--set", "sim.start=\"now\""], "--set sim.start is not allowed"),
    ] {
        let options = [options, &["--in-process", "--directions", "1", "--after", "0.1"]].concat();
        let (said, _) = pushes(&folder, "refused", &options, 2);
        assert!(said.contains(text), "{text} is not in {said}");
    }
}
