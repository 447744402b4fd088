//! Cost of a tick of plants that differ in one thing.

use std::time::Instant;

use hardstand_physics::actuator::Reference;
use hardstand_physics::plant::{OwnerWords, Plant, PlantSpec};

#[path = "../../tests/it/common/robots.rs"]
#[allow(unreachable_pub)]
mod robots;

const TICKS: u32 = 500;
const ROUNDS: usize = 40;

struct Case {
    name: &'static str,
    plant: Plant,
    least_us: f64,
}

impl Case {
    /// A walker with twelve joints and four feet that has come to rest.
    fn new<T>(name: &'static str, part: T, put: impl Fn(&mut PlantSpec, T)) -> Self {
        let (model, mut spec) = robots::walker();
        spec.micro_steps = 10;
        put(&mut spec, part);
        let mut case = Self { name, plant: Plant::new(model, spec), least_us: f64::INFINITY };
        case.run(1000);
        case
    }

    fn run(&mut self, ticks: u32) {
        let hold = Reference { kp: 80.0, kd: 2.0, ..Reference::default() };
        for _ in 0..ticks {
            assert_eq!(self.plant.step(&[hold; 12], &OwnerWords::default()), None);
        }
    }
}

/// Prints what a tick of 1 ms with ten micro-steps takes with each of `parts`: the least of
/// `ROUNDS` means over `TICKS` ticks; cases are measured in turn. The first argument, if there is
/// one, names the only case. With `--test`, each runs once, without figures.
pub(crate) fn compare<T, const N: usize>(
    what: &str,
    parts: [(&'static str, T); N],
    put: impl Fn(&mut PlantSpec, T),
) {
    let is_test = std::env::args().any(|a| a == "--test");
    let only = std::env::args().skip(1).find(|a| !a.starts_with("--"));
    let wanted = |name: &str| only.as_ref().is_none_or(|only| only == name);
    let chosen = parts.into_iter().filter(|(name, _)| wanted(name));
    let mut cases: Vec<Case> = chosen.map(|(name, part)| Case::new(name, part, &put)).collect();
    for _ in 0..if is_test { 1 } else { ROUNDS } {
        for case in &mut cases {
            let begin = Instant::now();
            case.run(TICKS);
            let us = begin.elapsed().as_secs_f64() * 1e6 / f64::from(TICKS);
            case.least_us = case.least_us.min(us);
        }
    }
    if is_test {
        return;
    }
    println!("{what:<20} {:>10} {:>10}", "µs a tick", "more");
    let first_us = cases.first().map_or(0.0, |case| case.least_us);
    for case in &cases {
        let more_us = case.least_us - first_us;
        println!("{:<20} {:>10.2} {:>10.2}", case.name, case.least_us, more_us);
    }
}
