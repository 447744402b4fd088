//! A loop on the real clock, in a process of its own that may be killed for what its loop does.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::hint::black_box;
use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use hardstand::config::{OverrunPolicy, Pace, RealtimeSettings, StartRule};
use hardstand::rt::{Clock, Grants, MonotonicClock, enter_realtime, lock_memory, pick_core};
use hardstand_protocol::JointCommand;
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};

use crate::common::bench::{Bench, Queues, quadruped};
use crate::common::serial::serial;

/// What a misbehaving loop does at every 100th tick, or waiting twice at every one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misdeed {
    Nothing,
    SystemCall,
    FreshPage,
    SecondWait,
    Stall,
}

impl Misdeed {
    const ALL: [Self; 5] =
        [Self::Nothing, Self::SystemCall, Self::FreshPage, Self::SecondWait, Self::Stall];

    fn name(self) -> String {
        format!("{self:?}")
    }
}

/// What was seen of the physics thread between two of its ticks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    pub ticks: u64,
    pub minor_faults: u64,
    pub major_faults: u64,
    pub voluntary_switches: u64,
    pub missed_deadlines: u64,
    pub commands_accepted: u64,
}

const TEST: &str = "realtime::child::the_loop_of_a_child";
const ROLE: &str = "HARDSTAND_TEST_MISDEED";
const TICKS: &str = "HARDSTAND_TEST_TICKS";
/// Ticks before the filter is in force and the counting begins.
const SETTLE_TICKS: u64 = 500;
const PERIOD_NS: u64 = 250_000;

/// Runs a loop of so many ticks at 4 kHz in a process of its own. `None` if the loop was killed for
/// a system call, otherwise what was seen of it.
pub fn run(misdeed: Misdeed, ticks: u64) -> Option<Seen> {
    // one core is the loop's
    let _one = serial();
    let out = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", TEST, "--nocapture", "--test-threads=1"])
        .envs([(ROLE, misdeed.name()), (TICKS, ticks.to_string())])
        .output()
        .unwrap();
    use std::os::unix::process::ExitStatusExt as _;
    const SIGSYS: i32 = 31;
    if out.status.signal() == Some(SIGSYS) {
        return None;
    }
    Some(read(&out))
}

fn read(out: &Output) -> Seen {
    let text = String::from_utf8_lossy(&out.stdout);
    let line = text.lines().find_map(|l| l.split_once("seen ")).map(|(_, rest)| rest);
    let line = line.unwrap_or_else(|| panic!("{out:?}"));
    let mut numbers = line.split(' ').map(|n| n.parse::<u64>().unwrap());
    let mut next = || numbers.next().unwrap();
    Seen {
        ticks: next(),
        minor_faults: next(),
        major_faults: next(),
        voluntary_switches: next(),
        missed_deadlines: next(),
        commands_accepted: next(),
    }
}

/// The other process: not a test by itself.
#[test]
fn the_loop_of_a_child() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let misdeed = Misdeed::ALL.into_iter().find(|m| m.name() == role).unwrap();
    let ticks: u64 = std::env::var(TICKS).unwrap().parse().unwrap();
    let seen = watched_loop(misdeed, ticks);
    #[allow(clippy::print_stdout, reason = "read by the other process")]
    {
        println!(
            "seen {} {} {} {} {} {}",
            seen.ticks,
            seen.minor_faults,
            seen.major_faults,
            seen.voluntary_switches,
            seen.missed_deadlines,
            seen.commands_accepted
        );
    }
    // at once: the loop's thread may call nothing that would end it
    #[allow(clippy::exit, reason = "see above")]
    std::process::exit(0);
}

/// The clock of the loop: it counts, comes under the filter after a while, and misbehaves.
struct Watched {
    clock: MonotonicClock,
    sleeps: Cell<u64>,
    shared: Arc<AtomicU64>,
    ticks: u64,
    misdeed: Misdeed,
    fresh: Vec<u8>,
    filter: BpfProgram,
}

impl Clock for Watched {
    fn now_ns(&self) -> u64 {
        self.clock.now_ns()
    }

    fn sleep_until(&self, deadline_ns: u64) {
        let sleeps = self.sleeps.get() + 1;
        self.sleeps.set(sleeps);
        if sleeps == SETTLE_TICKS {
            seccompiler::apply_filter(&self.filter).unwrap();
        }
        self.shared.store(sleeps, Ordering::Release);
        let every = if self.misdeed == Misdeed::SecondWait { 1 } else { 100 };
        if sleeps > SETTLE_TICKS && sleeps.is_multiple_of(every) {
            self.misbehave(sleeps, deadline_ns);
        }
        if sleeps == SETTLE_TICKS + self.ticks + 50 {
            loop {
                self.clock.sleep_until(u64::MAX / 2);
            }
        }
        self.clock.sleep_until(deadline_ns);
    }
}

impl Watched {
    fn misbehave(&self, sleeps: u64, deadline_ns: u64) {
        match self.misdeed {
            Misdeed::Nothing => {}
            Misdeed::SystemCall => _ = black_box(rustix::process::getppid()),
            Misdeed::FreshPage => {
                let at = (sleeps as usize / 100 * 4096) % self.fresh.len();
                // the first read of a page maps it: a fault
                black_box(self.fresh[at]);
            }
            Misdeed::SecondWait => MonotonicClock::default().sleep_until(self.now_ns() + 20_000),
            Misdeed::Stall => {
                while self.now_ns() < deadline_ns + 3 * PERIOD_NS {
                    std::hint::spin_loop();
                }
            }
        }
    }
}

/// Allows what the loop may call and kills the process for everything else.
fn filter() -> BpfProgram {
    const CALLS: [i64; 3] = [
        libc::SYS_clock_nanosleep,
        libc::SYS_rt_sigreturn,
        // a sleep that a stop signal interrupted is restarted by the kernel
        libc::SYS_restart_syscall,
    ];
    let rules: BTreeMap<i64, Vec<seccompiler::SeccompRule>> =
        CALLS.into_iter().map(|call| (call, Vec::new())).collect();
    let arch = std::env::consts::ARCH.try_into().unwrap();
    let filter = SeccompFilter::new(rules, SeccompAction::KillProcess, SeccompAction::Allow, arch);
    filter.unwrap().try_into().unwrap()
}

/// Runs the loop with a busy controller, a publisher, a recorder and a monitor on another thread,
/// and watches its thread from here.
fn watched_loop(misdeed: Misdeed, ticks: u64) -> Seen {
    let sets = ["sim.rate_hz=4000", "sim.micro_steps=2", "command.hold_ticks=400"];
    let queues = Queues { snapshots: 32, log: 512, reports: 4096 };
    let mut bench = Bench::new(quadruped(&sets), queues);
    let shared = Arc::new(AtomicU64::new(0));
    let clock = Watched {
        clock: MonotonicClock { spin_ns: 30_000 },
        sleeps: Cell::new(0),
        shared: Arc::clone(&shared),
        ticks,
        misdeed,
        fresh: vec![0; 64 << 20],
        filter: filter(),
    };
    let pace = Pace::RealTime(OverrunPolicy::Slip);
    let executive = bench.executive(clock, pace, StartRule::Now, u64::MAX);
    let (tid_out, tid_in) = crossbeam_channel::bounded(1);
    std::thread::spawn(move || {
        let settings = RealtimeSettings {
            priority: 80,
            core: None,
            lock_memory: true,
            required: false,
            spin_ns: 0,
        };
        let mut grants = Grants::default();
        enter_realtime(&settings, pick_core(None), &mut grants);
        lock_memory(&mut grants);
        grants.refused.iter().for_each(|refused| eprintln!("refused: {refused}"));
        tid_out.send(rustix::thread::gettid().as_raw_nonzero().get()).unwrap();
        executive.run()
    });
    let tid = tid_in.recv().unwrap();
    let until = |n: u64, bench: &Bench, tally: &mut Tally| {
        while shared.load(Ordering::Acquire) < n {
            tally.take(bench);
            std::thread::sleep(Duration::from_micros(300));
        }
    };
    let mut tally = Tally::default();
    until(SETTLE_TICKS + 20, &bench, &mut tally);
    let (before, from) = (usage(tid), tally);
    let first = shared.load(Ordering::Acquire);
    until(SETTLE_TICKS + 20 + ticks, &bench, &mut tally);
    let (after, last) = (usage(tid), shared.load(Ordering::Acquire));
    Seen {
        ticks: last - first,
        minor_faults: after[0] - before[0],
        major_faults: after[1] - before[1],
        voluntary_switches: after[2] - before[2],
        missed_deadlines: tally.missed - from.missed,
        commands_accepted: tally.accepted - from.accepted,
    }
}

/// What the other side of the loop has done and heard.
#[derive(Clone, Copy, Default)]
struct Tally {
    seq: u64,
    tick: u64,
    missed: u64,
    accepted: u64,
}

impl Tally {
    fn take(&mut self, bench: &Bench) {
        while let Some(snapshot) = bench.snapshots.take() {
            self.tick = snapshot.state.tick;
            bench.snapshots.give_back(snapshot);
        }
        self.seq += 1;
        let hold = JointCommand { kp: 60.0, kd: 2.0, ..Default::default() };
        bench.commands.send(&hardstand_protocol::Command {
            run_id: 1,
            session: 5,
            seq: self.seq,
            answers_tick: self.tick,
            applies_tick: 0,
            joints: vec![hold; bench.scenario.model.joint_count()],
        });
        while let Some(tick) = bench.log.take() {
            let accepted = |o: &&hardstand_protocol::CandidateRecord| {
                o.verdict == hardstand_protocol::Verdict::Accepted
            };
            self.accepted += tick.candidates.iter().filter(accepted).count() as u64;
            bench.log.give_back(tick);
        }
        for report in bench.reports.try_iter() {
            self.missed = report.missed_deadlines;
        }
    }
}

/// Minor faults, major faults and voluntary switches of a thread of this process, as
/// `getrusage(RUSAGE_THREAD)` would tell it: the thread itself may not ask.
fn usage(tid: i32) -> [u64; 3] {
    let read = |name| std::fs::read_to_string(format!("/proc/self/task/{tid}/{name}")).unwrap();
    let stat = read("stat");
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    // fields 10 and 12 of proc(5); the first here is field 3
    let (minor, major) = (fields[7].parse().unwrap(), fields[9].parse().unwrap());
    let status = read("status");
    let line = status.lines().find_map(|l| l.strip_prefix("voluntary_ctxt_switches:"));
    [minor, major, line.unwrap().trim().parse().unwrap()]
}
