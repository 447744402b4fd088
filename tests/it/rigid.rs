//! Rigid contact: touchdown, sticking, sliding, lift-off, and no drift.
#![allow(clippy::disallowed_methods, reason = "std's functions are an independent reference")]

use crate::common::WATCHDOG;
use crate::common::robots::{box_on_springs, plane};
use crate::common::scene::{Standing, quadruped};
use hardstand::simulation::Simulation;
use hardstand_physics::contact::{Friction, RigidContact, RigidRoom, solve_rigid};
use hardstand_physics::dynamics::kinetic_energy;
use hardstand_physics::plant::{ContactModel, PlantSpec};
use hardstand_physics::spatial::{Mat3, Quaternion, Vec3};
use hardstand_protocol::TickInput;
use proptest::prelude::*;

/// The 10 kg box with eight rigid corners, its lower ones on the ground.
fn rigid_box(mu: [f64; 2]) -> (hardstand_physics::model::Model, PlantSpec) {
    let (model, mut spec) = box_on_springs(0.5);
    for s in &mut spec.stations {
        s.model = ContactModel::Rigid;
        s.friction = Friction::new(mu[0], mu[1]);
    }
    spec.q.p_WB.z = 0.1;
    (model, spec)
}

fn run(simulation: &mut Simulation, ticks: u32) {
    for _ in 0..ticks {
        simulation.step(&TickInput::new());
        assert_eq!(simulation.failure(), None);
    }
}

fn lowest(simulation: &Simulation) -> f64 {
    simulation.contacts().evaluated().iter().map(|e| e.touch.p_C.z).fold(f64::MAX, f64::min)
}

#[test]
fn a_box_at_rest_stays_where_it_is_and_carries_its_weight() {
    let (model, spec) = rigid_box([0.5, 0.4]);
    let mut simulation = Simulation::new(model, spec, WATCHDOG);
    let start = simulation.state().q.clone();
    run(&mut simulation, 2_000);
    assert!(
        (simulation.state().q.p_WB - start.p_WB).norm() < 1e-12,
        "{:?}",
        simulation.state().q.p_WB
    );
    let n: f64 = simulation.contacts().forces().map(|f| f.normal_n).sum();
    assert!((n - 98.1).abs() < 1e-6, "{n} N");
    assert!(simulation.contacts().forces().take(4).all(|f| f.next_sliding == 0.0));
}

#[test]
fn a_dropped_box_lands_without_bounce_and_without_drift() {
    let (model, mut spec) = rigid_box([0.8, 0.5]);
    spec.q.p_WB.z = 0.4;
    spec.q.quat_WB = Quaternion::from_rpy(0.2, 0.1, 0.05);
    spec.v.v_WB = Vec3::new(1.0, 0.2, 0.0);
    spec.v.w_WB = Vec3::new(0.3, -0.4, 0.2);
    let mut simulation = Simulation::new(model.clone(), spec, WATCHDOG);
    let mut energy = f64::MAX;
    let mut deepest: f64 = 0.0;
    for _ in 0..3_000 {
        run(&mut simulation, 1);
        let now = kinetic_energy(&model, simulation.data(), &simulation.state().v)
            + 98.1 * simulation.state().q.p_WB.z;
        assert!(now < energy + 1e-6, "energy rose by {}", now - energy);
        energy = now;
        deepest = deepest.min(lowest(&simulation));
    }
    println!("deepest {deepest:e} m, energy at the end {energy} J");
    assert!(deepest > -2e-6, "penetration {deepest}");
    assert!((simulation.state().q.p_WB.z - 0.1).abs() < 1e-9, "{}", simulation.state().q.p_WB.z);
    assert!(simulation.state().v.v_WB.norm() < 1e-9);
}

#[test]
fn a_sliding_box_decelerates_by_mu_kinetic_and_sticks() {
    let (model, mut spec) = rigid_box([0.5, 0.3]);
    spec.v.v_WB.x = 1.0;
    let mut simulation = Simulation::new(model, spec, WATCHDOG);
    run(&mut simulation, 200);
    let v = simulation.state().v.v_WB.x;
    // the first micro-step still has the static coefficient
    assert!((v - (1.0 - 0.3 * 9.81 * 0.2)).abs() < 5e-4, "{v} m/s");
    run(&mut simulation, 300);
    let stopped = simulation.state().q.p_WB;
    assert!((stopped.x - 0.5 / (0.3 * 9.81)).abs() < 1e-3, "{} m", stopped.x);
    run(&mut simulation, 1_000);
    assert!((simulation.state().q.p_WB - stopped).norm() < 1e-12);
}

#[test]
fn on_a_slope_the_static_cone_decides() {
    for (angle, mu_static, slides) in [(0.45, 0.5, false), (0.48, 0.5, true), (0.6, 0.7, false)] {
        let (model, mut spec) = rigid_box([mu_static, 0.9 * mu_static]);
        let tilt = Quaternion::from_rpy(0.0, angle, 0.0);
        spec.ground = vec![plane(hardstand_physics::spatial::Transform::new(
            tilt.to_matrix(),
            Vec3::zeros(),
        ))];
        spec.q.p_WB = tilt.to_matrix() * spec.q.p_WB;
        spec.q.quat_WB = tilt;
        let mut simulation = Simulation::new(model, spec, WATCHDOG);
        let start = simulation.state().q.p_WB;
        run(&mut simulation, 500);
        let moved = (simulation.state().q.p_WB - start).norm();
        let a = 9.81 * (angle.sin() - 0.9 * mu_static * angle.cos());
        let expected = if slides { 0.5 * a * 0.25 } else { 0.0 };
        assert!((moved - expected).abs() < 2e-3 * expected + 1e-10, "{angle}: {moved} m");
    }
}

#[test]
fn pulled_up_it_lifts_off_and_no_contact_pulls() {
    let (model, mut spec) = rigid_box([0.5, 0.4]);
    spec.v.v_WB.z = 1.0;
    let mut simulation = Simulation::new(model, spec, WATCHDOG);
    run(&mut simulation, 10);
    assert!(simulation.contacts().forces().all(|f| f.normal_n == 0.0));
    assert!((simulation.state().v.v_WB.z - (1.0 - 0.0981)).abs() < 1e-9);
}

#[test]
fn a_standing_quadruped_does_not_drift() {
    let mut standing = Standing::new(&quadruped(&["contact.model=rigid"]));
    // the legs swing out first; round feet roll meanwhile
    standing.run(12_000);
    let feet = standing.feet_W();
    let mut worst: f64 = 0.0;
    for _ in 0..60 {
        standing.run(1_000);
        for at in standing.foot_contacts() {
            worst = worst.max(at.touch.p_C.z.abs());
            assert!(at.force.normal_n > 5.0, "a foot carries {} N", at.force.normal_n);
        }
    }
    let moved = standing.feet_moved_m(&feet);
    println!("position error {worst:e} m, feet moved {moved:e} m in 60 s");
    assert!(worst <= 1e-9 && moved <= 1e-9, "position error {worst} m, moved {moved} m");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn impulses_obey_signorini_and_coulomb(
        a in prop::array::uniform9(-1.0..1.0f64), free in prop::array::uniform3(-2.0..2.0f64),
        mu in prop_oneof![0.0..1.2f64, 1.2..100.0f64],
    ) {
        let a = Mat3::from_fn(|r, c| a[3 * r + c]);
        // some inertia that nothing can take away keeps the block regular
        let W = a * a.transpose() + Mat3::identity() * 0.3;
        let free = Vec3::from(free);
        let mut c = [RigidContact::new(free, mu)];
        let convergence = solve_rigid(&[W], &mut c, &mut RigidRoom::default());
        prop_assert!(convergence.sweeps < 10, "{convergence:?}");
        let (f, v) = (c[0].impulse, free + W * c[0].impulse);
        let tangential = f.xy().norm();
        prop_assert!(f.z >= 0.0 && tangential <= mu * f.z * (1.0 + 1e-9) + 1e-12);
        if free.z >= 0.0 {
            prop_assert_eq!(f, Vec3::zeros());
        } else {
            prop_assert!(v.z.abs() < 1e-6, "normal velocity {}", v.z);
            if tangential < mu * f.z * (1.0 - 1e-6) {
                prop_assert!(v.norm() < 1e-6, "inside the cone it sticks: {}", v);
            } else if v.xy().norm() > 1e-6 {
                let along = f.xy().dot(&v.xy()) / (tangential * v.xy().norm()).max(1e-300);
                prop_assert!(mu == 0.0 || along < -1.0 + 1e-6, "not against the slip: {along}");
            }
        }
    }
}
