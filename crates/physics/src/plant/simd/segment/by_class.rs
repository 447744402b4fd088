//! What a segment does for each class of joints.

use crate::dynamics::{AbaFactors, BodyKinematics, JointClass, Link};
use crate::simd::SimdReal;
use crate::spatial::simd::Motion;

use super::{Carrier, Onto};
use crate::plant::simd::child_contribution::ChildContribution;

#[inline(always)]
pub(super) fn inward_pass_by<T: SimdReal>(
    by: JointClass,
    link: &Link<T>,
    (kin, contribution): (&BodyKinematics<T>, &ChildContribution<T>),
    effort: (T, T),
    factors: &mut AbaFactors<T>,
    onto: Onto<'_, T>,
) {
    let (of_joint, I_P, p_P) =
        AbaFactors::joint_by(by, link, kin, effort, &contribution.I_A, &contribution.p_A);
    *factors = of_joint;
    match onto {
        Onto::Nothing(contribution) => *contribution = ChildContribution { I_A: I_P, p_A: p_P },
        Onto::Body(inertia, contribution) => {
            contribution.I_A = inertia.articulated();
            contribution.I_A += I_P;
            contribution.p_A += p_P;
        }
        Onto::More(contribution) => {
            contribution.I_A += I_P;
            contribution.p_A += p_P;
        }
    }
}

#[inline(always)]
pub(super) fn accelerate_by<T: SimdReal>(
    by: JointClass,
    link: &Link<T>,
    factors: &AbaFactors<T>,
    kin: &BodyKinematics<T>,
    A_P: &Motion<T>,
    A: &mut Motion<T>,
) -> T {
    let qdd;
    (qdd, *A) = factors.accelerate_by(by, link, kin, A_P);
    qdd
}

#[inline(always)]
pub(super) fn velocity_by<T: SimdReal>(
    by: JointClass,
    link: &Link<T>,
    qd: T,
    V_P: &Motion<T>,
    kin: &mut BodyKinematics<T>,
) {
    kin.V = link.velocity(by, (&kin.X_PB, &kin.turn), V_P, qd);
}

#[inline(always)]
pub(super) fn jump_by<T: SimdReal>(
    by: JointClass,
    link: &Link<T>,
    (factors, parent, h): (&AbaFactors<T>, &Carrier<'_, T>, T),
    [velocity, position]: [Option<(T, &Motion<T>)>; 2],
    (q, qd): (&mut T, &mut T),
    jumps: &mut [Motion<T>; 2],
    kin: &mut BodyKinematics<T>,
) {
    if let Some((u, dV_P)) = velocity {
        let (dqd, dV) = factors.jump_by(by, link, kin, u, dV_P);
        *qd += dqd;
        jumps[0] = dV;
    }
    *q += h * *qd;
    if let Some((u, shift_P)) = position {
        let (dq, shift) = factors.jump_by(by, link, kin, u, shift_P);
        *q += dq;
        jumps[1] = shift;
    }
    BodyKinematics::turn_by(by, link, *q, kin);
    BodyKinematics::carry_by(by, link, *qd, (parent.X_WB, parent.V), kin);
}
