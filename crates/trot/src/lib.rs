//! A controller that walks: it trots with the quadruped of `config/quadruped.toml`, by what a real
//! robot measures ([`Readings`]), and nothing else. [`Trot::step`] has the steps of a tick.
//!
//! Frames: W is the world of the IMU, z up. B is the trunk, x forward, y left. H has the heading of
//! B and is level. `p_BF` is the position of F from B in the axes of B, `p_BF_W` in those of W.
//! Arrays have the order FL, FR, RL, RR; joints hip, thigh, calf. A step does not allocate, cannot
//! fail, and gives the same bits on every machine.
//!
//! ```
//! # use hardstand_trot::{Command, Readings, Trot};
//! let standing = Readings {
//!     time_s: 0.0, foot_contact: [true; 4], imu_quat_wxyz: [1.0, 0.0, 0.0, 0.0],
//!     imu_gyro_rad_per_s: [0.0; 3], imu_acc_m_per_s2: [0.0, 0.0, 9.81], dq_rad_per_s: [0.0; 12],
//!     q_rad: [0.0, 0.8, -1.5, 0.0, 0.8, -1.5, 0.0, 0.8, -1.5, 0.0, 0.8, -1.5],
//! };
//! let ahead = Command { trot: true, vx_m_per_s: 0.4, ..Command::default() };
//! let set_points = Trot::new().step(&standing, &ahead);
//! // At first all feet carry: the joints get torques, without stiffness.
//! assert!(set_points.iter().all(|joint| joint.kp == 0.0 && joint.tau_ff_nm != 0.0));
//! ```
#![allow(non_snake_case, reason = "monogram notation carries frames in capitals")]

mod estimator; // how the base moves
mod forces; // what the base needs, and what each foot gives to it
mod gait; // which feet carry, and where the others go
mod legs; // where the feet are, and how the joints move them
#[cfg(test)]
#[path = "../tests/unit/mod.rs"]
mod unit;

use std::array::from_fn;

const SWING_GAINS: [f64; 2] = [60.0, 1.5]; // N·m/rad, N·m·s/rad
const STANCE_GAINS: [f64; 2] = [0.0, 1.0];
const DQ_MAX_RAD_PER_S: f64 = 20.0;

/// The joints, in the order of [`Readings`] and of the set-points.
#[rustfmt::skip]
pub const JOINTS: [&str; 12] = [
    "FL_hip_joint", "FL_thigh_joint", "FL_calf_joint", "FR_hip_joint", "FR_thigh_joint",
    "FR_calf_joint", "RL_hip_joint", "RL_thigh_joint", "RL_calf_joint", "RR_hip_joint",
    "RR_thigh_joint", "RR_calf_joint",
];

/// What the sensors of the robot measure in one tick: the orientation of B in W, the angular
/// velocity and the specific force in B (+9.81 on z at rest), the joints, and which feet touch.
#[allow(missing_docs, reason = "the names have the quantities and units, the text has the frames")]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Readings {
    pub time_s: f64,
    pub imu_quat_wxyz: [f64; 4],
    pub imu_gyro_rad_per_s: [f64; 3],
    pub imu_acc_m_per_s2: [f64; 3],
    pub q_rad: [f64; 12],
    pub dq_rad_per_s: [f64; 12],
    pub foot_contact: [bool; 4],
}

/// What the robot is to do: trot forward, to the left, and turn to the left with these velocities
/// in H, or stand, which is the default.
#[allow(missing_docs, reason = "as above")]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Command {
    pub trot: bool,
    pub vx_m_per_s: f64,
    pub vy_m_per_s: f64,
    pub wz_rad_per_s: f64,
}

/// The command at this time, of a schedule of commands that hold from their times (s, rising) on.
pub fn commanded(schedule: &[(f64, Command)], time_s: f64) -> Command {
    schedule.iter().rfind(|(start_s, _)| *start_s <= time_s).map_or_else(Command::default, |c| c.1)
}

/// What a drive is to do: its torque is kp (q - q measured) + kd (dq - dq measured) + tau_ff, with
/// kp in N·m/rad and kd in N·m·s/rad.
#[allow(missing_docs, reason = "as above")]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SetPoint {
    pub q_rad: f64,
    pub dq_rad_per_s: f64,
    pub kp: f64,
    pub kd: f64,
    pub tau_ff_nm: f64,
}

/// The controller: readings and a command in, set-points out, once for each tick.
#[derive(Debug, Clone, Default)]
pub struct Trot {
    time_s: Option<f64>,
    estimator: estimator::Estimator,
    gait: gait::Gait,
    goal: forces::Goal,
    distribution: forces::Distribution,
}

impl Trot {
    /// A controller for a robot that stands.
    pub fn new() -> Self {
        Self::default()
    }

    /// One tick: set-points in the order of [`JOINTS`].
    pub fn step(&mut self, r: &Readings, command: &Command) -> [SetPoint; 12] {
        let dt_s = self.time_s.replace(r.time_s).map_or(0.001, |t| (r.time_s - t).clamp(0.0, 0.02));
        self.gait.advance(command.trot, dt_s);
        let shares = self.gait.shares(r.foot_contact, dt_s);
        let carrying = shares.map(|share| share > 0.0);
        let legs = self.estimator.update(r, carrying, dt_s);
        let (e, goal) = (&self.estimator, &mut self.goal);
        let wrench = goal.wrench(command, e, self.gait.trotting, dt_s);
        let forces = self.distribution.solve(&e.p_GC_W, &wrench, shares);
        let set_points: [[_; 3]; 4] = from_fn(|i| {
            let (leg, foot) = (&legs[i], &mut self.gait.feet[i]);
            let v_WF = foot.aim(i, e, goal, dt_s);
            // P is what moves. A foot that carries moves with the goal of the base.
            let (p_BP_W, v_BP_W, [kp, kd]) = if carrying[i] {
                foot.p_WF = e.p_WF[i];
                (e.p_BC_W[i], -goal.v_WB - goal.w_WB.cross(&e.p_BC_W[i]), STANCE_GAINS)
            } else {
                (leg.p_BF_W, v_WF - e.v_WB - e.w_WB.cross(&leg.p_BF_W), SWING_GAINS)
            };
            let q = legs::inverse_kinematics(i, &e.R_WB.tr_mul(&(foot.p_WF - e.p_WB)));
            let jacobian = leg.jacobian(&p_BP_W);
            let dq = jacobian.try_inverse().unwrap_or_default() * v_BP_W; // a straight leg rests
            let dq = dq.map(|dq| dq.clamp(-DQ_MAX_RAD_PER_S, DQ_MAX_RAD_PER_S));
            let tau = leg.weight_torques(&e.g_W) - jacobian.tr_mul(&forces[i]);
            from_fn(|j| SetPoint { q_rad: q[j], dq_rad_per_s: dq[j], kp, kd, tau_ff_nm: tau[j] })
        });
        from_fn(|joint| set_points[joint / 3][joint % 3])
    }

    /// Estimated velocity of the base, forward and to the left.
    pub fn velocity_m_per_s(&self) -> [f64; 2] {
        self.estimator.R_WH.tr_mul(&self.estimator.v_WB.xy()).into()
    }

    /// Estimated height of the base above the ground under it.
    pub fn height_m(&self) -> f64 {
        self.estimator.height_m
    }

    /// Yaw of the base in W, -π to π, to the left.
    pub fn yaw_rad(&self) -> f64 {
        self.estimator.yaw_rad
    }
}
