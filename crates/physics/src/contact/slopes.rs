//! How fast a contact's force gives way: what a step that is implicit in the contacts needs.

use crate::simd::SimdReal;

use super::TINY;
use super::spring_force::SpringForce;
use super::spring_law::SpringLaw;

/// A step that may change the exponent of the normal force by more than this is taken in halves.
const EXPONENT_CHANGE_MAX: f64 = 0.2;

/// What a contact's force loses per metre of depth or stretch, and per m/s, along the normal and in
/// every direction of the plane. Never negative: in these terms alone the contact is a passive
/// spring and damper. How friction depends on the normal force is left out.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContactSlopes<T = f64> {
    /// Stiffness along the normal, N/m.
    pub normal_n_per_m: T,
    /// Damping along the normal, N·s/m.
    pub normal_n_s_per_m: T,
    /// Stiffness of friction, N/m.
    pub friction_n_per_m: T,
    /// Damping of friction, N·s/m.
    pub friction_n_s_per_m: T,
}

impl ContactSlopes {
    /// Those of a force that counts `k` times.
    pub(crate) fn scaled(&self, k: f64) -> Self {
        Self {
            normal_n_per_m: k * self.normal_n_per_m,
            normal_n_s_per_m: k * self.normal_n_s_per_m,
            friction_n_per_m: k * self.friction_n_per_m,
            friction_n_s_per_m: k * self.friction_n_s_per_m,
        }
    }
}

impl<T: SimdReal> SpringLaw<T> {
    /// Slopes where `force` was evaluated. The normal ones are exact, and 0 where a limit of the
    /// normal force acts. Friction that the cone limits gives way in proportion: `|f|` over what
    /// the friction spring would have done.
    #[inline(always)]
    pub(crate) fn slopes(&self, force: &SpringForce<T>) -> ContactSlopes<T> {
        let zero = T::splat(0.0);
        let below_cap = |x| T::select(self.force_z_max.above(force.normal_n), x, zero);
        let pushes = |x| T::select(force.normal_n.above(zero), below_cap(x), zero);
        let rubs = |x| T::select(force.friction_limit_n.above(T::splat(TINY)), x, zero);
        let [elastic, damping] = force.friction_share;
        ContactSlopes {
            normal_n_per_m: pushes(self.d2 * force.normal_n),
            normal_n_s_per_m: pushes(self.cz * force.normal_elastic_n),
            friction_n_per_m: rubs(self.friction.kxy * (elastic * elastic)),
            friction_n_s_per_m: rubs(self.friction.cxy * (damping * damping)),
        }
    }

    /// True where the next `h` seconds may change the normal force by more than a factor of e^0.2
    /// within reach of the ground: at `p_z` (m) and `v_z` (m/s) the station is, or may come, below
    /// `d₀`.
    #[inline(always)]
    pub(crate) fn needs_substep(&self, p_z: T, v_z: T, h: T) -> T::Mask {
        let way = v_z.abs() * h;
        let zero = T::splat(0.0);
        let below = self.d0 - (p_z - way);
        let fast = T::select((self.d2 * way).above(T::splat(EXPONENT_CHANGE_MAX)), below, zero);
        // a lane without a contact has no d₁
        T::select(self.d1.above(zero), fast, zero).above(zero)
    }
}
