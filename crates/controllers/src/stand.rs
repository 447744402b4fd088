//! Holds the initial joint positions.

use hardstand_error::{Error, ErrorKind, Result};
use hardstand_protocol::{JointCommand, ModelReply, StateReading};

use crate::ControlLaw;

/// Holds joints where they are in the robot's initial pose.
#[derive(Clone, Debug, PartialEq)]
pub struct Stand {
    joints: Vec<String>,
    hold: Vec<JointCommand>,
}

impl Stand {
    /// Holds the joints with these names, or all if there are none, with the robot's own gains
    /// unless `kp` (N·m/rad) or `kd` (N·m·s/rad) is given.
    ///
    /// # Errors
    /// `ErrorKind::Input` if a gain is out of the robot's range or a name unknown.
    pub fn new(
        model: &ModelReply,
        names: &[String],
        kp: Option<f64>,
        kd: Option<f64>,
    ) -> Result<Self> {
        for (name, gain, max) in [("kp", kp, model.kp_max), ("kd", kd, model.kd_max)] {
            if let Some(gain) = gain.filter(|gain| !(0.0..=max).contains(gain)) {
                let text = format!("{name} is {gain}; the daemon accepts 0 to {max}");
                return Err(Error::new(ErrorKind::Input, text));
            }
        }
        let known = |name: &&String| !model.joints.iter().any(|joint| joint.name == **name);
        if let Some(name) = names.iter().find(known) {
            let all: Vec<&str> = model.joints.iter().map(|joint| joint.name.as_str()).collect();
            let text = format!("joint {name:?} is unknown; the robot has {}", all.join(", "));
            return Err(Error::new(ErrorKind::Input, text));
        }
        let all = model.joints.iter().map(|joint| &joint.name).zip(model.hold());
        let own = all.filter(|(name, _)| names.is_empty() || names.contains(name));
        let gains = |hold: JointCommand| JointCommand {
            kp: kp.unwrap_or(hold.kp),
            kd: kd.unwrap_or(hold.kd),
            ..hold
        };
        let (joints, hold) = own.map(|(name, hold)| (name.clone(), gains(hold))).unzip();
        Ok(Self { joints, hold })
    }

    /// The set-points.
    #[must_use]
    pub fn set_points(&self) -> &[JointCommand] {
        &self.hold
    }
}

impl ControlLaw for Stand {
    fn joints(&self) -> &[String] {
        &self.joints
    }

    fn begin(&mut self, _first: &StateReading) {}

    fn step(&mut self, _state: &StateReading, commands: &mut [JointCommand]) -> Result<()> {
        commands.copy_from_slice(&self.hold);
        Ok(())
    }
}
