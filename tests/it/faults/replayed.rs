//! Faults in a log and in a saved state: the same bits again.

use std::num::NonZeroUsize;

use hardstand::config::{OverrunPolicy, Pace, Scenario, StartRule};
use hardstand::replay::replay;
use hardstand::rt::ManualClock;
use hardstand::simulation::Simulation;
use hardstand_protocol::{Event, FaultKind, Part};

use super::{MEND_ALL, broken, lasting, quadruped, shown, stand};
use crate::common::bench::{Bench, ROOMY, TestClock, quadruped as scenario_of, write_log};
use hardstand_log::LogReader;

/// All kinds that can be in slots, a few at a time.
fn scene(tick: u64) -> Vec<Event> {
    let whole = |kind, values: &[f64]| broken(kind, Part::Whole, values);
    let joint = |kind, i, values: &[f64]| broken(kind, Part::Joint(i), values);
    match tick % 200 {
        3 => vec![
            joint(FaultKind::EncoderStuck, 2, &[]),
            joint(FaultKind::EncoderJumping, 5, &[0.05, 200.0, 11.0]),
            joint(FaultKind::EncoderOffset, 5, &[0.02]),
        ],
        17 => vec![
            whole(FaultKind::EncoderNoise, &[0.01, 4.0]),
            lasting(FaultKind::MotorDerated, Part::Joint(7), &[0.3], 60),
            broken(FaultKind::Payload, Part::Body(2), &[0.5, 0.0, 0.02, -0.1]),
            lasting(FaultKind::Friction, Part::Foot(1), &[0.1, 0.05], 90),
        ],
        80 => vec![Event::ClearFaults { kind: Some(FaultKind::EncoderOffset), part: None }],
        90 => vec![
            whole(FaultKind::ImuGyroBias, &[0.1, 0.2, 0.3]),
            lasting(FaultKind::FootSensorStuck, Part::Foot(3), &[], 33),
        ],
        125 => vec![MEND_ALL],
        126 => vec![
            whole(FaultKind::ImuAccelBias, &[1.0, 0.0, 0.0]),
            whole(FaultKind::ImuAxesSwapped, &[3.0, -1.0, 2.0]),
            whole(FaultKind::ImuSaturated, &[0.5, 9.0]),
            lasting(FaultKind::BatterySag, Part::Whole, &[0.7], 30),
            joint(FaultKind::MotorSaturated, 4, &[9.0]),
            lasting(FaultKind::MotorDead, Part::Joint(1), &[], 12),
        ],
        190 => vec![MEND_ALL],
        _ => vec![],
    }
}

fn lived(ticks: u64) -> Simulation {
    let mut simulation = quadruped();
    for t in 0..ticks {
        stand(&mut simulation, &scene(t));
    }
    simulation
}

#[test]
fn a_state_that_is_saved_in_the_middle_of_faults_goes_on_with_the_same_bits() {
    // between events, at their ticks, and in their last
    for middle in [4, 17, 18, 76, 77, 78, 100, 123, 124, 127, 138, 139, 157, 189] {
        let mut whole = lived(middle);
        let words = whole.snapshot_words();
        let mut resumed = lived(31); // a simulation with other faults
        resumed.restore(&words).unwrap();
        assert_eq!(shown(&resumed).state.joints, shown(&whole).state.joints);
        for t in middle..middle + 120 {
            stand(&mut whole, &scene(t));
            stand(&mut resumed, &scene(t));
            assert!(shown(&whole) == shown(&resumed), "saved at {middle}, differs at {t}");
        }
        assert_eq!(whole.snapshot_words(), resumed.snapshot_words());
    }
}

#[test]
fn a_run_that_was_restored_and_mended_is_like_one_that_never_broke() {
    let (mut sound, mut broken_once) = (quadruped(), quadruped());
    let words = sound.snapshot_words();
    for t in 0..150 {
        stand(&mut broken_once, &scene(t));
    }
    broken_once.restore(&words).unwrap();
    for _ in 0..50 {
        stand(&mut sound, &[]);
        stand(&mut broken_once, &[]);
    }
    assert!(shown(&sound) == shown(&broken_once));
    assert_eq!(sound.model().total_mass(), broken_once.model().total_mass());
}

/// Faults planned by a scenario, over the borders of keyframes.
const PLANNED: &str = "events=[
  {at_s=0.015, kind=\"encoder_stuck\", joint=\"FL_calf_joint\", duration_s=0.06},
  {at_s=0.030, kind=\"encoder_noise\", amplitude=0.01, seed=3, duration_s=0.1},
  {at_s=0.035, kind=\"push\", link=\"trunk\", force_n=[9,30,0], duration_s=0.05},
  {at_s=0.041, kind=\"payload\", link=\"FR_calf\", mass_kg=0.5, point_m=[0,0,-0.1]},
  {at_s=0.050, kind=\"friction\", foot=\"RL\", mu_static=0.05, mu_kinetic=0.04, duration_s=0.07},
  {at_s=0.055, kind=\"motor_dead\", joint=\"RR_hip_joint\", duration_s=0.03},
  {at_s=0.100, kind=\"imu_gyro_bias\", bias_rad_per_s=[0.1,0,0]},
  {at_s=0.120, kind=\"foot_sensor_stuck\", foot=\"FL\", duration_s=0.05},
  {at_s=0.125, kind=\"encoder_jumping\", joint=\"RR_calf_joint\", amplitude=0.1, rate_hz=300,
   seed=9}]";

#[test]
fn a_log_with_faults_replays_from_its_start_and_from_every_keyframe() {
    let sets = ["record.keyframe_every_ticks=20", PLANNED];
    let mut bench = Bench::new(scenario_of(&sets), ROOMY);
    let hands = bench.hands();
    let between = move |period| hands.candidate(7, period, period);
    let clock = TestClock { clock: ManualClock::default(), late: Vec::new(), between };
    let pace = Pace::RealTime(OverrunPolicy::Slip);
    let (_, simulation) = bench.executive(clock, pace, StartRule::Now, 240).run();
    assert_eq!(simulation.faults().active().count(), 3, "what has no end still acts");
    let ticks = bench.logged();
    let with = ticks.iter().filter(|t| !t.events.is_empty()).count();
    assert_eq!(with, 9, "each is in the log at its tick");
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.mcap");
    let scenario = scenario_of(&sets);
    let write = |ticks: &[hardstand_protocol::LogTick]| {
        write_log(&path, &scenario, ticks);
    };
    let replayed = |threads: usize| {
        let mut log = LogReader::open(&path).unwrap();
        let scenario = Scenario::from_texts(&log.info().scenario, &log.info().robot, &[]).unwrap();
        let threads = NonZeroUsize::new(threads).unwrap();
        replay(&mut log, scenario.simulation(), threads, |_, _, _| {}).unwrap()
    };
    write(&ticks);
    for threads in [1, 5] {
        let report = replayed(threads);
        assert_eq!((report.ticks, report.equal, report.difference), (240, 240, None));
    }
    // a log that has lost one of them does not replay
    let mut without = ticks.clone();
    without[100].events.clear();
    write(&without);
    assert_eq!(replayed(1).difference.unwrap().tick, 101);
}
