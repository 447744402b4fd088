//! What the exponential spring means for something that stands on it.

use crate::common::WATCHDOG;
use crate::common::robots::{add_body, box_on_springs, level_floor, plain_spec, plane, station};
use hardstand::simulation::Simulation;
use hardstand_physics::contact::{Friction, SpringParameters};
use hardstand_physics::model::{Base, Builder};
use hardstand_physics::spatial::{Mat3, Quaternion, SpatialInertia, Transform, Vec3};
use hardstand_protocol::{Event, TickInput};

/// Lets a box settle, then pushes it sideways with `force_n` for `ticks`; returns how far it goes
/// and its speed at the end.
fn pushed_box(force_n: f64, ticks: u64) -> (f64, f64) {
    let (model, spec) = box_on_springs(0.8);
    let mut simulation = Simulation::new(model, spec, WATCHDOG);
    for _ in 0..2000 {
        simulation.step(&TickInput::new());
    }
    let start = simulation.state().q.p_WB.x;
    let mut input = TickInput::new();
    // at the height of the feet, so that nothing tips
    input.events.push(Event::Push {
        body: 0,
        point_B: [0.0, 0.0, -0.1],
        force_W: [force_n, 0.0, 0.0],
        ticks,
    });
    simulation.step(&input);
    for _ in 1..ticks {
        simulation.step(&TickInput::new());
    }
    (simulation.state().q.p_WB.x - start, simulation.state().v.v_WB.x)
}

#[test]
fn a_stuck_box_holds_below_the_limit_without_drift() {
    // limit: 0.8 · 98.1 N = 78 N; stretch of four springs: 40 N / 80 kN/m = 0.5 mm
    let (near, _) = pushed_box(40.0, 2_000);
    let (far, speed) = pushed_box(40.0, 12_000);
    assert!((near - 5e-4).abs() < 1e-6, "stretch {near}");
    assert!((far - near).abs() < 1e-12, "drift {} in 10 s", far - near);
    assert!(speed.abs() < 1e-9, "speed {speed}");
}

#[test]
fn a_stuck_box_slips_above_the_limit() {
    let (far, speed) = pushed_box(90.0, 1_000);
    assert!(far > 0.5 && speed > 1.0, "{far} m, {speed} m/s");
}

#[test]
fn a_sliding_box_sticks_again_only_below_the_settle_load() {
    // Simbody's law: a sliding spring is a pure damper, so a load above cxy · v_settle = 2.83 N
    // creeps for ever although it is far below the static limit. Below that the anchor is left
    // behind a little in each step; whether that suffices depends on the step: 2 N creep on
    for (load_n, creeps) in [(0.5, false), (2.0, true), (3.4, true)] {
        let mut simulation = point_mass(load_n);
        for _ in 0..2_000 {
            simulation.step(&TickInput::new());
        }
        let (speed, f) = (simulation.state().v.v_WB.x, simulation.contacts().evaluated()[0].force);
        let creep = load_n / SpringParameters::default().cxy_n_s_per_m;
        assert!(load_n < 0.6 * f.friction_limit_n, "well below the limit");
        if creeps {
            assert!((speed - creep).abs() < 0.01 * creep, "{speed} m/s instead of {creep}");
            assert!(f.next_sliding > 0.8);
        } else {
            assert!(speed.abs() < 1e-9 && f.next_sliding < 1e-9, "{speed} m/s");
        }
    }
}

/// 1 kg on one spring in its centre, sliding at 5 cm/s and drawn on by `load_n`.
fn point_mass(load_n: f64) -> Simulation {
    let mut b = Builder::new("point", Base::Floating);
    let inertia = SpatialInertia::from_com(1.0, &Vec3::zeros(), &Mat3::identity());
    add_body(&mut b, "point", inertia);
    let model = b.build().unwrap();
    let mut spec = plain_spec(&model);
    spec.stations.push(station("s", 0, [0.0; 3], 0.8));
    spec.gravity_W.x = load_n;
    (spec.q.p_WB.z, spec.v.v_WB.x) = (0.004_06, 0.05);
    Simulation::new(model, spec, WATCHDOG)
}

#[test]
fn every_station_meets_every_plane() {
    let (model, mut spec) = box_on_springs(0.8);
    // a wall in front: its normal points to −x, its frame is at x = 0.13
    let R = Quaternion::from_rpy(0.0, -std::f64::consts::FRAC_PI_2, 0.0).to_matrix();
    spec.ground = vec![level_floor(), plane(Transform::new(R, Vec3::new(0.13, 0.0, 0.0)))];
    spec.v.v_WB.x = 0.3;
    for s in &mut spec.stations {
        s.friction = Friction::new(0.1, 0.05);
    }
    let mut simulation = Simulation::new(model, spec, WATCHDOG);
    let mut largest: f64 = 0.0;
    for _ in 0..400 {
        simulation.step(&TickInput::new());
        assert!(simulation.state().q.p_WB.x < 0.035, "went through the wall");
        for (i, at) in simulation.contacts().evaluated().iter().enumerate() {
            if i % 2 == 1 {
                largest = largest.max(at.force.normal_n);
                assert!(at.record_W().force.x <= 1e-9, "the wall pushes back");
            }
        }
    }
    assert_eq!(simulation.contacts().forces().len(), 16);
    assert!(largest > 10.0, "never touched the wall: {largest} N");
    assert!(simulation.state().v.v_WB.x < 0.0, "no rebound");
}
