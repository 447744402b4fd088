//! Pause, step, reset, snapshot and restore of the loop, on a clock that the test moves.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::common::bench::{Bench, Hands, PERIOD_NS, ROOMY, TestClock, quadruped};
use hardstand::config::{OverrunPolicy, Pace, StartRule};
use hardstand::limits::EVENTS_MAX;
use hardstand::rt::{
    Answer, Ending, JoinAnswer, ManualClock, Request, RequestSender, StateReset, TickReport,
};
use hardstand_protocol::{
    Authority, CommandSchedule, Event, Join, JointSet, LogTick, Role, StateReading,
};

const SLIP: Pace = Pace::RealTime(OverrunPolicy::Slip);

/// What came of a run.
struct Ran {
    ending: Ending,
    log: Vec<LogTick>,
    reports: Vec<TickReport>,
    /// Every state that was published.
    states: Vec<StateReading>,
    answers: Vec<Answer>,
}

impl Ran {
    fn digests(&self, run_id: u32) -> Vec<u64> {
        self.log.iter().filter(|t| t.run_id == run_id).map(|t| t.digest).collect()
    }

    fn ticks(&self) -> Vec<u64> {
        self.log.iter().map(|t| t.tick).collect()
    }
}

/// What the test does in the wait before a period.
type Act<'a> = &'a dyn Fn(u64, &mut RequestSender, &Hands);

/// Runs until `ticks` ticks of a run are done; `act` is called in every wait.
fn run(sets: &[&str], start: StartRule, ticks: u64, act: Act<'_>) -> Ran {
    let mut bench = Bench::new(quadruped(sets), ROOMY);
    let orders = Rc::new(RefCell::new(bench.orders.take().unwrap()));
    let (hands, shown) = (bench.hands(), bench.snapshots.clone());
    let (states, answers) = (RefCell::default(), RefCell::default());
    let collect = || {
        while let Some(snapshot) = shown.take() {
            RefCell::<Vec<StateReading>>::borrow_mut(&states).push(snapshot.state.clone());
            shown.give_back(snapshot);
        }
        let taken = std::iter::from_fn(|| orders.borrow_mut().answer());
        RefCell::<Vec<Answer>>::borrow_mut(&answers).extend(taken);
    };
    let between = |period: u64| {
        act(period, &mut orders.borrow_mut(), &hands);
        collect();
    };
    let clock = TestClock { clock: ManualClock::default(), late: Vec::new(), between };
    let (ending, _plant) = bench.executive(clock, SLIP, start, ticks).run();
    collect();
    let (log, reports) = (bench.logged(), bench.reported());
    Ran { ending, log, reports, states: states.take(), answers: answers.take() }
}

fn undisturbed(ticks: u64) -> Ran {
    run(&[], StartRule::Now, ticks, &|_, _, _| ())
}

fn phases(ran: &Ran) -> Vec<u8> {
    let mut phases: Vec<u8> = ran.states.iter().map(|s| s.phase).collect();
    phases.dedup();
    phases
}

#[test]
fn a_pause_changes_nothing() {
    let ran = run(&[], StartRule::Now, 30, &|period, orders, _| match period {
        10 => drop(orders.send(Request::Pause).unwrap()),
        500 => drop(orders.send(Request::Resume).unwrap()),
        _ => {}
    });
    assert_eq!(ran.ending, Ending::Done);
    assert_eq!(ran.digests(1), undisturbed(30).digests(1));
    assert_eq!(phases(&ran), [1, 3, 1]);
    assert_eq!(ran.answers.iter().map(|a| a.tick).collect::<Vec<_>>(), [10, 10]);
    // the state is shown at once, and again ten times a second
    let shown = ran.states.iter().filter(|s| s.phase == 3);
    assert_eq!(shown.map(|s| s.tick).collect::<Vec<_>>(), [10; 5]);
    // nobody missed a deadline, and none of the wait counts as a tick
    let last = ran.reports.last().unwrap();
    assert_eq!((last.missed_deadlines, last.ticks_run), (0, 30));
}

#[test]
fn commands_do_not_age_in_a_pause() {
    let command = |period: u64, hands: &Hands| {
        // answers the state that it sees; nothing while paused but for one late answer
        if period <= 20 {
            hands.candidate(7, period, period - 1);
        } else if period == 400 || period > 500 {
            hands.candidate(7, period, if period == 400 { 20 } else { period - 481 });
        }
    };
    let ran = run(&[], StartRule::Now, 60, &|period, orders, hands| {
        match period {
            20 => drop(orders.send(Request::Pause).unwrap()),
            500 => drop(orders.send(Request::Resume).unwrap()),
            _ => {}
        }
        command(period, hands);
    });
    let ages: Vec<u32> = ran.states.iter().map(|s| s.command_age_ticks).skip(3).collect();
    let young = ages.iter().filter(|a| **a <= 1).count();
    assert_eq!(young, ages.len(), "{ages:?}");
    assert_eq!(ran.ticks(), (0..60).collect::<Vec<_>>());
}

#[test]
fn steps_run_exactly_as_many_ticks() {
    let ran = run(&[], StartRule::Now, 100, &|period, orders, _| match period {
        5 => drop(orders.send(Request::Step(3)).unwrap()),
        100 => drop(orders.send(Request::Step(1)).unwrap()),
        200 => drop(orders.send(Request::RunUntil(42)).unwrap()),
        300 => drop(orders.send(Request::RunUntil(41)).unwrap()), // that has passed
        400 => drop(orders.send(Request::Step(0)).unwrap()),
        500 => drop(orders.send(Request::Resume).unwrap()),
        _ => {}
    });
    let told: Vec<u64> = ran.answers.iter().map(|a| a.tick).collect();
    assert_eq!(told, [8, 9, 42, 42, 42, 42]);
    let mut paused: Vec<u64> = ran.states.iter().filter(|s| s.phase == 3).map(|s| s.tick).collect();
    paused.dedup();
    assert_eq!(paused, [8, 9, 42]);
    assert_eq!(ran.digests(1), undisturbed(100).digests(1));
}

#[test]
fn an_event_in_a_pause_applies_when_it_goes_on() {
    let push = Event::Push { body: 0, point_B: [0.0; 3], force_W: [0.0, 50.0, 0.0], ticks: 5 };
    let ran = run(&[], StartRule::Now, 20, &|period, orders, _| match period {
        5 => drop(orders.send(Request::Pause).unwrap()),
        50 => drop(orders.send(Request::Event(push)).unwrap()),
        60 => drop(orders.send(Request::Resume).unwrap()),
        _ => {}
    });
    let pushed: Vec<u64> =
        ran.log.iter().filter(|t| !t.events.is_empty()).map(|t| t.tick).collect();
    assert_eq!((pushed, ran.answers[1].tick), (vec![5], 5));
}

/// More events than a tick applies wait for it: the request to run must not wait behind them.
#[test]
fn a_pause_ends_however_many_events_wait() {
    let push = Event::Push { body: 0, point_B: [0.0; 3], force_W: [0.0, 1.0, 0.0], ticks: 1 };
    let ran = run(&[], StartRule::Now, 20, &|period, orders, _| match period {
        5 => drop(orders.send(Request::Pause).unwrap()),
        50 => assert!((0..25).all(|_| orders.send(Request::Event(push)).is_ok())),
        60 => drop(orders.send(Request::Resume).unwrap()),
        _ => {}
    });
    let events: Vec<usize> = ran.log.iter().map(|t| t.events.len()).collect();
    assert_eq!((ran.ending, &events[4..8]), (Ending::Done, &[0, 16, 9, 0][..]));
    // a reset voids them
    let ran = run(&[PLANNED], StartRule::Now, 20, &|period, orders, _| match period {
        5 => drop(orders.send(Request::Pause).unwrap()),
        50 => assert!((0..25).all(|_| orders.send(Request::Event(push)).is_ok())),
        60 => drop(orders.send(reset(false)).unwrap()),
        70 => drop(orders.send(Request::Resume).unwrap()),
        _ => {}
    });
    let again = ran.log.iter().filter(|t| t.run_id == 2);
    assert_eq!(again.map(|t| t.events.len()).sum::<usize>(), 1, "the planned push alone");
    assert_eq!(ran.answers.len(), 28, "everybody is answered");
}

/// The initial state, as whoever asks for a reset sends it.
fn reset(rewind: bool) -> Request {
    let words = quadruped(&[PLANNED]).simulation().snapshot_words();
    Request::StateReset(Box::new(StateReset { words, rewind, afresh: true }))
}

const PLANNED: &str = "events=[{at_s=0.003, kind=\"push\", link=\"trunk\", force_n=[0,90,0], \
                       duration_s=0.005}]";

#[test]
fn a_reset_is_the_same_run_again_and_time_goes_on() {
    for rewind in [false, true] {
        let ran = run(&[PLANNED], StartRule::Now, 40, &|period, orders, _| {
            if period == 25 {
                orders.send(reset(rewind)).unwrap();
            }
        });
        assert_eq!(ran.ticks(), (0..25).chain(0..40).collect::<Vec<_>>());
        assert_eq!(ran.digests(1), ran.digests(2)[..25], "the planned push happens again");
        assert_ne!(ran.digests(1), undisturbed(25).digests(1), "it is felt");
        let again = ran.log.iter().find(|t| t.run_id == 2).unwrap();
        assert!(!again.keyframe.is_empty(), "a replay can begin here");
        let answer = ran.answers.last().unwrap();
        assert_eq!((answer.run.id, answer.tick), (2, 0));
        let times: Vec<u64> = ran.states.iter().map(|s| s.time_ns / PERIOD_NS).collect();
        let begin = if rewind { 1 } else { 27 };
        assert_eq!(times, (1..=25).chain(begin..begin + 40).collect::<Vec<_>>());
        assert_eq!(ran.reports.last().unwrap().ticks_run, 65);
    }
}

#[test]
fn after_a_reset_a_controller_proves_life_again_before_tick_0() {
    let ran = run(&[PLANNED], StartRule::OnController, 30, &|period, orders, hands| {
        match period {
            // three prove life, and three ticks are held; the fourth is meant for a run that is
            // over
            1..=4 => hands.candidate(7, period, 0),
            6 => drop(orders.send(reset(false)).unwrap()),
            100..=102 => {
                hands.candidate(7, period, 0);
                hands.candidate_in(2, 7, period, 0);
            }
            _ => {}
        }
    });
    assert_eq!(phases(&ran), [0, 1, 0, 1]);
    let first = ran.log.iter().find(|t| t.run_id == 2).unwrap();
    assert_eq!((first.tick, first.candidates.len()), (0, 3));
    let outdated = ran.reports.last().unwrap().commands_outdated;
    assert_eq!(outdated, 3, "those for the run before are nobody's");
}

#[test]
fn restored_is_as_never_stopped() {
    let taken = RefCell::new(None);
    let ran = run(&[PLANNED], StartRule::Now, 50, &|period, orders, _| match period {
        10 => drop(orders.send(Request::Snapshot(Box::default())).unwrap()),
        20 => {
            let words = taken.borrow_mut().take().unwrap();
            orders
                .send(Request::StateReset(Box::new(StateReset { words, ..Default::default() })))
                .unwrap();
        }
        _ => {
            if let Some(Answer { request: Request::Snapshot(words), tick, .. }) = orders.answer() {
                assert_eq!(tick, 10);
                *taken.borrow_mut() = Some(*words);
            }
        }
    });
    assert_eq!(ran.ticks(), (0..20).chain(10..50).collect::<Vec<_>>());
    assert_eq!(ran.digests(1)[10..], ran.digests(2)[..10]);
    let times: Vec<u64> = ran.states.iter().map(|s| s.time_ns).collect();
    assert!(times.is_sorted(), "time never goes back unasked");
}

#[test]
fn a_stop_ends_a_pause() {
    let mut bench = Bench::new(quadruped(&[]), ROOMY);
    let mut orders = bench.orders.take().unwrap();
    let stop = std::sync::Arc::clone(&bench.stop);
    orders.send(Request::Pause).unwrap();
    let between = move |period: u64| {
        if period == 30 {
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
        }
    };
    let clock = TestClock { clock: ManualClock::default(), late: Vec::new(), between };
    let (ending, simulation) = bench.executive(clock, SLIP, StartRule::Now, 100).run();
    assert_eq!((ending, simulation.state().tick), (Ending::Stopped, 0));
}

/// All joints, for a controller that answers every state.
fn join() -> Request {
    let mut joints = JointSet::default();
    assert!((0..12).all(|joint| joints.insert(joint)));
    let schedule = CommandSchedule { period: 1, phase: 0, offset: 0 };
    let join = Join { controller: 1, role: Role::Advisory, schedule, joints };
    let in_force = Vec::with_capacity(12);
    Request::Join(Box::new((join, JoinAnswer { in_force, ..JoinAnswer::default() })))
}

/// Stops, their ends, and controllers that join and leave, without end in a pause: each is
/// answered, and so is what lets ticks run.
#[test]
fn a_pause_ends_however_often_the_robot_is_stopped_or_joined() {
    let mut bench = Bench::new(quadruped(&[]), ROOMY);
    let orders = RefCell::new(bench.orders.take().unwrap());
    let stop = bench.emergency_stop.clone();
    let (sent, answers) = (Cell::new(0), RefCell::new(Vec::new()));
    let between = |period: u64| {
        let request = match period {
            5 => Some(Request::Pause),
            10..90 | 170..200 if period.is_multiple_of(2) => {
                stop.request();
                None
            }
            10..90 | 170..200 => Some(Request::Arm { stops: stop.requests(), void: false }),
            90..170 if period.is_multiple_of(2) => Some(join()),
            90..170 => Some(Request::Leave(1)),
            200 => Some(Request::Resume),
            _ => None,
        };
        if let Some(request) = request {
            orders.borrow_mut().send(request).unwrap();
            sent.set(sent.get() + 1);
        }
        answers.borrow_mut().extend(std::iter::from_fn(|| orders.borrow_mut().answer()));
    };
    let clock = TestClock { clock: ManualClock::default(), late: Vec::new(), between };
    let (ending, _plant) = bench.executive(clock, SLIP, StartRule::Now, 20).run();
    let log = bench.logged();
    assert_eq!((ending, log.len()), (Ending::Done, 20));
    answers.borrow_mut().extend(std::iter::from_fn(|| orders.borrow_mut().answer()));
    let answers = answers.into_inner();
    assert_eq!(answers.len(), sent.get(), "each request is answered");
    for answer in &answers {
        match &answer.request {
            Request::Join(join) => assert_eq!(join.1.denied, None),
            Request::Arm { void, .. } => assert!(!void),
            _ => {}
        }
    }
    let leases: Vec<Event> = log[5].events.clone();
    let ends = leases.iter().filter(|e| matches!(e, Event::Stop | Event::Arm));
    assert_eq!(ends.copied().collect::<Vec<_>>(), [Event::Stop, Event::Arm], "{leases:?}");
    assert!(log[6..].iter().all(|tick| tick.authority != Authority::Stopped));
}

/// Planned events leave room for a stop, also in a tick that requests have filled.
#[test]
fn a_stop_has_its_place_in_a_tick_that_is_full() {
    let event = "{at_s=0.005, kind=\"push\", link=\"trunk\", force_n=[0,1,0], duration_s=0.001}";
    let planned = format!("events=[{}]", [event; 4].join(","));
    let mut bench = Bench::new(quadruped(&[&planned]), ROOMY);
    let orders = RefCell::new(bench.orders.take().unwrap());
    let stop = bench.emergency_stop.clone();
    let between = |period: u64| {
        if period == 5 {
            assert!((0..30).all(|_| orders.borrow_mut().send(Request::Leave(7)).is_ok()));
            stop.request();
        }
    };
    let clock = TestClock { clock: ManualClock::default(), late: Vec::new(), between };
    let (ending, _plant) = bench.executive(clock, SLIP, StartRule::Now, 20).run();
    let log = bench.logged();
    let pushes = |t: &LogTick| t.events.iter().filter(|e| matches!(e, Event::Push { .. })).count();
    assert_eq!((ending, log.iter().map(pushes).sum::<usize>()), (Ending::Done, 4));
    let full = log.iter().find(|t| t.events.contains(&Event::Stop)).unwrap();
    assert!(full.events.len() > 30, "{}", full.events.len());
    assert!(log.iter().all(|t| t.events.len() <= EVENTS_MAX), "{}", full.events.len());
}
