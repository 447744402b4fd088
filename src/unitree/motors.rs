//! Which joint is which motor.

use super::messages::{LowCmd, LowState, MotorCmd};
use super::{LEGS, MOTORS};
use crate::model::Model;
use crate::plant::{JointCommand, PlantSpec, StateReading};
use crate::spatial::Quaternion;

/// As `q`: no position is asked for.
pub const POS_STOP: f32 = 2.146e9;
/// As `dq`: no velocity is asked for.
pub const VEL_STOP: f32 = 16_000.0;

/// Joints and feet in the order of the messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Motors {
    joints: [usize; MOTORS],
    feet: [usize; LEGS.len()],
}

impl Motors {
    /// Those of a robot whose feet are called as the legs are, or begin with it and `_`, and have
    /// three joints each above them; it has no other joints. `None` for all others.
    #[must_use]
    pub fn of(model: &Model, spec: &PlantSpec) -> Option<Self> {
        let mut all = Self { joints: [0; MOTORS], feet: [0; LEGS.len()] };
        for (leg, name) in LEGS.iter().enumerate() {
            let is_it = |foot: &str| {
                foot.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
            };
            let foot = spec.feet.iter().position(|f| is_it(&f.name))?;
            all.feet[leg] = foot;
            let mut body = spec.feet[foot].body;
            for joint in all.joints[3 * leg..3 * leg + 3].iter_mut().rev() {
                // body 0 is the base; the joint of every other one has the number before it
                *joint = body.checked_sub(1)?;
                body = model.bodies[body].parent;
            }
            if body != 0 {
                return None;
            }
        }
        (model.joint_count() == MOTORS).then_some(all)
    }

    /// Set-points for all joints, in the model's order.
    #[must_use]
    pub fn commands(&self, m: &LowCmd) -> Vec<JointCommand> {
        let mut commands = vec![JointCommand::default(); MOTORS];
        for (&joint, motor) in self.joints.iter().zip(&m.motor_cmd) {
            commands[joint] = set_point(motor);
        }
        commands
    }

    /// Fills a message with what can be measured; the rest stays as it is.
    pub fn fill(&self, s: &StateReading, m: &mut LowState) {
        m.tick = (s.time_ns / 1_000_000) as u32;
        let imu = &mut m.imu_state;
        imu.quaternion = s.imu_quat_wxyz.map(|x| x as f32);
        imu.gyroscope = s.imu_angular_velocity_rad_per_s.map(|x| x as f32);
        imu.accelerometer = s.imu_specific_force_m_per_s2.map(|x| x as f32);
        imu.rpy = Quaternion::from_wxyz(s.imu_quat_wxyz).to_rpy().map(|x| x as f32);
        for (&joint, motor) in self.joints.iter().zip(&mut m.motor_state) {
            let Some(at) = s.joints.get(joint) else { continue };
            motor.mode = 1;
            (motor.q, motor.dq, motor.tau_est) = (at.q as f32, at.dq as f32, at.tau as f32);
        }
        for (leg, &foot) in self.feet.iter().enumerate() {
            // `as` saturates
            m.foot_force[leg] = s.foot_normal_n.get(foot).map_or(0, |n| n.round() as i16);
        }
        m.foot_force_est = m.foot_force;
    }
}

/// What a motor's command asks of the drive. One that is off gives no effort.
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
