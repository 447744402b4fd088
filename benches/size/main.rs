//! The cost of a micro-step against the size of the robot: `cargo bench --bench size`.
//!
//! Four rows of robots that stand under PD: more and more equal limbs of three joints, one spring
//! under each, side by side and one body after another; limbs of which no two have the same kinds
//! of joints; more and more springs under four limbs. All take turns. A straight line is fitted to
//! the minima of the larger robots, and the cost must not grow faster than in proportion, with some
//! allowance for a busy machine. So do many plants in one process and, with the bus, many robots in
//! one daemon. `-- --plot FILE` draws it all as an SVG.
//!
//! A micro-step is 100 µs of simulated time, as in `benches/peers`; what comes once per tick is a
//! hundredth of itself. `cargo test --benches` takes a few steps with the smaller robots.
#![allow(missing_docs, unreachable_pub, non_snake_case, clippy::unwrap_used, clippy::panic)]
#![allow(clippy::print_stdout)]

#[path = "../../crates/physics/tests/it/common/robots.rs"]
mod common;
mod line;
mod many;
mod plot;
mod robots;

use std::time::Instant;

use hardstand::simulation::Simulation;
use hardstand_physics::dynamics::Limbs;
use hardstand_physics::plant::ComputePath;
use hardstand_protocol::TickInput;
use line::Line;
use many::Many;
use plot::{Panel, Plotted};
use robots::{Build, standing};

/// Micro-steps of a tick: 4 ms for the slowest robot, less than the system lets a thread run.
const MICRO_STEPS: u32 = 100;
/// Ticks of a burst, of which each is measured.
const TICKS: u32 = 10;
/// Bursts of each robot.
const ROUNDS: usize = 15;
/// Largest allowed growth beyond proportional cost for four times the size. A quadratic cost would
/// be at 4.
const GROWTH_MAX: f64 = 1.25;
/// Largest change of a trunk's height after a burst, m, so that no figure is from a fallen robot.
const SAG_MAX_M: f64 = 0.01;

/// Robots that differ in one number.
struct Row {
    name: &'static str,
    sizes: &'static [usize],
    /// From this size on all lanes are full, and the line is fitted.
    large: usize,
    build: fn(usize) -> Build,
    path: ComputePath,
}

const LIMBS: &[usize] = &[1, 2, 4, 8, 16, 32, 64];
const SPRINGS: &[usize] = &[4, 8, 16, 32, 64, 128, 192, 256];

const ROWS: [Row; 4] = [
    Row {
        name: "equal limbs",
        sizes: LIMBS,
        large: 4,
        build: |limbs| Build { limbs, springs: 1, equal: true },
        path: ComputePath::Fastest,
    },
    Row {
        name: "equal limbs, one by one",
        sizes: LIMBS,
        large: 4,
        build: |limbs| Build { limbs, springs: 1, equal: true },
        path: ComputePath::OneByOne,
    },
    Row {
        name: "unequal limbs",
        sizes: LIMBS,
        large: 4,
        build: |limbs| Build { limbs, springs: 1, equal: false },
        path: ComputePath::Fastest,
    },
    Row {
        name: "springs under four limbs",
        sizes: SPRINGS,
        large: 16,
        build: |springs| Build { limbs: 4, springs: springs / 4, equal: true },
        path: ComputePath::Fastest,
    },
];

/// One robot and what it cost, ns per micro-step.
struct Measured {
    size: usize,
    start: Simulation,
    ns: Vec<f64>,
    /// After a burst.
    digest: Option<u64>,
}

impl Measured {
    fn min(&self) -> f64 {
        self.ns.iter().copied().fold(f64::INFINITY, f64::min)
    }

    fn median(&self) -> f64 {
        let mut ns = self.ns.clone();
        ns.sort_by(f64::total_cmp);
        ns[ns.len() / 2]
    }

    /// One burst, always from the same state: a robot on one leg will not stand for long.
    fn burst(&mut self, ticks: u32) {
        let (mut simulation, input) = (self.start.clone(), TickInput::new());
        let micro_steps = f64::from(simulation.spec().micro_steps);
        simulation.step(&input); // a fresh clone is not in the cache
        for _ in 0..ticks {
            let begun = Instant::now();
            simulation.step(&input);
            self.ns.push(begun.elapsed().as_nanos() as f64 / micro_steps);
        }
        let digest = simulation.state().digest;
        let sag_m = simulation.spec().q.p_WB.z - simulation.state().q.p_WB.z;
        assert_eq!(simulation.failure(), None, "size {}", self.size);
        assert!(sag_m.abs() < SAG_MAX_M, "size {}: sunk by {sag_m} m", self.size);
        assert!(self.digest.is_none_or(|first| first == digest), "size {}", self.size);
        self.digest = Some(digest);
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let plot = arguments.iter().position(|a| a == "--plot");
    let plot = plot.map(|i| arguments.get(i + 1).unwrap_or_else(|| panic!("--plot needs a FILE")));
    // cargo passes --bench to benchmarks, but not when it runs them as tests
    if !arguments.iter().any(|a| a == "--bench") {
        check_bits(&measure(8, 2, 1, 1));
        return;
    }
    let rows = measure(usize::MAX, MICRO_STEPS, TICKS, ROUNDS);
    check_bits(&rows);
    let lines: Vec<Line> = ROWS.iter().zip(&rows).map(|(row, all)| line_of(row, all)).collect();
    for ((row, all), line) in ROWS.iter().zip(&rows).zip(&lines) {
        print(row, all, line);
    }
    let many = [
        Many::plants(),
        #[cfg(feature = "zenoh")]
        Many::robots(),
    ];
    many.iter().for_each(Many::print);
    if let Some(path) = plot {
        plot::draw(path.as_ref(), &panels(&rows, &lines, &many)).unwrap();
    }
    for (row, all) in ROWS.iter().zip(&rows) {
        check_growth(row, all);
    }
    many.iter().for_each(Many::check_growth);
}

/// All robots up to this size, in turn, so that all meet the same load.
fn measure(largest: usize, micro_steps: u32, ticks: u32, rounds: usize) -> Vec<Vec<Measured>> {
    let robot = |row: &Row, size: usize| {
        let mut start = standing((row.build)(size), micro_steps);
        start.set_path(row.path);
        for _ in 1..ticks {
            start.step(&TickInput::new());
        }
        Measured { size, start, ns: Vec::new(), digest: None }
    };
    let robots = |row: &Row| {
        let sizes = row.sizes.iter().filter(|&&n| n <= largest);
        sizes.map(|&n| robot(row, n)).collect::<Vec<_>>()
    };
    let mut rows: Vec<Vec<Measured>> = ROWS.iter().map(robots).collect();
    for _ in 0..rounds {
        rows.iter_mut().flatten().for_each(|m| m.burst(ticks));
    }
    rows
}

fn panels<'a>(rows: &'a [Vec<Measured>], lines: &[Line], many: &'a [Many]) -> Vec<Panel<'a>> {
    let row = |r: usize| Plotted {
        name: ROWS[r].name,
        points: rows[r].iter().map(|m| (m.size as f64, m.min())).collect(),
        line: lines[r],
    };
    let of_size = |title, x_title, rows: std::ops::Range<usize>| {
        let rows = rows.map(row).collect();
        Panel { title, x_title, y_title: "ns per micro-step", rows }
    };
    let of_many = |many: &'a Many| {
        let row = Plotted { name: many.name, points: many.points.clone(), line: many.line() };
        Panel {
            title: many.name,
            x_title: "robots",
            y_title: "µs per tick of all",
            rows: vec![row],
        }
    };
    let mut panels = vec![
        of_size("limbs of three joints, a spring under each", "limbs", 0..3),
        of_size("springs under four limbs", "springs", 3..4),
    ];
    panels.extend(many.iter().map(of_many));
    panels
}

/// The second row has the robots of the first: the order of computation changes no bit.
fn check_bits(rows: &[Vec<Measured>]) {
    let digests = |row: usize| rows[row].iter().map(|m| m.digest.unwrap()).collect::<Vec<_>>();
    assert_eq!(digests(0), digests(1), "{} and {}", ROWS[0].name, ROWS[1].name);
}

fn line_of(row: &Row, all: &[Measured]) -> Line {
    let large = all.iter().filter(|m| m.size >= row.large);
    Line::fit(&large.map(|m| (m.size as f64, m.min())).collect::<Vec<_>>())
}

/// `alone` is the number of bodies without another body for the other SIMD lanes.
fn print(row: &Row, all: &[Measured], line: &Line) {
    println!("\n| {} | alone | ns min | ns median | line | off | digest |", row.name);
    println!("| ---: | ---: | ---: | ---: | ---: | ---: | --- |");
    for m in all {
        let model = m.start.model();
        let alone = match row.path {
            ComputePath::OneByOne => model.bodies.len(),
            _ => Limbs::find(model).trunk.len(),
        };
        let (n, min, median) = (m.size, m.min(), m.median());
        let (on_line, off) = (line.at(n as f64), 100.0 * line.off(n as f64, min));
        let at = if n < row.large { " |".into() } else { format!("{on_line:.0} | {off:+.1} %") };
        println!("| {n} | {alone} | {min:.0} | {median:.0} | {at} | {:016x} |", m.digest.unwrap());
    }
    let most = all.iter().filter(|m| m.size >= row.large);
    let most = most.map(|m| line.off(m.size as f64, m.min()).abs()).fold(0.0, f64::max);
    let (start, slope, large) = (line.start, line.slope, row.large);
    println!(
        "\n{start:.0} ns + {slope:.2} ns each; from {large} on at most {:.1} % off",
        most * 100.0
    );
}

fn check_growth(row: &Row, all: &[Measured]) {
    let Some([last, quarter]) = all.last().and_then(|last| {
        let quarter = all.iter().find(|m| 4 * m.size == last.size)?;
        Some([last.min(), quarter.min()])
    }) else {
        panic!("{}: no two sizes to compare", row.name)
    };
    let growth = last / (4.0 * quarter);
    assert!(growth <= GROWTH_MAX, "{}: {growth:.2} × proportional growth", row.name);
}
