//! Damping, Coulomb friction and end stops: what the joint does without its motor.

use crate::model::Joint;

/// End stop of one joint, and the speed at which its Coulomb friction is fully developed. Both are
/// scaled by the inertia `D` that the joint feels (ABA's `Sᵀ I_A S` plus armature), so that an
/// explicit micro-step of length `h` stays stable.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EndStop {
    stiffness: f64,
    damping: f64,
    friction_speed: f64,
}

impl EndStop {
    /// A stop with time constant `time_constant_s` and the given damping ratio for a joint that
    /// feels the inertia `D` (kg·m² or kg), integrated with micro-steps of `h_s`.
    #[must_use]
    pub fn new(joint: &Joint, D: f64, time_constant_s: f64, damping_ratio: f64, h_s: f64) -> Self {
        // a spring faster than 0.2/h would not survive an explicit step
        let omega = (1.0 / time_constant_s).min(0.2 / h_s);
        Self {
            stiffness: D * omega * omega,
            damping: 2.0 * damping_ratio * D * omega,
            friction_speed: (2.0 * joint.friction * h_s / D).max(0.01),
        }
    }

    /// Effort of the stop at position `q` and speed `dq`: never pulls towards the limit.
    #[must_use]
    pub fn effort(&self, joint: &Joint, q: f64, dq: f64) -> f64 {
        if q > joint.q_max {
            (-self.stiffness * (q - joint.q_max) - self.damping * dq).min(0.0)
        } else if q < joint.q_min {
            (-self.stiffness * (q - joint.q_min) - self.damping * dq).max(0.0)
        } else {
            0.0
        }
    }
}

/// Effort of viscous damping, Coulomb friction and end stop together, N·m or N. The friction rises
/// linearly up to 0.01 rad/s (or m/s; more for very light joints) and is constant beyond.
#[must_use]
pub fn passive_effort(joint: &Joint, stop: &EndStop, q: f64, dq: f64) -> f64 {
    let mut tau = stop.effort(joint, q, dq);
    if joint.damping != 0.0 {
        tau -= joint.damping * dq;
    }
    if joint.friction != 0.0 {
        tau -= joint.friction * (dq / stop.friction_speed).clamp(-1.0, 1.0);
    }
    tau
}
