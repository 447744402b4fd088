//! The options of `hardstand compare` and `hardstand calibrate`, and a log of a daemon with sensors.

use std::path::Path;
use std::time::Duration;

use hardstand::robot_log::{read_csv, write_csv};
use hardstand_client::JoinRequest;
use hardstand_physics::math;
use hardstand_protocol::JointCommand;
use rustix::process::Signal;
use serde_json::Value;

use super::{files, run};
use crate::common::process::{Scene, repository};

fn report(words: &[&str], code: i32) -> Value {
    let (text, found) = run(&[words, &["--json"]].concat());
    assert_eq!(found, code, "{text}");
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

#[test]
fn compare_takes_a_part_in_windows_and_draws_it() {
    let folder = tempfile::tempdir().unwrap();
    let [table, scenario] = files(folder.path()).map(|p| p.to_str().unwrap().to_string());
    let words = ["compare", &table, &scenario];
    let whole = report(&words, 0);
    // the log's samples are 5 ms apart, with some µs more or less
    let spans = |report: &Value, [from, to]: [f64; 2]| {
        let near = |key: &str, s: f64| (report[key].as_f64().unwrap() - s).abs() < 0.006;
        assert!(near("from_s", from) && near("to_s", to), "{report}");
    };
    spans(&whole, [0.0, 4.0]);
    assert_eq!((whole["windows"].as_u64(), whole["samples"].as_u64()), (Some(1), Some(800)));
    let drawings = folder.path().join("drawings");
    let part = ["--from", "1", "--to", "3", "--window", "0.5", "--plot"];
    let part = [&words[..], &part, &[drawings.to_str().unwrap()]].concat();
    let part = report(&part, 0);
    spans(&part, [1.0, 3.0]);
    // a window ends at its last sample, a little early, so a fifth one is left over
    assert_eq!((part["windows"].as_u64(), part["samples"].as_u64()), (Some(5), Some(399)));
    let rms = |report: &Value| report["rms_rad"].as_f64().unwrap();
    // windows that begin in the recorded state leave less time to drift
    assert!(rms(&part) < rms(&whole), "{} {}", rms(&part), rms(&whole));
    let drawn = part["drawings"].as_array().unwrap();
    assert!(!drawn.is_empty() && whole["drawings"].as_array().unwrap().is_empty());
    for file in drawn {
        let text = std::fs::read_to_string(file.as_str().unwrap()).unwrap();
        assert!(text.contains("<svg") && text.contains("FL_calf_joint"), "{file}");
    }
    let (text, code) = run(&["compare", &table, &scenario, "--window", "0"]);
    assert!(code == 2 && text.contains("--window is 0; it must be finite"), "{text}");
    let (text, code) = run(&["compare", &table, &scenario, "--from", "9"]);
    assert!(code == 2 && text.contains("no window has two rows"), "{text}");
}

/// The limit of a joint is passed by the worst joint alone.
#[test]
fn the_limit_of_a_joint_sets_the_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    let [table, scenario] = files(folder.path()).map(|p| p.to_str().unwrap().to_string());
    let all = report(&["compare", &table, &scenario], 0);
    let joints = all["joints"].as_array().unwrap();
    let worst = joints.iter().map(|j| j["rms_rad"].as_f64().unwrap()).fold(0.0, f64::max);
    let rms = all["rms_rad"].as_f64().unwrap();
    assert!(rms < 0.9 * worst, "{rms} {worst}");
    for (share, code) in [(1.01, 0), (0.99, 1)] {
        let limit = (share * worst).to_string();
        let words = ["compare", &table, &scenario, "--max-joint-rms-rad", &limit];
        assert_eq!(report(&words, code)["within_limits"].as_bool(), Some(code == 0));
        assert_eq!(
            report(&["compare", &table, &scenario, "--max-rms-rad", &limit], 0)["windows"],
            1
        );
    }
}

/// A limit that nothing exceeds is no limit, and a joint that was not sampled is not exact.
#[test]
fn limits_are_numbers_and_a_joint_without_samples_is_within_none() {
    let folder = tempfile::tempdir().unwrap();
    let [table, scenario] = files(folder.path()).map(|p| p.to_str().unwrap().to_string());
    let words = ["compare", &table, &scenario];
    for (option, value, wanted) in [
        ("--max-rms-rad", "nan", "--max-rms-rad is NaN; it must be finite and at least 0"),
        ("--max-rms-rad=-1", "", "--max-rms-rad is -1; it must be"),
        ("--max-joint-rms-rad", "inf", "--max-joint-rms-rad is inf; it must be"),
        ("--from", "nan", "--from is NaN; it must be a finite time"),
        ("--to", "inf", "--to is inf; it must be a finite time"),
    ] {
        let more = [option, value];
        let more = &more[..1 + usize::from(!value.is_empty())];
        let (text, code) = run(&[&words[..], more].concat());
        assert!(code == 2 && text.contains(wanted), "{option} {value}: {text}");
    }
    let mut columns = read_csv(Path::new(&table)).unwrap();
    let q = columns.names.iter().position(|name| name == "q.FL_hip_joint").unwrap();
    columns.values[q][5..].fill(f64::NAN);
    let cut = folder.path().join("cut.csv");
    write_csv(&mut std::fs::File::create(&cut).unwrap(), false, &columns).unwrap();
    let cut = cut.to_str().unwrap();
    let part = ["compare", cut, &scenario, "--from", "0.03"];
    // the window begins with the sample 10 ms before it
    let found = report(&[&part[..], &["--max-joint-rms-rad", "3"]].concat(), 1);
    let is_cut = |joint: &&Value| joint["name"] == "FL_hip_joint";
    let joint = found["joints"].as_array().unwrap().iter().find(is_cut).unwrap();
    assert!(joint["rms_rad"].is_null(), "{joint}");
    assert!(found["rms_rad"].as_f64().unwrap() < 3.0, "{found}");
    let (text, code) = run(&part);
    let line = text.lines().find(|line| line.starts_with("FL_hip_joint")).unwrap();
    assert!(code == 0 && line.ends_with("no samples"), "{text}");
    // a folder alone would give hidden files
    let output = format!("{}/", folder.path().display());
    let words = ["calibrate", &table, &scenario, "--fit", "friction", "-o", &output];
    let (text, code) = run(&words);
    assert!(code == 2 && text.contains("it must end in a name, to which .toml is added"), "{text}");
}

#[test]
fn an_interrupted_fit_writes_nothing() {
    let scene = Scene::new();
    let [table, scenario] = files(scene.dir.path()).map(|p| p.to_str().unwrap().to_string());
    let name = scene.path("fitted");
    let keys = "hold_kp@each,hold_kd@each,armature@each,friction@each,damping@each";
    let words = ["calibrate", &table, &scenario, "--fit", keys, "-o", name.to_str().unwrap()];
    let mut fit = scene.hardstand("fit", &words);
    std::thread::sleep(Duration::from_millis(300));
    assert!(!fit.has_ended(), "{}", fit.err());
    // children of a job in the background ignore SIGINT
    fit.signal(Signal::TERM);
    assert!(!fit.wait().success());
    let mut left: Vec<_> = std::fs::read_dir(scene.dir.path()).unwrap().collect();
    left.retain(|e| e.as_ref().unwrap().file_name().to_string_lossy().contains("fitted"));
    assert!(left.is_empty(), "{left:?}");
}

/// What `hardstand run` records of a robot with instruments as they are on robots: whole counts,
/// noise, offsets, a delay, and velocities from differences.
#[test]
fn the_truth_is_found_in_the_log_of_a_daemon_with_sensors() {
    let air = ["robot.base=fixed", "initial.position_m=[0,0,1]", "sim.micro_steps=2"];
    let joints = |friction: f64, armature: f64| {
        format!("joints={{\"*\"={{armature={armature:?}, friction={friction:?}, damping=0.05}}}}")
    };
    let sensors = "sensors.joints.\"*\"={counts_per_turn=16384, noise_rad=3e-4, delay_us=2000, \
                   offset_error_rad=5e-4, velocity_cutoff_hz=100}";
    let delay = "joints.\"*\".drive.delay_us=6000";
    let scene = Scene::new();
    let truth = joints(0.42, 0.016);
    let mut words = vec!["--mode", "lockstep", "--pace", "free", "--duration", "8"];
    for set in air.into_iter().chain([truth.as_str(), sensors, delay]) {
        words.extend(["--set", set]);
    }
    let mut daemon = scene.daemon(&words);
    chirp(&scene);
    daemon.ends_well();

    let table = scene.path("table.csv.gz").display().to_string();
    let log = scene.log().display().to_string();
    let (text, code) = run(&["import", &log, "-o", &table]);
    assert_eq!(code, 0, "{text}");
    let (start, name) = (joints(0.3, 0.01), scene.path("fitted").display().to_string());
    let quadruped = repository("config/quadruped.toml");
    let keys = "friction,armature,drive.delay_us";
    let mut words = vec!["calibrate", &table, &quadruped, "--fit", keys, "-o", &name];
    for set in air.into_iter().chain([start.as_str()]) {
        words.extend(["--set", set]);
    }
    let fitted = report(&words, 0);
    // the delays of drive and sensor add up
    for (i, wanted) in [0.42, 0.016, 8000.0].into_iter().enumerate() {
        let estimate = &fitted["estimates"][i];
        println!("{estimate}");
        assert_eq!(estimate["finding"], "determined", "{estimate}");
        let value = estimate["value"].as_f64().unwrap();
        assert!((value - wanted).abs() < 0.02 * wanted, "{estimate}");
    }
    let errors = |part: &str| [0, 1].map(|i| fitted[part][i]["rms_rad"].as_f64().unwrap());
    for [before, after] in [errors("fit"), errors("held_back")] {
        assert!(after < 0.1 * before, "{before} {after}");
    }
}

/// Moves all joints about their first posture, ever faster, until the run ends.
fn chirp(scene: &Scene) {
    let client = scene.client();
    let model = client.model(Duration::from_secs(60)).unwrap();
    let mut controller =
        client.join(JoinRequest::new(&model, "legs"), Duration::from_secs(20)).unwrap();
    while let Ok(Some(state)) = controller.next_state(Duration::from_secs(20)) {
        let time_s = state.tick as f64 * 1e-3;
        let amplitude = 0.25 * (time_s / 0.5).min(1.0);
        let phase = |i: usize| time_s * (3.0 + 1.2 * time_s) + 0.9 * i as f64;
        let command = |(i, q): (usize, f64)| JointCommand {
            q: q + amplitude * math::sin_cos(phase(i)).0,
            kp: 30.0,
            kd: 1.0,
            ..JointCommand::default()
        };
        let q = model.joints.iter().map(|j| j.q_initial);
        let commands: Vec<JointCommand> = q.enumerate().map(command).collect();
        if controller.answer(&state, &commands).is_err() {
            return;
        }
    }
}

/// A cart on a rail is compared in metres, the joints of its arm in radians.
#[test]
fn errors_of_joints_that_slide_are_in_metres() {
    let folder = tempfile::tempdir().unwrap();
    let [log, table] = ["run.mcap", "t.csv.gz"].map(|name| folder.path().join(name));
    let [log, table] = [&log, &table].map(|path| path.to_str().unwrap());
    let robot = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/robots/arm_on_cart_4.toml");
    let run_it = ["run", robot, "--pace", "free", "--duration", "0.3", "--log", log];
    assert_eq!(run(&[&run_it[..], &["--set", "ros2.mode=off"]].concat()).1, 0);
    assert_eq!(run(&["import", log, "-o", table]).1, 0);
    let words = ["compare", table, robot, "--set", "joints.\"*\".armature=0.5"];
    let (said, code) = run(&words);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains(", mm ") && said.contains(", mrad ") && said.contains("mrad and mm rms"));
    let joints = report(&words, 0)["joints"].as_array().unwrap().clone();
    let units: Vec<&str> = joints.iter().map(|j| j["unit"].as_str().unwrap()).collect();
    assert!(units.contains(&"m") && units.contains(&"rad"), "{units:?}");
}
