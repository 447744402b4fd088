//! `hardstand controller policy`: runs a learned policy with its contract.

use std::path::PathBuf;

use hardstand_error::{Error, ErrorKind, Result};
use hardstand_policy::{Contract, Network, Policy, RobotFacts, Sensors, Truth};
use hardstand_protocol::{JoinRequest, JointCommand, ModelReply, StateReading};

use super::super::arguments::PolicyArguments;
use super::super::{ExitCode, show};
use super::{Connection, joined};

/// A kind of joint.
const PRISMATIC: u8 = 1;

pub(super) fn policy(a: &PolicyArguments) -> Result<ExitCode> {
    let contract = Contract::read(&a.contract)?;
    let network = Network::read(network_of(a, &contract)?)?;
    let command = command_of(a)?;
    let connection = Connection::new(&a.connection)?;
    let model = &connection.model;
    let name = contract.name().to_string();
    let policy = Policy::new(contract, network, &facts(model), &command)?;
    show::line(&format!("contract   {name}: every clause holds"));
    if a.check {
        return Ok(ExitCode::Done);
    }
    let request = JoinRequest {
        period_ticks: policy.period_ticks(),
        joints: policy.joints().to_vec(),
        ..JoinRequest::new(model, &a.join)
    };
    let v = a.velocity;
    let follows = [v.vx, v.vy, v.yaw_rate].iter().all(Option::is_none) && a.commands.is_empty();
    let mut runner = Runner { follows, ..Runner::new(policy, model) };
    joined::run(connection, request, |state, begins, commands| runner.step(state, begins, commands))
}

fn network_of(a: &PolicyArguments, contract: &Contract) -> Result<PathBuf> {
    a.policy.clone().or_else(|| contract.policy_path()).ok_or_else(|| {
        let name = contract.name();
        let text = format!("contract {name} names no policy: give --policy FILE.onnx");
        Error::new(ErrorKind::Input, text)
    })
}

/// The command by names: velocities, and those of `--command`.
fn command_of(a: &PolicyArguments) -> Result<Vec<(String, f64)>> {
    let v = a.velocity;
    let velocities = [("vx", v.vx), ("vy", v.vy), ("yaw_rate", v.yaw_rate)];
    let given = velocities.iter().filter_map(|(name, v)| Some(((*name).to_string(), (*v)?)));
    let mut out: Vec<_> = given.collect();
    for text in &a.commands {
        let pair = text.split_once('=');
        let Some((name, value)) = pair.and_then(|(n, v)| Some((n, v.parse().ok()?))) else {
            let text = format!("--command {text:?} must be NAME=VALUE, with a number");
            return Err(Error::new(ErrorKind::Input, text));
        };
        out.push((name.to_string(), value));
    }
    Ok(out)
}

fn facts(model: &ModelReply) -> RobotFacts {
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

/// The policy, in a run.
struct Runner {
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

impl Runner {
    fn new(policy: Policy, model: &ModelReply) -> Self {
        let own = model.joints.iter().map(|j| &j.name).filter(|n| policy.joints().contains(n));
        let own: Vec<&String> = own.collect();
        let joints = policy.joints().iter().zip(policy.gains());
        let place = |name: &String| own.iter().position(|n| *n == name);
        let drives = joints.filter_map(|(name, gains)| Some((place(name)?, *gains))).collect();
        let (q_rad, dq_rad_per_s, foot_contact) = (Vec::new(), Vec::new(), Vec::new());
        Self { policy, follows: true, drives, q_rad, dq_rad_per_s, foot_contact }
    }

    fn step(
        &mut self,
        state: &StateReading,
        begins: bool,
        commands: &mut [JointCommand],
    ) -> Result<()> {
        if begins {
            self.policy.reset();
        }
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
            let text = format!("the policy's target of joint {i} is {q} at tick {tick}");
            return Err(Error::new(ErrorKind::Input, text));
        }
        for (&(place, (kp, kd)), &q) in self.drives.iter().zip(targets) {
            commands[place] = JointCommand { q, kp, kd, ..JointCommand::default() };
        }
        Ok(())
    }
}
