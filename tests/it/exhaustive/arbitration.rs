//! Every state of leases, ladder and emergency stop.

use std::cell::RefCell;

use crate::common::robots::{add_body, add_joint, at, joint, plain_spec};
use hardstand::simulation::{Denied, Lease, Simulation, Snapshot, WatchdogSpec};
use hardstand_physics::model::{Base, Builder, JointKind};
use hardstand_physics::plant::Walk as _;
use hardstand_physics::spatial::{Mat3, SpatialInertia, Vec3};
use hardstand_protocol::{
    Command, CommandSchedule, Event, Grant, JointCommand, JointSet, Rejection, TickInput, Verdict,
};

use super::explorer::{System, Visited, explore};
use super::oracle::{CONTROLLERS, DAMPER, Happening, JOINTS, NOTHING, Offered, Oracle, Rules};

use Happening::{Arm, Dismiss, Join, Leave, Stop};

const EVERY_TICK: CommandSchedule = CommandSchedule { period: 1, phase: 0, offset: 0 };
const EVERY_SECOND: CommandSchedule = CommandSchedule { period: 2, phase: 1, offset: 1 };
/// Effort of a set-point per session number, N·m: small, so that motion plays no part.
const EFFORT: f64 = 1e-6;
/// Multiple of all periods, far enough from 0 for every age.
const BEGIN: u64 = 1000;

/// How a command answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum How {
    /// The newest state whose answer can apply now.
    Newest,
    /// The state before that.
    Older,
    /// The newest state, with a sequence number that is old.
    Echo,
    /// The newest state, with a set-point too many.
    TooLong,
}

/// The input of a tick.
#[derive(Clone, Copy, Debug)]
struct Input {
    happenings: [Option<Happening>; 2],
    commands: [Option<(usize, How)>; 2],
}

/// What may happen in a model.
struct Scope {
    rules: Rules,
    happenings: Vec<Happening>,
    commands: Vec<(usize, How)>,
    /// See [`Arbitration::all_inputs`].
    is_thorough: bool,
}

struct Arbitration {
    scope: Scope,
    inputs: Vec<Input>,
    /// Places of the words that arbitration reads, and how.
    words: Vec<(usize, Reading)>,
    period: u64,
    simulation: RefCell<(Simulation, Snapshot)>,
    /// Every verdict that was seen.
    verdicts: RefCell<Vec<Verdict>>,
}

/// How a word is made independent of the tick.
#[derive(Clone, Copy)]
enum Reading {
    Age,
    Number,
    Sequence,
    Effort,
    Gain,
}

struct State {
    words: Box<[u64]>,
    tick: u64,
    oracle: Oracle,
}

/// Two links without weight on a wall.
fn robot(watchdog: WatchdogSpec) -> Simulation {
    let mut b = Builder::new("pair", Base::Fixed);
    let link = SpatialInertia::from_com(1.0, &Vec3::zeros(), &Mat3::from_diagonal_element(1.0));
    for name in ["wall", "left", "right"] {
        add_body(&mut b, name, link);
    }
    for (name, side) in [("left", 1.0), ("right", -1.0)] {
        let hinge = joint(name, JointKind::Revolute, [0.0, 0.0, 1.0], at(side, 0.0, 0.0));
        add_joint(&mut b, "wall", name, hinge);
    }
    let model = b.build().unwrap();
    let mut spec = plain_spec(&model);
    (spec.gravity_W, spec.micro_steps) = (Vec3::zeros(), 1);
    spec.ground.clear();
    Simulation::new(model, spec, watchdog)
}

impl Arbitration {
    fn new(scope: Scope) -> Self {
        let mut simulation = robot(scope.rules.watchdog);
        let names = simulation.word_names();
        let words = names.iter().enumerate().filter_map(|(at, (group, _))| {
            let reading = match *group {
                "lease.next"
                | "lease.applied"
                | "watchdog.answers_tick"
                | "watchdog.candidate_tick" => Reading::Age,
                "watchdog.seq" | "watchdog.candidate_seq" => Reading::Sequence,
                "command.tau_ff" => Reading::Effort,
                "command.kd" => Reading::Gain,
                "lease.schedule" => return None, // the controller says it
                other if other.starts_with("lease.") || other.starts_with("watchdog.") => {
                    Reading::Number
                }
                _ => return None,
            };
            Some((at, reading))
        });
        let words = words.collect();
        let mut model = Self {
            period: scope.rules.schedules.iter().map(|s| s.period).max().unwrap_or(1),
            inputs: Vec::new(),
            words,
            simulation: RefCell::new((simulation.clone(), simulation.new_snapshot())),
            verdicts: RefCell::default(),
            scope,
        };
        model.inputs = model.all_inputs();
        model
    }

    /// One happening and two commands. A thorough search has the commands in any order, and two
    /// happenings with at most one command.
    fn all_inputs(&self) -> Vec<Input> {
        let Scope { happenings, commands, is_thorough, .. } = &self.scope;
        let mut any: Vec<[Option<(usize, How)>; 2]> = vec![[None, None]];
        any.extend(commands.iter().map(|&c| [Some(c), None]));
        for (i, &a) in commands.iter().enumerate() {
            let partners = if *is_thorough { &commands[..] } else { &commands[i + 1..] };
            any.extend(partners.iter().map(|&b| [Some(a), Some(b)]));
        }
        let mut inputs = Vec::new();
        for first in std::iter::once(None).chain(happenings.iter().copied().map(Some)) {
            let with = |&commands| Input { happenings: [first, None], commands };
            inputs.extend(any.iter().map(with));
        }
        for (first, second) in
            happenings.iter().flat_map(|a| happenings.iter().map(move |b| (a, b)))
        {
            let happenings = [Some(*first), Some(*second)];
            let at_most_one = any.iter().filter(|[_, second]| *is_thorough && second.is_none());
            inputs.extend(at_most_one.map(|&commands| Input { happenings, commands }));
        }
        inputs
    }

    fn grant(&self, controller: usize, joints: [bool; JOINTS]) -> Grant {
        let mut set = JointSet::default();
        for joint in (0..JOINTS).filter(|&joint| joints[joint]) {
            assert!(set.insert(joint));
        }
        Grant {
            controller: controller as u64,
            session: controller as u64,
            schedule: self.scope.rules.schedules[controller - 1],
            required: true,
            joints: set,
        }
    }

    /// Lets `happening` happen in the model, and adds its event; a controller joins only if it may.
    fn happens(
        &self,
        simulation: &mut Simulation,
        oracle: &mut Oracle,
        happening: Happening,
        events: &mut Vec<Event>,
    ) -> Result<(), String> {
        let event = match happening {
            Join(controller, joints) => {
                let grant = self.grant(controller, joints);
                let answer = self.asked(simulation, events, &grant);
                if answer != oracle.answer_to_join(&self.scope.rules, controller, joints) {
                    return Err(format!("{happening:?} is answered with {answer:?}"));
                }
                if answer.is_err() {
                    return Ok(());
                }
                Event::Grant(grant)
            }
            Leave(controller) => Event::Leave { session: controller as u64 },
            Stop => Event::Stop,
            Arm => Event::Arm,
            Dismiss => {
                if events.is_empty() {
                    simulation.dismiss();
                    oracle.happens(&self.scope.rules, happening);
                }
                return Ok(());
            }
        };
        events.push(event);
        oracle.happens(&self.scope.rules, happening);
        Ok(())
    }

    /// What the loop answers to a controller that wants to join, once `events` have happened.
    fn asked(
        &self,
        simulation: &Simulation,
        events: &[Event],
        grant: &Grant,
    ) -> Result<(), (Option<usize>, usize)> {
        let (leases, tick) = (simulation.leases_with(events), simulation.tick());
        let unjoined = leases.unjoined_owner(&self.scope.rules.watchdog, tick);
        let answer = leases.check(&self.scope.rules.watchdog, tick, grant, unjoined);
        answer.map_err(|denied| match denied {
            Denied::Taken { joint, controller } => (Some(joint), controller as usize),
            Denied::Owned { session } => (None, session as usize),
            Denied::Full => (None, usize::MAX),
        })
    }

    /// The command of a session at `tick`, for as many joints as it has.
    fn command(
        &self,
        oracle: &Oracle,
        tick: u64,
        (session, how): (usize, How),
    ) -> (Command, Offered) {
        let joined = session <= CONTROLLERS;
        let schedule = if joined { self.scope.rules.schedules[session - 1] } else { EVERY_TICK };
        let back = if how == How::Older { schedule.period } else { 0 };
        let due = (0..schedule.period).find_map(|late| schedule.answered_at(tick - late)).unwrap();
        let answers_tick = due - back;
        let own = oracle.owner.iter().filter(|owner| **owner == session).count();
        let size = if joined { own } else { JOINTS };
        let tau_ff = EFFORT * session as f64;
        let set_point = JointCommand { tau_ff, ..JointCommand::default() };
        let command = Command {
            run_id: 1,
            session: session as u64,
            // of two commands in a tick, the one that answers the older state may be newer
            seq: if how == How::Echo { 1 } else { 2 * tick + u64::from(how == How::Older) },
            answers_tick,
            applies_tick: if joined { answers_tick + schedule.offset } else { 0 },
            joints: vec![set_point; size + usize::from(how == How::TooLong)],
        };
        let answers_back = (tick - answers_tick) as u8;
        let is_new = !joined || answers_back < oracle.open[session];
        let late = tick - answers_tick - schedule.offset;
        let in_time = late <= self.scope.rules.watchdog.hold_ticks;
        let is_due = how == How::Newest && is_new && in_time;
        (command, Offered { session, answers_back, is_due, fits: how != How::TooLong })
    }

    /// Compares what the drives and the readings show with the model.
    fn check_shown(&self, shown: &Snapshot, oracle: &Oracle) -> Result<(), String> {
        let rules = &self.scope.rules;
        for joint in 0..JOINTS {
            let expected = match oracle.obeyed(rules, joint) {
                NOTHING => JointCommand::default(),
                DAMPER => JointCommand { kd: rules.watchdog.damping, ..JointCommand::default() },
                session => {
                    let tau_ff = EFFORT * f64::from(session);
                    JointCommand { tau_ff, ..JointCommand::default() }
                }
            };
            if shown.references[joint] != expected {
                let got = shown.references[joint];
                return Err(format!("joint {joint} obeys {got:?} instead of {expected:?}"));
            }
            let owner = &shown.owners[joint];
            if owner.controller != oracle.owner[joint] as u64 {
                return Err(format!("joint {joint} belongs to {}", owner.controller));
            }
            let age = oracle.age_of_joint(joint).map_or(u32::MAX, u32::from);
            let known = owner.age_ticks.min(rules.age_max().into());
            if known != age.min(rules.age_max().into()) {
                return Err(format!("joint {joint}: the age is {known} instead of {age}"));
            }
        }
        Ok(())
    }
}

impl System for Arbitration {
    type State = State;
    type Action = Input;

    fn first(&self) -> State {
        let mut simulation = self.simulation.borrow().0.clone();
        let mut words = simulation.snapshot_words();
        let tick = simulation.word_names().iter().position(|(name, _)| *name == "tick").unwrap();
        words[tick] = BEGIN;
        simulation.restore(&words).unwrap();
        let words = simulation.snapshot_words().into();
        State { words, tick: BEGIN, oracle: Oracle::new() }
    }

    fn actions(&self, state: &State) -> Vec<Input> {
        // a state that a run has come to can be gone on from
        self.simulation.borrow_mut().0.restore(&state.words).unwrap();
        self.inputs.clone()
    }

    fn next(&self, state: &State, input: Input) -> Result<State, String> {
        let (simulation, shown) = &mut *self.simulation.borrow_mut();
        let (rules, mut oracle) = (&self.scope.rules, state.oracle);
        simulation.adopt(&state.words);
        let mut tick_input = TickInput::default();
        for happening in input.happenings.into_iter().flatten() {
            self.happens(simulation, &mut oracle, happening, &mut tick_input.events)?;
        }
        let mut offered = Vec::new();
        for which in input.commands.into_iter().flatten() {
            let (command, as_seen) = self.command(&oracle, state.tick, which);
            tick_input.candidates.push(Box::new(command));
            offered.push(as_seen);
        }
        let outcome = simulation.step(&tick_input);
        let judged: Vec<_> = offered.into_iter().zip(outcome.verdicts).collect();
        for &(_, verdict) in &judged {
            let mut seen = self.verdicts.borrow_mut();
            if !seen.contains(&verdict) {
                seen.push(verdict);
            }
        }
        let authority = oracle.judged(rules, &judged)?;
        if outcome.authority != authority {
            let got = outcome.authority;
            return Err(format!("the authority is {got:?} instead of {authority:?}"));
        }
        simulation.fill(shown);
        let tick = simulation.tick();
        self.check_shown(shown, &oracle)?;
        let leases = simulation.leases();
        let without = |(i, l): (usize, &Lease)| l.controller != 0 && leases.joint_count(i) == 0;
        if let Some(place) = leases.places().iter().enumerate().position(without) {
            return Err(format!("the lease at place {place} has no joints"));
        }
        oracle.end_tick(rules);
        Ok(State { words: simulation.snapshot_words().into(), tick, oracle })
    }

    fn key(&self, state: &State) -> Vec<u8> {
        let age_max = u64::from(self.scope.rules.age_max());
        let mut key = vec![(state.tick % self.period) as u8];
        key.extend(self.words.iter().map(|&(at, reading)| {
            let word = state.words[at];
            match reading {
                Reading::Age if word == 0 => u8::MAX,
                Reading::Age => (state.tick - word).min(age_max) as u8,
                Reading::Number => word as u8,
                Reading::Sequence => word.min(2) as u8,
                Reading::Effort => (f64::from_bits(word) / EFFORT).round() as u8,
                Reading::Gain => u8::from(f64::from_bits(word) > 0.0),
            }
        }));
        key.extend(state.oracle.words());
        key
    }

    /// Every controller may join with every joint.
    fn is_at_rest(&self, state: &State) -> bool {
        (1..=CONTROLLERS).all(|controller| {
            state.oracle.answer_to_join(&self.scope.rules, controller, [true; JOINTS]).is_ok()
        })
    }
}

/// Explores a scope and prints what was seen. Each of `verdicts` must have been among it: a search
/// in which nothing is ever accepted proves nothing.
fn search(name: &str, scope: Scope, verdicts: &[Verdict]) {
    // a search without end would take all memory
    let states_max = if scope.is_thorough { 2_000_000 } else { 50_000 };
    let model = Arbitration::new(scope);
    let visited: Visited = explore(&model, states_max).unwrap_or_else(|broken| panic!("{broken}"));
    let Visited { states, transitions, depth, quiet_steps_max } = visited;
    println!(
        "{name}: {states} states, {transitions} transitions, depth {depth}; \
         at rest after {quiet_steps_max} silent ticks"
    );
    for verdict in verdicts {
        assert!(model.verdicts.borrow().contains(verdict), "{name}: never {verdict:?}");
    }
}

const LEFT: [bool; JOINTS] = [true, false];
const RIGHT: [bool; JOINTS] = [false, true];
const BOTH: [bool; JOINTS] = [true, true];

const fn rules(hold_ticks: u64, damped_ticks: u64, first: CommandSchedule) -> Rules {
    let watchdog = WatchdogSpec { hold_ticks, damped_ticks, proof_commands: 2, damping: 1.0 };
    Rules { watchdog, schedules: [first, EVERY_TICK, EVERY_TICK] }
}

const fn refused(reason: Rejection) -> Verdict {
    Verdict::Rejected(reason)
}

/// Two controllers that want joints of each other.
fn two_controllers(rules: Rules, is_thorough: bool) {
    let happenings =
        vec![Join(1, LEFT), Join(2, RIGHT), Join(2, BOTH), Leave(1), Leave(2), Stop, Arm];
    let commands = vec![(1, How::Newest), (1, How::Older), (2, How::Newest), (2, How::Older)];
    let verdicts = [
        Verdict::Accepted,
        refused(Rejection::Stopped),
        refused(Rejection::Revoked),
        refused(Rejection::Sequence),
        refused(Rejection::NotOwner),
    ];
    search("two controllers", Scope { rules, happenings, commands, is_thorough }, &verdicts);
}

/// A controller that joins, and sessions that do not.
fn unjoined(rules: Rules, is_thorough: bool) {
    let mut happenings = vec![Join(1, BOTH), Leave(1), Stop, Arm, Dismiss];
    let mut commands = vec![(1, How::Newest), (4, How::Newest), (4, How::Older), (5, How::Newest)];
    if is_thorough {
        happenings.push(Join(1, LEFT));
        commands.extend([(4, How::Echo), (5, How::TooLong)]);
    }
    let verdicts = [
        Verdict::Accepted,
        Verdict::Proving,
        refused(Rejection::Stopped),
        refused(Rejection::Revoked),
        refused(Rejection::NotOwner),
    ];
    search("unjoined sessions", Scope { rules, happenings, commands, is_thorough }, &verdicts);
}

/// A controller that answers every second state, a tick late, beside one that answers all.
fn slow_controller(rules: Rules, is_thorough: bool) {
    let happenings = vec![Join(1, LEFT), Join(2, BOTH), Leave(1), Leave(2), Stop, Arm];
    let commands = vec![(1, How::Newest), (1, How::Older), (1, How::TooLong), (2, How::Newest)];
    let verdicts = [
        Verdict::Accepted,
        refused(Rejection::Stopped),
        refused(Rejection::Size),
        refused(Rejection::Late),
    ];
    search("slow controller", Scope { rules, happenings, commands, is_thorough }, &verdicts);
}

/// Three controllers for two joints.
fn three_controllers(rules: Rules) {
    let happenings = vec![
        Join(1, LEFT),
        Join(2, RIGHT),
        Join(3, BOTH),
        Leave(1),
        Leave(2),
        Leave(3),
        Stop,
        Arm,
        Dismiss,
    ];
    let commands = vec![(1, How::Newest), (2, How::Newest), (3, How::Newest)];
    let verdicts = [Verdict::Accepted, refused(Rejection::NotOwner)];
    let scope = Scope { rules, happenings, commands, is_thorough: true };
    search("three controllers", scope, &verdicts);
}

/// A third controller takes the joints of two that have gone.
#[test]
fn a_lease_without_joints_is_forgotten() {
    let happenings = vec![Join(1, LEFT), Join(2, RIGHT), Join(3, BOTH), Leave(1), Leave(2)];
    let commands = vec![(3, How::Newest)];
    let scope = Scope { rules: rules(1, 1, EVERY_TICK), happenings, commands, is_thorough: false };
    search("the joints of two", scope, &[Verdict::Accepted]);
}

#[test]
fn two_controllers_never_share_a_joint_and_none_acts_after_a_stop() {
    two_controllers(rules(1, 1, EVERY_TICK), false);
}

#[test]
fn a_session_that_has_not_joined_never_acts_beside_one_that_has() {
    unjoined(rules(1, 1, EVERY_TICK), false);
}

#[test]
fn each_schedule_has_its_own_ladder() {
    slow_controller(rules(1, 1, EVERY_SECOND), false);
}

#[test]
#[ignore = "minutes"]
fn thorough_searches_of_arbitration() {
    two_controllers(rules(2, 2, EVERY_TICK), true);
    unjoined(rules(2, 1, EVERY_TICK), true);
    slow_controller(rules(2, 3, EVERY_SECOND), true);
    three_controllers(rules(1, 1, EVERY_TICK));
}
