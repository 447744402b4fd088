//! One step against formulas that are written down here once more, and slopes against differences.

use crate::common::AT_ONCE;
use hardstand::simulation::Simulation;
use hardstand_physics::contact::{
    ContactMaterial, ContactPlane, ExponentialSpring, Friction, HertzPair, HuntCrossley, Memory,
    Overlap, SpringParameters, Stiction,
};
use hardstand_physics::dynamics::{Positions, Velocities};
use hardstand_physics::model::{Base, Builder, JointKind};
use hardstand_physics::plant::Integrator;
use hardstand_physics::spatial::{
    Mat3, Quaternion, SpatialInertia, Transform, Vec3, rotation, skew,
};
use hardstand_protocol::{Command, JointCommand, TickInput};
use nalgebra::{Matrix6, Vector6};

use crate::common::golden::run::{Scene, simulation};
use crate::common::golden::spring::free_body;
use crate::common::robots::{add_body, add_joint, at, joint, plain_spec};

/// Length of a step of the lift, s.
const LIFT_H_S: f64 = 2e-3;

/// A motor lifts 2 kg.
fn lift(effort_max: f64, damping: f64) -> Simulation {
    let mut b = Builder::new("lift", Base::Fixed);
    let inertia = SpatialInertia::from_com(2.0, &Vec3::zeros(), &Mat3::identity());
    add_body(&mut b, "base", inertia);
    add_body(&mut b, "load", inertia);
    let mut slide = joint("slide", JointKind::Prismatic, [0.0, 0.0, 1.0], at(0.0, 0.0, 1.0));
    (slide.effort_max, slide.damping, slide.armature) = (effort_max, damping, 0.5);
    add_joint(&mut b, "base", "load", slide);
    let model = b.build().unwrap();
    let mut spec = plain_spec(&model);
    (spec.period_ns, spec.micro_steps) = ((1e9 * LIFT_H_S) as u64, 1);
    spec.integrator = Integrator::LinearlyImplicit;
    (spec.q.joints[0], spec.v.joints[0]) = (0.1, -0.7);
    Simulation::new(model, spec, AT_ONCE)
}

#[test]
fn a_drive_with_damping_makes_one_step_as_the_formula_says() {
    let (kp, kd, damping) = (8000.0, 50.0, 3.0);
    for (effort_max, limited) in [(1e6, false), (40.0, true)] {
        let mut simulation = lift(effort_max, damping);
        let (q, v) = (0.1, -0.7);
        let joints = vec![JointCommand { q: 0.12, kp, kd, ..Default::default() }];
        let mut input = TickInput::new();
        input.candidates.push(Box::new(Command {
            run_id: 1,
            session: 1,
            seq: 1,
            answers_tick: 0,
            applies_tick: 0,
            joints,
        }));
        simulation.step(&input);
        let motor = kp * (0.12 - q) - kd * v;
        assert_eq!(motor > effort_max, limited, "{motor} N");
        let (k, d) = if limited { (0.0, damping) } else { (kp, kd + damping) };
        let f = motor.min(effort_max) - damping * v - 2.0 * 9.81;
        let a =
            (f - 0.5 * LIFT_H_S * k * v) / (2.5 + LIFT_H_S * d + 0.25 * LIFT_H_S * LIFT_H_S * k);
        let (found_q, found_v) = (simulation.state().q.joints[0], simulation.state().v.joints[0]);
        let mean = v + 0.5 * LIFT_H_S * a;
        assert!(
            (found_v - (v + LIFT_H_S * a)).abs() < 1e-13,
            "{found_v} instead of {}",
            v + LIFT_H_S * a
        );
        assert!((found_q - (q + LIFT_H_S * mean)).abs() < 1e-13, "{found_q} with {effort_max} N");
    }
}

/// A body that turns and moves while a point of it sticks to a tilted plane.
fn sticking(parameters: SpringParameters, p_BS: Vec3) -> Scene {
    let axis = Vec3::new(0.4, -0.2, 1.0).normalize();
    let X_WP = Transform::new(rotation(&axis, 0.6), Vec3::zeros());
    let quat_WB = Quaternion::from_rotation_vector(&Vec3::new(0.3, 0.8, -0.5));
    // the station is 1 mm above the plane's origin
    let point_W = X_WP.R * Vec3::new(0.0, 0.0, 0.001);
    let p_WB = point_W - quat_WB.to_matrix() * p_BS;
    Scene {
        gravity_W: Vec3::new(1.0, -2.0, -9.0),
        planes: vec![ContactPlane { X_WP }],
        stations: vec![(0, p_BS)],
        parameters,
        mu: [50.0, 50.0],
        q: Positions { quat_WB, p_WB, joints: vec![] },
        v: Velocities {
            w_WB: Vec3::new(3.0, -2.0, 4.0),
            v_WB: Vec3::new(0.02, 0.03, -0.04),
            joints: vec![],
        },
    }
}

#[test]
fn a_contact_makes_one_step_as_the_formula_says() {
    let (mass, I_B) = (3.0, Mat3::from_diagonal(&Vec3::new(0.02, 0.03, 0.04)));
    let (p_BS, h) = (Vec3::new(0.1, -0.05, -0.08), 1e-4);
    let holding = SpringParameters { stiction: Stiction::Holding, ..Default::default() };
    let scene = sticking(holding, p_BS);
    let model = free_body(SpatialInertia::from_com(mass, &Vec3::zeros(), &I_B));
    let before = simulation(model.clone(), &scene, h);
    let mut spec = before.spec().clone();
    spec.integrator = Integrator::LinearlyImplicit;
    let mut simulation = Simulation::new(model, spec, AT_ONCE);
    let at = &simulation.contacts().evaluated()[0];
    let (f, v_C, R_WC) = (at.force, at.v_C, at.touch.R_WC);
    assert!(f.normal_n > 1.0 && f.friction_P().norm() < 0.9 * f.friction_limit_n, "{f:?}");

    // in the plane's axes; the exponent of e changes by less than would be taken in halves
    let p = &holding;
    assert!(p.d2_per_m * v_C.z.abs() * h < 0.2, "it strikes at {} m/s", v_C.z);
    let (kn, dn) = (p.d2_per_m * f.normal_n, p.cz_s_per_m * f.normal_elastic_n);
    let k = Vec3::new(p.kxy_n_per_m, p.kxy_n_per_m, kn);
    let given =
        Vec3::new(h * p.cxy_n_s_per_m, h * p.cxy_n_s_per_m, 0.5 * h * dn) + k * (h * h / 4.0);
    let f_W = R_WC * (f.force_P() - Vec3::from_fn(|i| v_C[i] * k[i]) * (0.5 * h));
    let B_W = R_WC * Mat3::from_diagonal(&given) * R_WC.transpose();

    // M a = f, of the body's origin, with a_p = a + α × r + ω × (ω × r) in the force
    let R_WB = scene.q.quat_WB.to_matrix();
    let (r, w, I_W) = (R_WB * p_BS, scene.v.w_WB, R_WB * I_B * R_WB.transpose());
    let f_W = f_W - B_W * w.cross(&w.cross(&r));
    let torque = r.cross(&f_W) - w.cross(&(I_W * w));
    let force = f_W + scene.gravity_W * mass;
    let S = skew(&r);
    let (across, down) = (S * B_W, B_W * S);
    let (angular, linear) = (I_W - across * S, Mat3::identity() * mass + B_W);
    let M = Matrix6::from_fn(|r, c| match (r < 3, c < 3) {
        (true, true) => angular[(r, c)],
        (true, false) => across[(r, c - 3)],
        (false, true) => -down[(r - 3, c)],
        (false, false) => linear[(r - 3, c - 3)],
    });
    let right = Vector6::new(torque.x, torque.y, torque.z, force.x, force.y, force.z);
    let a = M.lu().solve(&right).unwrap();

    simulation.step(&TickInput::new());
    let v = &simulation.state().v;
    for i in 0..3 {
        let (alpha, linear) = ((v.w_WB - w)[i] / h, (v.v_WB - scene.v.v_WB)[i] / h);
        assert!((alpha - a[i]).abs() < 1e-9 * a.norm(), "α {alpha} instead of {}", a[i]);
        assert!((linear - a[i + 3]).abs() < 1e-9 * a.norm(), "a {linear} instead of {}", a[i + 3]);
    }
}

/// `(f(x − s) − f(x + s)) / 2s`: what `f` loses per unit.
fn loss(s: f64, f: impl Fn(f64) -> f64) -> f64 {
    (f(-s) - f(s)) / (2.0 * s)
}

fn assert_close(what: &str, found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-5 * expected, "{what}: {found} instead of {expected}");
    assert!(expected > 0.0, "{what} is {expected}");
}

#[test]
fn a_springs_slopes_are_its_differences() {
    for stiction in [Stiction::Holding, Stiction::Simbody] {
        let soft = SpringParameters { stiction, ..Default::default() };
        let spring = ExponentialSpring::new(soft).unwrap();
        let memory = Memory { anchor_P: [0.0; 2], sliding: 0.0, committed_ns: Some(0) };
        let (p, v) = (Vec3::new(0.001, 0.0, -0.003), Vec3::new(0.004, 0.0, -0.3));
        let force = |dp: Vec3, dv: Vec3| {
            let friction = Friction::new(100.0, 100.0);
            spring.evaluate(&friction, &memory, &(p + dp), &(v + dv), 1e-4)
        };
        let slopes = spring.slopes(&force(Vec3::zeros(), Vec3::zeros()));
        let (x, z, none) = (Vec3::x(), Vec3::z(), Vec3::zeros());
        let normal = |dp, dv| force(dp, dv).normal_n;
        let across = |dp, dv| force(dp, dv).friction_P().x;
        let name = |what: &str| format!("{stiction:?}, {what}");
        let found = loss(1e-7, |s| normal(z * s, none));
        assert_close(&name("normal stiffness"), slopes.normal_n_per_m, found);
        let found = loss(1e-6, |s| normal(none, z * s));
        assert_close(&name("normal damping"), slopes.normal_n_s_per_m, found);
        let found = loss(1e-7, |s| across(x * s, none));
        assert_close(&name("friction's stiffness"), slopes.friction_n_per_m, found);
        let found = loss(1e-6, |s| across(none, x * s));
        assert_close(&name("friction's damping"), slopes.friction_n_s_per_m, found);
    }
}

#[test]
fn a_spring_at_a_limit_does_not_give_way() {
    let spring = ExponentialSpring::new(SpringParameters::default()).unwrap();
    let friction = Friction::new(0.7, 0.5);
    let slopes = |z: f64, v_z: f64| {
        let (p, v) = (Vec3::new(0.0, 0.0, z), Vec3::new(1.0, 0.0, v_z));
        spring.slopes(&spring.evaluate(&friction, &spring.new_memory(), &p, &v, 1e-4))
    };
    // it lifts faster than damping allows a force; it is pressed to the greatest force
    for (z, v_z) in [(-0.001, 50.0), (-0.1, 0.0)] {
        let s = slopes(z, v_z);
        assert_eq!((s.normal_n_per_m, s.normal_n_s_per_m), (0.0, 0.0), "{z} m, {v_z} m/s");
    }
    // a foot that slides at 1 m/s has much less than the damping of one that sticks
    let s = slopes(0.004, 0.0);
    let cxy = spring.parameters().cxy_n_s_per_m;
    assert!(s.friction_n_s_per_m > 0.0 && s.friction_n_s_per_m < 0.1 * cxy, "{s:?}");
}

#[test]
fn hertz_slopes_are_differences() {
    let rubber = ContactMaterial::new(1e6, 0.5, 0.8, 0.6, 0.0).unwrap();
    let pair = HertzPair::new(&rubber, &rubber).unwrap();
    let law = HuntCrossley::new(pair, 0.01).unwrap();
    let friction = Friction::new(0.7, 0.5);
    let force = |depth_m: f64, v_z: f64| {
        let center = 0.02 - depth_m;
        let point = Vec3::new(0.0, 0.0, center);
        let overlap = Overlap::sphere_at_distance(center, &Vec3::z(), &point, 0.02).unwrap();
        law.evaluate(&friction, &overlap, &Vec3::new(0.0, 0.0, -v_z))
    };
    let (depth_m, v_z) = (0.001, -0.1);
    let slopes = law.slopes(&force(depth_m, v_z), depth_m);
    let found = loss(1e-8, |s| force(depth_m - s, v_z).normal_n);
    assert_close("stiffness", slopes.normal_n_per_m, found);
    let found = loss(1e-6, |s| force(depth_m, v_z + s).normal_n);
    assert_close("damping", slopes.normal_n_s_per_m, found);
}
