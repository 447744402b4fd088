//! Parameters are recovered from logs whose truth is known, and what a log does not say gets no
//! number.

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use hardstand::calibrate::{
    Calibration, Finding, FitSettings, Job, Playback, calibrate, parse_list,
};
use hardstand::config::Scenario;
use hardstand::optimize::SplitMix;
use hardstand::robot_log::{BaseTrack, JointTrack, RobotLog, read_csv, write_csv};
use hardstand_physics::actuator::Reference;
use hardstand_physics::math;
use hardstand_physics::plant::{OwnerWords, Plant};

use crate::common::bench::quadruped;
use crate::common::logs;

#[cfg(feature = "zenoh")]
mod commands;
mod ground;
mod hidden;
mod parameters;
mod recovery;

/// Clamped in the air.
const AIR: [&str; 4] = [
    "robot.base=fixed",
    "initial.position_m=[0,0,1]",
    "sim.micro_steps=2",
    "joints={\"*\"={hold_kp=30.0, hold_kd=1.0, armature=0.01, friction=0.3, damping=0.05}}",
];

fn air(sets: &[&str]) -> Scenario {
    quadruped(&[&AIR, sets].concat())
}

/// Chirps about the initial posture that begin at rest, sampled every `every` ticks with noise, rad.
fn log_of(scenario: &Scenario, seconds: f64, every: u64, noise_rad: f64) -> RobotLog {
    log_of_seed(scenario, [seconds, noise_rad], every, 5)
}

fn log_of_seed(scenario: &Scenario, made: [f64; 2], every: u64, seed: u64) -> RobotLog {
    // a drive with a delay has no command at first
    let settling = if scenario.spec.drives.is_ideal() { 0 } else { 1000 };
    log_with(scenario, settling, made, every, seed, |time_s, i| {
        let phase = time_s * (3.0 + 1.2 * time_s) + 0.9 * i as f64;
        let amplitude = 0.25 * (time_s / 0.5).min(1.0);
        amplitude * math::sin_cos(phase).0
    })
}

/// Each joint moves about the initial posture by `motion` of the time and its number, after
/// `settling` ticks.
fn log_with(
    scenario: &Scenario,
    settling: u64,
    [seconds, noise_rad]: [f64; 2],
    every: u64,
    seed: u64,
    motion: impl Fn(f64, usize) -> f64,
) -> RobotLog {
    let mut log = log_with_speeds(scenario, settling, [seconds, noise_rad], every, seed, motion);
    log.joints.iter_mut().for_each(|track| track.dq = None);
    log
}

/// The same with the speeds that the joints report, without noise.
fn log_with_speeds(
    scenario: &Scenario,
    settling: u64,
    [seconds, noise_rad]: [f64; 2],
    every: u64,
    seed: u64,
    motion: impl Fn(f64, usize) -> f64,
) -> RobotLog {
    let mut plant = Plant::new(scenario.model.clone(), scenario.spec.clone());
    let period_s = scenario.spec.period_ns as f64 * 1e-9;
    let home = scenario.spec.q.joints.clone();
    let mut random = SplitMix(seed);
    let joints = home.len();
    let track = || JointTrack {
        q: Vec::new(),
        dq: Some(Vec::new()),
        command: [Some(Vec::new()), None, None, None, None],
    };
    let floating = scenario.model.base == hardstand_physics::model::Base::Floating;
    let mut log = RobotLog {
        file: "made".into(),
        time_s: Vec::new(),
        joints: (0..joints).map(|_| track()).collect(),
        base: floating.then(|| BaseTrack { columns: vec![Vec::new(); 13] }),
    };
    let ticks = (seconds / period_s) as u64;
    let mut references = vec![Reference::default(); joints];
    for (i, reference) in references.iter_mut().enumerate().filter(|_| settling > 0) {
        let gains = &scenario.hold_gains[i];
        *reference = Reference { q: home[i], kp: gains.kp, kd: gains.kd, ..Reference::default() };
    }
    for _ in 0..settling {
        assert!(plant.step(&references, &OwnerWords::default()).is_none());
    }
    for tick in 0..ticks {
        let time_s = tick as f64 * period_s;
        if tick % every == 0 {
            for (i, reference) in references.iter_mut().enumerate() {
                let gains = &scenario.hold_gains[i];
                let q = home[i] + motion(time_s, i);
                *reference = Reference { q, kp: gains.kp, kd: gains.kd, ..Reference::default() };
            }
            log.time_s.push(time_s);
            let state = plant.state();
            for (i, track) in log.joints.iter_mut().enumerate() {
                track.q.push(plant.reported_joint(i)[0] + noise_rad * random.normal());
                if let Some(dq) = &mut track.dq {
                    dq.push(plant.reported_joint(i)[1]);
                }
                track.command[0].as_mut().unwrap().push(references[i].q);
            }
            if let Some(base) = &mut log.base {
                let (q, v) = (&state.q, &state.v);
                let (p, r) = (q.p_WB, q.quat_WB);
                let row = [
                    p.x, p.y, p.z, r.w, r.x, r.y, r.z, v.v_WB.x, v.v_WB.y, v.v_WB.z, v.w_WB.x,
                    v.w_WB.y, v.w_WB.z,
                ];
                // of positions, orientation and velocities, in units of an encoder's
                for (i, (column, x)) in base.columns.iter_mut().zip(row).enumerate() {
                    let share = [1.0, 0.5, 25.0][usize::from(i > 2) + usize::from(i > 6)];
                    column.push(x + share * noise_rad * random.normal());
                }
            }
        }
        assert!(plant.step(&references, &OwnerWords::default()).is_none());
    }
    log
}

fn settings(threads: usize) -> FitSettings {
    FitSettings {
        hold_back: 0.25,
        window_s: None,
        threads: NonZeroUsize::new(threads).unwrap(),
        iterations_max: 40,
    }
}

fn fit(
    log: &RobotLog,
    scenario: &Scenario,
    what: &[&str],
    settings: &FitSettings,
) -> hardstand::Result<Calibration> {
    let what: Vec<String> = what.iter().map(ToString::to_string).collect();
    let parameters = parse_list(&what, scenario)?;
    let job = Job { log, scenario, parameters: &parameters, settings };
    calibrate(&job, |sentence| println!("{sentence}"))
}

/// Value and half width.
fn found(c: &Calibration, name: &str) -> (f64, f64) {
    let estimate = c.estimates.iter().find(|e| e.name == name).unwrap();
    match &estimate.finding {
        Finding::Determined { value, half_width, .. } => (*value, *half_width),
        Finding::NotDetermined { why, .. } => panic!("{name}: {why}"),
    }
}

#[test]
fn a_replay_of_the_truth_has_no_error() {
    let scenario = air(&[]);
    let log = log_of(&scenario, 0.5, 1, 0.0);
    let playback = Playback::new(&log, 0..log.time_s.len(), None).unwrap();
    // the first velocity is 0, and the line through the first samples says otherwise
    let mut exact = log.clone();
    for track in &mut exact.joints {
        track.dq = Some(vec![0.0; log.time_s.len()]);
    }
    let exact = Playback::new(&exact, 0..log.time_s.len(), None).unwrap();
    let trace = &exact.run(&scenario)[0];
    for (q, &row) in trace.q.iter().zip(&trace.rows) {
        for (ours, track) in q.iter().zip(&log.joints) {
            assert!((ours - track.q[row]).abs() < 1e-12, "row {row}: {ours} {}", track.q[row]);
        }
    }
    assert_eq!(trace.rows.len(), log.time_s.len() - 1);
    assert!(playback.run(&scenario)[0].failure.is_none());
}

/// A robot records what its encoders show: the motor's side of a spring, with an offset.
#[test]
fn a_replay_shows_joints_as_their_encoders_do() {
    let sets = [
        "joints.\"*\".drive.encoder.offset_rad=0.03",
        "joints.\"*\".drive.motor.rotor_inertia_kg_m2=0.01",
        "joints.\"*\".drive.elastic={stiffness_nm_per_rad=80.0, damping_nm_s_per_rad=0.5}",
        "joints.\"*\".drive.friction.coulomb_nm=0.2",
    ];
    let scenario = air(&sets);
    let log = log_of(&scenario, 1.5, 1, 0.0);
    let window = Some(0.25);
    let playback = Playback::new(&log, 0..log.time_s.len(), window).unwrap();
    // in the first windows the springs are stretched by the robot's weight
    for trace in &playback.run(&scenario)[2..] {
        let errors = trace.q.iter().zip(&trace.rows).flat_map(|(q, &row)| {
            q.iter().zip(&log.joints).map(move |(q, joint)| q - joint.q[row])
        });
        let worst = errors.fold(0.0_f64, |worst, e| worst.max(e.abs()));
        assert!(worst < 2e-3, "{worst} rad");
    }
}

/// A window in the middle of a motion begins with commands under way.
#[test]
fn a_window_begins_with_the_commands_that_are_under_way() {
    let scenario = air(&["joints.\"*\".drive.delay_us=9000"]);
    let mut log = log_of(&scenario, 2.0, 1, 0.0);
    let middle = log.time_s.len() / 2;
    for track in &mut log.joints {
        let slope = |i: usize| {
            let (a, b) = (i.saturating_sub(1), (i + 1).min(track.q.len() - 1));
            (track.q[b] - track.q[a]) / ((b - a) as f64 * 1e-3)
        };
        track.dq = Some((0..track.q.len()).map(slope).collect());
    }
    let playback = Playback::new(&log, middle..log.time_s.len(), None).unwrap();
    let trace = &playback.run(&scenario)[0];
    let mut worst = 0.0_f64;
    for (q, &row) in trace.q.iter().zip(&trace.rows) {
        let errors = q.iter().zip(&log.joints).map(|(ours, track)| (ours - track.q[row]).abs());
        worst = errors.fold(worst, f64::max);
    }
    println!("largest error {worst} rad");
    // what the central difference leaves of the acceleration's change within 1 ms
    assert!(worst < 1e-4, "{worst}");
}

/// With a delay, whose steps and interpolation are part of what must not depend on threads.
#[test]
fn the_number_of_threads_changes_no_bit() {
    let truth = ["joints.\"*\".friction=0.5", "joints.\"*\".drive.delay_us=3700"];
    let log = log_of(&air(&truth), 2.0, 5, 1e-3);
    let names = ["friction@FL_*", "hold_kd", "drive.delay_us"];
    let of = |threads| {
        let c = fit(&log, &air(&[]), &names, &settings(threads)).unwrap();
        names.map(|name| found(&c, name)).map(|(value, half)| [value, half].map(f64::to_bits))
    };
    assert_eq!(of(1), of(3));
}

#[test]
fn what_the_log_does_not_determine_gets_no_number() {
    let log = log_of(&air(&["joints.\"*\".friction=0.5"]), 2.0, 5, 1e-3);
    let what = ["friction", "mass@trunk", "hold_kd@FL_calf_joint", "damping@FL_calf_joint"];
    let c = fit(&log, &air(&[]), &what, &settings(2)).unwrap();
    let finding = |i: usize| c.estimates[i].finding.clone();
    assert!(matches!(finding(0), Finding::Determined { .. }), "{:?}", finding(0));
    match finding(1) {
        Finding::NotDetermined { kept, why } => {
            assert_eq!(kept, 1.0);
            assert!(why.contains("no effect"), "{why}");
        }
        finding => panic!("{finding:?}"),
    }
    // the drive's damping and the joint's act alike
    assert!(matches!(finding(2), Finding::Determined { .. }), "{:?}", finding(2));
    match finding(3) {
        Finding::NotDetermined { why, .. } => {
            assert!(why.contains("hold_kd@FL_calf_joint"), "{why}");
        }
        finding => panic!("{finding:?}"),
    }
    let only = fit(&log, &air(&[]), &["mass@trunk"], &settings(1)).unwrap_err().to_string();
    assert!(only.contains("determines none of the parameters"), "{only}");
}

/// The table of the log's first 4 s and the scenario as files.
fn files(folder: &Path) -> [PathBuf; 2] {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let table = folder.join("t.csv.gz");
    let map = root.join("examples/go2_air/map.toml");
    let log = root.join("tests/data/go2_air.csv.gz");
    let words = ["import", log.to_str().unwrap(), "--map", map.to_str().unwrap(), "-o"];
    let (said, code) = run(&[&words[..], &[table.to_str().unwrap()]].concat());
    assert_eq!(code, 0, "{said}");
    let mut columns = read_csv(&table).unwrap();
    columns.rows.truncate(801);
    columns.values.iter_mut().for_each(|column| column.truncate(801));
    write_csv(&mut fs::File::create(&table).unwrap(), true, &columns).unwrap();
    [table, root.join("examples/go2_air/go2.toml")]
}

fn run(words: &[&str]) -> (String, i32) {
    logs::hardstand(&words.iter().map(AsRef::as_ref).collect::<Vec<_>>())
}

#[test]
fn the_go2_in_the_air_is_predicted_better_after_a_fit_and_limits_set_the_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    let [table, scenario] = files(folder.path()).map(|p| p.to_str().unwrap().to_string());
    let name = folder.path().join("fitted");
    let keys = "hold_kd@*_hip_joint,hold_kd@*_thigh_joint,hold_kd@*_calf_joint";
    let keys = format!("{keys},friction@*_thigh_joint,friction@*_calf_joint");
    let words = ["calibrate", &table, &scenario, "--fit", &keys, "-o", name.to_str().unwrap()];
    let (said, code) = run(&words);
    assert_eq!(code, 0, "{said}");
    let overlay = fs::read_to_string(name.with_extension("toml")).unwrap();
    assert!(overlay.contains("hold_kd@*_hip_joint = "), "{overlay}");
    let page = fs::read_to_string(name.with_extension("html")).unwrap();
    assert!(page.contains("95 % interval") && page.contains("was held back"), "{page}");

    // the scenario takes the file as an overlay
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let urdf = root.join("benches/robots/go2_like.urdf").display().to_string();
    let text = fs::read_to_string(&scenario).unwrap();
    let text = text.replace("../../benches/robots/go2_like.urdf", &urdf);
    let with = folder.path().join("with.toml");
    fs::write(&with, format!("overlays = [\"fitted.toml\"]\n{text}")).unwrap();
    let with = with.to_str().unwrap();
    let (said, code) = run(&["compare", &table, with, "--max-rms-rad", "0.015", "--from", "2"]);
    assert_eq!(code, 0, "{said}");
    let (said, code) =
        run(&["compare", &table, &scenario, "--max-rms-rad", "0.015", "--from", "2"]);
    assert_eq!(code, 1, "{said}");
}

#[test]
fn a_fit_that_does_not_converge_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let [table, scenario] = files(folder.path()).map(|p| p.to_str().unwrap().to_string());
    let name = folder.path().join("fitted");
    let words = ["calibrate", &table, &scenario, "--fit", "hold_kd,friction", "--iterations", "1"];
    let (said, code) = run(&[&words[..], &["-o", name.to_str().unwrap()]].concat());
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("the fit did not converge"), "{said}");
    assert!(!name.with_extension("toml").exists() && !name.with_extension("html").exists());
    for (keys, wanted) in [
        ("frictoin", "frictoin: the scenario has no number there"),
        ("friction@knee", "no name matches"),
        ("friction,friction@FL_hip_joint", "set the same key"),
        ("friction=x", "is no number"),
    ] {
        let words = ["calibrate", &table, &scenario, "--fit", keys, "-o", name.to_str().unwrap()];
        let (said, code) = run(&words);
        assert!(code == 2 && said.contains(wanted), "{keys}: {said}");
    }
}
