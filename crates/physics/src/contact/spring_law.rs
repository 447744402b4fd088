//! The exponential spring's law for any number of lanes, and what it yields.

use crate::math::{self};
use crate::simd::SimdReal;
use crate::spatial::{Vec3, simd};

use super::stiction::{self, Stiction};
use super::{ContactPlane, SpringParameters};

/// Elastic forces beyond this are cut off: far above any cap, far below overflow.
const ELASTIC_MAX_N: f64 = 1e200;

/// All quantities of one evaluation, in the frame P of the contact plane. Vectors in the plane are
/// `[x, y]`; methods give them as 3-vectors in P, and [`ContactPlane::vector_W`] turns them into W.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SpringForce<T = f64> {
    /// Position of the station, m.
    pub p_P: [T; 3],
    /// Velocity of the station, m/s.
    pub v_P: [T; 3],
    /// Elastic part of the normal force, N. Negative only while the cap of the normal force acts.
    pub normal_elastic_n: T,
    /// Damping part of the normal force, N.
    pub normal_damping_n: T,
    /// Normal force, N; never negative.
    pub normal_n: T,
    /// Coefficient of friction in use, from the committed sliding.
    pub mu: T,
    /// Friction limit `μ f_z`, N.
    pub friction_limit_n: T,
    /// Elastic part of the friction force, N.
    pub friction_elastic_P: [T; 2],
    /// Damping part of the friction force, N.
    pub friction_damping_P: [T; 2],
    /// Shares of the friction spring's elasticity and viscosity that act: 1 where it sticks inside
    /// the cone.
    pub friction_share: [T; 2],
    /// Anchor proposed for the next commit, m. Simbody's `getAnchorPointPosition`.
    pub next_anchor_P: [T; 2],
    /// Sliding proposed for the next commit. Simbody's `getSliding`.
    pub next_sliding: T,
    /// Potential energy of both springs, J (with the proposed anchor, as in Simbody; meaningless
    /// while the cap of the normal force acts).
    pub potential_energy_j: T,
    /// Power that the contact turns into heat, W: damping, and the anchor dragged along.
    pub power_dissipation_w: T,
}

impl<T: SimdReal> SpringForce<T> {
    /// Lane `i`.
    #[inline(always)]
    pub(crate) fn lane(&self, i: usize) -> SpringForce {
        let two = |[x, y]: [T; 2]| [x.lane(i), y.lane(i)];
        let three = |[x, y, z]: [T; 3]| [x.lane(i), y.lane(i), z.lane(i)];
        SpringForce {
            p_P: three(self.p_P),
            v_P: three(self.v_P),
            normal_elastic_n: self.normal_elastic_n.lane(i),
            normal_damping_n: self.normal_damping_n.lane(i),
            normal_n: self.normal_n.lane(i),
            mu: self.mu.lane(i),
            friction_limit_n: self.friction_limit_n.lane(i),
            friction_elastic_P: two(self.friction_elastic_P),
            friction_damping_P: two(self.friction_damping_P),
            next_anchor_P: two(self.next_anchor_P),
            friction_share: two(self.friction_share),
            next_sliding: self.next_sliding.lane(i),
            potential_energy_j: self.potential_energy_j.lane(i),
            power_dissipation_w: self.power_dissipation_w.lane(i),
        }
    }
}

impl SpringForce {
    /// Normal force in P, N.
    #[must_use]
    pub fn normal_P(&self) -> Vec3 {
        Vec3::new(0.0, 0.0, self.normal_n)
    }

    /// Elastic part of the friction force in P, N.
    #[must_use]
    pub fn friction_elastic(&self) -> Vec3 {
        Vec3::new(self.friction_elastic_P[0], self.friction_elastic_P[1], 0.0)
    }

    /// Damping part of the friction force in P, N.
    #[must_use]
    pub fn friction_damping(&self) -> Vec3 {
        Vec3::new(self.friction_damping_P[0], self.friction_damping_P[1], 0.0)
    }

    /// Friction force in P, N: elastic plus damping part.
    #[must_use]
    pub fn friction_P(&self) -> Vec3 {
        self.friction_elastic() + self.friction_damping()
    }

    /// Whole force on the body in P, N.
    #[must_use]
    pub fn force_P(&self) -> Vec3 {
        let mut f = self.friction_P();
        f.z = self.normal_n;
        f
    }

    /// Whole force on the body in W, N.
    #[must_use]
    pub fn force_W(&self, plane: &ContactPlane) -> Vec3 {
        plane.vector_W(&self.force_P())
    }

    /// The proposed anchor as a point of P, m.
    #[must_use]
    pub fn anchor_P(&self) -> Vec3 {
        Vec3::new(self.next_anchor_P[0], self.next_anchor_P[1], 0.0)
    }
}

/// The numbers of [`SpringParameters`], ready for use; `per_` marks reciprocals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SpringLaw<T> {
    pub(super) d0: T,
    pub(super) d1: T,
    pub(super) d2: T,
    per_d2: T,
    pub(super) cz: T,
    pub(super) force_z_max: T,
    pub(super) kxy: T,
    pub(super) per_kxy: T,
    pub(super) cxy: T,
    pub(super) per_v_settle: T,
    pub(super) per_t_settle: T,
    stiction: Stiction,
}

/// One contact in the plane's frame P, as the law sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contact<T> {
    /// Position, m.
    pub(crate) p_P: simd::Vec3<T>,
    /// Velocity, m/s.
    pub(crate) v_P: simd::Vec3<T>,
    /// Time since the memory was committed, s; NaN if it never was.
    pub(crate) age_s: T,
    pub(crate) mu_static: T,
    pub(crate) mu_kinetic: T,
}

/// The committed memory, as the law sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Committed<T> {
    pub(crate) anchor_P: [T; 2],
    pub(crate) sliding: T,
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
            kxy: T::from_lanes(|i| f(i).kxy_n_per_m),
            per_kxy: T::from_lanes(|i| 1.0 / f(i).kxy_n_per_m),
            cxy: T::from_lanes(|i| f(i).cxy_n_s_per_m),
            per_v_settle: T::from_lanes(|i| 1.0 / f(i).v_settle_m_per_s),
            per_t_settle: T::from_lanes(|i| 1.0 / f(i).t_settle_s),
            stiction: f(0).stiction,
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
    pub(crate) fn evaluate(&self, at: &Contact<T>, memory: &Committed<T>) -> SpringForce<T> {
        let (p, v) = (&at.p_P, &at.v_P);
        let mut out =
            SpringForce { p_P: [p.x, p.y, p.z], v_P: [v.x, v.y, v.z], ..Default::default() };
        self.normal(p.z, v.z, &mut out);
        let slip_loss_w = match self.stiction {
            Stiction::Simbody => stiction::simbody(self, at, memory, &mut out),
            Stiction::Holding => stiction::holding(self, at, memory, &mut out),
        };
        let [dx, dy] = out.friction_damping_P;
        out.power_dissipation_w = slip_loss_w - (dx * v.x + dy * v.y + out.normal_damping_n * v.z);
        let (sx, sy) = (p.x - out.next_anchor_P[0], p.y - out.next_anchor_P[1]);
        out.potential_energy_j =
            out.normal_elastic_n * self.per_d2 + T::splat(0.5) * self.kxy * (sx * sx + sy * sy);
        out
    }

    /// `f_z = d₁ exp(−d₂ (p_z − d₀)) (1 − c_z v_z)`, kept within `[0, f_max]`.
    #[inline(always)]
    fn normal(&self, p_z: T, v_z: T, out: &mut SpringForce<T>) {
        let zero = T::splat(0.0);
        let elastic = self.d1 * math::exp(-(self.d2 * (p_z - self.d0)));
        // 0.6 m deep the exponential overflows, and inf − inf would be NaN
        let most = T::splat(ELASTIC_MAX_N);
        let elastic = T::select(elastic.above(most), most, elastic);
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
    }
}
