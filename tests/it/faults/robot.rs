//! Motors and encoders, on a pendulum whose motion can be worked out by hand.

use crate::common::AT_ONCE;
use hardstand::simulation::Simulation;
use hardstand_protocol::{Event, FaultKind, JointCommand, Part};

use super::{
    EFFORT_MAX, LENGTH_M, MASS_KG, MEND_ALL, PERIOD_S, VELOCITY_MAX, broken, lasting, motion, once,
    pendulum, pendulum_plant, quadruped, shown, stand, tick,
};
use crate::common::robots::G;

const JOINT: Part = Part::Joint(0);
const INERTIA: f64 = MASS_KG * LENGTH_M * LENGTH_M;

fn hold(q: f64) -> [JointCommand; 1] {
    [JointCommand { q, kp: 60.0, kd: 8.0, ..Default::default() }]
}

fn effort(tau_ff: f64) -> [JointCommand; 1] {
    [JointCommand { tau_ff, ..Default::default() }]
}

/// Position, velocity and effort as published.
fn joint(simulation: &Simulation) -> [f64; 3] {
    let j = shown(simulation).state.joints[0];
    [j.q, j.dq, j.tau]
}

fn truth(simulation: &Simulation) -> [f64; 2] {
    [simulation.state().q.joints[0], simulation.state().v.joints[0]]
}

#[test]
fn an_encoder_that_is_off_moves_the_joint_by_as_much_the_other_way() {
    for paths in hardstand_paths() {
        let mut simulation = pendulum_plant(0.0);
        simulation.set_path(paths);
        tick(&mut simulation, &hold(0.3), &[broken(FaultKind::EncoderOffset, JOINT, &[0.1])]);
        for _ in 0..3000 {
            tick(&mut simulation, &hold(0.3), &[]);
        }
        assert!((truth(&simulation)[0] - 0.2).abs() < 1e-9, "{:?}", truth(&simulation));
        assert!((joint(&simulation)[0] - 0.3).abs() < 1e-9, "it shows what it was told to reach");
        tick(&mut simulation, &hold(0.3), &[MEND_ALL]);
        assert_eq!(joint(&simulation)[..2], truth(&simulation));
        let pulled = 60.0 * 0.1;
        assert!((simulation.state().motor[0] - pulled).abs() < 0.1 * pulled, "at once");
    }
}

fn hardstand_paths() -> [hardstand_physics::plant::ComputePath; 3] {
    use hardstand_physics::plant::ComputePath::{Fastest, OneByOne, Portable};
    [Fastest, Portable, OneByOne]
}

#[test]
fn a_stuck_encoder_shows_the_same_and_leaves_the_same_effort() {
    let mut simulation = pendulum_plant(G);
    for _ in 0..40 {
        tick(&mut simulation, &hold(0.3), &[]);
    }
    let before = joint(&simulation);
    assert!(before[1].abs() > 0.1, "it moves: {before:?}");
    let stuck = lasting(FaultKind::EncoderStuck, JOINT, &[], 100);
    let expected = 60.0 * (0.3 - before[0]) + 8.0 * (0.0 - before[1]);
    for n in 0..100 {
        tick(&mut simulation, &hold(0.3), once(n == 0, &[stuck]));
        let now = joint(&simulation);
        assert_eq!(now[..2], before[..2], "tick {n}");
        assert!((now[2] - expected).abs() < 1e-12 && expected.abs() < EFFORT_MAX, "tick {n}");
        assert_ne!(truth(&simulation)[0], before[0]);
        let r = shown(&simulation).references[0];
        assert_eq!([r.kp, r.kd], [60.0, 8.0], "the drive's gains are still those");
    }
    tick(&mut simulation, &hold(0.3), &[]);
    assert_eq!(joint(&simulation)[..2], truth(&simulation), "after 100 ticks it shows the truth");
    assert_ne!(simulation.state().motor[0], expected);
}

#[test]
fn an_encoder_that_is_off_and_sticks_sticks_at_what_it_showed() {
    let mut simulation = pendulum_plant(G);
    let off = broken(FaultKind::EncoderOffset, JOINT, &[0.1]);
    tick(&mut simulation, &hold(0.3), &[off]);
    let before = joint(&simulation);
    assert!((before[0] - truth(&simulation)[0] - 0.1).abs() < 1e-12);
    tick(&mut simulation, &hold(0.3), &[broken(FaultKind::EncoderStuck, JOINT, &[])]);
    tick(&mut simulation, &hold(0.3), &[]);
    assert_eq!(joint(&simulation)[..2], before[..2]);
}

/// Jumps and noise of so many ticks, as errors of the encoder.
fn errors(kind: FaultKind, values: &[f64], ticks: usize) -> Vec<f64> {
    let mut simulation = pendulum_plant(0.0);
    let begin = [broken(kind, JOINT, values)];
    let error = |n: usize| {
        tick(&mut simulation, &effort(0.0), if n == 0 { &begin } else { &[] });
        joint(&simulation)[0] - truth(&simulation)[0]
    };
    (0..ticks).map(error).collect()
}

#[test]
fn jumps_come_at_random_ticks_as_often_as_asked_and_from_the_seed_alone() {
    let of = |seed: f64| errors(FaultKind::EncoderJumping, &[0.2, 50.0, seed], 4000);
    let jumps = of(7.0);
    assert_eq!(jumps, of(7.0));
    assert_ne!(jumps, of(8.0));
    // 50 Hz at 1 kHz: 200 of 4000, with a standard deviation of 14
    let count = jumps.windows(2).filter(|w| w[0] != w[1]).count();
    assert!((150..=250).contains(&count), "{count}");
    let (least, most) = jumps.iter().fold((0.0f64, 0.0f64), |(a, b), x| (a.min(*x), b.max(*x)));
    assert!((-0.2..-0.18).contains(&least) && (0.18..0.2).contains(&most), "{least} {most}");
}

#[test]
fn noise_is_another_in_every_tick_and_joint_and_evenly_spread() {
    let noise = errors(FaultKind::EncoderNoise, &[0.01, 3.0], 4000);
    assert_eq!(noise, errors(FaultKind::EncoderNoise, &[0.01, 3.0], 4000));
    assert!(noise.windows(2).all(|w| w[0] != w[1]) && noise.iter().all(|x| x.abs() <= 0.01));
    let mean = |f: &dyn Fn(f64) -> f64| noise.iter().map(|x| f(*x)).sum::<f64>() / 4000.0;
    // standard deviations of the means: 0.01/√3/√4000 = 9e-5, and of the squares 5e-7
    assert!(mean(&|x| x).abs() < 4e-4, "{}", mean(&|x| x));
    assert!((mean(&|x| x * x) - 1e-4 / 3.0).abs() < 3e-6, "{}", mean(&|x| x * x));
    let mut simulation = quadruped();
    stand(&mut simulation, &[broken(FaultKind::EncoderNoise, Part::Whole, &[0.01, 3.0])]);
    let (s, q) = (shown(&simulation).state, &simulation.state().q.joints);
    let off: Vec<u64> = (0..12).map(|i| (s.joints[i].q - q[i]).to_bits()).collect();
    assert!((0..12).all(|i| (0..i).all(|k| off[i] != off[k])), "each joint has its own");
}

#[test]
fn the_drive_obeys_the_encoder_that_is_noisy() {
    let (model, mut spec) = pendulum(0.0);
    spec.micro_steps = 1;
    let mut simulation = Simulation::new(model, spec, AT_ONCE);
    let noisy = broken(FaultKind::EncoderNoise, JOINT, &[0.01, 3.0]);
    for n in 0..50 {
        let [q, dq] = truth(&simulation);
        tick(&mut simulation, &hold(0.0), once(n == 0, &[noisy]));
        let error = joint(&simulation)[0] - truth(&simulation)[0];
        let asked = -60.0 * (q + error) - 8.0 * dq;
        assert!((simulation.state().motor[0] - asked).abs() < 1e-9, "tick {n}");
        assert!(error != 0.0 && asked.abs() < EFFORT_MAX);
    }
}

#[test]
fn a_dead_motor_is_one_that_is_told_to_make_nothing() {
    let (mut dead, mut idle) = (pendulum_plant(G), pendulum_plant(G));
    for simulation in [&mut dead, &mut idle] {
        for _ in 0..50 {
            tick(simulation, &hold(1.0), &[]);
        }
    }
    let broken = lasting(FaultKind::MotorDead, JOINT, &[], 300);
    for n in 0..300 {
        tick(&mut dead, &hold(1.0), once(n == 0, &[broken]));
        tick(&mut idle, &effort(0.0), &[]);
        assert_eq!(truth(&dead), truth(&idle), "tick {n}");
        assert_eq!(dead.state().motor[0], 0.0);
    }
    // energy: nobody has put any in
    let energy = |p: &Simulation| {
        let [q, dq] = truth(p);
        let height = -LENGTH_M * hardstand_physics::math::sin_cos(q).1;
        0.5 * INERTIA * dq * dq + MASS_KG * G * height
    };
    let before = energy(&dead);
    tick(&mut dead, &hold(1.0), &[]);
    assert_ne!(dead.state().motor[0], 0.0, "it works again");
    assert!((energy(&dead) - before).abs() > 1e-3);
}

/// Acceleration in one tick under this effort, with a fault from the start.
fn acceleration(tau: f64, fault: Event) -> f64 {
    let mut simulation = pendulum_plant(0.0);
    tick(&mut simulation, &effort(tau), &[fault]);
    truth(&simulation)[1] / PERIOD_S
}

#[test]
fn weak_motors_make_what_is_left_of_their_effort() {
    let near = |got: f64, effort: f64| {
        let expected = effort / INERTIA;
        assert!((got - expected).abs() < 1e-9 * expected.abs(), "{got} {expected}");
    };
    let weak = |values: &[f64]| broken(FaultKind::MotorDerated, JOINT, values);
    near(acceleration(100.0, weak(&[1.0])), EFFORT_MAX);
    near(acceleration(100.0, weak(&[0.4])), 0.4 * EFFORT_MAX);
    near(acceleration(-100.0, weak(&[0.4])), -0.4 * EFFORT_MAX);
    near(acceleration(5.0, weak(&[0.4])), 5.0);
    assert_eq!(acceleration(100.0, weak(&[0.0])), 0.0);
    let limited = |max: f64| broken(FaultKind::MotorSaturated, JOINT, &[max]);
    near(acceleration(100.0, limited(7.0)), 7.0);
    near(acceleration(100.0, limited(700.0)), EFFORT_MAX);
    near(acceleration(100.0, broken(FaultKind::MotorDerated, Part::Whole, &[0.5])), 15.0);
}

#[test]
fn a_sagging_battery_takes_effort_and_speed() {
    let sag = broken(FaultKind::BatterySag, Part::Whole, &[0.5]);
    let expected = 0.5 * EFFORT_MAX / INERTIA;
    assert!((acceleration(100.0, sag) - expected).abs() < 1e-9 * expected);
    assert_eq!(acceleration(100.0, broken(FaultKind::BatterySag, Part::Whole, &[0.0])), 0.0);
    let top_speed = |events: &[Event]| {
        let mut simulation = pendulum_plant(0.0);
        tick(&mut simulation, &effort(100.0), events);
        for _ in 0..3000 {
            tick(&mut simulation, &effort(100.0), &[]);
        }
        truth(&simulation)[1]
    };
    // the effort has faded at 1.1 times the limit
    let (full, half) = (top_speed(&[]), top_speed(&[sag]));
    assert!((full - 1.1 * VELOCITY_MAX).abs() < 0.01 * VELOCITY_MAX, "{full}");
    assert!((half - 0.55 * VELOCITY_MAX).abs() < 0.01 * VELOCITY_MAX, "{half}");
}

#[test]
fn two_faults_of_a_motor_add_up_and_one_can_be_mended_alone() {
    let mut simulation = pendulum_plant(0.0);
    let sag = broken(FaultKind::BatterySag, Part::Whole, &[0.5]);
    let weak = broken(FaultKind::MotorDerated, JOINT, &[0.5]);
    tick(&mut simulation, &effort(100.0), &[sag, weak]);
    assert_eq!(simulation.state().motor[0], 0.25 * EFFORT_MAX);
    let mended = Event::ClearFaults { kind: Some(FaultKind::BatterySag), part: None };
    tick(&mut simulation, &effort(100.0), &[mended]);
    assert_eq!(simulation.state().motor[0], 0.5 * EFFORT_MAX);
}

#[test]
fn a_motor_that_was_weak_for_a_while_leaves_no_trace_in_a_robot_that_did_not_need_it() {
    let (mut a, mut b) = (quadruped(), quadruped());
    let weak = lasting(FaultKind::MotorSaturated, Part::Whole, &[20.0], 10);
    for n in 0..30 {
        stand(&mut a, once(n == 3, &[weak]));
        stand(&mut b, &[]);
    }
    assert!(a.state().motor.iter().all(|tau| tau.abs() < 20.0));
    assert_eq!(motion(&a), motion(&b));
    assert!(a.faults().is_empty());
}
