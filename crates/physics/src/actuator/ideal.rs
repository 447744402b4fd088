//! The ideal drive: PD control with feed-forward, limited in effort and speed.

use crate::model::Joint;
use crate::simd::SimdReal;

use super::JointSlopes;

/// What a drive is to do. Position in rad or m, effort in N·m or N.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reference<T = f64> {
    /// Position to hold.
    pub q: T,
    /// Velocity to hold.
    pub dq: T,
    /// Stiffness, effort per rad or m.
    pub kp: T,
    /// Damping, effort per rad/s or m/s.
    pub kd: T,
    /// Effort on top.
    pub tau_ff: T,
}

impl<T: SimdReal> Reference<T> {
    /// Effort that the drive asks for: `tau_ff + kp (q_ref − q) + kd (dq_ref − dq)`, N·m or N. `q`
    /// and `dq` are the simulated encoder's, rad and rad/s (or m and m/s).
    #[inline(always)]
    #[must_use]
    pub fn pd_effort(&self, q: T, dq: T) -> T {
        self.tau_ff + self.kp * (self.q - q) + self.kd * (self.dq - dq)
    }

    /// How fast [`pd_effort`](Self::pd_effort) gives way.
    #[inline(always)]
    #[must_use]
    pub fn slopes(&self) -> JointSlopes<T> {
        JointSlopes { stiffness: self.kp, damping: self.kd }
    }
}

/// Limits of a motor.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MotorLimits<T = f64> {
    effort_max: T,
    velocity_max: T,
    /// Reciprocal of the 10 % of speed over which the effort fades.
    per_fade: T,
}

impl MotorLimits {
    /// The limits of this joint's motor.
    #[must_use]
    pub fn new(joint: &Joint) -> Self {
        Self::of(joint.effort_max, joint.velocity_max)
    }

    /// A motor that makes at most `effort_max` (N·m or N) and loses it beyond `velocity_max` (rad/s
    /// or m/s).
    #[must_use]
    pub fn of(effort_max: f64, velocity_max: f64) -> Self {
        Self { effort_max, velocity_max, per_fade: 1.0 / (0.1 * velocity_max) }
    }
}

impl<T: SimdReal> MotorLimits<T> {
    /// One motor per lane.
    pub(crate) fn from_lanes<'a>(f: impl Fn(usize) -> &'a MotorLimits) -> Self {
        Self {
            effort_max: T::from_lanes(|i| f(i).effort_max),
            velocity_max: T::from_lanes(|i| f(i).velocity_max),
            per_fade: T::from_lanes(|i| f(i).per_fade),
        }
    }

    /// 1 where the motor makes what it is asked for, 0 where a limit acts.
    #[inline(always)]
    #[must_use]
    pub fn follows(asked: T, made: T) -> T {
        let (zero, one) = (T::splat(0.0), T::splat(1.0));
        T::select((asked - made).abs().above(zero), zero, one)
    }

    /// Effort that the motor makes of what is asked for. It is at most the joint's effort limit;
    /// beyond the velocity limit the effort in the direction of motion fades to zero over a further
    /// 10 % of speed, while braking stays possible. NaN stays NaN.
    #[inline(always)]
    #[must_use]
    pub fn effort(&self, asked: T, dq: T) -> T {
        let (zero, most) = (T::splat(0.0), self.effort_max);
        let tau = T::select(asked.above(most), most, asked);
        let tau = T::select((-most).above(tau), -most, tau);
        let excess = dq.abs() - self.velocity_max;
        let fading = tau * (T::splat(1.0) - excess * self.per_fade).larger(zero);
        let pushing = T::select((tau * dq).above(zero), fading, tau);
        T::select(excess.above(zero), pushing, tau)
    }
}
