//! Faults of the states: what controllers see, and when; everybody else sees all.

use std::sync::{Arc, Mutex};

use hardstand::config::{OverrunPolicy, Pace, StartRule};
use hardstand::rt::{Arrivals, Direct, Links, ManualClock, StateCounts, StateFaults};
use hardstand::simulation::{InjectedFaults, Snapshot};
use hardstand_protocol::{Command, CommandSchedule, FaultKind, Part, StateReading};

use super::broken;
use crate::common::bench::{Bench, ROOMY, TestClock, quadruped};

const EVERY: CommandSchedule = CommandSchedule { period: 1, phase: 0, offset: 0 };

fn faults(faults: &[(FaultKind, &[f64])]) -> InjectedFaults {
    let events: Vec<_> = faults.iter().map(|(k, values)| broken(*k, Part::Whole, values)).collect();
    let injected = quadruped(&[]).simulation().faults_with(&events);
    assert_eq!(injected.active().count(), faults.len(), "each is possible");
    injected
}

/// Ticks of the states that come in each of so many ticks.
fn come(
    link: &mut StateFaults,
    faults: &InjectedFaults,
    ticks: std::ops::Range<u64>,
) -> Vec<Vec<u64>> {
    let tick = |tick: u64| {
        let at = link.pass(faults, tick, |state| state.tick = tick);
        assert_eq!(link.withholds(), at != Some(tick));
        let mut come = Vec::new();
        while let Some(late) = link.take_late(tick) {
            come.push(late.tick);
            link.give_back(late);
        }
        come.extend(at.filter(|at| *at == tick));
        come
    };
    ticks.map(tick).collect()
}

#[test]
fn a_sound_link_passes_every_state_on() {
    let mut link = StateFaults::new(&StateReading::default());
    let all: Vec<Vec<u64>> = (0..50).map(|t| vec![t]).collect();
    assert_eq!(come(&mut link, &InjectedFaults::default(), 0..50), all);
    // faults of the commands are none of the states
    let commands = faults(&[(FaultKind::LinkDrop, &[1.0, 1.0]), (FaultKind::LinkDelay, &[3.0])]);
    assert_eq!(come(&mut link, &commands, 0..50), all);
    assert_eq!(link.counts(), &StateCounts::default());
}

#[test]
fn states_are_lost_as_often_as_asked_by_seed_and_tick() {
    let lost = |p: f64, length: f64, seed: f64, from: u64| -> Vec<bool> {
        let mut link = StateFaults::new(&StateReading::default());
        let faults = faults(&[(FaultKind::StateDrop, &[p, length, seed])]);
        let come = come(&mut link, &faults, from..from + 10_000);
        let lost: Vec<bool> = come.iter().map(Vec::is_empty).collect();
        assert_eq!(link.counts().dropped, lost.iter().filter(|l| **l).count() as u64);
        lost
    };
    let first = lost(0.03, 1.0, 7.0, 0);
    // 300 of 10,000, with a standard deviation of 17
    let count = first.iter().filter(|l| **l).count();
    assert!((230..=370).contains(&count), "{count}");
    assert_eq!(first, lost(0.03, 1.0, 7.0, 0));
    assert_eq!(first[500..], lost(0.03, 1.0, 7.0, 500)[..9500], "by tick, not by count");
    assert_ne!(first, lost(0.03, 1.0, 8.0, 0));
    let rows = lost(0.1, 5.0, 7.0, 0);
    assert!(rows.chunks(5).all(|c| c.iter().all(|l| *l == c[0])), "five in a row, or none");
}

#[test]
fn what_is_under_way_arrives_after_the_fault_and_is_not_overtaken() {
    let mut link = StateFaults::new(&StateReading::default());
    let delay = faults(&[(FaultKind::StateDelay, &[5.0])]);
    let seen = come(&mut link, &delay, 0..20);
    let expected: Vec<Vec<u64>> =
        (0..20_u64).map(|t| t.checked_sub(5).map_or(vec![], |n| vec![n])).collect();
    assert_eq!(seen, expected);
    let rest = come(&mut link, &InjectedFaults::default(), 20..27);
    assert_eq!(rest.concat(), (15..27).collect::<Vec<_>>());
    assert_eq!(rest[4], (19..=24).collect::<Vec<_>>(), "together, in their order");
    // more than there is room for are lost
    let faults =
        faults(&[(FaultKind::StateDelay, &[100.0]), (FaultKind::StateReorder, &[1.0, 100.0, 0.0])]);
    let seen = come(&mut link, &faults, 100..400);
    assert!(link.counts().dropped > 0 && seen[200] == [100], "{:?}", link.counts());
    link.clear();
    assert!(!link.withholds() && !link.has_late(1000));
}

#[test]
fn a_tick_needs_the_newest_answer_that_can_come() {
    let mut arrivals = Arrivals::default();
    // 5 comes 2 ticks later, 8 is lost, 10 and 11 come with 12
    for (state, at) in [(5, Some(7)), (8, None), (10, Some(12)), (11, Some(12))] {
        arrivals.note(state, at, &[EVERY]);
    }
    let wanted = |schedule: &CommandSchedule, ticks: std::ops::Range<u64>| -> Vec<Option<u64>> {
        ticks.map(|tick| arrivals.wanted(schedule, tick)).collect()
    };
    let needs = [Some(4), None, Some(6), Some(7), None, Some(9), None, None, Some(12), Some(13)];
    assert_eq!(wanted(&EVERY, 4..14), needs);
    let void: Vec<u64> = (0..20).filter(|&state| arrivals.is_void(&EVERY, state, 20)).collect();
    assert_eq!(void, [5, 8, 10, 11]);
    // who answers every fifth state has nothing newer, and answers 3 ticks after it has come
    let fifth = CommandSchedule { period: 5, phase: 0, offset: 3 };
    let expected: Vec<Option<u64>> = (8..17)
        .map(|tick| match tick {
            10 => Some(5),
            15 => Some(10),
            _ => None,
        })
        .collect();
    assert_eq!(wanted(&fifth, 8..17), expected);
    let answer = |answers_tick| Command {
        answers_tick,
        applies_tick: answers_tick + 3,
        ..Command::default()
    };
    assert_eq!([0, 5, 10].map(|tick| arrivals.applies(&answer(tick))), [3, 10, 15]);
    // before 12 it is not known that 10 will be overtaken by it
    assert!(!arrivals.is_void(&EVERY, 10, 10) && arrivals.is_void(&EVERY, 8, 8));
    arrivals.clear();
    assert_eq!(arrivals.wanted(&EVERY, 8), Some(8));
}

/// However much is disturbed, what a slow controller needs is not forgotten.
#[test]
fn an_answer_that_is_long_on_its_way_is_not_forgotten() {
    let slow = CommandSchedule { period: 1000, phase: 0, offset: 7999 };
    let mut arrivals = Arrivals::default();
    arrivals.note(1000, None, &[EVERY, slow]);
    for tick in 1001..9000 {
        arrivals.note(tick, tick.is_multiple_of(1000).then_some(tick + 1), &[EVERY, slow]);
        let came = (tick > 1001 && tick % 1000 == 1).then(|| tick - 1);
        assert_eq!(arrivals.wanted(&EVERY, tick), came);
    }
    assert_eq!(arrivals.wanted(&slow, 8999), None, "1000 was lost");
    assert_eq!([9999, 10_000].map(|tick| arrivals.wanted(&slow, tick)), [None, Some(2000)]);
}

/// What a snapshot has for whom.
#[derive(Clone, Debug, PartialEq)]
struct Seen {
    /// Tick of the state, if controllers see it.
    state: Option<u64>,
    /// Tick of the rest, if it is not void.
    rest: Option<u64>,
}

#[test]
fn the_loop_keeps_states_from_controllers_and_from_nobody_else() {
    let events = "events=[{at_s=0.1, kind=\"state_drop\", probability=1, duration_s=0.05}, \
                  {at_s=0.2, kind=\"state_delay\", delay_ticks=4}]";
    let mut bench = Bench::new(quadruped(&[events]), ROOMY);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let all = Arc::clone(&seen);
    let direct = Direct::default();
    direct.set(Some(Box::new(move |s: &Snapshot| {
        let state = (!s.withheld).then_some(s.state.tick);
        let rest = (!s.again).then_some(s.contacts.tick);
        all.lock().unwrap().push(Seen { state, rest });
    })));
    let hands = bench.hands();
    let between = move |period| hands.candidate(7, period, period);
    let clock = TestClock { clock: ManualClock::default(), late: Vec::new(), between };
    let links = Links { direct: Some(direct), ..bench.links() };
    let pace = Pace::RealTime(OverrunPolicy::Slip);
    Bench::loop_of(&bench.scenario, links, clock, pace, StartRule::Now, 300).run();
    let seen = seen.lock().unwrap().clone();
    let states: Vec<u64> = seen.iter().filter_map(|s| s.state).collect();
    let expected: Vec<u64> = (1..=100).chain(151..=200).chain(201..=296).collect();
    assert_eq!(states, expected);
    let rest: Vec<u64> = seen.iter().filter_map(|s| s.rest).collect();
    assert_eq!(rest, (1..=300).collect::<Vec<_>>(), "contacts and views lose nothing");
    let late = seen.iter().position(|s| s.state == Some(201)).unwrap();
    assert_eq!(seen[late + 1], Seen { state: None, rest: Some(205) });
    // the log has the truth, and the status says what was done
    let log = bench.logged();
    assert!(log.iter().all(|t| t.state.tick == t.tick + 1));
    let counts = bench.reported().last().unwrap().states;
    assert_eq!(counts, StateCounts { dropped: 50, delayed: 100 });
}
