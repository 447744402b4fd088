//! Points on planes in random trees: against dense algebra, by virtual work, by differences.

use crate::common::dense::{
    Matrix, Solution, apply, dot, norm, pinv_apply, pinv_solve, times_transposed, transpose, zeros,
};
use crate::common::robots;
use crate::common::trees::{Sample, flat, transform, tree};
use hardstand_physics::dynamics::{
    Constraints, Data, LeastSquares, MassMatrix, PointOnPlane, Positions, Rk4, Velocities, aba,
    advance_positions, crba, kinematics,
};
use hardstand_physics::model::{Base, Builder, JointKind};
use hardstand_physics::spatial::{Force, Mat3, Motion, SpatialInertia, Transform, Vec3};
use proptest::prelude::*;

const GRAVITY: Vec3 = Vec3::new(0.7, -1.3, -9.81);

/// A tree with points on it.
#[derive(Clone, Debug)]
struct Scene {
    s: Sample,
    points: Vec<PointOnPlane>,
}

type Spot = (usize, Option<usize>, Transform, [f64; 3]);

fn spot() -> impl Strategy<Value = Spot> {
    let plane = prop_oneof![Just(None), (0..1000_usize).prop_map(Some)];
    (0..1000_usize, plane, transform(), prop::array::uniform3(-0.3..0.3f64))
}

/// Trees of 1 to `bodies` bodies with 1 to `points` points, on the world or on other bodies.
fn scene(bodies: usize, points: usize) -> impl Strategy<Value = Scene> {
    (tree(bodies, true), prop::collection::vec(spot(), 1..=points)).prop_map(|(s, spots)| {
        let n = s.model.bodies.len();
        let point = |&(follower, plane, X_SP, p_BF): &Spot| PointOnPlane {
            plane_body: plane.map(|k| k % n).filter(|&k| k != follower % n),
            X_SP,
            follower_body: follower % n,
            p_BF: p_BF.into(),
            slides: false,
        };
        Scene { points: spots.iter().map(point).collect(), s }
    })
}

impl Scene {
    fn data(&self) -> Data {
        let mut data = Data::new(&self.s.model);
        kinematics(&self.s.model, &self.s.q, &self.s.v, &mut data);
        for i in 0..self.s.model.bodies.len() {
            let k = i as f64;
            data.apply_force(i, &Vec3::new(3.0 - k, 1.0, 0.5 * k), &Vec3::new(0.1, -0.2, 0.05 * k));
        }
        data
    }

    fn constraints(&self) -> Constraints {
        Constraints::new(&self.s.model, self.points.clone()).unwrap()
    }

    fn tau(&self) -> &[f64] {
        &self.s.tau[6..]
    }

    /// All rows of the constraints' Jacobian, by their errors at unit velocities.
    fn jacobian(&self) -> Matrix {
        let mut data = self.data();
        let mut columns = Vec::new();
        for k in 0..self.s.model.nv() {
            let mut v = Velocities::zero(&self.s.model);
            add_flat(&self.s, &mut v, k, 1.0);
            kinematics(&self.s.model, &self.s.q, &v, &mut data);
            columns.push(self.velocity_errors(&data));
        }
        if columns.is_empty() { zeros(3 * self.points.len(), 0) } else { transpose(&columns) }
    }

    fn velocity_errors(&self, data: &Data) -> Vec<f64> {
        let errors = self.points.iter().map(|p| p.velocity_errors(data));
        errors.flat_map(|e| [e.x, e.y, e.z]).collect()
    }

    fn acceleration_errors(&self, data: &Data) -> Vec<f64> {
        let errors = self.points.iter().map(|p| p.acceleration_errors(data, &GRAVITY));
        errors.flat_map(|e| [e.x, e.y, e.z]).collect()
    }

    /// `G H⁻¹ Gᵀ` from the dense mass matrix.
    fn dense_system(&self) -> Matrix {
        let mut H = MassMatrix::zero(&self.s.model);
        crba(&self.s.model, &mut self.data(), &mut H);
        let n = H.size();
        let H: Matrix = (0..n).map(|r| (0..n).map(|c| H.at(r, c)).collect()).collect();
        let G = self.jacobian();
        let responses: Matrix = G.iter().map(|row| gauss(&H, row)).collect();
        times_transposed(&G, &responses)
    }

    /// The state `h` later, without constraints.
    fn after(&self, h: f64) -> Self {
        let (mut out, mut data) = (self.clone(), self.data());
        data.clear_forces();
        let s = &mut out.s;
        Rk4::new(&self.s.model).step(self.s.model.base, &mut s.q, &mut s.v, h, |_, q, v, vdot| {
            kinematics(&self.s.model, q, v, &mut data);
            aba(&self.s.model, &mut data, self.tau(), &GRAVITY, vdot);
        });
        out
    }
}

fn add_flat(s: &Sample, v: &mut Velocities, k: usize, x: f64) {
    match k.checked_sub(s.model.nv() - s.model.joint_count()) {
        Some(joint) => v.joints[joint] += x,
        None if k < 3 => v.w_WB[k] += x,
        None => v.v_WB[k - 3] += x,
    }
}

fn gauss(a: &Matrix, b: &[f64]) -> Vec<f64> {
    let n = b.len();
    let mut a: Matrix =
        a.iter().zip(b).map(|(r, &b)| r.iter().copied().chain([b]).collect()).collect();
    for k in 0..n {
        let p = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).unwrap();
        a.swap(k, p);
        for i in (0..n).filter(|&i| i != k) {
            let f = a[i][k] / a[k][k];
            let row = a[k].clone();
            a[i].iter_mut().zip(&row).for_each(|(x, y)| *x -= f * y);
        }
    }
    (0..n).map(|i| a[i][n] / a[i][i]).collect()
}

fn flat_velocities(s: &Sample, v: &Velocities) -> Vec<f64> {
    flat(&s.model, &v.w_WB, &v.v_WB, &v.joints)
}

fn fastest(motions: &[Motion]) -> f64 {
    motions.iter().fold(1.0, |m: f64, x| m.max(x.ang.amax()).max(x.lin.amax()))
}

fn largest(x: &[f64]) -> f64 {
    x.iter().fold(1.0, |m: f64, x| m.max(x.abs()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn independent_errors_vanish(c in scene(10, 4)) {
        let (mut data, mut held) = (c.data(), c.constraints());
        let mut vdot = Velocities::zero(&c.s.model);
        held.accelerate(&c.s.model, &mut data, c.tau(), &GRAVITY, &mut vdot);
        if held.rank() == 3 * c.points.len() {
            let scale = 1e-10 * fastest(&data.A);
            for e in c.acceleration_errors(&data) {
                prop_assert!(e.abs() < scale, "{e} of {scale}");
            }
        }
    }

    #[test]
    fn forces_and_accelerations_belong_together(c in scene(10, 4)) {
        // the same accelerations come out of aba with the constraint forces as external ones
        let (mut data, mut held) = (c.data(), c.constraints());
        let mut vdot = Velocities::zero(&c.s.model);
        held.accelerate(&c.s.model, &mut data, c.tau(), &GRAVITY, &mut vdot);
        let mut other = c.data();
        for (i, point) in c.points.iter().enumerate() {
            let (f_W, p_W) = (held.force_on_follower_W(i, &data), point.p_WF(&data));
            other.apply_force(point.follower_body, &f_W, &point.p_BF);
            if let Some(s) = point.plane_body {
                other.apply_force(s, &-f_W, &data.X_WB[s].point_inverse(&p_W));
            }
        }
        let mut expected = Velocities::zero(&c.s.model);
        aba(&c.s.model, &mut other, c.tau(), &GRAVITY, &mut expected);
        let (ours, theirs) = (flat_velocities(&c.s, &vdot), flat_velocities(&c.s, &expected));
        let forces: Vec<f64> = held.multipliers().iter().map(|x| x.norm()).collect();
        let scale = 1e-10 * largest(&theirs) * largest(&forces);
        for (a, b) in ours.iter().zip(&theirs) {
            prop_assert!((a - b).abs() < scale, "{a} for {b}");
        }
        for (A, B) in data.A.iter().zip(&other.A) {
            prop_assert!((A.ang - B.ang).amax() < scale && (A.lin - B.lin).amax() < scale);
        }
    }

    #[test]
    fn multipliers_are_the_shortest_least_squares_solution(
        c in scene(6, 4), more in prop::array::uniform3(-0.3..0.3f64), redundant in any::<bool>()
    ) {
        let mut c = c;
        if redundant {
            // the first point's plane holds three points of its body
            let first = c.points[0];
            let second = PointOnPlane { p_BF: more.into(), ..first };
            let third = PointOnPlane { p_BF: Vec3::new(more[1], -more[2], 0.2), ..first };
            c.points = vec![first, second, third];
        }
        let mut free = c.data();
        let mut vdot = Velocities::zero(&c.s.model);
        aba(&c.s.model, &mut free, c.tau(), &GRAVITY, &mut vdot);
        let errors = c.acceleration_errors(&free);
        if let Some(Solution { x: expected, least, .. }) = pinv_solve(&c.dense_system(), &errors) {
            let (mut data, mut held) = (c.data(), c.constraints());
            held.accelerate(&c.s.model, &mut data, c.tau(), &GRAVITY, &mut vdot);
            let ours: Vec<f64> = held.multipliers().iter().flat_map(|x| [x.x, x.y, x.z]).collect();
            let scale = 1e-12 * largest(&expected) / (least * least);
            for (a, b) in ours.iter().zip(&expected) {
                prop_assert!((a - b).abs() < scale, "{a} for {b}, least {least}");
            }
            if redundant {
                prop_assert!(held.rank() <= 6, "rank {}", held.rank());
            }
        }
    }

    #[test]
    fn constraint_forces_do_no_work_on_permitted_motions(c in scene(10, 4)) {
        let (mut data, mut held) = (c.data(), c.constraints());
        let (q, mut v) = (&c.s.q, c.s.v.clone());
        let left = held.project_velocities(&c.s.model, q, &mut v, &mut data, 0.0).error;
        let mut vdot = Velocities::zero(&c.s.model);
        held.accelerate(&c.s.model, &mut data, c.tau(), &GRAVITY, &mut vdot);
        let mut forces_B = vec![Force::zero(); c.s.model.bodies.len()];
        for (i, point) in c.points.iter().enumerate() {
            point.add_force(&data, &held.force_on_follower_P(i), &mut forces_B);
        }
        let power: f64 = data.V.iter().zip(&forces_B).map(|(V, f)| V.dot(f)).sum();
        // what projection leaves slides a little
        let forces: Vec<f64> = held.multipliers().iter().map(|x| x.norm()).collect();
        let slip = 2.0 * left * norm(&forces);
        let gross: f64 = data.V.iter().zip(&forces_B)
            .map(|(V, f)| V.ang.norm() * f.ang.norm() + V.lin.norm() * f.lin.norm()).sum();
        prop_assert!(power.abs() < 1e-11 * (1.0 + gross) + slip, "{power} of {gross} W");
        // on any motion it is force times sliding velocity, also for forces that do work
        kinematics(&c.s.model, q, &c.s.v, &mut data);
        let f_P = Vec3::new(1.0, -2.0, 3.0);
        for point in &c.points {
            forces_B.fill(Force::zero());
            point.add_force(&data, &f_P, &mut forces_B);
            let power: f64 = data.V.iter().zip(&forces_B).map(|(V, f)| V.dot(f)).sum();
            let expected = f_P.dot(&point.velocity_errors(&data));
            prop_assert!((power - expected).abs() < 1e-10 * (1.0 + expected.abs()));
        }
    }

    #[test]
    fn errors_are_rates_of_one_another(c in scene(6, 4)) {
        let mut data = c.data();
        data.clear_forces();
        let mut vdot = Velocities::zero(&c.s.model);
        aba(&c.s.model, &mut data, c.tau(), &GRAVITY, &mut vdot);
        let h = 1e-5;
        let (after, before) = (c.after(h), c.after(-h));
        let (d1, d0) = (after.data(), before.data());
        let speed = fastest(&data.V);
        let fast = fastest(&data.A).max(speed * speed);
        for p in &c.points {
            let place = |data: &Data| p.X_WP(data).point_inverse(&p.p_WF(data));
            prop_assert!(place(&data).z == p.position_error(&data));
            let rate = (place(&d1) - place(&d0)) / (2.0 * h);
            prop_assert!((rate - p.velocity_errors(&data)).amax() < 1e-7 * fast * speed);
            let rate = (p.velocity_errors(&d1) - p.velocity_errors(&d0)) / (2.0 * h);
            let ours = p.acceleration_errors(&data, &GRAVITY);
            prop_assert!((rate - ours).amax() < 1e-6 * fast * speed, "{rate} for {ours}");
        }
    }

    #[test]
    fn velocity_projection_takes_the_shortest_way_and_then_rests(c in scene(8, 4)) {
        let (mut data, mut held) = (c.data(), c.constraints());
        let G = c.jacobian();
        let start = flat_velocities(&c.s, &c.s.v);
        let mut v = c.s.v.clone();
        let done = held.project_velocities(&c.s.model, &c.s.q, &mut v, &mut data, 1e-10);
        prop_assert!(done.iterations <= 7 && done.error <= 1e-10, "{done:?}");
        prop_assert!(norm(&c.velocity_errors(&data)) <= 1e-10, "data is that of the result");
        // nearly singular sets, too; rounding of G turns the shortest way by 1e-15 over the least
        if let Some(Solution { x: way, least, .. }) = pinv_apply(&G, &apply(&G, &start)) {
            for ((end, start), way) in flat_velocities(&c.s, &v).iter().zip(&start).zip(&way) {
                prop_assert!((end - (start - way)).abs() < 1e-12 / least, "{end} from {start}");
            }
        }
        let again = v.clone();
        let rest = held.project_velocities(&c.s.model, &c.s.q, &mut v, &mut data, 1e-10);
        prop_assert!(rest.iterations == 0 && v == again);
    }

    #[test]
    fn position_projection_converges_and_then_rests(
        c in scene(8, 4), push in prop::collection::vec(-0.05..0.05f64, 14)
    ) {
        // planes through the points where they are, then a small displacement
        let mut c = c;
        let mut data = c.data();
        for p in &mut c.points {
            p.X_SP.p += p.X_SP.R * Vec3::new(0.0, 0.0, p.position_error(&data));
        }
        let mut held = c.constraints();
        let mut v = Velocities::zero(&c.s.model);
        (0..c.s.model.nv()).for_each(|k| add_flat(&c.s, &mut v, k, push[k]));
        let mut q = c.s.q.clone();
        let done = held.project_positions(&c.s.model, &mut q, &mut data, 1e-11);
        prop_assert!(done.error < 1e-11 && done.iterations <= 1);
        advance_positions(&mut q, 1.0, &v);
        kinematics(&c.s.model, &q, &v, &mut data);
        let error = |data: &Data| {
            norm(&c.points.iter().map(|p| p.position_error(data)).collect::<Vec<f64>>())
        };
        let start = error(&data);
        let G: Matrix = c.jacobian().into_iter().skip(2).step_by(3).collect();
        let squares = pinv_solve(&times_transposed(&G, &G), &vec![0.0; c.points.len()]);
        // where a plane touches the path of its point, or planes hardly differ, no step is near
        if !squares.is_some_and(|s| s.least > 1e-3 && s.largest > 0.1) {
            return Ok(());
        }
        let done = held.project_positions(&c.s.model, &mut q, &mut data, 1e-11);
        prop_assert!(done.error <= 1e-11, "{done:?} from {start}");
        prop_assert!(done.error == error(&data), "data is that of the result");
        prop_assert!((q.quat_WB.norm() - 1.0).abs() < 1e-14);
        let again = q.clone();
        let rest = held.project_positions(&c.s.model, &mut q, &mut data, 1e-11);
        prop_assert!(rest.iterations == 0 && q == again);
    }

    #[test]
    fn least_squares_equal_the_pseudoinverse(
        m in 1..9_usize, rank in 1..9_usize, x in prop::collection::vec(-1.0..1.0f64, 81),
        b in prop::collection::vec(-1.0..1.0f64, 9)
    ) {
        // A = F Fᵀ with an m × rank matrix F
        let F: Matrix = (0..m).map(|r| (0..rank).map(|k| x[9 * r + k]).collect()).collect();
        let A = times_transposed(&F, &F);
        if let Some(Solution { x: expected, least, .. }) = pinv_solve(&A, &b[..m]) {
            let mut ours = LeastSquares::new(m);
            (0..m).for_each(|r| (0..m).for_each(|k| ours.set(r, k, A[r][k])));
            prop_assert!(ours.factor(1e-11, 0.0) == rank.min(m));
            let mut y = vec![0.0; m];
            ours.solve(&b[..m], &mut y);
            for (y, e) in y.iter().zip(&expected) {
                prop_assert!((y - e).abs() < 1e-13 * largest(&expected) / least, "{y} for {e}");
            }
            prop_assert!(dot(&y, &y) <= dot(&expected, &expected) * (1.0 + 1e-5));
        }
    }
}

#[test]
fn a_projection_that_cannot_succeed_ends_and_leaves_the_best() {
    // a point that cannot leave the world, above a plane of the world
    let (mut model, spec) = robots::box_on_springs(0.5);
    model.base = Base::Fixed;
    let point = world_point(0, Vec3::new(0.0, 0.0, 0.2));
    let mut held = Constraints::new(&model, vec![point]).unwrap();
    let (mut q, mut data) = (spec.q.clone(), Data::new(&model));
    let done = held.project_positions(&model, &mut q, &mut data, 1e-9);
    assert_eq!((done.iterations, q), (20, spec.q));
    assert_eq!(done.error, point.position_error(&data).abs());
}

#[test]
fn a_set_without_constraints_is_free() {
    let (model, spec) = robots::box_on_springs(0.5);
    let (mut data, mut vdot) = (Data::new(&model), Velocities::zero(&model));
    kinematics(&model, &spec.q, &spec.v, &mut data);
    let mut held = Constraints::new(&model, vec![]).unwrap();
    held.accelerate(&model, &mut data, &[], &GRAVITY, &mut vdot);
    assert!((vdot.v_WB - GRAVITY).amax() < 1e-14);
    let mut q = spec.q.clone();
    assert_eq!(held.project_positions(&model, &mut q, &mut data, 0.0).iterations, 0);
}

fn world_point(follower_body: usize, p_BF: Vec3) -> PointOnPlane {
    PointOnPlane {
        plane_body: None,
        X_SP: Transform::identity(),
        follower_body,
        p_BF,
        slides: false,
    }
}

/// Two points of a body of 100 t, 1 mm apart, and one that does not act and must not count.
#[test]
fn a_constraint_that_does_not_act_changes_no_other() {
    let mut b = Builder::new("hull", Base::Floating);
    let I = Mat3::from_diagonal_element(2e6);
    robots::add_body(&mut b, "hull", SpatialInertia::from_com(1e5, &Vec3::zeros(), &I));
    let model = b.build().unwrap();
    let v = Velocities::zero(&model);
    let (mut data, mut vdot) = (Data::new(&model), v.clone());
    kinematics(&model, &Positions::zero(&model), &v, &mut data);
    let points = [Vec3::zeros(), Vec3::x() * 1e-3, Vec3::y()].map(|p| world_point(0, p));
    let push = Force::new(Vec3::new(3.0, 1e6, 2e6), Vec3::new(4.0, 5.0, 6.0));
    let mut found = Vec::new();
    for count in [2, 3] {
        let mut held = Constraints::new(&model, points[..count].to_vec()).unwrap();
        held.set(2, false, Vec3::zeros());
        data.clear_forces();
        data.f_ext[0] = push;
        held.accelerate(&model, &mut data, &[], &GRAVITY, &mut vdot);
        assert_eq!(held.rank(), 5);
        found.push(vdot.clone());
    }
    assert_eq!(found[0], found[1]);
    assert!(found[0].w_WB.z.abs() < 1e-8 && found[0].w_WB.x > 1e-6, "{:?}", found[0]);
}

#[test]
fn bad_constraints_are_refused() {
    let (model, _) = robots::box_on_springs(0.5);
    let good = world_point(0, Vec3::zeros());
    let far = PointOnPlane { p_BF: Vec3::new(0.0, f64::NAN, 0.0), ..good };
    let mirror = Mat3::from_diagonal(&Vec3::new(1.0, 1.0, -1.0));
    let turned = |R: Mat3| PointOnPlane { X_SP: Transform::new(R, Vec3::zeros()), ..good };
    for (bad, why) in [
        (world_point(1, Vec3::zeros()), "body is 1"),
        (PointOnPlane { plane_body: Some(0), ..good }, "plane's body is 0"),
        (PointOnPlane { plane_body: Some(7), ..good }, "plane's body is 7"),
        (far, "finite"),
        (turned(mirror), "rotation"),
        (turned(Mat3::identity() * 1.01), "rotation"),
        (turned(Mat3::identity() * f64::NAN), "rotation"),
    ] {
        let error = Constraints::new(&model, vec![good, bad]).unwrap_err().to_string();
        assert!(error.starts_with("constraint 1: ") && error.contains(why), "{error}");
    }
}

/// What joints hold already: a point of a planar linkage off its plane, and a joint's own origin. All
/// that rounding leaves of such rows must not be divided by.
#[test]
fn what_joints_hold_already_is_no_equation() {
    let mut b = Builder::new("planar", Base::Fixed);
    let inertia = |m: f64| {
        let I = Mat3::from_diagonal(&(Vec3::new(0.01, 0.011, 0.002) * m));
        SpatialInertia::from_com(m, &Vec3::new(0.15, 0.0, 0.01), &I)
    };
    robots::add_body(&mut b, "base", inertia(3.0));
    for (i, name) in ["a", "b", "c"].into_iter().enumerate() {
        robots::add_body(&mut b, name, inertia(1.7 - 0.3 * i as f64));
        let at = robots::at(0.3, 0.01 * i as f64, 0.0);
        let hinge = robots::joint(name, JointKind::Revolute, [0.0, 1.0, 0.0], at);
        robots::add_joint(&mut b, ["base", "a", "b"][i], name, hinge);
    }
    let model = b.build().unwrap();
    let [b, c] = ["b", "c"].map(|n| model.bodies.iter().position(|body| body.name == n).unwrap());
    let turned = Mat3::new(1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, -1.0, 0.0);
    let off_plane = |plane_body, follower_body| PointOnPlane {
        plane_body,
        X_SP: Transform::new(turned, Vec3::zeros()),
        follower_body,
        p_BF: Vec3::new(0.3, 0.0, 0.0),
        slides: true,
    };
    let on_axis = |slides| PointOnPlane {
        plane_body: Some(b),
        X_SP: model.joints[c - 1].X_PJ,
        follower_body: c,
        p_BF: Vec3::zeros(),
        slides,
    };
    let (mut q, mut v) = (Positions::zero(&model), Velocities::zero(&model));
    q.joints.copy_from_slice(&[0.31, -0.77, 1.13]);
    v.joints.copy_from_slice(&[1.7, -2.3, 0.9]);
    let tau = [0.3, -0.2, 0.1];
    let (mut data, mut free, mut vdot) = (Data::new(&model), v.clone(), v.clone());
    for point in [off_plane(Some(c), b), off_plane(None, c), on_axis(true), on_axis(false)] {
        let mut held = Constraints::new(&model, vec![point]).unwrap();
        kinematics(&model, &q, &v, &mut data);
        aba(&model, &mut data, &tau, &GRAVITY, &mut free);
        held.accelerate(&model, &mut data, &tau, &GRAVITY, &mut vdot);
        assert_eq!(held.rank(), 0, "{point:?}");
        assert_eq!(held.multipliers(), [Vec3::zeros()]);
        assert_eq!(vdot, free);
        let (mut q_after, mut v_after) = (q.clone(), v.clone());
        held.project_velocities(&model, &q, &mut v_after, &mut data, 0.0);
        held.project_positions(&model, &mut q_after, &mut data, 0.0);
        assert_eq!((v_after, q_after), (v.clone(), q.clone()));
    }
}
