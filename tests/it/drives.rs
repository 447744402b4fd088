//! Drives in scenarios: names, ranges, presets, the state, faults, readings, logs.

use std::path::Path;

use hardstand::config::{DRIVES, Scenario, drive_of};
use hardstand::inspect::{Quantities, sample};
use hardstand::replay::Player;
use hardstand::simulation::Simulation;
use hardstand_log::DRIVES_TOPIC;
use hardstand_physics::actuator::drive::{Drive, Key};
use hardstand_physics::plant::Walk;
use hardstand_protocol::{
    Command, DrivesReading, Event, FaultKind, InjectedFault, JointCommand, Kind, Part, TickInput,
    UNTIL_CLEARED, decode,
};

use crate::common::logs;
use crate::common::process::{Log, repository};
use crate::common::scene::quadruped;

const QUADRUPED: &str = include_str!("../../config/quadruped.toml");
const URDF: &str = include_str!("../../config/robots/quadruped.urdf");

fn load(more: &str, sets: &[&str]) -> Result<Scenario, String> {
    let sets: Vec<String> = sets.iter().map(|s| (*s).to_owned()).collect();
    Scenario::from_texts(&format!("{QUADRUPED}\n{more}"), URDF, &sets).map_err(|e| e.to_string())
}

fn refused(more: &str, sets: &[&str]) -> String {
    match load(more, sets) {
        Ok(_) => panic!("accepted: {more} {sets:?}"),
        Err(text) => text,
    }
}

const DRIVE: &str = r#"joints."*".drive"#;

#[test]
fn without_a_drive_all_are_ideal() {
    let scenario = load("", &[]).unwrap();
    assert!(scenario.spec.drives.is_ideal());
    let ideal = load("", &[&format!("{DRIVE}=ideal")]).unwrap();
    assert!(ideal.spec.drives.is_ideal());
}

#[test]
fn a_joint_has_the_numbers_of_its_own_table_over_those_of_all() {
    let all = format!("{DRIVE}.friction.coulomb_nm=0.2");
    let own = "joints.FL_calf_joint.drive.friction.coulomb_nm=0.4";
    let scenario = load("", &[&all, own, &format!("{DRIVE}.delay_us=2000")]).unwrap();
    let calf = scenario.model.joint_index("FL_calf_joint").unwrap();
    for (i, drive) in scenario.spec.drives.joints.iter().enumerate() {
        assert_eq!(drive.friction.coulomb_nm, if i == calf { 0.4 } else { 0.2 });
        assert_eq!(drive.timing.delay_us, 2000.0);
    }
}

/// Every number, below and above its range, is refused with key, value and range.
#[test]
fn every_number_out_of_its_range_is_refused_with_key_value_and_range() {
    for key in Drive::keys() {
        let Key { name, min, max, .. } = *key;
        for wrong in [min - 1.0 - min.abs(), 2.0 * max.abs() + 1.0, f64::NAN] {
            let text = refused("", &[&format!("{DRIVE}.{name}={wrong:?}")]);
            let told = text.contains(name) && text.contains(&format!("{min} to {max}"));
            let value = wrong.is_nan() || text.contains(&format!("{wrong:?}").replace(".0", ""));
            assert!(told && value, "{text}");
        }
    }
    let text = refused("", &[&format!("{DRIVE}.friction.coulomb=1")]);
    assert!(text.contains("drive.friction.coulomb is unknown; known here: coulomb_nm"), "{text}");
    let text = refused("", &[&format!("{DRIVE}=unitree_go3")]);
    assert!(text.contains("\"unitree_go3\"; it must be") && text.contains("\"ideal\""), "{text}");
    let text = refused("", &[&format!("{DRIVE}.preset=unitree_go3")]);
    assert!(text.contains("preset is \"unitree_go3\"; it must be one of \"ideal\""), "{text}");
    let text = refused("", &["battery.resistance_ohm=-1"]);
    assert!(text.contains("battery.resistance_ohm is -1; it must be 0 to 1000"), "{text}");
}

#[test]
fn numbers_that_contradict_each_other_are_refused() {
    let text = refused("", &[&format!("{DRIVE}.elastic.backlash_rad=0.01")]);
    assert!(text.contains("elastic.backlash_rad: 0.01 is not allowed"), "{text}");
    let text = refused("", &[&format!("{DRIVE}.heat.derate_c=90")]);
    assert!(text.contains("below heat.trip_c, 0"), "{text}");
    let text = refused("", &["battery.voltage_v=28", "battery.voltage_max_v=20"]);
    let wanted = "battery.voltage_max_v: 20 is not allowed; it must be at least battery.voltage_v";
    assert!(text.contains(wanted), "{text}");
}

/// A number that has no effect without another one is refused without it; one that lets a drive do
/// nothing is warned of.
#[test]
fn numbers_without_the_one_that_they_need_are_refused() {
    let idle = [
        ("torque_speed.no_load_rad_per_s=30", "torque_speed.stall_nm"),
        ("torque_speed.knee_rad_per_s=10", "torque_speed.stall_nm"),
        ("torque_speed.braking_nm=10", "torque_speed.stall_nm"),
        ("torque_speed.nominal_v=24", "torque_speed.stall_nm"),
        ("motor.resistance_ohm=0.2", "motor.torque_constant_nm_per_a"),
        ("motor.supply_v=24", "motor.torque_constant_nm_per_a"),
        ("heat.trip_c=90", "heat.winding_j_per_k"),
        ("elastic.damping_nm_s_per_rad=0.5", "elastic.stiffness_nm_per_rad"),
        ("watchdog.damping_nm_s_per_rad=0.5", "watchdog.timeout_us"),
    ];
    for (set, other) in idle {
        let (key, value) = set.split_once('=').unwrap();
        let text = refused("", &[&format!("{DRIVE}.{set}")]);
        let wanted = format!("{key}: {value} is not allowed; it must be 0 without {other}");
        assert!(text.contains(&wanted), "{text}");
    }
    let constant = format!("{DRIVE}.motor.torque_constant_nm_per_a=0.1");
    let text = refused("", &[&constant, &format!("{DRIVE}.motor.supply_v=24")]);
    assert!(text.contains("it must be 0 without motor.resistance_ohm"), "{text}");
    for (key, value) in [("resistance_ohm", "0.1"), ("idle_w", "20"), ("voltage_max_v", "30")] {
        let text = refused("", &[&format!("battery.{key}={value}")]);
        let wanted = format!("battery.{key}: {value} is not allowed; it must be 0 without");
        assert!(text.contains(&wanted), "{text}");
    }
    let heat = [
        "motor.torque_constant_nm_per_a=0.1",
        "motor.resistance_ohm=0.2",
        "heat.winding_j_per_k=30",
        "heat.trip_c=20",
    ]
    .map(|set| format!("{DRIVE}.{set}"));
    let warned = quadruped(&heat.each_ref().map(String::as_str)).warnings;
    let wanted = "switched off before the first tick: heat.trip_c is 20, and heat.air_c 25";
    assert!(warned.iter().any(|text| text.contains(wanted)), "{warned:?}");
}

/// A joint with a table of its own that says nothing of its drive has the drive of all.
#[test]
fn contradictions_are_found_whichever_table_they_come_from() {
    let gap = format!("{DRIVE}.elastic.backlash_rad=0.01");
    let own = "joints.FL_calf_joint.damping=0.01";
    let text = refused("", &[&gap, own]);
    assert_eq!(text.matches("elastic.backlash_rad: 0.01 is not allowed").count(), 1, "{text}");
    // all of "*" is right, and its own number contradicts it
    let stall = format!("{DRIVE}.torque_speed={{stall_nm=5.0, no_load_rad_per_s=30.0}}");
    let own = "joints.FL_calf_joint.drive.torque_speed.knee_rad_per_s=40.0";
    let text = refused("", &[&stall, own]);
    assert!(text.contains("FL_calf_joint.drive.torque_speed.no_load_rad_per_s: 30"), "{text}");
    // every joint that is left with the drive of all has a table without one
    let joints = load("", &[]).unwrap().model.joints;
    let own = joints.iter().map(|joint| format!("joints.{}.damping=0.01", joint.name));
    let own: Vec<String> = own.collect();
    let sets: Vec<&str> =
        [gap.as_str()].into_iter().chain(own.iter().map(String::as_str)).collect();
    assert!(refused("", &sets).contains("elastic.backlash_rad: 0.01 is not allowed"));
}

/// What a log holds is all that the run depends on: the numbers, not only the name.
#[test]
fn a_log_holds_the_numbers_of_a_preset() {
    for (name, _) in DRIVES {
        let scenario = load("", &[&format!("{DRIVE}={name}"), &format!("{DRIVE}.delay_us=1234")]);
        let scenario = scenario.unwrap();
        assert_eq!(
            scenario.spec.drives.joints[0].timing.delay_us, 1234.0,
            "keys go before presets"
        );
        let again = Scenario::from_texts(&scenario.complete_toml, URDF, &[]).unwrap();
        assert_eq!(again.spec.drives, scenario.spec.drives, "{name}");
        assert_eq!(again.physics_hash, scenario.physics_hash, "{name}");
        let text = &scenario.complete_toml;
        let changed =
            |key: &&Key| key.get(&scenario.spec.drives.joints[0]) != key.get(&Drive::IDEAL);
        for key in Drive::keys().filter(changed) {
            let last = key.name.rsplit('.').next().unwrap();
            let of_joint = key.name == "motor.rotor_inertia_kg_m2" || text.contains(last);
            assert!(of_joint, "{name}: {}", key.name);
        }
    }
}

#[test]
fn a_rotor_inertia_replaces_the_armature_and_goes_behind_a_spring() {
    let rotor = format!("{DRIVE}.motor.rotor_inertia_kg_m2=1e-4");
    let geared = load("", &[&rotor, &format!("{DRIVE}.gear.ratio=8")]).unwrap();
    assert!((geared.model.joints[0].armature - 6.4e-3).abs() < 1e-12);
    let spring = format!("{DRIVE}.elastic.stiffness_nm_per_rad=500");
    let elastic = load("", &[&spring]).unwrap();
    assert_eq!(elastic.model.joints[0].armature, 0.0);
    let before = load("", &[]).unwrap().model.joints[0].armature;
    let behind = elastic.spec.drives.joints[0].reflected_kg_m2();
    assert!(before > 0.0 && (behind - before).abs() < 1e-15, "{behind} {before}");
}

const FULL: [&str; 9] = [
    "delay_us=3300",
    "control_hz=2000",
    "encoder.counts_per_turn=16384",
    "friction.coulomb_nm=0.2",
    "friction.stribeck_nm=0.1",
    "motor.torque_constant_nm_per_a=0.1",
    "motor.resistance_ohm=0.2",
    "heat.winding_j_per_k=30",
    "watchdog.timeout_us=100000",
];

fn driven() -> Simulation {
    let sets: Vec<String> = FULL.iter().map(|set| format!("{DRIVE}.{set}")).collect();
    let mut sets: Vec<&str> = sets.iter().map(String::as_str).collect();
    sets.extend(["battery.voltage_v=28", "battery.resistance_ohm=0.1"]);
    load("", &sets).unwrap().simulation()
}

fn run(simulation: &mut Simulation, ticks: u64) -> u64 {
    for _ in 0..ticks {
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
        assert_eq!(simulation.step(&input).failure, None);
    }
    simulation.state().digest
}

#[test]
fn a_snapshot_in_the_middle_of_a_delay_goes_on_with_the_same_bits() {
    let mut whole = driven();
    run(&mut whole, 137);
    let words = whole.snapshot_words();
    let expected = run(&mut whole, 100);
    let mut resumed = driven();
    resumed.restore(&words).unwrap();
    assert_eq!(run(&mut resumed, 100), expected);
    assert_eq!(run(&mut driven(), 237), expected, "and a repeat");
}

/// A number that no run produces is refused by name.
#[test]
fn words_of_drives_have_ranges() {
    let mut simulation = driven();
    run(&mut simulation, 20);
    let words = simulation.snapshot_words();
    let names = simulation.word_names();
    let mut tried = std::collections::BTreeSet::new();
    for (place, (group, _)) in
        names.iter().enumerate().filter(|(_, (g, _))| g.starts_with("drive."))
    {
        if !tried.insert(*group) {
            continue;
        }
        let mut wrong = words.clone();
        wrong[place] = f64::NAN.to_bits();
        let text = simulation.restore(&wrong).unwrap_err().to_string();
        assert!(text.contains(group), "{group}: {text}");
    }
    assert!(tried.len() > 15, "{tried:?}");
}

/// The simulation of [`driven`] after 50 ticks, and one more with a fault of joint 2 or of all.
fn with_fault(kind: FaultKind, part: Part, value: f64) -> [Simulation; 2] {
    let mut sound = driven();
    run(&mut sound, 50);
    let mut broken = driven();
    broken.restore(&sound.snapshot_words()).unwrap();
    let fault = InjectedFault { kind, part, values: [value, 0.0, 0.0, 0.0] };
    let mut input = TickInput::new();
    input.events.push(Event::InjectFault { fault, ticks: UNTIL_CLEARED });
    sound.step(&TickInput::new());
    broken.step(&input);
    [sound, broken]
}

/// The drive of a dead motor makes nothing, whatever it is asked for; of a weak one its share of the
/// joint's effort limit, or its own limit.
#[test]
fn faults_of_motors_act_on_drives() {
    let part = Part::Joint(2);
    let made = |s: &Simulation| s.state().motor[2].abs();
    let half = 0.5 * made(&with_fault(FaultKind::MotorDead, part, 0.0)[0]);
    let limit = load("", &[]).unwrap().model.joints[2].effort_max;
    for (kind, value, most) in [
        (FaultKind::MotorDead, 0.0, 0.0),
        (FaultKind::MotorDerated, half / limit, half),
        (FaultKind::MotorSaturated, half, half),
    ] {
        let [sound, broken] = with_fault(kind, part, value);
        assert!((made(&broken) - most).abs() < 1e-9, "{kind:?}: {}, not {most}", made(&broken));
        // another joint only feels the motion of the first
        let [before, after] = [&sound, &broken].map(|s| s.state().motor[1]);
        assert!((after - before).abs() < 0.1 * before.abs(), "{kind:?}: {before} {after}");
    }
    assert!(half > 0.2, "{half}: too little to see a limit");
}

/// At rest a motor makes kt V / R: 0.7 N·m with 5 % of 28 V. The same share of the joint's effort
/// limit would leave it more.
#[test]
fn a_sagging_battery_takes_its_share_of_a_drives_supply() {
    let share = 0.05;
    let limit = share * load("", &[]).unwrap().model.joints[2].effort_max;
    let [sound, broken] = with_fault(FaultKind::BatterySag, Part::Whole, share);
    let most = |s: &Simulation| s.state().motor.iter().fold(0.0_f64, |most, nm| most.max(nm.abs()));
    println!("{} {} {limit}", most(&sound), most(&broken));
    // the motion of some rad/s moves it by kt² / R each
    assert!(most(&sound) > 2.0 && limit > 1.2 && most(&broken) < 1.0, "{}", most(&broken));
}

/// A drive acts on what its encoder shows, and so does the state.
#[test]
fn faults_of_encoders_act_on_what_a_drive_measures() {
    let [mut sound, mut broken] = with_fault(FaultKind::EncoderOffset, Part::Joint(2), 0.1);
    let shown = |s: &Simulation| {
        let mut snapshot = s.new_snapshot();
        s.fill(&mut snapshot);
        snapshot.state.joints[2].q
    };
    assert!((shown(&broken) - shown(&sound) - 0.1).abs() < 2e-3, "{}", shown(&broken));
    // what the drive is asked for takes the delay of 3.3 ms; kp is 80 N·m/rad
    for _ in 0..4 {
        sound.step(&TickInput::new());
        broken.step(&TickInput::new());
    }
    let [before, after] = [&sound, &broken].map(|s| s.state().motor[2]);
    println!("{before} {after}");
    assert!(before - after > 4.0, "{before} {after}");
    let [_, stuck] = with_fault(FaultKind::EncoderStuck, Part::Joint(2), 0.0);
    let mut later = stuck;
    let held = shown(&later);
    run(&mut later, 20);
    assert_eq!(shown(&later), held);
}

/// The state shows what the encoder shows: whole counts.
#[test]
fn readings_are_those_of_the_encoder() {
    let mut simulation = driven();
    run(&mut simulation, 50);
    let mut snapshot = simulation.new_snapshot();
    simulation.fill(&mut snapshot);
    let count = std::f64::consts::TAU / 16384.0;
    let shown = snapshot.state.joints[1].q;
    assert!((shown / count - (shown / count).round()).abs() < 1e-6, "{shown}");
    assert!((shown - simulation.state().q.joints[1]).abs() < 0.02);
}

#[test]
fn a_file_of_a_drive_is_checked() {
    let drive = drive_of("delay_us = 500\n[friction]\ncoulomb_nm = 0.1\n", "my.toml").unwrap();
    assert_eq!((drive.timing.delay_us, drive.friction.coulomb_nm), (500.0, 0.1));
    let text = drive_of("delay = 500\n", "my.toml").unwrap_err().to_string();
    assert!(text.contains("my.toml: the drive was refused") && text.contains("delay is unknown"));
    let begun = drive_of("preset = \"unitree_go2\"\ndelay_us = 500\n", "my.toml").unwrap();
    let go2 = DRIVES.iter().find(|(name, _)| *name == "unitree_go2").unwrap().1;
    let mut own = drive_of(go2, "unitree_go2").unwrap();
    own.timing.delay_us = 500.0;
    assert_eq!(begun, own);
    let text = drive_of("preset = \"go3\"\n", "my.toml").unwrap_err().to_string();
    assert!(text.contains("preset is \"go3\"; it must be one of \"ideal\""), "{text}");
}

/// Every key is in a row of the page with its range, and every shipped drive names its source.
#[test]
fn the_page_has_every_key_with_its_range() {
    let page = include_str!("../../docs/drives.md");
    for key in Drive::keys() {
        let row =
            page.lines().find(|l| l.starts_with('|') && l.contains(&format!("`{}`", key.name)));
        let row = row.unwrap_or_else(|| panic!("no row of {}", key.name));
        let range = row.split('|').nth(2).unwrap().trim();
        let (min, max) = range.split_once(" to ").unwrap();
        let numbers = [min, max].map(|n| n.parse::<f64>().unwrap());
        assert_eq!(numbers, [key.min, key.max], "{}", key.name);
    }
    let files = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/config/drives")).unwrap();
    assert_eq!(DRIVES.len(), files.count() + 1, "every file of the folder, and \"ideal\"");
    for (name, text) in DRIVES.iter().filter(|(name, _)| *name != "ideal") {
        assert!(text.starts_with("# ") && drive_of(text, name).is_ok(), "{name}: no source");
    }
}

/// Names of BAM's numbers, and ours.
const BAM: [(&str, &str); 14] = [
    ("kt", "motor.torque_constant_nm_per_a"),
    ("R", "motor.resistance_ohm"),
    ("armature", "motor.rotor_inertia_kg_m2"),
    ("friction_base", "friction.coulomb_nm"),
    ("friction_viscous", "friction.viscous_nm_s_per_rad"),
    ("friction_stribeck", "friction.stribeck_nm"),
    ("dtheta_stribeck", "friction.stribeck_speed_rad_per_s"),
    ("alpha", "friction.stribeck_exponent"),
    ("load_friction_motor", "friction.load_motor"),
    ("load_friction_external", "friction.load_external"),
    ("load_friction_motor_stribeck", "friction.load_motor_stribeck"),
    ("load_friction_external_stribeck", "friction.load_external_stribeck"),
    ("load_friction_motor_quad", "friction.load_motor_quadratic_per_nm"),
    ("load_friction_external_quad", "friction.load_external_quadratic_per_nm"),
];

/// Every published number to the last bit, and no friction that is not published.
#[test]
fn the_servos_have_the_numbers_that_bam_publishes() {
    let published = include_str!("../data/bam.json");
    let published: serde_json::Value = serde_json::from_str(published).unwrap();
    for (name, numbers) in published.as_object().unwrap() {
        let drive = drive_of(hardstand::config::drive_preset(name).unwrap(), name).unwrap();
        for (theirs, ours) in BAM {
            let key = Drive::keys().find(|key| key.name == ours).unwrap();
            let expected = numbers[theirs].as_f64().unwrap_or_else(|| key.get(&Drive::IDEAL));
            assert_eq!(key.get(&drive), expected, "{name}: {ours}");
        }
        assert!(numbers.as_object().unwrap().len() > 5, "{name}");
    }
}

/// The message of drives shows both sides of an elastic one, and nothing of ideal ones.
#[test]
fn the_message_of_drives_shows_both_sides() {
    let set = format!("{DRIVE}.elastic.stiffness_nm_per_rad=300");
    let mut simulation = load("", &[&set]).unwrap().simulation();
    run(&mut simulation, 50);
    let mut snapshot = simulation.new_snapshot();
    simulation.fill(&mut snapshot);
    assert_eq!((snapshot.drives.tick, snapshot.drives.joints.len()), (50, 12));
    let (shown, truth) = (snapshot.drives.joints[1], simulation.state().q.joints[1]);
    assert_eq!(shown.truth_q, truth);
    assert!(shown.motor_q != truth && (shown.motor_q - truth).abs() < 0.2, "{shown:?}");
    assert_eq!(snapshot.state.joints[1].q, shown.motor_q, "the encoder is on the motor's side");
    let ideal = load("", &[]).unwrap().simulation();
    assert!(ideal.new_snapshot().drives.joints.is_empty());
}

/// Readings of drives are quantities of a log, for `bisect`, `plot` and `export`.
#[test]
fn readings_of_drives_are_quantities_of_a_log() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("run.mcap");
    let elastic = format!("{DRIVE}.elastic.stiffness_nm_per_rad=300");
    let scenario = load("", &[&elastic, "battery.voltage_v=28"]).unwrap();
    logs::write(&log, &scenario, &logs::run_of(&scenario, &logs::Script::default(), 50));
    let mut player = Player::open(&log).unwrap();
    let known = Quantities::of(&player.scenario().simulation());
    let names = ["drive.FL_calf_joint.motor_q", "joint.FL_calf_joint.q"];
    let names = [&names[..], &["drive.FL_calf_joint.truth_q", "battery.voltage"]].concat();
    let columns = names.iter().map(|name| known.find(name).unwrap()).collect::<Vec<_>>();
    let mut rows = Vec::new();
    sample(&mut player, &columns, [0.0, f64::INFINITY], 1, |_, row| {
        rows.push(row.to_vec());
        Ok(())
    })
    .unwrap();
    assert!(rows.len() >= 50, "{}", rows.len());
    let last = rows.last().unwrap();
    assert_eq!(last[0].to_bits(), last[1].to_bits(), "the encoder is on the motor's side");
    assert!(last[2] != last[0] && (last[2] - last[0]).abs() < 0.2, "{last:?}");
    assert_eq!(last[3], 28.0);
    let ideal = Quantities::of(&load("", &[]).unwrap().simulation());
    assert!(ideal.find("drive.FL_calf_joint.motor_q").is_none());
}

/// The messages of a topic: the payloads in their envelopes.
fn payloads(path: &Path, topic: &str) -> Vec<Vec<u8>> {
    let bytes = std::fs::read(path).unwrap();
    let all = mcap::MessageStream::new(&bytes).unwrap().map(Result::unwrap);
    all.filter(|m| m.channel.topic == topic).map(|m| m.data[8..].to_vec()).collect()
}

/// A log of the daemon has what drives show, tick by tick, and so has a branch of it; a log of ideal
/// drives does not have the channel.
#[test]
fn a_log_has_what_drives_show_and_so_has_a_branch_of_it() {
    let dir = tempfile::tempdir().unwrap();
    let run = |name: &str, sets: &[&str]| {
        let scenario = repository("config/quadruped.toml");
        let log = dir.path().join(name);
        let mut words = vec!["run", &scenario, "--duration", "0.2", "--log", log.to_str().unwrap()];
        let own = ["sim.pace=free", "sim.start=now", "bus.listen=[]"];
        let sets = sets.iter().chain(&own).chain(&["record.keyframe_every_ticks=50"]);
        sets.for_each(|set| words.extend(["--set", set]));
        let (said, code) = logs::hardstand(&words.iter().map(AsRef::as_ref).collect::<Vec<_>>());
        assert_eq!(code, 0, "{said}");
        log
    };
    let elastic = format!("{DRIVE}.elastic.stiffness_nm_per_rad=300");
    let log = run("run.mcap", &[&elastic, "battery.voltage_v=28"]);
    let found = |log: &Path| {
        let of = |bytes: &Vec<u8>| decode::<DrivesReading>(Kind::Drives, bytes).unwrap();
        payloads(log, DRIVES_TOPIC).iter().map(of).collect::<Vec<_>>()
    };
    let all = found(&log);
    assert_eq!((all.len(), all[0].joints.len()), (200, 12));
    for (reading, state) in all.iter().zip(Log::read(&log).states) {
        assert_eq!((reading.run_id, reading.tick), (state.run_id, state.tick));
        assert_eq!((reading.time_ns, reading.bus_v), (state.time_ns, 28.0));
        for (drive, joint) in reading.joints.iter().zip(&state.joints) {
            assert_eq!(drive.motor_q, joint.q, "the encoder is on the motor's side");
        }
    }
    let branch = dir.path().join("branch.mcap");
    let words = ["branch", log.to_str().unwrap(), "--at", "100", "--log", branch.to_str().unwrap()];
    let (said, code) = logs::hardstand(&words.map(AsRef::as_ref));
    assert_eq!(code, 0, "{said}");
    assert_eq!(found(&branch), all[100..]);
    let (said, code) = logs::hardstand(&["replay".as_ref(), log.as_os_str()]);
    assert_eq!(code, 0, "{said}");
    let ideal = std::fs::read(run("ideal.mcap", &[])).unwrap();
    assert!(!ideal.windows(DRIVES_TOPIC.len()).any(|w| w == DRIVES_TOPIC.as_bytes()));
}

/// `hardstand drive` with these arguments.
fn drive_command(arguments: &[&str]) -> std::process::Output {
    let program = env!("CARGO_BIN_EXE_hardstand");
    std::process::Command::new(program).arg("drive").args(arguments).output().unwrap()
}

/// The command draws and reports a shipped drive: MIT's motor is limited by 60 A to 18 N·m, and by
/// 24 V to 24 / (0.05 · 6) rad/s.
#[test]
fn the_command_shows_a_shipped_drive() {
    let folder = tempfile::tempdir().unwrap();
    let svg = folder.path().join("drive.svg");
    let out = drive_command(&["mini_cheetah", "--json", "--svg", svg.to_str().unwrap()]);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let report: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert!((report["no_load_rad_per_s"].as_f64().unwrap() - 80.0).abs() < 1e-6);
    assert!((report["step_nm"].as_f64().unwrap() - 9.0).abs() < 1e-9, "half of stall");
    let drawing = std::fs::read_to_string(&svg).unwrap();
    let response = ["frequency response: gain", "frequency response: phase"];
    for title in ["torque by speed", "step of the command", "friction by"].iter().chain(&response) {
        assert!(drawing.contains(title), "{title}");
    }
    let out = drive_command(&["--json"]);
    let list: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    let names = list.as_array().unwrap().iter().map(|drive| drive["name"].as_str().unwrap());
    assert!(names.eq(DRIVES.iter().map(|(name, _)| *name)), "{list}");
    assert!(list[1]["source"].as_str().unwrap().contains("Rhoban/bam (Apache-2.0)"), "{list}");
    let out = drive_command(&["unitree_go3"]);
    let text = String::from_utf8(out.stderr).unwrap();
    assert!(!out.status.success() && text.contains("the shipped drives are ideal, "), "{text}");
}

/// Numbers in their ranges whose curves would be endless, a supply that says nothing, a pipe.
#[test]
fn the_command_ends_with_slow_drives_and_says_what_has_no_effect() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("slow.toml");
    let report = |text: &str| -> serde_json::Value {
        std::fs::write(&file, text).unwrap();
        let out = drive_command(&[file.to_str().unwrap(), "--json"]);
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        serde_json::from_slice(&out.stdout).unwrap()
    };
    let steps = |report: &serde_json::Value| report["step_response"].as_array().unwrap().len();
    assert_eq!(steps(&report("bandwidth_hz = 1e-5\n")), 100_001);
    // the control that sees the command first is that after a tenth of a second
    let late = report("control_hz = 10.0\ndelay_us = 5000\n");
    let last = late["step_response"].as_array().unwrap().last().unwrap()[1].as_f64();
    assert_eq!(last, late["step_nm"].as_f64());
    let out = drive_command(&["ideal", "--supply", "10"]);
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success() && said.contains("--supply 10 has no effect on ideal"), "{said}");
    #[cfg(unix)]
    {
        let pipe = folder.path().join("pipe.toml");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        let out = drive_command(&[pipe.to_str().unwrap()]);
        let said = String::from_utf8_lossy(&out.stderr);
        assert!(made.success() && said.contains("it is a named pipe"), "{said}");
    }
}
