//! Reads set-points from commands and fills state messages.
#![allow(non_snake_case, reason = "monogram notation, see spatial")]

use super::arms::Arms;
use super::hg::{HgImuState, HgLowCmd, HgLowState, HgMotorCmd};
use super::messages::{ImuState, LowCmd, LowState, MotorCmd};
use super::sport::{SportModeState, TimeSpec, WirelessController};
use crate::config::{HgMotors, Motors};
use crate::ros2::messages::Time;
use crate::ros2::time;
use hardstand_physics::spatial::{Quaternion, Vec3};
use hardstand_protocol::{JointCommand, StateReading};

/// Value of `q` without a position set-point.
pub const POS_STOP: f32 = 2.146e9;
/// Value of `dq` without a velocity set-point.
pub const VEL_STOP: f32 = 16_000.0;
/// `mode_pr` of commands for the parallel motors A and B.
pub const MODE_AB: u8 = 1;

/// Set-points for all joints, in the model's order.
#[must_use]
pub fn set_points(motors: &Motors, m: &LowCmd) -> Vec<JointCommand> {
    let mut commands = vec![JointCommand::default(); motors.joints.len()];
    for (&joint, motor) in motors.joints.iter().zip(&m.motor_cmd) {
        commands[joint] = set_point(motor);
    }
    commands
}

/// The same for a humanoid. In the mode A, B, the joints that parallel motors move keep `before`,
/// the set-points of the last command by pitch and roll: the rods are not modelled.
#[must_use]
pub fn hg_set_points(
    motors: &HgMotors,
    m: &HgLowCmd,
    before: &[JointCommand],
) -> Vec<JointCommand> {
    let mut commands = vec![JointCommand::default(); motors.joints.len()];
    for (place, (&joint, motor)) in motors.joints.iter().zip(&m.motor_cmd).enumerate() {
        let kept = m.mode_pr == MODE_AB && motors.kind.parallel.contains(&place);
        let old = before.get(joint).filter(|_| kept);
        commands[joint] = old.copied().unwrap_or_else(|| hg_set_point(motor));
    }
    commands
}

/// What `arm_sdk` asks for, whose motors have no mode; `None` for a kind without it, or if the
/// weight is not a number. A weight beyond 0 or 1 is that.
#[must_use]
pub fn arms(motors: &HgMotors, m: &HgLowCmd) -> Option<Arms> {
    let (places, weight) = motors.kind.arms.as_ref()?;
    let weight = f64::from(m.motor_cmd.get(*weight)?.q);
    let of = |place: usize| {
        let (joint, motor) = (motors.joints.get(place)?, m.motor_cmd.get(place)?);
        let on = HgMotorCmd { mode: 1, ..motor.clone() };
        Some((*joint, hg_set_point(&on)))
    };
    let joints = places.clone().filter_map(of).collect();
    (!weight.is_nan()).then_some(Arms { joints, weight: weight.clamp(0.0, 1.0) })
}

/// Fills the measured values of a message; the other fields stay unchanged.
pub fn fill(motors: &Motors, s: &StateReading, m: &mut LowState) {
    m.tick = (s.time_ns / 1_000_000) as u32;
    fill_imu(s, &mut m.imu_state);
    for (&joint, motor) in motors.joints.iter().zip(&mut m.motor_state) {
        let Some(at) = s.joints.get(joint) else { continue };
        motor.mode = 1;
        (motor.q, motor.dq, motor.tau_est) = (at.q as f32, at.dq as f32, at.tau as f32);
    }
    m.foot_force = foot_forces(motors, s);
    m.foot_force_est = m.foot_force;
}

/// The same for a humanoid.
pub fn fill_hg(motors: &HgMotors, s: &StateReading, m: &mut HgLowState) {
    m.tick = (s.time_ns / 1_000_000) as u32;
    let (w, f) = (s.imu_angular_velocity_rad_per_s, s.imu_specific_force_m_per_s2);
    m.imu_state = hg_imu(Quaternion::from_wxyz(s.imu_quat_wxyz), w, f);
    for (&joint, motor) in motors.joints.iter().zip(&mut m.motor_state) {
        let Some(at) = s.joints.get(joint) else { continue };
        motor.mode = 1;
        (motor.q, motor.dq, motor.tau_est) = (at.q as f32, at.dq as f32, at.tau as f32);
    }
}

/// The message of a unit with this orientation, angular velocity, rad/s, and specific force, m/s².
#[must_use]
pub fn hg_imu(quat_WI: Quaternion, w_I: [f64; 3], f_I: [f64; 3]) -> HgImuState {
    HgImuState {
        quaternion: quat_WI.wxyz().map(|x| x as f32),
        gyroscope: w_I.map(|x| x as f32),
        accelerometer: f_I.map(|x| x as f32),
        rpy: quat_WI.to_rpy().map(|x| x as f32),
        temperature: 0,
    }
}

/// Fills the state of the body with ground truth: no estimator runs here. The feet are a
/// quadruped's.
pub fn fill_sport(motors: Option<&Motors>, s: &StateReading, m: &mut SportModeState) {
    let Time { sec, nanosec } = time(s.time_ns);
    m.stamp = TimeSpec { sec, nanosec };
    fill_imu(s, &mut m.imu_state);
    m.position = s.truth_base_position_m.map(|x| x as f32);
    m.body_height = m.position[2];
    let R_WB = Quaternion::from_wxyz(s.truth_base_quat_wxyz).to_matrix();
    let v_B = R_WB.transpose() * Vec3::from(s.truth_base_velocity_m_per_s);
    m.velocity = <[f64; 3]>::from(v_B).map(|x| x as f32);
    m.yaw_speed = s.imu_angular_velocity_rad_per_s[2] as f32;
    m.foot_force = motors.map_or([0; 4], |motors| foot_forces(motors, s));
}

/// The sticks that ask for the velocity command that holds, 1 m/s and 1 rad/s at their ends: left
/// stick forward and sideways, right stick to turn.
#[must_use]
pub fn sticks(s: &StateReading) -> WirelessController {
    let [vx, vy, wz] = s.velocity_command.values().map(|x| (x as f32).clamp(-1.0, 1.0));
    WirelessController { ly: vx, lx: -vy, rx: -wz, ry: 0.0, keys: 0 }
}

/// The bytes of the remote control in a state. Source: `xRockerBtnDataStruct` of unitree_sdk2.
#[must_use]
pub fn remote_bytes(remote: &WirelessController) -> [u8; 40] {
    let mut bytes = [0; 40];
    bytes[2..4].copy_from_slice(&remote.keys.to_le_bytes());
    let sticks = [(4, remote.lx), (8, remote.rx), (12, remote.ry), (20, remote.ly)];
    for (at, value) in sticks {
        bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }
    bytes
}

fn fill_imu(s: &StateReading, imu: &mut ImuState) {
    imu.quaternion = s.imu_quat_wxyz.map(|x| x as f32);
    imu.gyroscope = s.imu_angular_velocity_rad_per_s.map(|x| x as f32);
    imu.accelerometer = s.imu_specific_force_m_per_s2.map(|x| x as f32);
    imu.rpy = Quaternion::from_wxyz(s.imu_quat_wxyz).to_rpy().map(|x| x as f32);
}

fn foot_forces(motors: &Motors, s: &StateReading) -> [i16; 4] {
    // `as` saturates
    motors.feet.map(|foot| s.foot_normal_n.get(foot).map_or(0, |n| n.round() as i16))
}

fn set_point(m: &MotorCmd) -> JointCommand {
    drive_command(m.mode, [m.q, m.dq, m.tau, m.kp, m.kd])
}

fn hg_set_point(m: &HgMotorCmd) -> JointCommand {
    drive_command(m.mode, [m.q, m.dq, m.tau, m.kp, m.kd])
}

/// The drive command of a motor. A motor that is off has no effort.
fn drive_command(mode: u8, [q, dq, tau, kp, kd]: [f32; 5]) -> JointCommand {
    if mode == 0 {
        return JointCommand::default();
    }
    let mut command = JointCommand { tau_ff: f64::from(tau), kp: 0.0, kd: 0.0, q: 0.0, dq: 0.0 };
    if q != POS_STOP {
        (command.q, command.kp) = (f64::from(q), f64::from(kp));
    }
    if dq != VEL_STOP {
        (command.dq, command.kd) = (f64::from(dq), f64::from(kd));
    }
    command
}
