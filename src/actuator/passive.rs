//! Damping, Coulomb friction and end stops: what the joint does without its motor.

use crate::model::Joint;

/// Speed at which Coulomb friction is fully developed, rad/s or m/s.
const FRICTION_SPEED: f64 = 0.01;

/// The joint's own efforts, made stable for explicit micro-steps of length `h`: every coefficient
/// is bounded by the inertia `D` that the joint feels (ABA's `Sᵀ I_A S` plus armature).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PassiveJoint {
    stop_stiffness: f64,
    stop_damping: f64,
    damping: f64,
    damping_max: f64,
    friction: f64,
    friction_speed: f64,
}

impl PassiveJoint {
    /// For a joint that feels the inertia `D` (kg·m² or kg), integrated with micro-steps of `h_s`;
    /// its end stops have the time constant `time_constant_s` and the given damping ratio.
    #[must_use]
    pub fn new(joint: &Joint, D: f64, time_constant_s: f64, damping_ratio: f64, h_s: f64) -> Self {
        // a spring faster than 0.2/h would not survive an explicit step
        let omega = (1.0 / time_constant_s).min(0.2 / h_s);
        // a damper beyond D/h would throw the joint back within one step
        let damping_max = 0.5 * D / h_s;
        Self {
            stop_stiffness: D * omega * omega,
            stop_damping: 2.0 * damping_ratio * D * omega,
            damping: joint.damping.min(damping_max),
            damping_max,
            friction: joint.friction,
            friction_speed: (joint.friction / damping_max).max(FRICTION_SPEED),
        }
    }

    /// Effort of damping, friction and end stop together at position `q` and speed `dq`, N·m or N.
    /// The friction rises linearly up to 0.01 rad/s (or m/s; more for very light joints) and is
    /// constant beyond.
    #[must_use]
    pub fn effort(&self, joint: &Joint, q: f64, dq: f64) -> f64 {
        let mut tau = self.stop_effort(joint, q, dq);
        if self.damping != 0.0 {
            tau -= self.damping * dq;
        }
        if self.friction != 0.0 {
            tau -= self.friction * (dq / self.friction_speed).clamp(-1.0, 1.0);
        }
        tau
    }

    /// Effort of the motor while the controller is lost: `damping` (N·m·s/rad or N·s/m) as far as
    /// this joint can bear it.
    #[must_use]
    pub fn damped_effort(&self, damping: f64, dq: f64) -> f64 {
        -damping.min(self.damping_max) * dq
    }

    /// The end stop never pulls towards the limit.
    fn stop_effort(&self, joint: &Joint, q: f64, dq: f64) -> f64 {
        if q > joint.q_max {
            (-self.stop_stiffness * (q - joint.q_max) - self.stop_damping * dq).min(0.0)
        } else if q < joint.q_min {
            (-self.stop_stiffness * (q - joint.q_min) - self.stop_damping * dq).max(0.0)
        } else {
            0.0
        }
    }
}
