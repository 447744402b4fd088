//! The exponential spring: the law of the normal force, for any number of lanes.

use crate::math;
use crate::simd::SimdReal;

use super::SpringParameters;
use super::memory::FrictionMemory;
use super::spring_force::{Contact, SpringForce};
use super::stiction::FrictionSpring;

/// Elastic forces beyond this are cut off: far above any cap, far below overflow.
const ELASTIC_MAX_N: f64 = 1e200;

/// The numbers of [`SpringParameters`], one spring per lane; `per_` marks reciprocals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SpringLaw<T> {
    pub(super) d0: T,
    pub(super) d1: T,
    pub(super) d2: T,
    per_d2: T,
    pub(super) cz: T,
    pub(super) force_z_max: T,
    /// Height at which the elastic force reaches its limit, m.
    cap_z: T,
    pub(super) friction: FrictionSpring<T>,
}

impl<T: SimdReal> SpringLaw<T> {
    /// One spring per lane. All have the friction law of the first.
    pub(crate) fn from_lanes<'a>(f: impl Fn(usize) -> &'a SpringParameters) -> Self {
        Self {
            d0: T::from_lanes(|i| f(i).d0_m),
            d1: T::from_lanes(|i| f(i).d1_n),
            d2: T::from_lanes(|i| f(i).d2_per_m),
            per_d2: T::from_lanes(|i| 1.0 / f(i).d2_per_m),
            cz: T::from_lanes(|i| f(i).cz_s_per_m),
            force_z_max: T::from_lanes(|i| f(i).force_z_max_n),
            cap_z: T::from_lanes(|i| f(i).cap_height_m()),
            friction: FrictionSpring::from_lanes(f),
        }
    }

    /// The same springs, but without any force in the lanes where `empty` is true.
    pub(crate) fn without_force(mut self, empty: impl Fn(usize) -> bool) -> Self {
        let unless_empty = |x: T| T::from_lanes(|i| if empty(i) { 0.0 } else { x.lane(i) });
        // without the slope too: deep in the ground 0 · ∞ would be no number
        (self.d1, self.d2) = (unless_empty(self.d1), unless_empty(self.d2));
        self
    }

    /// The force on a station, and the memory that it proposes.
    #[inline(always)]
    pub(crate) fn evaluate(&self, at: &Contact<T>, memory: &FrictionMemory<T>) -> SpringForce<T> {
        let (p, v) = (&at.p_P, &at.v_P);
        let mut out =
            SpringForce { p_P: [p.x, p.y, p.z], v_P: [v.x, v.y, v.z], ..Default::default() };
        let stored_j = self.normal(p.z, v.z, &mut out);
        self.with_friction(at, memory, stored_j, &mut out);
        out
    }

    /// Friction, energy and power under the normal force in `out`, which has stored `stored_j`.
    #[inline(always)]
    pub(super) fn with_friction(
        &self,
        at: &Contact<T>,
        memory: &FrictionMemory<T>,
        stored_j: T,
        out: &mut SpringForce<T>,
    ) {
        let (p, v) = (&at.p_P, &at.v_P);
        let slip_loss_w = self.friction.evaluate(at, memory, out);
        let [dx, dy] = out.friction_damping_P;
        out.power_dissipation_w = slip_loss_w - (dx * v.x + dy * v.y + out.normal_damping_n * v.z);
        let (sx, sy) = (p.x - out.next_anchor_P[0], p.y - out.next_anchor_P[1]);
        out.potential_energy_j = stored_j + T::splat(0.5) * self.friction.kxy * (sx * sx + sy * sy);
    }

    /// `f_z = d₁ exp(−d₂ (p_z − d₀)) (1 − c_z v_z)`, kept within `[0, f_max]`. Returns the energy
    /// that the elastic force `min(d₁ exp(−d₂ (p_z − d₀)), f_max)` has stored, J.
    #[inline(always)]
    fn normal(&self, p_z: T, v_z: T, out: &mut SpringForce<T>) -> T {
        let zero = T::splat(0.0);
        let elastic = self.d1 * math::exp(-(self.d2 * (p_z - self.d0)));
        // 0.6 m deep the exponential overflows, and inf − inf would be NaN
        let most = T::splat(ELASTIC_MAX_N);
        let elastic = T::select(elastic.above(most), most, elastic);
        let stiff = elastic;
        let damping = -(self.cz * v_z * elastic);
        let total = elastic + damping;
        // leaving faster than 1/c_z would pull; the elastic part is kept, the damping cancels it
        let pulls = zero.above(total);
        let (total, damping) = (T::select(pulls, zero, total), T::select(pulls, -elastic, damping));
        // at the cap the damping is kept and the elastic part gives way, even below zero
        let capped = total.above(self.force_z_max);
        out.normal_n = T::select(capped, self.force_z_max, total);
        out.normal_elastic_n = T::select(capped, self.force_z_max - damping, elastic);
        out.normal_damping_n = damping;
        let at_limit = self.force_z_max * (self.per_d2 + (self.cap_z - p_z));
        T::select(stiff.above(self.force_z_max), at_limit, stiff * self.per_d2)
    }
}
