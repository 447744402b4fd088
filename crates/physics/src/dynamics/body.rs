//! What the algorithms do at one body: of a robot, or of several limbs at once.
//!
//! Everything that runs in each micro-step is here once, for any number of lanes. The loops over
//! the bodies are in [`kinematics`](super::kinematics()) and [`aba`](super::aba()), one body after
//! another, and in the plant's fast path, limbs side by side.

use crate::simd::SimdReal;
use crate::spatial::simd::{
    ArticulatedInertia, Force, Mat3, Motion, SpatialInertia, Transform, Vec3,
};

use super::joint_rotation::JointRotation;
use super::link::{JointClass, Link, by_joint_class};

/// Where a body is and how it moves.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct BodyKinematics<T> {
    /// Pose of B in the parent body's frame; for the base, in W.
    pub(crate) X_PB: Transform<T>,
    /// Pose of B in W.
    pub(crate) X_WB: Transform<T>,
    /// Spatial velocity `V_WB_B`.
    pub(crate) V: Motion<T>,
    /// Velocity-product acceleration `c = V × S q̇`.
    pub(crate) c: Motion<T>,
    /// Sine and cosine of a revolute joint's position.
    pub(crate) turn: JointRotation<T>,
}

impl<T: SimdReal> BodyKinematics<T> {
    /// Lane `i` is `f(i)`.
    pub(crate) fn from_lanes(f: impl Fn(usize) -> BodyKinematics<f64>) -> Self {
        Self {
            X_PB: Transform::from_lanes(|i| f(i).X_PB),
            X_WB: Transform::from_lanes(|i| f(i).X_WB),
            V: Motion::from_lanes(|i| f(i).V),
            c: Motion::from_lanes(|i| f(i).c),
            turn: JointRotation::from_lanes(|i| f(i).turn),
        }
    }

    /// Each lane by itself: see [`SimdReal::by_lane`].
    #[inline(always)]
    pub(crate) fn by_lane(&self) -> [BodyKinematics<f64>; 4] {
        let Self { X_PB, X_WB, V, c, turn } = self;
        let ([X_PB, X_WB], [V, c]) = ([X_PB, X_WB].map(pose_by_lane), by_lane(V, c));
        let turn = T::by_lane([turn.sin, turn.cos, turn.sin, turn.cos]);
        [0, 1, 2, 3].map(|i| BodyKinematics {
            X_PB: X_PB[i],
            X_WB: X_WB[i],
            V: V[i],
            c: c[i],
            turn: JointRotation::new((turn[i][0], turn[i][1])),
        })
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
        let mut kin = Self::default();
        by_joint_class!(link, Self::turn_by, q, &mut kin);
        by_joint_class!(link, Self::settle_by, &mut kin);
        by_joint_class!(link, Self::carry_by, qd, (X_WP, V_P), &mut kin);
        kin
    }

    /// The part of [`on_parent`](Self::on_parent) that needs to know nothing of the parent. For a
    /// joint about a coordinate axis it leaves `X_PB` as it is: `turn` says all, and its position
    /// never changes.
    #[inline(always)]
    pub(crate) fn turn_by(by: JointClass, link: &Link<T>, q: T, kin: &mut Self) {
        let (X_PB, turn) = link.moved(by, q);
        kin.turn = turn;
        if !matches!(by, JointClass::About(_)) {
            kin.X_PB = X_PB;
        }
    }

    /// Sets the `X_PB` of a joint about a coordinate axis, for others to read.
    #[inline(always)]
    pub(crate) fn settle_by(by: JointClass, link: &Link<T>, kin: &mut Self) {
        if let JointClass::About(axis) = by {
            kin.X_PB = link.about(axis, &kin.turn);
        }
    }

    /// The rest of [`on_parent`](Self::on_parent).
    #[inline(always)]
    pub(crate) fn carry_by(
        by: JointClass,
        link: &Link<T>,
        qd: T,
        (X_WP, V_P): (&Transform<T>, &Motion<T>),
        kin: &mut Self,
    ) {
        let Self { X_PB, turn, .. } = kin;
        kin.V = link.velocity(by, (X_PB, turn), V_P, qd);
        kin.X_WB = link.compose(by, X_WP, X_PB, turn);
        kin.c = link.velocity_product(by, &kin.V, qd);
    }
}

/// A pose in each lane by itself.
#[inline(always)]
fn pose_by_lane<T: SimdReal>(X: &Transform<T>) -> [Transform<f64>; 4] {
    let Transform { R, p } = X;
    let a = T::by_lane([R.x.x, R.x.y, R.x.z, R.y.x]);
    let b = T::by_lane([R.y.y, R.y.z, R.z.x, R.z.y]);
    let c = T::by_lane([R.z.z, p.x, p.y, p.z]);
    [0, 1, 2, 3].map(|i| {
        let (a, b, c) = (a[i], b[i], c[i]);
        let R = Mat3::from_rows(
            Vec3::new(a[0], a[1], a[2]),
            Vec3::new(a[3], b[0], b[1]),
            Vec3::new(b[2], b[3], c[0]),
        );
        Transform::new(R, Vec3::new(c[1], c[2], c[3]))
    })
}

/// Two motions in each lane by themselves.
#[inline(always)]
fn by_lane<T: SimdReal>(v: &Motion<T>, w: &Motion<T>) -> [[Motion<f64>; 4]; 2] {
    let a = T::by_lane([v.ang.x, v.ang.y, v.ang.z, v.lin.x]);
    let b = T::by_lane([v.lin.y, v.lin.z, w.ang.x, w.ang.y]);
    let c = T::by_lane([w.ang.z, w.lin.x, w.lin.y, w.lin.z]);
    let first = |i: usize| {
        Motion::new(Vec3::new(a[i][0], a[i][1], a[i][2]), Vec3::new(a[i][3], b[i][0], b[i][1]))
    };
    let second = |i: usize| {
        Motion::new(Vec3::new(b[i][2], b[i][3], c[i][0]), Vec3::new(c[i][1], c[i][2], c[i][3]))
    };
    [[0, 1, 2, 3].map(first), [0, 1, 2, 3].map(second)]
}

/// `p_A = V ×* I V − f_ext` of a single body. (7.37)
#[inline(always)]
pub(crate) fn bias_force<T: SimdReal>(
    inertia: &SpatialInertia<T>,
    V: &Motion<T>,
    f_ext: &Force<T>,
) -> Force<T> {
    V.cross_force(&inertia.mul(V)) - *f_ext
}

/// What a joint does to what is felt through it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct AbaFactors<T> {
    /// `U = I_A S`.
    pub(crate) U: Force<T>,
    /// `D = Sᵀ U + armature`, and its reciprocal.
    pub(crate) D: T,
    pub(crate) per_D: T,
    /// `u = τ − Sᵀ p_A`.
    pub(crate) u: T,
}

impl<T: SimdReal> AbaFactors<T> {
    /// Each lane by itself, with the body's velocity: see [`SimdReal::by_lane`].
    #[inline(always)]
    pub(crate) fn by_lane(&self, V: &Motion<T>) -> [(Motion<f64>, AbaFactors<f64>); 4] {
        let Self { U, D, per_D, u } = self;
        let a = T::by_lane([V.ang.x, V.ang.y, V.ang.z, V.lin.x]);
        let b = T::by_lane([V.lin.y, V.lin.z, U.ang.x, U.ang.y]);
        let c = T::by_lane([U.ang.z, U.lin.x, U.lin.y, U.lin.z]);
        let d = T::by_lane([*D, *per_D, *u, *u]);
        [0, 1, 2, 3].map(|i| {
            let [a, b, c, [D, per_D, u, _]] = [a[i], b[i], c[i], d[i]];
            let V = Motion::new(Vec3::new(a[0], a[1], a[2]), Vec3::new(a[3], b[0], b[1]));
            let U = Force::new(Vec3::new(b[2], b[3], c[0]), Vec3::new(c[1], c[2], c[3]));
            (V, AbaFactors { U, D, per_D, u })
        })
    }

    /// Pass 2 at one body: `U`, `D`, `u`, and what the parent feels, `I_a` and `p_a`, about the
    /// parent's origin in its axes, under the effort `tau` of a motor with this armature. (7.43 to
    /// 7.47)
    #[inline(always)]
    pub(crate) fn joint(
        link: &Link<T>,
        kin: &BodyKinematics<T>,
        effort: (T, T),
        I_A: &ArticulatedInertia<T>,
        p_A: &Force<T>,
    ) -> (Self, ArticulatedInertia<T>, Force<T>) {
        by_joint_class!(link, Self::joint_by, kin, effort, I_A, p_A)
    }

    #[inline(always)]
    pub(crate) fn joint_by(
        by: JointClass,
        link: &Link<T>,
        kin: &BodyKinematics<T>,
        (tau, armature): (T, T),
        I_A: &ArticulatedInertia<T>,
        p_A: &Force<T>,
    ) -> (Self, ArticulatedInertia<T>, Force<T>) {
        let (mut factors, I_a) = Self::inertia_by(by, link, armature, I_A);
        factors.u = tau - link.project(by, p_A);
        let contribution = factors.U.scaled(factors.u * factors.per_D);
        let p_a = *p_A + link.times_velocity_product(by, &I_a, &kin.c) + contribution;
        (factors, link.inertia_to_parent(by, kin, &I_a), link.force_to_parent(by, kin, &p_a))
    }

    /// `U`, `D` and `I_a = I_A − U Uᵀ / D` alone, in B.
    #[inline(always)]
    pub(crate) fn inertia(
        link: &Link<T>,
        armature: T,
        I_A: &ArticulatedInertia<T>,
    ) -> (Self, ArticulatedInertia<T>) {
        by_joint_class!(link, Self::inertia_by, armature, I_A)
    }

    #[inline(always)]
    fn inertia_by(
        by: JointClass,
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
        kin: &BodyKinematics<T>,
        A_P: &Motion<T>,
    ) -> (T, Motion<T>) {
        self.accelerate_by(link.joint_class, link, kin, A_P)
    }

    #[inline(always)]
    pub(crate) fn accelerate_by(
        &self,
        by: JointClass,
        link: &Link<T>,
        kin: &BodyKinematics<T>,
        A_P: &Motion<T>,
    ) -> (T, Motion<T>) {
        let a = link.motion_to_child(by, &kin.X_PB, &kin.turn, A_P) + kin.c;
        let qdd = (self.u - a.dot(&self.U)) * self.per_D;
        (qdd, link.plus_along(by, a, qdd))
    }

    /// Pass 3 for a jump of velocities under impulses, `u` of them along the joint: the joint's and
    /// the body's jump, from the parent's.
    #[inline(always)]
    pub(crate) fn jump_by(
        &self,
        by: JointClass,
        link: &Link<T>,
        kin: &BodyKinematics<T>,
        u: T,
        dV_P: &Motion<T>,
    ) -> (T, Motion<T>) {
        let dV = link.motion_to_child(by, &kin.X_PB, &kin.turn, dV_P);
        let dqd = (u - dV.dot(&self.U)) * self.per_D;
        (dqd, link.plus_along(by, dV, dqd))
    }
}
