//! The messages of walk-these-ways (and programs made from it), and those of the MIT Mini Cheetah.
//! Motors are in Unitree's order: legs FR, FL, RR, RL, each with hip, thigh and calf.

#![allow(non_snake_case, reason = "monogram notation, see spatial")]

use crate::config::{LcmTypes, Motors};
use hardstand_physics::spatial::{Quaternion, Vec3};
use hardstand_protocol::{JointCommand, StateReading};

use super::record::{Kind, Member, decode, encode};

use Kind::{Double, Float, Long, Short};

const LEGS: [Member; 5] = [
    ("q", Float, 12),
    ("qd", Float, 12),
    ("p", Float, 12),
    ("v", Float, 12),
    ("tau_est", Float, 12),
];
const BODY: [Member; 7] = [
    ("p", Float, 3),
    ("vWorld", Float, 3),
    ("vBody", Float, 3),
    ("rpy", Float, 3),
    ("omegaBody", Float, 3),
    ("omegaWorld", Float, 3),
    ("quat", Float, 4),
];
const FEET: [Member; 3] =
    [("contact_estimate", Float, 4), ("aBody", Float, 3), ("aWorld", Float, 3)];
const STAMP: [Member; 3] = [("timestamp_us", Long, 0), ("id", Long, 0), ("robot_id", Long, 0)];
const REMOTE: [Member; 10] = [
    ("mode", Short, 0),
    ("left_stick", Float, 2),
    ("right_stick", Float, 2),
    ("knobs", Float, 2),
    ("left_upper_switch", Short, 0),
    ("left_lower_left_switch", Short, 0),
    ("left_lower_right_switch", Short, 0),
    ("right_upper_switch", Short, 0),
    ("right_lower_left_switch", Short, 0),
    ("right_lower_right_switch", Short, 0),
];
const TARGETS: [Member; 5] = [
    ("q_des", Double, 12),
    ("qd_des", Double, 12),
    ("tau_ff", Double, 12),
    ("kp", Double, 12),
    ("kd", Double, 12),
];
/// Some programs add the contacts that their estimator expects.
const EXPECTED_CONTACTS: Member = ("se_contactState", Double, 4);
const LEG_COMMAND: [Member; 10] = [
    ("tau_ff", Float, 12),
    ("f_ff", Float, 12),
    ("q_des", Float, 12),
    ("qd_des", Float, 12),
    ("p_des", Float, 12),
    ("v_des", Float, 12),
    ("kp_cartesian", Float, 12),
    ("kd_cartesian", Float, 12),
    ("kp_joint", Float, 12),
    ("kd_joint", Float, 12),
];

/// Why a message with set-points was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BadTargets {
    /// It is of another structure.
    Structure,
    /// It asks for forces or gains at the feet, which these drives do not have.
    Cartesian,
}

/// A channel and the message for it.
type Message = (&'static str, Vec<u8>);

/// The channel of the set-points.
pub(super) const fn targets_channel(types: LcmTypes) -> &'static str {
    match types {
        LcmTypes::WalkTheseWays => "pd_plustau_targets",
        LcmTypes::MiniCheetah => "leg_control_command",
    }
}

/// The messages for a state. What the robot's own program leaves at 0, is 0.
pub(super) fn of_state(types: LcmTypes, motors: &Motors, s: &StateReading) -> Vec<Message> {
    let joint = |value: fn(&hardstand_protocol::JointReading) -> f64| {
        motors.joints.map(|joint| s.joints.get(joint).map_or(0.0, value))
    };
    let zeros = [0.0; 12];
    let legs = [joint(|j| j.q), joint(|j| j.dq), zeros, zeros, joint(|j| j.tau)].concat();
    let stamp = [(s.time_ns / 1000) as f64, s.tick as f64, 0.0];
    match types {
        LcmTypes::WalkTheseWays => vec![
            message(
                "leg_control_data",
                &[&LEGS[..], &STAMP].concat(),
                &[&legs[..], &stamp].concat(),
            ),
            body_of_sensors(motors, s, &stamp),
            remote(s),
        ],
        LcmTypes::MiniCheetah => {
            vec![message("leg_control_data", &LEGS, &legs), body_of_truth(s)]
        }
    }
}

fn message(channel: &'static str, members: &[Member], values: &[f64]) -> Message {
    let mut bytes = Vec::new();
    encode(members, values, &mut bytes);
    (channel, bytes)
}

/// What the IMU and the feet measure: no estimator runs on this robot.
fn body_of_sensors(motors: &Motors, s: &StateReading, stamp: &[f64; 3]) -> Message {
    let rpy = Quaternion::from_wxyz(s.imu_quat_wxyz).to_rpy();
    let feet = motors.feet.map(|foot| s.foot_normal_n.get(foot).copied().unwrap_or(0.0));
    let unknown = [0.0; 3];
    let values = [
        &unknown[..],
        &unknown,
        &unknown,
        &rpy,
        &s.imu_angular_velocity_rad_per_s,
        &unknown,
        &s.imu_quat_wxyz,
        &feet,
        &s.imu_specific_force_m_per_s2,
        &unknown,
        stamp,
    ];
    message("state_estimator_data", &[&BODY[..], &FEET, &STAMP].concat(), &values.concat())
}

/// What a Mini Cheetah's estimator would know: the truth.
fn body_of_truth(s: &StateReading) -> Message {
    let quat = Quaternion::from_wxyz(s.truth_base_quat_wxyz);
    let R_BW = quat.to_matrix().transpose();
    let in_body = |v: [f64; 3]| <[f64; 3]>::from(R_BW * Vec3::from(v));
    let (v_W, w_W) = (s.truth_base_velocity_m_per_s, s.truth_base_angular_velocity_rad_per_s);
    let values = [
        &s.truth_base_position_m[..],
        &v_W,
        &in_body(v_W),
        &quat.to_rpy(),
        &in_body(w_W),
        &w_W,
        &s.truth_base_quat_wxyz,
    ];
    message("state_estimator", &BODY, &values.concat())
}

/// The sticks that ask for the velocity command that holds, by the scales of walk-these-ways.
fn remote(s: &StateReading) -> Message {
    let [vx, vy, wz] = s.velocity_command.values();
    let mut values = [0.0; 13];
    (values[1], values[2], values[3]) = (vy / 0.6, vx, -wz);
    message("rc_command", &REMOTE, &values)
}

/// The set-points of a message, in the order of the robot's joints.
///
/// # Errors
/// [`BadTargets`]
pub(super) fn targets(
    types: LcmTypes,
    motors: &Motors,
    bytes: &[u8],
) -> Result<Vec<JointCommand>, BadTargets> {
    // first places of q, dq, tau_ff, kp, kd among the values
    let (values, places) = match types {
        LcmTypes::WalkTheseWays => {
            let short = [&TARGETS[..], &STAMP].concat();
            let long = [&short[..], &[EXPECTED_CONTACTS]].concat();
            let values = decode(&short, bytes).or_else(|| decode(&long, bytes));
            (values.ok_or(BadTargets::Structure)?, [0, 12, 24, 36, 48])
        }
        LcmTypes::MiniCheetah => {
            let values = decode(&LEG_COMMAND, bytes).ok_or(BadTargets::Structure)?;
            let cartesian = values[12..24].iter().chain(&values[72..96]);
            if cartesian.into_iter().any(|&value| value != 0.0) {
                return Err(BadTargets::Cartesian);
            }
            (values, [24, 36, 0, 96, 108])
        }
    };
    let mut commands = vec![JointCommand::default(); motors.joints.len()];
    for (motor, &joint) in motors.joints.iter().enumerate() {
        let [q, dq, tau_ff, kp, kd] = places.map(|first| values[first + motor]);
        commands[joint] = JointCommand { q, dq, kp, kd, tau_ff };
    }
    Ok(commands)
}
