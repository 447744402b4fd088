//! Whether a robot stands in a proposed scenario.

use std::path::Path;

use toml::Table;

use crate::config::Scenario;
use crate::mjcf::Converted;
use crate::simulation::Solo;
use hardstand_error::Result;
use hardstand_physics::dynamics::Positions;
use hardstand_physics::math;
use hardstand_physics::spatial::Vec3;
use hardstand_protocol::{HoldGains, JointCommand};

/// Simulated time of the check, s.
const CHECKED_S: f64 = 10.0;
/// Tilt of a robot that has fallen, rad, and the share of its height that it may lose.
const TILT_MAX_RAD: f64 = 0.35;
const SINK_MAX: f64 = 0.25;
/// Speed of the base at the end, m/s: faster is falling or shaking.
const SPEED_MAX_M_PER_S: f64 = 0.05;
/// Share of the weight that feet carry at the end: with less, the robot lies on something else.
const CARRIED_MIN: f64 = 0.5;

/// Reads proposed scenarios of a robot as the daemon will.
pub(super) struct Reader<'a> {
    robot: &'a Converted,
    /// Its meshes lie here.
    pub(super) folder: &'a Path,
    /// Those that have been read.
    hulls: Table,
}

impl<'a> Reader<'a> {
    pub(super) fn new(robot: &'a Converted, folder: &'a Path) -> Self {
        Self { robot, folder, hulls: Table::new() }
    }

    /// # Errors
    /// As [`Scenario::of_robot`].
    pub(super) fn read(&mut self, toml: &str) -> Result<Scenario> {
        Scenario::of_robot(toml, self.robot, self.folder, &mut self.hulls)
    }
}

/// Holds the initial posture with these gains, and looks whether the robot stays where it was, on
/// its feet.
///
/// # Errors
/// As [`Reader::read`].
pub(super) fn stands(toml: &str, reader: &mut Reader<'_>, gains: &[HoldGains]) -> Result<bool> {
    let scenario = reader.read(toml)?;
    let mut solo = Solo::new(scenario.simulation(), Vec::new(), "stand");
    let start = solo.simulation.state().q.clone();
    let targets = start.joints.iter().zip(gains);
    let commands: Vec<JointCommand> = targets
        .map(|(&q, g)| JointCommand { q, kp: g.kp, kd: g.kd, ..JointCommand::default() })
        .collect();
    solo.set_points().clone_from_slice(&commands);
    let ticks = (CHECKED_S * 1e9 / scenario.spec.period_ns as f64) as u64;
    for _ in 0..ticks {
        let failed = solo.step().failure.is_some() || solo.simulation.failure().is_some();
        if failed || has_fallen(&start, &solo.simulation.state().q) {
            return Ok(false);
        }
    }
    let weight_n = solo.simulation.model().total_mass() * scenario.spec.gravity_W.norm();
    let carried = solo.state().foot_normal_sum_n() >= CARRIED_MIN * weight_n;
    Ok(carried && solo.simulation.state().v.v_WB.norm() < SPEED_MAX_M_PER_S)
}

fn has_fallen(start: &Positions, q: &Positions) -> bool {
    // the base may lie on its side at the start, so what was up there counts
    let up_B = start.quat_WB.to_matrix().tr_mul(&Vec3::z());
    let upright = (q.quat_WB.to_matrix() * up_B).z > math::sin_cos(TILT_MAX_RAD).1;
    let sunk_m = start.p_WB.z - q.p_WB.z;
    !upright || sunk_m > SINK_MAX * start.p_WB.z.abs().max(0.05)
}
