//! What the exponential spring needs to know of a contact, and what it yields.

use crate::simd::SimdReal;
use crate::spatial::{Vec3, simd};

use super::ContactPlane;

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
    /// Potential energy of both springs, J, with the proposed anchor, as in Simbody; other than in
    /// Simbody also where the limit of the normal force acts.
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
