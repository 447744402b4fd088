//! Constraints of a plant: points that are held on planes, switched on and off.

use hardstand_physics::model::{Base, Builder, JointKind, Model};
use hardstand_physics::plant::{ConstraintSpec, Integrator, OwnerWords, Plant, PlantSpec};
use hardstand_physics::spatial::{Mat3, SpatialInertia, Vec3};

use super::common::robots::{G, LAWS, add_body, add_joint, at, joint, plain_spec, set_law, walker};

const METHODS: [Integrator; 3] =
    [Integrator::SemiImplicitEuler, Integrator::Rk4, Integrator::LinearlyImplicit];

fn held(name: &str, body: usize, p_BF: [f64; 3], active: bool) -> ConstraintSpec {
    ConstraintSpec {
        name: name.into(),
        body,
        p_BF: p_BF.into(),
        plane_body: None,
        R_SP: Mat3::identity(),
        slides: false,
        active,
    }
}

fn run(plant: &mut Plant, ticks: u32) {
    for _ in 0..ticks {
        assert_eq!(plant.step(&[], &OwnerWords::default()), None, "tick {}", plant.state().tick);
    }
}

/// Largest error of the positions, m, and of the velocities, m/s.
fn errors(plant: &Plant) -> (f64, f64) {
    let all = plant.constraints().points().iter();
    all.fold((0.0, 0.0), |(p, v), point| {
        let (data, norm) = (plant.data(), |v: Vec3| v.norm());
        let (dp, dv) = (point.position_error(data).abs(), norm(point.velocity_errors(data)));
        (f64::max(p, dp), f64::max(v, dv))
    })
}

/// A free body of 2 kg that hangs at a corner.
fn pendulum(active: bool) -> (Model, PlantSpec) {
    let mut b = Builder::new("pendulum", Base::Floating);
    let I = Mat3::from_diagonal(&Vec3::new(0.02, 0.03, 0.04));
    add_body(&mut b, "bob", SpatialInertia::from_com(2.0, &Vec3::zeros(), &I));
    let model = b.build().unwrap();
    let mut spec = plain_spec(&model);
    spec.q.p_WB.z = 3.0;
    spec.constraints.push(held("hook", 0, [0.3, 0.0, 0.4], active));
    (model, spec)
}

#[test]
fn a_body_hangs_at_a_point_for_a_minute() {
    for integrator in METHODS {
        let (model, mut spec) = pendulum(true);
        spec.integrator = integrator;
        let mut plant = Plant::new(model, spec);
        let energy = |plant: &Plant| {
            let (v, body) = (plant.data().V[0], plant.model().bodies[0].inertia);
            body.kinetic_energy(&v) + 2.0 * G * plant.state().q.p_WB.z
        };
        let start = energy(&plant);
        let (mut worst, mut hung) = ((0.0_f64, 0.0_f64), 0.0_f64);
        for _ in 0..60_000 {
            run(&mut plant, 1);
            let (p, v) = errors(&plant);
            worst = (worst.0.max(p), worst.1.max(v));
            hung = hung.max(plant.constraints().force_on_follower_P(0).norm());
        }
        println!("{integrator:?}: {worst:?}, {hung} N, {} J", energy(&plant) - start);
        assert!(worst.0 < 1e-9 && worst.1 < 1e-9, "{integrator:?}: {worst:?}");
        // it swings from the side to below: more than its weight
        assert!(hung > 1.3 * 2.0 * G, "{integrator:?}: {hung}");
        // long implicit steps do not keep the angular momentum of a free body
        let gains_j = if integrator == Integrator::LinearlyImplicit { 0.5 } else { 0.05 };
        assert!(energy(&plant) < start + gains_j, "{integrator:?}");
        // in the plane nothing holds the place but that it is at rest there
        let hook = plant.constraints().points()[0].p_WF(plant.data());
        assert!((hook - Vec3::new(0.3, 0.0, 3.4)).norm() < 1e-7, "{integrator:?}: {hook}");
    }
}

/// Hung at a point that slides along a rail, a body swings below; nothing pushes it along the rail.
#[test]
fn a_body_on_a_rail_slides_for_a_minute() {
    for integrator in METHODS {
        let (model, mut spec) = pendulum(true);
        spec.integrator = integrator;
        // the rail along x is where two planes meet
        let across = Mat3::from_columns(&[Vec3::z(), Vec3::x(), Vec3::y()]);
        spec.constraints[0].slides = true;
        let side =
            ConstraintSpec { name: "side".into(), R_SP: across, ..spec.constraints[0].clone() };
        spec.constraints.push(side);
        spec.v.v_WB.x = 0.1;
        let mut plant = Plant::new(model, spec);
        let (mut height_m, mut rate, mut least_x) = (0.0_f64, 0.0_f64, f64::MAX);
        for _ in 0..60_000 {
            run(&mut plant, 1);
            for point in plant.constraints().points() {
                height_m = height_m.max(point.position_error(plant.data()).abs());
                rate = rate.max(point.velocity_errors(plant.data()).z.abs());
            }
            least_x = least_x.min(plant.constraints().points()[0].p_WF(plant.data()).x);
        }
        let along = plant.state().v.v_WB.x;
        println!("{integrator:?}: {height_m} m, {rate} m/s, from {least_x} m, {along} m/s");
        assert!(height_m < 1e-9 && rate < 1e-9, "{integrator:?}: {height_m} {rate}");
        assert!((along - 0.1).abs() < 1e-9, "{integrator:?}: {along}");
        assert!((plant.state().q.p_WB.x - 6.0).abs() < 1e-6, "{integrator:?}");
        assert_eq!(plant.constraints().force_on_follower_P(0).x, 0.0);
        // the point swings to and fro about the centre of mass
        assert!(least_x < 0.3 - 0.1, "{integrator:?}: {least_x}");
    }
}

/// A foot that is pinned by three planes stands on the ground with its contacts besides.
#[test]
fn a_pinned_foot_stays() {
    pinned(3000);
}

#[test]
#[ignore = "minutes: .ci/nightly"]
fn a_pinned_foot_stays_for_a_minute() {
    pinned(60_000);
}

fn pinned(ticks: u32) {
    for (integrator, law) in METHODS.into_iter().flat_map(|m| LAWS.map(|law| (m, law))) {
        let (model, mut spec) = walker();
        spec.integrator = integrator;
        let body = model.frame("shank0").unwrap().body;
        for (k, R_SP) in axes().into_iter().enumerate() {
            let mut c = held(&format!("pin{k}"), body, [0.02, 0.0, -0.1], true);
            c.R_SP = R_SP;
            spec.constraints.push(c);
        }
        set_law(&mut spec, law);
        let weight_n = model.total_mass() * G;
        let mut plant = Plant::new(model, spec);
        let pin = plant.constraints().points()[0].p_WF(plant.data());
        let (mut worst, mut carried_n, mut most_n) = ((0.0_f64, 0.0_f64), 0.0, 0.0_f64);
        for _ in 0..ticks {
            run(&mut plant, 1);
            let (p, v) = errors(&plant);
            worst = (worst.0.max(p), worst.1.max(v));
            let feet: f64 = plant.contacts().forces().map(|f| f.normal_n).sum();
            most_n = most_n.max(feet);
            let pulled: f64 =
                (0..3).map(|i| plant.constraints().force_on_follower_W(i, plant.data()).z).sum();
            carried_n += (pulled + feet) / f64::from(ticks);
        }
        let moved = (plant.constraints().points()[0].p_WF(plant.data()) - pin).norm();
        println!("{integrator:?} {law}: {worst:?} {moved} m, {carried_n} {most_n} N");
        assert!(worst.0 < 1e-9 && worst.1 < 1e-9, "{integrator:?} {law}: {worst:?}");
        assert!(moved < 1e-9, "{integrator:?} {law}: {moved}");
        assert!((carried_n - weight_n).abs() < 0.05 * weight_n, "{carried_n} of {weight_n}");
        assert!(most_n < 200.0 * weight_n, "{integrator:?} {law}: {most_n}");
    }
}

/// Axes of three planes with different normals.
fn axes() -> [Mat3; 3] {
    [
        Mat3::identity(),
        Mat3::from_columns(&[Vec3::y(), Vec3::z(), Vec3::x()]),
        Mat3::from_columns(&[Vec3::z(), Vec3::x(), Vec3::y()]),
    ]
}

#[test]
fn a_constraint_that_begins_stops_what_moves_against_it_and_lets_go_again() {
    let (model, spec) = pendulum(false);
    let mut plant = Plant::new(model, spec);
    run(&mut plant, 200);
    let falling = plant.state().v.v_WB;
    assert!((falling.z + 0.2 * G).abs() < 1e-9);
    assert!(!plant.set_constraint(1, true));
    assert!(plant.set_constraint(0, true));
    let (p, v) = errors(&plant);
    assert!(p < 1e-12 && v < 1e-12, "{p} {v}");
    // the impulse is vertical and at the hook, so the angular momentum about it stays
    let about_hook = plant.state().v.w_WB.y * (0.03 + 2.0 * (0.3 * 0.3 + 0.4 * 0.4));
    assert!((about_hook - 2.0 * 0.3 * falling.z).abs() < 1e-9, "{about_hook}");
    run(&mut plant, 500);
    assert!(errors(&plant).0 < 1e-9);
    assert!(plant.set_constraint(0, false));
    let before = plant.state().v.v_WB.z;
    run(&mut plant, 100);
    assert!((plant.state().v.v_WB.z - before + 0.1 * G).abs() < 1e-9);
}

/// A four-bar linkage: a chain of two links whose end is held at a third link by three planes.
#[test]
fn a_closed_linkage_stays_closed() {
    linkage(10_000);
}

#[test]
#[ignore = "a minute for each integrator: .ci/nightly"]
fn a_closed_linkage_stays_closed_for_a_minute() {
    linkage(60_000);
}

fn linkage(ticks: u32) {
    for integrator in METHODS {
        let mut b = Builder::new("linkage", Base::Fixed);
        let I = Mat3::from_diagonal_element(0.01);
        for name in ["frame", "crank", "coupler", "rocker"] {
            add_body(&mut b, name, SpatialInertia::from_com(1.0, &Vec3::new(0.1, 0.0, 0.0), &I));
        }
        let hinge = |name, x, z| joint(name, JointKind::Revolute, [0.0, 1.0, 0.0], at(x, 0.0, z));
        add_joint(&mut b, "frame", "crank", hinge("a", 0.0, 2.0));
        add_joint(&mut b, "crank", "coupler", hinge("b", 0.2, 0.0));
        add_joint(&mut b, "frame", "rocker", hinge("c", 0.5, 2.0));
        let model = b.build().unwrap();
        let mut spec = plain_spec(&model);
        spec.integrator = integrator;
        for (name, q) in [("a", 0.3), ("b", 0.8), ("c", -2.0)] {
            spec.q.joints[model.joint_index(name).unwrap()] = q;
        }
        let body = |name: &str| model.bodies.iter().position(|b| b.name == name).unwrap();
        let (coupler, rocker) = (body("coupler"), body("rocker"));
        for (k, R_SP) in axes().into_iter().enumerate() {
            let mut c = held(&format!("close{k}"), coupler, [0.2, 0.0, 0.0], true);
            (c.plane_body, c.R_SP) = (Some(rocker), R_SP);
            spec.constraints.push(c);
        }
        let mut plant = Plant::new(model, spec);
        let mut worst = (0.0_f64, 0.0_f64);
        let start = plant.state().q.joints.clone();
        let mut moved = 0.0_f64;
        for _ in 0..ticks {
            run(&mut plant, 1);
            let (p, v) = errors(&plant);
            worst = (worst.0.max(p), worst.1.max(v));
            let way = plant.state().q.joints.iter().zip(&start).map(|(a, b)| (a - b).abs());
            moved = way.fold(moved, f64::max);
        }
        println!("{integrator:?}: {worst:?}, moved {moved} rad");
        assert!(worst.0 < 1e-9 && worst.1 < 1e-9, "{integrator:?}: {worst:?}");
        assert!(moved > 0.05, "{integrator:?}: {moved}");
    }
}

#[test]
fn contacts_and_constraints_act_together() {
    hung_on_its_feet(3000);
}

#[test]
#[ignore = "minutes: .ci/nightly"]
fn contacts_and_constraints_act_together_for_a_minute() {
    hung_on_its_feet(60_000);
}

/// The walker is hung at its trunk, its feet on the ground.
fn hung_on_its_feet(ticks: u32) {
    for (integrator, law) in METHODS.into_iter().flat_map(|m| LAWS.map(|law| (m, law))) {
        let (model, mut spec) = walker();
        spec.integrator = integrator;
        spec.constraints.push(held("gantry", 0, [0.0, 0.0, 0.1], true));
        set_law(&mut spec, law);
        let weight_n = model.total_mass() * G;
        let mut plant = Plant::new(model, spec);
        let height_m = plant.state().q.p_WB.z;
        let (mut worst, mut carried) = ((0.0_f64, 0.0_f64), 0.0);
        for _ in 0..ticks {
            run(&mut plant, 1);
            let (p, v) = errors(&plant);
            worst = (worst.0.max(p), worst.1.max(v));
            let feet: f64 = plant.contacts().forces().map(|f| f.normal_n).sum();
            carried += (plant.constraints().force_on_follower_P(0).z + feet) / f64::from(ticks);
        }
        println!("{integrator:?} {law}: {worst:?} {carried} of {weight_n}");
        assert!(worst.0 < 1e-9 && worst.1 < 1e-9, "{worst:?}");
        assert!((plant.state().q.p_WB.z - height_m).abs() < 0.2);
        assert!((carried - weight_n).abs() < 0.05 * weight_n, "{carried} {weight_n}");
    }
}

#[test]
fn a_restored_constraint_continues_with_the_same_bits() {
    use hardstand_physics::plant::Walk;
    let plant = || {
        let (model, mut spec) = walker();
        spec.constraints.push(held("gantry", 0, [0.0, 0.0, 0.1], false));
        Plant::new(model, spec)
    };
    let mut one = plant();
    run(&mut one, 50);
    assert!(one.set_constraint(0, true));
    run(&mut one, 50);
    let (mut words, mut other) = (Vec::new(), plant());
    one.clone().state_mut().append_words(&mut words);
    other.state_mut().overwrite(words.into_iter());
    other.state_mut().digest = one.state().digest;
    other.wake();
    for _ in 0..100 {
        run(&mut one, 1);
        run(&mut other, 1);
    }
    assert_eq!(one.state(), other.state());
    assert_eq!(one.constraints().multipliers(), other.constraints().multipliers());
}
