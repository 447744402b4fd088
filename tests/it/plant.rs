//! The plant: same input, same bits; snapshots; sensors.

use crate::common::WATCHDOG;
use crate::common::bench::quadruped;
use crate::common::drive::{busy_input, busy_walker, standing_input};
use crate::common::robots::{G, at, box_on_springs, walker};
use crate::common::scene::feet_of_shapes;
use hardstand::config::Scenario;
use hardstand::simulation::Simulation;
use hardstand_physics::actuator::Reference;
use hardstand_physics::dynamics::Positions;
use hardstand_physics::plant::{OwnerWords, Plant, Walk, Word, WordBytes};
use hardstand_physics::spatial::{Quaternion, Transform, Vec3};
use hardstand_protocol::{Authority, TickInput};

fn new_walker() -> Simulation {
    let (model, spec) = walker();
    Simulation::new(model, spec, WATCHDOG)
}

#[test]
fn same_inputs_give_the_same_digests() {
    let (mut a, mut b) = (new_walker(), new_walker());
    let (mut snap_a, mut snap_b) = (a.new_snapshot(), b.new_snapshot());
    for tick in 0..10_000 {
        let input = busy_input(&a);
        let (out_a, out_b) = (a.step(&input), b.step(&input.clone()));
        assert_eq!(out_a, out_b);
        assert_eq!(a.state().digest, b.state().digest, "tick {tick}");
    }
    a.fill(&mut snap_a);
    b.fill(&mut snap_b);
    assert_eq!((a.failure(), &snap_a), (None, &snap_b));
    assert_eq!(a.snapshot_words(), b.snapshot_words());
}

#[test]
fn other_inputs_give_another_digest() {
    let (mut a, mut b) = (busy_walker(50), busy_walker(50));
    let input = busy_input(&a);
    let mut other = input.clone();
    other.candidates[0].joints[7].tau_ff += 1e-12;
    a.step(&input);
    b.step(&other);
    assert_ne!(a.state().digest, b.state().digest);
    let difference = a.first_difference(&a.clone().snapshot_words(), &b.snapshot_words());
    assert!(difference.is_some());
}

#[test]
fn a_restored_snapshot_continues_with_the_same_bits() {
    let mut seed = 7u64;
    for _ in 0..12 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let before = seed >> 54;
        let mut whole = busy_walker(before);
        let words = whole.snapshot_words();
        // a plant that has lived another life
        let mut resumed = busy_walker(13);
        resumed.restore(&words).unwrap();
        assert_eq!(resumed.state(), whole.state());
        for _ in 0..200 {
            let input = busy_input(&whole);
            whole.step(&input);
            resumed.step(&input);
        }
        assert_eq!(resumed.snapshot_words(), whole.snapshot_words(), "resumed at {before}");
        let (mut a, mut b) = (whole.new_snapshot(), whole.new_snapshot());
        whole.fill(&mut a);
        resumed.fill(&mut b);
        assert_eq!(a, b);
    }
}

#[test]
fn another_robots_snapshot_is_refused() {
    let (model, spec) = box_on_springs(0.5);
    let words = Simulation::new(model, spec, WATCHDOG).snapshot_words();
    let mut simulation = busy_walker(10);
    let before = simulation.snapshot_words();
    assert!(simulation.restore(&words).is_err());
    assert_eq!(simulation.snapshot_words(), before);
}

#[test]
fn the_digest_covers_every_bit_of_every_word() {
    let mut simulation = busy_walker(300);
    let mut previous = simulation.clone();
    let before = previous.state().digest;
    let input = busy_input(&simulation);
    simulation.step(&input);
    let words = simulation.snapshot_words();
    let (words, shown) = words.split_at(words.len() - 1);
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    let chained = |seed| xxhash_rust::xxh3::xxh3_64_with_seed(&bytes, seed);
    assert_eq!(chained(before), shown[0], "of these words and of all ticks before");
    assert_ne!(chained(before ^ 1), shown[0]);
    let mut taken = WordBytes::new(&mut simulation);
    let mut of = |mut changed: Simulation| {
        taken.take(&mut changed);
        xxhash_rust::xxh3::xxh3_64_with_seed(taken.bytes(), before)
    };
    assert_eq!(of(simulation.clone()), shown[0]);
    for k in 0..words.len() {
        let (mut changed, mut at) = (simulation.clone(), 0);
        changed.walk(&mut |group, _, mut word| {
            if at == k {
                let flags = ["foot_switch.closed", "region.set", "lease.stopped", "lease.flags"];
                let bit = if flags.contains(&group) { 0 } else { (k * 7) % 64 };
                word.set_bits(word.bits() ^ (1 << bit));
            }
            at += 1;
        });
        assert_ne!(of(changed), shown[0], "a bit of word {k}");
    }
    assert!(previous.restore(&[words, shown].concat()).is_ok());
    assert_eq!(previous.state(), simulation.state(), "the words are the whole state");
    assert_eq!(previous.snapshot_words(), simulation.snapshot_words());
}

#[test]
fn every_part_of_the_state_is_walked() {
    // change each word through the walk: the state must then differ from the original, and all of
    // its words must be reachable under a name
    let mut simulation = busy_walker(300);
    let mut state = simulation.clone();
    let (mut groups, mut count) = (Vec::new(), 0);
    state.walk(&mut |group, _, mut word: Word<'_>| {
        if groups.last() != Some(&group) && !groups.contains(&group) {
            groups.push(group);
        }
        count += 1;
        let _ = word.bits();
        word.set_bits(word.bits());
    });
    assert_eq!(
        state.snapshot_words(),
        simulation.snapshot_words(),
        "writing back what was read changes nothing"
    );
    assert_eq!(count, state.word_count());
    let expected = [
        "tick",
        "base.quat_WB_wxyz",
        "base.p_WB",
        "joint.q",
        "base.w_WB",
        "base.v_WB",
        "joint.dq",
        "joint.tau",
        "imu.v_before_W",
        "watchdog.owner",
        "watchdog.seq",
        "command.q",
        "command.dq",
        "command.kp",
        "command.kd",
        "command.tau_ff",
        "push.body",
        "push.point_B",
        "push.force_W",
        "push.ticks_left",
        "foot_switch.closed",
        "foot_switch.pending_ticks",
        "contact.anchor_S",
        "contact.sliding",
        "contact.committed_ns",
        "contact.mu_static",
        "contact.mu_kinetic",
    ];
    for name in expected {
        assert!(groups.contains(&name), "no word of {name}");
    }
}

#[test]
fn time_is_tick_times_period() {
    let simulation = busy_walker(321);
    assert_eq!((simulation.state().tick, simulation.time_ns()), (321, 321_000_000));
}

#[test]
fn imu_reads_gravity_at_rest_and_feet_carry_the_weight() {
    let (model, mut spec) = box_on_springs(0.8);
    // a unit mounted on its side, away from the middle
    let R = Quaternion::from_rpy(std::f64::consts::FRAC_PI_2, 0.0, 0.0).to_matrix();
    spec.imu.X_BI = Transform::new(R, Vec3::new(0.05, 0.0, 0.02));
    let weight = model.total_mass() * G;
    let mut simulation = Simulation::new(model, spec, WATCHDOG);
    let mut s = simulation.new_snapshot();
    for _ in 0..4000 {
        simulation.step(&TickInput::new());
    }
    simulation.fill(&mut s);
    let f = Vec3::from(s.state.imu_specific_force_m_per_s2);
    assert!((f - Vec3::new(0.0, G, 0.0)).norm() < 1e-6, "{f:?}");
    let foot = &s.contacts.feet[0];
    assert!((foot.force_world_n[2] - weight).abs() < 1e-6 * weight);
    assert!((foot.normal_n - weight).abs() < 1e-6 * weight);
    assert!(Vec3::from(foot.point_world_m).xy().norm() < 1e-6, "centre of pressure");
    assert!(Vec3::from(foot.moment_world_nm).norm() < 1e-6);
    assert_eq!((s.state.foot_contact[0], foot.contact), (1, 1));
    let sum: f64 = s.contacts.stations.iter().map(|c| c.force_world_n[2]).sum();
    assert!((sum - weight).abs() < 1e-6 * weight);
}

#[test]
fn imu_in_free_fall_reads_nothing_and_in_a_turn_the_centripetal_force() {
    let (model, mut spec) = box_on_springs(0.8);
    spec.q.p_WB.z = 50.0;
    spec.v.w_WB = Vec3::new(0.0, 0.0, 3.0);
    let mut simulation = Simulation::new(model.clone(), spec.clone(), WATCHDOG);
    simulation.step(&TickInput::new());
    assert!(simulation.imu().specific_force_I.norm() < 1e-9);
    assert!((simulation.imu().angular_velocity_I - Vec3::new(0.0, 0.0, 3.0)).norm() < 1e-12);
    spec.imu.X_BI = at(0.1, 0.0, 0.0);
    let mut simulation = Simulation::new(model, spec, WATCHDOG);
    simulation.step(&TickInput::new());
    // −ω² r towards the axis, the mean over a tick
    let f = simulation.imu().specific_force_I;
    assert!((f - Vec3::new(-0.9, 0.0, 0.0)).norm() < 3e-3, "{f:?}");
}

#[test]
fn foot_switches_debounce() {
    let (model, mut spec) = box_on_springs(0.8);
    spec.q.p_WB.z = 0.13;
    let mut simulation = Simulation::new(model, spec, WATCHDOG);
    let (mut loaded, mut closed) = (None, None);
    let mut s = simulation.new_snapshot();
    for tick in 0..300 {
        simulation.step(&TickInput::new());
        simulation.fill(&mut s);
        loaded = loaded.or((s.state.foot_normal_n[0] > 5.0).then_some(tick));
        closed = closed.or((s.state.foot_contact[0] == 1).then_some(tick));
    }
    assert_eq!(closed.unwrap(), loaded.unwrap() + 2, "three ticks in a row");
}

#[test]
fn a_walker_stands() {
    let mut simulation = new_walker();
    for _ in 0..3000 {
        let input = standing_input(&simulation);
        simulation.step(&input);
    }
    let mut s = simulation.new_snapshot();
    simulation.fill(&mut s);
    let weight = simulation.model().total_mass() * G;
    let carried: f64 = s.contacts.feet.iter().map(|f| f.force_world_n[2]).sum();
    assert_eq!(simulation.authority(), Authority::Fresh);
    assert!((carried - weight).abs() < 1e-3 * weight, "{carried} of {weight} N");
    assert!(simulation.state().q.p_WB.z > 0.2 && s.state.foot_contact == [1, 1, 1, 1]);
}

#[test]
fn a_robot_that_is_put_elsewhere_is_there_as_if_it_had_begun_there() {
    for contacts in 0..2 {
        let (model, mut spec) = if contacts == 0 { walker() } else { box_on_springs(0.5) };
        let mut moved = Simulation::new(model.clone(), spec.clone(), WATCHDOG);
        for _ in 0..100 {
            moved.step(&TickInput::new());
        }
        // where it had begun, two metres along, with the joints that it has now
        spec.q.p_WB.x += 2.0;
        let (q, v) = (&spec.q, &spec.v);
        moved.place_base(q.quat_WB, q.p_WB, v.w_WB, v.v_WB);
        let now = moved.state();
        (spec.q.joints, spec.v.joints) = (now.q.joints.clone(), now.v.joints.clone());
        let begun = Simulation::new(model, spec, WATCHDOG);
        assert_eq!((moved.failure(), moved.state().tick), (None, 100));
        // the same forces, for the anchors are under the stations; and it can be saved
        let (mut a, mut b) = (moved.new_snapshot(), begun.new_snapshot());
        moved.fill(&mut a);
        begun.fill(&mut b);
        for (at, before) in a.contacts.stations.iter().zip(&b.contacts.stations) {
            let off = |i: usize| (at.force_world_n[i] - before.force_world_n[i]).abs();
            assert!((0..3).all(|i| off(i) < 1e-9), "{at:?}, not {before:?}");
            assert!(at.friction_elastic_world_n.iter().all(|f| f.abs() < 1e-9), "{at:?}");
        }
        let words = moved.snapshot_words();
        let mut other = begun;
        other.restore(&words).unwrap();
        assert_eq!(other.step(&TickInput::new()), moved.step(&TickInput::new()));
        assert_eq!(other.state().digest, moved.state().digest);
    }
}

/// `contacts_at` leaves out what a search of a place does not look at.
#[test]
fn contacts_at_a_place_are_those_of_a_robot_that_is_put_there() {
    let feet = feet_of_shapes();
    let many: Vec<String> = (0..24)
        .map(|i| f64::from(i) * 0.1 - 1.2)
        .map(|x| format!("{{kind=\"box\", position_m=[{x}, 0.0, -0.05], size_m=[0.1, 2.0, 0.1]}}"))
        .collect();
    let boxes = format!("terrain=[{}]", many.join(","));
    let cases: [&[&str]; 6] = [
        &[],
        &["contact.model=rigid"],
        &["contact.model=hunt_crossley"],
        &[&feet],
        &[&feet, "contact.model=rigid"],
        &[&boxes],
    ];
    for sets in cases {
        let scenario = quadruped(sets);
        let mut found = Plant::new(scenario.model.clone(), scenario.spec.clone());
        let mut placed = found.clone();
        let Positions { quat_WB, p_WB, .. } = scenario.spec.q;
        let points = |plant: &Plant| {
            format!("{:?} {:?}", plant.contacts().evaluated(), plant.collisions().points())
        };
        let mut seen = std::collections::BTreeSet::new();
        for rise_m in [0.03, -0.002, 0.0, -0.02, -0.0005, 0.5, -0.001] {
            let p_WB = p_WB + Vec3::z() * rise_m;
            found.contacts_at(p_WB);
            placed.place_base(quat_WB, p_WB, Vec3::zeros(), Vec3::zeros());
            assert!(points(&found) == points(&placed), "{sets:?}, {rise_m} m");
            seen.insert(points(&found));
        }
        assert!(seen.len() >= 6, "{sets:?}: {} places", seen.len());
        found.place_base(quat_WB, p_WB, Vec3::zeros(), Vec3::zeros());
        placed.place_base(quat_WB, p_WB, Vec3::zeros(), Vec3::zeros());
        let hold = vec![Reference::default(); scenario.model.joint_count()];
        for plant in [&mut found, &mut placed] {
            assert!(plant.step(&hold, &OwnerWords::default()).is_none());
        }
        assert_eq!(found.state().digest, placed.state().digest);
    }
}

/// The robot after 1.5 s of standing, and a step of such a robot: the velocity of its base after it.
fn standing(scenario: &Scenario) -> (Plant, impl Fn(&mut Plant) -> Vec3) {
    let mut plant = Plant::new(scenario.model.clone(), scenario.spec.clone());
    let joints = scenario.spec.q.joints.iter().zip(&scenario.hold_gains);
    let hold: Vec<Reference> = joints
        .map(|(q, gains)| Reference { q: *q, kp: gains.kp, kd: gains.kd, ..Reference::default() })
        .collect();
    let step = move |plant: &mut Plant| {
        assert!(plant.step(&hold, &OwnerWords::default()).is_none());
        plant.state().v.v_WB
    };
    for _ in 0..1500 {
        step(&mut plant);
    }
    (plant, step)
}

#[test]
fn a_robot_that_is_carried_on_stands_there_with_the_springs_stretched_as_they_were() {
    let scenario = quadruped(&["sim.gravity_m_per_s2=[1.4, 0.0, -9.7]"]);
    let (mut stands, step) = standing(&scenario);
    let (mut carried, mut placed) = (stands.clone(), stands.clone());
    let (mut q, v) = (stands.state().q.clone(), stands.state().v.clone());
    q.p_WB.x += 2.0;
    carried.carry_to(&q, &v);
    placed.place_base(q.quat_WB, q.p_WB, v.w_WB, v.v_WB);
    let v_W = step(&mut stands);
    assert!((step(&mut carried) - v_W).norm() < 1e-9);
    assert!((carried.state().q.p_WB.x - stands.state().q.p_WB.x - 2.0).abs() < 1e-9);
    // begun anew, it slides until they are stretched
    assert!((step(&mut placed) - v_W).norm() > 1e-4);
}

/// Its feet are shapes, whose contacts `carry_to` begins anew.
#[test]
fn a_robot_that_is_pulled_on_stands_there_with_the_springs_of_its_shapes_stretched_as_they_were() {
    let feet = feet_of_shapes();
    let scenario = quadruped(&[feet.as_str(), "sim.gravity_m_per_s2=[1.4, 0.0, -9.7]"]);
    let (mut stands, step) = standing(&scenario);
    let (mut pulled, mut carried) = (stands.clone(), stands.clone());
    let (mut q, v) = (stands.state().q.clone(), stands.state().v.clone());
    q.p_WB.x += 2e-3;
    pulled.pull_to(&q, &v);
    carried.carry_to(&q, &v);
    let v_W = step(&mut stands);
    let off = [&mut pulled, &mut carried].map(|plant| (step(plant) - v_W).norm());
    assert!(off[0] < 1e-9 && off[1] > 1e-4, "{off:?} m/s");
}
