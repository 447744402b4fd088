//! Lockstep and budgeted mode of the loop, on a clock that the test moves: controllers whose
//! messages are late, lost and doubled.

mod states;

use std::cell::RefCell;

use crate::common::bench::{Bench, PERIOD_NS, ROOMY, TestClock, quadruped};
use crate::common::dice::Dice;
use crossbeam_channel::{Receiver, bounded};
use hardstand::buffer_pool::{CommandSender, EmergencyStop};
use hardstand::config::{Budget, Mode, OverrunPolicy, Pace, StartRule};
use hardstand::rt::{
    Answer, Direct, Ending, Executive, Happened, JoinAnswer, Links, LoopEvent, ManualClock,
    Request, RequestSender, RunLimits, StateReset, TickReport,
};
use hardstand::simulation::{Denied, EventSchedule, Snapshot};
use hardstand_protocol::LogTick;
use hardstand_protocol::{
    Command, CommandSchedule, Event, Join, JointCommand, JointSet, Role, StateReading,
    controller_number,
};

const SLIP: Pace = Pace::RealTime(OverrunPolicy::Slip);

/// A controller at the other end of a bad link.
struct Peer {
    name: &'static str,
    schedule: CommandSchedule,
    joints: Vec<usize>,
    role: Role,
    /// It joins at this look.
    joins_at: u64,
    asked: Option<u64>,
    granted: Option<JoinAnswer>,
    /// Ticks done when it was let in.
    joined_at: u64,
    run_id: u32,
    silent: bool,
}

fn peer(name: &'static str, schedule: CommandSchedule, joints: std::ops::Range<usize>) -> Peer {
    Peer {
        name,
        schedule,
        joints: joints.collect(),
        role: Role::Required,
        joins_at: 1,
        asked: None,
        granted: None,
        joined_at: 0,
        run_id: 1,
        silent: false,
    }
}

const fn schedule(period: u64, phase: u64, offset: u64) -> CommandSchedule {
    CommandSchedule { period, phase, offset }
}

/// The link: per mille of messages.
#[derive(Clone, Copy, Default)]
struct Link {
    lose: u64,
    double: u64,
    delay_max: u64,
}

struct World {
    orders: RequestSender,
    commands: CommandSender,
    emergency_stop: EmergencyStop,
    published: Receiver<StateReading>,
    q: Vec<f64>,
    link: Link,
    dice: Dice,
    looks: u64,
    /// Commands on their way, and the look at which they arrive.
    flying: Vec<(u64, Command)>,
    peers: Vec<Peer>,
    states: Vec<StateReading>,
    answers: Vec<Answer>,
    act: fn(&mut Self),
}

impl World {
    fn look(&mut self) {
        self.looks += 1;
        assert!(self.looks < 500_000, "it hangs at tick {:?}", self.states.last().map(|s| s.tick));
        while let Ok(state) = self.published.try_recv() {
            if self.dice.roll(1000) >= self.link.lose {
                self.hear(&state);
            }
            self.states.push(state);
        }
        (self.act)(self);
        self.join();
        let due: Vec<usize> =
            (0..self.flying.len()).filter(|&i| self.flying[i].0 <= self.looks).rev().collect();
        for i in due {
            let (_, command) = self.flying.swap_remove(i);
            self.commands.send(&command);
        }
    }

    fn join(&mut self) {
        while let Some(answer) = self.orders.answer() {
            for peer in &mut self.peers {
                if peer.asked == Some(answer.number)
                    && let Request::Join(join) = &answer.request
                {
                    (peer.granted, peer.run_id) = (Some(join.1.clone()), answer.run.id);
                    peer.joined_at = answer.tick;
                }
            }
            self.answers.push(answer);
        }
        for peer in &mut self.peers {
            if peer.asked.is_none() && peer.joins_at <= self.looks {
                peer.asked = Some(self.orders.send(join_of(peer)).unwrap());
            }
        }
    }

    /// Every peer answers a state of its schedule, and again if it comes again.
    fn hear(&mut self, state: &StateReading) {
        for peer in &mut self.peers {
            let Some(granted) = peer.granted.as_ref().filter(|g| g.denied.is_none()) else {
                continue;
            };
            if peer.silent || state.run_id != peer.run_id || state.tick < granted.first_tick {
                continue;
            }
            if !peer.schedule.answers(state.tick) {
                continue;
            }
            // some function of what it sees
            let hold = |&joint: &usize| JointCommand {
                q: self.q[joint],
                kp: 60.0 + 10.0 * state.imu_quat_wxyz[1],
                kd: 2.0,
                tau_ff: 0.01 * state.joints[joint].dq,
                ..Default::default()
            };
            let command = Command {
                run_id: state.run_id,
                session: granted.session,
                seq: 0,
                answers_tick: state.tick,
                applies_tick: state.tick + peer.schedule.offset,
                joints: peer.joints.iter().map(hold).collect(),
            };
            let copies = if self.dice.roll(1000) < self.link.double { 2 } else { 1 };
            for _ in 0..copies {
                if self.dice.roll(1000) < self.link.lose {
                    continue;
                }
                let delay = self.dice.roll(self.link.delay_max + 1);
                self.flying.push((self.looks + delay, command.clone()));
            }
        }
    }
}

fn join_of(peer: &Peer) -> Request {
    let mut joints = JointSet::default();
    assert!(peer.joints.iter().all(|&joint| joints.insert(joint)));
    let join = Join {
        controller: controller_number(peer.name),
        role: peer.role,
        schedule: peer.schedule,
        joints,
    };
    let in_force = Vec::with_capacity(peer.joints.len());
    Request::Join(Box::new((join, JoinAnswer { in_force, ..Default::default() })))
}

struct Ran {
    ending: Ending,
    log: Vec<LogTick>,
    reports: Vec<TickReport>,
    events: Vec<LoopEvent>,
    states: Vec<StateReading>,
    peers: Vec<Peer>,
}

impl Ran {
    fn digests(&self) -> Vec<u64> {
        self.log.iter().map(|t| t.digest).collect()
    }

    fn last(&self) -> &TickReport {
        self.reports.last().unwrap()
    }

    /// Every command that was obeyed: session, tick that it answers, tick at which it applied.
    fn obeyed(&self, session: u64) -> Vec<(u64, u64)> {
        let candidates =
            self.log.iter().flat_map(|t| t.candidates.iter().map(move |o| (t.tick, o)));
        let own = candidates.filter(|(_, o)| o.session == session);
        own.filter(|(_, o)| o.verdict == hardstand_protocol::Verdict::Accepted)
            .map(|(tick, o)| (o.answers_tick, tick))
            .collect()
    }
}

/// What a run is made of.
struct Plan {
    limits: RunLimits,
    pace: Pace,
    link: Link,
    seed: u64,
    peers: Vec<Peer>,
    act: fn(&mut World),
    /// Events of the scenario.
    events: String,
}

fn plan(ticks: u64, peers: Vec<Peer>) -> Plan {
    let mut expected = [0; 8];
    for (number, peer) in expected.iter_mut().zip(&peers) {
        *number = controller_number(peer.name);
    }
    let limits = RunLimits {
        ticks: Some(ticks),
        start: StartRule::OnController,
        mode: Mode::Lockstep,
        expected,
        ..RunLimits::new(PERIOD_NS)
    };
    Plan {
        limits,
        pace: SLIP,
        link: Link::default(),
        seed: 1,
        peers,
        act: |_| (),
        events: "events=[]".into(),
    }
}

fn run(plan: Plan) -> Ran {
    let mut bench = Bench::new(quadruped(&[&plan.events]), ROOMY);
    let (publish, published) = bounded(1000);
    let direct = Direct::default();
    let publish = move |s: &Snapshot| {
        if !s.withheld {
            publish.try_send(s.state.clone()).unwrap();
        }
    };
    direct.set(Some(Box::new(publish)));
    let world = RefCell::new(World {
        orders: bench.orders.take().unwrap(),
        commands: bench.commands.clone(),
        emergency_stop: bench.emergency_stop.clone(),
        published,
        q: bench.scenario.spec.q.joints.clone(),
        link: plan.link,
        dice: Dice(plan.seed),
        looks: 0,
        flying: Vec::new(),
        peers: plan.peers,
        states: Vec::new(),
        answers: Vec::new(),
        act: plan.act,
    });
    let between = |_| world.borrow_mut().look();
    let clock = TestClock { clock: ManualClock::default(), late: Vec::new(), between };
    let links = Links { direct: Some(direct), ..bench.links() };
    let (pace, simulation) = (plan.pace, bench.scenario.simulation());
    let schedule = EventSchedule::new(bench.scenario.events.clone());
    let (ending, _plant) =
        Executive::new(simulation, clock, links, schedule, pace, plan.limits).run();
    let (log, reports) = (bench.logged(), bench.reported());
    let events = bench.events.try_iter().collect();
    let World { peers, states, .. } = world.into_inner();
    Ran { ending, log, reports, events, states, peers }
}

/// A joint controller at every tick and a policy at every tenth, whose answers apply 7 ticks later.
fn two() -> Vec<Peer> {
    vec![peer("joints", schedule(1, 0, 0), 0..6), peer("policy", schedule(10, 3, 7), 6..12)]
}

#[test]
fn a_run_is_a_function_of_its_inputs() {
    let calm = run(plan(300, two()));
    assert_eq!((calm.ending, calm.log.len()), (Ending::Done, 300));
    // each answer applies at its tick, none is missing
    let session = |ran: &Ran, i: usize| ran.peers[i].granted.as_ref().unwrap().session;
    let joints: Vec<(u64, u64)> = (0..300).map(|tick| (tick, tick)).collect();
    assert_eq!(calm.obeyed(session(&calm, 0)), joints);
    let policy: Vec<(u64, u64)> = (0..29).map(|i| (3 + 10 * i, 10 + 10 * i)).collect();
    assert_eq!(calm.obeyed(session(&calm, 1)), policy);

    let rough = Link { lose: 30, double: 100, delay_max: 40 };
    let mut waits = Vec::new();
    for seed in 7..15 {
        let mut peers = two();
        // longer apart than a proof of life may be silent
        (peers[0].joins_at, peers[1].joins_at) = (1 + seed % 3 * 90, 1 + (seed + 1) % 3 * 90);
        let pace = if seed.is_multiple_of(2) { SLIP } else { Pace::Free };
        let wall_period_ns = [PERIOD_NS, 10 * PERIOD_NS, PERIOD_NS / 4][seed as usize % 3];
        let calm_plan = plan(300, peers);
        let limits = RunLimits { wall_period_ns, ..calm_plan.limits };
        let ran = run(Plan { limits, pace, link: rough, seed, ..calm_plan });
        assert_eq!(ran.ending, Ending::Done);
        assert_eq!(ran.digests(), calm.digests(), "seed {seed}");
        waits.push(ran.last().admission.waited_ns);
        assert!(ran.last().admission.repeated > 0);
        // waiting is no missed deadline
        assert_eq!(ran.last().missed_deadlines, 0);
    }
    assert!(waits.iter().all(|ns| *ns > 0), "{waits:?}");
    waits.dedup();
    assert!(waits.len() > 4, "the runs were equal: {waits:?}");
}

#[test]
fn the_mode_is_in_every_state_and_the_log() {
    let ran = run(plan(20, two()));
    assert!(ran.states.iter().all(|s| s.mode == 1));
    assert!(ran.log.iter().all(|t| t.state.mode == 1));
}

#[test]
fn a_lost_state_is_sent_again_and_its_answer_is_the_same() {
    let everything = Link { lose: 300, ..Link::default() };
    let ran = run(Plan { link: everything, seed: 5, ..plan(100, two()) });
    assert_eq!(ran.digests(), run(plan(100, two())).digests());
    let mut ticks: Vec<u64> = ran.states.iter().filter(|s| s.phase == 1).map(|s| s.tick).collect();
    let all = ticks.len();
    ticks.dedup();
    assert!(all > ticks.len() + 10, "{all} states of {} ticks", ticks.len());
    assert_eq!(ran.last().admission.conflicts, 0);
}

#[test]
fn a_different_answer_to_the_same_state_is_a_conflict() {
    let ran = run(Plan {
        act: |world| {
            // whatever is on its way is followed by a contradiction
            let others: Vec<(u64, Command)> = world
                .flying
                .iter()
                .filter(|(_, c)| c.answers_tick == 12)
                .map(|(at, c)| {
                    let mut other = c.clone();
                    other.joints[0].tau_ff += 1.0;
                    (*at, other)
                })
                .collect();
            // taken from the back
            world.flying.splice(0..0, others);
        },
        ..plan(40, vec![peer("joints", schedule(1, 0, 0), 0..12)])
    });
    assert_eq!(ran.last().admission.conflicts, 1);
    let conflict = Happened::Conflict { controller: controller_number("joints"), answers_tick: 12 };
    let told: Vec<&LoopEvent> = ran.events.iter().filter(|o| o.happened == conflict).collect();
    assert_eq!(told.len(), 1, "{:?}", ran.events);
    let calm = run(plan(40, vec![peer("joints", schedule(1, 0, 0), 0..12)]));
    assert_eq!(ran.digests(), calm.digests(), "the first answer stands");
}

#[test]
fn nobody_is_waited_for_in_real_time() {
    let mut late = plan(200, vec![peer("joints", schedule(1, 0, 0), 0..12)]);
    late.limits.mode = Mode::RealTime;
    late.link = Link { delay_max: 3, ..Link::default() };
    let ran = run(late);
    assert_eq!((ran.last().admission.ticks_waited, ran.last().missed_deadlines), (0, 0));
    let session = ran.peers[0].granted.as_ref().unwrap().session;
    let obeyed = ran.obeyed(session);
    assert!(obeyed.iter().any(|(answered, applied)| applied > answered), "{obeyed:?}");
    assert!(ran.states.iter().all(|s| s.mode == 0));
}

#[test]
fn a_budget_is_kept_and_counted() {
    let mut short = plan(100, vec![peer("joints", schedule(1, 0, 0), 0..12)]);
    let budget =
        Budget { per_tick_ns: 2 * PERIOD_NS, per_window_ns: 20 * PERIOD_NS, window_ticks: 50 };
    short.limits.mode = Mode::Budgeted(budget);
    short.act = |world| world.peers[0].silent |= world.states.last().is_some_and(|s| s.tick >= 20);
    let ran = run(short);
    assert_eq!(ran.ending, Ending::Done);
    let admission = ran.last().admission;
    // from tick 21 on: in the rest of the first window, and in the second
    let waited = admission.waited_ns / PERIOD_NS;
    assert!((38..=46).contains(&waited), "{admission:?}");
    let without = ran.log.iter().filter(|t| t.candidates.is_empty()).count() as u64;
    assert_eq!(admission.ticks_given_up, without, "{admission:?}");
    assert!((75..85).contains(&without), "{without}");
    assert!(ran.states.iter().all(|s| s.mode == 2));
    let lost = ran.log.iter().filter(|t| t.authority == hardstand_protocol::Authority::Damped);
    assert!(lost.count() > 20, "its joints are damped, as in real time");
}

#[test]
fn a_missing_controller_ends_the_run_by_name_once_patience_is_over() {
    let mut plan_a = plan(100, two());
    plan_a.limits.patience_ns = Some(3_000_000_000);
    plan_a.act = |world| world.peers[1].silent |= world.states.last().is_some_and(|s| s.tick >= 40);
    let ran = run(plan_a);
    let Ending::ControllerTimeout(missing) = ran.ending else { panic!("{:?}", ran.ending) };
    assert!(missing.contains(&controller_number("policy")));
    assert!(!missing.contains(&controller_number("joints")));
    // it answered the states up to 33, the next one was due at 50
    assert_eq!(ran.log.last().unwrap().tick, 49);
    assert!(ran.reports.iter().any(|r| r.missing.contains(&controller_number("policy"))));

    // one that never comes
    let mut plan_b = plan(100, two());
    plan_b.limits.patience_ns = Some(3_000_000_000);
    plan_b.peers[0].joins_at = u64::MAX;
    let ran = run(plan_b);
    let Ending::ControllerTimeout(missing) = ran.ending else { panic!("{:?}", ran.ending) };
    assert_eq!(missing.iter().filter(|n| **n != 0).count(), 1);
    assert!(missing.contains(&controller_number("joints")) && ran.log.is_empty());
}

#[test]
fn an_emergency_stop_wins_while_a_tick_waits() {
    let ran = run(Plan {
        act: |world| {
            let newest = world.states.last().map_or(0, |s| s.tick);
            world.peers[0].silent |= newest >= 30;
            if world.looks == 400 {
                world.emergency_stop.request();
            }
        },
        ..plan(60, vec![peer("joints", schedule(1, 0, 0), 0..12)])
    });
    assert_eq!((ran.ending, ran.log.len()), (Ending::Done, 60), "nobody is waited for any more");
    let stopped = ran.log.iter().find(|t| t.events.contains(&Event::Stop)).unwrap().tick;
    assert!((30..=31).contains(&stopped), "{stopped}");
    let after = ran.log.iter().filter(|t| t.tick >= stopped);
    assert!(after.clone().all(|t| t.authority == hardstand_protocol::Authority::Stopped));
}

#[test]
fn a_controller_that_is_started_anew_goes_on() {
    let ran = run(Plan {
        act: |world| {
            let newest = world.states.last().map_or(0, |s| s.tick);
            if newest >= 50 && world.peers.len() == 1 {
                world.peers[0].silent = true;
                world.peers.push(peer("joints", schedule(1, 0, 0), 0..12));
                world.peers[1].joins_at = world.looks + 500;
            }
        },
        ..plan(100, vec![peer("joints", schedule(1, 0, 0), 0..12)])
    });
    assert_eq!((ran.ending, ran.log.len()), (Ending::Done, 100));
    let sessions = [0, 1].map(|i| ran.peers[i].granted.as_ref().unwrap().session);
    assert_eq!(sessions, [controller_number("joints"); 2], "the same lease goes on");
    assert_eq!(ran.obeyed(sessions[0]).len(), 100, "no tick went without");
    let whole = run(plan(100, vec![peer("joints", schedule(1, 0, 0), 0..12)]));
    assert_eq!(ran.digests(), whole.digests(), "as without the restart");
    let in_force = &ran.peers[1].granted.as_ref().unwrap().in_force;
    assert!(in_force.len() == 12 && in_force[0].kp > 50.0, "it is told what is in force");
}

#[test]
fn a_joint_has_one_controller() {
    let ran = run(Plan {
        act: |world| {
            if world.peers.len() == 1 {
                world.peers.push(peer("thief", schedule(1, 0, 0), 11..12));
                world.peers[1].joins_at = 100;
            }
        },
        ..plan(150, vec![peer("joints", schedule(1, 0, 0), 0..12)])
    });
    let taken = Denied::Taken { joint: 11, controller: controller_number("joints") };
    assert_eq!(ran.peers[1].granted.as_ref().unwrap().denied, Some(taken));
    assert_eq!(ran.log.len(), 150, "and nobody waits for who was refused");
}

/// A saved state remembers its controllers; who comes again on the same terms changes no bit.
#[test]
fn a_restored_run_waits_for_its_controllers_and_goes_on_bit_for_bit() {
    // the slow one is not asked before tick 45
    let peers =
        || vec![peer("joints", schedule(1, 0, 0), 0..6), peer("slow", schedule(20, 5, 0), 6..12)];
    let whole = run(plan(80, peers()));
    let ran = run(Plan {
        act: |world| {
            let newest = world.states.last().map_or(0, |s| s.tick);
            match world.looks {
                // saved at 30, gone on to 60, and back
                _ if newest == 30 && world.answers.iter().all(|a| a.tick < 30) => {
                    let words = Box::new(Vec::with_capacity(10_000));
                    world.orders.send(Request::Snapshot(words)).unwrap();
                }
                _ if newest == 60 && world.peers[0].asked == Some(0) => {
                    let saved = world.answers.iter().find_map(|a| match &a.request {
                        Request::Snapshot(words) => Some((**words).clone()),
                        _ => None,
                    });
                    let jump = StateReset { words: saved.unwrap(), rewind: true, afresh: false };
                    world.orders.send(Request::StateReset(Box::new(jump))).unwrap();
                    for (peer, later) in world.peers.iter_mut().zip([10, 300]) {
                        let again = world.looks + later;
                        (peer.asked, peer.granted, peer.joins_at) = (None, None, again);
                    }
                }
                _ => {}
            }
        },
        ..plan(80, peers())
    });
    assert_eq!(ran.ending, Ending::Done);
    let second: Vec<(u64, u64)> =
        ran.log.iter().filter(|t| t.run_id == 2).map(|t| (t.tick, t.digest)).collect();
    let from = second[0].0;
    assert!((30..=32).contains(&from), "{from}");
    assert_eq!(ran.peers[1].joined_at, from, "no tick before it was there");
    let expected: Vec<(u64, u64)> =
        whole.log.iter().filter(|t| t.tick >= from).map(|t| (t.tick, t.digest)).collect();
    assert_eq!(second, expected);
    assert!(ran.log.iter().filter(|t| t.run_id == 2).all(|t| t.events.is_empty()));
}

#[test]
fn another_speed_changes_the_pace_and_nothing_else() {
    let ran = run(Plan {
        act: |world| match world.looks {
            100 => drop(world.orders.send(Request::Speed(10 * PERIOD_NS)).unwrap()),
            200 => drop(world.orders.send(Request::Speed(0)).unwrap()),
            300 => drop(world.orders.send(Request::Speed(PERIOD_NS)).unwrap()),
            _ => {}
        },
        ..plan(400, two())
    });
    assert_eq!(ran.digests(), run(plan(400, two())).digests());
    let mut told: Vec<u64> = ran.reports.iter().map(|r| r.wall_period_ns).collect();
    told.dedup();
    assert_eq!(told, [PERIOD_NS, 10 * PERIOD_NS, 0, PERIOD_NS]);
}

#[test]
fn only_controllers_that_have_joined_are_heard() {
    let ran = run(Plan {
        act: |world| {
            let seq = world.looks;
            world.commands.send(&Command { run_id: 1, session: 77, seq, ..Default::default() });
        },
        ..plan(50, two())
    });
    assert_eq!(ran.digests(), run(plan(50, two())).digests());
    assert!(ran.last().admission.not_joined > 20);
}
