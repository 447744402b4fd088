//! Our side of the comparison with other engines: the server for `benches/peers/run`, and a smoke
//! test.
//!
//! ```text
//! cargo bench --bench peers                 our own rows, without the peers
//! cargo test --benches                      stands each robot up and takes a few steps
//! benches/peers/run                         everything, interleaved with the peers
//! ```
//!
//! With `--serve` it reads requests on stdin and answers each with one line:
//!
//! ```text
//! hot CASE STEPS     ns per step, mean over at least STEPS steps without a pause; a digest
//! cold CASE STEPS    ns of each step, one step per millisecond, the thread sleeping in between
//! ```
//!
//! A step of `hot` is one micro-step of 100 µs of simulated time: PD of every joint with the
//! motor's limits, end stops, contacts (friction included), forward dynamics, integration,
//! kinematics of the new state. Ticks of 1000 micro-steps make what comes once per tick — watchdog,
//! sensors, digest, the check for bad numbers — a thousandth of itself. A step of `cold` is a whole
//! tick of one micro-step of 125 µs, with all of that.
//!
//! The cases are those of `benches/robots/cases.toml`. Each robot first stands for five seconds and
//! must be still by then, so that no figure comes from a robot that has fallen.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hardstand::config::Scenario;
use hardstand::simulation::Simulation;
use hardstand_protocol::{Command, JointCommand, TickInput};

/// Simulated time after which a robot must be still, s.
const SETTLE_S: f64 = 5.0;
/// Largest speed of a joint or of the base that counts as still, rad/s or m/s.
const STILL: f64 = 1e-3;
/// Most that a base may sink or rise while its robot settles, m.
const SAG_MAX_M: f64 = 0.03;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |name: &str| arguments.iter().any(|a| a == name);
    if has("--serve") {
        serve();
    } else {
        // cargo passes --bench to benchmarks, but not when it runs them as tests
        report(if has("--bench") { 200_000 } else { 1 });
    }
}

/// Whole ticks of one kind.
#[derive(Clone, Copy)]
enum Tick {
    /// 100 ms in 1000 micro-steps.
    Hot,
    /// 125 µs in one micro-step.
    Cold,
}

impl Tick {
    const fn rate_hz(self) -> u32 {
        match self {
            Self::Hot => 10,
            Self::Cold => 8000,
        }
    }

    const fn micro_steps(self) -> u32 {
        match self {
            Self::Hot => 1000,
            Self::Cold => 1,
        }
    }
}

fn robots() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/robots")
}

fn cases() -> toml::Table {
    fs::read_to_string(robots().join("cases.toml")).unwrap().parse().unwrap()
}

/// The robot of a case, standing still.
fn standing(name: &str, tick: Tick) -> Simulation {
    let cases = cases();
    let case = cases.get(name).unwrap_or_else(|| panic!("no case {name} in cases.toml"));
    let gain = |key: &str| case[key].as_float().unwrap();
    let sets = [
        format!("sim.rate_hz={}", tick.rate_hz()),
        format!("sim.micro_steps={}", tick.micro_steps()),
        "command.hold_ticks=100000".into(),
    ];
    let path = robots().join(case["scenario"].as_str().unwrap());
    let mut simulation = Scenario::load(&path, &sets).unwrap().simulation();
    let (kp, kd) = (gain("kp"), gain("kd"));
    let hold = |&q: &f64| JointCommand { q, kp, kd, ..Default::default() };
    let joints: Vec<JointCommand> = simulation.spec().q.joints.iter().map(hold).collect();
    let mut input = TickInput::new();
    for seq in 1..=3 {
        let joints = joints.clone();
        input.candidates.push(Box::new(Command {
            run_id: 1,
            session: 1,
            seq,
            answers_tick: 0,
            applies_tick: 0,
            joints,
        }));
    }
    simulation.step(&input);
    for _ in 1..(SETTLE_S * f64::from(tick.rate_hz())) as u32 {
        simulation.step(&TickInput::new());
    }
    check_stillness(name, &simulation);
    simulation
}

fn check_stillness(name: &str, simulation: &Simulation) {
    let (q, v) = (&simulation.state().q, &simulation.state().v);
    let fastest = v.joints.iter().fold(v.v_WB.norm().max(v.w_WB.norm()), |a, v| a.max(v.abs()));
    let sag_m = simulation.spec().q.p_WB.z - q.p_WB.z;
    assert_eq!(simulation.failure(), None, "{name}");
    assert!(fastest < STILL, "{name} still moves with {fastest} rad/s or m/s");
    assert!(sag_m.abs() < SAG_MAX_M, "{name} has sunk by {sag_m} m");
}

/// Mean time of a step, ns; takes at least `steps`, in whole ticks.
fn hot(simulation: &mut Simulation, steps: u32) -> f64 {
    let input = TickInput::new();
    let micro_steps = Tick::Hot.micro_steps();
    let ticks = steps.div_ceil(micro_steps).max(1);
    let begun = Instant::now();
    for _ in 0..ticks {
        simulation.step(&input);
    }
    begun.elapsed().as_nanos() as f64 / f64::from(ticks * micro_steps)
}

/// Time of each of `steps` ticks, ns, each after a pause.
fn cold(simulation: &mut Simulation, steps: u32) -> Vec<u128> {
    let input = TickInput::new();
    let mut due = Instant::now();
    let step = |_| {
        due += Duration::from_millis(1);
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        let begun = Instant::now();
        simulation.step(&input);
        begun.elapsed().as_nanos()
    };
    (0..steps).map(step).collect()
}

/// Answers requests until stdin ends.
fn serve() {
    let mut plants = BTreeMap::new();
    for line in io::stdin().lock().lines() {
        let line = line.unwrap();
        let words: Vec<&str> = line.split_whitespace().collect();
        let &[kind, name, steps] = words.as_slice() else { panic!("not a request: {line}") };
        let steps: u32 = steps.parse().unwrap();
        let tick = if kind == "cold" { Tick::Cold } else { Tick::Hot };
        let key = (kind.to_string(), name.to_string());
        let simulation = plants.entry(key).or_insert_with(|| standing(name, tick));
        let answer = match tick {
            Tick::Hot => format!("{:.3}", hot(simulation, steps)),
            Tick::Cold => {
                cold(simulation, steps).iter().map(u128::to_string).collect::<Vec<_>>().join(" ")
            }
        };
        assert_eq!(simulation.failure(), None, "{name}");
        match tick {
            Tick::Hot => println!("{answer} {:016x}", simulation.state().digest),
            Tick::Cold => println!("{answer}"),
        }
        io::stdout().flush().unwrap();
    }
}

/// Median and minimum of five bursts for every case, and the digest they end with.
fn report(steps: u32) {
    println!("{:<16} {:>12} {:>12}  digest", "case", "ns/step", "best");
    for name in cases().keys() {
        let mut simulation = standing(name, Tick::Hot);
        let mut ns: Vec<f64> = (0..5).map(|_| hot(&mut simulation, steps)).collect();
        ns.sort_by(f64::total_cmp);
        println!("{name:<16} {:>12.1} {:>12.1}  {:016x}", ns[2], ns[0], simulation.state().digest);
    }
}
