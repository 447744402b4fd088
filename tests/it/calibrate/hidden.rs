//! What a row of a log does not show: what drives have read, and what they remember.

use hardstand::calibrate::{Finding, Playback};
use hardstand::config::Scenario;
use hardstand::robot_log::RobotLog;
use hardstand_physics::math;

use super::{air, fit, log_of, log_with_speeds, settings};

/// Chirps from the start of the run on, with the speeds that the joints report.
fn log_from_the_start(scenario: &Scenario, seconds: f64) -> RobotLog {
    log_with_speeds(scenario, 0, [seconds, 0.0], 1, 5, |time_s, i| {
        let phase = time_s * (3.0 + 1.2 * time_s) + 0.9 * i as f64;
        0.25 * (time_s / 0.5).min(1.0) * math::sin_cos(phase).0
    })
}

/// Root of the mean square of all errors in the last window, rad.
fn rms_rad(playback: &Playback<'_>, scenario: &Scenario) -> f64 {
    let traces = playback.run(scenario);
    let (trace, log) = (traces.last().unwrap(), playback.recorded());
    assert!(trace.failure.is_none());
    let of = |(q, &row): (&Vec<f64>, &usize)| {
        let errors = q.iter().zip(&log.joints).map(|(q, joint)| q - joint.q[row]);
        errors.map(|error| error * error).sum::<f64>()
    };
    let sum: f64 = trace.q.iter().zip(&trace.rows).map(of).sum();
    (sum / (trace.rows.len() * log.joints.len()) as f64).sqrt()
}

/// The rows from `from` on, as if nothing had been before.
fn cut(log: &RobotLog, from: usize) -> RobotLog {
    let mut out = log.clone();
    out.time_s.drain(..from);
    for track in &mut out.joints {
        let columns = track.command.iter_mut().chain([&mut track.dq]).flatten();
        columns.chain([&mut track.q]).for_each(|column| drop(column.drain(..from)));
    }
    out
}

/// Between two runs of its control, 6.7 ms, a drive shows what it has read last. At 1 rad/s that is
/// up to 6.7 mrad old.
#[test]
fn a_replay_shows_what_drives_have_read_at_their_own_rate() {
    let scenario = air(&["joints.\"*\".drive.control_hz=150"]);
    let log = log_from_the_start(&scenario, 1.5);
    let middle = log.time_s.len() / 2;
    for (from, window) in [(0, None), (0, Some(0.25)), (middle, None)] {
        let playback = Playback::new(&log, from..log.time_s.len(), window).unwrap();
        let rms_rad = rms_rad(&playback, &scenario);
        println!("{from} {window:?}: {rms_rad} rad");
        assert!(rms_rad < 1e-3, "{from} {window:?}: {rms_rad}");
    }
}

/// Currents, ways between two commands and heat are carried from what was recorded before.
#[test]
fn a_part_of_a_log_begins_with_what_drives_remember() {
    let heat = "joints.\"*\".drive={motor={torque_constant_nm_per_a=0.1, resistance_ohm=0.5, \
                current_max_a=3.0}, gear={ratio=8.0}, heat={winding_j_per_k=0.2, derate_c=26.0, \
                trip_c=60.0, winding_to_housing_k_per_w=100.0}}";
    let sets =
        ["joints.\"*\".drive.interpolation_us=20000", "joints.\"*\".drive.bandwidth_hz=5", heat];
    for set in sets {
        let scenario = air(&[set]);
        let log = log_from_the_start(&scenario, 2.0);
        let middle = log.time_s.len() / 2;
        let known = Playback::new(&log, middle..log.time_s.len(), None).unwrap();
        let rest = cut(&log, middle);
        let unknown = Playback::new(&rest, 0..rest.time_s.len(), None).unwrap();
        let [known, unknown] = [known, unknown].map(|part| rms_rad(&part, &scenario));
        println!("{set}: {known} rad; without what was before {unknown} rad");
        assert!(unknown > 1e-3 && known < 0.2 * unknown, "{set}: {known} {unknown}");
    }
}

/// The search goes to where a current loop is as good as none; where it began, it was not.
#[test]
fn a_parameter_whose_effect_ends_is_not_said_to_have_none() {
    let log = log_of(&air(&[]), 2.0, 5, 1e-3);
    let what = ["friction", "drive.bandwidth_hz=5"];
    for what in [&what[..], &what[1..]] {
        let c = fit(&log, &air(&[]), what, &settings(2));
        let why = match &c {
            Ok(c) => match &c.estimates[what.len() - 1].finding {
                Finding::NotDetermined { kept, why } => {
                    assert!(*kept > 10.0, "{kept}: {why}");
                    why.clone()
                }
                Finding::Determined { value, .. } => {
                    assert!(*value > 50.0, "{value}");
                    continue;
                }
            },
            Err(e) => e.to_string(),
        };
        println!("{why}");
        assert!(why.contains("hardly any effect on this log, which says at least"), "{why}");
        assert!(!why.contains("it has no effect on this log"), "{why}");
    }
}
