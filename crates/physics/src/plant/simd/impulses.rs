//! A micro-step with impulses, in two halves: between them the caller finds the impulses.

use crate::dynamics::Data;
use crate::plant::State;
use crate::plant::rigid::Jumps;
#[cfg(target_arch = "x86_64")]
use crate::simd::Avx2x4;
use crate::simd::{F64x2, SimdReal, Work};

use super::springs::StepParams;
use super::{Robot, SimdStep};

impl SimdStep {
    /// The first half of a micro-step with impulses: passes 2 and 3, and the velocities that they
    /// lead to. Gives `data` what impulses need to know.
    pub(in crate::plant) fn accelerate(&mut self, state: &mut State, data: &mut Data) {
        match self {
            Self::Portable(robot) => F64x2::run(Accelerate { robot, state, data }),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(robot) => Avx2x4::run(Accelerate { robot, state, data }),
        }
    }

    /// The second half: jumps under impulses, motion, kinematics.
    pub(in crate::plant) fn jump(&mut self, jumps: Jumps<'_>, state: &mut State) {
        match self {
            Self::Portable(robot) => F64x2::run(Advance { robot, jumps, state }),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(robot) => Avx2x4::run(Advance { robot, jumps, state }),
        }
    }
}

/// See [`SimdStep::accelerate`].
struct Accelerate<'a, Q> {
    robot: &'a mut Robot<Q>,
    state: &'a mut State,
    data: &'a mut Data,
}

impl<Q: SimdReal> Work for Accelerate<'_, Q> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { robot, state, data } = self;
        let Robot { h, trunk, groups, .. } = robot;
        let params = &StepParams { h: *h, micro_step_s: *h, implicit: false, contacts: false };
        for (group, lanes) in groups.iter_mut().zip(&mut trunk.contribution) {
            group.inward_pass(params, lanes);
        }
        trunk.start_jump(params, &mut state.v);
        trunk.store_response(data);
        for group in groups.iter_mut() {
            group.start_jump(trunk, *h);
            group.store_response(data);
        }
    }
}

/// See [`SimdStep::jump`].
struct Advance<'a, Q> {
    robot: &'a mut Robot<Q>,
    jumps: Jumps<'a>,
    state: &'a mut State,
}

impl<Q: SimdReal> Work for Advance<'_, Q> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { robot, jumps, state } = self;
        let Robot { h, trunk, groups, .. } = robot;
        trunk.jump(jumps, *h, &mut state.q, &mut state.v);
        for group in groups.iter_mut() {
            group.jump(trunk, jumps, *h);
        }
    }
}
