//! Springs of feet and surfaces: keys that are taken, combined, refused.

use std::path::Path;

use hardstand::config::Scenario;
use hardstand_physics::contact::SpringParameters;
use hardstand_physics::plant::{Carrier, ContactModel};

fn load(sets: &[&str]) -> hardstand::Result<Scenario> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/quadruped.toml");
    let sets: Vec<String> = sets.iter().map(|s| (*s).to_string()).collect();
    Scenario::load(&path, &sets)
}

fn parameters(model: &ContactModel) -> SpringParameters {
    match model {
        ContactModel::ExponentialSpring(spring) => *spring.parameters(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_foot_has_springs_of_its_own() {
    let s = load(&["feet.1.kxy_n_per_m=5000", "feet.1.d2_per_m=700"]).unwrap();
    let [first, second] =
        [0, 1].map(|f| parameters(&s.spec.stations[s.spec.feet[f].stations[0]].model));
    assert_eq!((second.d2_per_m, second.kxy_n_per_m), (700.0, 5000.0));
    // "critical" follows from the foot's own elasticity
    assert_eq!(second.cxy_n_s_per_m, 2.0 * 5000.0_f64.sqrt());
    let others = SpringParameters { d2_per_m: 700.0, kxy_n_per_m: 5000.0, ..first };
    assert_eq!(SpringParameters { cxy_n_s_per_m: first.cxy_n_s_per_m, ..second }, others);
}

/// A number of a foot stays, the other parameters follow the weight.
#[test]
fn the_keys_of_a_foot_take_precedence_over_the_weight() {
    let sets = ["contact.spring=by_mass", "feet.1.d2_per_m=2000", "feet.2.d1_n=40.0"];
    let s = load(&sets).unwrap();
    let of = |f: usize| parameters(&s.spec.stations[s.spec.feet[f].stations[0]].model);
    let by_mass = parameters(&load(&sets[..1]).unwrap().spec.stations[0].model);
    assert_eq!(of(0), by_mass);
    assert_eq!((of(1).d2_per_m, of(1).d1_n), (2000.0, by_mass.d1_n));
    assert_eq!(of(1).cz_s_per_m, 0.5 * (2000.0_f64 / 9.81).sqrt());
    assert_eq!((of(2).d1_n, of(2).d2_per_m), (40.0, by_mass.d2_per_m));
}

#[test]
fn a_surface_replaces_the_springs_on_it_and_no_others() {
    let terrain = "terrain=[{kind=\"box\", position_m=[3,0,0], size_m=[1,1,0.1], d2_per_m=300}]";
    let s = load(&["planes.0.kxy_n_per_m=4000", "planes.0.cz_s_per_m=3", terrain]).unwrap();
    let [plane, lawn] = [0, 1].map(|i| s.spec.ground[i].spring);
    assert_eq!(
        (plane.kxy_n_per_m, plane.cz_s_per_m, plane.d2_per_m),
        (Some(4000.0), Some(3.0), None)
    );
    assert_eq!((lawn.d2_per_m, lawn.kxy_n_per_m), (Some(300.0), None));
    let own = parameters(&s.spec.stations[0].model);
    assert_eq!((own.kxy_n_per_m, own.d2_per_m), (20_000.0, 1150.0));
    // 0.0065905 + 7 / 300: shapes look for contacts as far as the softest spring acts
    let trunk = s.spec.collisions.shapes.iter().any(|shape| shape.carrier == Carrier::Link(0));
    assert!(trunk && (s.spec.collisions.margin_m - 0.029_923_833).abs() < 1e-6);
}

#[test]
fn a_body_has_springs_of_its_own() {
    let body = "bodies=[{name=\"ball\", shape=\"sphere\", radius_m=0.1, mass_kg=1.0, \
                position_m=[2,0,0.1], d2_per_m=600}]";
    let s = load(&[body]).unwrap();
    let shape = s.spec.collisions.shapes.last().unwrap();
    assert_eq!(parameters(&shape.model).d2_per_m, 600.0);
}

#[test]
fn wrong_springs_are_refused_with_key_value_and_range() {
    for (set, expected) in [
        ("feet.1.d2_per_m=-1", "feet[1].d2_per_m is -1; it must be finite and greater than 0"),
        ("feet.1.d1_n=soft", "feet[1].d1_n is \"soft\"; it must be finite and greater than 0, or"),
        ("planes.0.cxy_n_s_per_m=-2", "planes[0].cxy_n_s_per_m is -2; it must be finite and at"),
        ("planes.0.cz_s_per_m=2000", "planes[0].cz_s_per_m is 2000; it must be 0 to 1000"),
        ("planes.0.d1_n=by_mass", "planes[0].d1_n is \"by_mass\"; it must be finite and greater"),
        ("planes.0.stiffness=1", "planes[0].stiffness is unknown"),
    ] {
        let text = load(&[set]).map(|_| ()).unwrap_err().to_string();
        assert!(text.contains(expected), "no \"{expected}\" in:\n{text}");
        assert_eq!(text.matches("it must be").count(), usize::from(set != "planes.0.stiffness=1"));
    }
    let text = load(&["feet.1.model=rigid", "feet.1.kxy_n_per_m=5000"]);
    let text = text.map(|_| ()).unwrap_err().to_string();
    let expected = "feet[1].kxy_n_per_m: its contact model does not use it";
    assert!(text.contains(expected), "{text}");
    // a mistake in [contact] is reported once
    let text = load(&["contact.d2_per_m=0"]).map(|_| ()).unwrap_err().to_string();
    assert_eq!(text.matches("d2_per_m is 0").count(), 1, "{text}");
}

#[test]
fn the_curve_of_friction_is_a_key_that_older_logs_lack() {
    let of = |sets: &[&str]| {
        let all = [&["contact.model=hunt_crossley"], sets].concat();
        let s = load(&all).unwrap();
        (s.spec.stations[0].model.clone(), s.physics_hash)
    };
    let (plain, same) = (of(&[]), of(&["contact.slip_curve=hollars"]));
    let other = of(&["contact.slip_curve=stribeck"]);
    assert_eq!(plain, same);
    assert!(plain.0 != other.0 && plain.1 != other.1);
}

#[test]
fn rolling_friction_is_for_contacts_with_forces() {
    let s = load(&["contact.rolling_m=0.001", "feet.1.torsional_m=0.02"]).unwrap();
    let of = |f: usize| s.spec.stations[s.spec.feet[f].stations[0]].rolling;
    assert_eq!((of(0).rolling_m(), of(0).torsional_m()), (0.001, 0.0));
    assert_eq!((of(1).rolling_m(), of(1).torsional_m()), (0.001, 0.02));
    assert!(s.spec.collisions.shapes.iter().all(|shape| shape.rolling == of(0)));
    // keys that are off are no change for a log that does not know them
    let (off, plain) = (load(&["contact.settle_rad_per_s=0.5"]).unwrap(), load(&[]).unwrap());
    assert_eq!(off.physics_hash, plain.physics_hash);
    assert_ne!(s.physics_hash, plain.physics_hash);
    for (sets, expected) in [
        (vec!["contact.rolling_m=2"], "contact.rolling_m is 2; it must be 0 to 1"),
        (vec!["feet.0.torsional_m=-1"], "feet[0].torsional_m is -1; it must be 0 to 1"),
        (vec!["contact.settle_rad_per_s=0"], "contact.settle_rad_per_s is 0; it must be finite"),
        (
            vec!["contact.model=rigid", "contact.rolling_m=0.01"],
            "contact.model: \"rigid\" has no rolling and torsional friction",
        ),
        (
            vec!["sim.integrator=rk4", "contact.rolling_m=0.01"],
            "sim.integrator is \"rk4\", whose stages",
        ),
        (
            vec!["feet.2.model=rigid", "feet.2.rolling_m=0.01"],
            "feet[2].model: \"rigid\" has no rolling and torsional friction",
        ),
    ] {
        let text = load(&sets).map(|_| ()).unwrap_err().to_string();
        assert!(text.contains(expected), "no \"{expected}\" in:\n{text}");
    }
}
