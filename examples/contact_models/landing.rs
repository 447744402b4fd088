//! Drop from 0.1 m, standing, a push from the side, standing again; and the longest micro-step with
//! which this works.

use hardstand::config::Scenario;
use hardstand_physics::spatial::Vec3;

use crate::plot::Points;
use crate::scenes::{Chatter, Kind, Result, Robot, every_step, quadruped};

/// When the push begins, and when the scene ends, s.
pub(crate) const PUSH_S: f64 = 2.0;
const END_S: f64 = 5.0;
/// Time after which the feet should be quiet, s.
const QUIET_S: f64 = 4.5;
const PUSH_LENGTH_S: f64 = 0.15;
/// Duration of the landing after the first touch, s.
const LANDING_S: f64 = 0.1;
/// Force above which a foot counts as touching, N.
const TOUCHED_N: f64 = 1.0;

/// Measurements of one run.
#[derive(Default)]
pub(crate) struct Run {
    /// The first foot's vertical force, N, over time, s.
    pub(crate) force: Points,
    /// Height of the base, m.
    pub(crate) height: Points,
    /// Depth of the first foot's contact point, mm; negative above the plane.
    pub(crate) depth: Points,
    /// When the first foot touches, s.
    pub(crate) touch_s: f64,
    /// Mean vertical force on the robot over the landing, N.
    pub(crate) mean_n: f64,
    /// Largest vertical force on one foot, N.
    pub(crate) peak_n: f64,
    /// Deepest point of any foot, mm.
    pub(crate) deepest_mm: f64,
    /// The first foot's force (N) and depth (mm) before the push.
    pub(crate) standing: [f64; 2],
    /// Distance of the robot from its place before the push, at the end, mm.
    pub(crate) shift_mm: f64,
    /// Largest rise of the energy above its minimum so far, J, without the push.
    pub(crate) rise_j: f64,
    /// Largest change of a standing foot's friction from one micro-step to the next, N.
    pub(crate) chatter_n: f64,
    /// Height, tilt and speed of the base are good at the end.
    pub(crate) stands: bool,
    /// The plant did not fail.
    pub(crate) sound: bool,
}

pub(crate) fn run(kind: &Kind, h_ns: u64) -> Result<Run> {
    let mut scenario = quadruped(kind, &["initial.clearance_m=0.1"])?;
    every_step(&mut scenario.spec, h_ns);
    let rest_m = scenario.spec.q.p_WB.z - 0.1;
    let mut robot = Robot::new(&scenario);
    let mut out = Run { touch_s: f64::NAN, deepest_mm: f64::MIN, sound: true, ..Run::default() };
    let mut least_j = f64::MAX;
    let (mut impulse_n_s, mut pushed_at) = (0.0, None);
    let mut chatter = Chatter::new(&robot);
    for _ in 0..(END_S * 1e9) as u64 / h_ns {
        if pushed_at.is_none() && robot.time_s() >= PUSH_S - 1e-9 {
            robot.push();
            pushed_at = Some(robot.simulation.state().q.p_WB);
            if let (Some(f), Some(d)) = (out.force.last(), out.depth.last()) {
                out.standing = [f.1, d.1];
            }
        }
        out.sound = robot.step();
        if !out.sound {
            return Ok(out);
        }
        let t = robot.time_s();
        impulse_n_s += out.look(&robot, t) * h_ns as f64 / 1e9;
        let change_n = chatter.change_n(&robot);
        if t > QUIET_S {
            out.chatter_n = out.chatter_n.max(change_n);
        }
        let pushing = t >= PUSH_S - 1e-9 && t <= PUSH_S + PUSH_LENGTH_S + 2e-9 * h_ns as f64;
        least_j = if pushing { f64::MAX } else { least_j.min(robot.energy_j()) };
        if !pushing {
            out.rise_j = out.rise_j.max(robot.energy_j() - least_j);
        }
    }
    out.mean_n = impulse_n_s / LANDING_S;
    let (q, v) = (&robot.simulation.state().q, &robot.simulation.state().v);
    out.shift_mm = pushed_at.map_or(f64::NAN, |p: Vec3| 1e3 * (q.p_WB.y - p.y));
    let upright = q.quat_WB.to_matrix()[(2, 2)] > 0.999;
    out.stands = upright && (q.p_WB.z - rest_m).abs() < 0.03 && v.v_WB.norm() < 0.02;
    Ok(out)
}

impl Run {
    /// Records the robot at `t`; returns the vertical force on it while it lands, N.
    fn look(&mut self, robot: &Robot, t: f64) -> f64 {
        let mut total_n = 0.0;
        for (i, foot) in robot.feet().enumerate() {
            let (force_n, depth_mm) = (foot.record_W().force.z, -1e3 * foot.touch.p_C.z);
            total_n += force_n;
            self.peak_n = self.peak_n.max(force_n);
            self.deepest_mm = self.deepest_mm.max(depth_mm);
            if i == 0 {
                self.force.push((t, force_n));
                self.depth.push((t, depth_mm));
            }
        }
        self.height.push((t, robot.simulation.state().q.p_WB.z));
        if self.touch_s.is_nan() && total_n > TOUCHED_N {
            self.touch_s = t;
        }
        if t - self.touch_s < LANDING_S { total_n } else { 0.0 }
    }
}

/// Micro-steps to test, µs.
pub(crate) const STEPS_US: [u64; 11] =
    [25, 50, 100, 125, 250, 500, 1_000, 2_000, 5_000, 8_000, 10_000];

/// A rise of the energy by less than this share of what the fall sets free is rounding of the
/// method.
const RISE_MAX: f64 = 0.01;

/// Result of one run with a long micro-step.
pub(crate) struct Trial {
    pub(crate) h_us: u64,
    pub(crate) rise_j: f64,
    pub(crate) chatter_n: f64,
    pub(crate) stands: bool,
    pub(crate) sound: bool,
    pub(crate) good: bool,
}

/// The scene with every micro-step of [`STEPS_US`].
pub(crate) fn trials(kind: &Kind) -> Result<Vec<Trial>> {
    let allowed_j = RISE_MAX * quadruped(kind, &[])?.model.total_mass() * 9.81 * 0.1;
    let trial = |&h_us: &u64| {
        let r = run(kind, h_us * 1_000)?;
        let good = r.sound && r.stands && r.rise_j < allowed_j;
        let Run { rise_j, chatter_n, stands, sound, .. } = r;
        Ok(Trial { h_us, rise_j, chatter_n, stands, sound, good })
    };
    STEPS_US.iter().map(trial).collect()
}

/// Friction that changes by less from step to step is quiet, N.
const QUIET_N: f64 = 0.1;

/// The longest micro-step up to which all runs are good, µs; optionally without chatter.
pub(crate) fn longest_us(trials: &[Trial], quiet: bool) -> u64 {
    let good = |t: &&Trial| t.good && (!quiet || t.chatter_n < QUIET_N);
    trials.iter().take_while(good).last().map_or(0, |t| t.h_us)
}

/// The longest micro-step for the drives alone: no gravity, no ground, 1 rad/s in all joints.
pub(crate) fn drives_us(kind: &Kind) -> Result<u64> {
    let mut longest = 0;
    for h_us in STEPS_US {
        let mut scenario: Scenario = quadruped(kind, &[])?;
        let spec = &mut scenario.spec;
        every_step(spec, h_us * 1_000);
        spec.gravity_W = Vec3::zeros();
        spec.stations.clear();
        spec.feet.clear();
        spec.v.joints.fill(1.0);
        let mut robot = Robot::new(&scenario);
        let start_j = robot.energy_j();
        let mut sound = true;
        for _ in 0..2_000_000 / h_us {
            sound = sound && robot.step();
        }
        if !sound || robot.energy_j() > start_j {
            break;
        }
        longest = h_us;
    }
    Ok(longest)
}
