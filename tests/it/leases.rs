//! Leases in the plant: who commands which joints, when, and what happens in between.

mod stops;

use crate::common::robots::walker;
use hardstand::simulation::{Denied, Lease, Leases, Outcome, Simulation};
use hardstand_physics::plant::Walk as _;
use hardstand_protocol::{
    Authority, Command, CommandSchedule, Event, Grant, JointCommand, JointSet, Rejection,
    SCHEDULE_TICKS_MAX, TickInput, Verdict, controller_number,
};

use crate::common::WATCHDOG as SPEC;
const EVERY_TICK: CommandSchedule = CommandSchedule { period: 1, phase: 0, offset: 0 };

fn joints(list: &[usize]) -> JointSet {
    let mut set = JointSet::default();
    assert!(list.iter().all(|&joint| set.insert(joint)));
    set
}

fn grant(name: &str, session: u64, schedule: CommandSchedule, list: &[usize]) -> Grant {
    Grant {
        controller: controller_number(name),
        session,
        schedule,
        required: true,
        joints: joints(list),
    }
}

fn simulation() -> Simulation {
    let (model, spec) = walker();
    Simulation::new(model, spec, SPEC)
}

/// An answer to the state of `tick` with the effort `tau_ff` in each of `count` joints.
fn answer(
    session: u64,
    tick: u64,
    schedule: CommandSchedule,
    (tau_ff, count): (f64, usize),
) -> Command {
    let joints = vec![JointCommand { tau_ff, ..Default::default() }; count];
    let applies_tick = tick + schedule.offset;
    Command { run_id: 1, session, seq: 0, answers_tick: tick, applies_tick, joints }
}

fn step(simulation: &mut Simulation, events: &[Event], candidates: &[Command]) -> Outcome {
    let mut input = TickInput::new();
    input.events.extend_from_slice(events);
    input.candidates.extend(candidates.iter().cloned().map(Box::new));
    simulation.step(&input)
}

#[test]
fn a_grid_names_the_states_that_are_answered() {
    let schedule = CommandSchedule { period: 4, phase: 1, offset: 6 };
    let answered: Vec<u64> = (0..12).filter(|&tick| schedule.answers(tick)).collect();
    assert_eq!(answered, [1, 5, 9]);
    let applied: Vec<_> = (0..14).map(|tick| schedule.answered_at(tick)).collect();
    assert!(applied[..7].iter().all(Option::is_none));
    assert_eq!([applied[7], applied[8], applied[11]], [Some(1), None, Some(5)]);
    assert_eq!([0, 1, 2, 5, 6].map(|tick| schedule.next_from(tick)), [1, 1, 5, 5, 9]);
    assert_eq!([schedule.in_flight(), EVERY_TICK.in_flight()], [2, 1]);
}

/// Two controllers, in either order of joining and of arrival: the same bits.
#[test]
fn the_order_in_which_controllers_come_makes_no_difference() {
    let (a, b) = (grant("a", 5, EVERY_TICK, &[0, 1, 2]), grant("b", 6, EVERY_TICK, &[3, 4, 5]));
    let run = |grants: [Grant; 2], swapped: bool| {
        let mut simulation = simulation();
        for tick in 0..30 {
            let mut candidates = vec![
                answer(5, tick, EVERY_TICK, (0.5, 3)),
                answer(6, tick, EVERY_TICK, (-0.25, 3)),
            ];
            if swapped {
                candidates.reverse();
            }
            let events = grants.map(Event::Grant);
            let out = step(&mut simulation, if tick == 0 { &events } else { &[] }, &candidates);
            assert_eq!(out.verdicts[..2], [Verdict::Accepted; 2]);
            assert_eq!(out.authority, Authority::Fresh);
        }
        (simulation.state().digest, simulation.state().motor.clone())
    };
    let (digest, motor) = run([a, b], false);
    assert_eq!(motor[..6], [0.5, 0.5, 0.5, -0.25, -0.25, -0.25]);
    assert_eq!(run([b, a], true), (digest, motor));
}

#[test]
fn every_refusal_has_its_reason() {
    let schedule = CommandSchedule { period: 2, phase: 0, offset: 3 };
    let mut simulation = simulation();
    step(&mut simulation, &[Event::Grant(grant("a", 5, schedule, &[0, 1]))], &[]);
    for _ in 1..13 {
        step(&mut simulation, &[], &[]);
    }
    // tick 13
    let good = answer(5, 10, schedule, (0.5, 2));
    let bad = |change: &dyn Fn(&mut Command)| {
        let mut command = good.clone();
        change(&mut command);
        let out = step(&mut simulation.clone(), &[], &[command]);
        match out.verdicts[0] {
            Verdict::Rejected(reason) => reason,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(bad(&|c| c.joints.truncate(1)), Rejection::Size);
    assert_eq!(bad(&|c| c.joints.push(JointCommand::default())), Rejection::Size);
    assert_eq!(bad(&|c| (c.answers_tick, c.applies_tick) = (14, 17)), Rejection::FutureTick);
    assert_eq!(bad(&|c| (c.answers_tick, c.applies_tick) = (12, 15)), Rejection::FutureTick);
    assert_eq!(bad(&|c| (c.answers_tick, c.applies_tick) = (9, 12)), Rejection::OffGrid);
    assert_eq!(bad(&|c| c.applies_tick = 12), Rejection::OffGrid);
    assert_eq!(bad(&|c| c.session = 9), Rejection::NotOwner);
    assert_eq!(
        step(&mut simulation.clone(), &[], std::slice::from_ref(&good)).verdicts[0],
        Verdict::Accepted
    );
    let twice = step(&mut simulation, &[], &[good.clone(), good.clone()]);
    assert_eq!(twice.verdicts[1], Verdict::Rejected(Rejection::Sequence));
    // a command that is due, but for longer than is held; the lease itself is not lost yet
    for _ in 14..34 {
        step(&mut simulation, &[], &[]);
    }
    let old = answer(5, 10 + 2, schedule, (0.5, 2));
    assert_eq!(
        step(&mut simulation.clone(), &[], std::slice::from_ref(&old)).verdicts[0],
        Verdict::Accepted
    );
    let mut late = simulation.clone();
    for _ in 0..2 {
        step(&mut late, &[], &[]);
    }
    assert_eq!(step(&mut late, &[], &[old]).verdicts[0], Verdict::Rejected(Rejection::Late));
    let stopped = step(&mut simulation, &[Event::Stop], &[answer(5, 30, schedule, (0.5, 2))]);
    assert_eq!(stopped.verdicts[0], Verdict::Rejected(Rejection::Stopped));
}

/// What is held counts from when the next command should have been there, per lease: other joints
/// go on.
#[test]
fn a_silent_controller_loses_its_own_joints_at_the_exact_tick() {
    let slow = CommandSchedule { period: 10, phase: 0, offset: 4 };
    let mut simulation = simulation();
    let events = [
        Event::Grant(grant("fast", 5, EVERY_TICK, &[0, 1, 2])),
        Event::Grant(grant("slow", 6, slow, &[3, 4, 5])),
    ];
    let mut rungs = Vec::new();
    for tick in 0..140 {
        let mut candidates = vec![answer(5, tick, EVERY_TICK, (0.5, 3))];
        if tick == 4 {
            candidates.push(answer(6, 0, slow, (0.25, 3)));
        }
        let out = step(&mut simulation, if tick == 0 { &events } else { &[] }, &candidates);
        assert_eq!(out.verdicts[0], Verdict::Accepted, "tick {tick}");
        let motor = &simulation.state().motor;
        assert_eq!(motor[0], 0.5, "tick {tick}");
        let (tau, dq) = (motor[3], simulation.state().v.joints[3]);
        rungs.push(match out.authority {
            Authority::Zero => 'z',
            Authority::Damped => {
                assert!(tau != 0.25 && tau * dq <= 1e-9, "tick {tick}: {tau} at {dq}");
                'd'
            }
            // granted at tick 0, it is told nothing until its first command
            _ => {
                assert_eq!(tau, if tick < 4 { 0.0 } else { 0.25 }, "tick {tick}");
                'h'
            }
        });
    }
    // applied at 4, then period 10 + offset 4 + hold 20 ticks of grace, then 50 damped
    let text: String = rungs.iter().collect();
    assert_eq!(text, format!("{}{}{}", "h".repeat(39), "d".repeat(50), "z".repeat(51)));
    assert_eq!(
        step(&mut simulation, &[], &[answer(6, 130, slow, (0.25, 3))]).verdicts[0],
        Verdict::Rejected(Rejection::Revoked)
    );
}

#[test]
fn joints_are_handed_over_without_a_bump() {
    let mut simulation = simulation();
    let old = grant("old", 5, EVERY_TICK, &[0, 1, 2, 3]);
    step(&mut simulation, &[Event::Grant(old)], &[answer(5, 0, EVERY_TICK, (0.75, 4))]);
    let newer = grant("new", 6, EVERY_TICK, &[1, 2]);
    let check = |simulation: &Simulation, grant: &Grant| {
        simulation.leases().check(
            &SPEC,
            simulation.state().tick,
            grant,
            simulation.unjoined_owner(),
        )
    };
    let taken = Denied::Taken { joint: 1, controller: controller_number("old") };
    assert_eq!(check(&simulation, &newer), Err(taken));
    step(&mut simulation, &[Event::Leave { session: 5 }], &[]);
    assert_eq!(simulation.state().motor[..4], [0.75; 4], "what has left is held");
    assert_eq!(check(&simulation, &newer), Ok(()));
    step(&mut simulation, &[Event::Grant(newer)], &[answer(5, 2, EVERY_TICK, (0.1, 4))]);
    assert_eq!(simulation.state().motor[..4], [0.75; 4], "and after the hand-over, too");
    let out = step(&mut simulation, &[], &[answer(6, 3, EVERY_TICK, (0.5, 2))]);
    assert_eq!(out.verdicts[0], Verdict::Accepted);
    assert_eq!(simulation.state().motor[..4], [0.75, 0.5, 0.5, 0.75]);
}

#[test]
fn a_controller_that_comes_again_fences_off_its_old_self() {
    let mut simulation = simulation();
    let first = grant("a", 5, EVERY_TICK, &[0, 1]);
    step(&mut simulation, &[Event::Grant(first)], &[answer(5, 0, EVERY_TICK, (0.75, 2))]);
    let again = grant("a", 6, EVERY_TICK, &[0, 1]);
    let out = step(&mut simulation, &[Event::Grant(again)], &[answer(5, 1, EVERY_TICK, (0.1, 2))]);
    assert_eq!(out.verdicts[0], Verdict::Rejected(Rejection::NotOwner));
    assert_eq!(simulation.state().motor[..2], [0.75; 2], "held until it speaks");
    let out = step(&mut simulation, &[], &[answer(6, 2, EVERY_TICK, (0.25, 2))]);
    assert_eq!((out.verdicts[0], simulation.state().motor[0]), (Verdict::Accepted, 0.25));
    let leases = simulation.leases().places();
    assert_eq!(leases.iter().filter(|l| l.controller != 0).count(), 1);
}

#[test]
fn who_has_not_joined_and_who_has_keep_each_other_out() {
    let mut simulation = simulation();
    let n = simulation.model().joint_count();
    let unjoined = |tick: u64, seq: u64| Command {
        run_id: 1,
        session: 9,
        seq,
        answers_tick: tick,
        applies_tick: 0,
        joints: vec![JointCommand { tau_ff: 0.5, ..Default::default() }; n],
    };
    for tick in 0..3 {
        step(&mut simulation, &[], &[unjoined(tick, tick + 1)]);
    }
    assert_eq!(simulation.unjoined_owner(), Some(9));
    let wish = grant("a", 5, EVERY_TICK, &[0]);
    let check = |simulation: &Simulation| {
        simulation.leases().check(
            &SPEC,
            simulation.state().tick,
            &wish,
            simulation.unjoined_owner(),
        )
    };
    assert_eq!(check(&simulation), Err(Denied::Owned { session: 9 }));
    for _ in 0..30 {
        step(&mut simulation, &[], &[]);
    }
    assert_eq!(check(&simulation), Ok(()));
    step(&mut simulation, &[Event::Grant(wish)], &[]);
    let out = step(&mut simulation, &[], &[unjoined(34, 99)]);
    assert_eq!(out.verdicts[0], Verdict::Rejected(Rejection::NotOwner));
    // once it has gone and is forgotten, whoever proves life owns all joints
    step(&mut simulation, &[Event::Leave { session: 5 }], &[]);
    for (tick, seq) in [(36, 1), (37, 2), (38, 3)] {
        let fresh = Command { session: 10, ..unjoined(tick, seq) };
        step(&mut simulation, &[], &[fresh]);
    }
    assert_eq!(simulation.authority(), Authority::Fresh);
    assert!(
        simulation.state().motor.iter().all(|tau| *tau == 0.5),
        "{:?}",
        simulation.state().motor
    );
    assert_eq!(*simulation.leases().places(), *Leases::default().places());
}

#[test]
fn an_emergency_stop_damps_everything_until_a_new_command_comes() {
    let mut simulation = simulation();
    let wish = grant("a", 5, EVERY_TICK, &[0, 1, 2]);
    step(&mut simulation, &[Event::Grant(wish)], &[answer(5, 0, EVERY_TICK, (2.0, 3))]);
    for tick in 1..200 {
        let events = if tick == 1 { vec![Event::Stop] } else { vec![] };
        let out = step(&mut simulation, &events, &[answer(5, tick, EVERY_TICK, (2.0, 3))]);
        assert_eq!(out.verdicts[0], Verdict::Rejected(Rejection::Stopped));
        assert_eq!(out.authority, Authority::Stopped, "for as long as it lasts");
        for (tau, dq) in simulation.state().motor.iter().zip(&simulation.state().v.joints) {
            // the effort is that of the last micro-step, the speed that after it
            assert!(tau * dq <= 1e-9 || dq.abs() < 0.01, "{tau} at {dq}");
            assert!(tau.abs() < 1.0, "{tau}");
        }
    }
    // an answer to a state of before does not count; until a new one comes nothing moves
    let out = step(&mut simulation, &[Event::Arm], &[answer(5, 199, EVERY_TICK, (2.0, 3))]);
    assert_eq!(out.verdicts[0], Verdict::Rejected(Rejection::Sequence));
    assert!(simulation.state().motor[0] != 2.0);
    let out = step(&mut simulation, &[], &[answer(5, 201, EVERY_TICK, (2.0, 3))]);
    assert_eq!((out.verdicts[0], simulation.state().motor[0]), (Verdict::Accepted, 2.0));
}

/// Leases are part of the state: saved in the middle, they go on as if nothing had been.
#[test]
fn leases_are_saved_and_restored() {
    let schedule = CommandSchedule { period: 3, phase: 2, offset: 1 };
    let inputs = |tick: u64| {
        let events = match tick {
            0 => vec![Event::Grant(grant("a", 5, schedule, &[0, 3, 5]))],
            4 => vec![Event::Grant(grant("b", 6, EVERY_TICK, &[1, 2]))],
            20 => vec![Event::Leave { session: 6 }],
            25 => vec![Event::Stop],
            30 => vec![Event::Arm],
            _ => vec![],
        };
        let mut candidates = vec![answer(6, tick, EVERY_TICK, (0.1, 2))];
        if let Some(answered) = schedule.answered_at(tick) {
            candidates.push(answer(5, answered, schedule, (0.4, 3)));
        }
        (events, candidates)
    };
    let run = |simulation: &mut Simulation, from: u64, to: u64| {
        for tick in from..to {
            let (events, candidates) = inputs(tick);
            step(simulation, &events, &candidates);
        }
    };
    for cut in [1, 5, 21, 26, 31] {
        let mut whole = simulation();
        run(&mut whole, 0, cut);
        let words = whole.snapshot_words();
        run(&mut whole, cut, 50);
        let mut restored = simulation();
        restored.restore(&words).unwrap();
        assert_eq!(*restored.leases(), {
            let mut again = simulation();
            run(&mut again, 0, cut);
            *again.leases()
        });
        run(&mut restored, cut, 50);
        assert_eq!(restored.state().digest, whole.state().digest, "cut at {cut}");
    }
}

/// A state from outside may claim anything.
#[test]
fn senseless_leases_are_refused() {
    let mut good = simulation();
    step(&mut good, &[Event::Grant(grant("a", 5, EVERY_TICK, &[0, 1]))], &[]);
    let words = good.snapshot_words();
    let mut refused = 0;
    for at in 0..words.len() {
        for value in [0, 1, 7, 1 << 42, 1 << 63, u64::MAX] {
            let mut changed = words.clone();
            changed[at] = value;
            let mut target = simulation();
            if target.restore(&changed).is_err() {
                refused += 1;
                continue;
            }
            // whatever is let in can be gone on from
            for tick in 0..3 {
                step(&mut target, &[], &[answer(5, tick, EVERY_TICK, (0.1, 2))]);
            }
        }
    }
    assert!(refused >= 10, "{refused}");
}

/// Lockstep waits for what a lease owes.
#[test]
fn a_lease_owes_the_answer_that_is_due_until_it_has_it() {
    let schedule = CommandSchedule { period: 2, phase: 0, offset: 1 };
    let owes = |simulation: &Simulation| {
        let lease = simulation.leases().of_session(5).unwrap().1;
        let due = |tick| lease.schedule.answered_at(tick).filter(|&answered| lease.owes(answered));
        [0, 1, 2, 3, 4].map(due)
    };
    let joined = |required: bool| {
        let mut simulation = simulation();
        let grant = Grant { required, ..grant("a", 5, schedule, &[0, 1]) };
        step(&mut simulation, &[Event::Grant(grant)], &[]);
        simulation
    };
    let mut required = joined(true);
    assert_eq!(owes(&required), [None, Some(0), None, Some(2), None]);
    step(&mut required, &[], &[answer(5, 0, schedule, (0.5, 2))]);
    assert_eq!(owes(&required), [None, None, None, Some(2), None]);
    assert!(required.leases().of_anybody());
    step(&mut required, &[Event::Leave { session: 5 }], &[]);
    assert_eq!(owes(&required), [None; 5]);
    assert!(!required.leases().of_anybody() && !Leases::default().of_anybody());
    assert_eq!(owes(&joined(false)), [None; 5], "it is advisory");
}

/// A saved state says of each word of leases what a run can have left there.
#[test]
fn each_contradiction_between_leases_is_refused() {
    const MAX: u64 = SCHEDULE_TICKS_MAX;
    let mut good = simulation();
    let events = [
        Event::Grant(grant("a", 5, EVERY_TICK, &[0, 1])),
        Event::Grant(grant("b", 6, EVERY_TICK, &[2])),
    ];
    step(&mut good, &events, &[]);
    let (words, names) = (good.snapshot_words(), good.word_names());
    let is_taken = |changes: &[(&str, usize, u64)]| {
        let mut changed = words.clone();
        for (group, index, value) in changes {
            let at = names.iter().position(|name| *name == (*group, *index)).unwrap();
            changed[at] = *value;
        }
        simulation().restore(&changed).is_ok()
    };
    let word = |period, phase, offset| CommandSchedule { period, phase, offset }.word();
    let scheduled = |word| is_taken(&[("lease.schedule", 0, word)]);
    assert!(is_taken(&[]));
    assert!(scheduled(word(MAX, MAX - 1, MAX)));
    assert!(!scheduled(word(0, 0, 0)), "no period");
    assert!(!scheduled(word(MAX + 1, 0, 0)));
    assert!(!scheduled(word(MAX + 2, 0, 0)));
    assert!(!scheduled(word(4, 4, 0)), "the phase is less than the period");
    assert!(!scheduled(word(4, 0, MAX + 1)));
    let controllers = good.leases().places().map(|lease| lease.controller);
    let [first, second] = [controllers[0], controllers[1]];
    let named = |a, b| is_taken(&[("lease.controller", 0, a), ("lease.controller", 1, b)]);
    assert!(!named(second, first), "they stand in order");
    assert!(!named(first, first), "each has one lease");
    assert!(!named(0, second), "a free place before one that is taken");
    assert!(!is_taken(&[("lease.session", 2, 7)]), "a free place has no session");
    let owned = |owner| is_taken(&[("lease.owners", 0, owner)]);
    assert!(owned(2) && owned(0));
    assert!(!owned(3), "there is no third lease");
    let counted = |claims| is_taken(&[("watchdog.candidate_count", 0, claims)]);
    assert!(counted(1 << 32) && !counted((1 << 32) + 1));
}

#[test]
fn a_ninth_controller_finds_no_place_until_one_has_gone() {
    let mut simulation = simulation();
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let one = |i: usize| grant(names[i], 10 + i as u64, EVERY_TICK, &[i]);
    let events: Vec<Event> = (0..8).map(|i| Event::Grant(one(i))).collect();
    step(&mut simulation, &events, &[]);
    let ninth = grant("i", 20, EVERY_TICK, &[8]);
    let asked = |simulation: &Simulation, grant: &Grant| {
        simulation.leases().check(&SPEC, simulation.tick(), grant, None)
    };
    assert_eq!(asked(&simulation, &ninth), Err(Denied::Full));
    let before = *simulation.leases();
    step(&mut simulation, &[Event::Grant(ninth)], &[]);
    assert_eq!(simulation.leases().places(), before.places(), "it changes nothing");
    assert_eq!(asked(&simulation, &one(3)), Ok(()), "it has a place already");
    // one that has left keeps its place until its joint is taken
    step(&mut simulation, &[Event::Leave { session: 10 }], &[]);
    assert_eq!(asked(&simulation, &ninth), Err(Denied::Full));
    let with_its_joint = grant("i", 20, EVERY_TICK, &[0, 8]);
    assert_eq!(asked(&simulation, &with_its_joint), Ok(()));
    step(&mut simulation, &[Event::Grant(with_its_joint)], &[]);
    let leases = simulation.leases();
    assert_eq!(leases.of_controller(controller_number("a")), None);
    assert_eq!(leases.of_controller(0), None);
    for name in &names[1..] {
        let number = controller_number(name);
        assert_eq!(leases.of_controller(number).map(|lease| lease.controller), Some(number));
    }
    let owners: Vec<u64> = leases.owners(simulation.tick(), 12).map(|o| o.controller).collect();
    let named = |name: &&str| controller_number(name);
    let mut expected: Vec<u64> = names.iter().map(named).collect();
    expected[0] = controller_number("i");
    expected.extend([controller_number("i"), 0, 0, 0]);
    assert_eq!(owners, expected);
}

/// Both controllers have lost all their joints: their leases end at once, with their old commands.
#[test]
fn a_grant_of_the_joints_of_two_ends_both_leases() {
    let mut simulation = simulation();
    let mut shown = simulation.new_snapshot().state;
    let (a, b) = (grant("a", 5, EVERY_TICK, &[0]), grant("b", 6, EVERY_TICK, &[1]));
    step(&mut simulation, &[Event::Grant(a), Event::Grant(b)], &[]);
    step(&mut simulation, &[Event::Leave { session: 5 }, Event::Leave { session: 6 }], &[]);
    let both = grant("c", 7, EVERY_TICK, &[0, 1]);
    step(&mut simulation, &[Event::Grant(both)], &[answer(7, 2, EVERY_TICK, (0.5, 2))]);
    let there = |c: &&Lease| c.controller != 0;
    let places = simulation.leases().places().iter().filter(there).map(|lease| lease.session);
    assert_eq!(places.collect::<Vec<u64>>(), [7]);
    simulation.fill_state(&mut shown);
    assert_eq!((shown.command_age_ticks, shown.command_session), (0, 7));
}

/// Of several controllers the state shows the oldest command, of none that of the session that has
/// not joined.
#[test]
fn the_age_of_commands_is_that_of_the_oldest() {
    let mut simulation = simulation();
    let mut shown = simulation.new_snapshot().state;
    simulation.fill_state(&mut shown);
    assert_eq!(shown.command_age_ticks, u32::MAX);
    let events = [
        Event::Grant(grant("a", 5, EVERY_TICK, &[0])),
        Event::Grant(grant("b", 6, EVERY_TICK, &[1])),
    ];
    step(&mut simulation, &events, &[answer(6, 0, EVERY_TICK, (0.5, 1))]);
    for tick in 1..6 {
        step(&mut simulation, &[], &[answer(5, tick, EVERY_TICK, (0.5, 1))]);
    }
    simulation.fill_state(&mut shown);
    assert_eq!(shown.command_age_ticks, 5);
    let ages: Vec<u32> = simulation.leases().owners(6, 3).map(|owner| owner.age_ticks).collect();
    assert_eq!(ages, [0, 5, u32::MAX]);
}
