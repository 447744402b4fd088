//! Reference data of Simbody against this crate: see `tests/golden/PROVENANCE.md`.
//!
//! Runs over every known file of `tests/golden`, or of the folder in `HARDSTAND_GOLDEN`, and prints
//! the worst deviation of each quantity beside its tolerance.
#![allow(clippy::disallowed_methods, reason = "std's functions are an independent reference")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]
#![allow(missing_docs, non_snake_case, unreachable_pub)]

#[path = "common/golden/ball.rs"]
mod ball;
#[path = "common/golden/block.rs"]
mod block;
#[path = "common/golden/compliant.rs"]
mod compliant;
#[path = "common/golden/constraint_runs.rs"]
mod constraint_runs;
#[path = "common/golden/files.rs"]
mod files;
#[path = "common/golden/hunt_crossley.rs"]
mod hunt_crossley;
#[path = "common/golden/material.rs"]
mod material;
#[path = "common/golden/point_on_plane.rs"]
mod point_on_plane;
#[path = "common/golden/quad.rs"]
mod quad;
#[path = "common/golden/report.rs"]
mod report;
#[path = "common/golden/run.rs"]
mod run;
#[path = "common/golden/spring.rs"]
mod spring;
#[path = "common/golden/touch.rs"]
mod touch;
#[path = "common/golden/tree.rs"]
mod tree;
#[path = "common/golden/unilateral.rs"]
mod unilateral;
#[path = "common/golden/urdf.rs"]
mod urdf;

use files::{GoldenFile, golden_files};
use report::Report;

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
    let known: usize = files::KNOWN.iter().map(|prefix| golden_files(prefix).len()).sum();
    println!("{known} golden files in {}", files::folder().display());
    assert!(known > 0, "no golden file in {}", files::folder().display());
}

#[test]
fn golden_exp_spring_static() {
    run_all("exp_spring_static", spring::check);
}

#[test]
fn golden_exp_spring_block() {
    run_all("exp_spring_block_", block::check);
}

#[test]
fn golden_quad_exp_spring() {
    run_all("quad_exp_spring_", quad::check);
}

#[test]
fn golden_tree_dynamics() {
    run_all("tree_dynamics", tree::check);
}

#[test]
fn golden_contact_material() {
    run_all("contact_material", material::check);
}

#[test]
fn golden_hunt_crossley_static() {
    run_all("hunt_crossley_static", hunt_crossley::check_static);
}

/// Where Simbody leaves out a contact because of another one, it acts here.
#[test]
fn golden_hunt_crossley_keeps_every_contact() {
    let file = files::own_file("hunt_crossley_static.json.gz");
    assert_eq!(hunt_crossley::contacts_left_out(&file), 2);
}

#[test]
fn golden_hunt_crossley_restitution() {
    run_all("hunt_crossley_restitution", hunt_crossley::check_restitution);
}

#[test]
fn golden_hunt_crossley_bounce() {
    run_all("hunt_crossley_bounce", ball::check);
}

#[test]
fn golden_hunt_crossley_slide_roll() {
    run_all("hunt_crossley_slide_roll", ball::check);
}

#[test]
fn golden_compliant_contact_force() {
    run_all("compliant_contact_force", compliant::check);
}

#[test]
fn golden_point_on_plane() {
    run_those("point_on_plane", point_on_plane::holds_states, point_on_plane::check);
}

#[test]
fn golden_point_on_plane_unilateral() {
    run_all("point_on_plane_unilateral", unilateral::check);
}

#[test]
fn golden_point_on_plane_runs() {
    run_those("point_on_plane", constraint_runs::is_bilateral_run, constraint_runs::check);
}

/// The method of real-time runs, against the end positions of a second program (PROVENANCE.md). They
/// are for our own files, whatever folder is asked for.
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
        let file = files::own_file(&format!("exp_spring_block_{scene}.json.gz"));
        let end = block::end_with_semi_implicit_euler(&file, h);
        println!("semi-implicit {scene}, h = {h}: x ends at {:.9}, second program {x}", end.x);
        assert!((end.x - x).abs() < 2e-6, "{scene} with h = {h}: {} instead of {x}", end.x);
    }
}
