//! A minute on a slope of 10°.

use hardstand_physics::spatial::Vec3;

use crate::plot::Points;
use crate::scenes::{Chatter, Kind, Result, Robot, every_step, quadruped};

/// The legs swing out first, and round feet roll meanwhile, s.
const SETTLE_S: u64 = 12;
const HOLD_S: u64 = 60;
/// Less than this is shown as this, m.
pub(crate) const LEAST_M: f64 = 1e-14;

/// What the feet do in that minute.
pub(crate) struct Way {
    /// Mean way down the slope as log₁₀ of metres, over time, s.
    pub(crate) log_m: Points,
    /// The way at the end, m.
    pub(crate) m: f64,
    /// Largest change of a foot's friction between micro-steps in the last half second, N.
    pub(crate) chatter_n: f64,
}

/// Stands on the slope in micro-steps of `h_ns`.
pub(crate) fn run(kind: &Kind, h_ns: u64) -> Result<Way> {
    // 10° in rad; x points down the slope
    let tilt = "[0.0, 0.17453292519943295, 0.0]";
    let sets = [format!("planes.0.rpy_rad={tilt}"), format!("initial.rpy_rad={tilt}")];
    let mut scenario = quadruped(kind, &[&sets[0], &sets[1]])?;
    every_step(&mut scenario.spec, h_ns);
    let down_W = scenario.spec.ground[0].X_WS.R * Vec3::x();
    let mut robot = Robot::new(&scenario);
    let per_s = 1_000_000_000 / h_ns;
    for _ in 0..SETTLE_S * per_s {
        sound(robot.step())?;
    }
    let start_m = place_m(&robot, &down_W);
    let mut out = Way { log_m: Points::new(), m: 0.0, chatter_n: 0.0 };
    let mut chatter = Chatter::new(&robot);
    for step in 1..=HOLD_S * per_s {
        sound(robot.step())?;
        let change_n = chatter.change_n(&robot);
        if step > HOLD_S * per_s - per_s / 2 {
            out.chatter_n = out.chatter_n.max(change_n);
        }
        if step % (per_s / 20) == 0 {
            out.m = place_m(&robot, &down_W) - start_m;
            out.log_m.push((step as f64 / per_s as f64, out.m.abs().max(LEAST_M).log10()));
        }
    }
    Ok(out)
}

/// Mean place of the feet's centres along a direction, m.
fn place_m(robot: &Robot, along_W: &Vec3) -> f64 {
    let (simulation, spec) = (&robot.simulation, robot.simulation.spec());
    let place = |s: &usize| {
        let station = &spec.stations[*s];
        simulation.data().point_W(station.body, &station.p_BS).dot(along_W)
    };
    let stations = spec.feet.iter().flat_map(|f| &f.stations);
    stations.clone().map(place).sum::<f64>() / stations.count() as f64
}

fn sound(sound: bool) -> Result<()> {
    if sound { Ok(()) } else { Err("the robot on the slope has stopped itself".into()) }
}
