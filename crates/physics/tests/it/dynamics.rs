//! The dynamics of random trees: algorithms against one another, and conservation laws.

use std::f64::consts::{FRAC_PI_2, PI};

use crate::common::robots;
use crate::common::trees::{Sample, flat, tree};
use hardstand_physics::dynamics::{
    Data, GeneralizedForces, ImpulseWorkspace, MassMatrix, PointAxes, PointResponses, Positions,
    Rk4, Velocities, VelocityChange, aba, articulated_inertias, center_of_mass, crba,
    impulse_response, kinematics, kinetic_energy, momentum, potential_energy, rnea, spread_jump,
};
use hardstand_physics::model::{Base, Builder, JointKind};
use hardstand_physics::spatial::{
    Force, Mat3, Motion, Quaternion, SpatialInertia, Transform, Vec3, rotation,
};
use proptest::prelude::*;

const GRAVITY: Vec3 = Vec3::new(0.7, -1.3, -9.81);

fn ready(s: &Sample) -> Data {
    let mut data = Data::new(&s.model);
    kinematics(&s.model, &s.q, &s.v, &mut data);
    // some force on every body
    for i in 0..s.model.bodies.len() {
        let k = i as f64;
        data.apply_force(i, &Vec3::new(3.0 - k, 1.0, 0.5 * k), &Vec3::new(0.1, -0.2, 0.05 * k));
        data.apply_moment(i, &Vec3::new(0.3, 0.1 * k, -0.2));
    }
    data
}

fn vdot_of(s: &Sample) -> Velocities {
    let t = &s.tau;
    Velocities {
        w_WB: Vec3::new(t[0], t[1], t[2]),
        v_WB: Vec3::new(t[3], t[4], t[5]),
        joints: t[6..].to_vec(),
    }
}

/// Whether Cholesky's factorisation goes through.
fn is_positive_definite(H: &MassMatrix) -> bool {
    let n = H.size();
    let mut l = vec![vec![0.0; n]; n];
    for r in 0..n {
        for c in 0..=r {
            let rest = H.at(r, c) - (0..c).map(|k| l[r][k] * l[c][k]).sum::<f64>();
            if r == c && rest <= 0.0 {
                return false;
            }
            l[r][c] = if r == c { f64::sqrt(rest) } else { rest / l[c][c] };
        }
    }
    true
}

fn largest(x: &[f64]) -> f64 {
    x.iter().fold(1.0, |m: f64, x| m.max(x.abs()))
}

/// Flight without forces but gravity.
fn fly(s: &Sample, gravity: &Vec3, h: f64, steps: u32) -> Sample {
    let mut s = s.clone();
    let mut rk4 = Rk4::new(&s.model);
    let mut data = Data::new(&s.model);
    data.clear_forces();
    let tau = vec![0.0; s.model.joint_count()];
    for _ in 0..steps {
        rk4.step(s.model.base, &mut s.q, &mut s.v, h, |_, q, v, vdot| {
            kinematics(&s.model, q, v, &mut data);
            aba(&s.model, &mut data, &tau, gravity, vdot);
        });
    }
    s
}

/// The velocity whose coordinate `k` (in the order of the mass matrix) is one.
fn unit_velocity(s: &Sample, k: usize) -> Velocities {
    let mut v = Velocities::zero(&s.model);
    match k.checked_sub(s.model.nv() - s.model.joint_count()) {
        Some(joint) => v.joints[joint] = 1.0,
        None if k < 3 => v.w_WB[k] = 1.0,
        None => v.v_WB[k - 3] = 1.0,
    }
    v
}

/// `Jᵀ f` by the power of `f` at unit velocities.
fn generalized(s: &Sample, f: &[Force]) -> Vec<f64> {
    let mut data = Data::new(&s.model);
    let power = |k| {
        kinematics(&s.model, &s.q, &unit_velocity(s, k), &mut data);
        data.V.iter().zip(f).map(|(V, f)| V.dot(f)).sum()
    };
    (0..s.model.nv()).map(power).collect()
}

fn energy(s: &Sample, gravity: &Vec3) -> f64 {
    let mut data = Data::new(&s.model);
    kinematics(&s.model, &s.q, &s.v, &mut data);
    kinetic_energy(&s.model, &data, &s.v) + potential_energy(&s.model, &data, gravity)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn forward_dynamics_is_the_inverse_of_inverse_dynamics(s in tree(40, true)) {
        let mut data = ready(&s);
        let mut vdot = Velocities::zero(&s.model);
        aba(&s.model, &mut data, &s.tau[6..], &GRAVITY, &mut vdot);
        let mut tau = GeneralizedForces::zero(&s.model);
        rnea(&s.model, &mut data, &vdot, &GRAVITY, &mut tau);
        let scale = largest(&vdot.joints).max(vdot.v_WB.amax()).max(vdot.w_WB.amax())
            * s.model.total_mass() + largest(&s.tau);
        for (a, b) in tau.joints.iter().zip(&s.tau[6..]) {
            prop_assert!((a - b).abs() < 1e-10 * scale, "{a} for {b}");
        }
        // nothing holds a floating base
        prop_assert!(tau.base_W.ang.amax() < 1e-10 * scale);
        prop_assert!(tau.base_W.lin.amax() < 1e-10 * scale);
    }

    #[test]
    fn inertia_times_acceleration_plus_bias_is_force(s in tree(40, true)) {
        let mut data = ready(&s);
        let vdot = vdot_of(&s);
        let (mut tau, mut bias) =
            (GeneralizedForces::zero(&s.model), GeneralizedForces::zero(&s.model));
        rnea(&s.model, &mut data, &vdot, &GRAVITY, &mut tau);
        rnea(&s.model, &mut data, &Velocities::zero(&s.model), &GRAVITY, &mut bias);
        let mut H = MassMatrix::zero(&s.model);
        crba(&s.model, &mut data, &mut H);
        let a = flat(&s.model, &vdot.w_WB, &vdot.v_WB, &vdot.joints);
        let f = flat(&s.model, &tau.base_W.ang, &tau.base_W.lin, &tau.joints);
        let c = flat(&s.model, &bias.base_W.ang, &bias.base_W.lin, &bias.joints);
        let scale = largest(&f).max(largest(&c)) * s.model.total_mass();
        for r in 0..H.size() {
            let row: f64 = (0..H.size()).map(|k| H.at(r, k) * a[k]).sum();
            prop_assert!((row + c[r] - f[r]).abs() < 1e-10 * scale, "row {r}");
        }
    }

    #[test]
    fn the_mass_matrix_is_symmetric_positive_and_gives_the_kinetic_energy(s in tree(40, true)) {
        let mut data = ready(&s);
        let energy = kinetic_energy(&s.model, &data, &s.v);
        let mut H = MassMatrix::zero(&s.model);
        crba(&s.model, &mut data, &mut H);
        let n = H.size();
        let v = flat(&s.model, &s.v.w_WB, &s.v.v_WB, &s.v.joints);
        let mut twice = 0.0;
        for r in 0..n {
            for c in 0..n {
                prop_assert!(H.at(r, c) == H.at(c, r));
                twice += v[r] * H.at(r, c) * v[c];
            }
        }
        prop_assert!((0.5 * twice - energy).abs() < 1e-11 * energy.max(1.0));
        prop_assert!(is_positive_definite(&H), "not positive definite");
    }

    #[test]
    fn momentum_gained_is_the_impulse(s in tree(40, true), with_aba in any::<bool>()) {
        let mut data = ready(&s);
        let impulses = data.f_ext.clone();
        if with_aba {
            let mut vdot = Velocities::zero(&s.model);
            aba(&s.model, &mut data, &s.tau[6..], &GRAVITY, &mut vdot);
        } else {
            articulated_inertias(&s.model, &mut data);
        }
        let (mut work, mut dv) = (ImpulseWorkspace::new(&s.model), Velocities::zero(&s.model));
        impulse_response(&s.model, &data, &impulses, &mut work, &mut dv);
        // H dv = Jᵀ f
        let mut H = MassMatrix::zero(&s.model);
        crba(&s.model, &mut data, &mut H);
        let (x, f) = (flat(&s.model, &dv.w_WB, &dv.v_WB, &dv.joints), generalized(&s, &impulses));
        let scale = largest(&x) * s.model.total_mass() + largest(&f);
        for (r, f) in f.iter().enumerate() {
            let row: f64 = (0..H.size()).map(|k| H.at(r, k) * x[k]).sum();
            prop_assert!((row - f).abs() < 1e-10 * scale, "row {r}: {row} for {f}");
        }
        // and the bodies' jumps are those that belong to dv
        kinematics(&s.model, &s.q, &dv, &mut data);
        for (V, dV) in data.V.iter().zip(&work.dV) {
            let scale = 1e-10 * (1.0 + V.ang.amax() + V.lin.amax());
            prop_assert!((V.ang - dV.ang).amax() < scale && (V.lin - dV.lin).amax() < scale);
        }
    }

    #[test]
    fn points_respond_as_the_whole_tree_does(s in tree(20, true), portable in any::<bool>()) {
        let mut data = ready(&s);
        articulated_inertias(&s.model, &mut data);
        // some bodies carry two points
        let n = s.model.bodies.len();
        let point = |i: usize| {
            let k = i as f64;
            let turn = Quaternion::from_rotation_vector(&Vec3::new(k, 0.3, 1.0 - k));
            let p_B = Vec3::new(0.1 * k, -0.2, 0.05);
            PointAxes { body: (5 * i) % n, p_B, R_BC: turn.to_matrix() }
        };
        let points: Vec<PointAxes> = (0..7).map(point).collect();
        let mut responses = PointResponses::new(&s.model, points.len());
        responses.set_portable(portable);
        let mut W = Vec::new();
        responses.respond(&s.model, &data, &points, &mut W);

        let (mut work, mut dv) = (ImpulseWorkspace::new(&s.model), Velocities::zero(&s.model));
        let mut jump = VelocityChange::zero(n);
        let (mut dV, mut spread) = (vec![Motion::zero(); n], Velocities::zero(&s.model));
        let largest = W.iter().fold(0.0, |m: f64, w| m.max(w.amax()));
        for (j, from) in points.iter().enumerate() {
            for k in 0..3 {
                let mut impulses = vec![Force::zero(); n];
                let unit = from.R_BC.column(k);
                impulses[from.body] = Force::at_point(unit, &from.p_B);
                impulse_response(&s.model, &data, &impulses, &mut work, &mut dv);
                for (i, to) in points.iter().enumerate() {
                    let v_C = to.R_BC.tr_mul(&work.dV[to.body].at_point(&to.p_B));
                    let error = (W[i * 7 + j].column(k) - v_C).amax();
                    prop_assert!(error < 1e-10 * largest + 1e-12, "W[{i}, {j}] is off by {error}");
                }
                let mut one = vec![Vec3::zeros(); 7];
                one[j][k] = 1.0;
                responses.jump(&one, &mut jump);
                spread_jump(&s.model, &data, &jump, &mut dV, &mut spread);
                for (a, b) in dV.iter().zip(&work.dV) {
                    let scale = 1e-10 * (1.0 + b.ang.amax() + b.lin.amax());
                    prop_assert!((a.ang - b.ang).amax() < scale && (a.lin - b.lin).amax() < scale);
                }
                let scale = 1e-10 * (1.0 + dv.joints.iter().fold(0.0, |m: f64, x| m.max(x.abs())));
                for (a, b) in spread.joints.iter().zip(&dv.joints) {
                    prop_assert!((a - b).abs() < scale);
                }
            }
        }
        let symmetric = |(i, j): (usize, usize)| W[i * 7 + j] == Mat3::transpose(&W[j * 7 + i]);
        prop_assert!((0..49).all(|k| symmetric((k / 7, k % 7))));
    }

    #[test]
    fn points_respond_with_their_bodies(s in tree(20, true), portable in any::<bool>()) {
        let mut data = ready(&s);
        articulated_inertias(&s.model, &mut data);
        let n = s.model.bodies.len();
        let bodies = [n - 1, 0, n / 2];
        let mut responses = PointResponses::new(&s.model, 6);
        responses.set_portable(portable);
        let (mut B, mut W) = (Vec::new(), Vec::new());
        responses.respond_of_bodies(&s.model, &data, &bodies, &mut B);

        let turn = Quaternion::from_rotation_vector(&Vec3::new(0.4, 0.3, -1.0));
        let (p_B, R_BC) = (Vec3::new(0.1, -0.2, 0.05), turn.to_matrix());
        let points = bodies.map(|body| PointAxes { body, p_B, R_BC });
        let impulses = [Vec3::new(1.0, 2.0, 3.0), Vec3::new(-1.0, 0.5, 2.0), Vec3::new(0.0, -2.0, 1.0)];
        let on_bodies: Vec<Vec3> = impulses
            .iter()
            .flat_map(|impulse| [p_B.cross(&(R_BC * *impulse)), R_BC * *impulse])
            .collect();
        let mut by_bodies = VelocityChange::zero(n);
        responses.jump(&on_bodies, &mut by_bodies);
        responses.respond(&s.model, &data, &points, &mut W);
        let mut by_points = VelocityChange::zero(n);
        responses.jump(&impulses, &mut by_points);

        let largest = W.iter().chain(&B).fold(0.0, |m: f64, w| m.max(w.amax()));
        for (i, j) in (0..9).map(|k| (k / 3, k % 3)) {
            let block = |a: usize, b: usize| B[(2 * i + a) * 6 + 2 * j + b];
            for k in 0..3 {
                let unit = R_BC.column(k);
                let (w, v) = (
                    block(0, 0) * p_B.cross(&unit) + block(0, 1) * unit,
                    block(1, 0) * p_B.cross(&unit) + block(1, 1) * unit,
                );
                let error = (W[i * 3 + j].column(k) - R_BC.tr_mul(&(v + w.cross(&p_B)))).amax();
                prop_assert!(error < 1e-10 * largest + 1e-12, "W[{i}, {j}] is off by {error}");
            }
        }
        let dV = by_points.dV_base;
        let scale = 1e-10 * (1.0 + dV.ang.amax() + dV.lin.amax());
        prop_assert!((by_bodies.dV_base.ang - dV.ang).amax() < scale);
        prop_assert!((by_bodies.dV_base.lin - dV.lin).amax() < scale);
        for (a, b) in by_bodies.u.iter().zip(&by_points.u) {
            prop_assert!((a - b).abs() < 1e-9 * (1.0 + b.abs()));
        }
    }

    #[test]
    fn acceleration_is_the_rate_of_velocity(s in tree(12, true)) {
        // the acceleration of a point against a difference of velocities along the flight
        let mut data = Data::new(&s.model);
        kinematics(&s.model, &s.q, &s.v, &mut data);
        let mut vdot = Velocities::zero(&s.model);
        aba(&s.model, &mut data, &vec![0.0; s.model.joint_count()], &GRAVITY, &mut vdot);
        let last = s.model.bodies.len() - 1;
        let p_B = Vec3::new(0.2, -0.1, 0.3);
        let (alpha, a) = data.acceleration_W(last, &p_B, &GRAVITY);
        let h = 1e-5;
        let after = fly(&s, &GRAVITY, h, 1);
        let before = fly(&s, &GRAVITY, -h, 1);
        let velocity = |s: &Sample| {
            let mut data = Data::new(&s.model);
            kinematics(&s.model, &s.q, &s.v, &mut data);
            (data.X_WB[last].R * data.V[last].ang, data.point_velocity_W(last, &p_B))
        };
        let ((w1, v1), (w0, v0)) = (velocity(&after), velocity(&before));
        let scale = 1.0 + a.norm() + alpha.norm();
        prop_assert!(((v1 - v0) / (2.0 * h) - a).norm() < 1e-4 * scale * scale);
        prop_assert!(((w1 - w0) / (2.0 * h) - alpha).norm() < 1e-4 * scale * scale);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn energy_is_conserved_in_free_flight(s in tree(12, true)) {
        let start = energy(&s, &GRAVITY);
        let drift = |h: f64, steps| (energy(&fly(&s, &GRAVITY, h, steps), &GRAVITY) - start).abs();
        let (coarse, fine) = (drift(1e-3, 50), drift(2.5e-4, 200));
        // what is left is the method's error: of high order in the step
        prop_assert!(fine < 1e-8 * (1.0 + start.abs()) || fine < coarse / 50.0,
            "drift {coarse} and {fine} J of {start} J");
    }

    #[test]
    fn momentum_is_conserved_without_gravity(s in tree(12, false)) {
        if s.model.base == Base::Floating {
            let of = |s: &Sample| {
                let mut data = Data::new(&s.model);
                kinematics(&s.model, &s.q, &s.v, &mut data);
                (momentum(&s.model, &data), center_of_mass(&s.model, &data))
            };
            let (before, c0) = of(&s);
            let (after, c1) = of(&fly(&s, &Vec3::zeros(), 2.5e-4, 200));
            let scale = 1.0 + before.linear.norm() + before.angular.norm();
            prop_assert!((after.linear - before.linear).norm() < 1e-7 * scale);
            prop_assert!((after.angular - before.angular).norm() < 1e-7 * scale);
            // and the centre of mass goes straight on
            let path = before.linear / s.model.total_mass() * 0.05;
            prop_assert!((c1 - c0 - path).norm() < 1e-8 * scale);
        }
    }
}

#[test]
fn free_fall_is_exact() {
    let (model, spec) = robots::box_on_springs(0.5);
    let (q, v) = (spec.q.clone(), Velocities { v_WB: Vec3::new(1.0, 0.0, 2.0), ..spec.v });
    let s = Sample { model, q, v, tau: vec![] };
    let end = fly(&s, &Vec3::new(0.0, 0.0, -9.81), 1e-3, 1000);
    assert!((end.v.v_WB - Vec3::new(1.0, 0.0, 2.0 - 9.81)).norm() < 1e-12);
    let fallen = end.q.p_WB - s.q.p_WB;
    assert!((fallen - Vec3::new(1.0, 0.0, 2.0 - 4.905)).norm() < 1e-12);
}

/// A child that is turned about its joint's own axis at `q = 0`, alone and beside others.
#[test]
fn a_joint_turns_on_from_where_it_is_mounted() {
    for count in [1, 3] {
        for axis in [Vec3::x(), Vec3::y(), Vec3::z()] {
            for (angle, q) in [(0.3, 0.4), (-0.1749, 1.2), (PI, -0.2), (-FRAC_PI_2, 2.0)] {
                let mut b = Builder::new("limbs", Base::Floating);
                let I = SpatialInertia::from_com(1.0, &Vec3::zeros(), &Mat3::identity());
                robots::add_body(&mut b, "base", I);
                let X_PJ = Transform::new(rotation(&axis, angle), Vec3::new(0.1, 0.2, 0.3));
                for name in ["a", "b", "c"].into_iter().take(count) {
                    robots::add_body(&mut b, name, I);
                    let j = robots::joint(name, JointKind::Revolute, axis.into(), X_PJ);
                    robots::add_joint(&mut b, "base", name, j);
                }
                let model = b.build().unwrap();
                let (mut at, mut data) = (Positions::zero(&model), Data::new(&model));
                at.joints.fill(q);
                kinematics(&model, &at, &Velocities::zero(&model), &mut data);
                let turned = X_PJ.R * rotation(&axis, q);
                for body in 1..=count {
                    let off = data.X_WB[body].R - turned;
                    let off = [off.x, off.y, off.z].map(|row| row.norm()).into_iter().sum::<f64>();
                    assert!(off < 2e-15, "{axis:?}, {angle} + {q}: {off}");
                }
            }
        }
    }
}
