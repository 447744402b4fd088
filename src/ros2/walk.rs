//! A control law that the daemon runs by itself, when Unitree's `sport` is asked to move.

use super::counters::RosRejection;
use super::orders::Refused;
use crate::config::Walker;
use hardstand_controllers::{ControlLaw, PolicyLaw, Runner, TrotLaw, read_policy, robot_facts};
use hardstand_error::{Error, Result};
use hardstand_policy::Policy;
use hardstand_protocol::{JointCommand, ModelReply, StateReading, VelocityCommand};

/// Velocities and their units, by the names in contracts.
const VELOCITIES: [(&str, &str); 3] = [("vx", "m/s"), ("vy", "m/s"), ("yaw_rate", "rad/s")];

/// What a controller outside may be asked for. Source: Unitree's description of a Go2's `Move`.
pub(super) const RANGES_OF_MOVE: VelocityRanges =
    VelocityRanges { of: "Move", ranges: [[-2.5, 3.8], [-1.0, 1.0], [-4.0, 4.0]] };

/// In every corner the trot keeps the shipped quadruped up on level ground; at 2 m/s it falls.
const RANGES_OF_TROT: VelocityRanges =
    VelocityRanges { of: "the trot", ranges: [[-1.0, 1.0], [-0.5, 0.5], [-1.5, 1.5]] };

/// What walks, and the least and greatest velocity ahead and to the left, m/s, and to turn to the
/// left, rad/s.
#[derive(Clone, Copy, Debug)]
pub(super) struct VelocityRanges {
    of: &'static str,
    ranges: [[f64; 2]; 3],
}

impl VelocityRanges {
    /// Those of a contract. What it does not command is not told to the policy; whatever its least
    /// velocity is, the robot may be asked to stand.
    fn of_contract<'a>(commands: impl Iterator<Item = (&'a str, [f64; 2])>) -> Self {
        let mut ranges = RANGES_OF_MOVE.ranges;
        for (name, [low, high]) in commands {
            let known =
                VELOCITIES.into_iter().zip(&mut ranges).find(|((known, _), _)| *known == name);
            if let Some((_, range)) = known {
                *range = [low.min(0.0), high.max(0.0)];
            }
        }
        Self { of: "the walker's contract", ranges }
    }

    /// # Errors
    /// [`RosRejection::Call`] with the first value that is out of its range.
    pub(super) fn check(&self, velocity: &VelocityCommand) -> std::result::Result<(), Refused> {
        let all = VELOCITIES.into_iter().zip(velocity.values()).zip(self.ranges);
        for (((name, unit), value), [low, high]) in all {
            // NaN is in no range
            if !(low..=high).contains(&value) {
                let of = self.of;
                let text = format!(
                    "{name} is {value} {unit}; it must be {low} to {high} {unit}, the range of {of}"
                );
                return Err(Refused::new(RosRejection::Call, text));
            }
        }
        Ok(())
    }
}

/// A law, and the set-points in force: joints that it does not command are held.
#[derive(Debug)]
pub(super) struct Walk {
    runner: Runner,
    ranges: VelocityRanges,
    /// Places of its joints.
    own: Vec<usize>,
    joints: Vec<JointCommand>,
    /// Run and tick of the last answer.
    answered: Option<(u32, u64)>,
}

impl Walk {
    /// # Errors
    /// As [`read_policy`], [`Policy::new`] and [`TrotLaw::new`], with the key of the scenario.
    pub(super) fn new(walker: &Walker, model: &ModelReply) -> Result<Self> {
        let (law, ranges) = law(walker, model).map_err(|e| named(walker, &e))?;
        let runner = Runner::new(law, model);
        let own = model.joints.iter().enumerate();
        let own = own.filter(|(_, joint)| runner.joints().contains(&joint.name));
        let own = own.map(|(place, _)| place).collect();
        Ok(Self { runner, ranges, own, joints: model.hold(), answered: None })
    }

    /// Velocities that it may be asked for.
    pub(super) const fn ranges(&self) -> &VelocityRanges {
        &self.ranges
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

/// The law, and the velocities that it may be asked for.
fn law(walker: &Walker, model: &ModelReply) -> Result<(Box<dyn ControlLaw>, VelocityRanges)> {
    match walker {
        Walker::Trot => Ok((Box::new(TrotLaw::new(model, None)?), RANGES_OF_TROT)),
        Walker::Policy { contract, policy } => {
            let (contract, network) = read_policy(contract, policy.as_deref())?;
            let ranges = VelocityRanges::of_contract(contract.commands());
            let policy = Policy::new(contract, network, &robot_facts(model), &[])?;
            Ok((Box::new(PolicyLaw::new(policy, model, true)), ranges))
        }
    }
}

/// Names the key of the scenario that is wrong.
fn named(walker: &Walker, e: &Error) -> Error {
    let text = match walker {
        Walker::Trot => format!("unitree.walker is \"trot\": {e}"),
        Walker::Policy { contract, .. } if contract.is_file() => {
            format!("unitree.walker is \"{}\": {e}", contract.display())
        }
        Walker::Policy { contract, .. } => format!(
            "unitree.walker is \"{}\"; it must be \"trot\", \"\" or the file of a contract \
             (TOML): {e}",
            contract.display()
        ),
    };
    Error::new(e.kind(), text)
}

#[cfg(test)]
mod tests {
    use super::{RANGES_OF_MOVE, Refused, RosRejection, VelocityRanges};
    use hardstand_protocol::VelocityCommand;

    #[test]
    fn a_walker_is_asked_for_what_its_contract_names_and_to_stand() {
        let commands = [("vx", [0.2, 1.0]), ("height", [0.1, 0.3])];
        let ranges = VelocityRanges::of_contract(commands.into_iter());
        let check = |values: [f64; 3]| ranges.check(&VelocityCommand::from(values));
        for values in [[0.0; 3], [1.0, 1.0, 4.0], [0.0, -1.0, -4.0]] {
            assert_eq!(check(values), Ok(()), "{values:?}");
        }
        let told = "vx is 1.5 m/s; it must be 0 to 1 m/s, the range of the walker's contract";
        let refused = Refused::new(RosRejection::Call, told.into());
        assert_eq!(check([1.5, 0.0, 0.0]), Err(refused));
        assert!(check([-0.1, 0.0, 0.0]).is_err());
        assert!(check([0.0, 0.0, f64::NAN]).is_err());
        assert!(RANGES_OF_MOVE.check(&VelocityCommand::from([3.9, 0.0, 0.0])).is_err());
    }
}
