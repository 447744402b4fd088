//! Wake-up latency of the loop against `cyclictest` (Debian: rt-tests), taking turns in one run:
//!
//! ```text
//! cargo bench --bench latency                          5 rounds of 20 s each, as the machine is
//! cargo bench --bench latency -- --load                under stress-ng (Debian: stress-ng) as well
//! cargo bench --bench latency -- --load-other          the same, kept off the loop's core
//! cargo bench --bench latency -- --rounds 3 --seconds 5
//! ```
//!
//! A round is: the loop without spinning, cyclictest, the loop with the default `realtime.spin_us`,
//! cyclictest again; the same rate, core and priority for all. The ratios are those of neighbours,
//! and their median counts. `cargo test --benches` runs the loop for a moment.
#![allow(missing_docs, unreachable_pub, clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![allow(clippy::print_stdout)]

#[path = "../../tests/it/common/bench.rs"]
mod bench;

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use bench::{Bench, Queues, quadruped};
use hardstand::config::{OverrunPolicy, Pace, RealtimeSettings, StartRule};
use hardstand::daemon::LatencyHistogram;
use hardstand::rt::{
    Grants, MonotonicClock, enter_realtime, keep_cores_awake, keep_off_core, lock_memory, pick_core,
};
use hardstand_protocol::LATENCY_EDGES_NS;

const PRIORITY: u8 = 80;
const PERIOD_US: u64 = 1000;

/// p50, p99, p99.9 and the largest latency, µs.
#[derive(Clone, Copy, Debug)]
struct Latency([f64; 4]);

impl Latency {
    /// Of latencies in ns.
    fn of(all: &LatencyHistogram) -> Self {
        Self(
            [all.quantile(0.5), all.quantile(0.99), all.quantile(0.999), all.max()]
                .map(|ns| ns as f64 / 1e3),
        )
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let has = |name: &str| arguments.iter().any(|a| a == name);
    let number = |name: &str, default: u64| {
        let at = arguments.iter().position(|a| a == name);
        at.and_then(|i| arguments.get(i + 1)?.parse().ok()).unwrap_or(default)
    };
    // cargo passes --bench to benchmarks, but not when it runs them as tests
    if !has("--bench") {
        println!("loop {:?}", ours(1, 0));
        return;
    }
    let (rounds, seconds) = (number("--rounds", 5), number("--seconds", 20));
    report("as the machine is", rounds, seconds);
    if has("--load-other") {
        let load = Load::start(true);
        report("under stress-ng --cpu 1 --vm 1 --hdd 1 on the other core", rounds, seconds);
        drop(load);
    }
    if has("--load") {
        let load = Load::start(false);
        report("under stress-ng --cpu 1 --vm 1 --hdd 1", rounds, seconds);
        drop(load);
    }
}

fn report(title: &str, rounds: u64, seconds: u64) {
    let core = pick_core(None);
    println!("\n{title}: {rounds} rounds of {seconds} s, core {core:?}, FIFO {PRIORITY}, 1 kHz");
    println!("{:<12} {:>9} {:>9} {:>9} {:>9}  µs", "", "p50", "p99", "p99.9", "max");
    let (mut plain, mut spun) = (Vec::new(), Vec::new());
    let spin_ns = quadruped(&[]).realtime.spin_ns;
    for _ in 0..rounds {
        let without = shown("loop", ours(seconds, 0));
        let other = shown("cyclictest", cyclictest(seconds));
        plain.push(ratios(without, other));
        let with = shown("loop, spun", ours(seconds, spin_ns));
        let other = shown("cyclictest", cyclictest(seconds));
        spun.push(ratios(with, other));
    }
    for (name, all) in [("loop", plain), ("loop, spun", spun)] {
        let [p99, p999] = [0, 1].map(|i| {
            let mut column: Vec<f64> = all.iter().map(|r| r[i]).collect();
            column.sort_by(f64::total_cmp);
            column[column.len() / 2]
        });
        println!("{name} / cyclictest, medians: p99 {p99:.3}, p99.9 {p999:.3}");
    }
}

fn shown(name: &str, latency: Latency) -> Latency {
    let [p50, p99, p999, max] = latency.0;
    println!("{name:<12} {p50:>9.2} {p99:>9.2} {p999:>9.2} {max:>9.2}");
    latency
}

fn ratios(ours: Latency, other: Latency) -> [f64; 2] {
    [ours.0[1] / other.0[1], ours.0[2] / other.0[2]]
}

/// The real loop with the shipped quadruped, on a thread like the daemon's.
fn ours(seconds: u64, spin_ns: u64) -> Latency {
    let queues = Queues { snapshots: 32, log: 2048, reports: 4096 };
    let mut bench = Bench::new(quadruped(&[]), queues);
    let settings = RealtimeSettings {
        priority: PRIORITY,
        core: None,
        lock_memory: true,
        required: false,
        spin_ns,
    };
    let clock: MonotonicClock = MonotonicClock::spinning(settings.spin_ns, PERIOD_US * 1000);
    let pace = Pace::RealTime(OverrunPolicy::Slip);
    let executive = bench.executive(clock, pace, StartRule::Now, seconds * 1000);
    let core = pick_core(None);
    let _awake = keep_cores_awake();
    let thread = std::thread::spawn(move || {
        let mut grants = Grants::default();
        enter_realtime(&settings, core, &mut grants);
        lock_memory(&mut grants);
        grants.refused.iter().for_each(|refused| println!("refused: {refused}"));
        executive.run().0
    });
    // this thread stays off the core; threads that it starts later do not inherit this
    std::thread::spawn(move || {
        keep_off_core(core);
        let mut latency = LatencyHistogram::new(&LATENCY_EDGES_NS);
        while !thread.is_finished() {
            std::thread::sleep(Duration::from_millis(10));
            while let Some(snapshot) = bench.snapshots.take() {
                bench.snapshots.give_back(snapshot);
            }
            while let Some(tick) = bench.log.take() {
                bench.log.give_back(tick);
            }
            for report in bench.reports.try_iter() {
                latency.record(report.wakeup_latency_ns);
            }
        }
        Latency::of(&latency)
    })
    .join()
    .unwrap()
}

/// cyclictest on the same core, at the same rate and priority.
fn cyclictest(seconds: u64) -> Latency {
    let core = pick_core(None).map_or("0".into(), |c| c.to_string());
    let (priority, loops) = (PRIORITY.to_string(), (seconds * 1000).to_string());
    let interval = PERIOD_US.to_string();
    let out = Command::new("cyclictest")
        .args(["-q", "-m", "-t", "1", "-a", &core, "-p", &priority])
        .args(["-i", &interval, "-l", &loops, "-h", "100000"])
        .output()
        .expect("cyclictest: apt-get install rt-tests");
    assert!(out.status.success(), "{out:?}");
    let text = String::from_utf8_lossy(&out.stdout);
    let mut latency = LatencyHistogram::new(&LATENCY_EDGES_NS);
    for line in text.lines().filter(|l| !l.starts_with('#')) {
        let mut words = line.split_whitespace().filter_map(|w| w.parse::<u64>().ok());
        if let (Some(us), Some(count)) = (words.next(), words.next()) {
            (0..count).for_each(|_| latency.record(us * 1000));
        }
    }
    // latencies beyond the histogram appear only in the maximum
    let max = text.lines().find_map(|l| l.strip_prefix("# Max Latencies:"));
    let max_us: f64 = max.and_then(|m| m.trim().parse().ok()).unwrap_or(0.0);
    let Latency([p50, p99, p999, _]) = Latency::of(&latency);
    Latency([p50, p99, p999, max_us])
}

/// stress-ng until this is dropped.
struct Load(Child);

impl Load {
    /// On all cores, or on those that the loop does not use.
    fn start(off_core: bool) -> Self {
        let start = move || {
            if off_core {
                keep_off_core(pick_core(None));
            }
            Command::new("stress-ng")
                .args(["--cpu", "1", "--vm", "1", "--vm-bytes", "128M", "--hdd", "1"])
                .args(["--hdd-bytes", "64M", "--temp-path", "/tmp", "--quiet"])
                .stdout(Stdio::null())
                .spawn()
                .expect("stress-ng: apt-get install stress-ng")
        };
        // the child inherits the cores of the thread that starts it
        let child = std::thread::spawn(start).join().unwrap();
        std::thread::sleep(Duration::from_secs(1));
        Self(child)
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        // it ends its own children on SIGTERM, not on SIGKILL
        let pid = rustix::process::Pid::from_child(&self.0);
        let _sent = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        let _status = self.0.wait();
    }
}
