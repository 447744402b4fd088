//! Faults of the link: what arrives of commands, and when; by number, not by time.

use hardstand::config::{OverrunPolicy, Pace, StartRule};
use hardstand::rt::{LinkCounts, LinkFaults, ManualClock, TickReport};
use hardstand::simulation::{InjectedFaults, Leases};
use hardstand_protocol::{
    Command, CommandSchedule, Event, FaultKind, Grant, InjectedFault, JointCommand, JointSet, Part,
    Rejection, UNTIL_CLEARED, Verdict,
};

use super::broken;
use crate::common::bench::{Bench, ROOMY, TestClock, quadruped};
use hardstand_protocol::{LogTick, random_number};

const GAINS_MAX: [f64; 2] = [1e4, 1e3];

/// A link of the quadruped with these faults.
struct Link {
    link: LinkFaults,
    faults: InjectedFaults,
    leases: Leases,
}

fn link(faults: &[(FaultKind, &[f64])]) -> Link {
    let events: Vec<Event> =
        faults.iter().map(|(kind, values)| broken(*kind, Part::Whole, values)).collect();
    let injected = quadruped(&[]).simulation().faults_with(&events);
    assert_eq!(injected.active().count(), faults.len(), "each is possible");
    Link { link: LinkFaults::new(12, GAINS_MAX), faults: injected, leases: Leases::default() }
}

fn command(session: u64, seq: u64) -> Box<Command> {
    let joint = JointCommand { q: seq as f64, dq: 0.5, kp: 100.0, kd: 3.0, tau_ff: 0.25 };
    Box::new(Command {
        run_id: 1,
        session,
        seq,
        answers_tick: seq,
        applies_tick: 0,
        joints: vec![joint; 12],
    })
}

impl Link {
    /// What arrives in `tick` of these commands and those before.
    #[allow(clippy::vec_box, reason = "as in the input of a tick")]
    fn pass(&mut self, tick: u64, mut candidates: Vec<Box<Command>>) -> Vec<Command> {
        let (came, mut back) = (candidates.len(), 0);
        self.link.pass((&self.faults, &self.leases), tick, &mut candidates, |_| back += 1);
        let arrived = candidates.iter().map(|c| (**c).clone()).collect();
        self.link.take_back(&mut candidates, |_| back += 1);
        assert_eq!(back, came, "every box of the sender comes back");
        arrived
    }

    /// Numbers that arrive in each of so many ticks, of one command a tick.
    fn numbers(&mut self, session: u64, ticks: u64) -> Vec<Vec<u64>> {
        let tick = |t| self.pass(t, vec![command(session, t)]).iter().map(|c| c.seq).collect();
        (0..ticks).map(tick).collect()
    }
}

#[test]
fn a_sound_link_passes_everything_on_untouched() {
    let mut link = link(&[]);
    let sent = vec![command(5, 1), command(6, 9)];
    let expected: Vec<Command> = sent.iter().map(|c| (**c).clone()).collect();
    assert_eq!(link.pass(3, sent), expected);
    assert_eq!(link.link.counts(), &LinkCounts::default());
}

#[test]
fn commands_are_lost_as_often_as_asked_by_seed_session_and_number() {
    let drop = |p: f64, length: f64, seed: f64, session: u64| -> Vec<bool> {
        let mut link = link(&[(FaultKind::LinkDrop, &[p, length, seed])]);
        let lost: Vec<bool> = link.numbers(session, 10_000).iter().map(Vec::is_empty).collect();
        assert_eq!(link.link.counts().dropped, lost.iter().filter(|l| **l).count() as u64);
        lost
    };
    let lost = drop(0.03, 1.0, 7.0, 42);
    // 300 of 10,000, with a standard deviation of 17
    let count = lost.iter().filter(|l| **l).count();
    assert!((230..=370).contains(&count), "{count}");
    assert_eq!(lost, drop(0.03, 1.0, 7.0, 42));
    assert_ne!(lost, drop(0.03, 1.0, 8.0, 42));
    assert_ne!(lost, drop(0.03, 1.0, 7.0, 43));
    assert!(!drop(0.0, 1.0, 7.0, 42).contains(&true) && !drop(1.0, 1.0, 7.0, 42).contains(&false));
    let rows = drop(0.1, 5.0, 7.0, 42);
    let mut fives = rows.chunks(5);
    assert!(fives.all(|c| c.iter().all(|l| *l == c[0])), "five in a row, or none");
    assert!(rows.contains(&true));
}

/// The same commands in other ticks meet the same fate.
#[test]
fn what_becomes_of_a_command_does_not_depend_on_when_it_comes() {
    let faults: &[(FaultKind, &[f64])] = &[
        (FaultKind::LinkDrop, &[0.2, 1.0, 3.0]),
        (FaultKind::LinkStale, &[0.2, 4.0]),
        (FaultKind::LinkNan, &[0.1, 5.0]),
        (FaultKind::LinkBitFlip, &[0.3, 6.0]),
    ];
    let bits = |c: &Command| {
        let numbers = |j: &JointCommand| [j.q, j.dq, j.kp, j.kd, j.tau_ff].map(f64::to_bits);
        let joints: Vec<u64> = c.joints.iter().flat_map(numbers).collect();
        (c.session, c.seq, c.answers_tick, joints)
    };
    let [mut early, mut late] = [link(faults), link(faults)];
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for n in 0..900 {
        a.extend(early.pass(n, vec![command(7, n)]).iter().map(bits));
        let three = if n % 3 == 2 { (n - 2..=n).map(|n| command(7, n)).collect() } else { vec![] };
        b.extend(late.pass(n + 50, three).iter().map(bits));
    }
    assert_eq!(a, b);
    assert_eq!(early.link.counts(), late.link.counts());
    let counts = early.link.counts();
    assert!(counts.dropped > 100 && counts.stale > 100 && counts.altered > 100, "{counts:?}");
    assert!(a.len() as u64 + counts.dropped + counts.rejected.iter().sum::<u64>() == 900);
}

#[test]
fn commands_come_later_by_as_many_ticks() {
    let mut delayed = link(&[(FaultKind::LinkDelay, &[5.0])]);
    let came = delayed.numbers(7, 40);
    let expected = |t: u64| t.checked_sub(5).map_or(vec![], |n| vec![n]);
    assert_eq!(came, (0..40).map(expected).collect::<Vec<_>>());
    assert_eq!(delayed.link.counts().delayed, 40);
    // what is under way arrives after the fault is mended, and before what comes then
    delayed.faults = InjectedFaults::default();
    assert_eq!(delayed.pass(40, vec![command(7, 40)])[0].seq, 35);
    let rest: Vec<u64> = (41..46).flat_map(|t| delayed.pass(t, vec![])).map(|c| c.seq).collect();
    assert_eq!(rest, [36, 37, 38, 39, 40]);
    delayed.link.clear();
    assert!(delayed.pass(46, vec![]).is_empty());
}

#[test]
fn jitter_keeps_the_order_and_a_reordering_does_not() {
    let mut link_j = link(&[(FaultKind::LinkJitter, &[4.0, 11.0])]);
    let came = link_j.numbers(7, 500);
    let order: Vec<u64> = came.iter().flatten().copied().collect();
    assert!(order.windows(2).all(|w| w[0] + 1 == w[1]), "{order:?}");
    let late = |t: u64, n: &u64| t - n;
    let lates: Vec<u64> =
        came.iter().zip(0..).flat_map(|(c, t)| c.iter().map(move |n| late(t, n))).collect();
    assert!((0..=4).all(|d| lates.contains(&d)) && lates.iter().all(|d| *d <= 4), "{lates:?}");
    let mut swapped = link(&[(FaultKind::LinkReorder, &[0.2, 2.0, 11.0])]);
    let came = swapped.numbers(7, 500);
    let order: Vec<u64> = came.iter().flatten().copied().collect();
    let behind = order.windows(2).filter(|w| w[1] < w[0]).count();
    // 100 of 500, with a standard deviation of 9; two in a row are one step back
    assert!((50..=130).contains(&behind), "{behind}");
    assert!(order.len() >= 498);
}

#[test]
fn copies_and_bursts() {
    let mut twice = link(&[(FaultKind::LinkDuplicate, &[1.0, 3.0, 0.0])]);
    let came = twice.numbers(7, 10);
    assert_eq!((&came[0], &came[2], &came[5]), (&vec![0], &vec![2], &vec![2, 5]));
    assert_eq!(twice.link.counts().duplicated, 10);
    let mut bursts = link(&[(FaultKind::LinkBurst, &[10.0])]);
    let came = bursts.numbers(7, 31);
    assert_eq!(came[10], (1..=10).collect::<Vec<u64>>());
    assert!(came.iter().zip(0_u64..).all(|(c, t)| c.is_empty() != t.is_multiple_of(10)));
    // more than a tick looks at: the rest in the next
    let mut flood = link(&[(FaultKind::LinkBurst, &[40.0])]);
    let came = flood.numbers(7, 45);
    assert_eq!(came[40..44].iter().map(Vec::len).collect::<Vec<_>>(), [16, 16, 8, 0]);
    // and more than there is room for is lost
    let mut full = link(&[(FaultKind::LinkDelay, &[100.0])]);
    let mut came = 0;
    for t in 0..200 {
        came += full.pass(t, vec![command(7, 2 * t), command(7, 2 * t + 1)]).len() as u64;
    }
    let counts = *full.link.counts();
    assert!(came > 100 && counts.dropped > 0, "{came} {counts:?}");
}

#[test]
fn a_stale_command_has_the_set_points_of_the_last_right_one() {
    let mut stale = link(&[(FaultKind::LinkStale, &[0.4, 2.0])]);
    let mut right = 0.0;
    let mut count = 0;
    for t in 1..500 {
        let came = stale.pass(t, vec![command(7, t)]);
        assert_eq!((came[0].seq, came[0].answers_tick), (t, t), "it claims to be new");
        let q = came[0].joints[3].q;
        if q == t as f64 {
            right = q;
        } else {
            count += 1;
            assert!(q == right && right > 0.0, "{q} {right}");
        }
    }
    assert_eq!(stale.link.counts().stale, count);
    assert!((150..=250).contains(&count), "{count}");
}

#[test]
fn what_is_no_number_is_refused_and_counted() {
    let mut nan = link(&[(FaultKind::LinkNan, &[0.25, 1.0])]);
    let came: usize = nan.numbers(7, 1000).iter().map(Vec::len).sum();
    let counts = nan.link.counts();
    let refused = counts.rejected[Rejection::NotFinite as usize];
    assert_eq!((came as u64 + refused, counts.altered), (1000, refused));
    assert!((180..=320).contains(&refused), "{refused}");
}

#[test]
fn a_reversed_bit_is_found_or_is_in_range() {
    let session = random_number();
    let mut flips = link(&[(FaultKind::LinkBitFlip, &[1.0, 1.0])]);
    let (mut changed, mut kinds) = (0, [0; 5]);
    for t in 0..20_000 {
        let sent = command(session, t);
        let Some(got) = flips.pass(t, vec![sent.clone()]).pop() else { continue };
        let head = |c: &Command| [c.session, c.seq, c.answers_tick, c.applies_tick];
        let numbers = |c: &Command| -> Vec<u64> {
            let of = |j: &JointCommand| [j.q, j.dq, j.kp, j.kd, j.tau_ff].map(f64::to_bits);
            head(c).into_iter().chain(c.joints.iter().flat_map(of)).collect()
        };
        let (a, b) = (numbers(&sent), numbers(&got));
        let bits: u32 = a.iter().zip(&b).map(|(a, b)| (a ^ b).count_ones()).sum();
        assert_eq!(bits, 1);
        for (k, kind) in kinds.iter_mut().enumerate() {
            *kind += u32::from(a[k.min(4)..].iter().zip(&b[k.min(4)..]).any(|(a, b)| a != b));
        }
        changed += 1;
        let ok = |j: &JointCommand| {
            (0.0..=1e4).contains(&j.kp) && (0.0..=1e3).contains(&j.kd) && j.q.abs() <= 1e6
        };
        assert!(got.joints.iter().all(ok), "{got:?}");
    }
    let counts = flips.link.counts();
    assert_eq!(changed + counts.rejected.iter().sum::<u64>(), 20_000);
    // each bit of the message equally often: 4256 bits, 64 of the layout's hash
    let layout = counts.rejected[Rejection::Layout as usize];
    let expected = 20_000.0 * 64.0 / 4256.0;
    assert!((layout as f64 - expected).abs() < 4.0 * expected.sqrt(), "{layout} {expected}");
    for reason in [Rejection::RunId, Rejection::Size, Rejection::OutOfRange, Rejection::NotFinite] {
        let count = counts.rejected[reason as usize];
        assert!(count > 0 || reason == Rejection::NotFinite, "{reason:?}");
    }
    assert!(kinds.iter().all(|k| *k > 0), "{kinds:?}");
}

/// How often a controller that has joined counts, or sends an answer again, is no part of its fate.
#[test]
fn the_fate_of_an_agreed_answer_is_that_of_its_state() {
    let leased = |period| {
        let mut link = link(&[(FaultKind::LinkDrop, &[0.3, 2.0, 5.0])]);
        let mut joints = JointSet::default();
        assert!((0..12).all(|joint| joints.insert(joint)));
        let schedule = CommandSchedule { period, phase: 0, offset: 0 };
        let grant = Grant { controller: 1, session: 9, schedule, required: true, joints };
        assert!(link.leases.grant(0, &grant));
        link
    };
    let fates = |period: u64, seq: fn(u64) -> u64| -> Vec<bool> {
        let mut link = leased(period);
        let mut answer = |n: u64| {
            let answers_tick = n * period;
            let sent = Command { seq: seq(n), answers_tick, ..*command(9, 0) };
            let sent = Command { applies_tick: answers_tick, ..sent };
            !link.pass(answers_tick, vec![Box::new(sent)]).is_empty()
        };
        (0..1000).map(&mut answer).collect()
    };
    let counted = fates(1, |n| n);
    assert_eq!(fates(1, |_| 0), counted);
    assert_eq!(fates(1, |n| 7 * n + 3), counted);
    assert_eq!(fates(20, |_| 0), counted, "in a row on its schedule");
    let lost = counted.iter().filter(|came| !**came).count();
    assert!((200..400).contains(&lost), "{lost}");
    assert!(counted.chunks(2).all(|row| row[0] == row[1]));
}

/// A run of the real loop with these events, commanded in every period.
fn run(events: &str) -> (Vec<LogTick>, Vec<TickReport>) {
    let mut bench = Bench::new(quadruped(&[events]), ROOMY);
    let hands = bench.hands();
    let between = move |period| hands.candidate(7, period, period);
    let clock = TestClock { clock: ManualClock::default(), late: Vec::new(), between };
    let pace = Pace::RealTime(OverrunPolicy::Slip);
    bench.executive(clock, pace, StartRule::Now, 300).run();
    (bench.logged(), bench.reported())
}

fn ages(log: &[LogTick]) -> Vec<u64> {
    let age = |t: &LogTick| t.candidates.iter().map(|o| t.tick - o.answers_tick).max();
    log.iter().map(|t| age(t).unwrap_or(u64::MAX)).collect()
}

#[test]
fn the_loop_has_a_faulty_link_from_the_tick_of_its_event_on() {
    let (log, reports) = run("events=[{at_s=0.100, kind=\"link_delay\", delay_ticks=4, \
                              duration_s=0.1}, {at_s=0.250, kind=\"link_drop\", probability=1}]");
    let ages = ages(&log);
    assert!(ages[1..100].iter().all(|a| *a == 0));
    assert!(ages[100..104].iter().all(|a| *a == u64::MAX), "they are under way");
    assert!(ages[104..204].iter().all(|a| *a == 4), "{:?}", &ages[195..210]);
    assert!(ages[205..250].iter().all(|a| *a == 0), "{:?}", &ages[195..210]);
    assert!(ages[250..].iter().all(|a| *a == u64::MAX));
    let last = reports.last().unwrap();
    // three more waited behind those that were under way when the delay was over
    assert_eq!((last.link.delayed, last.link.dropped), (103, 50));
    assert!(
        log.iter()
            .flat_map(|t| &t.candidates)
            .all(|o| { matches!(o.verdict, Verdict::Accepted | Verdict::Proving) })
    );
    let again = run("events=[{at_s=0.100, kind=\"link_delay\", delay_ticks=4, duration_s=0.1}, \
                     {at_s=0.250, kind=\"link_drop\", probability=1}]");
    assert!(log == again.0, "twice the same run");
}

#[test]
fn three_percent_loss_with_one_seed_is_twice_the_same_run() {
    let lossy = |seed: u32| {
        let event = format!(
            "events=[{{at_s=0, kind=\"link_drop\", probability=0.03, seed={seed}}}, \
             {{at_s=0.05, kind=\"link_reorder\", probability=0.1, delay_ticks=2, seed={seed}}}]"
        );
        run(&event).0.iter().map(|t| t.digest).collect::<Vec<u64>>()
    };
    assert_eq!(lossy(7), lossy(7));
    assert_ne!(lossy(7), lossy(8));
}

#[test]
fn faults_of_the_link_are_state_and_change_no_physics() {
    let mut simulation = super::quadruped();
    let mut sound = super::quadruped();
    super::stand(&mut simulation, &[broken(FaultKind::LinkDrop, Part::Whole, &[0.5, 1.0, 3.0])]);
    super::stand(&mut sound, &[]);
    assert_eq!(super::motion(&simulation), super::motion(&sound));
    let active: Vec<(InjectedFault, u64)> = simulation.faults().active().collect();
    assert_eq!((active[0].0.kind, active[0].1), (FaultKind::LinkDrop, UNTIL_CLEARED));
}
