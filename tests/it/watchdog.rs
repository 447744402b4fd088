//! Who commands the robot: proof of life, the age ladder, refusals.

use crate::common::robots::walker;
use hardstand::simulation::{Leases, Simulation};
use hardstand_protocol::{Authority, Command, JointCommand, Rejection, TickInput, Verdict};
use proptest::prelude::*;

use crate::common::{AT_ONCE, WATCHDOG as SPEC};

/// Leases of which `session` has the implicit one since `tick`, with sequence numbers 1 to 3.
fn owned(session: u64, tick: u64) -> Leases {
    let mut w = Leases::default();
    for (i, expected) in [Verdict::Proving, Verdict::Proving, Verdict::Accepted].iter().enumerate()
    {
        let now = tick - 2 + i as u64;
        assert_eq!(w.judge_implicit(&SPEC, now, session, 1 + i as u64, now), *expected);
    }
    w
}

/// Session, sequence number and answered tick of the command in force.
fn state(leases: &Leases) -> (u64, u64, u64) {
    let lease = leases.implicit();
    (lease.session, lease.seq, lease.since)
}

#[test]
fn life_is_proved_by_commands_in_a_row() {
    let mut w = owned(7, 100);
    assert_eq!(state(&w), (7, 3, 100));
    assert_eq!(w.judge_implicit(&SPEC, 101, 7, 4, 101), Verdict::Accepted);
    // a repeated or older number proves nothing
    let mut w = Leases::default();
    assert_eq!(w.judge_implicit(&SPEC, 5, 7, 10, 5), Verdict::Proving);
    assert_eq!(w.judge_implicit(&SPEC, 6, 7, 10, 6), Verdict::Rejected(Rejection::Sequence));
    assert_eq!(w.judge_implicit(&SPEC, 7, 7, 9, 7), Verdict::Rejected(Rejection::Sequence));
    assert_eq!(w.judge_implicit(&SPEC, 8, 7, 11, 8), Verdict::Proving);
    // silence starts it anew
    assert_eq!(w.judge_implicit(&SPEC, 40, 7, 12, 40), Verdict::Proving);
    assert_eq!(w.judge_implicit(&SPEC, 41, 7, 13, 41), Verdict::Proving);
    assert_eq!(w.judge_implicit(&SPEC, 42, 7, 14, 42), Verdict::Accepted);
}

#[test]
fn the_ladder_has_exact_rungs() {
    let w = owned(7, 100);
    let rung = |age: u64| w.implicit().authority(&SPEC, 100 + age);
    assert_eq!([rung(0), rung(20)], [Authority::Held; 2]);
    assert_eq!([rung(21), rung(70)], [Authority::Damped; 2]);
    assert_eq!([rung(71), rung(1_000_000)], [Authority::Zero; 2]);
    assert_eq!(Leases::default().implicit().authority(&SPEC, 0), Authority::Zero);
}

#[test]
fn the_plant_climbs_down_the_ladder() {
    let (model, spec) = walker();
    let n = model.joint_count();
    let mut simulation = Simulation::new(model, spec, SPEC);
    let mut rungs = Vec::new();
    for tick in 0..90u64 {
        let mut input = TickInput::new();
        if tick < 3 {
            let joints = vec![JointCommand { tau_ff: 1.0, ..Default::default() }; n];
            input.candidates.push(Box::new(Command {
                run_id: 1,
                session: 4,
                seq: tick + 1,
                answers_tick: tick,
                applies_tick: 0,
                joints,
            }));
        }
        let out = simulation.step(&input);
        rungs.push(out.authority);
        let (tau, dq) = (simulation.state().motor[0], simulation.state().v.joints[0]);
        match out.authority {
            Authority::Fresh | Authority::Held => assert_eq!(tau, 1.0),
            Authority::Damped => assert!(tau * dq <= 1e-9 && tau != 1.0),
            Authority::Zero => assert_eq!(tau, 0.0),
            Authority::Stopped => panic!("nobody has stopped it"),
        }
    }
    let mut expected = vec![Authority::Zero; 2];
    expected.push(Authority::Fresh); // tick 2
    expected.extend([Authority::Held; 20]); // ages 1 to 20
    expected.extend([Authority::Damped; 50]); // ages 21 to 70
    expected.resize(90, Authority::Zero);
    assert_eq!(rungs, expected);
    assert_eq!(simulation.failure(), None);
}

#[test]
fn a_session_that_was_lost_must_come_back_with_a_new_number() {
    let mut w = owned(7, 100);
    // 21 ticks without a command
    assert_eq!(w.judge_implicit(&SPEC, 121, 7, 4, 121), Verdict::Rejected(Rejection::Revoked));
    assert_eq!(w.judge_implicit(&SPEC, 122, 7, 5, 122), Verdict::Rejected(Rejection::Revoked));
    for (tick, expected) in
        [(123, Verdict::Proving), (124, Verdict::Proving), (125, Verdict::Accepted)]
    {
        assert_eq!(w.judge_implicit(&SPEC, tick, 8, tick, tick), expected);
    }
    // a late echo of the old one stays out while the new one owns the robot
    assert_eq!(w.judge_implicit(&SPEC, 126, 7, 999, 126), Verdict::Rejected(Rejection::Revoked));
    assert_eq!(w.implicit().session, 8);
}

#[test]
fn each_refusal_has_its_reason() {
    let mut w = owned(7, 100);
    let refused = |r| Verdict::Rejected(r);
    assert_eq!(w.judge_implicit(&SPEC, 101, 0, 9, 101), refused(Rejection::Session));
    assert_eq!(w.judge_implicit(&SPEC, 101, 7, 9, 102), refused(Rejection::FutureTick));
    assert_eq!(w.judge_implicit(&SPEC, 115, 7, 9, 94), refused(Rejection::Late));
    assert_eq!(w.judge_implicit(&SPEC, 115, 7, 9, 95), Verdict::Accepted);
    assert_eq!(w.judge_implicit(&SPEC, 115, 7, 9, 115), refused(Rejection::Sequence));
    assert_eq!(w.judge_implicit(&SPEC, 115, 8, 1, 115), refused(Rejection::NotOwner));
    assert_eq!(w.implicit().since, 100, "an older answer does not make the command older");
}

#[test]
fn two_candidates_do_not_keep_each_other_out() {
    let mut w = Leases::default();
    let mut accepted = Vec::new();
    for tick in 0..10 {
        for session in [1, 2] {
            if w.judge_implicit(&SPEC, tick, session, tick + 1, tick) == Verdict::Accepted {
                accepted.push((tick, session));
            }
        }
    }
    assert_eq!(accepted[0], (2, 1), "the first candidate gets the robot in three ticks");
    assert!(accepted.iter().all(|(_, s)| *s == 1));
    // a candidate that falls silent gives way
    let mut w = Leases::default();
    assert_eq!(w.judge_implicit(&SPEC, 0, 1, 1, 0), Verdict::Proving);
    assert_eq!(w.judge_implicit(&SPEC, 20, 2, 1, 20), Verdict::Rejected(Rejection::NotOwner));
    assert_eq!(w.judge_implicit(&SPEC, 21, 2, 2, 21), Verdict::Proving);
}

#[test]
fn a_command_of_the_wrong_size_does_not_renew_an_old_one() {
    let (model, spec) = walker();
    let n = model.joint_count();
    let mut simulation = Simulation::new(model, spec, SPEC);
    let candidate = |tick: u64, n: usize| {
        let mut input = TickInput::new();
        let joints = vec![JointCommand::default(); n];
        input.candidates.push(Box::new(Command {
            run_id: 1,
            session: 4,
            seq: tick + 1,
            answers_tick: tick,
            applies_tick: 0,
            joints,
        }));
        input
    };
    for tick in 0..5 {
        simulation.step(&candidate(tick, n));
    }
    let before = *simulation.leases();
    let out = simulation.step(&candidate(5, n - 1));
    assert_eq!(out.verdicts[0], Verdict::Rejected(Rejection::Size));
    assert_eq!((*simulation.leases(), out.authority), (before, Authority::Held));
}

#[test]
fn the_newest_of_several_candidates_is_in_force() {
    let (model, spec) = walker();
    let n = model.joint_count();
    let mut simulation = Simulation::new(model, spec, AT_ONCE);
    let mut input = TickInput::new();
    for (seq, tau_ff) in [(1, 1.0), (3, 3.0), (2, 2.0)] {
        let joints = vec![JointCommand { tau_ff, ..Default::default() }; n];
        input.candidates.push(Box::new(Command {
            run_id: 1,
            session: 4,
            seq,
            answers_tick: 0,
            applies_tick: 0,
            joints,
        }));
    }
    let out = simulation.step(&input);
    let expected = [Verdict::Accepted, Verdict::Accepted, Verdict::Rejected(Rejection::Sequence)];
    assert_eq!(out.verdicts[..out.candidates], expected);
    assert_eq!(simulation.state().motor[0], 3.0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// Whatever the candidates, the age only counts from ticks that the owner has answered, a
    /// revoked session never gets in again, and numbers of the owner rise.
    #[test]
    fn any_sequence_of_candidates_keeps_the_rules(
        candidates in prop::collection::vec((0..6u64, 1..5u64, 0..40u64, 0..60u64), 1..200)
    ) {
        let (mut w, mut tick) = (Leases::default(), 0u64);
        for (advance, session, seq, back) in candidates {
            tick += advance * advance * 4;
            let before = w;
            let verdict = w.judge_implicit(&SPEC, tick, session, seq, tick.saturating_sub(back));
            if verdict == Verdict::Accepted {
                prop_assert_eq!(w.implicit().session, session);
                prop_assert!(!before.is_revoked(session));
                prop_assert!(tick - w.implicit().since <= SPEC.hold_ticks);
                let (owner, seq, _) = state(&before);
                prop_assert!(owner != session || w.implicit().seq > seq);
            } else {
                prop_assert_eq!(state(&w), state(&before));
            }
        }
    }
}
