//! Drives in the state: same bits on every path, on repeats, and from the middle of a delay.

use hardstand_physics::actuator::Reference;
use hardstand_physics::actuator::drive::{Battery, Drive, Elastic, Heat, Motor, TorqueSpeed};
use hardstand_physics::model::Model;
use hardstand_physics::plant::{
    ComputePath, DriveSet, Integrator, OwnerWords, Plant, PlantSpec, Walk,
};

use super::{flywheel, q, run, torque};
use crate::common::robots::walker;

/// A drive with every law at work.
pub fn full() -> Drive {
    let mut drive = Drive::IDEAL;
    drive.timing.delay_us = 3700.0;
    drive.timing.control_hz = 2000.0;
    drive.timing.bandwidth_hz = 300.0;
    drive.timing.interpolation_us = 2000.0;
    drive.encoder.counts_per_turn = 16384.0;
    drive.encoder.velocity_cutoff_hz = 100.0;
    drive.torque_speed = TorqueSpeed {
        stall_nm: 30.0,
        no_load_rad_per_s: 25.0,
        knee_rad_per_s: 10.0,
        braking_nm: 35.0,
        nominal_v: 28.0,
    };
    drive.motor = Motor {
        torque_constant_nm_per_a: 0.1,
        resistance_ohm: 0.1,
        current_max_a: 60.0,
        rotor_inertia_kg_m2: 1e-4,
        supply_v: 0.0,
    };
    drive.gear.ratio = 9.0;
    drive.gear.efficiency = 0.9;
    drive.friction.coulomb_nm = 0.2;
    drive.friction.viscous_nm_s_per_rad = 0.02;
    drive.friction.stribeck_nm = 0.1;
    drive.friction.load_motor = 0.05;
    drive.friction.load_external = 0.02;
    drive.cogging.amplitude_nm = 0.05;
    drive.cogging.periods_per_turn = 42.0;
    drive.heat = Heat { winding_j_per_k: 30.0, derate_c: 80.0, trip_c: 120.0, ..Heat::NONE };
    drive.watchdog.timeout_us = 50_000.0;
    drive
}

fn elastic() -> Drive {
    let mut drive = full();
    drive.elastic =
        Elastic { stiffness_nm_per_rad: 500.0, damping_nm_s_per_rad: 0.5, backlash_rad: 0.005 };
    drive
}

fn driven_walker(integrator: Integrator) -> (Model, PlantSpec) {
    let (model, mut spec) = walker();
    let drive = |i: usize| if i.is_multiple_of(2) { full() } else { elastic() };
    // the legs stay equal: joints of one kind have one drive
    let joints = (0..model.joint_count()).map(|i| drive(i % 3)).collect();
    let battery =
        Battery { voltage_v: 28.0, resistance_ohm: 0.1, idle_w: 20.0, voltage_max_v: 33.0 };
    spec.drives = DriveSet { joints, battery };
    spec.integrator = integrator;
    (model, spec)
}

fn command(tick: u64) -> Vec<Reference> {
    let reference = |i: u64| Reference {
        q: 0.1 * ((tick / 7 + i) % 5) as f64 - 0.2,
        kp: 60.0 + i as f64,
        kd: 1.5,
        ..Reference::default()
    };
    (0..12).map(reference).collect()
}

fn advance(plant: &mut Plant, ticks: u64) -> u64 {
    for _ in 0..ticks {
        let tick = plant.state().tick;
        (0..12).for_each(|i| plant.note_fresh(i, tick.is_multiple_of(5)));
        assert_eq!(plant.step(&command(tick), &OwnerWords::default()), None, "tick {tick}");
    }
    plant.state().digest
}

#[test]
fn every_path_gives_the_same_bits_with_drives() {
    for integrator in [Integrator::SemiImplicitEuler, Integrator::LinearlyImplicit] {
        let (model, spec) = driven_walker(integrator);
        let digests =
            [ComputePath::Fastest, ComputePath::Portable, ComputePath::OneByOne].map(|path| {
                let mut plant = Plant::new(model.clone(), spec.clone());
                plant.set_path(path);
                advance(&mut plant, 300)
            });
        assert_eq!(digests[0], digests[1], "{integrator:?}");
        assert_eq!(digests[0], digests[2], "{integrator:?}");
    }
}

#[test]
fn runge_kutta_steps_with_drives_repeat() {
    let (model, spec) = driven_walker(Integrator::Rk4);
    let digest = || advance(&mut Plant::new(model.clone(), spec.clone()), 100);
    assert_eq!(digest(), digest());
}

/// 3.7 ms of delay: three commands are under way at any time.
#[test]
fn a_run_goes_on_from_the_middle_of_a_delay() {
    let (model, spec) = driven_walker(Integrator::SemiImplicitEuler);
    let mut whole = Plant::new(model.clone(), spec.clone());
    advance(&mut whole, 153);
    let mut words = Vec::new();
    whole.state_mut().append_words(&mut words);
    let digest = whole.state().digest;
    let expected = advance(&mut whole, 200);
    let mut resumed = Plant::new(model, spec);
    resumed.state_mut().overwrite(words.into_iter());
    resumed.state_mut().digest = digest;
    resumed.wake();
    assert_eq!(advance(&mut resumed, 200), expected);
}

#[test]
fn an_ideal_drive_has_no_words() {
    let (model, spec) = walker();
    let mut ideal = Plant::new(model.clone(), spec.clone());
    let names = ideal.state_mut().word_names();
    assert!(names.iter().all(|(group, _)| !group.starts_with("drive.")));
    let (model, spec) = driven_walker(Integrator::SemiImplicitEuler);
    let mut driven = Plant::new(model, spec);
    let names = driven.state_mut().word_names();
    // per joint 21 numbers and 6 for each of five commands; one voltage for all
    let of_drives = names.iter().filter(|(group, _)| group.starts_with("drive.")).count();
    assert_eq!(of_drives, 12 * (21 + 5 * 6) + 1);
}

/// Friction that holds a load goes on to hold it elsewhere, and a stretched spring stays stretched.
#[test]
fn a_joint_that_is_carried_on_leans_on_its_gear_as_before() {
    for stiffness_nm_per_rad in [0.0, 50.0] {
        let mut held = flywheel(|drive, _| {
            drive.friction.coulomb_nm = 1.0;
            drive.motor.rotor_inertia_kg_m2 = 0.02;
            drive.elastic.stiffness_nm_per_rad = stiffness_nm_per_rad;
            drive.elastic.damping_nm_s_per_rad = 0.2;
        });
        run(&mut held, torque(0.6), 20);
        let mut carried = held.clone();
        let (mut to, v) = (held.state().q.clone(), held.state().v.clone());
        to.joints[0] += 0.01;
        carried.carry_to(&to, &v);
        for reference in [torque(0.6), torque(1.4)] {
            run(&mut held, reference, 20);
            run(&mut carried, reference, 20);
            let off = q(&carried) - q(&held) - 0.01;
            assert!(off.abs() < 1e-12, "{stiffness_nm_per_rad}: {off} rad");
        }
    }
}
