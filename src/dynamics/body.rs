//! What the algorithms do at one body: of a robot, or of several equal limbs at once.
//!
//! Everything that runs in each micro-step is here once, for any number of lanes. The loops over
//! the bodies are in [`kinematics`](super::kinematics()) and [`aba`](super::aba()), one body after
//! another, and in the plant's fast path, equal limbs side by side.

use crate::math::{self, Lanes};
use crate::model::{Joint, JointKind};
use crate::spatial::lanes::{
    ArticulatedInertia, Force, Mat3, Motion, SpatialInertia, Transform, Vec3,
};
use crate::spatial::{self, skew};

/// The motion subspace `S` in the child's frame B: the spatial velocity for `q̇ = 1`. (table 4.1)
#[must_use]
pub fn motion_subspace(joint: &Joint) -> spatial::Motion {
    match joint.kind {
        JointKind::Revolute => spatial::Motion::new(joint.axis, spatial::Vec3::zeros()),
        JointKind::Prismatic => spatial::Motion::new(spatial::Vec3::zeros(), joint.axis),
    }
}

/// A body and the joint that moves it, as constants. Lanes share the kind of the joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Link<T> {
    kind: JointKind,
    /// Unit axis in B (and in J).
    axis: Vec3<T>,
    /// `R_PB = R_fixed + sin q R_sin + cos q R_cos` of a revolute joint; of a prismatic one,
    /// `R_fixed`.
    R_fixed: Mat3<T>,
    R_sin: Mat3<T>,
    R_cos: Mat3<T>,
    /// `p_PB` at `q = 0`, and what a prismatic joint adds per metre.
    p_PJ: Vec3<T>,
    slide_P: Vec3<T>,
    armature: T,
    pub(crate) inertia: SpatialInertia<T>,
}

impl Link<f64> {
    pub(crate) fn new(joint: &Joint, inertia: &spatial::SpatialInertia) -> Self {
        let (R_PJ, a) = (&joint.X_PJ.R, &joint.axis);
        // Rodrigues: R(q) = a aᵀ + sin q â + cos q (1 − a aᵀ)
        let along = a * a.transpose();
        let across = spatial::Mat3::identity() - along;
        let revolute = joint.kind == JointKind::Revolute;
        let R_fixed = if revolute { R_PJ * along } else { *R_PJ };
        Self {
            kind: joint.kind,
            axis: (*a).into(),
            R_fixed: R_fixed.into(),
            R_sin: (R_PJ * skew(a)).into(),
            R_cos: (R_PJ * across).into(),
            p_PJ: joint.X_PJ.p.into(),
            slide_P: (R_PJ * a).into(),
            armature: joint.armature,
            inertia: (*inertia).into(),
        }
    }
}

impl<T: Lanes> Link<T> {
    /// One link per lane, all with joints of one kind.
    pub(crate) fn from_lanes<'a>(f: impl Fn(usize) -> &'a Link<f64>) -> Self {
        Self {
            kind: f(0).kind,
            axis: Vec3::from_lanes(|i| f(i).axis),
            R_fixed: Mat3::from_lanes(|i| f(i).R_fixed),
            R_sin: Mat3::from_lanes(|i| f(i).R_sin),
            R_cos: Mat3::from_lanes(|i| f(i).R_cos),
            p_PJ: Vec3::from_lanes(|i| f(i).p_PJ),
            slide_P: Vec3::from_lanes(|i| f(i).slide_P),
            armature: T::from_lanes(|i| f(i).armature),
            inertia: SpatialInertia::from_lanes(|i| f(i).inertia),
        }
    }

    /// `X_PB` at position `q`, rad or m.
    #[inline(always)]
    pub(crate) fn pose_in_parent(&self, q: T) -> Transform<T> {
        match self.kind {
            JointKind::Revolute => {
                let (sin, cos) = math::sin_cos(q);
                let R = self.R_fixed + self.R_sin.scaled(sin) + self.R_cos.scaled(cos);
                Transform::new(R, self.p_PJ)
            }
            JointKind::Prismatic => {
                Transform::new(self.R_fixed, self.p_PJ + self.slide_P.scaled(q))
            }
        }
    }

    /// `m + S s`. (table 4.1)
    #[inline(always)]
    fn plus_along(&self, m: Motion<T>, s: T) -> Motion<T> {
        let step = self.axis.scaled(s);
        match self.kind {
            JointKind::Revolute => Motion::new(m.ang + step, m.lin),
            JointKind::Prismatic => Motion::new(m.ang, m.lin + step),
        }
    }

    /// `Sᵀ f`.
    #[inline(always)]
    fn project(&self, f: &Force<T>) -> T {
        match self.kind {
            JointKind::Revolute => self.axis.dot(&f.ang),
            JointKind::Prismatic => self.axis.dot(&f.lin),
        }
    }

    /// `I_A S`.
    #[inline(always)]
    fn inertia_along(&self, I_A: &ArticulatedInertia<T>) -> Force<T> {
        match self.kind {
            JointKind::Revolute => Force::new(I_A.I.mul(&self.axis), I_A.H.tr_mul(&self.axis)),
            JointKind::Prismatic => Force::new(I_A.H.mul(&self.axis), I_A.M.mul(&self.axis)),
        }
    }

    /// `c = V × S q̇`.
    #[inline(always)]
    fn velocity_product(&self, V: &Motion<T>, qd: T) -> Motion<T> {
        let step = self.axis.scaled(qd);
        match self.kind {
            JointKind::Revolute => Motion::new(V.ang.cross(&step), V.lin.cross(&step)),
            JointKind::Prismatic => Motion::new(Vec3::zero(), V.ang.cross(&step)),
        }
    }
}

/// Where a body is and how it moves.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Placed<T> {
    /// Pose of B in the parent body's frame; for the base, in W.
    pub(crate) X_PB: Transform<T>,
    /// Pose of B in W.
    pub(crate) X_WB: Transform<T>,
    /// Spatial velocity `V_WB_B`.
    pub(crate) V: Motion<T>,
    /// Velocity-product acceleration `c = V × S q̇`.
    pub(crate) c: Motion<T>,
}

impl<T: Lanes> Placed<T> {
    /// Lane `i` is `f(i)`.
    pub(crate) fn from_lanes(f: impl Fn(usize) -> Placed<f64>) -> Self {
        Self {
            X_PB: Transform::from_lanes(|i| f(i).X_PB),
            X_WB: Transform::from_lanes(|i| f(i).X_WB),
            V: Motion::from_lanes(|i| f(i).V),
            c: Motion::from_lanes(|i| f(i).c),
        }
    }

    /// Lane `i`.
    #[inline(always)]
    pub(crate) fn lane(&self, i: usize) -> Placed<f64> {
        Placed {
            X_PB: self.X_PB.lane(i),
            X_WB: self.X_WB.lane(i),
            V: self.V.lane(i),
            c: self.c.lane(i),
        }
    }

    /// The body of `link` at the joint's `q` and `qd`, on a parent at `X_WP` with velocity `V_P`.
    /// (table 7.1, pass 1)
    #[inline(always)]
    pub(crate) fn on_parent(
        link: &Link<T>,
        q: T,
        qd: T,
        X_WP: &Transform<T>,
        V_P: &Motion<T>,
    ) -> Self {
        let X_PB = link.pose_in_parent(q);
        let V = link.plus_along(X_PB.motion_to_child(V_P), qd);
        Self { X_PB, X_WB: X_WP.compose(&X_PB), V, c: link.velocity_product(&V, qd) }
    }
}

/// `p_A = V ×* I V − f_ext` of a single body. (7.37)
#[inline(always)]
pub(crate) fn bias_force<T: Lanes>(
    inertia: &SpatialInertia<T>,
    V: &Motion<T>,
    f_ext: &Force<T>,
) -> Force<T> {
    V.cross_force(&inertia.mul(V)) - *f_ext
}

/// What a joint does to what is felt through it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Through<T> {
    /// `U = I_A S`.
    pub(crate) U: Force<T>,
    /// `D = Sᵀ U + armature`, and its reciprocal.
    pub(crate) D: T,
    pub(crate) per_D: T,
    /// `u = τ − Sᵀ p_A`.
    pub(crate) u: T,
}

impl<T: Lanes> Through<T> {
    /// Pass 2 at one body: `U`, `D`, `u`, and what the parent feels, `I_a` and `p_a`, about the
    /// parent's origin in its axes. (7.43 to 7.47)
    #[inline(always)]
    pub(crate) fn joint(
        link: &Link<T>,
        placed: &Placed<T>,
        tau: T,
        I_A: &ArticulatedInertia<T>,
        p_A: &Force<T>,
    ) -> (Self, ArticulatedInertia<T>, Force<T>) {
        let (mut through, I_a) = Self::inertia(link, I_A);
        through.u = tau - link.project(p_A);
        let felt = through.U.scaled(through.u * through.per_D);
        let p_a = *p_A + I_a.mul(&placed.c) + felt;
        (through, I_a.to_parent(&placed.X_PB), placed.X_PB.force_to_parent(&p_a))
    }

    /// `U`, `D` and `I_a = I_A − U Uᵀ / D` alone, in B.
    #[inline(always)]
    pub(crate) fn inertia(
        link: &Link<T>,
        I_A: &ArticulatedInertia<T>,
    ) -> (Self, ArticulatedInertia<T>) {
        let U = link.inertia_along(I_A);
        let D = link.project(&U) + link.armature;
        let per_D = T::splat(1.0) / D;
        let I_a = I_A.minus_outer(&U.scaled(per_D), &U);
        (Self { U, D, per_D, u: T::splat(0.0) }, I_a)
    }

    /// Pass 3 at one body: `q̈` and the body's acceleration, from the parent's.
    #[inline(always)]
    pub(crate) fn accelerate(
        &self,
        link: &Link<T>,
        placed: &Placed<T>,
        A_P: &Motion<T>,
    ) -> (T, Motion<T>) {
        let a = placed.X_PB.motion_to_child(A_P) + placed.c;
        let qdd = (self.u - a.dot(&self.U)) * self.per_D;
        (qdd, link.plus_along(a, qdd))
    }
}
