//! Linearly implicit steps with limbs side by side.

use crate::dynamics::Data;
use crate::plant::State;
use crate::plant::implicit::Step;
use crate::simd::SimdReal;

use super::springs::StepParams;
use super::{Robot, SimdStep, Steps, Task};

impl SimdStep {
    /// Takes over the external forces for the next implicit step, and the inertias that belong to
    /// them.
    pub(in crate::plant) fn load_implicit(&mut self, data: &Data) {
        self.perform(Task::LoadImplicit(data));
    }

    /// One implicit step of `h` seconds. The contacts are not evaluated.
    pub(in crate::plant) fn implicit_step(&mut self, h: f64, state: &mut State) {
        let params = StepParams { h, micro_step_s: h, implicit: true, contacts: false };
        match self {
            Self::Portable(robot) => robot.implicit_step(params, state),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(robot) => robot.implicit_step(params, state),
        }
    }

    /// `count` micro-steps, the first in halves if `halves` is true. As for
    /// [`advance`](Self::advance), the contacts are evaluated between steps, not after the last.
    /// Returns true if the last micro-step was taken in halves.
    pub(in crate::plant) fn advance_implicit(
        &mut self,
        count: u32,
        halves: bool,
        state: &mut State,
    ) -> bool {
        match self {
            Self::Portable(robot) => robot.advance_implicit(count, halves, state),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(robot) => robot.advance_implicit(count, halves, state),
        }
    }
}

impl<Q: SimdReal> Robot<Q> {
    fn advance_implicit(&mut self, count: u32, mut halves: bool, state: &mut State) -> bool {
        let (micro_step_s, mut loaded) = (self.h, true);
        for left in (0..count).rev() {
            let (parts, lengths) = if halves { (2, self.halves) } else { (1, [self.h; 2]) };
            for (part, &h) in lengths[..parts].iter().enumerate() {
                if !loaded {
                    self.restart(h);
                }
                loaded = false;
                let contacts = left > 0 || part + 1 < parts;
                let params = StepParams { h, micro_step_s, implicit: true, contacts };
                self.implicit_step(params, state);
            }
            if left > 0 {
                halves = self.needs_substep();
            }
        }
        halves
    }

    fn implicit_step(&mut self, params: StepParams, state: &mut State) {
        Q::run(Steps { robot: self, count: 1, params, state });
    }

    fn needs_substep(&mut self) -> bool {
        let mut any = false;
        self.perform(Task::NeedsSubstep(&mut any));
        any
    }

    /// Starts a step of `h` seconds from the contacts as evaluated.
    fn restart(&mut self, h: f64) {
        let step = Step { h, gravity_W: self.trunk.gravity_W };
        self.on_limbs(Task::Restart(step));
        self.trunk.restart(&self.trunk_springs, &step);
    }
}
