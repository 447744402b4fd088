//! Runs a learned policy: `hardstand-policy` in a run.

use std::path::Path;

use hardstand_error::{Error, ErrorKind, Result};
use hardstand_policy::{Contract, Network, Policy, RobotFacts, Sensors, Truth};
use hardstand_protocol::{JointCommand, ModelReply, StateReading};

use crate::ControlLaw;

/// A kind of joint.
const PRISMATIC: u8 = 1;

/// Reads a contract (TOML) and its policy (ONNX), which is that of the contract unless it is given.
///
/// # Errors
/// `ErrorKind::File` or `Input` with what is wrong in which file.
pub fn read_policy(contract: &Path, policy: Option<&Path>) -> Result<(Contract, Network)> {
    let contract = Contract::read(contract)?;
    let path = policy.map(Path::to_path_buf).or_else(|| contract.policy_path());
    let path = path.ok_or_else(|| {
        let text = format!("contract {} names no policy: give an ONNX file", contract.name());
        Error::new(ErrorKind::Input, text)
    })?;
    let network = Network::read(path)?;
    Ok((contract, network))
}

/// What a contract is checked against.
#[must_use]
pub fn robot_facts(model: &ModelReply) -> RobotFacts {
    let joints = &model.joints;
    RobotFacts {
        joints: joints.iter().map(|j| j.name.clone()).collect(),
        period_s: model.period_ns as f64 / 1e9,
        q_min: joints.iter().map(|j| j.q_min).collect(),
        q_max: joints.iter().map(|j| j.q_max).collect(),
        kp_max: model.kp_max,
        kd_max: model.kd_max,
        feet: model.feet.len(),
        imu_quat_wxyz: model.imu_frame.pose.quat_wxyz,
        imu_on_base: model.imu_frame.body == model.base_link,
        prismatic: joints.iter().map(|j| j.kind == PRISMATIC).collect(),
    }
}

/// A policy, whose contract holds for the robot.
#[derive(Debug)]
pub struct PolicyLaw {
    joints: Vec<String>,
    policy: Policy,
    /// It is asked for the velocity in the states.
    follows: bool,
    /// For each joint of the policy its place among the commands, which are in the model's order,
    /// and its gains.
    drives: Vec<(usize, (f64, f64))>,
    q_rad: Vec<f64>,
    dq_rad_per_s: Vec<f64>,
    foot_contact: Vec<bool>,
}

impl PolicyLaw {
    /// Reads a policy as [`read_policy`] does, and checks its contract against the robot. Its
    /// commands are those of `command` by name; without one it follows the velocity in the states.
    ///
    /// # Errors
    /// As [`read_policy`]; `ErrorKind::Input` with every clause that does not hold.
    pub fn load(
        model: &ModelReply,
        contract: &Path,
        policy: Option<&Path>,
        command: &[(String, f64)],
    ) -> Result<Self> {
        let (contract, network) = read_policy(contract, policy)?;
        let policy = Policy::new(contract, network, &robot_facts(model), command)?;
        Ok(Self::new(policy, model, command.is_empty()))
    }

    /// A policy for this robot. If it `follows`, it is asked for the velocity in the states.
    #[must_use]
    pub fn new(policy: Policy, model: &ModelReply, follows: bool) -> Self {
        let own = model.joints.iter().map(|j| &j.name).filter(|n| policy.joints().contains(n));
        let own: Vec<&String> = own.collect();
        let joints = policy.joints().iter().zip(policy.gains());
        let place = |name: &String| own.iter().position(|n| *n == name);
        let drives = joints.filter_map(|(name, gains)| Some((place(name)?, *gains))).collect();
        let (q_rad, dq_rad_per_s, foot_contact) = (Vec::new(), Vec::new(), Vec::new());
        let joints = own.into_iter().cloned().collect();
        Self { joints, policy, follows, drives, q_rad, dq_rad_per_s, foot_contact }
    }
}

impl ControlLaw for PolicyLaw {
    fn joints(&self) -> &[String] {
        &self.joints
    }

    fn period_ticks(&self) -> u64 {
        self.policy.period_ticks()
    }

    fn begin(&mut self, _first: &StateReading) {
        self.policy.reset();
    }

    fn step(&mut self, state: &StateReading, commands: &mut [JointCommand]) -> Result<()> {
        if self.follows {
            self.policy.set_velocity(state.velocity_command.values());
        }
        self.q_rad.clear();
        self.q_rad.extend(state.joints.iter().map(|j| j.q));
        self.dq_rad_per_s.clear();
        self.dq_rad_per_s.extend(state.joints.iter().map(|j| j.dq));
        self.foot_contact.clear();
        self.foot_contact.extend(state.foot_contact.iter().map(|c| *c != 0));
        let targets = self.policy.act(&Sensors {
            gyro_rad_per_s: state.imu_angular_velocity_rad_per_s,
            acc_m_per_s2: state.imu_specific_force_m_per_s2,
            imu_quat_wxyz: state.imu_quat_wxyz,
            q_rad: &self.q_rad,
            dq_rad_per_s: &self.dq_rad_per_s,
            foot_contact: &self.foot_contact,
            truth: Some(Truth {
                base_velocity_m_per_s: state.truth_base_velocity_m_per_s,
                base_quat_wxyz: state.truth_base_quat_wxyz,
                base_position_m: state.truth_base_position_m,
            }),
        });
        if let Some(i) = targets.iter().position(|q| !q.is_finite()) {
            let (q, tick) = (targets[i], state.tick);
            let joint = &self.policy.joints()[i];
            let text = format!(
                "the policy's target of joint {joint} is {q} at tick {tick}; it must be finite"
            );
            return Err(Error::new(ErrorKind::Input, text));
        }
        for (&(place, (kp, kd)), &q) in self.drives.iter().zip(targets) {
            commands[place] = JointCommand { q, kp, kd, ..JointCommand::default() };
        }
        Ok(())
    }
}
