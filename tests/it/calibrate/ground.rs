//! Friction of the ground is found from a log of a robot that stands on it.

use super::{fit, found, log_with, settings};
use crate::common::bench::quadruped;
use hardstand::calibrate::Playback;
use hardstand::config::Scenario;
use hardstand::robot_log::RobotLog;
use hardstand_physics::math;

const BOTH: [&str; 2] = ["contact.mu_static", "contact.mu_kinetic"];
/// Of an encoder, rad; see `log_with`.
const NOISE_RAD: f64 = 2e-4;

/// A robot whose legs press the feet out and in: they stick, break loose and slide.
fn pressing(stiction: &str, mu_static: f64, mu_kinetic: f64) -> Scenario {
    pressing_with(stiction, mu_static, mu_kinetic, 0.4)
}

/// With this friction of the joints, N·m.
fn pressing_with(stiction: &str, mu_static: f64, mu_kinetic: f64, friction: f64) -> Scenario {
    let joints = format!("joints={{\"*\"={{hold_kp=60.0, hold_kd=2.0, friction={friction:?}}}}}");
    let contact = [("mu_static", mu_static), ("mu_kinetic", mu_kinetic), ("d2_per_m", 900.0)];
    let [statics, kinetics, springs] = contact.map(|(k, x)| format!("contact.{k}={x:?}"));
    let law = format!("contact.stiction={stiction}");
    quadruped(&["sim.micro_steps=5", &law, &joints, &statics, &kinetics, &springs])
}

/// Sampled every `every` ticks.
fn log_of_pressing(
    truth: &Scenario,
    [seconds, noise_rad]: [f64; 2],
    every: u64,
    seed: u64,
) -> RobotLog {
    let sides: Vec<f64> = truth
        .model
        .joints
        .iter()
        .map(|joint| match (joint.name.contains("_hip"), &joint.name[1..2]) {
            (true, "L") => 0.15,
            (true, _) => -0.15,
            _ => 0.0,
        })
        .collect();
    log_with(truth, 1000, [seconds, noise_rad], every, seed, |time_s, i| {
        sides[i] * (0.5 * time_s).min(1.0) * math::sin_cos(2.0 * time_s).0
    })
}

/// Fits both coefficients, begun at `factor` times the truth. Value and half width of each.
fn both(law: &str, truth: [f64; 2], factor: f64, log: &RobotLog) -> [(f64, f64); 2] {
    let start = pressing(law, factor * truth[0], factor * truth[1]);
    let c = fit(log, &start, &BOTH, &settings(2)).unwrap();
    let out = BOTH.map(|name| found(&c, name));
    println!("FOUND {law} {truth:?} begun at {factor}: {out:.5?}");
    out
}

fn assert_found(found: [(f64, f64); 2], truth: [f64; 2]) {
    for (((value, half_width), wanted), name) in found.into_iter().zip(truth).zip(BOTH) {
        assert!((value - wanted).abs() < 0.02 * wanted, "{name}: {value}, truth {wanted}");
        assert!((value - wanted).abs() < half_width, "{name}: {value} ± {half_width}");
        // one that says nothing would hold the truth as well
        assert!(half_width < 0.1 * wanted, "{name}: {value} ± {half_width}");
    }
}

/// At twice the truth no foot breaks loose, so the error is flat there.
#[test]
fn friction_of_the_ground_is_found_from_twice_the_truth() {
    let truth = [0.6, 0.4];
    let log = log_of_pressing(&pressing("holding", 0.6, 0.4), [9.0, NOISE_RAD], 5, 5);
    assert_found(both("holding", truth, 2.0, &log), truth);
}

#[test]
fn friction_of_the_ground_is_found_from_half_of_the_truth() {
    let truth = [0.6, 0.4];
    let log = log_of_pressing(&pressing("simbody", 0.6, 0.4), [9.0, NOISE_RAD], 5, 6);
    assert_found(both("simbody", truth, 0.5, &log), truth);
}

/// The table of `docs/calibration.md`.
#[test]
#[ignore = "24 fits"]
fn intervals_of_ground_friction_hold_the_truth() {
    let (mut fits, mut held, mut narrow, mut off) = ([0; 2], [0; 2], [0; 2], [0.0_f64; 2]);
    for (truth, seeds) in [([0.6, 0.4], 5..9), ([0.8, 0.5], 9..11)] {
        for law in ["simbody", "holding"] {
            for seed in seeds.clone() {
                let scenario = pressing(law, truth[0], truth[1]);
                let log = log_of_pressing(&scenario, [9.0, NOISE_RAD], 5, seed);
                for factor in [2.0, 0.5] {
                    let found = both(law, truth, factor, &log);
                    for k in 0..2 {
                        let error = (found[k].0 - truth[k]).abs();
                        fits[k] += 1;
                        held[k] += usize::from(error < found[k].1);
                        // where feet seldom break loose, the interval says that the log says little
                        if found[k].1 < 0.1 * truth[k] {
                            narrow[k] += 1;
                            off[k] = off[k].max(error / truth[k]);
                        }
                    }
                }
            }
        }
    }
    println!("{held:?} of {fits:?} intervals hold the truth; off by {off:.4?} in {narrow:?}");
    // ones that say nothing would hold it as well
    assert!((0..2).all(|k| 2 * narrow[k] >= fits[k]), "{narrow:?} of {fits:?} are narrow");
    assert!(off.iter().all(|off| *off < 0.02), "{off:?}");
    assert!((0..2).all(|k| 10 * held[k] >= 9 * fits[k]), "{held:?} of {fits:?}");
}

/// Three values at once, and a long log: windows that begin in noisy states give neither.
#[test]
#[ignore = "two long fits"]
fn friction_of_joints_and_ground_is_found_together_and_from_a_long_log() {
    let truth = pressing("holding", 0.6, 0.4);
    let log = log_of_pressing(&truth, [9.0, NOISE_RAD], 5, 5);
    let mut start = pressing_with("holding", 0.45, 0.3, 0.3);
    let names = [BOTH[0], BOTH[1], "friction"];
    let c = fit(&log, &start, &names, &settings(2)).unwrap();
    // a joint that its friction holds is pulled to where it was, so of that the log says little;
    // twice an interval: one of twenty may miss
    for ((name, wanted), off) in names.into_iter().zip([0.6, 0.4, 0.4]).zip([0.02, 0.02, 0.1]) {
        let (value, half_width) = found(&c, name);
        println!("FOUND {name} {value:.5} ± {half_width:.5}, truth {wanted}");
        assert!((value - wanted).abs() < (2.0 * half_width).min(off * wanted), "{name}: {value}");
    }
    start = pressing("holding", 0.3, 0.2);
    let log = log_of_pressing(&truth, [20.0, NOISE_RAD], 5, 5);
    let c = fit(&log, &start, &BOTH, &settings(2)).unwrap();
    assert_found(BOTH.map(|name| found(&c, name)), [0.6, 0.4]);
}

/// Which foot breaks loose first hangs on what no log shows: how far the friction springs are
/// stretched, and which joints their friction holds.
#[test]
fn a_window_on_the_ground_goes_on_with_what_the_recorded_state_does_not_show() {
    let truth = pressing("simbody", 0.6, 0.4);
    let log = log_of_pressing(&truth, [9.0, 0.0], 1, 5);
    let playback = Playback::new(&log, 0..log.time_s.len(), Some(0.4)).unwrap();
    // in the first windows is what happened before the log
    for trace in &playback.run(&truth)[2..] {
        let errors = trace.q.iter().zip(&trace.rows).flat_map(|(q, &row)| {
            q.iter().zip(&log.joints).map(move |(q, joint)| q - joint.q[row])
        });
        let worst = errors.fold(0.0_f64, |worst, e| worst.max(e.abs()));
        // where each window begins without stretched springs, 18 mrad root mean square
        assert!(worst < 1e-3, "{worst} rad");
    }
}

/// Ground that moves is where it was at the time of the log, also for what begins in its middle.
#[test]
fn ground_that_moves_does_so_in_the_time_of_the_log() {
    let shaken = "planes.0.motion={amplitude_m=[0.02, 0.0, 0.0], frequency_hz=1.7}";
    let scenario = quadruped(&["sim.micro_steps=5", shaken]);
    let log = log_with(&scenario, 0, [4.0, 0.0], 1, 5, |_, _| 0.0);
    let playback = Playback::new(&log, 2700..log.time_s.len(), Some(0.4)).unwrap();
    for trace in playback.run(&scenario) {
        let rows = trace.base.iter().zip(&trace.rows);
        let off_m = rows.map(|(base, &row)| base[0] - log.base.as_ref().unwrap().columns[0][row]);
        let worst = off_m.fold(0.0_f64, |worst, off| worst.max(off.abs()));
        assert!(worst < 1e-4, "{worst} m");
    }
}
