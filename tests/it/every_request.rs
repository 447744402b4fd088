//! The loop, through every short sequence of requests: each is answered by the loop's next look, an
//! emergency stop is in force from the next tick until `arm`, no command acts whose controller has
//! not joined in this run, and in the end ticks run again.

use std::cell::RefCell;
use std::sync::atomic::Ordering;

use crate::common::bench::{Bench, Queues, TestClock, quadruped};
use hardstand::config::{Mode, OverrunPolicy, Pace, Scenario, StartRule};
use hardstand::rt::{
    Answer, Ending, Executive, JoinAnswer, ManualClock, Request, RequestSender, RunLimits,
    StateReset,
};
use hardstand::simulation::{Denied, EventSchedule};
use hardstand_protocol::{
    Authority, Command, CommandSchedule, Event, Grant, Join, JointCommand, JointSet, LogTick, Role,
    Scope, TickInput, Verdict,
};

const EVERY_TICK: CommandSchedule = CommandSchedule { period: 1, phase: 0, offset: 0 };
const JOINTS: usize = 12;
/// Ticks of a step.
const STEP: u64 = 2;
/// Looks that a run may take: more mean that it hangs.
const LOOKS_MAX: usize = 100;

/// What comes between two looks of the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    Nothing,
    Pause,
    Resume,
    Step,
    /// Back to the first state.
    Reset,
    /// To a state in which controller 1 has its lease.
    Restore,
    /// Controller 1 wants all joints, controller 2 the first.
    Join(u64),
    Leave(u64),
    /// A command of a controller, as far as it has joined in this run.
    Command(u64),
    Stop,
    Arm,
    /// An `arm` that was sent before the last stop.
    ArmLate,
    /// A point of the trunk is held.
    Constraint,
    /// The feet's contacts begin anew.
    Anchors,
}

const ACTS: [Act; 16] = [
    Act::Nothing,
    Act::Pause,
    Act::Resume,
    Act::Step,
    Act::Reset,
    Act::Restore,
    Act::Join(1),
    Act::Join(2),
    Act::Leave(1),
    Act::Command(1),
    Act::Command(2),
    Act::Stop,
    Act::Arm,
    Act::ArmLate,
    Act::Constraint,
    Act::Anchors,
];

/// After these every run must go on: nobody is left to wait for.
const LAST_ACTS: [Act; 7] = [
    Act::Leave(1),
    Act::Leave(2),
    Act::Resume,
    Act::Nothing,
    Act::Nothing,
    Act::Nothing,
    Act::Nothing,
];

/// Looks at the end of these in which nothing more comes.
const QUIET: usize = 4;

/// What the loop must be doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doing {
    Awaiting,
    Running,
    Stepping(u64),
    Paused,
}

/// How runs are begun.
#[derive(Clone, Copy, Debug)]
struct Setting {
    mode: Mode,
    start: StartRule,
}

/// Everything around the loop, and what must be true.
struct Watcher<'a> {
    bench: &'a Bench,
    requests: RequestSender,
    setting: Setting,
    words: &'a [Vec<u64>; 2],
    acts: Vec<Act>,
    looks: usize,
    /// Numbers of the requests that the loop has yet to answer.
    unanswered: Vec<u64>,
    stop_number: Option<u64>,
    doing: Doing,
    stopped: bool,
    run_id: u32,
    /// The tick that comes next.
    tick: u64,
    /// Controllers that have joined in this run.
    joined: [bool; 3],
    /// Events of the tick that comes next.
    due: Vec<Event>,
    ticks_run: u64,
    ticks_at_last: u64,
}

impl Watcher<'_> {
    /// What has come since the last look, and the next act.
    fn look(&mut self) {
        while let Some(snapshot) = self.bench.snapshots.take() {
            self.bench.snapshots.give_back(snapshot);
        }
        while let Some(answer) = self.requests.answer() {
            self.answered(&answer);
        }
        assert!(self.unanswered.is_empty(), "requests without an answer");
        if let Some(number) = self.stop_number.take() {
            let taken = self.bench.emergency_stop.taken(number).expect("the stop is taken");
            assert_eq!((taken.run.id, taken.tick), (self.run_id, self.tick));
            self.stopped = true;
        }
        let logged = self.bench.logged();
        for tick in &logged {
            self.check(tick);
        }
        if self.doing == Doing::Running && self.setting.mode == Mode::RealTime && self.looks > 0 {
            assert_eq!(logged.len(), 1, "a tick between two looks");
        }
        let act = self.acts.get(self.looks).copied();
        self.looks += 1;
        assert!(self.looks < LOOKS_MAX, "the loop does not end");
        if self.looks + QUIET == self.acts.len() {
            self.ticks_at_last = self.ticks_run;
        }
        match act {
            Some(act) => self.act(act),
            None => self.bench.stop.store(true, Ordering::Relaxed),
        }
    }

    fn act(&mut self, act: Act) {
        let stops = self.bench.emergency_stop.requests();
        let request = match act {
            Act::Nothing => return,
            Act::Pause => Request::Pause,
            Act::Resume => Request::Resume,
            Act::Step => Request::Step(STEP),
            Act::Reset => reset(&self.words[0], true),
            Act::Restore => reset(&self.words[1], false),
            Act::Join(controller) => {
                let joints = if controller == 1 { 0..JOINTS } else { 0..1 };
                let (role, schedule) = (Role::Required, EVERY_TICK);
                let join = Join { controller, role, schedule, joints: set(joints) };
                let in_force = Vec::with_capacity(JOINTS);
                Request::Join(Box::new((join, JoinAnswer { in_force, ..JoinAnswer::default() })))
            }
            Act::Leave(session) => Request::Leave(session),
            Act::Command(session) => return self.command(session),
            Act::Stop => {
                self.stop_number = Some(self.bench.emergency_stop.request());
                return;
            }
            Act::Arm => Request::Arm { stops, void: false },
            Act::Constraint => Request::Event(Event::Constraint { index: 0, active: true }),
            Act::Anchors => Request::Event(Event::ResetAnchors { scope: Scope::All }),
            Act::ArmLate => Request::Arm { stops: stops.wrapping_sub(1), void: false },
        };
        self.unanswered.push(self.requests.send(request).expect("there is room"));
    }

    fn command(&self, session: u64) {
        if self.joined[session as usize] {
            let count = if session == 1 { JOINTS } else { 1 };
            let set_point = JointCommand { tau_ff: 0.5, ..JointCommand::default() };
            let (run_id, tick) = (self.run_id, self.tick);
            let _sent = self.bench.commands.send(&Command {
                run_id,
                session,
                seq: 0,
                answers_tick: tick,
                applies_tick: tick,
                joints: vec![set_point; count],
            });
        }
    }

    fn answered(&mut self, answer: &Answer) {
        let known = self.unanswered.iter().position(|number| *number == answer.number);
        self.unanswered.remove(known.expect("an answer to a request"));
        match &answer.request {
            Request::Pause => self.doing = Doing::Paused,
            Request::Resume => self.doing = Doing::Running,
            Request::Step(_) => {
                assert_eq!(answer.tick, self.tick + STEP);
                self.doing = Doing::Stepping(answer.tick);
            }
            Request::StateReset(reset) => {
                self.run_id += 1;
                self.tick = if reset.words == self.words[0] { 0 } else { 1 };
                self.due.clear();
                self.joined = [false; 3];
                let awaits = reset.afresh && self.setting.start == StartRule::OnController;
                if self.doing != Doing::Paused {
                    self.doing = if awaits { Doing::Awaiting } else { Doing::Running };
                }
            }
            Request::Join(join) => self.answered_to_join(&join.0, &join.1),
            Request::Leave(session) => self.joined[*session as usize] = false,
            Request::Event(event) => {
                assert_eq!(answer.tick, self.tick);
                self.due.push(*event);
            }
            Request::Arm { stops, void } => {
                assert_eq!(*void, *stops != self.bench.emergency_stop.requests());
                self.stopped &= *void;
            }
            other => panic!("{other:?} was not sent"),
        }
        assert_eq!(answer.run.id, self.run_id);
    }

    fn answered_to_join(&mut self, join: &Join, answer: &JoinAnswer) {
        match answer.denied {
            None => {
                let other = self.joined[3 - join.controller as usize];
                assert!(!other, "two controllers have the first joint");
                assert_eq!(answer.session, join.controller);
                self.joined[join.controller as usize] = true;
                if self.doing == Doing::Awaiting {
                    self.doing = Doing::Running;
                }
            }
            Some(Denied::Taken { joint, controller }) => {
                assert_eq!((joint, controller), (0, 3 - join.controller), "the owner is named");
            }
            Some(denied) => panic!("{denied:?}"),
        }
    }

    /// A tick that was run.
    fn check(&mut self, tick: &LogTick) {
        assert_eq!((tick.run_id, tick.tick), (self.run_id, self.tick));
        assert!(!matches!(self.doing, Doing::Paused | Doing::Awaiting), "{:?}", self.doing);
        (self.tick, self.ticks_run) = (self.tick + 1, self.ticks_run + 1);
        if self.doing == Doing::Stepping(self.tick) {
            self.doing = Doing::Paused;
        }
        let due = std::mem::take(&mut self.due);
        let is_due =
            |e: &&Event| matches!(e, Event::Constraint { .. } | Event::ResetAnchors { .. });
        let there: Vec<Event> = tick.events.iter().filter(is_due).copied().collect();
        assert_eq!(there, due, "tick {}", tick.tick);
        assert_eq!(tick.authority == Authority::Stopped, self.stopped, "{:?}", tick.events);
        for candidate in tick.candidates.iter().filter(|c| c.verdict == Verdict::Accepted) {
            assert!(!self.stopped && self.joined[candidate.session as usize], "{candidate:?}");
        }
        for command in tick.references.iter().filter(|_| self.stopped) {
            let JointCommand { q, dq, kp, tau_ff, .. } = *command;
            assert_eq!([q, dq, kp, tau_ff], [0.0; 4], "all joints are damped");
        }
    }
}

fn set(joints: std::ops::Range<usize>) -> JointSet {
    let mut set = JointSet::default();
    for joint in joints {
        assert!(set.insert(joint));
    }
    set
}

fn reset(words: &[u64], afresh: bool) -> Request {
    Request::StateReset(Box::new(StateReset { words: words.to_vec(), rewind: false, afresh }))
}

/// The first state, and the one after a tick in which controller 1 has joined.
fn states(scenario: &Scenario) -> [Vec<u64>; 2] {
    let mut simulation = scenario.simulation();
    let first = simulation.snapshot_words();
    let (controller, session, schedule) = (1, 1, EVERY_TICK);
    let joints = set(0..JOINTS);
    let grant = Grant { controller, session, schedule, required: true, joints };
    let events = vec![Event::Grant(grant)];
    simulation.step(&TickInput { events, ..TickInput::default() });
    [first, simulation.snapshot_words()]
}

/// Runs the loop with these acts, and then the last ones.
fn run(scenario: &Scenario, words: &[Vec<u64>; 2], setting: Setting, acts: &[Act]) {
    let queues = Queues { snapshots: 4, log: 8, reports: 400 };
    let mut bench = Bench::new(scenario.clone(), queues);
    let (requests, links) = (bench.orders.take().unwrap(), bench.links());
    let doing = if setting.start == StartRule::Now { Doing::Running } else { Doing::Awaiting };
    let watcher = RefCell::new(Watcher {
        bench: &bench,
        requests,
        setting,
        words,
        acts: acts.iter().chain(&LAST_ACTS).copied().collect(),
        looks: 0,
        unanswered: Vec::new(),
        stop_number: None,
        doing,
        stopped: false,
        run_id: 1,
        tick: 0,
        joined: [false; 3],
        due: Vec::new(),
        ticks_run: 0,
        ticks_at_last: 0,
    });
    let between = |_| watcher.borrow_mut().look();
    let clock = TestClock { clock: ManualClock::default(), late: Vec::new(), between };
    let limits = RunLimits {
        start: setting.start,
        mode: setting.mode,
        ..RunLimits::new(scenario.spec.period_ns)
    };
    let pace = Pace::RealTime(OverrunPolicy::Slip);
    let schedule = EventSchedule::default();
    let executive = Executive::new(scenario.simulation(), clock, links, schedule, pace, limits);
    let (ending, _) = executive.run();
    assert_eq!(ending, Ending::Stopped);
    let watcher = watcher.borrow();
    assert!(watcher.ticks_run > watcher.ticks_at_last, "no tick runs any more");
}

/// Runs every sequence of `length` acts after `before`; says which one fails.
fn run_all(setting: Setting, before: &[Act], length: usize) {
    let held = "constraints=[{name=\"gantry\", link=\"trunk\", active=false}]";
    let scenario = quadruped(&["record.keyframe_every_ticks=1000000", held]);
    let words = states(&scenario);
    let sequences = ACTS.len().pow(length as u32);
    for number in 0..sequences {
        let (mut rest, mut acts) = (number, before.to_vec());
        for _ in 0..length {
            acts.push(ACTS[rest % ACTS.len()]);
            rest /= ACTS.len();
        }
        let one = std::panic::AssertUnwindSafe(|| run(&scenario, &words, setting, &acts));
        if let Err(panic) = std::panic::catch_unwind(one) {
            println!("{setting:?}: {acts:?}");
            std::panic::resume_unwind(panic);
        }
    }
    println!("{setting:?}: {sequences} sequences of {length} acts after {before:?}");
}

const SETTINGS: [Setting; 4] = [
    Setting { mode: Mode::RealTime, start: StartRule::Now },
    Setting { mode: Mode::RealTime, start: StartRule::OnController },
    Setting { mode: Mode::Lockstep, start: StartRule::Now },
    Setting { mode: Mode::Lockstep, start: StartRule::OnController },
];
/// A controller that has joined and commanded; that is stopped; that has lost its run.
const BEFORE: [&[Act]; 4] = [
    &[],
    &[Act::Join(1), Act::Command(1)],
    &[Act::Join(1), Act::Command(1), Act::Stop],
    &[Act::Pause, Act::Join(1), Act::Command(1), Act::Reset],
];

fn run_everything(length: usize) {
    for setting in SETTINGS {
        for before in BEFORE {
            run_all(setting, before, length);
        }
    }
}

#[test]
fn every_pair_of_requests_leaves_a_loop_that_goes_on() {
    run_everything(2);
}

#[test]
#[ignore = "minutes"]
fn thorough_sequences_of_requests() {
    run_everything(4);
}
