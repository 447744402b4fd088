//! Materials, contacts between elastic bodies, and the contact-force record.
#![allow(clippy::disallowed_methods, reason = "std's functions are an independent reference")]

use hardstand_error::Result;
use hardstand_physics::contact::{
    BrickContact, CompliantContact, ContactForce, ContactMaterial, Friction, HalfSpace, HertzPair,
    HuntCrossley, HuntCrossleyForce, Overlap,
};
use hardstand_physics::spatial::{Motion, Quaternion, Transform, Vec3};
use proptest::prelude::*;

const FLOOR: HalfSpace =
    HalfSpace { point: Vec3::new(0.0, 0.0, 0.0), normal: Vec3::new(0.0, 0.0, 1.0) };

fn material(e: f64, c: f64, mu: [f64; 3]) -> ContactMaterial {
    ContactMaterial::new(e, c, mu[0], mu[1], mu[2]).unwrap()
}

fn pair(e: f64, c: f64, mu: [f64; 3]) -> HertzPair {
    HertzPair::new(&material(e, c, mu), &material(e, c, mu)).unwrap()
}

/// Rubber on rubber.
fn rubber() -> HuntCrossley {
    HuntCrossley::new(pair(1e6, 0.5, [0.8, 0.6, 0.1]), 0.01).unwrap()
}

fn overlap(depth_m: f64) -> Overlap {
    Overlap { depth_m, point: Vec3::zeros(), normal: Vec3::z(), radius_m: 0.02 }
}

fn at(law: &HuntCrossley, depth_m: f64, v_12: [f64; 3]) -> HuntCrossleyForce {
    law.evaluate(&law.initial_friction(), &overlap(depth_m), &Vec3::from(v_12))
}

/// The message names what is wrong, its value and what it must be.
fn refused<T: std::fmt::Debug>(outcome: Result<T>, message: &str) {
    assert_eq!(outcome.unwrap_err().to_string(), message);
}

#[test]
fn bad_numbers_are_refused_by_name_value_and_range() {
    let not_negative = "it must be finite and at least 0";
    let below_static = "it must be finite, at least 0 and at most mu_static";
    for (bad, shown) in
        [(f64::NAN, "NaN"), (f64::INFINITY, "inf"), (f64::NEG_INFINITY, "-inf"), (-0.5, "-0.5")]
    {
        let new = ContactMaterial::new;
        refused(new(bad, 0.0, 0.0, 0.0, 0.0), &format!("stiffness_pa is {shown}; {not_negative}"));
        let message = format!("dissipation_s_per_m is {shown}; {not_negative}");
        refused(new(1.0, bad, 0.0, 0.0, 0.0), &message);
        refused(new(1.0, 0.0, bad, 0.0, 0.0), &format!("mu_static is {shown}; {not_negative}"));
        refused(new(1.0, 0.0, 0.3, bad, 0.0), &format!("mu_dynamic is {shown}; {below_static}"));
        let message = format!("mu_viscous_s_per_m is {shown}; {not_negative}");
        refused(new(1.0, 0.0, 0.3, 0.3, bad), &message);

        let plane_strain = ContactMaterial::plane_strain_stiffness;
        refused(plane_strain(bad, 0.3), &format!("young_pa is {shown}; {not_negative}"));
        let confined = ContactMaterial::confined_compression_stiffness;
        refused(confined(bad, 0.3), &format!("young_pa is {shown}; {not_negative}"));
        let dissipation = ContactMaterial::dissipation_from_restitution;
        let message = format!("restitution is {shown}; it must be at least 0 and at most 1");
        refused(dissipation(bad, 1.0), &message);
        let positive = "it must be finite and greater than 0";
        let message = format!("impact_speed_m_per_s is {shown}; {positive}");
        refused(dissipation(0.5, bad), &message);

        let message = format!("transition_velocity_m_per_s is {shown}; {positive}");
        refused(HuntCrossley::new(*rubber().pair(), bad), &message);
        refused(CompliantContact::new(*rubber().pair(), bad), &message);
        let wood = material(1e4, 0.0, [0.0; 3]);
        refused(BrickContact::new(&wood, &wood, Vec3::repeat(1.0), bad), &message);
        let message = format!("half_lengths_m.y is {shown}; {positive}");
        refused(BrickContact::new(&wood, &wood, Vec3::new(1.0, bad, 1.0), 0.01), &message);
    }
    refused(
        ContactMaterial::new(1.0, 0.0, 0.3, 0.5, 0.0),
        &format!("mu_dynamic is 0.5; {below_static}"),
    );
    for (poisson, shown) in [(-1.0, "-1"), (0.6, "0.6"), (f64::NAN, "NaN")] {
        refused(
            ContactMaterial::plane_strain_stiffness(1.0, poisson),
            &format!("poisson is {shown}; it must be greater than -1 and at most 0.5"),
        );
        refused(
            ContactMaterial::confined_compression_stiffness(1.0, poisson),
            &format!("poisson is {shown}; it must be greater than -1 and less than 0.5"),
        );
    }
    assert!(ContactMaterial::plane_strain_stiffness(1.0, 0.5).is_ok());
    assert!(ContactMaterial::confined_compression_stiffness(1.0, 0.5).is_err());
}

#[test]
fn results_that_overflow_are_refused() {
    assert!(ContactMaterial::plane_strain_stiffness(1e308, -0.999_999).is_err());
    assert!(ContactMaterial::confined_compression_stiffness(1e308, 0.499_999).is_err());
    assert!(ContactMaterial::dissipation_from_restitution(0.0, 1e-320).is_err());
}

#[test]
fn a_material_without_stiffness_exists_but_carries_nothing() {
    let (none, steel) = (ContactMaterial::default(), material(1e11, 0.0, [0.3, 0.2, 0.0]));
    assert!(!none.is_valid() && steel.is_valid());
    let message = "stiffness_pa is 0; it must be finite and greater than 0";
    refused(HertzPair::new(&none, &steel), &format!("surface 1: {message}"));
    refused(HertzPair::new(&steel, &none), &format!("surface 2: {message}"));
    let size = Vec3::repeat(1.0);
    refused(BrickContact::new(&steel, &none, size, 0.01), &format!("brick: {message}"));
    refused(BrickContact::new(&none, &steel, size, 0.01), &format!("half-space: {message}"));
}

#[test]
fn a_refused_setter_changes_nothing() {
    let before = material(1e6, 0.5, [0.8, 0.6, 0.1]);
    let mut m = before;
    assert!(m.set_stiffness(f64::NAN).is_err());
    assert!(m.set_dissipation(-1.0).is_err());
    for mu in [[-0.1, 0.0, 0.0], [0.5, 0.6, 0.0], [0.5, 0.4, f64::INFINITY]] {
        assert!(m.set_friction(mu[0], mu[1], mu[2]).is_err());
    }
    assert_eq!(m, before);
    m.set_stiffness(8e6).unwrap();
    assert!((m.stiffness23() - 4e4).abs() < 1e-9, "the power follows the stiffness");
}

#[test]
fn nothing_touches_at_depth_zero() {
    let sphere = |z| Overlap::sphere_on_half_space(&FLOOR, &Vec3::new(0.0, 0.0, z), 0.5);
    assert_eq!((sphere(0.5), sphere(0.6), sphere(f64::NAN)), (None, None, None));
    assert!(sphere(0.499).is_some());
    let spheres = |x| Overlap::sphere_on_sphere(&Vec3::zeros(), 0.5, &Vec3::new(x, 0.0, 0.0), 0.25);
    assert_eq!((spheres(0.75), spheres(0.0), spheres(1e200)), (None, None, None));
    assert!(spheres(0.749).is_some());
    for depth in [0.0, -1e-3, f64::NAN] {
        assert_eq!(at(&rubber(), depth, [1.0, 0.0, 1.0]).contact.force, Vec3::zeros());
    }
}

#[test]
fn the_contact_point_is_nearer_to_the_stiffer_surface() {
    let (soft, hard) = (material(1e5, 0.0, [0.0; 3]), material(1e11, 0.0, [0.0; 3]));
    let centre = Vec3::new(0.3, 0.4, 0.09);
    let o = Overlap::sphere_on_half_space(&FLOOR, &centre, 0.1).unwrap();
    // the hard sphere keeps its lowest point at −0.01, the hard floor its surface at 0
    let z = |one, two| HertzPair::new(one, two).unwrap().contact_point(&o).z;
    assert!((z(&soft, &hard) + 0.01).abs() < 2e-6);
    assert!(z(&hard, &soft).abs() < 2e-6);
    assert!((z(&soft, &soft) + 0.005).abs() < 1e-15);
}

#[test]
fn a_local_tangent_plane_gives_the_same_overlap() {
    let normal = Vec3::new(1.0, 2.0, 2.0) / 3.0;
    let slope = HalfSpace { point: Vec3::new(4.0, -1.0, 7.0), normal };
    let centre = slope.point + Vec3::new(2.0, -1.0, 0.0) + normal * 0.04;
    let whole = Overlap::sphere_on_half_space(&slope, &centre, 0.05).unwrap();
    let local = Overlap::sphere_at_distance(0.04, &normal, &centre, 0.05).unwrap();
    assert!((whole.depth_m - 0.01).abs() < 1e-14 && (local.depth_m - 0.01).abs() < 1e-14);
    assert!((whole.point - local.point).norm() < 1e-14);
    assert!((slope.distance_m(&whole.point) + 0.005).abs() < 1e-14);
}

#[test]
fn friction_of_the_moment_counts_and_not_that_of_the_material() {
    let (law, v) = (rubber(), Vec3::new(-1.0, 0.0, 0.0));
    let ice = law.evaluate(&Friction::NONE, &overlap(1e-3), &v);
    let dry = law.evaluate(&law.initial_friction(), &overlap(1e-3), &v);
    // only the viscous part is the material's for ever
    assert!((ice.friction.x + 0.1 * ice.normal_n).abs() < 1e-12 * ice.normal_n);
    assert!((dry.friction.x + 0.7 * dry.normal_n).abs() < 1e-3 * dry.normal_n);
}

#[test]
fn the_two_friction_curves_peak_where_their_papers_say() {
    let mu = |law: &HuntCrossley, slip: f64| {
        let f = at(law, 1e-3, [slip, 0.0, 0.0]);
        f.friction.x / f.normal_n
    };
    let dry = HuntCrossley::new(pair(1e6, 0.0, [0.8, 0.6, 0.0]), 0.01).unwrap();
    for (slip, expected) in [(0.01, 0.8), (0.005, 0.46), (0.02, 0.68), (1e3, 0.6)] {
        assert!((mu(&dry, slip) - expected).abs() < 1e-10, "Hollars at {slip}");
    }
    let stribeck = CompliantContact::new(*dry.pair(), 0.01).unwrap();
    for (slip, expected) in [(0.01, 0.8), (0.005, 0.4), (0.02, 0.7), (0.03, 0.6), (1e3, 0.6)] {
        let v = Vec3::new(slip, 0.0, 0.0);
        let f = stribeck.evaluate(&dry.initial_friction(), &overlap(1e-3), &v).force;
        assert!((f.x / f.z - expected).abs() < 1e-10, "Stribeck at {slip}");
    }
}

#[test]
fn a_yanked_contact_has_no_force_and_the_three_rules_of_energy() {
    // away faster than 1 / (1.5 c) = 4/3 m/s, or 1 / c = 2 m/s for the brick
    let (law, v) = (rubber(), Vec3::new(0.3, 0.0, -3.0));
    let f = law.evaluate(&law.initial_friction(), &overlap(1e-3), &v);
    assert_eq!((f.normal_n, f.contact.force, f.friction), (0.0, Vec3::zeros(), Vec3::zeros()));
    assert!(f.contact.potential_energy_j > 0.0 && f.contact.power_dissipation_w == 0.0);
    let compliant = CompliantContact::new(*law.pair(), 0.01).unwrap();
    let f = compliant.evaluate(&law.initial_friction(), &overlap(1e-3), &v);
    let empty = ContactForce { point: f.point, ..ContactForce::default() };
    assert_eq!(f, empty);

    let wood = material(2e4, 0.5, [0.8, 0.6, 0.0]);
    let brick = BrickContact::new(&wood, &wood, Vec3::repeat(0.1), 0.01).unwrap();
    let pose = Transform::from_xyz_rpy([0.0, 0.0, 0.099], [0.0; 3]);
    let up = Motion::new(Vec3::zeros(), -v);
    let f = brick.evaluate(&brick.initial_friction(), &FLOOR, &pose, &up).unwrap();
    assert_eq!((f.contact.force, f.contact.point), (Vec3::zeros(), FLOOR.point));
    assert!((f.contact.potential_energy_j - 4.0 * 0.5 * 1e4 * 1e-6).abs() < 1e-9);
    assert!((f.contact.power_dissipation_w - 4.0 * 1e4 * 1e-3 * 3.0).abs() < 1e-6);
}

#[test]
fn forces_stay_finite_for_any_finite_input() {
    let huge = [0.0, 1e-320, 1e-200, 1.0, 1e100, 1e200, f64::MAX];
    let soft = material(f64::MIN_POSITIVE, f64::MAX, [f64::MAX; 3]);
    let hard = material(f64::MAX, 0.0, [f64::MAX; 3]);
    for (one, two) in [(&soft, &soft), (&soft, &hard), (&hard, &hard)] {
        let hertz = HertzPair::new(one, two).unwrap();
        let law = HuntCrossley::new(hertz, 1e-300).unwrap();
        let other = CompliantContact::new(hertz, 1e-300).unwrap();
        let mu = law.initial_friction();
        for depth_m in huge {
            for radius_m in huge {
                for speed in huge.iter().flat_map(|&v| [v, -v]) {
                    let o = Overlap { radius_m, ..overlap(depth_m) };
                    let v = Vec3::new(speed, -speed, speed);
                    let f = law.evaluate(&mu, &o, &v);
                    assert_finite(&f.contact);
                    assert!(f.normal_n.is_finite() && f.normal_n >= 0.0);
                    assert_finite(&other.evaluate(&mu, &o, &v));
                }
            }
        }
    }
}

fn assert_finite(f: &ContactForce) {
    let vectors = f.force.iter().chain(f.moment.iter());
    assert!(vectors.chain([&f.potential_energy_j, &f.power_dissipation_w]).all(|x| x.is_finite()));
}

#[test]
fn the_centre_of_pressure_depends_on_the_reference_and_the_wrench_does_not() {
    let push = |x: f64, n: f64| {
        let force = Vec3::new(0.3 * n, 0.0, n);
        let contact = ContactForce { point: Vec3::new(x, 0.2, 0.0), force, ..Default::default() };
        (contact, Vec3::new(0.0, 0.0, n))
    };
    let parts = [push(-1.0, 10.0), push(2.0, 30.0)];
    let sum = |p: Vec3| ContactForce::resultant(parts.into_iter(), &p);
    let (here, there) = (sum(Vec3::zeros()), sum(Vec3::new(5.0, 0.0, 0.0)));
    assert!((here.point - there.point).norm() > 0.01);
    assert!(
        (here.moment_about(&Vec3::zeros()) - there.moment_about(&Vec3::zeros())).norm() < 1e-12
    );
    // forces along the line from the reference have no moment: it stays
    let upward =
        [(ContactForce { point: Vec3::z(), force: Vec3::z(), ..Default::default() }, Vec3::z())];
    assert_eq!(ContactForce::resultant(upward.into_iter(), &Vec3::zeros()).point, Vec3::zeros());
    let none = ContactForce::resultant(std::iter::empty(), &Vec3::x());
    assert_eq!(none, ContactForce { point: Vec3::x(), ..Default::default() });
}

#[test]
fn a_brick_stands_on_one_face_only() {
    let wood = material(2e4, 0.0, [0.0; 3]);
    let brick = BrickContact::new(&wood, &wood, Vec3::new(0.3, 0.2, 0.1), 0.01).unwrap();
    let stand = |rpy: [f64; 3], height: f64| {
        let pose = Transform::from_xyz_rpy([0.0, 0.0, height], rpy);
        brick.evaluate(&Friction::NONE, &FLOOR, &pose, &Motion::zero())
    };
    assert_eq!(stand([0.0; 3], 0.1), None);
    let quarter = std::f64::consts::FRAC_PI_2;
    for (rpy, half) in [
        ([0.0; 3], 0.1),
        ([2.0 * quarter, 0.0, 0.0], 0.1),
        ([quarter, 0.0, 0.0], 0.2),
        ([-quarter, 0.0, 0.0], 0.2),
        ([0.0, quarter, 0.0], 0.3),
        ([0.0, -quarter, 0.0], 0.3),
    ] {
        let f = stand(rpy, half - 0.001).unwrap();
        assert_eq!(f.vertices().len(), 4, "{rpy:?}");
        assert!((f.contact.force - Vec3::new(0.0, 0.0, 40.0)).norm() < 1e-9, "{rpy:?}");
    }
    // deep inside: corners of the upper face are in the floor, too, and do not act
    assert_eq!(stand([0.1, 0.05, 0.0], -1.0).unwrap().vertices().len(), 4);
    let tilted = stand([0.1, 0.05, 0.0], 0.12).unwrap();
    assert_eq!(tilted.vertices().len(), 1);
}

prop_compose! {
    fn any_pair()(e in 3.0..9.0f64, c in 0.0..2.0f64, mu_s in 0.0..1.5f64, share in 0.0..=1.0f64,
        uv in 0.0..0.5f64) -> HertzPair {
        pair(10f64.powf(e), c, [mu_s, mu_s * share, uv])
    }
}

prop_compose! {
    fn any_pose()(phi in prop::array::uniform3(-2.0..2.0f64),
        p in prop::array::uniform3(-2.0..2.0f64)) -> Transform {
        Transform::new(Quaternion::from_rotation_vector(&Vec3::from(phi)).to_matrix(), Vec3::from(p))
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn friction_stays_in_the_cone_and_opposes_the_slip(
        pair in any_pair(), depth in -6.0..-1.5f64, v in prop::array::uniform3(-2.0..2.0f64),
        slow in -4.0..0.0f64, vt in -3.0..-1.0f64, pose in any_pose(),
    ) {
        let normal = pose.R * Vec3::z();
        let o = Overlap { normal, ..overlap(10f64.powf(depth)) };
        let v = Vec3::from(v) * 10f64.powf(slow);
        let law = HuntCrossley::new(pair, 10f64.powf(vt)).unwrap();
        let other = CompliantContact::new(pair, 10f64.powf(vt)).unwrap();
        let mu = pair.friction();
        let f = law.evaluate(&mu, &o, &v);
        let contact = other.evaluate(&mu, &o, &v);
        let slip = v - normal * v.dot(&normal);
        let stribeck = contact.force - normal * contact.force.dot(&normal);
        let cone = (mu.mu_static() + pair.mu_viscous_s_per_m() * slip.norm()) * f.normal_n;
        for friction in [f.friction, stribeck] {
            prop_assert!(friction.norm() <= cone * (1.0 + 1e-9) + 1e-12 * f.normal_n);
            // surface 2 is dragged along by surface 1, which slips past it with `slip`
            let along = friction.dot(&slip);
            prop_assert!(along >= -1e-12 * f.normal_n * slip.norm());
            prop_assert!((along - friction.norm() * slip.norm()).abs()
                <= 1e-9 * (1e-6 + along.abs()) + 1e-12 * f.normal_n);
        }
        // there is no force exactly when it would pull, and never a gain of energy
        let pulls = 1.0 + 1.5 * pair.dissipation_s_per_m() * v.dot(&normal) <= 0.0;
        prop_assert_eq!(f.normal_n > 0.0, !pulls);
        prop_assert_eq!(f.contact.force == Vec3::zeros(), pulls);
        prop_assert_eq!(contact.force == Vec3::zeros(), pulls);
        prop_assert!(f.contact.power_dissipation_w >= 0.0);
        prop_assert!((contact.force.dot(&normal) - f.normal_n).abs() <= 1e-9 * f.normal_n);
    }

    /// Power of the force on both surfaces = change of the stored energy − loss.
    #[test]
    fn power_is_what_the_energy_does_not_explain(
        pair in any_pair(), depth in 1e-4..1e-2f64, v in prop::array::uniform3(-0.3..0.3f64),
    ) {
        let v = Vec3::from(v);
        let law = HuntCrossley::new(pair, 0.01).unwrap();
        let f = law.evaluate(&pair.friction(), &overlap(depth), &v);
        let (h, energy) = (1e-6 * depth, |x| pair.elastic(&overlap(x)).1);
        let stored = (energy(depth + h) - energy(depth - h)) / (2.0 * h) * v.z;
        let given = f.contact.force.dot(&v);
        let scale = f.normal_n * (v.norm() + 0.1);
        prop_assert!((given - stored - f.contact.power_dissipation_w).abs() <= 1e-6 * scale);
    }

    #[test]
    fn surfaces_may_change_places(
        one in any_pair(), c in prop::array::uniform2(0.0..1.0f64),
        e in prop::array::uniform2(3.0..9.0f64), x in 0.11..0.149f64,
        v in prop::array::uniform3(-0.4..0.4f64),
    ) {
        let mu = one.friction();
        let [a, b] = [0, 1].map(|i| material(10f64.powf(e[i]), c[i], [0.5, 0.4, 0.1]));
        let (p, q, v) = (Vec3::zeros(), Vec3::new(x, 0.0, 0.0), Vec3::from(v));
        let law = |one, two| HuntCrossley::new(HertzPair::new(one, two).unwrap(), 0.01).unwrap();
        let there = Overlap::sphere_on_sphere(&p, 0.1, &q, 0.05).unwrap();
        let back = Overlap::sphere_on_sphere(&q, 0.05, &p, 0.1).unwrap();
        let f = law(&a, &b).evaluate(&mu, &there, &v).contact;
        let g = law(&b, &a).evaluate(&mu, &back, &-v).contact.on_surface_1();
        let scale = f.force.norm();
        prop_assert!((f.force - g.force).norm() <= 1e-9 * scale);
        prop_assert!((f.point - g.point).norm() <= 1e-12);
    }

    #[test]
    fn a_change_of_frame_and_back_changes_nothing(
        X_BA in any_pose(), vectors in prop::array::uniform9(-9.0..9.0f64),
    ) {
        let v = |i: usize| Vec3::new(vectors[i], vectors[i + 1], vectors[i + 2]);
        let f = ContactForce { point: v(0), force: v(3), moment: v(6),
            potential_energy_j: 1.0, power_dissipation_w: 2.0 };
        let mut g = f;
        g.change_frame(&X_BA);
        // the moment about any point is the same vector in other axes
        let p = Vec3::new(0.3, -0.2, 0.1);
        prop_assert!((g.moment_about(&X_BA.point(&p)) - X_BA.R * f.moment_about(&p)).norm() < 1e-11);
        prop_assert!((g.moment - X_BA.R * f.moment).norm() < 1e-12, "turned, not shifted");
        g.change_frame(&X_BA.inverse());
        prop_assert!((g.point - f.point).norm() < 1e-12 && (g.force - f.force).norm() < 1e-12);
        prop_assert!((g.moment - f.moment).norm() < 1e-12);
        prop_assert_eq!((g.potential_energy_j, g.power_dissipation_w), (1.0, 2.0));
        prop_assert_eq!(f.on_surface_1().on_surface_1(), f);
        prop_assert_eq!(f.on_surface_1().moment_about(&p), -f.moment_about(&p));
    }

    #[test]
    fn a_resultant_keeps_the_wrench_and_lies_among_its_parts(
        numbers in prop::collection::vec(prop::array::uniform9(-3.0..3.0f64), 1..6),
        reference in prop::array::uniform3(-3.0..3.0f64),
    ) {
        let parts: Vec<_> = numbers.iter().map(|n| {
            let v = |i: usize| Vec3::new(n[i], n[i + 1], n[i + 2]);
            let normal = Vec3::new(0.0, 0.0, n[5].abs());
            let contact = ContactForce { point: v(0), force: v(3) + normal, moment: v(6),
                potential_energy_j: n[1].abs(), power_dissipation_w: n[2] };
            (contact, normal)
        }).collect();
        let reference = Vec3::from(reference);
        let sum = ContactForce::resultant(parts.iter().copied(), &reference);
        let about = |p: &Vec3| parts.iter().map(|(c, _)| c.moment_about(p)).sum::<Vec3>();
        for p in [Vec3::zeros(), Vec3::new(3.0, -2.0, 1.0), sum.point] {
            prop_assert!((sum.moment_about(&p) - about(&p)).norm() < 1e-10);
        }
        prop_assert!((sum.force - parts.iter().map(|(c, _)| c.force).sum::<Vec3>()).norm() < 1e-12);
        for k in 0..3 {
            let of = |c: &(ContactForce, Vec3)| c.0.point[k];
            let low = parts.iter().map(of).fold(f64::INFINITY, f64::min);
            let high = parts.iter().map(of).fold(f64::NEG_INFINITY, f64::max);
            prop_assert!(sum.point[k] >= low - 1e-9 && sum.point[k] <= high + 1e-9);
        }
        let energy: f64 = parts.iter().map(|(c, _)| c.potential_energy_j).sum();
        prop_assert!((sum.potential_energy_j - energy).abs() < 1e-12);
    }

    /// A turned world gives turned forces.
    #[test]
    fn a_brick_does_not_care_about_the_frame(
        tilt in any_pose(), phi in prop::array::uniform3(-2.0..2.0f64), lift in -0.05..0.2f64,
        twist in prop::array::uniform6(-1.0..1.0f64),
    ) {
        let wood = material(2e4, 0.4, [0.6, 0.4, 0.1]);
        let brick = BrickContact::new(&wood, &wood, Vec3::new(0.3, 0.2, 0.1), 0.01).unwrap();
        let R = Quaternion::from_rotation_vector(&Vec3::from(phi)).to_matrix();
        let pose = Transform::new(R, Vec3::new(0.1, 0.2, lift));
        let V = Motion::new(
            Vec3::new(twist[0], twist[1], twist[2]), Vec3::new(twist[3], twist[4], twist[5]));
        let mu = brick.initial_friction();
        let level = brick.evaluate(&mu, &FLOOR, &pose, &V);
        let slope = HalfSpace { point: tilt.p, normal: tilt.R * Vec3::z() };
        let moved = tilt.motion_to_parent(&V);
        let tilted = brick.evaluate(&mu, &slope, &tilt.compose(&pose), &moved);
        prop_assert_eq!(level.is_some(), tilted.is_some());
        if let (Some(a), Some(b)) = (level, tilted) {
            let mut a_turned = a.contact;
            a_turned.change_frame(&tilt);
            let scale = 1.0 + a_turned.force.norm();
            prop_assert!((a_turned.force - b.contact.force).norm() < 1e-8 * scale);
            prop_assert!((a_turned.moment_about(&tilt.p)
                - b.contact.moment_about(&tilt.p)).norm() < 1e-8 * scale);
            prop_assert!(a.contact.power_dissipation_w >= -1e-12);
        }
    }
}
