//! Cost of a micro-step.

use std::time::Instant;

use crate::scenes::{KINDS, Result, Robot, quadruped};

/// Medians and 90th percentiles per micro-step, µs: `[kind][0: four feet, 1: all stations]`.
pub(crate) type Costs = [[[f64; 2]; 2]; 3];

const ROUNDS: usize = 5_000;

/// Times ticks of ten micro-steps of a standing robot, all variants in turn, so that all meet the
/// same load.
pub(crate) fn measure() -> Result<Costs> {
    let mut robots = Vec::new();
    for kind in &KINDS {
        for all in [false, true] {
            let mut scenario = quadruped(kind, &[])?;
            if !all {
                scenario.spec.stations.truncate(scenario.spec.feet.len());
            }
            let mut robot = Robot::new(&scenario);
            for _ in 0..2_000 {
                robot.step();
            }
            robots.push((robot, Vec::with_capacity(ROUNDS)));
        }
    }
    for _ in 0..ROUNDS {
        for (robot, times_us) in &mut robots {
            let before = Instant::now();
            robot.step();
            let steps = f64::from(robot.simulation.spec().micro_steps);
            times_us.push(before.elapsed().as_secs_f64() * 1e6 / steps);
        }
    }
    let mut out = Costs::default();
    for (i, (_, times_us)) in robots.iter_mut().enumerate() {
        times_us.sort_by(f64::total_cmp);
        out[i / 2][i % 2] = [times_us[ROUNDS / 2], times_us[ROUNDS * 9 / 10]];
    }
    Ok(out)
}

/// Processor and load average, as the system reports them.
pub(crate) fn machine() -> String {
    let read = |path| std::fs::read_to_string(path).unwrap_or_default();
    let info = read("/proc/cpuinfo");
    let name = info.lines().find_map(|l| l.strip_prefix("model name")).unwrap_or("unknown");
    let cores = info.lines().filter(|l| l.starts_with("processor")).count();
    let load = read("/proc/loadavg");
    let load = load.split(' ').next().unwrap_or("unknown");
    format!("{}, {cores} cores, load average {load}", name.trim_start_matches(['\t', ' ', ':']))
}
