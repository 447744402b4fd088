//! `contact.preset`: each preset beside what it matches, with the bounds that docs/contact.md states.

#[path = "../../examples/contact_presets/fall.rs"]
#[allow(dead_code, reason = "the example uses the rest")]
mod fall;

#[path = "../../examples/contact_presets/toss.rs"]
mod toss;

use std::path::Path;

use fall::{BALL, BOX, Body, Reference, TENNIS_BALL, differences_m, extremes_m, fall as drop_body};
use hardstand::config::Scenario;
use hardstand_physics::contact::{SpringParameters, Stiction};
use hardstand_physics::plant::{ContactModel, Station};

use crate::evidence::cube;

fn reference(name: &str) -> Reference {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/contact_presets");
    let text = std::fs::read_to_string(folder.join(format!("{name}.csv"))).unwrap();
    Reference::parse(&text).unwrap()
}

/// Bounds of a comparison, m.
struct Bounds {
    rest_m: f64,
    rms_m: f64,
    greatest_m: f64,
    depth_m: f64,
    rebound_m: f64,
}

fn compare(preset: &str, body: &Body, name: &str, bounds: &Bounds) {
    let of_mujoco = reference(&format!("{preset}_{name}"));
    let set = format!("contact.preset={preset}");
    let ours = drop_body(&[&set], body, 0.1, 0.6).unwrap();
    let rest_m = drop_body(&[&set], body, 0.0, 3.0).unwrap().last().unwrap().1;
    let [rms_m, greatest_m] = differences_m(&ours, &of_mujoco.points);
    let ([low_m, high_m], [their_low_m, their_high_m]) = (extremes_m(&ours), of_mujoco.extremes_m);
    println!(
        "{preset} {name}: rest {rest_m:e} and {:e}, rms {rms_m:e}, greatest {greatest_m:e}, \
         lowest {low_m:e} and {their_low_m:e}, highest {high_m:e} and {their_high_m:e}",
        of_mujoco.rest_m
    );
    let rows = [
        ("rest", rest_m - of_mujoco.rest_m, bounds.rest_m),
        ("rms", rms_m, bounds.rms_m),
        ("greatest difference", greatest_m, bounds.greatest_m),
        ("depth", low_m - their_low_m, bounds.depth_m),
        ("rebound", high_m - their_high_m, bounds.rebound_m),
    ];
    for (what, difference_m, bound_m) in rows {
        let ok = difference_m.abs() <= bound_m;
        assert!(ok, "{preset}, {name}: {what} differs by {difference_m} m, not {bound_m}");
    }
}

#[test]
fn mujoco_default_falls_like_mujocos_default() {
    let ball = Bounds {
        rest_m: 1e-6,
        rms_m: 0.37e-3,
        greatest_m: 1.95e-3,
        depth_m: 0.7e-3,
        rebound_m: 0.61e-3,
    };
    compare("mujoco_default", &BALL, "ball", &ball);
    compare("mujoco_default", &BOX, "box", &Bounds { rest_m: 0.27e-3, ..ball });
}

#[test]
fn mujoco_stiff_falls_like_mujocos_stiff_contact() {
    let ball = Bounds {
        rest_m: 1e-7,
        rms_m: 0.055e-3,
        greatest_m: 0.3e-3,
        depth_m: 0.09e-3,
        rebound_m: 0.07e-3,
    };
    compare("mujoco_stiff", &BALL, "ball", &ball);
    compare("mujoco_stiff", &BOX, "box", &Bounds { rest_m: 4e-6, ..ball });
}

/// The values for every robot are not within these bounds: the comparison can fail.
#[test]
fn the_defaults_do_not_fall_like_mujoco() {
    let ours = drop_body(&[], &BALL, 0.1, 0.6).unwrap();
    for name in ["mujoco_default_ball", "mujoco_stiff_ball"] {
        let [rms_m, _] = differences_m(&ours, &reference(name).points);
        assert!(rms_m > 5e-3, "{name}: {rms_m}");
    }
}

/// ITF Rules of Tennis, appendix I, type 2: from 2.54 m up to 1.35 to 1.47 m; and 80.07 N deform each
/// side by half of 5.6 to 7.4 mm.
#[test]
fn a_tennis_ball_rebounds_and_yields_as_the_itf_asks() {
    let preset = ["contact.preset=tennis_ball"];
    let [_, rebound_m] = extremes_m(&drop_body(&preset, &TENNIS_BALL, 2.54, 1.4).unwrap());
    println!("rebound {rebound_m}");
    assert!((1.35..=1.47).contains(&rebound_m), "{rebound_m} m");
    let heavy = Body { mass_kg: 80.07 / 9.81, ..TENNIS_BALL };
    let depth_m = -drop_body(&preset, &heavy, -0.00325, 4.0).unwrap().last().unwrap().1;
    println!("depth {depth_m}");
    assert!((0.0028..=0.0037).contains(&depth_m), "{depth_m} m");
    let [_, rebound_m] = extremes_m(&drop_body(&[], &TENNIS_BALL, 2.54, 1.4).unwrap());
    assert!(rebound_m < 1.35, "the default's ball rebounds to {rebound_m} m");
}

/// Mean error of the centre on the stored tosses of a real cube, % of its width.
#[test]
fn plastic_bounces_as_a_real_acrylic_cube() {
    let stored = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/cube_tosses.json.gz");
    let of = cube::data::load(&stored).unwrap();
    let mean_percent = |sets: &[&str]| {
        let error = |t| toss::predict(sets, &of, t).unwrap().error_percent(of.half_width_m);
        of.tosses.iter().map(error).sum::<f64>() / of.tosses.len() as f64
    };
    let ours = mean_percent(&["contact.preset=plastic"]);
    let default = mean_percent(&[]);
    println!("plastic {ours}, default {default}");
    assert!(ours < 11.0, "{ours} %");
    assert!(default > 3.0 * ours, "the default's error is {default} %");
}

fn quadruped(file: &str, sets: &[&str]) -> hardstand::Result<Scenario> {
    let scenario = include_str!("../../config/quadruped.toml");
    let robot = include_str!("../../config/robots/quadruped.urdf");
    let scenario = scenario.replace("[contact]\n", &format!("[contact]\n{file}\n"));
    let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
    Scenario::from_texts(&scenario, robot, &sets)
}

fn spring(station: &Station) -> SpringParameters {
    match &station.model {
        ContactModel::ExponentialSpring(spring) => *spring.parameters(),
        _ => panic!("{} has no spring", station.name),
    }
}

#[test]
fn keys_of_the_scenario_take_precedence_over_a_preset() {
    let of = |file: &str, sets: &[&str]| spring(&quadruped(file, sets).unwrap().spec.stations[0]);
    let plain = of("preset = \"mujoco_stiff\"", &[]);
    assert_eq!((plain.d2_per_m, plain.cz_s_per_m), (3900.0, 5.84));
    assert_eq!(plain.stiction, Stiction::Holding, "what a preset does not name stays");
    let own = of("preset = \"mujoco_stiff\"\ncz_s_per_m = 2.5", &[]);
    assert_eq!((own.d2_per_m, own.cz_s_per_m), (3900.0, 2.5));
    let set = of("preset = \"mujoco_stiff\"", &["contact.d2_per_m=3000"]);
    assert_eq!((set.d2_per_m, set.cz_s_per_m), (3000.0, 5.84));
    // a preset in a set is a later layer than the file
    let later = of("cz_s_per_m = 2.5", &["contact.preset=mujoco_stiff"]);
    assert_eq!(later.cz_s_per_m, 5.84);
    let none = of("preset = \"mujoco_stiff\"", &["contact.preset=none"]);
    let stiction = Stiction::Holding;
    assert_eq!(none, SpringParameters { stiction, ..SpringParameters::default() });
}

#[test]
fn a_quadruped_stands_on_every_preset_and_its_complete_scenario_gives_it_again() {
    for preset in ["none", "mujoco_default", "mujoco_stiff", "plastic", "tennis_ball"] {
        let set = format!("contact.preset={preset}");
        let scenario = quadruped("", &[&set]).unwrap();
        let robot = include_str!("../../config/robots/quadruped.urdf");
        let again = Scenario::from_texts(&scenario.complete_toml, robot, &[]).unwrap();
        assert_eq!(
            (again.physics_hash, again.spec),
            (scenario.physics_hash, scenario.spec.clone())
        );
        let mut robot = crate::common::scene::Standing::new(&scenario);
        robot.run(8000);
        let speed = robot.simulation.state().v.v_WB.norm();
        println!("{preset}: {speed:e} m/s");
        // Hunt–Crossley contact creeps under any load
        assert!(speed < 1e-4, "{preset}: {speed} m/s");
    }
}

#[test]
fn an_unknown_preset_is_refused_with_the_names_of_all() {
    let text = quadruped("preset = \"steel\"", &[]).map(|_| ()).unwrap_err().to_string();
    let expected = "contact.preset is \"steel\"; it must be \"none\" or \"mujoco_default\" or \
                    \"mujoco_stiff\" or \"plastic\" or \"tennis_ball\"";
    assert!(text.contains(expected), "{text}");
}

/// A tennis ball is a sphere, so a box cannot have its contact.
#[test]
fn a_preset_that_the_feet_cannot_have_is_refused() {
    let text = drop_body(&["contact.preset=tennis_ball"], &BOX, 0.1, 0.1).unwrap_err().to_string();
    assert!(text.contains("feet[0].model: \"hunt_crossley\" is for spheres"), "{text}");
}
