//! Identities of spatial vectors, inertias, rotations.

use crate::common::trees::{inertia, transform};
use hardstand_physics::math;
use hardstand_physics::spatial::{
    ArticulatedInertia, Force, Mat3, Motion, Quaternion, Vec3, rotation, skew,
};
use proptest::prelude::*;

fn vec3(size: f64) -> impl Strategy<Value = Vec3> {
    prop::array::uniform3(-size..size).prop_map(Vec3::from)
}

fn motion() -> impl Strategy<Value = Motion> {
    (vec3(3.0), vec3(3.0)).prop_map(|(w, v)| Motion::new(w, v))
}

fn force() -> impl Strategy<Value = Force> {
    (vec3(3.0), vec3(3.0)).prop_map(|(n, f)| Force::new(n, f))
}

fn size(m: Motion) -> f64 {
    m.ang.amax().max(m.lin.amax())
}

fn size_f(f: Force) -> f64 {
    f.ang.amax().max(f.lin.amax())
}

fn times(I_A: &ArticulatedInertia, m: &Motion) -> Force {
    I_A.mul(m)
}

proptest! {
    #[test]
    fn cross_products(a in motion(), b in motion(), c in motion(), f in force()) {
        prop_assert!(size(a.cross(&b) + b.cross(&a)) < 1e-13, "antisymmetric");
        prop_assert!(size(a.cross(&a)) < 1e-13);
        let jacobi = a.cross(&b.cross(&c)) + b.cross(&c.cross(&a)) + c.cross(&a.cross(&b));
        prop_assert!(size(jacobi) < 1e-11, "Jacobi");
        // v ×* is minus the transpose of v ×
        prop_assert!((a.cross(&b).dot(&f) + b.dot(&a.cross_force(&f))).abs() < 1e-12);
    }

    #[test]
    fn transforms_compose_and_invert(
        X in transform(), Y in transform(), m in motion(), f in force(),
    ) {
        let XY = X.compose(&Y);
        let there = Y.motion_to_child(&X.motion_to_child(&m));
        prop_assert!(size(XY.motion_to_child(&m) - there) < 1e-13);
        prop_assert!(size(X.motion_to_parent(&X.motion_to_child(&m)) - m) < 1e-13);
        let up = X.force_to_parent(&Y.force_to_parent(&f));
        prop_assert!(size_f(XY.force_to_parent(&f) - up) < 1e-13);
        // the inverse pose does the inverse thing
        prop_assert!(size(X.inverse().motion_to_parent(&m) - X.motion_to_child(&m)) < 1e-13);
        let p = Vec3::new(0.3, -1.0, 2.0);
        prop_assert!((X.point_inverse(&X.point(&p)) - p).amax() < 1e-14);
        prop_assert!((X.inverse().point(&X.point(&p)) - p).amax() < 1e-14);
    }

    #[test]
    fn power_does_not_depend_on_the_frame(X in transform(), m in motion(), f in force()) {
        let parent = m.dot(&X.force_to_parent(&f));
        prop_assert!((X.motion_to_child(&m).dot(&f) - parent).abs() < 1e-12);
    }

    #[test]
    fn a_force_at_a_point_works_at_the_points_velocity(
        m in motion(), f in vec3(3.0), p in vec3(2.0),
    ) {
        prop_assert!((Force::at_point(f, &p).dot(&m) - f.dot(&m.at_point(&p))).abs() < 1e-12);
    }

    #[test]
    fn crosses_transform_with_their_frame(X in transform(), a in motion(), b in motion()) {
        let (a_B, b_B) = (X.motion_to_child(&a), X.motion_to_child(&b));
        prop_assert!(size(X.motion_to_child(&a.cross(&b)) - a_B.cross(&b_B)) < 1e-12);
    }

    #[test]
    fn inertias_keep_energy_and_momentum_in_every_frame(
        I in inertia(), X in transform(), m in motion(),
    ) {
        let (m_B, I_A) = (X.motion_to_child(&m), I.to_parent(&X));
        prop_assert!((I.kinetic_energy(&m_B) - I_A.kinetic_energy(&m)).abs() < 1e-11);
        prop_assert!(size_f(X.force_to_parent(&I.mul(&m_B)) - I_A.mul(&m)) < 1e-11);
        // rigid and articulated arithmetic agree
        let rigid = I.articulated();
        prop_assert!(size_f(times(&rigid, &m) - I.mul(&m)) < 1e-12);
        let rigid_A = rigid.to_parent(&X);
        prop_assert!(size_f(times(&rigid_A, &m) - I_A.mul(&m)) < 1e-11);
        let solved: Motion = rigid.factor().solve(&times(&rigid, &m));
        prop_assert!(size(solved - m) < 1e-9);
        let again = hardstand_physics::spatial::SpatialInertia::from_com(I.mass, &I.com(), &I.about_com());
        prop_assert!((again.I - I.I).amax() < 1e-13);
    }

    #[test]
    fn a_freed_direction_carries_nothing(I in inertia(), s in motion(), k in -3.0..3.0f64) {
        let rigid = I.articulated();
        let U = times(&rigid, &s);
        let D = s.dot(&U);
        prop_assume!(D > 1e-3);
        let freed = rigid.minus_outer(&(U * (1.0 / D)), &U);
        prop_assert!(size_f(times(&freed, &(s * k))) < 1e-10 * (1.0 + size_f(U)));
    }

    #[test]
    fn quaternions_and_matrices_agree(phi in vec3(3.0), psi in vec3(3.0), p in vec3(2.0)) {
        let of = Quaternion::from_rotation_vector;
        let (a, b) = (of(&phi), of(&psi));
        let (A, B) = (a.to_matrix(), b.to_matrix());
        prop_assert!((a.mul(&b).to_matrix() - A * B).amax() < 1e-14);
        prop_assert!((A * A.transpose() - Mat3::identity()).amax() < 1e-14);
        prop_assert!((A.determinant() - 1.0).abs() < 1e-14);
        let back = Quaternion::from_matrix(&A);
        prop_assert!(back.w >= 0.0);
        prop_assert!((back.to_matrix() - A).amax() < 1e-14);
        if phi.norm() > 1e-3 {
            prop_assert!((rotation(&phi.normalize(), phi.norm()) - A).amax() < 1e-14);
        }
        prop_assert!((skew(&phi) * p - phi.cross(&p)).amax() < 1e-14);
    }

    #[test]
    fn roll_pitch_yaw_round_trip(roll in -3.1..3.1f64, pitch in -1.5..1.5f64, yaw in -3.1..3.1f64) {
        let q = Quaternion::from_rpy(roll, pitch, yaw);
        let [r, p, y] = q.to_rpy();
        for (a, b) in [(r, roll), (p, pitch), (y, yaw)] {
            prop_assert!((a - b).abs() < 1e-12);
        }
        let axes = |axis: Vec3, angle| rotation(&axis, angle);
        let R = axes(Vec3::z(), yaw) * axes(Vec3::y(), pitch) * axes(Vec3::x(), roll);
        prop_assert!((q.to_matrix() - R).amax() < 1e-14);
    }

    #[test]
    fn the_derivative_is_that_of_the_rotation(phi in vec3(3.0), w in vec3(2.0)) {
        let (q, h) = (Quaternion::from_rotation_vector(&phi), 1e-6);
        let turned = |h: f64| Quaternion::from_rotation_vector(&(w * h)).mul(&q);
        let (a, b, d) = (turned(h).wxyz(), turned(-h).wxyz(), q.derivative(&w).wxyz());
        for k in 0..4 {
            prop_assert!(((a[k] - b[k]) / (2.0 * h) - d[k]).abs() < 1e-8);
        }
    }
}

#[test]
fn matrices_of_half_turns_become_quaternions() {
    let half = std::f64::consts::PI;
    for axis in [Vec3::x(), Vec3::y(), Vec3::z(), Vec3::new(1.0, -1.0, 0.0).normalize()] {
        for angle in [half, half - 1e-9, -half] {
            let R = rotation(&axis, angle);
            assert!((Quaternion::from_matrix(&R).to_matrix() - R).amax() < 1e-14);
        }
    }
}

#[test]
fn small_rotation_vectors_join_large_ones_smoothly() {
    // the series ends at 0.25 rad
    for angle in [0.0, 1e-12, 1e-3, 0.1, 0.2, 0.249_999, 0.250_001, 3.0] {
        let q = Quaternion::from_rotation_vector(&Vec3::new(angle, 0.0, 0.0));
        let (s, c) = math::sin_cos(0.5 * angle);
        assert!((q.x - s).abs() <= 4e-16 * s && (q.w - c).abs() <= 2.3e-16, "{angle}: {q:?}");
    }
}

#[test]
fn renormalising_is_normalising() {
    let q = Quaternion::from_rotation_vector(&Vec3::new(0.3, -1.1, 0.7));
    for length in [1.0, 1.0 + 4e-9, 1.0 - 4e-9, 1.0 + 6e-9, 1.0 - 6e-9, 0.5, 3.0] {
        let long = Quaternion::from_wxyz(q.wxyz().map(|x| length * x));
        let (fast, exact) = (long.renormalised().wxyz(), long.normalised().wxyz());
        let off = fast.iter().zip(exact).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(off <= 2.3e-16, "{length}: {off:e}");
    }
}

#[test]
fn the_smooth_step_has_its_ends() {
    assert_eq!([math::step_up(-1.0), math::step_up(0.0)], [0.0; 2]);
    assert_eq!([math::step_up(1.0), math::step_up(9.0)], [1.0; 2]);
    assert!((math::step_up(0.5) - 0.5).abs() < 1e-16);
}
