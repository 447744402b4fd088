//! Reference data of Simbody against this crate: see `tests/golden/PROVENANCE.md`.
//!
//! Runs over every known file of `tests/golden`, or of the folder in `HARDSTAND_GOLDEN`, and prints
//! the worst deviation of each quantity beside its tolerance.
#![allow(clippy::disallowed_methods, reason = "std's functions are an independent reference")]

use crate::common::golden;
use crate::common::golden::files::{GoldenFile, golden_files};
use crate::common::golden::report::Report;
use serde_json::json;

fn run_all(prefix: &str, check: impl Fn(&GoldenFile, &mut Report)) {
    run_those(prefix, |_| true, check);
}

/// The files of a prefix whose content is `wanted`.
fn run_those(
    prefix: &str,
    wanted: impl Fn(&serde_json::Value) -> bool,
    check: impl Fn(&GoldenFile, &mut Report),
) {
    let mut failures = String::new();
    for file in golden_files(prefix).into_iter().filter(|f| wanted(&f.json)) {
        let mut report = Report::new(&file.name);
        check(&file, &mut report);
        println!("{}", report.table());
        failures.push_str(&report.failures());
    }
    assert!(failures.is_empty(), "out of tolerance:\n{failures}");
}

#[test]
fn golden_folder_has_known_files() {
    let known: usize = golden::files::KNOWN.iter().map(|prefix| golden_files(prefix).len()).sum();
    println!("{known} golden files in {}", golden::files::folder().display());
    assert!(known > 0, "no golden file in {}", golden::files::folder().display());
}

#[test]
fn golden_exp_spring_static() {
    run_all("exp_spring_static", golden::spring::check);
}

#[test]
fn golden_exp_spring_block() {
    run_all("exp_spring_block_", golden::block::check);
}

/// A file may list each station once, or once for every plane, in whatever order it says.
#[test]
fn golden_springs_may_be_listed_for_each_plane() {
    let order = |setup: &serde_json::Value, planes: usize| {
        let found = golden::run::springs(setup, "springs", planes, |a, b| a["at"] == b["at"]);
        (found.stations.iter().map(|s| s["at"].as_u64().unwrap()).collect::<Vec<_>>(), found.order)
    };
    let [a, b] = [1, 2].map(|at| json!({"at": at}));
    let on = |at: u64, plane: u64| json!({"at": at, "plane": plane});
    let by_plane = (vec![1, 2], vec![0, 2, 1, 3]);
    assert_eq!(order(&json!({"springs": [a, b]}), 2), by_plane);
    assert_eq!(order(&json!({"springs": [a, b, a, b]}), 2), by_plane);
    let ruled = json!({"springs": [a, b, a, b], "spring_i_uses_plane": "i/2 (integer division)"});
    assert_eq!(order(&ruled, 2), by_plane);
    let by_station = json!({"springs": [a, a, b, b]});
    assert_eq!(order(&by_station, 2), (vec![1, 2], vec![0, 1, 2, 3]));
    let said = json!({"springs": [on(1, 1), on(2, 0), on(1, 0), on(2, 1)]});
    assert_eq!(order(&said, 2), (vec![1, 2], vec![1, 2, 0, 3]));
}

#[test]
fn golden_quad_exp_spring() {
    run_all("quad_exp_spring_", golden::quad::check);
}

#[test]
fn golden_tree_dynamics() {
    run_all("tree_dynamics", golden::tree::check);
}

#[test]
fn golden_contact_material() {
    run_all("contact_material", golden::material::check);
}

#[test]
fn golden_hunt_crossley_static() {
    run_all("hunt_crossley_static", golden::hunt_crossley::check_static);
}

/// Where Simbody leaves out a contact because of another one, it acts here.
#[test]
fn golden_hunt_crossley_keeps_every_contact() {
    let file = golden::files::own_file("hunt_crossley_static.json.gz");
    assert_eq!(golden::hunt_crossley::contacts_left_out(&file), 2);
}

#[test]
fn golden_hunt_crossley_restitution() {
    run_all("hunt_crossley_restitution", golden::hunt_crossley::check_restitution);
}

#[test]
fn golden_hunt_crossley_bounce() {
    run_all("hunt_crossley_bounce", golden::ball::check);
}

#[test]
fn golden_hunt_crossley_slide_roll() {
    run_all("hunt_crossley_slide_roll", golden::ball::check);
}

#[test]
fn golden_compliant_contact_force() {
    run_all("compliant_contact_force", golden::compliant::check);
}

#[test]
fn golden_point_on_plane() {
    run_those(
        "point_on_plane",
        golden::point_on_plane::holds_states,
        golden::point_on_plane::check,
    );
}

#[test]
fn golden_point_on_plane_unilateral() {
    run_all("point_on_plane_unilateral", golden::unilateral::check);
}

#[test]
fn golden_point_on_plane_runs() {
    run_those(
        "point_on_plane",
        golden::constraint_runs::is_bilateral_run,
        golden::constraint_runs::check,
    );
}

/// The method of real-time runs, against the end positions of a second program (PROVENANCE.md).
/// They are for our own files, whatever folder is asked for.
#[test]
fn golden_semi_implicit_euler() {
    for (scene, h, x) in [
        ("slide", 1e-3, 6.026_938_5),
        ("slide", 1e-4, 6.030_567_9),
        ("incline_below_cone", 1e-3, 0.118_270_271),
        ("incline_below_cone", 1e-4, 0.118_271_036),
        ("slippery_creep", 1e-3, 0.349_712),
        ("slippery_creep", 1e-4, 0.350_285),
        ("slippery", 1e-3, 0.140_235_6),
    ] {
        let file = golden::files::own_file(&format!("exp_spring_block_{scene}.json.gz"));
        let end = golden::block::end_with_semi_implicit_euler(&file, h);
        println!("semi-implicit {scene}, h = {h}: x ends at {:.9}, second program {x}", end.x);
        assert!((end.x - x).abs() < 2e-6, "{scene} with h = {h}: {} instead of {x}", end.x);
    }
}

#[test]
fn golden_rigid_impacts() {
    run_all("rigid_impacts", golden::impacts::check);
}
