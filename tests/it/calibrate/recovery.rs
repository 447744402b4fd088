//! Parameters whose truth is known are found again.

use super::{air, fit, found, log_of, log_of_seed, settings};
use crate::common::bench::quadruped;
use hardstand::calibrate::{Estimate, Finding, FitSettings, Outcome, Problem, solve};
use hardstand::optimize::SplitMix;
use hardstand_physics::math;

const TRUTH: [(&str, &str, f64); 6] = [
    ("joints.\"*\".hold_kp", "hold_kp", 36.0),
    ("joints.\"*\".hold_kd", "hold_kd", 1.3),
    ("joints.\"*\".friction", "friction", 0.42),
    ("joints.\"*\".armature", "armature", 0.016),
    ("joints.\"*\".drive.delay_us", "drive.delay_us", 9000.0),
    ("links.FL_calf.mass_scale", "mass@FL_calf", 1.6),
];

#[test]
fn the_truth_is_found_within_two_percent_and_within_twice_its_interval() {
    let sets: Vec<String> = TRUTH.iter().map(|(key, _, x)| format!("{key}={x:?}")).collect();
    let truth = air(&sets.iter().map(String::as_str).collect::<Vec<_>>());
    let log = log_of(&truth, 10.0, 5, 5e-4);
    let what: Vec<&str> = TRUTH.iter().map(|(_, name, _)| *name).collect();
    let c = fit(&log, &air(&[]), &what, &settings(2)).unwrap();
    for (_, name, wanted) in TRUTH {
        let (value, half_width) = found(&c, name);
        println!("{name} {value:.5} ± {half_width:.5}, truth {wanted}");
        assert!((value - wanted).abs() < 0.02 * wanted, "{name}: {value}, truth {wanted}");
        // twice: one interval of twenty may miss
        assert!((value - wanted).abs() < 2.0 * half_width, "{name}: {value} ± {half_width}");
    }
    let [before, after] = c.held_back.as_ref().unwrap();
    // the noise, and the error of the first velocities: a line through noisy positions
    println!("held back {} -> {} rad", before.rms_rad, after.rms_rad);
    assert!(after.rms_rad < 2.0 * 5e-4, "{}", after.rms_rad);
    assert!(before.rms_rad > 10.0 * after.rms_rad, "{}", before.rms_rad);
}

/// Of a log without noise only rounding is left, which differs at each point: no step makes the sum
/// of squares smaller then, and it is no small share of anything.
#[test]
fn a_search_ends_where_only_rounding_is_left() {
    let truth = [1.3, 2.0];
    let residuals = |x: &Vec<f64>| {
        let mut rounding = SplitMix(x[0].to_bits() ^ x[1].to_bits());
        let at = |x: [f64; 2], t: f64| x[1] * math::sin_cos(x[0] * t).0;
        let one = |t: f64| at([x[0], x[1]], t) - at(truth, t) + 1e-14 * rounding.normal();
        Some((0..8).map(|i| 0.25 * f64::from(i)).map(one).collect())
    };
    let problem = Problem {
        start: vec![1.0, 1.0],
        scale: vec![1.0; 2],
        lower: vec![0.0; 2],
        upper: vec![10.0; 2],
        step: vec![5e-3; 2],
        iterations_max: 40,
        staircase: false,
    };
    let found = solve(&problem, |points| points.iter().map(residuals).collect(), |_, _| {});
    assert_eq!(found.outcome, Outcome::Converged, "{found:?}");
    for (value, wanted) in found.values.iter().zip(truth) {
        assert!((value - wanted).abs() < 1e-7, "{:?}", found.values);
    }
}

#[test]
fn contact_and_friction_are_found_from_a_log_on_the_ground() {
    // a slope on which feet slide and stick
    let slope = "sim.gravity_m_per_s2=[1.4, 0.0, -9.7]";
    let ground = |friction: f64, mu: f64, d2: f64| {
        let joints =
            format!("joints={{\"*\"={{hold_kp=60.0, hold_kd=2.0, friction={friction:?}}}}}");
        let contact = [("mu_static", 0.16), ("mu_kinetic", mu), ("d2_per_m", d2)];
        let contact = contact.map(|(key, value)| format!("contact.{key}={value:?}"));
        let [statics, kinetics, springs] = &contact;
        quadruped(&["sim.micro_steps=5", slope, &joints, statics, kinetics, springs])
    };
    let truth = [("friction", 0.4), ("contact.mu_kinetic", 0.1), ("contact.d2_per_m", 900.0)];
    let log = log_of(&ground(0.4, 0.1, 900.0), 9.0, 5, 2e-4);
    let settings = FitSettings { window_s: Some(0.15), ..settings(2) };
    let names = truth.map(|(name, _)| name);
    let c = fit(&log, &ground(0.2, 0.13, 1150.0), &names, &settings).unwrap();
    for (name, wanted) in truth {
        let (value, half_width) = found(&c, name);
        println!("{name} {value:.5} ± {half_width:.5}, truth {wanted}");
        assert!((value - wanted).abs() < 0.02 * wanted, "{name}: {value}, truth {wanted}");
    }
}

/// Friction, current loop and inertia of drives.
#[test]
fn the_drives_friction_bandwidth_and_inertia_are_found_within_two_percent() {
    let none = ["joints.\"*\".friction=0", "joints.\"*\".damping=0"];
    let truth = [
        ("drive.friction.coulomb_nm", 0.35),
        ("drive.friction.viscous_nm_s_per_rad", 0.12),
        ("drive.friction.stribeck_nm", 0.25),
        ("drive.friction.stribeck_speed_rad_per_s", 0.4),
        ("drive.bandwidth_hz", 30.0),
        ("inertia", 1.5),
    ];
    let place = |name: &str| match name {
        "inertia" => "links.\"*\".inertia_scale".to_string(),
        name => format!("joints.\"*\".{name}"),
    };
    let sets: Vec<String> =
        truth.iter().map(|(name, x)| format!("{}={x:?}", place(name))).collect();
    let sets: Vec<&str> = none.into_iter().chain(sets.iter().map(String::as_str)).collect();
    let log = log_of(&air(&sets), 10.0, 5, 2e-4);
    let what: Vec<String> = truth
        .iter()
        .map(|(name, _)| match *name {
            "drive.bandwidth_hz" => format!("{name}=60"),
            name => name.into(),
        })
        .collect();
    let what: Vec<&str> = what.iter().map(String::as_str).collect();
    let c = fit(&log, &air(&none), &what, &settings(2)).unwrap();
    for (name, wanted) in truth {
        let (value, half_width) = found(&c, name);
        println!("{name} {value:.5} ± {half_width:.5}, truth {wanted}");
        assert!((value - wanted).abs() < 0.02 * wanted, "{name}: {value}, truth {wanted}");
        assert!((value - wanted).abs() < 2.0 * half_width, "{name}: {value} ± {half_width}");
    }
}

/// All numbers of a table, of which the log shows two.
#[test]
fn a_table_is_fitted_and_what_the_log_does_not_show_of_it_is_named() {
    let none = ["joints.\"*\".friction=0", "joints.\"*\".damping=0"];
    let sets = [
        "joints.\"*\".drive.friction.coulomb_nm=0.35",
        "joints.\"*\".drive.friction.viscous_nm_s_per_rad=0.12",
    ];
    let log = log_of(&air(&[none, sets].concat()), 6.0, 5, 2e-4);
    let c = fit(&log, &air(&none), &["drive.friction"], &settings(2)).unwrap();
    assert_eq!(c.estimates.len(), 11);
    for (name, wanted) in [("coulomb_nm", 0.35), ("viscous_nm_s_per_rad", 0.12)] {
        let (value, half_width) = found(&c, &format!("drive.friction.{name}"));
        println!("{name} {value:.5} ± {half_width:.5}, truth {wanted}");
        assert!((value - wanted).abs() < 0.02 * wanted, "{name}: {value}, truth {wanted}");
    }
    for name in ["stribeck_speed_rad_per_s", "stribeck_exponent"] {
        let of = |e: &&Estimate| e.name == format!("drive.friction.{name}");
        let finding = &c.estimates.iter().find(of).unwrap().finding;
        assert!(matches!(finding, Finding::NotDetermined { .. }), "{name}: {finding:?}");
    }
}

/// Sticking and sliding of drives, begun at twice and at half the truth.
#[test]
fn the_drives_breakaway_friction_is_found_from_twice_and_from_half_of_it() {
    let none = ["joints.\"*\".friction=0", "joints.\"*\".damping=0"];
    let truth = [
        ("coulomb_nm", 0.35),
        ("viscous_nm_s_per_rad", 0.12),
        ("stribeck_nm", 0.25),
        ("stribeck_speed_rad_per_s", 0.4),
    ];
    let place = |(name, x): &(&str, f64)| format!("joints.\"*\".drive.friction.{name}={x:?}");
    let sets: Vec<String> = truth.iter().map(place).collect();
    let sets: Vec<&str> = none.into_iter().chain(sets.iter().map(String::as_str)).collect();
    let log = log_of(&air(&sets), 10.0, 5, 2e-4);
    for factor in [2.0, 0.5] {
        let begin = |(name, x): &(&str, f64)| format!("drive.friction.{name}={:?}", factor * x);
        let what: Vec<String> = truth.iter().map(begin).collect();
        let what: Vec<&str> = what.iter().map(String::as_str).collect();
        let c = fit(&log, &air(&none), &what, &settings(2)).unwrap();
        for (name, wanted) in truth {
            let (value, half_width) = found(&c, &format!("drive.friction.{name}"));
            println!("{name} {value:.5} ± {half_width:.5}, truth {wanted}");
            assert!((value - wanted).abs() < 0.02 * wanted, "{name}: {value}, truth {wanted}");
            assert!((value - wanted).abs() < 2.0 * half_width, "{name}: {value} ± {half_width}");
        }
    }
}

/// Each window begins in a state that has noise, and all of its errors with it.
#[test]
fn intervals_from_windows_hold_the_truth() {
    let names = ["hold_kd", "friction", "armature"];
    let truth = [1.0, 0.3, 0.01];
    let (mut held, mut narrow) = ([0; 3], [0; 3]);
    for seed in 1..=8 {
        let log = log_of_seed(&air(&[]), [4.0, 5e-4], 5, seed);
        let start = air(&["joints.\"*\".hold_kd=0.8", "joints.\"*\".armature=0.013"]);
        let settings = FitSettings { window_s: Some(0.25), ..settings(2) };
        let c = fit(&log, &start, &names, &settings).unwrap();
        for k in 0..3 {
            let (value, half_width) = found(&c, names[k]);
            println!("FOUND {} {value:.5} ± {half_width:.5}, truth {}", names[k], truth[k]);
            held[k] += u32::from((value - truth[k]).abs() < half_width);
            // one that says nothing would hold it as well
            narrow[k] += u32::from(half_width < 0.1 * truth[k]);
        }
    }
    println!("of 8 intervals {held:?} hold the truth, {narrow:?} are narrow");
    assert!(held.iter().all(|held| *held >= 6), "{held:?}");
    assert!(narrow.iter().all(|narrow| *narrow >= 6), "{narrow:?}");
}
