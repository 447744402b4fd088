//! Sensors in scenarios: names, ranges, presets, the state, faults, readings, messages, logs.

use std::path::Path;

use hardstand::config::{SENSORS, Scenario, TfEdges, sensor_preset};
use hardstand::ros2::Readings;
use hardstand::simulation::Simulation;
use hardstand_log::SENSORS_TOPIC;
use hardstand_physics::actuator::drive::Key;
use hardstand_physics::plant::Walk;
use hardstand_physics::sensor::{FootSensor, ImuErrors, JointSensor};
use hardstand_protocol::{
    Command, Event, FaultKind, InjectedFault, JointCommand, Kind, Part, SensorsReading, TickInput,
    UNTIL_CLEARED, decode,
};

use crate::common::logs::hardstand;

const QUADRUPED: &str = include_str!("../../config/quadruped.toml");
const URDF: &str = include_str!("../../config/robots/quadruped.urdf");

fn load(sets: &[&str]) -> Result<Scenario, String> {
    let sets: Vec<String> = sets.iter().map(|s| (*s).to_owned()).collect();
    Scenario::from_texts(QUADRUPED, URDF, &sets).map_err(|e| e.to_string())
}

fn refused(sets: &[&str]) -> String {
    match load(sets) {
        Ok(_) => panic!("accepted: {sets:?}"),
        Err(text) => text,
    }
}

const JOINTS: &str = r#"sensors.joints."*""#;

#[test]
fn without_errors_all_readings_are_the_truth() {
    let scenario = load(&[]).unwrap();
    assert!(scenario.spec.sensors.is_ideal());
    let none = [&format!("{JOINTS}=none"), "sensors.imu=none", "sensors.feet=none"];
    assert!(load(&none).unwrap().spec.sensors.is_ideal());
    let other = load(&["sensors.seed=9"]).unwrap();
    assert_eq!(other.physics_hash, scenario.physics_hash, "a seed alone decides nothing");
    let noisy = load(&["sensors.feet.force.noise_n=1"]).unwrap();
    assert_ne!(noisy.physics_hash, scenario.physics_hash);
    let names = scenario.simulation().word_names();
    assert!(names.iter().all(|(group, _)| !group.starts_with("sensor.")));
}

#[test]
fn numbers_that_contradict_each_other_are_refused() {
    let steps = [
        ("imu.gyro", "rad_per_s"),
        ("imu.accel", "m_per_s2"),
        ("feet.force", "n"),
        ("feet.moment", "nm"),
    ];
    for (of, unit) in steps {
        let range = format!("sensors.{of}.range_{unit}=0.5");
        let text = refused(&[&range, &format!("sensors.{of}.resolution_{unit}=2")]);
        let wanted = format!("sensors.{of}.range_{unit}: 0.5 is not allowed; it must be at least ");
        assert!(
            text.contains(&wanted) && text.contains(&format!("resolution_{unit}, 2")),
            "{text}"
        );
        assert!(load(&[&range, &format!("sensors.{of}.resolution_{unit}=0.5")]).is_ok());
    }
    let rings = "sensors.imu.accel.vibration_m_per_s2_per_n=0.01";
    let text = refused(&[rings]);
    let wanted =
        "vibration_m_per_s2_per_n: 0.01 is not allowed; it must be 0 without vibration.frequ";
    assert!(text.contains(wanted), "{text}");
    assert!(load(&[rings, "sensors.imu.vibration.frequency_hz=80"]).is_ok());
}

#[test]
fn a_joint_has_the_numbers_of_its_own_table_over_those_of_all() {
    let all = format!("{JOINTS}.noise_rad=0.002");
    let own = "sensors.joints.FL_calf_joint.noise_rad=0.004";
    let scenario = load(&[&all, own, &format!("{JOINTS}.delay_us=2000")]).unwrap();
    let calf = scenario.model.joint_index("FL_calf_joint").unwrap();
    for (i, sensor) in scenario.spec.sensors.joints.iter().enumerate() {
        assert_eq!(sensor.noise_rad, if i == calf { 0.004 } else { 0.002 });
        assert_eq!(sensor.delay_us, 2000.0);
    }
}

fn refuses_each<T: Copy + 'static>(section: &str, keys: impl Iterator<Item = &'static Key<T>>) {
    for key in keys {
        let Key { name, min, max, .. } = *key;
        for wrong in [min - 1.0 - min.abs(), 2.0 * max.abs() + 1.0, f64::NAN] {
            let text = refused(&[&format!("{section}.{name}={wrong:?}")]);
            let told = text.contains(name) && text.contains(&format!("{min} to {max}"));
            let value = wrong.is_nan() || text.contains(&format!("{wrong:?}").replace(".0", ""));
            assert!(told && value, "{text}");
        }
    }
}

/// Every number, below and above its range, is refused with key, value and range.
#[test]
fn every_number_out_of_its_range_is_refused_with_key_value_and_range() {
    refuses_each("sensors.imu", ImuErrors::keys());
    refuses_each(JOINTS, JointSensor::keys());
    refuses_each("sensors.feet", FootSensor::keys());
    let text = refused(&["sensors.imu.gyro.noise=1"]);
    assert!(text.contains("sensors.imu.gyro.noise is unknown; known here: bandwidth_hz"), "{text}");
    let text = refused(&["sensors.imu=bosch_bmi89"]);
    assert!(text.contains("\"bosch_bmi89\"; it must be") && text.contains("\"bosch_bmi088\""));
    let text = refused(&["sensors.feet.preset=ams_as5600"]);
    assert!(text.contains("preset is \"ams_as5600\"; it must be one of \"none\""), "{text}");
    let text = refused(&["sensors.joints.FL_knee.noise_rad=1e-3"]);
    assert!(text.contains("FL_knee: no joint has this name; the joints are FL_hip"), "{text}");
    let text = refused(&["sensors.seed=-1"]);
    assert!(text.contains("sensors.seed is -1; it must be a whole number, 0 to"), "{text}");
    let text = refused(&["sensors.camera.noise=1"]);
    assert!(text.contains("sensors.camera is unknown; known here: feet, imu, joints, seed"));
}

/// What a log holds is all that the run depends on: the numbers, not only the name.
#[test]
fn a_log_holds_the_numbers_of_a_preset() {
    for (group, name, text) in SENSORS.into_iter().filter(|(_, name, _)| *name != "none") {
        let place = if group == "joints" { JOINTS.into() } else { format!("sensors.{group}") };
        let sets = [format!("{place}={name}"), format!("{place}.delay_us=1234")];
        let scenario = load(&sets.each_ref().map(String::as_str)).unwrap();
        let of = &scenario.spec.sensors;
        let delay_us = match group {
            "imu" => of.imu.unwrap().delay_us,
            "joints" => of.joints[0].delay_us,
            _ => of.feet.unwrap().delay_us,
        };
        assert_eq!(delay_us, 1234.0, "keys go before presets");
        let again = Scenario::from_texts(&scenario.complete_toml, URDF, &[]).unwrap();
        assert_eq!(again.spec.sensors, *of, "{name}");
        assert_eq!(again.physics_hash, scenario.physics_hash, "{name}");
        let numbers: toml::Table = text.parse().unwrap();
        assert!(text.starts_with("# ") && !numbers.is_empty(), "{name}: no source");
        assert_eq!(sensor_preset(group, name), Some(text));
    }
}

const FULL: [&str; 14] = [
    "sensors.imu.preset=bosch_bmi088",
    "sensors.imu.rate_hz=400",
    "sensors.imu.delay_us=3700",
    "sensors.imu.gyro.bias_rad_per_s=0.02",
    "sensors.imu.gyro.bias_instability_rad_per_s=1e-4",
    "sensors.imu.accel.bias_walk_m_per_s2_per_s_per_sqrt_hz=1e-3",
    "sensors.imu.accel.vibration_m_per_s2_per_n=0.01",
    "sensors.imu.vibration.frequency_hz=80",
    "sensors.imu.orientation.tilt_rad=0.01",
    "sensors.joints.\"*\"={delay_us=2500, noise_rad=1e-3, velocity_cutoff_hz=100}",
    "sensors.joints.FL_calf_joint.torque={noise_nm=0.3, bandwidth_hz=200}",
    "sensors.feet.delay_us=1500",
    "sensors.feet.force={noise_n=2, hysteresis_n=3, gain_error=0.05}",
    "sensors.feet.moment.noise_nm=0.1",
];

fn sensing() -> Simulation {
    load(&FULL).unwrap().simulation()
}

fn input(simulation: &Simulation) -> TickInput {
    let (seq, tick) = (simulation.tick() + 1, simulation.tick());
    let joints = (0..12).map(|i| JointCommand {
        q: simulation.spec().q.joints[i] + 0.05 * ((tick / 100 + i as u64) % 3) as f64,
        kp: 80.0,
        kd: 2.0,
        ..Default::default()
    });
    let joints = joints.collect();
    let (answers_tick, applies_tick) = (tick, tick);
    let command = Command { run_id: 1, session: 5, seq, answers_tick, applies_tick, joints };
    let mut input = TickInput::new();
    input.candidates.push(Box::new(command));
    input
}

fn run(simulation: &mut Simulation, ticks: u64) -> u64 {
    for _ in 0..ticks {
        let input = input(simulation);
        assert_eq!(simulation.step(&input).failure, None);
    }
    simulation.state().digest
}

#[test]
fn a_snapshot_in_the_middle_of_delays_goes_on_with_the_same_bits() {
    let mut whole = sensing();
    run(&mut whole, 137);
    let words = whole.snapshot_words();
    let mut resumed = sensing();
    resumed.restore(&words).unwrap();
    let (mut a, mut b) = (whole.new_snapshot(), resumed.new_snapshot());
    whole.fill(&mut a);
    resumed.fill(&mut b);
    assert_eq!(a.state.joints, b.state.joints);
    assert_eq!(a.state.foot_normal_n, b.state.foot_normal_n);
    assert_eq!(
        a.state.imu_angular_velocity_rad_per_s, b.state.imu_angular_velocity_rad_per_s,
        "what sensors show is state"
    );
    let expected = run(&mut whole, 100);
    assert_eq!(run(&mut resumed, 100), expected);
    assert_eq!(run(&mut sensing(), 237), expected, "and a reset");
}

/// A number that no run produces is refused by name.
#[test]
fn words_of_sensors_have_ranges() {
    let mut simulation = sensing();
    run(&mut simulation, 20);
    let words = simulation.snapshot_words();
    let mut tried = std::collections::BTreeSet::new();
    for (place, (group, _)) in simulation.word_names().iter().enumerate() {
        if !group.starts_with("sensor.") || !tried.insert(*group) {
            continue;
        }
        let mut wrong = words.clone();
        wrong[place] = f64::NAN.to_bits();
        let text = simulation.restore(&wrong).unwrap_err().to_string();
        assert!(text.contains(group), "{group}: {text}");
    }
    assert!(tried.len() > 20, "{tried:?}");
}

/// The state has what the sensors show, the message of sensors the truth beside it.
#[test]
fn the_truth_is_beside_what_is_shown_under_names_that_say_so() {
    let mut simulation = sensing();
    run(&mut simulation, 250);
    let mut s = simulation.new_snapshot();
    simulation.fill(&mut s);
    assert_eq!((s.sensors.tick, s.sensors.joints.len(), s.sensors.feet.len()), (250, 12, 4));
    let state = simulation.state();
    for (i, truth) in s.sensors.joints.iter().enumerate() {
        assert_eq!([truth.truth_q, truth.truth_dq], [state.q.joints[i], state.v.joints[i]]);
        assert_eq!(truth.truth_tau, state.motor[i]);
        let shown = s.state.joints[i];
        assert!(shown.q != truth.truth_q && (shown.q - truth.truth_q).abs() < 0.02, "{i}");
    }
    let truth = simulation.plant().imu();
    assert_eq!(s.sensors.truth_imu_angular_velocity_rad_per_s, truth.angular_velocity_I.to_array());
    for (f, foot) in s.sensors.feet.iter().enumerate() {
        let of = &simulation.spec().feet[f];
        assert_eq!(foot.truth_normal_n, simulation.plant().foot_normal_n(of));
        let off = s.state.foot_normal_n[f] - foot.truth_normal_n;
        assert!(off != 0.0 && off.abs() < 15.0, "{off}");
        let off = foot.force_foot_n[2] - foot.truth_force_foot_n[2];
        assert!(off != 0.0 && off.abs() < 15.0, "{off}");
    }
    assert!(s.sensors.feet.iter().any(|foot| foot.truth_normal_n > 10.0));
    let ideal = load(&[]).unwrap().simulation();
    assert!(ideal.new_snapshot().sensors.is_empty());
}

/// A reading is the truth and the bias of the moment, both of which the message has.
#[test]
fn the_bias_is_beside_what_is_shown() {
    let sets = ["sensors.imu.gyro.bias_rad_per_s=0.02", "sensors.imu.accel.bias_m_per_s2=0.1"];
    let mut simulation = load(&sets).unwrap().simulation();
    run(&mut simulation, 20);
    let mut s = simulation.new_snapshot();
    simulation.fill(&mut s);
    let of_gyro = (
        s.state.imu_angular_velocity_rad_per_s,
        s.sensors.truth_imu_angular_velocity_rad_per_s,
        s.sensors.truth_gyro_bias_rad_per_s,
    );
    let of_accel = (
        s.state.imu_specific_force_m_per_s2,
        s.sensors.truth_imu_specific_force_m_per_s2,
        s.sensors.truth_accel_bias_m_per_s2,
    );
    for (shown, truth, bias) in [of_gyro, of_accel] {
        for axis in 0..3 {
            let off = shown[axis] - truth[axis] - bias[axis];
            assert!(bias[axis] != 0.0 && off.abs() < 1e-12, "{axis}: {off}");
        }
    }
}

/// What contacts say of a foot is the truth that the message of sensors repeats.
#[test]
fn the_true_wrench_of_a_foot_is_that_of_its_contacts() {
    let mut simulation = sensing();
    run(&mut simulation, 200);
    let mut s = simulation.new_snapshot();
    simulation.fill(&mut s);
    for (foot, contact) in s.sensors.feet.iter().zip(&s.contacts.feet) {
        assert_eq!(foot.truth_normal_n, contact.normal_n);
        for (a, b) in foot.truth_force_foot_n.iter().zip(contact.force_foot_n) {
            assert!((a - b).abs() < 1e-9, "{a} {b}");
        }
    }
}

fn with_fault(kind: FaultKind, part: Part, values: [f64; 4]) -> [Simulation; 2] {
    let mut sound = sensing();
    run(&mut sound, 50);
    let mut faulty = sound.clone();
    let fault = InjectedFault { kind, part, values };
    let mut with = input(&faulty);
    with.events.push(Event::InjectFault { fault, ticks: UNTIL_CLEARED });
    faulty.step(&with);
    run(&mut sound, 1);
    [sound, faulty]
}

/// Faults of sensors act on what the sensor shows with its errors.
#[test]
fn faults_act_on_top_of_errors() {
    let shown = |s: &Simulation| {
        let mut snapshot = s.new_snapshot();
        s.fill(&mut snapshot);
        snapshot.state
    };
    let offset = [0.25, 0.0, 0.0, 0.0];
    let [sound, faulty] = with_fault(FaultKind::EncoderOffset, Part::Joint(2), offset);
    // reports are 2.5 ms late, so the motion of this tick is not in them yet
    assert_eq!(shown(&faulty).joints[2].q, shown(&sound).joints[2].q + 0.25);
    assert_eq!(shown(&faulty).joints[3], shown(&sound).joints[3]);

    let bias = [0.5, 0.0, -0.5, 0.0];
    let [sound, faulty] = with_fault(FaultKind::ImuGyroBias, Part::Whole, bias);
    let rates = [&faulty, &sound].map(|s| shown(s).imu_angular_velocity_rad_per_s);
    assert_eq!(rates[0], [rates[1][0] + 0.5, rates[1][1], rates[1][2] - 0.5]);

    let [sound, mut faulty] = with_fault(FaultKind::FootSensorStuck, Part::Foot(1), [0.0; 4]);
    run(&mut faulty, 30);
    let stuck = shown(&faulty).foot_normal_n[1];
    run(&mut faulty, 30);
    assert_eq!(shown(&faulty).foot_normal_n[1], stuck, "at what the sensor showed");
    assert!((stuck - shown(&sound).foot_normal_n[1]).abs() < 30.0 && stuck > 0.0);
}

/// The reading of a foot over ROS 2 is the sensor's, and the unit's has its variances.
#[test]
fn topics_of_ros_have_what_the_sensors_show() {
    let scenario = load(&FULL).unwrap();
    let mut simulation = scenario.simulation();
    run(&mut simulation, 100);
    let mut s = simulation.new_snapshot();
    simulation.fill(&mut s);
    let mut readings = Readings::new(&scenario.model, &scenario.spec, "dog", TfEdges::All);
    readings.look(&s);
    let wrench = &readings.foot_wrench(2).wrench;
    let shown = &s.sensors.feet[2];
    assert_eq!([wrench.force.x, wrench.force.y, wrench.force.z], shown.force_foot_n);
    assert_eq!([wrench.torque.x, wrench.torque.y, wrench.torque.z], shown.moment_foot_nm);
    let states = readings.joint_states();
    assert_eq!(states.position[4], s.state.joints[4].q);
    let imu = readings.imu();
    assert_eq!(imu.angular_velocity.y, s.state.imu_angular_velocity_rad_per_s[1]);
    // 0.014 °/s/√Hz at 400 Hz, and 0.02 rad/s of bias
    let white = 0.014_f64.to_radians() * 200.0_f64.sqrt();
    let variance = white * white + 0.02 * 0.02;
    assert!((imu.angular_velocity_covariance[4] / variance - 1.0).abs() < 1e-4);
    assert!((imu.orientation_covariance[0] / 1e-4 - 1.0).abs() < 1e-12);
    let ideal = load(&[]).unwrap();
    let mut readings = Readings::new(&ideal.model, &ideal.spec, "dog", TfEdges::All);
    assert_eq!(readings.imu().angular_velocity_covariance[4], 1e-9);
}

/// The messages of a topic: the payloads in their envelopes.
fn payloads(path: &Path, topic: &str) -> Vec<Vec<u8>> {
    let bytes = std::fs::read(path).unwrap();
    let all = mcap::MessageStream::new(&bytes).unwrap().map(Result::unwrap);
    all.filter(|m| m.channel.topic == topic).map(|m| m.data[8..].to_vec()).collect()
}

/// A run of the daemon with sensors: its log has the truth, replays to the bit, and makes tables.
#[test]
fn a_log_has_the_truth_beside_the_readings_and_replays_to_the_bit() {
    let dir = tempfile::tempdir().unwrap();
    let scenario = dir.path().join("sensing.toml");
    let urdf = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/robots/quadruped.urdf");
    let text = QUADRUPED.replace("robots/quadruped.urdf", urdf.to_str().unwrap());
    std::fs::write(&scenario, text).unwrap();
    let (log, csv) = (dir.path().join("run.mcap"), dir.path().join("run.csv"));
    let mut arguments: Vec<&std::ffi::OsStr> = vec!["run".as_ref(), scenario.as_ref()];
    let own = ["sim.pace=free", "sim.start=now", "bus.listen=[]", "record.keyframe_every_ticks=50"];
    for set in FULL.iter().chain(&own) {
        arguments.extend::<[&std::ffi::OsStr; 2]>(["--set".as_ref(), set.as_ref()]);
    }
    let rest: [&std::ffi::OsStr; 4] =
        ["--duration".as_ref(), "0.2".as_ref(), "--log".as_ref(), log.as_ref()];
    arguments.extend(rest);
    let (said, code) = hardstand(&arguments);
    assert_eq!(code, 0, "{said}");
    let found = payloads(&log, SENSORS_TOPIC);
    assert_eq!(found.len(), 200);
    let of = |bytes: &Vec<u8>| decode::<SensorsReading>(Kind::Sensors, bytes).unwrap();
    let last = of(&found[199]);
    assert_eq!((last.run_id, last.tick, last.time_ns), (1, 200, 200_000_000));
    let (said, code) = hardstand(&["replay".as_ref(), log.as_ref()]);
    assert_eq!(code, 0, "{said}");
    let only = "truth.joint.FL_calf_joint.q";
    let export: [&std::ffi::OsStr; 6] = [
        "export".as_ref(),
        log.as_ref(),
        "--csv".as_ref(),
        csv.as_ref(),
        "--only".as_ref(),
        only.as_ref(),
    ];
    let (said, code) = hardstand(&export);
    assert_eq!(code, 0, "{said}");
    let table = std::fs::read_to_string(&csv).unwrap();
    let mut lines = table.lines();
    assert_eq!(lines.next(), Some("truth.joint.FL_calf_joint.q [rad]"));
    let calf = load(&[]).unwrap().model.joint_index("FL_calf_joint").unwrap();
    for (line, bytes) in lines.zip(&found) {
        assert_eq!(line.parse::<f64>().unwrap(), of(bytes).joints[calf].truth_q);
    }
    // without sensors there is no such topic
    let plain = dir.path().join("plain.mcap");
    let mut arguments: Vec<&std::ffi::OsStr> = vec!["run".as_ref(), scenario.as_ref()];
    for set in &own {
        arguments.extend::<[&std::ffi::OsStr; 2]>(["--set".as_ref(), set.as_ref()]);
    }
    let rest: [&std::ffi::OsStr; 4] =
        ["--duration".as_ref(), "0.05".as_ref(), "--log".as_ref(), plain.as_ref()];
    arguments.extend(rest);
    assert_eq!(hardstand(&arguments).1, 0);
    assert!(payloads(&plain, SENSORS_TOPIC).is_empty());
    assert!(!std::fs::read(&plain).unwrap().windows(18).any(|w| w == b"hardstand/sensors\0"));
}

fn has_rows<T: Copy + 'static>(page: &str, keys: impl Iterator<Item = &'static Key<T>>) {
    for key in keys {
        let row =
            page.lines().find(|l| l.starts_with('|') && l.contains(&format!("`{}`", key.name)));
        let row = row.unwrap_or_else(|| panic!("no row of {}", key.name));
        let range = row.split('|').nth(2).unwrap().trim();
        let (min, max) = range.split_once(" to ").unwrap();
        let numbers = [min, max].map(|n| n.parse::<f64>().unwrap());
        assert_eq!(numbers, [key.min, key.max], "{}", key.name);
    }
}

/// Every key is in a row of the page with its range, every shipped sensor in its table, and the
/// page's example is a scenario.
#[test]
fn the_page_has_every_key_with_its_range_and_every_sensor() {
    let page = include_str!("../../docs/sensors.md");
    let section = |title: &str| page.split_once(&format!("\n## {title}\n")).unwrap().1;
    has_rows(section("Inertial measurement unit"), ImuErrors::keys());
    has_rows(section("Joints"), JointSensor::keys());
    has_rows(section("Feet"), FootSensor::keys());
    for (_, name, _) in SENSORS.iter().filter(|(_, name, _)| *name != "none") {
        assert!(page.contains(&format!("| `{name}` |")), "{name}");
    }
    let example = page.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let scenario = Scenario::from_texts(&format!("{QUADRUPED}\n{example}"), URDF, &[]).unwrap();
    let sensors = &scenario.spec.sensors;
    assert!(sensors.imu.is_some() && sensors.feet.is_some() && sensors.joints.len() == 12);
}
