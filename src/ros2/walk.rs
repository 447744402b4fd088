//! A control law that the daemon runs by itself, when Unitree's `sport` is asked to move.

use crate::config::Walker;
use hardstand_controllers::{ControlLaw, PolicyLaw, Runner, TrotLaw};
use hardstand_error::Result;
use hardstand_protocol::{JointCommand, ModelReply, StateReading};

/// A law, and the set-points in force: joints that it does not command are held.
#[derive(Debug)]
pub(super) struct Walk {
    runner: Runner,
    /// Places of its joints.
    own: Vec<usize>,
    joints: Vec<JointCommand>,
    /// Run and tick of the last answer.
    answered: Option<(u32, u64)>,
}

impl Walk {
    /// # Errors
    /// As [`PolicyLaw::load`] and [`TrotLaw::new`].
    pub(super) fn new(walker: &Walker, model: &ModelReply) -> Result<Self> {
        let law: Box<dyn ControlLaw> = match walker {
            Walker::Trot => Box::new(TrotLaw::new(model, None)?),
            Walker::Policy { contract, policy } => {
                Box::new(PolicyLaw::load(model, contract, policy.as_deref(), &[])?)
            }
        };
        let runner = Runner::new(law, model);
        let own = model.joints.iter().enumerate();
        let own = own.filter(|(_, joint)| runner.joints().contains(&joint.name));
        let own = own.map(|(place, _)| place).collect();
        Ok(Self { runner, own, joints: model.hold(), answered: None })
    }

    /// The next state is the first of a walk.
    pub(super) const fn begin(&mut self) {
        self.runner.begin_again();
        self.answered = None;
    }

    /// The set-points of all joints for a state. Those of states in between stay.
    ///
    /// # Errors
    /// As [`Runner::answer`].
    pub(super) fn at(&mut self, state: &StateReading) -> Result<Vec<JointCommand>> {
        let period = self.runner.period_ticks();
        let due = |(run_id, tick)| run_id != state.run_id || state.tick / period != tick / period;
        if self.answered.is_none_or(due) {
            let answer = self.runner.answer(state)?;
            self.own.iter().zip(answer).for_each(|(place, command)| self.joints[*place] = *command);
            self.answered = Some((state.run_id, state.tick));
        }
        Ok(self.joints.clone())
    }
}
