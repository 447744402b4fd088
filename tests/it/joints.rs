//! What acts in a joint: drive, limits, damping, friction, end stops.

use crate::common::robots::{add_body, add_joint, joint, plain_spec, walker};
use crate::common::{AT_ONCE, WATCHDOG};
use hardstand::simulation::{Simulation, WatchdogSpec};
use hardstand_physics::actuator::PassiveJoint;
use hardstand_physics::dynamics::{Positions, Velocities, kinetic_energy, potential_energy};
use hardstand_physics::model::{Base, Builder, Joint, JointKind, Model};
use hardstand_physics::plant::Integrator;
use hardstand_physics::spatial::{Mat3, SpatialInertia, Transform, Vec3};
use hardstand_protocol::{Authority, Command, JointCommand, TickInput};

/// A single joint on a fixed base: an arm of inertia 0.1 kg·m² about a vertical axis.
fn arm(change: impl FnOnce(&mut Joint)) -> Simulation {
    let mut b = Builder::new("arm", Base::Fixed);
    add_body(&mut b, "base", SpatialInertia::zero());
    let I = Mat3::from_diagonal_element(0.1);
    add_body(&mut b, "arm", SpatialInertia::from_com(1.0, &Vec3::zeros(), &I));
    let mut j = joint("j", JointKind::Revolute, [0.0, 0.0, 1.0], Transform::identity());
    change(&mut j);
    add_joint(&mut b, "base", "arm", j);
    let model: Model = b.build().unwrap();
    let mut spec = plain_spec(&model);
    spec.v.joints[0] = 0.0;
    let watchdog = WatchdogSpec { hold_ticks: u64::MAX / 4, ..AT_ONCE };
    Simulation::new(model, spec, watchdog)
}

/// Sends one command and runs for `ticks`; returns (q, dq, motor effort).
fn command(simulation: &mut Simulation, joint: JointCommand, ticks: u32) -> (f64, f64, f64) {
    let (seq, answers_tick) = (simulation.leases().implicit().seq + 1, simulation.state().tick);
    let mut input = TickInput::new();
    input.candidates.push(Box::new(Command {
        run_id: 1,
        session: 5,
        seq,
        answers_tick,
        applies_tick: 0,
        joints: vec![joint],
    }));
    assert_eq!(simulation.step(&input).authority, Authority::Fresh);
    for _ in 1..ticks {
        simulation.step(&TickInput::new());
    }
    assert_eq!(simulation.failure(), None);
    (simulation.state().q.joints[0], simulation.state().v.joints[0], simulation.state().motor[0])
}

fn push(tau_ff: f64) -> JointCommand {
    JointCommand { tau_ff, ..Default::default() }
}

#[test]
fn an_end_stop_holds_and_does_not_pull() {
    let mut simulation = arm(|j| (j.q_min, j.q_max) = (-0.3, 0.2));
    let (q, dq, _) = command(&mut simulation, push(2.0), 3000);
    // stiffness D/τ² = 0.1 / 0.005² = 4000 N·m/rad
    assert!((q - (0.2 + 2.0 / 4000.0)).abs() < 1e-6 && dq.abs() < 1e-6, "{q}");
    let (q, ..) = command(&mut simulation, push(-2.0), 3000);
    assert!((q - (-0.3 - 2.0 / 4000.0)).abs() < 1e-6, "{q}");
    // let go: it comes back to the limit and is not drawn into it again
    let (q, ..) = command(&mut simulation, push(0.0), 3000);
    assert!(q > -0.3 - 1e-9, "{q}");
}

#[test]
fn an_end_stop_never_draws_into_itself() {
    let mut j = joint("j", JointKind::Revolute, [0.0, 0.0, 1.0], Transform::identity());
    (j.q_min, j.q_max) = (-0.3, 0.2);
    let stop = PassiveJoint::new(&j, 0.1, 0.005, 1.0, 2.5e-4);
    for speed in [-50.0, -1.0, 0.0, 1.0, 50.0] {
        for depth in [1e-6, 1e-3, 0.1] {
            assert!(stop.effort(0.2 + depth, speed) <= 0.0);
            assert!(stop.effort(-0.3 - depth, speed) >= 0.0);
        }
        assert_eq!(stop.effort(0.1, speed), 0.0);
    }
}

#[test]
fn effort_and_velocity_limits_bound_the_motor() {
    let mut simulation = arm(|j| (j.effort_max, j.velocity_max) = (3.0, 10.0));
    let (_, dq, tau) = command(&mut simulation, push(100.0), 100);
    assert_eq!(tau, 3.0);
    assert!((dq - 3.0).abs() < 1e-6, "3 N·m on 0.1 kg·m² for 0.1 s: {dq}");
    let (_, dq, tau) = command(&mut simulation, push(100.0), 2000);
    assert!((10.0..=11.0).contains(&dq) && tau < 0.1, "{dq} rad/s with {tau} N·m");
    // braking stays possible
    let (_, _, tau) = command(&mut simulation, push(-100.0), 1);
    assert_eq!(tau, -3.0);
}

#[test]
fn a_joint_at_a_limit_of_its_motor_is_counted() {
    let mut simulation = arm(|j| (j.effort_max, j.velocity_max) = (3.0, 10.0));
    let limits = |s: &Simulation| (s.limited_joints().by_effort, s.limited_joints().by_speed);
    assert_eq!(limits(&simulation), (0, 0));
    command(&mut simulation, push(2.9), 10);
    assert_eq!(limits(&simulation), (0, 0));
    command(&mut simulation, push(50.0), 10);
    assert_eq!(limits(&simulation), (1, 0));
    // 3 N·m on 0.1 kg·m²: above 10 rad/s the effort fades
    let (_, dq, tau) = command(&mut simulation, push(50.0), 1000);
    assert!(dq > 10.0 && tau < 3.0, "{dq} rad/s, {tau} N·m");
    assert_eq!(limits(&simulation), (0, 1));
    // braking has its whole effort at any speed
    command(&mut simulation, push(-2.0), 1);
    assert_eq!(limits(&simulation), (0, 0));
}

#[test]
fn pd_control_settles_at_its_reference() {
    let mut simulation = arm(|_| ());
    let set_point = JointCommand { q: 0.7, dq: 0.0, kp: 40.0, kd: 4.0, tau_ff: 0.0 };
    let (q, dq, _) = command(&mut simulation, set_point, 3000);
    assert!((q - 0.7).abs() < 1e-9 && dq.abs() < 1e-9);
    let moving = JointCommand { q: 0.0, dq: 2.0, kp: 0.0, kd: 4.0, tau_ff: 0.0 };
    assert!((command(&mut simulation, moving, 1000).1 - 2.0).abs() < 1e-9);
}

#[test]
fn damping_and_coulomb_friction_brake() {
    // viscous: a steady speed of tau / damping
    let mut simulation = arm(|j| j.damping = 0.5);
    assert!((command(&mut simulation, push(1.0), 4000).1 - 2.0).abs() < 1e-6);
    // Coulomb: 1 N·m of push less 0.4 N·m of friction on 0.1 kg·m²
    let mut simulation = arm(|j| j.friction = 0.4);
    let (_, dq, _) = command(&mut simulation, push(1.0), 500);
    assert!((dq - 3.0).abs() < 0.01, "{dq}");
    // less than the friction hardly moves it: 0.75 of the friction, 0.75 of 0.01 rad/s
    let mut simulation = arm(|j| j.friction = 0.4);
    let (_, dq, _) = command(&mut simulation, push(0.3), 2000);
    assert!(dq.abs() <= 0.0076, "{dq}");
    // and it comes to rest
    assert!(command(&mut simulation, push(0.0), 2000).1.abs() < 1e-9);
}

#[test]
fn friction_and_damping_never_add_energy() {
    let (model, mut spec) = walker();
    spec.stations.clear();
    spec.feet.clear();
    (spec.integrator, spec.micro_steps) = (Integrator::Rk4, 2);
    spec.q.p_WB.z = 20.0;
    spec.v = Velocities { w_WB: Vec3::new(1.0, -2.0, 0.5), ..Velocities::zero(&model) };
    spec.v.joints.iter_mut().enumerate().for_each(|(i, v)| *v = [0.8, -1.1, 0.1][i % 3]);
    spec.q = Positions { p_WB: spec.q.p_WB, ..Positions::zero(&model) };
    let mut simulation = Simulation::new(model, spec, WATCHDOG);
    let energy = |p: &Simulation| {
        kinetic_energy(p.model(), p.data(), &p.state().v)
            + potential_energy(p.model(), p.data(), &p.spec().gravity_W)
    };
    let mut last = energy(&simulation);
    for _ in 0..300 {
        simulation.step(&TickInput::new());
        let within = simulation.state().q.joints.iter().zip(&simulation.model().joints);
        let free = within.clone().all(|(q, j)| *q > j.q_min && *q < j.q_max);
        let now = energy(&simulation);
        // an end stop may give back what it took
        assert!(now <= last + 1e-6 || !free, "{now} J after {last} J");
        last = now;
    }
}
