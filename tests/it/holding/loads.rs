//! What a foot holds after it has slid.

use crate::common::WATCHDOG;
use hardstand::simulation::Simulation;
use hardstand_physics::contact::Stiction;
use hardstand_physics::model::{Base, Builder};
use hardstand_physics::spatial::{Mat3, SpatialInertia, Vec3};
use hardstand_protocol::{Event, TickInput};

use super::set_law;
use crate::common::robots::{add_body, box_on_springs, plain_spec, station};

const MU: f64 = 0.8;
/// The stations of crates/physics/tests/it/common/robots.rs: μₖ = 0.75 μₛ.
const KINETIC: f64 = 0.75;

/// 1 kg on one spring in its centre.
fn point_mass() -> (Simulation, f64) {
    let mut b = Builder::new("point", Base::Floating);
    add_body(&mut b, "point", SpatialInertia::from_com(1.0, &Vec3::zeros(), &Mat3::identity()));
    let model = b.build().unwrap();
    let mut spec = plain_spec(&model);
    spec.stations.push(station("s", 0, [0.0; 3], MU));
    spec.q.p_WB.z = 0.004_06;
    set_law(&mut spec, Stiction::Holding);
    spec.v.v_WB.x = 0.3;
    (Simulation::new(model, spec, WATCHDOG), 0.0)
}

/// The box on four of its eight springs, and the height at which it is pushed.
fn four_springs() -> (Simulation, f64) {
    let (model, mut spec) = box_on_springs(MU);
    set_law(&mut spec, Stiction::Holding);
    spec.v.v_WB.x = 0.3;
    (Simulation::new(model, spec, WATCHDOG), -0.1)
}

/// Runs `ticks` of 1 ms under a load that starts at `from` and ends at `to`, both in N.
fn draw(simulation: &mut Simulation, height: f64, from: Vec3, to: Vec3, ticks: u32) {
    for tick in 1..=ticks {
        let share = f64::from(tick) / f64::from(ticks);
        let force_W = (from + (to - from) * share).into();
        let mut input = TickInput::new();
        let point_B = [0.0, 0.0, height];
        input.events.push(Event::Push { body: 0, point_B, force_W, ticks: 1 });
        assert_eq!(simulation.step(&input).failure, None);
    }
}

fn at_angle(size: f64, deg: f64) -> Vec3 {
    let (sin, cos) = hardstand_physics::math::sin_cos(deg.to_radians());
    Vec3::new(size * cos, size * sin, 0.0)
}

fn anchors(simulation: &Simulation) -> Vec<[u64; 2]> {
    let forces = simulation.contacts().forces().enumerate().filter(|(_, f)| f.normal_n > 1.0);
    let anchor = |i| simulation.plant().spring_memory(i).unwrap().anchor_P.map(f64::to_bits);
    forces.map(|(i, _)| anchor(i)).collect()
}

/// Slides at 0.3 m/s, stops, and then bears every load below μₛ f_z, also between μₖ f_z and
/// μₛ f_z: its anchors keep their bits, and it stands still.
#[test]
fn what_has_slid_and_stopped_holds_every_load_below_the_static_limit() {
    let mut most = 0.0_f64;
    for (make, largest) in [(point_mass as fn() -> _, 0.99), (four_springs, 0.9)] {
        for deg in [0.0, 37.0, 90.0, 180.0, -120.0] {
            for share in [0.1, 0.5, KINETIC - 0.01, KINETIC + 0.05, 0.9, largest] {
                let (mut simulation, height) = make();
                draw(&mut simulation, height, Vec3::zeros(), Vec3::zeros(), 1000);
                assert!(simulation.state().q.p_WB.x > 3e-3, "it has slid");
                let weight = 9.81 * simulation.model().total_mass();
                let load = at_angle(share * MU * weight, deg);
                draw(&mut simulation, height, Vec3::zeros(), load, 500);
                draw(&mut simulation, height, load, load, 1500);
                let (before, p) = (anchors(&simulation), simulation.state().q.p_WB);
                draw(&mut simulation, height, load, load, 1000);
                let what = format!("{share} of the limit at {deg}°");
                assert_eq!(anchors(&simulation), before, "{what}: an anchor moved");
                assert!(!before.is_empty());
                let (moved, speed) = (simulation.state().q.p_WB - p, simulation.state().v.v_WB);
                most = most.max(moved.xy().norm());
                assert!(moved.xy().norm() < 1e-8, "{what}: {moved} m, {speed:?}");
            }
        }
    }
    println!("the farthest way in 1 s under load: {most:.1e} m");
}

/// The load is there while it slides. Below μₖ f_z it stops; between μₖ f_z and μₛ f_z it is
/// Coulomb's kinetic friction that acts, and the load keeps it going.
#[test]
fn a_load_above_kinetic_friction_keeps_a_sliding_foot_sliding() {
    for (share, stops) in [(0.0, true), (0.5, true), (0.7, true), (0.8, false), (0.99, false)] {
        let (mut simulation, _) = point_mass();
        let load = at_angle(share * MU * 9.81, 0.0);
        draw(&mut simulation, 0.0, load, load, 2000);
        let before = simulation.state().v.v_WB.x;
        draw(&mut simulation, 0.0, load, load, 1000);
        let (speed, memory) =
            (simulation.state().v.v_WB.x, simulation.plant().spring_memory(0).unwrap());
        if stops {
            assert!(speed.abs() < 1e-9 && memory.sliding < 1e-6, "{share}: {speed} m/s");
        } else {
            let expected = (share - KINETIC) * MU * 9.81;
            let a = speed - before;
            assert!((a - expected).abs() < 0.01 * expected, "{share}: {a} m/s², {expected}");
            assert!(memory.sliding > 0.999);
        }
    }
}

/// From rest: 0.99 of the limit is held for ever, 1.01 is not.
#[test]
fn the_static_limit_is_where_it_should_be() {
    for (share, holds) in [(0.99, true), (1.01, false)] {
        let (mut simulation, _) = point_mass();
        draw(&mut simulation, 0.0, Vec3::zeros(), Vec3::zeros(), 1000);
        let load = at_angle(share * MU * 9.81, 60.0);
        draw(&mut simulation, 0.0, Vec3::zeros(), load, 500);
        draw(&mut simulation, 0.0, load, load, 1500);
        let speed = simulation.state().v.v_WB.xy().norm();
        assert_eq!(speed < 1e-9, holds, "{share}: {speed} m/s");
    }
}

/// Slip heat: what the contact reports as taken out is what the foot loses.
#[test]
fn the_reported_dissipation_is_the_energy_lost() {
    let (mut simulation, _) = point_mass();
    let energy =
        |p: &Simulation| 0.5 * p.state().v.v_WB.norm_squared() + p.contacts().potential_energy();
    draw(&mut simulation, 0.0, Vec3::zeros(), Vec3::zeros(), 5);
    let (before, mut out) = (energy(&simulation), 0.0);
    for _ in 0..200 {
        let power = |p: &Simulation| p.contacts().evaluated()[0].force.power_dissipation_w;
        let first = power(&simulation);
        simulation.step(&TickInput::new());
        out += 0.5e-3 * (first + power(&simulation));
    }
    let lost = before - energy(&simulation);
    assert!(lost > 0.03 && (out - lost).abs() < 0.02 * lost, "lost {lost} J, reported {out} J");
}
