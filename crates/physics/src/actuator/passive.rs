//! Damping, Coulomb friction and end stops: what the joint does without its motor.

use crate::model::Joint;
use crate::simd::SimdReal;

use super::{JointSlopes, Reference};

/// Speed at which Coulomb friction is fully developed, rad/s or m/s.
const FRICTION_SPEED: f64 = 0.01;

/// The joint's own efforts, made stable for explicit micro-steps of length `h`: every coefficient
/// is bounded by the inertia `D` that the joint feels (ABA's `Sᵀ I_A S` plus armature).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PassiveJoint<T = f64> {
    q_min: T,
    q_max: T,
    stop_stiffness: T,
    stop_damping: T,
    damping: T,
    damping_max: T,
    friction: T,
    /// Reciprocal of the speed at which friction is fully developed.
    per_friction_speed: T,
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
            q_min: joint.q_min,
            q_max: joint.q_max,
            stop_stiffness: D * omega * omega,
            stop_damping: 2.0 * damping_ratio * D * omega,
            damping: joint.damping.min(damping_max),
            damping_max,
            friction: joint.friction,
            per_friction_speed: 1.0 / (joint.friction / damping_max).max(FRICTION_SPEED),
        }
    }

    /// What the drive is to do while the controller is lost: `damping` (N·m·s/rad or N·s/m) as far
    /// as this joint can bear it.
    #[must_use]
    pub fn damper(&self, damping: f64) -> Reference {
        Reference { kd: damping.min(self.damping_max), ..Reference::default() }
    }
}

impl<T: SimdReal> PassiveJoint<T> {
    /// One joint per lane.
    pub(crate) fn from_lanes<'a>(f: impl Fn(usize) -> &'a PassiveJoint) -> Self {
        Self {
            q_min: T::from_lanes(|i| f(i).q_min),
            q_max: T::from_lanes(|i| f(i).q_max),
            stop_stiffness: T::from_lanes(|i| f(i).stop_stiffness),
            stop_damping: T::from_lanes(|i| f(i).stop_damping),
            damping: T::from_lanes(|i| f(i).damping),
            damping_max: T::from_lanes(|i| f(i).damping_max),
            friction: T::from_lanes(|i| f(i).friction),
            per_friction_speed: T::from_lanes(|i| f(i).per_friction_speed),
        }
    }

    /// Effort of damping, friction and end stop together at position `q` and speed `dq`, N·m or N.
    /// The friction rises linearly up to 0.01 rad/s (or m/s; more for very light joints) and is
    /// constant beyond.
    #[inline(always)]
    #[must_use]
    pub fn effort(&self, q: T, dq: T) -> T {
        let one = T::splat(1.0);
        let share = (dq * self.per_friction_speed).smaller(one).larger(-one);
        self.stop_effort(q, dq) - self.damping * dq - self.friction * share
    }

    /// How fast [`effort`](Self::effort) gives way.
    #[inline(always)]
    #[must_use]
    pub fn slopes(&self, q: T, dq: T) -> JointSlopes<T> {
        let (zero, one) = (T::splat(0.0), T::splat(1.0));
        let stop = self.stop_effort(q, dq).abs();
        let stopped = |x| T::select(stop.above(zero), x, zero);
        let rubs = one.above((dq * self.per_friction_speed).abs());
        let friction = T::select(rubs, self.friction * self.per_friction_speed, zero);
        JointSlopes {
            stiffness: stopped(self.stop_stiffness),
            damping: stopped(self.stop_damping) + self.damping + friction,
        }
    }

    /// The end stop never pulls towards the limit.
    #[inline(always)]
    fn stop_effort(&self, q: T, dq: T) -> T {
        let zero = T::splat(0.0);
        let damped = self.stop_damping * dq;
        let upper = (-(self.stop_stiffness * (q - self.q_max)) - damped).smaller(zero);
        let lower = (-(self.stop_stiffness * (q - self.q_min)) - damped).larger(zero);
        let below = T::select(self.q_min.above(q), lower, zero);
        T::select(q.above(self.q_max), upper, below)
    }
}
