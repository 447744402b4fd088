//! What each way between a controller and the loop costs, in one run:
//!
//! ```text
//! cargo bench --bench ways --features dds
//! cargo bench --bench ways --features dds -- --rounds 50 --exchanges 2000 --seconds 30
//! cargo bench --bench ways --features dds -- --only UDP
//! ```
//!
//! - Lockstep at free pace, of the ways that have it: the time from one state to the next as the
//!   controller sees it. It holds the command's way to the loop, the tick, and the state's way back.
//!   The ways take turns, each with a daemon of its own, whose first exchanges are not counted.
//! - Real time at 1 kHz: the age of the set-points that the drives obey, in every tick. It is
//!   measured from end to end: each set-point carries the tick of the state that it answers
//!   ([`mark`]), and the log shows in which ticks it was in force. On a motor bus, whose frames know
//!   no tick, it is the newest tick when the master asked for the readings which it answers.
//!
//! Each way of `docs/connect.md` with a wire of its own is here. The other rows are programs on one of
//! these wires.
#![allow(missing_docs, unreachable_pub, clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![allow(clippy::print_stdout)]

#[cfg(feature = "dds")]
mod dds;
mod lcm;
mod mark;
mod motors;
mod native;
mod packets;
mod ros2;
mod run;

use std::time::{Duration, Instant};

use run::{Run, Way};

pub const PATIENCE: Duration = Duration::from_secs(20);
const LOCKSTEP: [&str; 4] = ["--mode", "lockstep", "--pace", "free"];
const WARM_UP: usize = 300;

/// Name, way, and whether ticks can wait for it.
const WAYS: &[(&str, Way, bool)] = &[
    ("zenoh, unix socket", Way::Zenoh, true),
    ("zenoh, TCP", Way::ZenohTcp, true),
    ("UDP", Way::Udp, true),
    ("shared memory", Way::SharedMemory, true),
    ("ROS 2 over zenoh", Way::RmwZenoh, true),
    #[cfg(feature = "dds")]
    ("ROS 2 over DDS", Way::Dds, true),
    #[cfg(feature = "dds")]
    ("Unitree's rt/lowcmd over DDS", Way::Unitree, false),
    ("LCM", Way::Lcm, false),
    ("moteus over fdcanusb, two buses", Way::Fdcanusb, false),
    ("MIT mode over slcan, two buses", Way::Slcan, false),
];

/// What was measured of a way.
#[derive(Default)]
struct Times {
    all_ns: Vec<u64>,
    quietest_ns: u64,
    tick_ns: u64,
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let word = |name: &str| {
        let at = arguments.iter().position(|a| a == name);
        at.and_then(|i| arguments.get(i + 1))
    };
    let number =
        |name: &str, default: usize| word(name).and_then(|w| w.parse().ok()).unwrap_or(default);
    // cargo passes --bench to benchmarks, but not when it runs them as tests
    let moment = !arguments.iter().any(|a| a == "--bench");
    let rounds = if moment { 1 } else { number("--rounds", 30) };
    let exchanges = if moment { 50 } else { number("--exchanges", 1000) };
    let seconds = if moment { 1 } else { number("--seconds", 20) };
    let only = word("--only");
    let ways: Vec<_> =
        WAYS.iter().filter(|(name, ..)| only.is_none_or(|only| name.contains(only))).collect();

    println!("load average {}", std::fs::read_to_string("/proc/loadavg").unwrap().trim());
    println!("lockstep, free pace: {rounds} rounds of {exchanges}; real time, 1 kHz: {seconds} s");
    let mut times: Vec<Times> = ways.iter().map(|_| Times::default()).collect();
    for round in 0..rounds {
        for ((_, way, _), times) in ways.iter().zip(&mut times).filter(|((.., waits), _)| *waits) {
            lockstep(*way, exchanges, round, times);
        }
    }
    println!("load average {}", std::fs::read_to_string("/proc/loadavg").unwrap().trim());
    println!(
        "| way | state to state, µs: p50 | p99 | p99.9 | p99 of the quietest round | tick, p50 | \
         age, ticks: p50 | p99 | p99.9 | answers a second |"
    );
    println!("| --- |{}", " ---: |".repeat(9));
    for ((name, way, waits), times) in ways.iter().zip(&mut times) {
        let lockstep = if *waits { times.row() } else { ["–"; 5].join(" | ") };
        println!("| {name} | {lockstep} | {} |", real_time(*way, seconds));
    }
}

fn lockstep(way: Way, exchanges: usize, round: usize, times: &mut Times) {
    let mut run = Run::start(way, &LOCKSTEP);
    (0..WARM_UP).for_each(|_| run.controller.exchange());
    let timed = |_| {
        let begin = Instant::now();
        run.controller.exchange();
        begin.elapsed().as_nanos() as u64
    };
    let mut round_ns: Vec<u64> = (0..exchanges).map(timed).collect();
    round_ns.sort_unstable();
    let p99 = percentile(&round_ns, 0.99);
    times.quietest_ns = if round == 0 { p99 } else { times.quietest_ns.min(p99) };
    times.all_ns.extend(round_ns);
    times.tick_ns = run.late_status().tick_cost_ns.p50;
}

impl Times {
    /// Cells of the table.
    fn row(&mut self) -> String {
        self.all_ns.sort_unstable();
        let [p50, p99, p999] = [0.5, 0.99, 0.999].map(|share| percentile(&self.all_ns, share));
        let all = [p50, p99, p999, self.quietest_ns, self.tick_ns];
        all.map(|ns| format!("{:.1}", ns as f64 / 1e3)).join(" | ")
    }
}

/// Cells of the table.
fn real_time(way: Way, seconds: usize) -> String {
    let mut run = Run::start(way, &["--log"]);
    // Unitree's messages begin after 2 s
    (0..WARM_UP).for_each(|_| run.controller.exchange());
    let (begin, mut answers) = (Instant::now(), 0);
    while begin.elapsed() < Duration::from_secs(seconds as u64) {
        run.controller.exchange();
        answers += 1;
    }
    let a_second = f64::from(answers) / begin.elapsed().as_secs_f64();
    let ages = run.ages();
    let [p50, p99, p999] = [0.5, 0.99, 0.999].map(|share| percentile(&ages, share));
    format!("{p50} | {p99} | {p999} | {a_second:.0}")
}

/// Of sorted values.
fn percentile(sorted: &[u64], share: f64) -> u64 {
    sorted[(share * (sorted.len() - 1) as f64) as usize]
}
