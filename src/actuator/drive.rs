//! The motor drive: PD control with feed-forward, limited in effort and speed.

use crate::model::Joint;

/// Effort that the drive asks for: `tau_ff + kp (q_ref − q) + kd (dq_ref − dq)`, N·m or N.
/// `q` and `dq` are the simulated encoder's, rad and rad/s (or m and m/s).
#[must_use]
pub fn pd_effort(reference: [f64; 2], gains: [f64; 2], tau_ff: f64, q: f64, dq: f64) -> f64 {
    tau_ff + gains[0] * (reference[0] - q) + gains[1] * (reference[1] - dq)
}

/// Effort that the motor makes of what is asked for. It is at most the joint's effort limit;
/// beyond the velocity limit the effort in the direction of motion fades to zero over a further
/// 10 % of speed, while braking stays possible.
#[must_use]
pub fn motor_effort(joint: &Joint, asked: f64, dq: f64) -> f64 {
    let tau = asked.clamp(-joint.effort_max, joint.effort_max);
    let excess = dq.abs() - joint.velocity_max;
    if excess <= 0.0 || tau * dq <= 0.0 {
        return tau;
    }
    tau * (1.0 - excess / (0.1 * joint.velocity_max)).max(0.0)
}
