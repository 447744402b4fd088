//! A joint and the body that it moves, as constants: how they turn, carry and project.

use crate::math::{self};
use crate::model::{Joint, JointKind};
use crate::simd::SimdReal;
use crate::spatial::simd::{
    ArticulatedInertia, Force, Mat3, Motion, SpatialInertia, Transform, Vec3,
};
use crate::spatial::{self, skew};

use super::body::BodyKinematics;
use super::joint_rotation::{Axis, JointRotation};

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
pub(crate) enum JointClass {
    /// Turns about a coordinate axis that P and B share: then much of the arithmetic falls away.
    About(Axis),
    /// Turns about any axis.
    Turning,
    /// Slides along any axis.
    Sliding,
    /// In some lanes turns about any axis, in others slides along it.
    Mixed,
}

impl JointClass {
    pub(super) fn of(joint: &Joint) -> Self {
        match (joint.kind, shared_axis(joint)) {
            (JointKind::Revolute, Some((axis, _))) => Self::About(axis),
            (JointKind::Revolute, None) => Self::Turning,
            (JointKind::Prismatic, _) => Self::Sliding,
        }
    }

    /// A class that suits joints of both.
    pub(super) fn or(self, o: Self) -> Self {
        match (self, o) {
            (a, b) if a == b => a,
            (Self::About(_) | Self::Turning, Self::About(_) | Self::Turning) => Self::Turning,
            _ => Self::Mixed,
        }
    }
}

/// The coordinate axis along which the joint's axis lies in P and in B, and the angle about it by
/// which B is turned at `q = 0`, rad.
fn shared_axis(joint: &Joint) -> Option<(Axis, f64)> {
    let (axis, R) = (Axis::of(&joint.axis)?, &joint.X_PJ.R);
    let angle = axis.angle_of(R);
    (*R * joint.axis == joint.axis && R.tr_mul(&joint.axis) == joint.axis).then_some((axis, angle))
}

/// Calls a function with the joint's [`JointClass`] as a constant: each of the six gets code of
/// its own. Functions are named, because closures are not inlined into code for AVX2.
macro_rules! by_joint_class {
    ($link:expr, $function:path $(, $argument:expr)*) => {{
        use $crate::dynamics::{Axis, JointClass};
        const X: JointClass = JointClass::About(Axis::X);
        const Y: JointClass = JointClass::About(Axis::Y);
        const Z: JointClass = JointClass::About(Axis::Z);
        match $link.joint_class {
            X => $function(X, $link $(, $argument)*),
            Y => $function(Y, $link $(, $argument)*),
            Z => $function(Z, $link $(, $argument)*),
            JointClass::Turning => $function(JointClass::Turning, $link $(, $argument)*),
            JointClass::Sliding => $function(JointClass::Sliding, $link $(, $argument)*),
            JointClass::Mixed => $function(JointClass::Mixed, $link $(, $argument)*),
        }
    }};
}
pub(crate) use by_joint_class;

/// A body and the joint that moves it, as constants. Lanes share the class of the joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Link<T> {
    pub(crate) joint_class: JointClass,
    /// Motion subspace in B (and in J).
    S: Motion<T>,
    /// Angle by which a body is turned about a shared coordinate axis at `q = 0`, rad.
    angle_at_zero: T,
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
    /// `joint_class` suits the joint: its own, or one that also suits the joints beside it.
    pub(crate) fn new(
        joint_class: JointClass,
        joint: &Joint,
        inertia: &spatial::SpatialInertia,
    ) -> Self {
        let (R_PJ, a) = (&joint.X_PJ.R, &joint.axis);
        // Rodrigues: R(q) = a aᵀ + sin q â + cos q (1 − a aᵀ)
        let along = a.outer(a);
        let across = spatial::Mat3::identity() - along;
        let none = spatial::Mat3::default();
        let ([R_fixed, R_sin, R_cos], slide_P) = match joint.kind {
            JointKind::Revolute => ([R_PJ * along, R_PJ * skew(a), R_PJ * across], Vec3::zeros()),
            JointKind::Prismatic => ([*R_PJ, none, none], R_PJ * a),
        };
        Self {
            joint_class,
            S: motion_subspace(joint),
            angle_at_zero: shared_axis(joint).map_or(0.0, |(_, angle)| angle),
            R_fixed,
            R_sin,
            R_cos,
            p_PJ: joint.X_PJ.p,
            slide_P,
            armature: joint.armature,
            inertia: (*inertia).into(),
        }
    }

    /// `Sᵀ f` of several forces on one body.
    #[inline(always)]
    pub(super) fn project_several<T: SimdReal>(&self, f: &Force<T>) -> T {
        let S = Motion::from_lanes(|_| self.S);
        match self.joint_class {
            JointClass::About(axis) => axis.component(&f.ang),
            JointClass::Turning => S.ang.dot(&f.ang),
            JointClass::Sliding => S.lin.dot(&f.lin),
            JointClass::Mixed => S.dot(f),
        }
    }
}

impl<T: SimdReal> Link<T> {
    /// One link per lane, all with joints of one class.
    pub(crate) fn from_lanes<'a>(f: impl Fn(usize) -> &'a Link<f64>) -> Self {
        Self {
            joint_class: f(0).joint_class,
            S: Motion::from_lanes(|i| f(i).S),
            angle_at_zero: T::from_lanes(|i| f(i).angle_at_zero),
            R_fixed: Mat3::from_lanes(|i| f(i).R_fixed),
            R_sin: Mat3::from_lanes(|i| f(i).R_sin),
            R_cos: Mat3::from_lanes(|i| f(i).R_cos),
            p_PJ: Vec3::from_lanes(|i| f(i).p_PJ),
            slide_P: Vec3::from_lanes(|i| f(i).slide_P),
            armature: T::from_lanes(|i| f(i).armature),
            inertia: SpatialInertia::from_lanes(|i| f(i).inertia),
        }
    }

    /// Pose of a child that is turned about a coordinate axis.
    #[inline(always)]
    pub(super) fn about(&self, axis: Axis, turn: &JointRotation<T>) -> Transform<T> {
        Transform::new(turn.matrix(axis), self.p_PJ)
    }

    /// Pose and turn of the child at position `q`, rad or m.
    #[inline(always)]
    pub(super) fn moved(&self, by: JointClass, q: T) -> (Transform<T>, JointRotation<T>) {
        match by {
            JointClass::About(axis) => {
                let turn = JointRotation::new(math::sin_cos(q + self.angle_at_zero));
                (self.about(axis, &turn), turn)
            }
            JointClass::Turning => {
                let turn = JointRotation::new(math::sin_cos(q));
                (Transform::new(self.rotation(&turn), self.p_PJ), turn)
            }
            JointClass::Sliding => {
                let p_PB = self.p_PJ + self.slide_P.scaled(q);
                (Transform::new(self.R_fixed, p_PB), JointRotation::default())
            }
            JointClass::Mixed => {
                let turn = JointRotation::new(math::sin_cos(q));
                let p_PB = self.p_PJ + self.slide_P.scaled(q);
                (Transform::new(self.rotation(&turn), p_PB), turn)
            }
        }
    }

    /// `R_PB` of a joint along any axis.
    #[inline(always)]
    fn rotation(&self, turn: &JointRotation<T>) -> Mat3<T> {
        self.R_fixed + self.R_sin.scaled(turn.sin) + self.R_cos.scaled(turn.cos)
    }

    /// `m + S s`. (table 4.1)
    #[inline(always)]
    pub(super) fn plus_along(&self, by: JointClass, m: Motion<T>, s: T) -> Motion<T> {
        match by {
            JointClass::About(axis) => Motion::new(axis.plus(m.ang, s), m.lin),
            JointClass::Turning => Motion::new(m.ang + self.S.ang.scaled(s), m.lin),
            JointClass::Sliding => Motion::new(m.ang, m.lin + self.S.lin.scaled(s)),
            JointClass::Mixed => m + self.S.scaled(s),
        }
    }

    /// `Sᵀ f`.
    #[inline(always)]
    pub(super) fn project(&self, by: JointClass, f: &Force<T>) -> T {
        match by {
            JointClass::About(axis) => axis.component(&f.ang),
            JointClass::Turning => self.S.ang.dot(&f.ang),
            JointClass::Sliding => self.S.lin.dot(&f.lin),
            JointClass::Mixed => self.S.dot(f),
        }
    }

    /// The body's velocity at the joint's `qd`, on a parent with velocity `V_P`.
    #[inline(always)]
    pub(crate) fn velocity(
        &self,
        by: JointClass,
        (X_PB, turn): (&Transform<T>, &JointRotation<T>),
        V_P: &Motion<T>,
        qd: T,
    ) -> Motion<T> {
        self.plus_along(by, self.motion_to_child(by, X_PB, turn, V_P), qd)
    }

    /// `I_A S`.
    #[inline(always)]
    pub(super) fn inertia_along(&self, by: JointClass, I_A: &ArticulatedInertia<T>) -> Force<T> {
        match by {
            JointClass::About(axis) => Force::new(axis.row(&I_A.I.full()), axis.row(&I_A.H)),
            JointClass::Turning => Force::new(I_A.I.mul(&self.S.ang), I_A.H.tr_mul(&self.S.ang)),
            JointClass::Sliding => Force::new(I_A.H.mul(&self.S.lin), I_A.M.mul(&self.S.lin)),
            JointClass::Mixed => I_A.mul(&self.S),
        }
    }

    /// `c = V × S q̇`.
    #[inline(always)]
    pub(super) fn velocity_product(&self, by: JointClass, V: &Motion<T>, qd: T) -> Motion<T> {
        match by {
            JointClass::About(axis) => {
                Motion::new(axis.cross_from(&V.ang, qd), axis.cross_from(&V.lin, qd))
            }
            JointClass::Turning => {
                let step = self.S.ang.scaled(qd);
                Motion::new(V.ang.cross(&step), V.lin.cross(&step))
            }
            JointClass::Sliding => Motion::new(Vec3::zeros(), V.ang.cross(&self.S.lin.scaled(qd))),
            JointClass::Mixed => V.cross(&self.S.scaled(qd)),
        }
    }

    /// `X_WP X_PB`.
    #[inline(always)]
    pub(super) fn compose(
        &self,
        by: JointClass,
        X_WP: &Transform<T>,
        X_PB: &Transform<T>,
        turn: &JointRotation<T>,
    ) -> Transform<T> {
        match by {
            JointClass::About(axis) => {
                Transform::new(turn.after(axis, &X_WP.R), X_WP.point(&X_PB.p))
            }
            _ => X_WP.compose(X_PB),
        }
    }

    /// `ᴮX_P m`.
    #[inline(always)]
    pub(super) fn motion_to_child(
        &self,
        by: JointClass,
        X_PB: &Transform<T>,
        turn: &JointRotation<T>,
        m: &Motion<T>,
    ) -> Motion<T> {
        match by {
            JointClass::About(axis) => {
                let lin = m.lin + m.ang.cross(&X_PB.p);
                Motion::new(turn.back(axis, &m.ang), turn.back(axis, &lin))
            }
            _ => X_PB.motion_to_child(m),
        }
    }

    /// `ᴮX_Pᵀ f`.
    #[inline(always)]
    pub(super) fn force_to_parent(
        &self,
        by: JointClass,
        kin: &BodyKinematics<T>,
        f: &Force<T>,
    ) -> Force<T> {
        match by {
            JointClass::About(axis) => {
                let lin = kin.turn.forth(axis, &f.lin);
                Force::new(kin.turn.forth(axis, &f.ang) + kin.X_PB.p.cross(&lin), lin)
            }
            _ => kin.X_PB.force_to_parent(f),
        }
    }

    /// `ᴮX_Pᵀ I_A ᴮX_P`.
    #[inline(always)]
    pub(super) fn inertia_to_parent(
        &self,
        by: JointClass,
        kin: &BodyKinematics<T>,
        I_A: &ArticulatedInertia<T>,
    ) -> ArticulatedInertia<T> {
        match by {
            JointClass::About(axis) => kin.turn.inertia(axis, I_A).shifted(&kin.X_PB.p),
            _ => I_A.to_parent(&kin.X_PB),
        }
    }

    /// `I_a c`: for a joint about a coordinate axis, `c` has no part along it.
    #[inline(always)]
    pub(super) fn times_velocity_product(
        &self,
        by: JointClass,
        I_a: &ArticulatedInertia<T>,
        c: &Motion<T>,
    ) -> Force<T> {
        match by {
            JointClass::About(axis) => axis.times_across(I_a, c),
            _ => I_a.mul(c),
        }
    }
}
