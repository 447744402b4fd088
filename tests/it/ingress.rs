//! IN-1: mutated commands through desk, queue and plant, beside an independent checker.

use crate::common::WATCHDOG;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use crate::common::oracle::{Dice, Owners, Said, judge, mutate};
use crate::common::robots::{add_body, add_joint, joint, plain_spec};
use hardstand::buffer_pool::{CommandReceiver, command_queue};
use hardstand::ingress::{ArrivalCounters, CommandIngress, CommandLimits, JoinedSessions};
use hardstand::limits::CANDIDATES_MAX;
use hardstand::simulation::Simulation;
use hardstand_physics::model::{Base, Builder, JointKind};
use hardstand_physics::spatial::{Mat3, SpatialInertia, Transform, Vec3};
use hardstand_protocol::{ClaimedCommand, encode_command, public_session};
use hardstand_protocol::{Command, JointCommand, Rejection, TickInput, Verdict};

const JOINTS: usize = 2;
/// Commands that wait for the owner, and for another session.
const DEPTHS: [usize; 2] = [64, 4];
/// Sessions that own nothing and can wait at a time.
const OTHERS: usize = 55;

/// A double pendulum whose joints can bear any command.
fn pendulum() -> Simulation {
    let mut b = Builder::new("pendulum", Base::Fixed);
    let rod = SpatialInertia::from_com(1.0, &Vec3::new(0.0, 0.0, -0.2), &(Mat3::identity() * 0.05));
    let axis = [0.0, 1.0, 0.0];
    for (parent, child) in [("base", "upper"), ("upper", "lower")] {
        let mut j = joint(child, JointKind::Revolute, axis, Transform::identity());
        (j.effort_max, j.damping) = (2.0, 0.5);
        if b.bodies.is_empty() {
            add_body(&mut b, parent, rod);
        }
        add_body(&mut b, child, rod);
        add_joint(&mut b, parent, child, j);
    }
    let model = b.build().unwrap();
    let mut spec = plain_spec(&model);
    spec.micro_steps = 1;
    Simulation::new(model, spec, WATCHDOG)
}

/// The ways of the controllers for a while.
#[derive(Clone, Copy)]
enum Mood {
    /// Nobody sends.
    Silent,
    /// The owner answers every state, sometimes twice.
    Usual,
    /// Several sessions want the robot.
    Rivals,
    /// More than the queue holds.
    Storm,
}

/// Controllers that send good commands, on the whole.
struct Crowd {
    dice: Dice,
    sessions: [u64; 4],
    seq: u64,
    mood: Mood,
    mood_ticks: u64,
}

impl Crowd {
    /// Messages of this tick.
    fn count(&mut self) -> u64 {
        if self.mood_ticks == 0 {
            (self.mood, self.mood_ticks) = match self.dice.roll(20) {
                0 => (Mood::Silent, 1 + self.dice.roll(45)),
                1..=10 => (Mood::Usual, 1 + self.dice.roll(200)),
                11..=16 => (Mood::Rivals, 1 + self.dice.roll(60)),
                _ => (Mood::Storm, 1 + self.dice.roll(5)),
            };
        }
        self.mood_ticks -= 1;
        match self.mood {
            Mood::Silent => 0,
            Mood::Usual => self.dice.roll(24),
            Mood::Rivals => self.dice.roll(30),
            Mood::Storm => 40 + self.dice.roll(80),
        }
    }

    fn command(&mut self, tick: u64, owners: &Owners, limits: &CommandLimits) -> ClaimedCommand {
        let dice = &mut self.dice;
        let rival = matches!(self.mood, Mood::Rivals) || dice.roll(10) == 0;
        let who = if rival { dice.roll(4) as usize } else { 0 };
        // who has lost the robot finds out, sooner or later
        if owners.has_lost(self.sessions[who], tick) && dice.roll(8) == 0 {
            self.sessions[who] = dice.roll(u64::MAX);
        }
        self.seq += dice.roll(3);
        let back = match dice.roll(40) {
            0 => 19 + dice.roll(4),
            1 => dice.roll(100),
            _ => dice.roll(3),
        };
        let ahead = u64::from(dice.roll(60) == 0) * (1 + dice.roll(3));
        let mut number = |size: f64| size * (dice.roll(2001) as f64 / 1000.0 - 1.0);
        let mut set_point = || JointCommand {
            q: number(2.0),
            dq: number(1.0),
            kp: number(250.0) + 250.0,
            kd: number(10.0) + 10.0,
            tau_ff: number(5.0),
        };
        ClaimedCommand {
            layout_hash: limits.layout_hash,
            run_id: limits.run_id,
            joints: (0..JOINTS).map(|_| set_point()).collect(),
            session: self.sessions[who],
            seq: self.seq,
            answers_tick: tick.saturating_sub(back) + ahead,
            applies_tick: 0,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Tally {
    sent: u64,
    accepted: u64,
    proving: u64,
    rejected: [u64; Rejection::ALL.len()],
}

impl Tally {
    fn count(&mut self, verdict: Verdict) {
        match verdict {
            Verdict::Accepted => self.accepted += 1,
            Verdict::Proving => self.proving += 1,
            Verdict::Rejected(reason) => self.rejected[reason as usize] += 1,
        }
    }

    fn judged(&self) -> u64 {
        self.accepted + self.proving + self.rejected.iter().sum::<u64>()
    }
}

/// The way in that is tested: desk, queue, plant.
struct Intake {
    desk: CommandIngress,
    counters: Arc<ArrivalCounters>,
    inbox: CommandReceiver,
    simulation: Simulation,
    input: TickInput,
    tally: Tally,
}

impl Intake {
    fn new(simulation: Simulation, limits: CommandLimits) -> Self {
        let (outbox, inbox) = command_queue(Command::default);
        let counters = Arc::<ArrivalCounters>::default();
        let run_id = Arc::new(AtomicU32::new(limits.run_id));
        let joined = JoinedSessions::default();
        let desk = CommandIngress::new(outbox, limits, run_id, joined, Arc::clone(&counters));
        let input = TickInput::new();
        Self { counters, desk, inbox, simulation, input, tally: Tally::default() }
    }

    /// As the executive does it.
    fn tick(&mut self) -> Vec<Verdict> {
        while self.input.candidates.len() < CANDIDATES_MAX
            && let Some(candidate) = self.inbox.take()
        {
            self.input.candidates.push(candidate);
        }
        let outcome = self.simulation.step(&self.input);
        self.input.candidates.drain(..).for_each(|candidate| self.inbox.give_back(candidate));
        let implicit = *self.simulation.leases().implicit();
        self.inbox.set_owner(8, if implicit.left { 0 } else { implicit.session });
        let verdicts = outcome.verdicts[..outcome.candidates].to_vec();
        verdicts.iter().for_each(|&verdict| self.tally.count(verdict));
        verdicts
    }

    /// What was counted, at arrival and at use.
    fn tally(mut self) -> Tally {
        self.tally.sent = self.counters.received();
        for reason in Rejection::ALL {
            self.tally.rejected[reason as usize] += self.counters.rejected(reason);
        }
        self.tally
    }
}

/// The second opinion, and a plant that only gets what has passed it.
struct Opinion {
    owners: Owners,
    queues: Queues,
    simulation: Simulation,
    input: TickInput,
    tally: Tally,
}

impl Opinion {
    fn new(simulation: Simulation) -> Self {
        let owners = Owners::new(*simulation.watchdog(), simulation.model().joint_count());
        let (queues, input, tally) = (Queues::default(), TickInput::new(), Tally::default());
        Self { owners, queues, simulation, input, tally }
    }

    fn arrives(&mut self, bytes: &[u8], limits: &CommandLimits) -> Result<(), Rejection> {
        self.tally.sent += 1;
        let said = judge(bytes, limits).inspect_err(|&reason| {
            self.tally.count(Verdict::Rejected(reason));
        })?;
        match self.queues.push(said) {
            Some(true) => self.tally.count(Verdict::Rejected(Rejection::QueueFull)),
            Some(false) => {}
            None => {
                self.tally.count(Verdict::Rejected(Rejection::QueueFull));
                return Err(Rejection::QueueFull);
            }
        }
        Ok(())
    }

    fn tick(&mut self) -> Vec<Verdict> {
        let now = self.simulation.state().tick;
        let mut verdicts = Vec::new();
        for said in std::iter::from_fn(|| self.queues.pop()).take(CANDIDATES_MAX) {
            let (verdict, trace) = self.owners.judge(now, &said);
            verdicts.push(verdict);
            self.tally.count(verdict);
            if trace {
                self.input.candidates.push(Box::new(command(&said)));
            }
        }
        self.simulation.step(&self.input);
        self.input.candidates.clear();
        self.queues.owner = self.owners.session();
        verdicts
    }
}

/// What waits: a queue for the owner, one for each other session as long as something waits in it.
#[derive(Default)]
struct Queues {
    owner: u64,
    own: VecDeque<Said>,
    others: Vec<VecDeque<Said>>,
    /// Where the search for the next command of another session begins.
    turn: usize,
}

impl Queues {
    /// `None` if there is no place for it; true if an older command gave way.
    fn push(&mut self, said: Said) -> Option<bool> {
        let (queue, depth) = if said.session == self.owner && self.owner != 0 {
            (&mut self.own, DEPTHS[0])
        } else {
            self.others.resize_with(OTHERS, VecDeque::new);
            let own = |q: &VecDeque<Said>| q.front().is_some_and(|s| s.session == said.session);
            let place = self.others.iter().position(own);
            let place = place.or_else(|| self.others.iter().position(VecDeque::is_empty))?;
            (&mut self.others[place], DEPTHS[1])
        };
        let gives_way = queue.len() == depth && queue.pop_front().is_some();
        queue.push_back(said);
        Some(gives_way)
    }

    fn pop(&mut self) -> Option<Said> {
        if let Some(said) = self.own.pop_front() {
            return Some(said);
        }
        let count = self.others.len();
        let places = (0..count).map(|i| (self.turn + i) % count);
        let place = places.into_iter().find(|&place| !self.others[place].is_empty())?;
        self.turn = (place + 1) % count;
        self.others[place].pop_front()
    }

    fn is_empty(&self) -> bool {
        self.own.is_empty() && self.others.iter().all(VecDeque::is_empty)
    }
}

fn command(said: &Said) -> Command {
    let joint = |b: &[u64]| {
        let [q, dq, kp, kd, tau_ff] = [0, 1, 2, 3, 4].map(|i| f64::from_bits(b[i]));
        JointCommand { q, dq, kp, kd, tau_ff }
    };
    Command {
        run_id: 3,
        session: public_session(said.session),
        seq: said.seq,
        answers_tick: said.answers_tick,
        applies_tick: 0,
        joints: said.bits.chunks(5).map(joint).collect(),
    }
}

/// Sends `count` commands, most of them mutated, and compares both ways at every step.
fn run(seed: u64, count: u64) -> Tally {
    let simulation = pendulum();
    let limits = CommandLimits {
        layout_hash: simulation.layout_hash(),
        run_id: 3,
        joints: JOINTS,
        kp_max: 500.0,
        kd_max: 20.0,
    };
    let mut opinion = Opinion::new(simulation.clone());
    let mut intake = Intake::new(simulation, limits);
    let mut dice = Dice(seed);
    let sessions = [11, 12, 13, 14];
    let mut crowd =
        Crowd { dice: Dice(seed ^ 0xff), sessions, seq: 0, mood: Mood::Usual, mood_ticks: 50 };
    let (mut good, mut other, mut bytes) = (Vec::new(), Vec::new(), Vec::new());
    loop {
        let tick = intake.simulation.state().tick;
        for _ in 0..crowd.count().min(count - opinion.tally.sent) {
            std::mem::swap(&mut good, &mut other);
            let claim = crowd.command(tick, &opinion.owners, &limits);
            encode_command(&claim, &mut good).unwrap();
            bytes.clone_from(&good);
            if !other.is_empty() && dice.roll(4) > 0 {
                mutate(&mut bytes, &other, &mut dice);
            }
            let expected = opinion.arrives(&bytes, &limits);
            assert_eq!(intake.desk.take_in(&bytes), expected, "tick {tick}: {bytes:02x?}");
        }
        assert_eq!(intake.tick(), opinion.tick(), "tick {tick}, seed {seed}");
        let digests = [&intake.simulation, &opinion.simulation].map(|p| p.state().digest);
        assert_eq!(digests[0], digests[1], "tick {tick}, seed {seed}");
        if opinion.tally.sent == count && opinion.queues.is_empty() {
            break;
        }
    }
    assert_eq!(intake.simulation.failure(), None);
    let tally = intake.tally();
    assert_eq!(tally, opinion.tally);
    assert_eq!((tally.sent, tally.judged()), (count, count));
    tally
}

/// On two threads: `count` commands in all.
fn run_all(count: u64) {
    let start = std::time::Instant::now();
    let tallies: Vec<Tally> = std::thread::scope(|scope| {
        let runs = [0x5eed_0005, 0x5eed_0006].map(|seed| scope.spawn(move || run(seed, count / 2)));
        runs.into_iter().map(|r| r.join().unwrap()).collect()
    });
    let seconds = start.elapsed().as_secs_f64();
    println!("{:.2} million commands a second: {tallies:?}", count as f64 / seconds / 1e6);
    for tally in tallies {
        let most = tally.sent / 20_000;
        assert!(tally.accepted > tally.sent / 50 && tally.proving > most, "{tally:?}");
        let (unjoined, joined) = tally.rejected.split_at(Rejection::Stopped as usize);
        assert!(unjoined.iter().all(|&n| n > most), "every reason: {tally:?}");
        assert!(joined.iter().all(|&n| n == 0), "nobody has joined: {tally:?}");
    }
}

#[test]
fn mutated_commands_are_judged_as_an_independent_checker_does() {
    run_all(5_000_000);
}

#[test]
#[ignore = "a minute in release: cargo test --release --test it ingress:: -- --ignored --nocapture"]
fn a_hundred_million_mutated_commands_are_judged_as_an_independent_checker_does() {
    run_all(100_000_000);
}
