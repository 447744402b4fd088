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

use super::turn::{Axis, Turn};

/// The motion subspace `S` in the child's frame B: the spatial velocity for `q̇ = 1`. (table 4.1)
#[must_use]
pub fn motion_subspace(joint: &Joint) -> spatial::Motion {
    match joint.kind {
        JointKind::Revolute => spatial::Motion::new(joint.axis, spatial::Vec3::zeros()),
        JointKind::Prismatic => spatial::Motion::new(spatial::Vec3::zeros(), joint.axis),
    }
}

/// What a joint's arithmetic looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Motility {
    /// Turns about a coordinate axis, with the axes of P and B parallel at `q = 0`: then much of
    /// the arithmetic falls away.
    About(Axis),
    /// Turns about any axis.
    Turning,
    /// Slides along any axis.
    Sliding,
}

impl Motility {
    pub(super) fn of(joint: &Joint) -> Self {
        let parallel = joint.X_PJ.R == spatial::Mat3::identity();
        match (joint.kind, Axis::of(&joint.axis)) {
            (JointKind::Revolute, Some(axis)) if parallel => Self::About(axis),
            (JointKind::Revolute, _) => Self::Turning,
            (JointKind::Prismatic, _) => Self::Sliding,
        }
    }
}

/// Calls a function with the joint's [`Motility`] as a constant: each of the five gets code of its
/// own. Functions are named, because closures are not inlined into code for AVX2.
macro_rules! by_motility {
    ($link:expr, $function:path $(, $argument:expr)*) => {{
        use $crate::dynamics::{Axis, Motility};
        const X: Motility = Motility::About(Axis::X);
        const Y: Motility = Motility::About(Axis::Y);
        const Z: Motility = Motility::About(Axis::Z);
        match $link.motility {
            X => $function(X, $link $(, $argument)*),
            Y => $function(Y, $link $(, $argument)*),
            Z => $function(Z, $link $(, $argument)*),
            Motility::Turning => $function(Motility::Turning, $link $(, $argument)*),
            Motility::Sliding => $function(Motility::Sliding, $link $(, $argument)*),
        }
    }};
}
pub(crate) use by_motility;

/// A body and the joint that moves it, as constants. Lanes share the joint's motility.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Link<T> {
    pub(crate) motility: Motility,
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
    pub(crate) armature: T,
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
            motility: Motility::of(joint),
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

    /// `Sᵀ f` of several forces on one body.
    #[inline(always)]
    pub(super) fn project_several<T: Lanes>(&self, f: &Force<T>) -> T {
        let a = Vec3::from_lanes(|_| self.axis);
        match self.motility {
            Motility::About(axis) => axis.component(&f.ang),
            Motility::Turning => a.dot(&f.ang),
            Motility::Sliding => a.dot(&f.lin),
        }
    }
}

impl<T: Lanes> Link<T> {
    /// One link per lane, all with joints of one kind.
    pub(crate) fn from_lanes<'a>(f: impl Fn(usize) -> &'a Link<f64>) -> Self {
        Self {
            motility: f(0).motility,
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

    /// Pose and turn of the child at position `q`, rad or m.
    #[inline(always)]
    fn moved(&self, by: Motility, q: T) -> (Transform<T>, Turn<T>) {
        match by {
            Motility::About(axis) => {
                let turn = Turn::new(math::sin_cos(q));
                (Transform::new(turn.matrix(axis), self.p_PJ), turn)
            }
            Motility::Turning => {
                let turn = Turn::new(math::sin_cos(q));
                let R = self.R_fixed + self.R_sin.scaled(turn.sin) + self.R_cos.scaled(turn.cos);
                (Transform::new(R, self.p_PJ), turn)
            }
            Motility::Sliding => {
                let p = self.p_PJ + self.slide_P.scaled(q);
                (Transform::new(self.R_fixed, p), Turn::default())
            }
        }
    }

    /// `m + S s`. (table 4.1)
    #[inline(always)]
    fn plus_along(&self, by: Motility, m: Motion<T>, s: T) -> Motion<T> {
        match by {
            Motility::About(axis) => Motion::new(axis.plus(m.ang, s), m.lin),
            Motility::Turning => Motion::new(m.ang + self.axis.scaled(s), m.lin),
            Motility::Sliding => Motion::new(m.ang, m.lin + self.axis.scaled(s)),
        }
    }

    /// `Sᵀ f`.
    #[inline(always)]
    fn project(&self, by: Motility, f: &Force<T>) -> T {
        match by {
            Motility::About(axis) => axis.component(&f.ang),
            Motility::Turning => self.axis.dot(&f.ang),
            Motility::Sliding => self.axis.dot(&f.lin),
        }
    }

    /// The body's velocity at the joint's `qd`, on a parent with velocity `V_P`.
    #[inline(always)]
    pub(crate) fn velocity(
        &self,
        by: Motility,
        (X_PB, turn): (&Transform<T>, &Turn<T>),
        V_P: &Motion<T>,
        qd: T,
    ) -> Motion<T> {
        self.plus_along(by, self.motion_to_child(by, X_PB, turn, V_P), qd)
    }

    /// `I_A S`.
    #[inline(always)]
    fn inertia_along(&self, by: Motility, I_A: &ArticulatedInertia<T>) -> Force<T> {
        let a = &self.axis;
        match by {
            Motility::About(axis) => Force::new(axis.row(&I_A.I.full()), axis.row(&I_A.H)),
            Motility::Turning => Force::new(I_A.I.mul(a), I_A.H.tr_mul(a)),
            Motility::Sliding => Force::new(I_A.H.mul(a), I_A.M.mul(a)),
        }
    }

    /// `c = V × S q̇`.
    #[inline(always)]
    fn velocity_product(&self, by: Motility, V: &Motion<T>, qd: T) -> Motion<T> {
        match by {
            Motility::About(axis) => {
                Motion::new(axis.cross_from(&V.ang, qd), axis.cross_from(&V.lin, qd))
            }
            Motility::Turning => {
                let step = self.axis.scaled(qd);
                Motion::new(V.ang.cross(&step), V.lin.cross(&step))
            }
            Motility::Sliding => Motion::new(Vec3::zero(), V.ang.cross(&self.axis.scaled(qd))),
        }
    }

    /// `X_WP X_PB`.
    #[inline(always)]
    fn compose(
        &self,
        by: Motility,
        X_WP: &Transform<T>,
        X_PB: &Transform<T>,
        turn: &Turn<T>,
    ) -> Transform<T> {
        match by {
            Motility::About(axis) => Transform::new(turn.after(axis, &X_WP.R), X_WP.point(&X_PB.p)),
            Motility::Turning | Motility::Sliding => X_WP.compose(X_PB),
        }
    }

    /// `ᴮX_P m`.
    #[inline(always)]
    fn motion_to_child(
        &self,
        by: Motility,
        X_PB: &Transform<T>,
        turn: &Turn<T>,
        m: &Motion<T>,
    ) -> Motion<T> {
        match by {
            Motility::About(axis) => {
                let lin = m.lin + m.ang.cross(&X_PB.p);
                Motion::new(turn.back(axis, &m.ang), turn.back(axis, &lin))
            }
            Motility::Turning | Motility::Sliding => X_PB.motion_to_child(m),
        }
    }

    /// `ᴮX_Pᵀ f`.
    #[inline(always)]
    fn force_to_parent(&self, by: Motility, placed: &Placed<T>, f: &Force<T>) -> Force<T> {
        match by {
            Motility::About(axis) => {
                let lin = placed.turn.forth(axis, &f.lin);
                Force::new(placed.turn.forth(axis, &f.ang) + placed.X_PB.p.cross(&lin), lin)
            }
            Motility::Turning | Motility::Sliding => placed.X_PB.force_to_parent(f),
        }
    }

    /// `ᴮX_Pᵀ I_A ᴮX_P`.
    #[inline(always)]
    fn inertia_to_parent(
        &self,
        by: Motility,
        placed: &Placed<T>,
        I_A: &ArticulatedInertia<T>,
    ) -> ArticulatedInertia<T> {
        match by {
            Motility::About(axis) => placed.turn.inertia(axis, I_A).shifted(&placed.X_PB.p),
            Motility::Turning | Motility::Sliding => I_A.to_parent(&placed.X_PB),
        }
    }

    /// `I_a c`: for a joint about a coordinate axis, `c` has no part along it.
    #[inline(always)]
    fn times_velocity_product(
        &self,
        by: Motility,
        I_a: &ArticulatedInertia<T>,
        c: &Motion<T>,
    ) -> Force<T> {
        match by {
            Motility::About(axis) => axis.times_across(I_a, c),
            Motility::Turning | Motility::Sliding => I_a.mul(c),
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
    /// Sine and cosine of a revolute joint's position.
    pub(crate) turn: Turn<T>,
}

impl<T: Lanes> Placed<T> {
    /// Lane `i` is `f(i)`.
    pub(crate) fn from_lanes(f: impl Fn(usize) -> Placed<f64>) -> Self {
        Self {
            X_PB: Transform::from_lanes(|i| f(i).X_PB),
            X_WB: Transform::from_lanes(|i| f(i).X_WB),
            V: Motion::from_lanes(|i| f(i).V),
            c: Motion::from_lanes(|i| f(i).c),
            turn: Turn::from_lanes(|i| f(i).turn),
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
            turn: self.turn.lane(i),
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
        let mut placed = Self::default();
        by_motility!(link, Self::turn_by, q, &mut placed);
        by_motility!(link, Self::carry_by, qd, (X_WP, V_P), &mut placed);
        placed
    }

    /// The part of [`on_parent`](Self::on_parent) that needs to know nothing of the parent.
    #[inline(always)]
    pub(crate) fn turn_by(by: Motility, link: &Link<T>, q: T, placed: &mut Self) {
        (placed.X_PB, placed.turn) = link.moved(by, q);
    }

    /// The rest of [`on_parent`](Self::on_parent).
    #[inline(always)]
    pub(crate) fn carry_by(
        by: Motility,
        link: &Link<T>,
        qd: T,
        (X_WP, V_P): (&Transform<T>, &Motion<T>),
        placed: &mut Self,
    ) {
        let Self { X_PB, turn, .. } = placed;
        placed.V = link.velocity(by, (X_PB, turn), V_P, qd);
        placed.X_WB = link.compose(by, X_WP, X_PB, turn);
        placed.c = link.velocity_product(by, &placed.V, qd);
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
    /// Lane `i`.
    #[inline(always)]
    pub(crate) fn lane(&self, i: usize) -> Through<f64> {
        Through {
            U: self.U.lane(i),
            D: self.D.lane(i),
            per_D: self.per_D.lane(i),
            u: self.u.lane(i),
        }
    }

    /// Pass 2 at one body: `U`, `D`, `u`, and what the parent feels, `I_a` and `p_a`, about the
    /// parent's origin in its axes, under the effort `tau` of a motor with this armature. (7.43 to
    /// 7.47)
    #[inline(always)]
    pub(crate) fn joint(
        link: &Link<T>,
        placed: &Placed<T>,
        effort: (T, T),
        I_A: &ArticulatedInertia<T>,
        p_A: &Force<T>,
    ) -> (Self, ArticulatedInertia<T>, Force<T>) {
        by_motility!(link, Self::joint_by, placed, effort, I_A, p_A)
    }

    #[inline(always)]
    pub(crate) fn joint_by(
        by: Motility,
        link: &Link<T>,
        placed: &Placed<T>,
        (tau, armature): (T, T),
        I_A: &ArticulatedInertia<T>,
        p_A: &Force<T>,
    ) -> (Self, ArticulatedInertia<T>, Force<T>) {
        let (mut through, I_a) = Self::inertia_by(by, link, armature, I_A);
        through.u = tau - link.project(by, p_A);
        let felt = through.U.scaled(through.u * through.per_D);
        let p_a = *p_A + link.times_velocity_product(by, &I_a, &placed.c) + felt;
        (through, link.inertia_to_parent(by, placed, &I_a), link.force_to_parent(by, placed, &p_a))
    }

    /// `U`, `D` and `I_a = I_A − U Uᵀ / D` alone, in B.
    #[inline(always)]
    pub(crate) fn inertia(
        link: &Link<T>,
        armature: T,
        I_A: &ArticulatedInertia<T>,
    ) -> (Self, ArticulatedInertia<T>) {
        by_motility!(link, Self::inertia_by, armature, I_A)
    }

    #[inline(always)]
    fn inertia_by(
        by: Motility,
        link: &Link<T>,
        armature: T,
        I_A: &ArticulatedInertia<T>,
    ) -> (Self, ArticulatedInertia<T>) {
        let U = link.inertia_along(by, I_A);
        let D = link.project(by, &U) + armature;
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
        self.accelerate_by(link.motility, link, placed, A_P)
    }

    #[inline(always)]
    pub(crate) fn accelerate_by(
        &self,
        by: Motility,
        link: &Link<T>,
        placed: &Placed<T>,
        A_P: &Motion<T>,
    ) -> (T, Motion<T>) {
        let a = link.motion_to_child(by, &placed.X_PB, &placed.turn, A_P) + placed.c;
        let qdd = (self.u - a.dot(&self.U)) * self.per_D;
        (qdd, link.plus_along(by, a, qdd))
    }

    /// Pass 3 for a jump of velocities under impulses, `u` of them along the joint: the joint's and
    /// the body's jump, from the parent's.
    #[inline(always)]
    pub(crate) fn jump_by(
        &self,
        by: Motility,
        link: &Link<T>,
        placed: &Placed<T>,
        u: T,
        dV_P: &Motion<T>,
    ) -> (T, Motion<T>) {
        let dV = link.motion_to_child(by, &placed.X_PB, &placed.turn, dV_P);
        let dqd = (u - dV.dot(&self.U)) * self.per_D;
        (dqd, link.plus_along(by, dV, dqd))
    }
}
