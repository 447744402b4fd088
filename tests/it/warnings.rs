//! What a scenario says, but hardly means, is told.

use std::ffi::OsStr;
use std::path::Path;

use hardstand::config::Scenario;
use hardstand_protocol::TickInput;

use crate::common::logs::hardstand;
use crate::common::process::Scene;
use crate::common::scene::quadruped;

#[test]
fn a_robot_placed_in_the_ground_is_told() {
    let as_given = "initial.place=as_given";
    let warnings =
        |z: &str| quadruped(&[as_given, &format!("initial.position_m=[0,0,{z}]")]).warnings;
    let deep = warnings("0.25").concat();
    assert!(deep.contains("deep in the ground") && deep.contains("above_ground"), "{deep}");
    assert!(warnings("0.5").is_empty());
    assert!(quadruped(&[]).warnings.is_empty());
}

#[test]
fn friction_that_has_no_effect_is_told() {
    let of = |sets: &[&str]| quadruped(sets).warnings.concat();
    let balls = ["contact.model=hunt_crossley", "stations=[]"];
    let ice = ["contact.mu_static=0.2", "contact.mu_kinetic=0.1"];
    let told = of(&[&balls[..], &ice].concat());
    assert!(told.contains("contact.mu_static has no effect"), "{told}");
    assert!(told.contains("materials."), "{told}");
    assert_eq!(of(&balls), "");
    assert_eq!(of(&ice), "");
}

#[test]
fn restitution_without_a_rigid_contact_is_told() {
    let of = |sets: &[&str]| quadruped(sets).warnings.concat();
    let bouncy = "contact.restitution=0.3";
    let told = of(&[bouncy]);
    assert!(told.contains("contact.restitution = 0.3 has no effect"), "{told}");
    assert!(told.contains("contact.model = \"rigid\""), "{told}");
    assert_eq!(of(&[bouncy, "contact.model=rigid"]), "");
    assert_eq!(of(&["contact.restitution=0"]), "");
}

#[test]
fn soft_ground_that_nothing_sinks_into_is_told() {
    let of = |sets: &[&str]| quadruped(sets).warnings.concat();
    let sand = "planes=[{name=\"beach\", position_m=[0.0, 0.0, 0.0], rpy_rad=[0.0, 0.0, 0.0], \
                soft=\"sand\"}]";
    assert!(!of(&[sand]).contains("soft"));
    let told = of(&[sand, "feet=[]", "stations=[]"]);
    assert!(told.contains("soft of \"beach\" has no effect"), "{told}");
}

#[test]
fn a_robot_of_which_nothing_touches_is_told() {
    let of = |sets: &[&str]| quadruped(sets).warnings.concat();
    let told = of(&["contact.bodies=feet", "feet=[]", "stations=[]"]);
    assert!(told.contains("there are no [[feet]]: no link touches anything"), "{told}");
    for touches in ["contact.bodies=all", "contact.bodies=[]"] {
        assert_eq!(of(&[touches, "feet=[]", "stations=[]"]), "", "{touches}");
    }
    assert_eq!(of(&["contact.bodies=feet"]), "");
}

/// The shank of this robot has no shape of its own; the foot that is fixed to it has.
#[test]
fn a_disabled_pair_that_keeps_nothing_apart_is_told() {
    let of = |pairs: &str| quadruped(&[&format!("contact.disable={pairs}")]).warnings.concat();
    let told = of("[[\"FL_calf\", \"trunk\"], [\"FL_calf\", \"FR_foot\"]]");
    let wanted = "contact.disable names \"FL_calf\", which has no collision shape";
    assert!(told.contains(wanted) && told.contains("these have shapes: \"FL_foot\""), "{told}");
    assert_eq!(told.matches("FL_calf").count(), 1, "{told}");
    assert_eq!(of("[[\"FL_foot\", \"trunk\"]]"), "");
    // contact.bodies takes no shape of the trunk, but there is one
    let only_feet = ["contact.bodies=feet", "contact.disable=[[\"trunk\", \"FL_foot\"]]"];
    assert_eq!(quadruped(&only_feet).warnings.concat(), "");
}

/// The springs of the scenario are for the robot; they push a light box off the floor.
#[test]
fn a_body_that_begins_in_the_springs_of_the_ground_is_told_and_can_begin_at_rest() {
    let body = |mass: &str, z: &str, more: &str| {
        format!(
            "bodies=[{{name=\"box\", shape=\"box\", size_m=[0.2, 0.2, 0.2], mass_kg={mass}, \
             position_m=[2.0, 0.0, {z}]{more}}}]"
        )
    };
    let of = |sets: &[&str]| {
        let scenario = quadruped(sets);
        let told = scenario.warnings.concat();
        let mut simulation = scenario.simulation();
        let start_m = simulation.state().bodies[0].p_WB.z;
        let mut highest_m = start_m;
        for _ in 0..500 {
            simulation.step(&TickInput::new());
            highest_m = highest_m.max(simulation.state().bodies[0].p_WB.z);
        }
        (told, highest_m - start_m)
    };
    let on_floor = body("0.5", "0.1", "");
    let (told, hop_m) = of(&[&on_floor]);
    assert!(hop_m > 0.01, "{hop_m}");
    assert!(told.contains("body \"box\" begins where its contacts push it up with"), "{told}");
    assert!(told.contains("place = \"above_ground\""), "{told}");
    // with either remedy it stays where it is
    for remedy in [
        [&body("0.5", "0.1", ", place=\"above_ground\"")[..], "contact.spring=simbody"],
        [&on_floor, "contact.spring=by_mass"],
    ] {
        let (told, hop_m) = of(&remedy);
        assert_eq!(told, "", "{remedy:?}");
        assert!(hop_m < 5e-4, "{remedy:?}: {hop_m}");
    }
    // one that falls is not thrown
    assert_eq!(of(&[&body("0.5", "0.4", "")]).0, "");
    // from wherever it is given it begins on the ground, on the robot or on another body
    let high = quadruped(&[&body("0.5", "3.0", ", place=\"above_ground\"")]);
    let z = high.spec.collisions.bodies[0].X_WB.p.z;
    assert!((0.1..0.11).contains(&z), "{z}");
    let hinged = body("0.5", "3.0", ", place=\"above_ground\", joint=\"hinge\", axis=[0, 0, 1]");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/quadruped.toml");
    let refused = Scenario::load(&path, &[hinged]).unwrap_err().to_string();
    assert!(refused.contains("bodies[0].place"), "{refused}");
}

/// Springs for 15 kg: a toy hovers on them, and a truck sinks in.
#[test]
fn a_robot_that_rests_away_from_the_ground_is_told() {
    let scaled = |scale: &str, more: &str| {
        let mass = format!("links={{\"*\"={{mass_scale={scale}}}}}");
        quadruped(&[&mass, more]).warnings.concat()
    };
    let simbody = "contact.spring=simbody";
    assert_eq!(scaled("1.0", simbody), "");
    let told = scaled("0.05", simbody);
    assert!(told.contains("above the surface") && told.contains("by_mass"), "{told}");
    assert_eq!(scaled("0.05", "contact.spring=by_mass"), "");
}

/// The sum of nothing is −0, which a report would show as "-0.0 N".
#[test]
fn a_robot_without_feet_carries_nothing_on_them_and_not_less() {
    let sets = ["feet=[]", "sim.pace=free", "sim.start=now"];
    let mut more = vec!["--duration", "0.05"];
    more.extend(sets.iter().flat_map(|set| ["--set", set]));
    let scene = Scene::new();
    let words = scene.run_args(&more);
    let words: Vec<&OsStr> = words.iter().map(OsStr::new).collect();
    let (out, code) = hardstand(&words);
    assert!(code == 0 && out.contains("feet carry 0.0 N of"), "{out}");
    assert!(!out.contains("-0.0 N"), "{out}");
}
