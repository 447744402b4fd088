//! The same bits everywhere: digests and function values that were written down once must come out
//! of every build, whatever its optimisation level and `target-cpu`. `.ci/run` runs this file in a
//! plain build and with `-C target-cpu=native`.
//!
//! If a change is *meant* to change the physics, run with `-- --nocapture`, check that the golden
//! tests still pass, and write the new digests down here.

use crate::determinism_cases::{CASES, run};

fn check(names: &[&str]) {
    for name in names {
        let case = CASES.iter().find(|case| case.name == *name);
        let case = case.unwrap_or_else(|| panic!("no case {name}"));
        let (found, written_down) = ((case.run)(), case.digest);
        println!("{name}: {found:#018x}");
        assert_eq!(found, written_down, "{name}: {found:#018x}, written down {written_down:#018x}");
    }
}

#[test]
fn standing_and_walking_in_place_has_its_digest() {
    check(&["STAND"]);
}

#[test]
fn runge_kutta_has_its_digest() {
    check(&["STAND_RK4"]);
}

#[test]
fn the_linearly_implicit_step_has_its_digest() {
    check(&["STAND_IMPLICIT"]);
}

#[test]
fn a_collapse_has_its_digest() {
    check(&["COLLAPSE"]);
}

#[test]
fn every_contact_model_has_its_digest() {
    check(&["RIGID", "HUNT_CROSSLEY"]);
}

#[test]
fn mixed_feet_on_moving_ground_have_their_digest() {
    check(&["MIXED"]);
}

#[test]
fn whole_walks_have_their_digests() {
    check(&["TROT", "POLICY"]);
}

/// On this machine it has the same bits with any number of threads: `calibrate.rs`.
#[test]
fn a_calibration_has_its_digest() {
    check(&["FIT"]);
}

/// DET-5.
#[test]
fn transcendental_functions_have_their_bits() {
    check(&["MATH"]);
}

/// The detector must be able to fail: one ulp in one gain is another digest.
#[test]
fn one_ulp_is_another_digest() {
    let a = run(&[], 100.0, 300).state().digest;
    let b = run(&[], 100.0_f64.next_up(), 300).state().digest;
    assert_ne!(a, b);
    assert_eq!(a, run(&[], 100.0, 300).state().digest);
}
