//! Sensors in the state: same bits on every path, on repeats, and from the middle of a run.

use hardstand_physics::actuator::Reference;
use hardstand_physics::model::Model;
use hardstand_physics::plant::{
    ComputePath, Integrator, OwnerWords, Plant, PlantSpec, SensorSet, Walk,
};
use hardstand_physics::sensor::{FootSensor, ImuErrors, ImuSpec, JointSensor};
use hardstand_physics::spatial::{Transform, Vec3};

use crate::common::robots::walker;

use super::errors;

/// Every number of every sensor at work.
pub fn full(joints: usize) -> SensorSet {
    let mut imu = errors(|e| {
        (e.rate_hz, e.delay_us) = (400.0, 3700.0);
        (e.vibration.frequency_hz, e.vibration.damping_ratio) = (80.0, 0.1);
        (e.orientation.tilt_rad, e.orientation.heading_rad) = (0.01, 0.05);
    });
    for triad in [&mut imu.gyro, &mut imu.accel] {
        triad.noise_density = 1e-3;
        triad.bias = 0.01;
        triad.bias_instability = 1e-3;
        triad.bias_walk = 1e-4;
        triad.scale_error = 0.01;
        triad.misalignment_rad = 0.01;
        triad.range = 30.0;
        triad.resolution = 1e-3;
        triad.bandwidth_hz = 150.0;
        triad.vibration_per_n = 1e-3;
    }
    let mut joint = JointSensor { delay_us: 2500.0, noise_rad: 1e-4, ..JointSensor::default() };
    joint.offset_error_rad = 0.01;
    joint.encoder.counts_per_turn = 16384.0;
    joint.encoder.velocity_cutoff_hz = 100.0;
    joint.torque.gain_error = 0.05;
    joint.torque.noise_nm = 0.1;
    joint.torque.bandwidth_hz = 200.0;
    let mut foot = FootSensor { delay_us: 1500.0, cutoff_hz: 100.0, ..FootSensor::default() };
    for channel in [&mut foot.force, &mut foot.moment] {
        channel.gain_error = 0.02;
        channel.noise = 0.5;
        channel.hysteresis = 1.0;
        channel.range = 500.0;
    }
    foot.shares = [0.01; 6];
    SensorSet { seed: 7, imu: Some(imu), joints: vec![joint; joints], feet: Some(foot) }
}

fn sensing(integrator: Integrator) -> (Model, PlantSpec) {
    let (model, mut spec) = walker();
    spec.sensors = full(model.joint_count());
    spec.integrator = integrator;
    (model, spec)
}

fn advance(plant: &mut Plant, ticks: u64) -> u64 {
    for _ in 0..ticks {
        let tick = plant.state().tick;
        let reference = |i: u64| Reference {
            q: 0.1 * ((tick / 7 + i) % 5) as f64 - 0.2,
            kp: 60.0,
            kd: 1.5,
            ..Reference::default()
        };
        let references: Vec<Reference> = (0..12).map(reference).collect();
        assert_eq!(plant.step(&references, &OwnerWords::default()), None, "tick {tick}");
    }
    plant.state().digest
}

#[test]
fn every_path_gives_the_same_bits_with_sensors() {
    for integrator in [Integrator::SemiImplicitEuler, Integrator::LinearlyImplicit] {
        let (model, spec) = sensing(integrator);
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

/// The motion is the same with and without: a sensor changes what is shown, and nothing else.
#[test]
fn sensors_do_not_move_the_robot() {
    let (model, spec) = sensing(Integrator::SemiImplicitEuler);
    let ideal = PlantSpec { sensors: SensorSet::default(), ..spec.clone() };
    let (mut with, mut without) = (Plant::new(model.clone(), spec), Plant::new(model, ideal));
    advance(&mut with, 200);
    advance(&mut without, 200);
    assert_eq!(with.state().q, without.state().q);
    assert_eq!(with.state().v, without.state().v);
    assert_eq!(with.imu(), without.imu(), "the truth");
    assert_ne!(with.reported_imu(), *with.imu());
    assert_eq!(without.reported_imu(), *without.imu());
    assert_ne!(with.reported_joint(3), without.reported_joint(3));
}

/// It measures as the first one does, whatever errors that one has, and leaves no trace.
#[test]
fn a_second_unit_reads_the_truth_at_its_place_and_changes_nothing() {
    let (model, spec) = sensing(Integrator::SemiImplicitEuler);
    let X_BI = Transform::from_xyz_rpy([0.1, -0.05, 0.2], [0.3, -0.2, 0.5]);
    let unit = ImuSpec { body: 3, X_BI };
    let with_second = PlantSpec { second_imu: Some(unit), ..spec.clone() };
    let with_first = PlantSpec { imu: unit, sensors: SensorSet::default(), ..spec.clone() };
    let mut second = Plant::new(model.clone(), with_second);
    let mut first = Plant::new(model.clone(), with_first);
    let mut none = Plant::new(model, spec);
    assert_eq!(second.second_imu(), Some(first.imu()), "at rest");
    for tick in 0..300 {
        if tick == 150 {
            let (q, zero) = (first.state().q.clone(), Vec3::zeros());
            let up = q.p_WB + Vec3::new(0.0, 0.0, 0.1);
            for plant in [&mut second, &mut first, &mut none] {
                plant.place_base(q.quat_WB, up, zero, Vec3::new(0.5, 0.0, 0.0));
            }
        }
        let digests = [&mut second, &mut none].map(|plant| advance(plant, 1));
        advance(&mut first, 1);
        assert_eq!(second.second_imu(), Some(first.imu()), "tick {tick}");
        assert_eq!(digests[0], digests[1], "tick {tick}");
    }
    assert_eq!(none.second_imu(), None);
}

/// Samples, commands and loads are on their way at any time.
#[test]
fn a_run_goes_on_from_the_middle_of_delays() {
    let (model, spec) = sensing(Integrator::SemiImplicitEuler);
    let mut whole = Plant::new(model.clone(), spec.clone());
    advance(&mut whole, 153);
    let mut words = Vec::new();
    whole.state_mut().append_words(&mut words);
    let digest = whole.state().digest;
    let mut resumed = Plant::new(model.clone(), spec.clone());
    resumed.state_mut().overwrite(words.into_iter());
    resumed.state_mut().digest = digest;
    resumed.wake();
    assert_eq!(resumed.reported_imu(), whole.reported_imu(), "before the next tick, too");
    let expected = advance(&mut whole, 200);
    assert_eq!(advance(&mut resumed, 200), expected);
    assert_eq!(advance(&mut Plant::new(model, spec), 353), expected, "and a repeat");
}

#[test]
fn a_seed_decides_what_is_shown() {
    let (model, spec) = sensing(Integrator::SemiImplicitEuler);
    let mut other = spec.clone();
    other.sensors.seed = 8;
    let (mut a, mut b) = (Plant::new(model.clone(), spec), Plant::new(model, other));
    assert_ne!(advance(&mut a, 20), advance(&mut b, 20));
    assert_eq!(a.state().q, b.state().q);
}

#[test]
fn perfect_sensors_have_no_words_and_those_with_errors_only_their_own() {
    let count = |sensors: SensorSet| {
        let (model, mut spec) = walker();
        spec.sensors = sensors;
        let names = Plant::new(model, spec).state_mut().word_names();
        names.iter().filter(|(group, _)| group.starts_with("sensor.")).count()
    };
    assert_eq!(count(SensorSet::default()), 0);
    let joints = vec![JointSensor::default(); 12];
    assert_eq!(count(SensorSet { joints: joints.clone(), ..SensorSet::default() }), 12 * 4);
    let imu = Some(ImuErrors::NONE);
    assert_eq!(count(SensorSet { imu, ..SensorSet::default() }), 2 * 9 + 3 + 2 + 6 + 10 + 1);
    let feet = Some(FootSensor::default());
    assert_eq!(count(SensorSet { feet, ..SensorSet::default() }), 4 * 21);
    // 2.5 ms: this tick and three before it, of position, velocity and torque
    let late = vec![JointSensor { delay_us: 2500.0, ..JointSensor::default() }; 12];
    assert_eq!(count(SensorSet { joints: late, ..SensorSet::default() }), 12 * 4 + 4 * 12 * 3);
}

/// The switches of the feet close by what the sensors show.
#[test]
fn a_switch_closes_by_the_measured_force() {
    let (model, mut spec) = walker();
    let mut deaf = FootSensor::default();
    deaf.force.range = 0.5 * spec.foot_switch.on_n;
    spec.sensors.feet = Some(deaf);
    let mut plant = Plant::new(model, spec);
    advance(&mut plant, 100);
    let loaded = |f: usize| plant.foot_normal_n(&plant.spec().feet[f]) > 10.0;
    assert!((0..4).any(loaded), "the robot stands");
    assert!(plant.state().switches.iter().all(|s| !s.closed));
    assert!((0..4).all(|f| plant.normal_n(f).abs() <= deaf.force.range));
}

/// The load of a foot is what its contacts say, about the foot's origin.
#[test]
fn the_load_of_a_foot_is_the_sum_of_its_contacts() {
    let (model, spec) = walker();
    let mut plant = Plant::new(model, spec);
    advance(&mut plant, 100);
    let mut carried = 0.0;
    for foot in &plant.spec().feet {
        let load = plant.foot_load(foot);
        assert_eq!(load.normal_n, plant.foot_normal_n(foot));
        let [x, y, z] = load.force_F;
        assert!((x * x + y * y + z * z).sqrt() >= load.normal_n - 1e-9);
        let [x, y, z] = load.normal_F;
        let length = (x * x + y * y + z * z).sqrt();
        assert!(load.normal_n == 0.0 || (length - 1.0).abs() < 1e-12);
        carried += load.normal_n;
    }
    assert!(carried > 10.0, "{carried}");
}
