//! The exponential spring: parameters, force law, memory, and what they mean for a foot.
#![allow(clippy::disallowed_methods, reason = "std's functions are an independent reference")]

use crate::common::WATCHDOG;
use crate::common::robots::{box_on_springs, plane};
use hardstand::simulation::Simulation;
use hardstand_physics::contact::{
    ExponentialSpring, Friction, Memory, SpringForce, SpringParameters, Stiction, TINY,
};
use hardstand_physics::math;
use hardstand_physics::plant::Integrator;
use hardstand_physics::spatial::{Quaternion, Transform, Vec3};
use hardstand_protocol::TickInput;
use proptest::prelude::*;

fn spring() -> ExponentialSpring {
    ExponentialSpring::new(SpringParameters::default()).unwrap()
}

fn at(
    s: &ExponentialSpring,
    mu: [f64; 2],
    m: &Memory,
    p: [f64; 3],
    v: [f64; 3],
    age: f64,
) -> SpringForce {
    s.evaluate(&Friction::new(mu[0], mu[1]), m, &Vec3::from(p), &Vec3::from(v), age)
}

fn stuck_at(anchor: [f64; 2]) -> Memory {
    Memory { anchor_P: anchor, sliding: 0.0, committed_ns: Some(0) }
}

#[test]
fn all_bad_parameters_are_named_at_once() {
    let bad = SpringParameters {
        d0_m: f64::NAN,
        d1_n: 0.0,
        d2_per_m: -1.0,
        cz_s_per_m: -0.5,
        force_z_max_n: f64::INFINITY,
        kxy_n_per_m: f64::NEG_INFINITY,
        cxy_n_s_per_m: f64::NAN,
        v_settle_m_per_s: 0.0,
        t_settle_s: 0.0,
        stiction: Stiction::Holding,
    };
    let text = ExponentialSpring::new(bad).unwrap_err().to_string();
    let expected = [
        "d0_m is NaN; it must be finite",
        "d1_n is 0; it must be finite and greater than 0",
        "d2_per_m is -1; it must be finite and greater than 0",
        "cz_s_per_m is -0.5; it must be finite and at least 0",
        "force_z_max_n is inf; it must be finite and greater than 0",
        "kxy_n_per_m is -inf; it must be finite and greater than 0",
        "cxy_n_s_per_m is NaN; it must be finite and at least 0",
        "v_settle_m_per_s is 0; it must be finite and greater than 0",
        "t_settle_s is 0; it must be finite and greater than 0",
    ];
    for line in expected {
        assert!(text.contains(line), "no \"{line}\" in:\n{text}");
    }
}

#[test]
fn limits_of_the_parameters_are_accepted() {
    let edge =
        SpringParameters { d0_m: -3.0, cz_s_per_m: 0.0, cxy_n_s_per_m: 0.0, ..Default::default() };
    assert!(edge.check().is_ok());
}

#[test]
fn critical_damping_sets_both_and_nothing_follows_later() {
    let mut p = SpringParameters::default();
    assert!((p.cxy_n_s_per_m - 282.842_712_474_619).abs() < 1e-12);
    p.set_critical_damping(900.0, 4.0).unwrap();
    assert_eq!((p.kxy_n_per_m, p.cxy_n_s_per_m), (900.0, 120.0));
    p.kxy_n_per_m = 1.0;
    assert_eq!(p.cxy_n_s_per_m, 120.0);
    for (k, m) in [(0.0, 1.0), (1.0, 0.0), (f64::NAN, 1.0), (1.0, f64::INFINITY), (-1.0, 1.0)] {
        assert!(p.set_critical_damping(k, m).is_err());
    }
    assert_eq!((p.kxy_n_per_m, p.cxy_n_s_per_m), (1.0, 120.0), "a refused call changes nothing");
}

#[test]
fn shape_without_a_value_means_the_default_not_the_present_value() {
    let mut p = SpringParameters { d1_n: 7.0, d2_per_m: 8.0, ..Default::default() };
    p.set_shape(0.001, None, Some(900.0));
    assert_eq!((p.d0_m, p.d1_n, p.d2_per_m), (0.001, 0.5336, 900.0));
    p.set_shape(0.002, Some(2.0), None);
    assert_eq!((p.d0_m, p.d1_n, p.d2_per_m), (0.002, 2.0, 1150.0));
}

#[test]
fn coefficients_of_friction_drag_each_other() {
    let pair = |f: &Friction| (f.mu_static(), f.mu_kinetic());
    assert_eq!(pair(&Friction::new(-1.0, 0.5)), (0.0, 0.0));
    assert_eq!(pair(&Friction::new(0.3, 0.5)), (0.3, 0.3));
    assert_eq!(pair(&Friction::new(f64::NAN, 0.5)), (0.0, 0.0));
    let mut f = Friction::new(0.7, 0.5);
    f.set_kinetic(0.9);
    assert_eq!(pair(&f), (0.9, 0.9));
    f.set_kinetic(-2.0);
    assert_eq!(pair(&f), (0.9, 0.0));
    f.set_static(-0.0);
    assert_eq!(f.mu_static().to_bits(), 0, "minus zero is not a coefficient");
}

#[test]
fn first_evaluation_slides_with_kinetic_friction_and_pure_damping() {
    let (p, v) = ([0.3, -0.2, -0.002], [0.01, 0.02, 0.0]);
    let f = at(&spring(), [0.7, 0.5], &spring().new_memory(), p, v, spring().new_memory().age_s(5));
    assert_eq!((f.mu, f.next_sliding), (0.5, 1.0));
    assert_eq!(f.friction_elastic_P, [0.0, 0.0]);
    assert_eq!(f.next_anchor_P, [0.3, -0.2]);
    let c = spring().parameters().cxy_n_s_per_m;
    assert!((f.friction_damping_P[0] + c * 0.01).abs() < 1e-12);
    assert!((f.friction_damping_P[1] + c * 0.02).abs() < 1e-12);
}

#[test]
fn an_airborne_spring_slides_with_its_anchor_below_it() {
    let f = at(&spring(), [0.7, 0.5], &stuck_at([9.0, 9.0]), [0.1, 0.2, 0.5], [1.0; 3], 1e-3);
    assert!(f.friction_limit_n < TINY);
    assert_eq!((f.friction_P(), f.next_anchor_P, f.next_sliding), (Vec3::zeros(), [0.1, 0.2], 1.0));
    // and so does one that stands on ice
    let f = at(&spring(), [0.0, 0.0], &stuck_at([9.0, 9.0]), [0.1, 0.2, -0.003], [0.0; 3], 1e-3);
    assert!(f.normal_n > 1.0);
    assert_eq!((f.friction_P(), f.next_anchor_P, f.next_sliding), (Vec3::zeros(), [0.1, 0.2], 1.0));
}

#[test]
fn normal_force_has_the_reference_values() {
    for (p_z, expected, tolerance) in [
        (0.0, 1044.16, 5e-3),
        (0.01, 0.010_577, 5e-7),
        (0.02, 1.07e-7, 5e-10),
        (0.003_26, 24.5, 0.2),
    ] {
        let f = at(&spring(), [0.7, 0.5], &spring().new_memory(), [0.0, 0.0, p_z], [0.0; 3], 0.0);
        assert!((f.normal_n - expected).abs() < tolerance, "{} at {p_z}", f.normal_n);
    }
}

#[test]
fn normal_force_is_clamped_at_both_ends() {
    let s = spring();
    // leaving faster than 1/cz = 2 m/s: no pull, the elastic part is kept
    let f = at(&s, [0.7, 0.5], &spring().new_memory(), [0.0, 0.0, 0.0], [0.0, 0.0, 2.5], 0.0);
    assert_eq!((f.normal_n, f.normal_damping_n), (0.0, -f.normal_elastic_n));
    assert!(f.normal_elastic_n > 1000.0);
    // at the cap the damping is kept and the elastic part may become negative
    let f = at(&s, [0.7, 0.5], &spring().new_memory(), [0.0, 0.0, -0.01], [0.0, 0.0, -5.0], 0.0);
    assert_eq!(f.normal_n, 100_000.0);
    assert!(f.normal_elastic_n < 0.0 && f.normal_damping_n > 100_000.0);
    assert_eq!(f.normal_elastic_n + f.normal_damping_n, f.normal_n);
}

#[test]
fn a_foot_far_below_the_ground_still_gives_numbers() {
    for v_z in [-3.0, 0.0, 1.0, 1.9, 2.0, 3.0] {
        let f = at(
            &spring(),
            [0.7, 0.5],
            &spring().new_memory(),
            [0.0, 0.0, -5.0],
            [0.1, 0.0, v_z],
            1e-3,
        );
        assert!(f.normal_n >= 0.0 && f.normal_n <= 100_000.0, "{} at {v_z}", f.normal_n);
        assert!(f.potential_energy_j.is_finite() && f.power_dissipation_w.is_finite());
        assert!(f.normal_elastic_n.is_finite() && f.normal_damping_n.is_finite());
    }
}

#[test]
fn sliding_follows_the_speed_of_the_anchor() {
    // a station that moves 5 µm in 1 ms: half the settle velocity
    let dt = 1e-3;
    let memory = Memory { sliding: 1.0, ..stuck_at([0.0, 0.0]) };
    let f = at(&spring(), [0.7, 0.5], &memory, [5e-6, 0.0, -0.003], [0.0; 3], dt);
    assert!((f.next_sliding - math::step_up(0.5)).abs() < 1e-12);
    // without time there is no speed: it slides
    let f = at(&spring(), [0.7, 0.5], &memory, [5e-6, 0.0, -0.003], [0.0; 3], 0.0);
    assert_eq!(f.next_sliding, 1.0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn friction_stays_in_the_cone_and_the_ground_never_pulls(
        p in prop::array::uniform3(-0.02..0.02f64), v in prop::array::uniform3(-4.0..4.0f64),
        anchor in prop::array::uniform2(-0.02..0.02f64), sliding in 0.0..=1.0f64,
        mu_s in 0.0..1.5f64, share in 0.0..=1.0f64, age in 0.0..0.01f64,
        cap in 0.1..5.0f64,
    ) {
        let par = SpringParameters { force_z_max_n: 10f64.powf(cap), ..Default::default() };
        let s = ExponentialSpring::new(par).unwrap();
        let memory = Memory { anchor_P: anchor, sliding, committed_ns: Some(0) };
        let f = at(&s, [mu_s, mu_s * share], &memory, p, v, age);
        prop_assert!(f.normal_n >= 0.0 && f.normal_n <= par.force_z_max_n);
        prop_assert!(f.friction_P().norm() <= f.friction_limit_n * (1.0 + 1e-12) + TINY);
        prop_assert!((0.0..=1.0).contains(&f.next_sliding));
        prop_assert!((f.normal_elastic_n + f.normal_damping_n - f.normal_n).abs()
            <= 1e-12 * f.normal_elastic_n.abs().max(f.normal_damping_n.abs()));
        // the anchor agrees with the elastic force that acts
        let stretch = [p[0] - f.next_anchor_P[0], p[1] - f.next_anchor_P[1]];
        for (force, stretch) in f.friction_elastic_P.iter().zip(stretch) {
            prop_assert!((force + par.kxy_n_per_m * stretch).abs() < 1e-9);
        }
        // friction damping never drives: model 1 and model 2 both oppose the velocity
        let d = f.friction_damping_P;
        prop_assert!(d[0] * v[0] + d[1] * v[1] <= 0.0);
    }

    #[test]
    fn a_tilted_world_behaves_as_a_level_one(
        phi in prop::array::uniform3(-2.0..2.0f64), origin in prop::array::uniform3(-1.0..1.0f64),
        v in prop::array::uniform3(-0.4..0.4f64),
    ) {
        let tilt = Transform::new(
            Quaternion::from_rotation_vector(&Vec3::from(phi)).to_matrix(), Vec3::from(origin));
        let level = run_box(&Transform::identity(), Vec3::from(v));
        let tilted = run_box(&tilt, Vec3::from(v));
        let (p, p_tilted) = (level.state().q.p_WB, tilted.state().q.p_WB);
        prop_assert!((tilt.point(&p) - p_tilted).norm() < 1e-6);
        for (a, b) in level.contacts().forces().zip(tilted.contacts().forces()) {
            prop_assert!((a.force_P() - b.force_P()).norm() < 1e-2);
        }
    }
}

/// A box that lands with velocity `v`, 0.1 s later, all turned by `X_WT`.
fn run_box(X_WT: &Transform, v: Vec3) -> Simulation {
    let (model, mut spec) = box_on_springs(0.8);
    spec.ground = vec![plane(*X_WT)];
    spec.gravity_W = X_WT.R * spec.gravity_W;
    spec.q.p_WB = X_WT.point(&spec.q.p_WB);
    spec.q.quat_WB = Quaternion::from_matrix(&X_WT.R).mul(&spec.q.quat_WB);
    spec.v.v_WB = X_WT.R * v;
    let mut simulation = Simulation::new(model, spec, WATCHDOG);
    for _ in 0..100 {
        simulation.step(&TickInput::new());
    }
    assert_eq!(simulation.failure(), None);
    simulation
}

#[test]
fn vertical_bounce_has_the_closed_form_of_restitution() {
    // a v − ln(1 + a v) = −a e v − ln(1 − a e v), with a = cz; no stiffness in it
    for (v, e) in [(1.0, 0.748_435), (2.0, 0.593_624), (4.0, 0.410_720)] {
        let (model, mut spec) = box_on_springs(0.5);
        spec.gravity_W = Vec3::zeros();
        (spec.period_ns, spec.micro_steps, spec.integrator) = (10_000, 1, Integrator::Rk4);
        spec.q.p_WB.z += 0.05;
        spec.v.v_WB = Vec3::new(0.0, 0.0, -v);
        let mut simulation = Simulation::new(model, spec, WATCHDOG);
        for _ in 0..(0.2 / v * 1e5) as u32 {
            simulation.step(&TickInput::new());
        }
        let rebound = simulation.state().v.v_WB.z / v;
        assert!((rebound - e).abs() < 2e-6, "restitution {rebound}, expected {e} at {v} m/s");
    }
}
