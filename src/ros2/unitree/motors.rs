//! Reads set-points from commands and fills state messages.

use super::messages::{LowCmd, LowState, MotorCmd};
use crate::config::Motors;
use hardstand_physics::spatial::Quaternion;
use hardstand_protocol::{JointCommand, StateReading};

/// Value of `q` without a position set-point.
pub const POS_STOP: f32 = 2.146e9;
/// Value of `dq` without a velocity set-point.
pub const VEL_STOP: f32 = 16_000.0;

/// Set-points for all joints, in the model's order.
#[must_use]
pub fn set_points(motors: &Motors, m: &LowCmd) -> Vec<JointCommand> {
    let mut commands = vec![JointCommand::default(); motors.joints.len()];
    for (&joint, motor) in motors.joints.iter().zip(&m.motor_cmd) {
        commands[joint] = set_point(motor);
    }
    commands
}

/// Fills the measured values of a message; the other fields stay unchanged.
pub fn fill(motors: &Motors, s: &StateReading, m: &mut LowState) {
    m.tick = (s.time_ns / 1_000_000) as u32;
    let imu = &mut m.imu_state;
    imu.quaternion = s.imu_quat_wxyz.map(|x| x as f32);
    imu.gyroscope = s.imu_angular_velocity_rad_per_s.map(|x| x as f32);
    imu.accelerometer = s.imu_specific_force_m_per_s2.map(|x| x as f32);
    imu.rpy = Quaternion::from_wxyz(s.imu_quat_wxyz).to_rpy().map(|x| x as f32);
    for (&joint, motor) in motors.joints.iter().zip(&mut m.motor_state) {
        let Some(at) = s.joints.get(joint) else { continue };
        motor.mode = 1;
        (motor.q, motor.dq, motor.tau_est) = (at.q as f32, at.dq as f32, at.tau as f32);
    }
    for (leg, &foot) in motors.feet.iter().enumerate() {
        // `as` saturates
        m.foot_force[leg] = s.foot_normal_n.get(foot).map_or(0, |n| n.round() as i16);
    }
    m.foot_force_est = m.foot_force;
}

/// The drive command of a motor. A motor that is off has no effort.
fn set_point(m: &MotorCmd) -> JointCommand {
    if m.mode == 0 {
        return JointCommand::default();
    }
    let mut command = JointCommand { tau_ff: f64::from(m.tau), kp: 0.0, kd: 0.0, q: 0.0, dq: 0.0 };
    if m.q != POS_STOP {
        (command.q, command.kp) = (f64::from(m.q), f64::from(m.kp));
    }
    if m.dq != VEL_STOP {
        (command.dq, command.kd) = (f64::from(m.dq), f64::from(m.kd));
    }
    command
}
