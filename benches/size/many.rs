//! Many robots: plants in one process, and robots in one daemon.

use std::time::Instant;

use crate::MICRO_STEPS;
use crate::line::Line;
use crate::robots::{Build, standing};
use hardstand::simulation::Simulation;
use hardstand_protocol::TickInput;

/// Plants, one after another on one thread.
const PLANTS: &[usize] = &[1, 4, 16, 64, 128, 256];
/// Rounds of ticks of all plants.
const ROUNDS: usize = 25;

/// Largest allowed growth beyond proportional cost for twice as many. A quadratic cost would be at
/// 2; 256 plants are larger than a cache.
const GROWTH_MAX: f64 = 1.6;

/// So many robots, and what a tick of all of them costs, µs.
pub(crate) struct Many {
    pub(crate) name: &'static str,
    pub(crate) points: Vec<(f64, f64)>,
}

impl Many {
    /// Quadrupeds on four springs, each of which takes a tick of 10 micro-steps in turn.
    pub(crate) fn plants() -> Self {
        let one = standing(Build { limbs: 4, springs: 1, equal: true }, MICRO_STEPS / 10);
        let points = PLANTS.iter().map(|&count| {
            let mut plants = vec![one.clone(); count];
            (count as f64, least_us(ROUNDS, || plants.iter_mut().for_each(tick)))
        });
        Self { name: "plants in one process", points: points.collect() }
    }

    /// Quadrupeds of one daemon at free pace, without controllers, that cannot touch: the
    /// difference of a long and a short run.
    #[cfg(feature = "zenoh")]
    pub(crate) fn robots() -> Self {
        let points = [1, 2, 4, 8, 16].map(|count| {
            let long_s = run_s(count, LONG_S) - run_s(count, SHORT_S);
            (count as f64, long_s * 1e6 / (1e3 * f64::from(LONG_S - SHORT_S)))
        });
        Self { name: "robots in one daemon", points: points.into() }
    }

    pub(crate) fn line(&self) -> Line {
        Line::fit(&self.points)
    }

    pub(crate) fn print(&self) {
        let line = self.line();
        println!("\n| {} | µs a tick of all | µs each | off the line |", self.name);
        println!("| ---: | ---: | ---: | ---: |");
        for &(count, us) in &self.points {
            let off = 100.0 * line.off(count, us);
            println!("| {count} | {us:.1} | {:.2} | {off:+.1} % |", us / count);
        }
        println!("\n{:.1} µs + {:.2} µs each", line.start, line.slope);
    }

    pub(crate) fn check_growth(&self) {
        let [.., (few, of_few), (many, of_many)] = self.points[..] else { return };
        let growth = of_many / of_few / (many / few);
        assert!(growth <= GROWTH_MAX, "{}: {growth:.2} × proportional growth", self.name);
    }
}

fn tick(plant: &mut Simulation) {
    plant.step(&TickInput::new());
}

/// The shortest time that some work takes, µs.
fn least_us(rounds: usize, mut work: impl FnMut()) -> f64 {
    let timed = |_| {
        let begun = Instant::now();
        work();
        begun.elapsed().as_secs_f64() * 1e6
    };
    (0..rounds).map(timed).fold(f64::INFINITY, f64::min)
}

/// Simulated time of the two runs, s.
#[cfg(feature = "zenoh")]
const LONG_S: u32 = 22;
#[cfg(feature = "zenoh")]
const SHORT_S: u32 = 2;

/// Wall time of a daemon with so many robots, 2 m apart, s.
#[cfg(feature = "zenoh")]
fn run_s(count: usize, duration_s: u32) -> f64 {
    let robot = |i: usize| {
        let y_m = 2.0 * i as f64;
        format!("{{name=\"r{i}\", initial={{position_m=[0.0, {y_m:.1}, 0.0]}}}}")
    };
    let robots: Vec<String> = (0..count).map(robot).collect();
    let mut run = std::process::Command::new(env!("CARGO_BIN_EXE_hardstand"));
    run.args(["run", concat!(env!("CARGO_MANIFEST_DIR"), "/config/quadruped.toml")]);
    run.args(["--pace", "free", "--duration", &duration_s.to_string()]);
    run.args(["--set", "ros2.mode=off", "--set", &format!("robots=[{}]", robots.join(", "))]);
    let begun = Instant::now();
    let out = run.output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    begun.elapsed().as_secs_f64()
}
