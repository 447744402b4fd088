//! The loop with its real hand-overs and a clock that stands still.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::atomic::Ordering;

use crate::common::bench::{Bench, Hands, PERIOD_NS, Queues, ROOMY, TestClock, quadruped};
use hardstand::buffer_pool::Run;
use hardstand::config::{OverrunPolicy, Pace, StartRule};
use hardstand::limits::ORDER_QUEUE;
use hardstand::rt::{Answer, Clock, Ending, ManualClock, Request, RequestSender, request_queue};
use hardstand::simulation::EventSchedule;
use hardstand_protocol::LogTick;
use hardstand_protocol::{Authority, Event, Phase, Rejection, Scope, TickInput, Verdict};

const SLIP: Pace = Pace::RealTime(OverrunPolicy::Slip);

/// Digest of `ticks` ticks in which nobody commands.
fn digest_alone(ticks: u64) -> u64 {
    let mut simulation = quadruped(&[]).simulation();
    for _ in 0..ticks {
        simulation.step(&TickInput::new());
    }
    simulation.state().digest
}

#[test]
fn a_publisher_that_pauses_loses_snapshots_and_nothing_else() {
    let mut bench = Bench::new(quadruped(&[]), ROOMY);
    let run = bench.executive(ManualClock::default(), SLIP, StartRule::Now, 50);
    let (ending, simulation) = run.run();
    assert_eq!((ending, simulation.state().tick), (Ending::Done, 50));
    assert_eq!(simulation.state().digest, digest_alone(50));
    let reports = bench.reported();
    // eight boxes: the ninth snapshot is the first that is lost
    let dropped: Vec<u64> = reports.iter().map(|r| r.snapshots_dropped).collect();
    assert_eq!(dropped[..9], [0, 0, 0, 0, 0, 0, 0, 0, 1]);
    assert_eq!((dropped.len(), dropped[49]), (50, 42));
    let kept: Vec<u64> =
        std::iter::from_fn(|| bench.snapshots.take().map(|s| s.state.tick)).collect();
    assert_eq!(kept, [1, 2, 3, 4, 5, 6, 7, 8]);
}

/// A clock that goes back by two periods at its `at`th look.
struct BackClock {
    clock: ManualClock,
    looks: Cell<u64>,
    at: u64,
}

impl Clock for BackClock {
    fn now_ns(&self) -> u64 {
        self.looks.set(self.looks.get() + 1);
        let back = if self.looks.get() >= self.at { 2 * PERIOD_NS } else { 0 };
        10 * PERIOD_NS + self.clock.now_ns() - back
    }

    fn sleep_until(&self, deadline_ns: u64) {
        self.clock.sleep_until(deadline_ns - 10 * PERIOD_NS);
    }
}

/// LC-1: nothing can be on time any more, and a loop that waits for the old deadline would hang.
#[test]
fn a_clock_that_goes_back_ends_the_run_at_a_whole_tick() {
    for (start, ticks) in [(StartRule::Now, 20), (StartRule::OnController, 0)] {
        let mut bench = Bench::new(quadruped(&[]), ROOMY);
        let clock = BackClock { clock: ManualClock::default(), looks: Cell::new(0), at: 80 };
        let (ending, simulation) = bench.executive(clock, SLIP, start, 1000).run();
        assert_eq!(ending, Ending::ClockWentBack, "{start:?}");
        let (tick, logged) = (simulation.state().tick, bench.logged());
        assert!(tick.abs_diff(ticks) <= 1, "{start:?}: {tick}");
        assert_eq!((logged.len() as u64, simulation.state().digest), (tick, digest_alone(tick)));
    }
}

#[test]
fn a_monitor_that_sleeps_loses_reports_and_nothing_else() {
    let mut bench = Bench::new(quadruped(&[]), Queues { reports: 4, ..ROOMY });
    let (ending, simulation) =
        bench.executive(ManualClock::default(), SLIP, StartRule::Now, 50).run();
    assert_eq!((ending, simulation.state().digest), (Ending::Done, digest_alone(50)));
    assert_eq!(bench.reported().iter().map(|r| r.tick).collect::<Vec<_>>(), [1, 2, 3, 4]);
}

#[test]
fn a_full_log_queue_drops_ticks_and_resumes_with_a_keyframe() {
    let mut bench =
        Bench::new(quadruped(&["record.keyframe_every_ticks=1000"]), Queues { log: 20, ..ROOMY });
    let mut taken = Vec::new();
    // the recorder takes everything at tick 30, and then nothing
    let log = bench.log.clone();
    let kept = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let (keep, clock) = (std::sync::Arc::clone(&kept), ManualClock::default());
    let between = move |period: u64| {
        while period == 30
            && let Some(tick) = log.take()
        {
            keep.lock().unwrap().push((tick.tick, tick.keyframe.len()));
            log.give_back(tick);
        }
    };
    let clock = TestClock { clock, late: Vec::new(), between };
    let (_, simulation) = bench.executive(clock, SLIP, StartRule::Now, 60).run();
    assert_eq!(simulation.state().digest, digest_alone(60));
    taken.extend(kept.lock().unwrap().drain(..));
    taken.extend(bench.logged().iter().map(|t| (t.tick, t.keyframe.len())));
    let words = bench.scenario.simulation().snapshot_words().len();
    let expected: Vec<u64> = (0..20).chain(30..50).collect();
    assert_eq!(taken.iter().map(|t| t.0).collect::<Vec<_>>(), expected);
    for (tick, keyframe) in taken {
        let due = tick == 0 || tick == 30;
        assert_eq!(keyframe, if due { words } else { 0 }, "tick {tick}");
    }
    assert_eq!(bench.reported().last().unwrap().log_dropped, 20);
}

#[test]
fn keyframes_come_at_their_ticks_and_hold_the_state_before() {
    let mut bench = Bench::new(quadruped(&["record.keyframe_every_ticks=7"]), ROOMY);
    bench.executive(ManualClock::default(), SLIP, StartRule::Now, 30).run();
    let mut simulation = bench.scenario.simulation();
    for tick in bench.logged() {
        let expected = if tick.tick % 7 == 0 { simulation.snapshot_words() } else { Vec::new() };
        assert_eq!(tick.keyframe, expected, "tick {}", tick.tick);
        simulation.step(&TickInput::new());
    }
}

/// At free pace nothing is dropped: the loop waits for the recorder.
#[test]
fn free_pace_waits_for_the_recorder() {
    let mut bench = Bench::new(quadruped(&[]), Queues { log: 3, ..ROOMY });
    let log = bench.log.clone();
    let count = Rc::new(Cell::new(0));
    let seen = Rc::clone(&count);
    let between = move |_| {
        let tick = log.take().expect("the queue is full when the loop waits");
        assert_eq!(tick.tick, seen.get());
        seen.set(seen.get() + 1);
        log.give_back(tick);
    };
    let clock = TestClock { clock: ManualClock::default(), late: Vec::new(), between };
    let (ending, simulation) = bench.executive(clock, Pace::Free, StartRule::Now, 200).run();
    assert_eq!((ending, simulation.state().tick, count.get()), (Ending::Done, 200, 197));
    assert_eq!(simulation.state().digest, digest_alone(200));
    let last = bench.reported().pop().unwrap();
    assert_eq!((last.log_dropped, last.missed_deadlines), (0, 0));
}

/// A loop of 15 ticks that fills a log queue of three at free pace, and gets a request for a
/// real-time pace at its 20th look whether the recorder has taken one. The recorder `takes` one at
/// some of the looks. Returns the number of looks and what was recorded.
fn end_of_free_pace(takes: fn(u64) -> bool) -> (Bench, u64, usize) {
    let mut bench = Bench::new(quadruped(&[]), Queues { log: 3, ..ROOMY });
    let (log, orders) = (bench.log.clone(), RefCell::new(bench.orders.take().unwrap()));
    let (looks, recorded) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(0)));
    let (look, record) = (Rc::clone(&looks), Rc::clone(&recorded));
    let between = move |_| {
        look.set(look.get() + 1);
        if look.get() == 20 {
            orders.borrow_mut().send(Request::Speed(PERIOD_NS)).unwrap();
        }
        if takes(look.get())
            && let Some(tick) = log.take()
        {
            record.set(record.get() + 1);
            log.give_back(tick);
        }
    };
    let clock = TestClock { clock: ManualClock::default(), late: Vec::new(), between };
    let (ending, simulation) = bench.executive(clock, Pace::Free, StartRule::Now, 15).run();
    assert_eq!((ending, simulation.state().tick), (Ending::Done, 15));
    (bench, looks.get(), recorded.get())
}

/// What free pace has left in the queue is recorded before ticks come by the clock, which do not
/// wait for the recorder.
#[test]
fn the_end_of_free_pace_drops_no_tick() {
    let (bench, looks, recorded) = end_of_free_pace(|look| look % 3 == 2 || look > 30);
    assert!((30..60).contains(&looks), "{looks}");
    let last = bench.reported().pop().unwrap();
    assert_eq!((last.log_dropped, last.missed_deadlines), (0, 0));
    assert_eq!(last.wall_period_ns, PERIOD_NS, "the pace has changed");
    assert_eq!(recorded + bench.logged().len(), 15);
}

/// A recorder that hangs does not keep the run from real time.
#[test]
fn the_end_of_free_pace_waits_for_a_second_at_most() {
    let (bench, looks, recorded) = end_of_free_pace(|look| look == 20);
    assert!((50_000..50_100).contains(&looks), "looks of 20 us: {looks}");
    let dropped = bench.reported().pop().unwrap().log_dropped;
    assert_eq!((recorded, bench.logged().len(), dropped), (1, 3, 11));
}

/// A disk that hangs keeps no emergency stop waiting, and the next tick is a stopped one.
#[test]
fn a_stop_is_taken_while_the_loop_waits_for_the_recorder() {
    let mut bench = Bench::new(quadruped(&[]), Queues { log: 3, ..ROOMY });
    let (log, stop) = (bench.log.clone(), bench.emergency_stop.clone());
    let (asked, given) = (Cell::new(0), Cell::new(0));
    let between = move |period: u64| {
        if period == 20 {
            asked.set(stop.request());
        }
        if period == 22 {
            let taken = stop.taken(asked.get()).expect("no tick can run, and nothing waits for it");
            assert_eq!(taken.tick, 3);
        }
        if period >= 30
            && given.get() < 2
            && let Some(tick) = log.take()
        {
            assert!(tick.events.is_empty());
            log.give_back(tick);
            given.set(given.get() + 1);
        }
    };
    let clock = TestClock { clock: ManualClock::default(), late: Vec::new(), between };
    bench.executive(clock, Pace::Free, StartRule::Now, 5).run();
    let kept: Vec<(u64, Vec<Event>, Authority)> =
        bench.logged().into_iter().map(|t| (t.tick, t.events, t.authority)).collect();
    assert_eq!(kept[0].0, 2);
    assert_eq!(kept[1], (3, vec![Event::Stop], Authority::Stopped));
    assert_eq!(kept[2], (4, Vec::new(), Authority::Stopped));
}

/// A run that waits until `candidates(bench, period)` has proved life, or 200 periods at most.
fn waits(candidates: impl Fn(&Hands, u64)) -> (Ending, Bench) {
    let scenario = quadruped(&["command.hold_ticks=10"]);
    let mut bench = Bench::new(scenario, ROOMY);
    let hands = bench.hands();
    let stop = std::sync::Arc::clone(&bench.stop);
    let between = move |period: u64| {
        candidates(&hands, period);
        if period >= 200 {
            stop.store(true, Ordering::Relaxed);
        }
    };
    let clock = TestClock { clock: ManualClock::default(), late: Vec::new(), between };
    let run = bench.executive(clock, SLIP, StartRule::OnController, 20);
    (run.run().0, bench)
}

#[test]
fn a_proof_of_life_starts_the_run_at_tick_0_with_full_authority() {
    let (ending, bench) = waits(|b, period| {
        if (50..53).contains(&period) {
            b.candidate(7, period, 0);
        }
    });
    assert_eq!(ending, Ending::Done);
    let log = bench.logged();
    let verdicts: Vec<Verdict> = log[0].candidates.iter().map(|o| o.verdict).collect();
    assert_eq!(verdicts, [Verdict::Proving, Verdict::Proving, Verdict::Accepted]);
    assert_eq!((log[0].tick, log[0].authority, log.len()), (0, Authority::Fresh, 20));
    let waiting = bench.reported().iter().filter(|r| r.phase == Phase::Waiting).count();
    assert!((50..60).contains(&waiting), "{waiting} periods of waiting");
}

/// Two controllers that send in turn: the first one gets the robot, the other one is told.
#[test]
fn interleaved_sessions_do_not_keep_each_other_out() {
    let (ending, bench) = waits(|b, period| {
        b.candidate(7, period + 1, 0);
        b.candidate(8, period + 1, 0);
    });
    assert_eq!(ending, Ending::Done);
    let first = &bench.logged()[0];
    let accepted = first.candidates.iter().find(|o| o.verdict == Verdict::Accepted).unwrap();
    assert_eq!(accepted.session, 7);
    let refused = bench
        .reported()
        .iter()
        .filter(|r| r.phase == Phase::Waiting)
        .map(|r| r.candidates)
        .sum::<usize>();
    assert!((1..=3).contains(&refused), "{refused} refusals while waiting");
}

/// Commands that the watchdog would refuse are no proof: the robot is not let go.
#[test]
fn commands_that_prove_nothing_do_not_start_the_run() {
    // future ticks; the same number again and again; nobody
    type Offers = fn(&Hands, u64);
    let cases: [(Offers, Rejection); 3] = [
        (|b, period| b.candidate(7, period + 1, 5000), Rejection::FutureTick),
        (|b, _| b.candidate(7, 1, 0), Rejection::Sequence),
        (|b, period| b.candidate(0, period + 1, 0), Rejection::Session),
    ];
    for (candidates, reason) in cases {
        let (ending, bench) = waits(candidates);
        assert_eq!(ending, Ending::Stopped, "{reason:?}");
        assert_eq!(bench.logged().len(), 0);
        let reports = bench.reported();
        assert!(reports.iter().all(|r| r.phase == Phase::Waiting));
        let verdicts = reports.iter().flat_map(|r| &r.verdicts[..r.candidates]);
        let counted = verdicts.filter(|v| **v == Verdict::Rejected(reason)).count();
        // with a silent candidate in between, one in twelve counts as a new beginning
        assert!(counted >= 170, "{counted} of 200 counted as {reason:?}");
    }
}

/// A candidate that leaves before its proof is complete makes room for the next one.
#[test]
fn a_candidate_that_falls_silent_makes_room() {
    let (ending, bench) = waits(|b, period| match period {
        3 | 4 => b.candidate(7, period, 0),
        6..=9 => b.candidate(8, period, 0), // too early: 7 is expected to go on
        30..=40 => b.candidate(9, period, 0), // 7 has been silent for more than hold_ticks
        _ => {}
    });
    assert_eq!(ending, Ending::Done);
    let sessions: Vec<u64> = bench.logged()[0].candidates.iter().map(|o| o.session).collect();
    assert_eq!(sessions, [9, 9, 9]);
    let reports = bench.reported();
    let refused = reports
        .iter()
        .filter(|r| r.phase == Phase::Waiting)
        .flat_map(|r| &r.verdicts[..r.candidates]);
    let of = |wanted| refused.clone().filter(|v| **v == wanted).count();
    assert_eq!(of(Verdict::Rejected(Rejection::NotOwner)), 4);
    assert_eq!(of(Verdict::Proving), 2, "what was kept is accounted for when it is let go");
}

#[test]
fn events_happen_at_their_ticks() {
    let events = "events=[{at_s=0.012, kind=\"push\", link=\"trunk\", force_n=[0.0, 50.0, 0.0], \
                  duration_s=0.005}, {at_s=0.003, kind=\"friction\", mu_static=0.2, \
                  mu_kinetic=0.1}]";
    let mut bench = Bench::new(quadruped(&[events]), ROOMY);
    bench.executive(ManualClock::default(), SLIP, StartRule::Now, 30).run();
    let log = bench.logged();
    let at: Vec<u64> = log.iter().filter(|t| !t.events.is_empty()).map(|t| t.tick).collect();
    assert_eq!(at, [3, 12]);
    assert!(matches!(log[3].events[..], [Event::Friction { mu_static: 0.2, .. }]));
    assert!(matches!(log[12].events[..], [Event::Push { ticks: 5, .. }]));
}

fn event(n: u32) -> Event {
    Event::Friction { scope: Scope::Station(n), mu_static: 0.5, mu_kinetic: 0.4 }
}

/// More events in one tick than it applies: the rest follows in the next ticks, in order.
#[test]
fn a_crowd_of_events_is_spread_over_ticks() {
    let crowd = (0..80).map(|n| (7, event(n)));
    let mut schedule = EventSchedule::new(std::iter::once((9, event(99))).chain(crowd).collect());
    let mut due = |tick| {
        let mut out = Vec::new();
        schedule.take_due(tick, &mut out);
        out
    };
    assert_eq!(due(6), []);
    // 30 of a tick's 32 places: two are kept for a stop and its end
    assert_eq!(due(7), (0..30).map(event).collect::<Vec<_>>());
    assert_eq!(due(8), (30..60).map(event).collect::<Vec<_>>());
    assert_eq!(due(9), (60..80).chain([99]).map(event).collect::<Vec<_>>());
    assert_eq!(due(u64::MAX), []);
}

/// Ticks by the period of wall time in which they began, and the count of missed deadlines.
fn stalled(policy: OverrunPolicy) -> (Ending, Vec<u64>, u64) {
    let mut bench = Bench::new(quadruped(&[]), ROOMY);
    let begun = Rc::new(std::cell::RefCell::new(vec![0]));
    let note = Rc::clone(&begun);
    let between = move |period| note.borrow_mut().push(period);
    // the sleep that should end at 10 ms ends at 14.5 ms
    let clock = TestClock { clock: ManualClock::default(), late: vec![(10, 4_500_000)], between };
    let run = bench.executive(clock, Pace::RealTime(policy), StartRule::Now, 30);
    let (ending, simulation) = run.run();
    assert_eq!(simulation.state().digest, digest_alone(simulation.state().tick));
    let missed = bench.reported().last().unwrap().missed_deadlines;
    let begun = begun.borrow().clone();
    (ending, begun, missed)
}

#[test]
fn slip_skips_what_was_missed() {
    let (ending, begun, missed) = stalled(OverrunPolicy::Slip);
    let expected: Vec<u64> = (0..=10).chain(15..=33).collect();
    assert_eq!((ending, begun, missed), (Ending::Done, expected, 4));
}

#[test]
fn catch_up_runs_what_was_missed_at_once() {
    let (ending, begun, missed) = stalled(OverrunPolicy::CatchUp { ticks_max: 10 });
    // four ticks are caught up without a sleep: they do not appear
    let expected: Vec<u64> = (0..=10).chain(15..=29).collect();
    assert_eq!((ending, begun, missed), (Ending::Done, expected, 4));
}

#[test]
fn catch_up_is_bounded() {
    let (ending, begun, missed) = stalled(OverrunPolicy::CatchUp { ticks_max: 2 });
    let expected: Vec<u64> = (0..=10).chain(15..=31).collect();
    assert_eq!((ending, begun, missed), (Ending::Done, expected, 4));
}

#[test]
fn stop_ends_the_run_at_the_first_miss() {
    let mut bench = Bench::new(quadruped(&[]), ROOMY);
    let clock =
        TestClock { clock: ManualClock::default(), late: vec![(10, 1_000_000)], between: |_| {} };
    let pace = Pace::RealTime(OverrunPolicy::Stop);
    let (ending, simulation) = bench.executive(clock, pace, StartRule::Now, 30).run();
    assert_eq!((ending, simulation.state().tick), (Ending::Overrun, 11));
}

/// More commands than one tick looks at: the rest waits for the next tick, none is lost.
#[test]
fn full_command_queues_are_worked_off_in_order() {
    let mut bench = Bench::new(quadruped(&[]), ROOMY);
    for seq in 1..=4 {
        (7..15).for_each(|session| bench.hands().candidate(session, seq, 0));
    }
    bench.executive(ManualClock::default(), SLIP, StartRule::Now, 3).run();
    let log = bench.logged();
    let seqs: Vec<u64> = log.iter().flat_map(|t| &t.candidates).map(|o| o.seq).collect();
    assert_eq!(seqs, (1..=4).flat_map(|seq| [seq; 8]).collect::<Vec<_>>());
    assert_eq!(log.iter().map(|t| t.candidates.len()).collect::<Vec<_>>(), [16, 16, 0]);
    assert_eq!(bench.commands.waiting(), 0);
}

#[test]
fn a_stop_ends_the_run_after_the_tick() {
    let mut bench = Bench::new(quadruped(&[]), ROOMY);
    let stop = std::sync::Arc::clone(&bench.stop);
    let between = move |period| stop.store(period >= 5, Ordering::Relaxed);
    let clock = TestClock { clock: ManualClock::default(), late: Vec::new(), between };
    let (ending, simulation) = bench.executive(clock, SLIP, StartRule::Now, 30).run();
    assert_eq!((ending, simulation.state().tick, bench.logged().len()), (Ending::Stopped, 6, 6));
}

/// All events in a log, with their ticks.
fn events_of(log: &[LogTick]) -> Vec<(u64, Event)> {
    log.iter().flat_map(|t| t.events.iter().map(|&e| (t.tick, e))).collect()
}

#[test]
fn an_event_from_outside_applies_at_the_tick_that_is_told() {
    let mut bench = Bench::new(quadruped(&[]), ROOMY);
    let outbox = std::cell::RefCell::new(bench.orders.take().unwrap());
    let told = Rc::new(std::cell::RefCell::new(Vec::new()));
    let tell = Rc::clone(&told);
    let between = move |period: u64| {
        let mut outbox = outbox.borrow_mut();
        tell.borrow_mut().extend(std::iter::from_fn(|| next_told(&mut outbox)));
        if period == 5 || period == 9 {
            outbox.send(apply(period as u32)).unwrap();
            outbox.send(apply(1)).unwrap();
        }
    };
    let clock = TestClock { clock: ManualClock::default(), late: Vec::new(), between };
    let (_, simulation) = bench.executive(clock, SLIP, StartRule::Now, 30).run();
    // the sleep before period 5 ends tick 4
    let log = bench.logged();
    assert_eq!(events_of(&log), [(5, event(5)), (5, event(1)), (9, event(9)), (9, event(1))]);
    assert_eq!(*told.borrow(), [(0, 5), (1, 5), (2, 9), (3, 9)]);
    assert_ne!(simulation.state().digest, digest_alone(30));
    let mut again = bench.scenario.simulation();
    for tick in log {
        again.step(&TickInput { events: tick.events, ..TickInput::new() });
    }
    assert_eq!(again.state().digest, simulation.state().digest);
}

#[test]
fn a_crowd_from_outside_waits_its_turn_behind_what_was_planned() {
    let planned = "events=[{at_s=0.0, kind=\"friction\", mu_static=0.2, mu_kinetic=0.1}]";
    let mut bench = Bench::new(quadruped(&[planned]), ROOMY);
    let mut outbox = bench.orders.take().unwrap();
    for n in 0..ORDER_QUEUE {
        assert_eq!(outbox.send(apply(n as u32)), Ok(n as u64));
    }
    assert_eq!(outbox.send(apply(99)), Err(apply(99)), "the queue is full");
    bench.executive(ManualClock::default(), SLIP, StartRule::Now, 5).run();
    let log = bench.logged();
    assert_eq!(log.iter().map(|t| t.events.len()).collect::<Vec<_>>(), [16, 16, 1, 0, 0]);
    let all: Vec<Event> = events_of(&log).into_iter().map(|(_, e)| e).collect();
    assert!(matches!(all[0], Event::Friction { scope: Scope::All, .. }));
    assert_eq!(all[1..], (0..ORDER_QUEUE as u32).map(event).collect::<Vec<_>>());
    // until the answers are fetched there is no room for more: none of them can get lost
    assert_eq!(outbox.send(apply(99)), Err(apply(99)));
    let told: Vec<u64> =
        std::iter::from_fn(|| next_told(&mut outbox)).map(|(_, tick)| tick).collect();
    assert_eq!(told, [vec![0; 15], vec![1; 16], vec![2]].concat());
    assert_eq!(outbox.send(apply(99)), Ok(ORDER_QUEUE as u64));
}

/// Events that come while the robot waits apply in its first tick, once, even if a candidate has
/// come and gone in between.
#[test]
fn events_that_come_before_the_controller_apply_at_tick_0() {
    let mut bench = Bench::new(quadruped(&["command.hold_ticks=10"]), ROOMY);
    let outbox = std::cell::RefCell::new(bench.orders.take().unwrap());
    let hands = bench.hands();
    let between = move |period: u64| {
        let mut outbox = outbox.borrow_mut();
        match period {
            3 => assert_eq!(outbox.send(apply(3)), Ok(0)),
            4 | 5 => hands.candidate(7, period, 0),
            // told long before the first tick
            6 => assert_eq!((next_told(&mut outbox), next_told(&mut outbox)), (Some((0, 0)), None)),
            40..43 => hands.candidate(8, period, 0),
            _ => {}
        }
    };
    let clock = TestClock { clock: ManualClock::default(), late: Vec::new(), between };
    bench.executive(clock, SLIP, StartRule::OnController, 20).run();
    let log = bench.logged();
    assert_eq!((events_of(&log), log.len()), (vec![(0, event(3))], 20));
    assert_eq!(log[0].candidates.len(), 3);
}

/// What is late in one queue takes nothing away that has just come into another.
#[test]
fn only_what_is_late_is_recalled() {
    let (mut outbox, inbox) = request_queue();
    let sent = [apply(1), Request::Pause, apply(2)].map(|request| outbox.send(request).unwrap());
    assert_eq!(sent, [0, 1, 2]);
    assert_eq!(inbox.take_event(), Some((0, apply(1))));
    // the loop has the first one, which it has not answered
    assert_eq!(outbox.recall(|number| number < 1), None);
    assert_eq!(outbox.recall(|number| number < 2), Some(1));
    assert_eq!((outbox.recall(|number| number < 2), inbox.take()), (None, None));
    assert_eq!(inbox.take_event(), Some((2, apply(2))));
}

#[test]
fn a_request_that_is_recalled_is_never_taken() {
    let (mut outbox, inbox) = request_queue();
    assert_eq!([1, 2, 3].map(|n| outbox.send(apply(n))), [Ok(0), Ok(1), Ok(2)]);
    let answer = |(number, request), tick| {
        inbox.answer(Answer { number, run: Run { id: 1, begin_ns: 0 }, tick, acts: true, request });
    };
    assert_eq!(inbox.take_event().inspect(|t| answer(t.clone(), 8)), Some((0, apply(1))));
    assert_eq!(outbox.recall(|_| true), Some(1));
    assert_eq!(inbox.take_event().inspect(|t| answer(t.clone(), 9)), Some((2, apply(3))));
    assert_eq!((inbox.take_event(), outbox.recall(|_| true)), (None, None));
    assert_eq!([(); 3].map(|()| next_told(&mut outbox)), [Some((0, 8)), Some((2, 9)), None]);
    // all places are free again
    assert!((0..ORDER_QUEUE).all(|_| outbox.send(apply(4)).is_ok()));
    assert_eq!(outbox.send(apply(4)), Err(apply(4)));
    // the receiver still works without a sender
    drop(outbox);
    assert!(inbox.take_event().inspect(|t| answer(t.clone(), 11)).is_some());
}

/// The request to apply [`event`] `n`.
fn apply(n: u32) -> Request {
    Request::Event(event(n))
}

/// Number and tick of the next answer.
fn next_told(outbox: &mut RequestSender) -> Option<(u64, u64)> {
    outbox.answer().map(|a| (a.number, a.tick))
}

/// A clock that allocates when it is read.
#[cfg(rtsan)]
struct Wasteful(ManualClock);

#[cfg(rtsan)]
impl hardstand::rt::Clock for Wasteful {
    fn now_ns(&self) -> u64 {
        std::hint::black_box(vec![1_u8; 32]);
        self.0.now_ns()
    }

    fn sleep_until(&self, deadline_ns: u64) {
        self.0.sleep_until(deadline_ns);
    }
}

/// The sanitizer ends it: `.ci/rtsan` runs it to see that.
#[cfg(rtsan)]
#[test]
#[ignore = "it must be killed"]
fn an_allocation_in_a_turn_is_seen_under_rtsan() {
    let mut bench = Bench::new(quadruped(&[]), ROOMY);
    bench.executive(Wasteful(ManualClock::default()), SLIP, StartRule::Now, 3).run();
}
