//! Worked examples and closed forms.
#![allow(clippy::disallowed_methods, reason = "std's functions are an independent reference")]

use crate::common::robots::{add_body, add_joint, at, joint};
use hardstand_physics::dynamics::{
    Data, MassMatrix, Positions, Rk4, Velocities, aba, articulated_inertias, crba, kinematics,
};
use hardstand_physics::model::{Base, Builder, JointKind, Model};
use hardstand_physics::spatial::{Mat3, Quaternion, SpatialInertia, Transform, Vec3};

fn rod(mass: f64, c: [f64; 3], I: [f64; 3]) -> SpatialInertia {
    SpatialInertia::from_com(mass, &Vec3::from(c), &Mat3::from_diagonal(&Vec3::from(I)))
}

fn accelerate(model: &Model, q: &Positions, v: &Velocities, tau: &[f64], g: &Vec3) -> Velocities {
    let (mut data, mut vdot) = (Data::new(model), Velocities::zero(model));
    kinematics(model, q, v, &mut data);
    aba(model, &mut data, tau, g, &mut vdot);
    vdot
}

/// Featherstone (2008), example 7.1: a box with a cylinder in it that turns about x and slides
/// along y. What the box feels of the cylinder lacks exactly the two freed directions.
#[test]
fn a_box_feels_nothing_of_the_directions_a_joint_frees() {
    let (m, I) = (2.0, [0.3, 0.5, 0.7]);
    let mut b = Builder::new("box and cylinder", Base::Floating);
    add_body(&mut b, "box", SpatialInertia::zero());
    add_body(&mut b, "slider", SpatialInertia::zero());
    add_body(&mut b, "cylinder", rod(m, [0.0; 3], I));
    let slide = joint("slide", JointKind::Prismatic, [0.0, 1.0, 0.0], Transform::identity());
    let turn = joint("turn", JointKind::Revolute, [1.0, 0.0, 0.0], Transform::identity());
    add_joint(&mut b, "box", "slider", slide);
    add_joint(&mut b, "slider", "cylinder", turn);
    let model = b.build().unwrap();
    let mut data = Data::new(&model);
    kinematics(&model, &Positions::zero(&model), &Velocities::zero(&model), &mut data);
    articulated_inertias(&model, &mut data);
    let felt = &data.I_A[0];
    let diagonal = |a, b, c| Mat3::from_diagonal(&Vec3::new(a, b, c));
    let (felt_I, felt_H, felt_M) =
        (Mat3::from(felt.I.full()), Mat3::from(felt.H), Mat3::from(felt.M.full()));
    assert!((felt_I - diagonal(0.0, I[1], I[2])).amax() < 1e-15, "{}", felt_I);
    assert!((felt_M - diagonal(m, 0.0, m)).amax() < 1e-15, "{}", felt_M);
    assert!(felt_H.amax() < 1e-15);
    // with the box's own inertia added: pushed along y it moves alone, along x with the cylinder
    let mut with_box = model.clone();
    with_box.bodies[0].inertia = rod(5.0, [0.0; 3], [1.0, 1.0, 1.0]);
    for (axis, mass) in [(Vec3::x(), 7.0), (Vec3::y(), 5.0), (Vec3::z(), 7.0)] {
        let (q, v) = (Positions::zero(&with_box), Velocities::zero(&with_box));
        let (mut data, mut vdot) = (Data::new(&with_box), Velocities::zero(&with_box));
        kinematics(&with_box, &q, &v, &mut data);
        data.apply_force(0, &(axis * 35.0), &Vec3::zeros());
        aba(&with_box, &mut data, &[0.0; 2], &Vec3::zeros(), &mut vdot);
        assert!((vdot.v_WB - axis * (35.0 / mass)).norm() < 1e-14);
    }
}

/// Planar double pendulum, angles from the hanging position, the second relative to the first:
/// Lagrange's equations as in Spong, *Robot Modeling and Control*, 2-link arm.
#[test]
fn double_pendulum_has_the_textbook_equations() {
    let (m1, m2, l1, c1, c2, I1, I2) = (1.2, 0.8, 0.5, 0.2, 0.3, 0.03, 0.02);
    let g = 9.81;
    let mut b = Builder::new("pendulum", Base::Fixed);
    add_body(&mut b, "base", SpatialInertia::zero());
    add_body(&mut b, "upper", rod(m1, [0.0, 0.0, -c1], [9.0, I1, 9.0]));
    add_body(&mut b, "lower", rod(m2, [0.0, 0.0, -c2], [9.0, I2, 9.0]));
    // about −y, so that positive angles swing towards +x with z up
    let axis = [0.0, -1.0, 0.0];
    let hinge = |name: &str, X| joint(name, JointKind::Revolute, axis, X);
    add_joint(&mut b, "base", "upper", hinge("j1", Transform::identity()));
    add_joint(&mut b, "upper", "lower", hinge("j2", at(0.0, 0.0, -l1)));
    let model = b.build().unwrap();
    for k in 0..50 {
        let k = f64::from(k);
        let (q1, q2, w1, w2) =
            ((0.37 * k).sin() * 3.0, (0.91 * k).cos() * 3.0, 4.0 - 0.2 * k, 0.3 * k - 5.0);
        let (t1, t2) = (0.5 * k - 10.0, 3.0 - 0.3 * k);
        let (q, v) = (
            Positions { joints: vec![q1, q2], ..Positions::zero(&model) },
            Velocities { joints: vec![w1, w2], ..Velocities::zero(&model) },
        );
        let vdot = accelerate(&model, &q, &v, &[t1, t2], &Vec3::new(0.0, 0.0, -g));
        let h11 = m1 * c1 * c1 + m2 * (l1 * l1 + c2 * c2 + 2.0 * l1 * c2 * q2.cos()) + I1 + I2;
        let h12 = m2 * (c2 * c2 + l1 * c2 * q2.cos()) + I2;
        let h22 = m2 * c2 * c2 + I2;
        let s = m2 * l1 * c2 * q2.sin();
        let g2 = m2 * g * c2 * (q1 + q2).sin();
        let g1 = (m1 * c1 + m2 * l1) * g * q1.sin() + g2;
        let (r1, r2) = (t1 + s * (2.0 * w1 * w2 + w2 * w2) - g1, t2 - s * w1 * w1 - g2);
        let det = h11 * h22 - h12 * h12;
        let (a1, a2) = ((h22 * r1 - h12 * r2) / det, (h11 * r2 - h12 * r1) / det);
        let scale = 1.0 + a1.abs() + a2.abs();
        assert!((vdot.joints[0] - a1).abs() < 1e-12 * scale, "{} for {a1}", vdot.joints[0]);
        assert!((vdot.joints[1] - a2).abs() < 1e-12 * scale, "{} for {a2}", vdot.joints[1]);
    }
}

/// Euler's equations of a free rigid body: `I ω̇ = −ω × I ω`, in the body.
#[test]
fn a_free_body_obeys_eulers_equations() {
    let I = Vec3::new(0.2, 0.5, 0.6);
    let mut b = Builder::new("body", Base::Floating);
    add_body(&mut b, "body", rod(3.0, [0.0; 3], I.into()));
    let model = b.build().unwrap();
    let quat = Quaternion::from_rpy(0.4, -0.3, 1.2);
    let R = quat.to_matrix();
    let w_B = Vec3::new(1.0, -2.0, 0.7);
    let q = Positions { quat_WB: quat, ..Positions::zero(&model) };
    let v = Velocities { w_WB: R * w_B, ..Velocities::zero(&model) };
    let vdot = accelerate(&model, &q, &v, &[], &Vec3::zeros());
    let expected = {
        let torque = -w_B.cross(&Vec3::from_fn(|i| I[i] * w_B[i]));
        Vec3::from_fn(|i| torque[i] / I[i])
    };
    // the rate in the world and in the body are the same vector, since ω × ω = 0
    assert!((R.transpose() * vdot.w_WB - expected).norm() < 1e-14);
}

/// A torque-free symmetric top: its axis circles the angular momentum at `L / I₁`.
#[test]
fn a_symmetric_top_precesses_at_its_rate() {
    let (I1, I3) = (0.4, 0.7);
    let mut b = Builder::new("top", Base::Floating);
    add_body(&mut b, "top", rod(1.0, [0.0; 3], [I1, I1, I3]));
    let model = b.build().unwrap();
    let w = Vec3::new(0.6, 0.0, 5.0);
    let L = Vec3::new(I1 * w.x, 0.0, I3 * w.z);
    let (mut q, mut v) =
        (Positions::zero(&model), Velocities { w_WB: w, ..Velocities::zero(&model) });
    let (mut rk4, mut data) = (Rk4::new(&model), Data::new(&model));
    let rate = L.norm() / I1;
    // one full turn of the axis about L
    let steps = 4000;
    let h = 2.0 * std::f64::consts::PI / rate / f64::from(steps);
    let half = steps / 2;
    let mut opposite = Vec3::zeros();
    for k in 0..steps {
        rk4.step(Base::Floating, &mut q, &mut v, h, |_, q, v, vdot| {
            kinematics(&model, q, v, &mut data);
            aba(&model, &mut data, &[], &Vec3::zeros(), vdot);
        });
        if k + 1 == half {
            opposite = q.quat_WB.to_matrix() * Vec3::z();
        }
    }
    let axis = q.quat_WB.to_matrix() * Vec3::z();
    assert!((axis - Vec3::z()).norm() < 1e-9, "back after a period: {axis}");
    let l = L.normalize();
    let mirrored = l * (2.0 * l.z) - Vec3::z();
    assert!((opposite - mirrored).norm() < 1e-9, "on the other side after half of it");
}

#[test]
fn a_falling_mass_is_slowed_by_its_rotor() {
    let mut b = Builder::new("lift", Base::Fixed);
    add_body(&mut b, "shaft", SpatialInertia::zero());
    add_body(&mut b, "cabin", rod(3.0, [0.1, 0.0, 0.0], [1.0; 3]));
    let mut j = joint("lift", JointKind::Prismatic, [0.0, 0.0, 1.0], Transform::identity());
    j.armature = 2.0;
    add_joint(&mut b, "shaft", "cabin", j);
    let model = b.build().unwrap();
    let (q, v) = (Positions::zero(&model), Velocities::zero(&model));
    let vdot = accelerate(&model, &q, &v, &[1.0], &Vec3::new(0.0, 0.0, -10.0));
    // (m + a) z̈ = τ − m g
    assert!((vdot.joints[0] - (1.0 - 30.0) / 5.0).abs() < 1e-14);
    let mut data = Data::new(&model);
    kinematics(&model, &q, &v, &mut data);
    let mut H = MassMatrix::zero(&model);
    crba(&model, &mut data, &mut H);
    assert_eq!(H.at(0, 0), 5.0);
}

#[test]
fn a_reaction_wheel_turns_its_carrier_the_other_way() {
    let (I, J) = (2.0, 0.1);
    let mut b = Builder::new("satellite", Base::Floating);
    add_body(&mut b, "bus", rod(10.0, [0.0; 3], [1.0, 1.0, I]));
    add_body(&mut b, "wheel", rod(1.0, [0.0; 3], [0.05, 0.05, J]));
    let hinge = joint("hinge", JointKind::Revolute, [0.0, 0.0, 1.0], Transform::identity());
    add_joint(&mut b, "bus", "wheel", hinge);
    let model = b.build().unwrap();
    let q = Positions { quat_WB: Quaternion::from_rpy(0.3, 0.2, 0.1), ..Positions::zero(&model) };
    let vdot = accelerate(&model, &q, &Velocities::zero(&model), &[0.5], &Vec3::zeros());
    // the effort acts on both: −τ/I on the bus, τ/J on the wheel, which is seen from the bus
    let axis = q.quat_WB.to_matrix() * Vec3::z();
    assert!((vdot.w_WB + axis * (0.5 / I)).norm() < 1e-14);
    assert!((vdot.joints[0] - (0.5 / J + 0.5 / I)).abs() < 1e-13);
    assert!(vdot.v_WB.norm() < 1e-15);
}
