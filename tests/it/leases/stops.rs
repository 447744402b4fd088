//! Leases and sessions during an emergency stop, and after it.

use hardstand::simulation::Simulation;
use hardstand_protocol::{Authority, Command, Event, Rejection, Verdict};

use super::{EVERY_TICK, SPEC, answer, grant, simulation, step};

/// The simulation after `ticks` ticks in which nothing comes.
fn wait(simulation: &mut Simulation, ticks: u64) {
    for _ in 0..ticks {
        step(simulation, &[], &[]);
    }
}

/// A joint that nobody commands is free; that of a stopped robot is damped, and stays so.
#[test]
fn a_joint_that_is_joined_during_a_stop_is_damped_when_the_stop_ends() {
    let mut simulation = simulation();
    let mut shown = simulation.new_snapshot();
    step(&mut simulation, &[Event::Stop], &[]);
    step(&mut simulation, &[Event::Grant(grant("a", 5, EVERY_TICK, &[0, 1]))], &[]);
    step(&mut simulation, &[Event::Arm], &[]);
    simulation.fill(&mut shown);
    let damper = simulation.plant().damper(0, SPEC.damping);
    assert_eq!(simulation.authority(), Authority::Held);
    assert_eq!([shown.references[0].kd, shown.references[1].kd], [damper.kd; 2]);
    assert!(damper.kd > 0.0);
}

#[test]
fn the_end_of_a_stop_brings_no_controller_back_that_was_lost_before() {
    let schedule = EVERY_TICK;
    let after = |events: [&[Event]; 2]| {
        let mut simulation = simulation();
        let first = [Event::Grant(grant("a", 5, schedule, &[0, 1]))];
        step(&mut simulation, &first, &[answer(5, 0, schedule, (0.5, 2))]);
        wait(&mut simulation, 22);
        step(&mut simulation, events[0], &[]);
        step(&mut simulation, events[1], &[answer(5, 24, schedule, (0.5, 2))]).verdicts[0]
    };
    let lost = Verdict::Rejected(Rejection::Revoked);
    assert_eq!(after([&[], &[]]), lost);
    assert_eq!(after([&[Event::Stop], &[Event::Arm]]), lost);
    assert_eq!(after([&[], &[Event::Arm]]), lost, "there was no stop");
    assert_eq!(after([&[Event::Stop, Event::Stop], &[Event::Arm]]), lost);
}

#[test]
fn a_controller_that_was_there_when_the_stop_came_is_there_when_it_ends() {
    let mut simulation = simulation();
    let first = [Event::Grant(grant("a", 5, EVERY_TICK, &[0, 1]))];
    step(&mut simulation, &first, &[answer(5, 0, EVERY_TICK, (0.5, 2))]);
    wait(&mut simulation, 20);
    step(&mut simulation, &[Event::Stop], &[]);
    wait(&mut simulation, 500);
    step(&mut simulation, &[Event::Stop], &[]);
    wait(&mut simulation, 500);
    let tick = simulation.tick();
    let out = step(&mut simulation, &[Event::Arm], &[answer(5, tick, EVERY_TICK, (0.5, 2))]);
    assert_eq!(out.verdicts[0], Verdict::Accepted);
}

/// Otherwise a tick in lockstep would wait for a controller without joints.
#[test]
fn a_controller_whose_joints_were_taken_during_a_stop_has_to_join_again() {
    let mut simulation = simulation();
    step(&mut simulation, &[Event::Grant(grant("a", 5, EVERY_TICK, &[0, 1]))], &[]);
    step(&mut simulation, &[Event::Stop], &[]);
    wait(&mut simulation, 30);
    let mut all = simulation.clone();
    step(&mut all, &[Event::Grant(grant("b", 6, EVERY_TICK, &[0, 1])), Event::Arm], &[]);
    assert_eq!(all.leases().of_session(5), None);
    step(&mut simulation, &[Event::Grant(grant("b", 6, EVERY_TICK, &[0])), Event::Arm], &[]);
    let tick = simulation.tick();
    let out = step(&mut simulation, &[], &[answer(5, tick, EVERY_TICK, (0.5, 1))]);
    assert_eq!(out.verdicts[0], Verdict::Rejected(Rejection::Revoked));
    let (_, lease) = simulation.leases().of_session(5).unwrap();
    assert!(!lease.owes(tick + 1));
}

#[test]
fn after_a_stop_a_session_that_has_not_joined_proves_life_with_new_states() {
    let mut simulation = simulation();
    let n = simulation.model().joint_count();
    let command = |session: u64, tick: u64, seq: u64| Command {
        session,
        seq,
        applies_tick: 0,
        ..answer(0, tick, EVERY_TICK, (0.5, n))
    };
    let verdict = |simulation: &mut Simulation, events: &[Event], command: Command| {
        step(simulation, events, &[command]).verdicts[0]
    };
    for tick in 0..3 {
        verdict(&mut simulation, &[], command(9, tick, tick + 1));
    }
    assert_eq!(simulation.authority(), Authority::Fresh);
    step(&mut simulation, &[Event::Stop], &[]);
    wait(&mut simulation, 200);
    // tick 204
    let old = verdict(&mut simulation, &[Event::Arm], command(10, 203, 1));
    assert_eq!(old, Verdict::Rejected(Rejection::Sequence));
    assert_eq!(simulation.authority(), Authority::Held, "the damper, not nothing");
    for (tick, expected) in
        [(205, Verdict::Proving), (206, Verdict::Proving), (207, Verdict::Accepted)]
    {
        assert_eq!(verdict(&mut simulation, &[], command(10, tick, tick)), expected);
    }
}

#[test]
fn a_proof_of_life_does_not_go_on_after_a_stop() {
    let mut simulation = simulation();
    let n = simulation.model().joint_count();
    let mut verdicts = Vec::new();
    for tick in 0..5 {
        let events = if tick == 2 { vec![Event::Stop, Event::Arm] } else { vec![] };
        let command =
            Command { seq: tick + 1, applies_tick: 0, ..answer(9, tick, EVERY_TICK, (0.5, n)) };
        verdicts.push(step(&mut simulation, &events, &[command]).verdicts[0]);
    }
    assert_eq!(verdicts[..4], [Verdict::Proving; 4]);
    assert_eq!(verdicts[4], Verdict::Accepted);
}
