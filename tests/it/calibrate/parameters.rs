//! What `--fit` accepts, and what it takes as start and size.

use toml::Table;

use super::{air, fit, log_of, settings};
use crate::common::bench::quadruped;
use hardstand::calibrate::{Finding, Parameter, overlay, parse_list};
use hardstand::config::Scenario;
use hardstand_physics::actuator::drive::Drive;

fn parse(list: &str, scenario: &Scenario) -> Result<Vec<Parameter>, String> {
    let list: Vec<String> = list.split(',').map(str::to_string).collect();
    parse_list(&list, scenario).map_err(|e| e.to_string())
}

/// A scenario without drives has ideal ones, whose numbers are where a fit begins.
#[test]
fn drives_are_fitted_to_a_scenario_that_has_none() {
    let plain = quadruped(&[]);
    let list = parse("drive.friction,drive.delay_us,armature,inertia", &plain).unwrap();
    let names: Vec<&str> = list.iter().map(|p| p.name.as_str()).collect();
    let inside = Drive::keys().filter(|key| key.name.starts_with("friction."));
    let inside: Vec<String> = inside.map(|key| format!("drive.{}", key.name)).collect();
    let [friction @ .., delay, armature, inertia] = &names[..] else { panic!("{names:?}") };
    assert_eq!(friction, inside);
    assert_eq!([*delay, *armature, *inertia], ["drive.delay_us", "armature", "inertia"]);
    for parameter in &list[..list.len() - 2] {
        let name = parameter.name.strip_prefix("drive.").unwrap();
        let key = Drive::keys().find(|key| key.name == name).unwrap();
        // a mean of twelve numbers that are all the same, but for its rounding
        assert!((parameter.start - key.get(&Drive::IDEAL)).abs() < 1e-12, "{name}");
        assert_eq!(parameter.paths.len(), plain.model.joint_count(), "{name}");
    }
    assert_eq!(list.last().unwrap().start, 1.0);
    assert_eq!(list.last().unwrap().paths.len(), plain.model.bodies.len());
    // of some joints, each with its own
    let list = parse("drive.friction@FL_*", &plain).unwrap();
    assert_eq!((list.len(), list[0].paths.len()), (11, 3));
    let list = parse("drive.heat@each", &plain);
    assert!(list.unwrap_err().contains("begins at 0, which switches it off"));
}

#[test]
fn a_fit_begins_with_the_numbers_of_a_preset() {
    let go2 = quadruped(&["joints.\"*\".drive=unitree_go2", "joints.\"*\".drive.delay_us=1500"]);
    let list = parse("drive.torque_speed.stall_nm,drive.delay_us", &go2).unwrap();
    for (parameter, wanted) in list.iter().zip([20.2, 1500.0]) {
        assert!((parameter.start - wanted).abs() < 1e-9, "{parameter:?}");
    }
}

/// The size of each number is its own, whatever unit its name ends with.
#[test]
fn every_number_of_a_drive_can_be_fitted_with_its_own_size() {
    let plain = quadruped(&[]);
    for key in Drive::keys() {
        let size = Drive::size(key).unwrap();
        let name = format!("drive.{}", key.name);
        let without = parse(&name, &plain);
        if size.zero_is_off {
            let text = without.unwrap_err();
            let wanted = format!("{name} begins at 0, which switches it off; give a value");
            assert!(text.contains(&wanted) && text.contains(&format!("{name}=VALUE")), "{text}");
        } else {
            assert_eq!(without.unwrap()[0].typical, size.typical, "{name}");
        }
        let start = key.min.max(2.0 * size.typical).min(key.max);
        let [given] = &parse(&format!("{name}={start}"), &plain).unwrap()[..] else { panic!() };
        let expected = (start, size.typical, size.zero_is_off, key.max);
        let found = (given.start, given.typical, given.zero_is_off, given.max);
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn a_name_that_a_drive_does_not_have_is_refused_with_those_that_it_has() {
    let plain = quadruped(&[]);
    let text = parse("drive.friction.columb_nm", &plain).unwrap_err();
    let wanted = "drive.friction.columb_nm is no number of a drive; they are delay_us, control_hz";
    assert!(text.contains(wanted), "{text}");
    let text = parse("drive.friction=0.1", &plain).unwrap_err();
    let wanted = "drive.friction is a table; give a value to a number in it: friction.coulomb_nm";
    assert!(text.contains(wanted), "{text}");
    let text = parse("drive.friction,drive.friction.coulomb_nm", &plain).unwrap_err();
    assert!(text.contains("set the same key"), "{text}");
}

/// A parameter that the log does not determine stays as the scenario has it, in the result and in
/// the robot that the other values were fitted for: of joints with different values each its own,
/// also where the search began elsewhere.
#[test]
fn what_is_not_determined_stays_as_the_scenario_has_it() {
    let own = ["links.FL_calf.mass_scale=1.2", "links.trunk.mass_scale=1.5"];
    let truth = air(&[&own[..], &["joints.\"*\".friction=0.5"]].concat());
    let log = log_of(&truth, 2.0, 5, 1e-4);
    let start = air(&own);
    // the trunk is held; its mass has no effect, whatever the search begins with
    let what = ["friction", "mass@trunk=3"].map(String::from);
    let parameters = parse_list(&what, &start).unwrap();
    let c = fit(&log, &start, &["friction", "mass@trunk=3"], &settings(2)).unwrap();
    let kept = |i: usize| match &c.estimates[i].finding {
        Finding::NotDetermined { kept, .. } => *kept,
        found => panic!("{found:?}"),
    };
    assert_eq!((kept(1), c.estimates[1].start), (1.5, 3.0));
    let complete: Table = start.complete_toml.parse().unwrap();
    let written: Table = overlay(&c, &parameters, &complete).unwrap().parse().unwrap();
    assert!(written.contains_key("joints") && !written.contains_key("links"), "{written}");
    let both = ["mass@*".to_string()];
    let mean = (1.2 + 1.5 + 11.0) / 13.0;
    let own = parse_list(&both, &start).unwrap()[0].own.unwrap();
    assert!((own - mean).abs() < 1e-12, "{own}");
}

/// A log says that a value is small, and not how small.
#[test]
fn a_value_at_its_bound_with_a_wide_interval_is_not_determined() {
    let truth = air(&["joints.\"*\".armature=0"]);
    let log = log_of(&truth, 2.0, 5, 5e-3);
    let start = air(&["joints.\"*\".armature=0.05"]);
    let c = fit(&log, &start, &["armature@each", "friction"], &settings(2)).unwrap();
    let mut at_bound = 0;
    for e in &c.estimates {
        println!("{e:?}");
        if let Finding::NotDetermined { kept, why } = &e.finding
            && why.contains("it is at its bound, 0.0000; the log says at most")
        {
            assert!(*kept < 0.05 && why.contains(&format!("{kept:.4} stays")), "{why}");
            at_bound += 1;
        }
    }
    assert!(at_bound > 0);
}
