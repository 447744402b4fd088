//! Joints that follow others.

use hardstand_physics::actuator::Reference;
use hardstand_physics::contact::{Friction, TINY};
use hardstand_physics::dynamics::{
    Constraints, Data, MassMatrix, Velocities, aba, crba, kinematics,
};
use hardstand_physics::model::{Base, Builder, CouplingSpec, Joint, JointKind, Model};
use hardstand_physics::plant::{
    ComputePath, ContactModel, Integrator, OwnerWords, Plant, PlantSpec, Walk,
};
use hardstand_physics::spatial::{Mat3, SpatialInertia, Vec3};

use super::common::robots::{
    G, LAWS, add_body, add_joint, at, joint, plain_spec, set_law, station, walker,
};

const METHODS: [Integrator; 3] =
    [Integrator::SemiImplicitEuler, Integrator::Rk4, Integrator::LinearlyImplicit];

/// Largest error of the couplings' positions and velocities, rad or m and per second.
fn errors(plant: &Plant) -> (f64, f64) {
    let (q, v) = (&plant.state().q.joints, &plant.state().v.joints);
    plant.model().couplings.iter().fold((0.0, 0.0), |(p, s), c| {
        (f64::max(p, c.position_error(q).abs()), f64::max(s, c.excess(v).abs()))
    })
}

fn coupling(follower: &str, leader: Option<&str>, multiplier: f64, offset: f64) -> CouplingSpec {
    CouplingSpec { follower: follower.into(), leader: leader.map(String::from), multiplier, offset }
}

/// An arm of three links whose elbow follows the shoulder, and the wrist the elbow.
fn arm(couplings: Vec<CouplingSpec>) -> Builder {
    let mut b = Builder::new("arm", Base::Fixed);
    let I = Mat3::from_diagonal(&Vec3::new(0.01, 0.02, 0.015));
    for name in ["frame", "upper", "lower", "hand"] {
        add_body(&mut b, name, SpatialInertia::from_com(1.0, &Vec3::new(0.2, 0.01, 0.0), &I));
    }
    let hinge = |name, x, z| joint(name, JointKind::Revolute, [0.0, 1.0, 0.0], at(x, 0.0, z));
    let elbow = Joint { armature: 0.02, damping: 0.01, ..hinge("elbow", 0.4, 0.0) };
    add_joint(&mut b, "frame", "upper", hinge("shoulder", 0.0, 2.0));
    add_joint(&mut b, "upper", "lower", elbow);
    add_joint(&mut b, "lower", "hand", hinge("wrist", 0.4, 0.0));
    b.couplings = couplings;
    b
}

fn led() -> Vec<CouplingSpec> {
    vec![
        coupling("elbow", Some("shoulder"), -1.5, 0.3),
        coupling("wrist", Some("elbow"), 0.7, -0.2),
    ]
}

/// A walker each of whose shanks follows its thigh, on feet of this law.
fn coupled_walker(law: &str) -> (Model, PlantSpec) {
    let (mut model, mut spec) = walker();
    for leg in 0..4 {
        let index = |part: &str| model.joint_index(&format!("{part}{leg}")).unwrap();
        let (follower, leader) = (index("shank_joint"), index("thigh_joint"));
        let (multiplier, offset) = (0.03, 0.01);
        let c = hardstand_physics::model::Coupling {
            follower,
            leader: Some(leader),
            multiplier,
            offset,
        };
        model.couplings.push(c);
    }
    model.couple(&mut spec.q.joints);
    spec.q.p_WB.z += 0.01;
    set_law(&mut spec, law);
    (model, spec)
}

/// Thighs swing, so that shanks must.
fn swing(plant: &mut Plant, ticks: u32, mut look: impl FnMut(&Plant)) {
    let n = plant.model().joint_count();
    let mut references = vec![Reference::default(); n];
    for _ in 0..ticks {
        let t = plant.state().tick as f64 * 1e-3;
        for (j, r) in references.iter_mut().enumerate() {
            let name = &plant.model().joints[j].name;
            if name.starts_with("shank") {
                continue;
            }
            let target = if name.starts_with("thigh") {
                0.15 * hardstand_physics::math::sin_cos(6.0 * t + j as f64).0
            } else {
                0.0
            };
            *r = Reference { q: target, kp: 150.0, kd: 3.0, ..Reference::default() };
        }
        let failure = plant.step(&references, &OwnerWords::default());
        assert_eq!(failure, None, "tick {}", plant.state().tick);
        look(plant);
    }
}

/// Walks on each law with each integrator for so many ticks; the couplings hold.
fn walk(ticks: u32) {
    for law in LAWS {
        for integrator in METHODS {
            let (model, mut spec) = coupled_walker(law);
            spec.integrator = integrator;
            let weight_n = model.total_mass() * G;
            let mut plant = Plant::new(model, spec);
            let (mut worst, mut effort, mut carried_n) = ((0.0_f64, 0.0_f64), 0.0_f64, 0.0);
            swing(&mut plant, ticks, |plant| {
                let (p, v) = errors(plant);
                worst = (worst.0.max(p), worst.1.max(v));
                effort = effort.max(plant.constraints().effort_on_follower(0).abs());
                let feet: f64 = plant.contacts().forces().map(|f| f.normal_n).sum();
                carried_n += feet / f64::from(ticks);
            });
            println!("{law} {integrator:?}: {worst:?}, {effort} N, {carried_n} of {weight_n} N");
            assert!(worst.0 < 1e-9 && worst.1 < 1e-9, "{law} {integrator:?}: {worst:?}");
            // the shank slides along the leg: it carries what the foot does
            assert!(effort > 0.1 * weight_n, "{law} {integrator:?}: {effort}");
            assert!((carried_n - weight_n).abs() < 0.05 * weight_n, "{law}: {carried_n}");
            assert!(plant.state().q.p_WB.z > 0.15, "{law} {integrator:?}");
        }
    }
}

#[test]
fn followers_follow_on_feet_of_each_law() {
    walk(2000);
}

#[test]
#[ignore = "a minute for each of nine: .ci/nightly"]
fn followers_follow_on_feet_of_each_law_for_a_minute() {
    walk(60_000);
}

/// The acceleration is that of the one joint that the arm has in effect.
#[test]
fn a_coupled_arm_accelerates_as_with_one_joint() {
    let model = arm(led()).build().unwrap();
    let spec = plain_spec(&model);
    let (mut q, mut v) = (spec.q.clone(), spec.v.clone());
    (q.joints[0], v.joints[0]) = (0.4, 1.3);
    model.couple(&mut q.joints);
    let along = [1.0, -1.5, -1.05];
    (0..3).for_each(|j| v.joints[j] = 1.3 * along[j]);
    let tau = [0.5, -0.7, 0.2];
    let mut data = Data::new(&model);
    kinematics(&model, &q, &v, &mut data);
    let mut H = MassMatrix::zero(&model);
    crba(&model, &mut data, &mut H);
    let mut free = Velocities::zero(&model);
    aba(&model, &mut data, &tau, &spec.gravity_W, &mut free);
    let times_H = |x: &[f64]| -> Vec<f64> {
        (0..3).map(|r| (0..3).map(|c| H.at(r, c) * x[c]).sum()).collect()
    };
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let one = dot(&along, &times_H(&free.joints)) / dot(&along, &times_H(&along));

    let mut held = Constraints::new(&model, vec![]).unwrap();
    let mut vdot = Velocities::zero(&model);
    held.accelerate(&model, &mut data, &tau, &spec.gravity_W, &mut vdot);
    for (a, factor) in vdot.joints.iter().zip(along) {
        assert!((a - factor * one).abs() < 1e-11 * one.abs(), "{a} {}", factor * one);
    }
    // the efforts are those that lead to this: H (v̇ − free) = Gᵀ e
    let change: Vec<f64> = vdot.joints.iter().zip(&free.joints).map(|(a, b)| a - b).collect();
    let felt = times_H(&change);
    let e = [0, 1].map(|i| held.effort_on_follower(i));
    let expected = [1.5 * e[0], e[0] - 0.7 * e[1], e[1]];
    for (felt, expected) in felt.iter().zip(expected) {
        assert!((felt - expected).abs() < 1e-10 * e[0].abs(), "{felt} {expected}");
    }
}

#[test]
fn a_coupled_arm_swings_for_a_minute() {
    for integrator in METHODS {
        let model = arm(led()).build().unwrap();
        let mut spec = plain_spec(&model);
        spec.integrator = integrator;
        model.couple(&mut spec.q.joints);
        let mut plant = Plant::new(model, spec);
        let (mut worst, mut moved, mut effort) = ((0.0_f64, 0.0_f64), 0.0_f64, 0.0_f64);
        for _ in 0..60_000 {
            assert_eq!(plant.step(&[], &OwnerWords::default()), None);
            let (p, v) = errors(&plant);
            worst = (worst.0.max(p), worst.1.max(v));
            moved = moved.max(plant.state().q.joints[0].abs());
            effort = effort.max(plant.constraints().effort_on_follower(0).abs());
        }
        println!("{integrator:?}: {worst:?}, moved {moved} rad, {effort} N·m");
        assert!(worst.0 < 1e-9 && worst.1 < 1e-9, "{integrator:?}: {worst:?}");
        assert!(moved > 0.5 && effort > 1.0, "{integrator:?}: {moved} {effort}");
    }
}

/// Without a leader the joint stays at its offset.
#[test]
fn a_follower_without_a_leader_stays() {
    let model = arm(vec![coupling("elbow", None, 1.0, 0.5)]).build().unwrap();
    let mut spec = plain_spec(&model);
    model.couple(&mut spec.q.joints);
    let mut plant = Plant::new(model, spec);
    for _ in 0..1000 {
        assert_eq!(plant.step(&[], &OwnerWords::default()), None);
        assert!((plant.state().q.joints[1] - 0.5).abs() < 1e-12);
    }
    assert!(plant.state().v.joints[2].abs() > TINY);
}

/// A leg on a vertical rail swings its thigh, which its shank follows, on a rigid foot without
/// friction. The foot neither sinks in nor jumps, and carries the weight.
#[test]
fn rigid_contacts_feel_what_is_behind_a_coupling() {
    let mut b = Builder::new("hopper", Base::Fixed);
    let I = Mat3::from_diagonal_element(2e-3);
    for (name, mass) in [("frame", 1.0), ("hip", 5.0), ("thigh", 1.0), ("shank", 0.5)] {
        add_body(&mut b, name, SpatialInertia::from_com(mass, &Vec3::new(0.0, 0.0, -0.1), &I));
    }
    let (slide, turn) = (JointKind::Prismatic, JointKind::Revolute);
    add_joint(&mut b, "frame", "hip", joint("rail", slide, [0.0, 0.0, 1.0], at(0.0, 0.0, 0.5)));
    add_joint(&mut b, "hip", "thigh", joint("thigh", turn, [0.0, 1.0, 0.0], at(0.0, 0.0, 0.0)));
    let shank = joint("shank", slide, [0.0, 0.0, -1.0], at(0.0, 0.0, -0.2));
    add_joint(&mut b, "thigh", "shank", shank);
    b.couplings = vec![coupling("shank", Some("thigh"), 0.1, 0.05)];
    let model = b.build().unwrap();
    let mut spec = plain_spec(&model);
    let body = model.frame("shank").unwrap().body;
    let mut foot = station("foot", body, [0.0, 0.0, -0.1], 0.0);
    (foot.model, foot.friction) = (ContactModel::Rigid, Friction::new(0.0, 0.0));
    spec.stations.push(foot);
    spec.q.joints[0] = -0.15;
    model.couple(&mut spec.q.joints);
    let mut plant = Plant::new(model, spec);
    let (mut deepest_m, mut mean_n, mut moved) = (0.0_f64, 0.0, 0.0_f64);
    for tick in 0..8000 {
        let target = 0.3 * hardstand_physics::math::sin_cos(f64::from(tick) * 4e-3).0;
        let thigh = Reference { q: target, kp: 200.0, kd: 8.0, ..Reference::default() };
        let references = [Reference::default(), thigh, Reference::default()];
        assert_eq!(plant.step(&references, &OwnerWords::default()), None);
        if tick < 1000 {
            continue;
        }
        let foot_W = plant.data().point_W(body, &Vec3::new(0.0, 0.0, -0.1));
        deepest_m = deepest_m.max(foot_W.z.abs());
        mean_n += plant.contacts().forces().map(|f| f.normal_n).sum::<f64>() / 7000.0;
        moved = moved.max(plant.state().q.joints[2] - 0.05);
    }
    println!("{deepest_m} m, {mean_n} N of {}, moved {moved} m", 6.5 * G);
    assert!(deepest_m < 1e-6, "{deepest_m}");
    assert!((mean_n - 6.5 * G).abs() < 0.02 * 6.5 * G, "{mean_n}");
    assert!(moved > 0.02, "{moved}");
}

#[test]
fn a_coupled_robot_has_the_same_bits_on_every_path_and_after_a_restore() {
    for law in LAWS {
        let plant = |path| {
            let (model, spec) = coupled_walker(law);
            let mut plant = Plant::new(model, spec);
            plant.set_path(path);
            plant
        };
        let mut one = plant(ComputePath::Fastest);
        let mut others = [plant(ComputePath::Portable), plant(ComputePath::OneByOne)];
        swing(&mut one, 150, |_| ());
        for other in &mut others {
            swing(other, 150, |_| ());
            assert_eq!(one.state(), other.state(), "{law}");
        }
        let (mut words, mut restored) = (Vec::new(), plant(ComputePath::Fastest));
        one.clone().state_mut().append_words(&mut words);
        restored.state_mut().overwrite(words.into_iter());
        restored.state_mut().digest = one.state().digest;
        restored.wake();
        swing(&mut one, 100, |_| ());
        swing(&mut restored, 100, |_| ());
        assert_eq!(one.state(), restored.state(), "{law}");
    }
}

#[test]
fn couplings_that_cannot_be_are_refused() {
    for (couplings, why) in [
        (vec![coupling("finger", Some("wrist"), 1.0, 0.0)], "unknown joint \"finger\""),
        (vec![coupling("wrist", Some("finger"), 1.0, 0.0)], "unknown joint \"finger\""),
        (vec![coupling("wrist", Some("wrist"), 1.0, 0.0)], "follows itself"),
        (vec![coupling("wrist", Some("elbow"), f64::NAN, 0.0)], "finite"),
        (vec![coupling("wrist", Some("elbow"), 1.0, f64::INFINITY)], "finite"),
        (
            vec![coupling("wrist", Some("elbow"), 1.0, 0.0), coupling("wrist", None, 1.0, 0.0)],
            "follows two",
        ),
        (
            vec![
                coupling("wrist", Some("elbow"), 1.0, 0.0),
                coupling("elbow", Some("shoulder"), 1.0, 0.0),
                coupling("shoulder", Some("wrist"), 1.0, 0.0),
            ],
            "follows itself",
        ),
    ] {
        let error = arm(couplings).build().unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
}
