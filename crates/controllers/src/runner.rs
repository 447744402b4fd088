//! A control law in a run.

use std::fmt;

use hardstand_error::{Error, ErrorKind, Result};
use hardstand_protocol::{JoinRequest, JointCommand, ModelReply, StateReading};

use crate::ControlLaw;
use crate::rise::Rise;

/// A control law with what each run needs around it: it begins again with each run, and after an
/// emergency stop the joints first go back to where the robot stands, within 1 s.
pub struct Runner {
    law: Box<dyn ControlLaw>,
    rise: Rise,
    layout_hash: u64,
    /// Places of its joints among those of the robot.
    own: Vec<usize>,
    /// Run that the law has begun.
    begun: Option<u32>,
    commands: Vec<JointCommand>,
}

impl fmt::Debug for Runner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runner").field("joints", &self.law.joints()).finish_non_exhaustive()
    }
}

impl Runner {
    /// Of a law for this robot.
    #[must_use]
    pub fn new(law: Box<dyn ControlLaw>, model: &ModelReply) -> Self {
        let names = model.joints.iter().enumerate();
        let own = names.filter(|(_, joint)| law.joints().contains(&joint.name));
        let own: Vec<usize> = own.map(|(place, _)| place).collect();
        Self {
            rise: Rise::to(model.hold()),
            layout_hash: model.layout_hash,
            begun: None,
            commands: vec![JointCommand::default(); own.len()],
            own,
            law,
        }
    }

    /// How it joins as the controller `name`, which must answer.
    #[must_use]
    pub fn request(&self, model: &ModelReply, name: &str) -> JoinRequest {
        JoinRequest {
            period_ticks: self.period_ticks(),
            joints: self.law.joints().to_vec(),
            ..JoinRequest::new(model, name)
        }
    }

    /// Joints that it commands, in the model's order.
    #[must_use]
    pub fn joints(&self) -> &[String] {
        self.law.joints()
    }

    /// Ticks between two states that it answers.
    #[must_use]
    pub fn period_ticks(&self) -> u64 {
        self.law.period_ticks().max(1)
    }

    /// Lets the law begin again with the next state.
    pub const fn begin_again(&mut self) {
        self.begun = None;
    }

    /// The set-points that answer a state, one for each of its joints, in the model's order.
    ///
    /// # Errors
    /// `ErrorKind::Bus` if the state is another robot's; as [`ControlLaw::step`].
    pub fn answer(&mut self, state: &StateReading) -> Result<&[JointCommand]> {
        if state.layout_hash != self.layout_hash {
            let text = "the daemon now simulates another robot; start the controller again";
            return Err(Error::new(ErrorKind::Bus, text));
        }
        if let Some(rising) = self.rise.set_points(state) {
            let own = self.own.iter().filter_map(|place| rising.get(*place));
            self.commands.iter_mut().zip(own).for_each(|(command, rising)| *command = *rising);
            self.begun = None;
        } else {
            if self.begun.replace(state.run_id) != Some(state.run_id) {
                self.law.begin(state);
            }
            self.law.step(state, &mut self.commands)?;
        }
        Ok(&self.commands)
    }
}
