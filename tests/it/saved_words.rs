//! Saved states that are damaged, or that no run can have produced.

use crate::common::bench::quadruped;
use crate::common::drive::{busy_input, busy_walker};
use hardstand::ingress::{check_saved, save};
use hardstand::simulation::Simulation;
use hardstand_physics::plant::{Walk as _, Word};
use hardstand_protocol::{Kind, encode};

/// Names of the words, and whether each is a number.
fn kinds(simulation: &Simulation) -> Vec<(&'static str, usize, bool)> {
    let mut kinds = Vec::new();
    simulation.clone().walk(&mut |group, index, word| {
        kinds.push((group, index, matches!(word, Word::F64(_))));
    });
    kinds
}

/// splitmix64.
fn next(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (*seed ^ (*seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[test]
fn a_single_bit_that_is_flipped_anywhere_is_noticed() {
    let scenario = quadruped(&[]);
    let mut simulation = scenario.simulation();
    let saved = save(&mut simulation, scenario.physics_hash, 1);
    let mut message = Vec::new();
    encode(Kind::SavedState, &saved, &mut message).unwrap();
    let body = &message[4..];
    let check =
        |body: &[u8]| check_saved(body, simulation.layout_hash(), scenario.physics_hash).is_ok();
    assert!(check(body));
    for bit in 0..8 * body.len() {
        let mut damaged = body.to_vec();
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert!(!check(&damaged), "bit {bit}");
    }
}

#[test]
fn every_number_has_a_range_and_no_word_is_beyond_it() {
    let mut simulation = busy_walker(300);
    let words = simulation.snapshot_words();
    let mut other = simulation.clone();
    other.restore(&words).unwrap();
    for (k, (group, index, is_number)) in kinds(&simulation).into_iter().enumerate() {
        let bad: &[f64] =
            if is_number { &[f64::NAN, f64::INFINITY, -f64::INFINITY, 1e150, -1e17] } else { &[] };
        for x in bad {
            let mut words = words.clone();
            words[k] = x.to_bits();
            let error = other.restore(&words).unwrap_err().to_string();
            assert!(error.contains(&format!("{group}[{index}]")), "{error}: {x:e}");
        }
    }
    assert_eq!(other.snapshot_words(), words, "a refused state leaves all as it was");
}

#[test]
fn negative_gains_frictions_and_counts_beyond_a_run_are_refused() {
    let mut simulation = busy_walker(300);
    let words = simulation.snapshot_words();
    let (minus, big) = ((-1.0_f64).to_bits(), u64::MAX - 1);
    let cases = [
        ("command.kp", minus, "0e0 to 1e6"),
        ("command.kd", minus, "0e0 to 1e6"),
        ("contact.mu_static", minus, "0e0 to 1e2"),
        ("contact.mu_static", 101.0_f64.to_bits(), "0e0 to 1e2"),
        // more than the static one
        ("contact.mu_kinetic", 99.0_f64.to_bits(), "do not allow it"),
        ("contact.sliding", 1.5_f64.to_bits(), "0e0 to 1e0"),
        ("contact.committed_ns", big, "it must be 0 to"),
        ("base.quat_WB_wxyz", 0.0_f64.to_bits(), "length²"),
        ("tick", big, "it must be 0 to"),
        ("push.body", 99, "it must be 0 to"),
        ("push.ticks_left", big, "it must be 0 to"),
        ("foot_switch.closed", 2, "0 to 1"),
        ("foot_switch.pending_ticks", big, "it must be 0 to"),
        ("watchdog.answers_tick", big, "it must be 0 to"),
        ("watchdog.candidate_count", big, "it must be 0 to"),
        ("lease.stopped", 2, "0 to 1"),
    ];
    for (wanted, bits, expected) in cases {
        let place = kinds(&simulation).iter().position(|(group, ..)| *group == wanted).unwrap();
        let mut bad = words.clone();
        bad[place] = bits;
        let error = simulation.restore(&bad).unwrap_err().to_string();
        assert!(error.contains(wanted) && error.contains(expected), "{error}");
    }
}

/// Whatever passes is a state that a plant goes on from, or stops in, in good order.
#[test]
fn mutants_are_refused_or_run() {
    let mut simulation = busy_walker(300);
    let words = simulation.snapshot_words();
    let (mut seed, mut passed) = (7, 0);
    for _ in 0..3000 {
        let mut mutant = words.clone();
        for _ in 0..=next(&mut seed) % 3 {
            let place = next(&mut seed) as usize % mutant.len();
            mutant[place] = match next(&mut seed) % 4 {
                0 => mutant[place] ^ 1 << (next(&mut seed) % 64),
                1 => next(&mut seed),
                2 => next(&mut seed) % 300,
                _ => ((next(&mut seed) % 2001) as f64 - 1000.0).to_bits(),
            };
        }
        let mut other = simulation.clone();
        if other.restore(&mutant).is_ok() {
            passed += 1;
            for _ in 0..5 {
                other.step(&busy_input(&simulation));
            }
            assert!(other.state().q.p_WB.iter().all(|x| x.is_finite()));
        }
    }
    assert!((100..2900).contains(&passed), "{passed} of 3000 passed");
}
