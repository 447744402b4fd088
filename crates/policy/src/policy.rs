//! A policy on a robot: contract, network, and what is carried from one step to the next.

use crate::check;
use crate::contract::{Contract, violated};
use crate::gains;
use crate::network::Network;
use crate::numbers::Numbers;
use crate::observation::{Observer, clipped};
use crate::program::Span;
use crate::robot::{RobotFacts, Sensors};
use crate::state::{self, State};
use hardstand_error::{Error, ErrorKind, Result};

/// A policy on a robot. It keeps the last action, histories, the gait clock and the states of its
/// network.
///
/// ```
/// # use hardstand_policy::{Contract, Network, Policy, RobotFacts, Sensors};
/// # fn main() -> hardstand_error::Result<()> {
/// # let data = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data");
/// let contract = Contract::read(format!("{data}/example.toml"))?;
/// let network = Network::read(format!("{data}/elu.onnx"))?;
/// let joints = ["FL_hip", "FL_thigh", "FL_calf", "FR_hip"].map(String::from);
/// let robot = RobotFacts {
///     joints: joints.to_vec(),
///     period_s: 0.001,
///     kp_max: 500.0,
///     kd_max: 20.0,
///     imu_quat_wxyz: [1.0, 0.0, 0.0, 0.0],
///     imu_on_base: true,
///     ..RobotFacts::default()
/// };
/// let mut policy = Policy::new(contract, network, &robot, &[("vx".to_string(), 0.5)])?;
/// assert_eq!(policy.period_ticks(), 20);
/// let targets_rad = policy.act(&Sensors {
///     gyro_rad_per_s: [0.0, 0.1, 0.0],
///     acc_m_per_s2: [0.0, 0.0, 9.81],
///     imu_quat_wxyz: [1.0, 0.0, 0.0, 0.0],
///     q_rad: &[0.0, 0.8, -1.5, 0.0],
///     dq_rad_per_s: &[0.0; 4],
///     foot_contact: &[],
///     truth: None,
/// });
/// assert_eq!(targets_rad.len(), 4);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Policy {
    contract: Contract,
    network: Network,
    observer: Observer,
    input: Span,
    output: Span,
    states: Vec<State>,
    period_ticks: u64,
    joints: Vec<String>,
    gains: Vec<(f64, f64)>,
    command: Vec<f64>,
    last_action: Vec<f64>,
    targets_rad: Vec<f64>,
}

impl Policy {
    /// The policy for a robot, after the contract has been checked against robot, network and
    /// command. Commands that are not named are 0, or their limit nearest to 0.
    ///
    /// # Errors
    /// If a clause of the contract is violated: the error has a line for each.
    pub fn new(
        contract: Contract,
        network: Network,
        robot: &RobotFacts,
        command: &[(String, f64)],
    ) -> Result<Self> {
        let clauses = check::violations(&contract, robot, &network, command);
        if !clauses.is_empty() {
            return Err(violated(&contract.name, &clauses));
        }
        let unchecked = || Error::new(ErrorKind::Internal, "a contract that was not checked");
        let input = state::observation_input(&contract, &network).ok_or_else(unchecked)?.span;
        let output = state::action_output(&contract, &network).ok_or_else(unchecked)?.span;
        let held = |numbers: fn(&crate::contract::Hold) -> &Numbers| {
            let spread = contract
                .hold
                .iter()
                .flat_map(move |hold| (0..hold.joints.len()).map(move |i| numbers(hold).at(i)));
            spread.collect::<Vec<f64>>()
        };
        let mut gains = [Vec::new(), Vec::new()];
        for (gains, name) in gains.iter_mut().zip(["kp", "kd"]) {
            let given = gains::gains_of(&contract, name, &network);
            *gains = given.ok().flatten().ok_or_else(unchecked)?;
            gains.extend(held(if name == "kp" { |hold| &hold.kp } else { |hold| &hold.kd }));
        }
        let [kp, kd] = gains;
        let mut targets_rad = contract.default_q.clone();
        targets_rad.extend(held(|hold| &hold.q));
        let mut joints = contract.joints.clone();
        joints.extend(contract.hold.iter().flat_map(|hold| hold.joints.iter().cloned()));
        let mut policy = Self {
            observer: Observer::new(&contract, robot),
            input,
            output,
            states: state::states(&contract, &network),
            period_ticks: check::period_ticks(&contract, robot).ok_or_else(unchecked)?,
            joints,
            gains: kp.into_iter().zip(kd).collect(),
            command: vec![0.0; contract.commands.len()],
            last_action: vec![0.0; contract.joints.len()],
            targets_rad,
            contract,
            network,
        };
        policy.set_command(command)?;
        policy.reset();
        Ok(policy)
    }

    /// Ticks of the robot from one action to the next.
    #[must_use]
    pub fn period_ticks(&self) -> u64 {
        self.period_ticks
    }

    /// Names of the joints of [`Policy::act`]: those that the policy commands in the order of the
    /// contract, then those that are held.
    #[must_use]
    pub fn joints(&self) -> &[String] {
        &self.joints
    }

    /// Stiffness (N m/rad) and damping (N m s/rad) of each of [`Policy::joints`].
    #[must_use]
    pub fn gains(&self) -> &[(f64, f64)] {
        &self.gains
    }

    /// Sets the command, from the next action on. Commands that are not named are 0, or their limit
    /// nearest to 0.
    ///
    /// # Errors
    /// If a name is not a command of the contract, or its value is out of range: the error has a
    /// line for each, and the command stays as it was.
    pub fn set_command(&mut self, command: &[(String, f64)]) -> Result<()> {
        let clauses = check::violations_of_command(&self.contract, command);
        if !clauses.is_empty() {
            return Err(violated(&self.contract.name, &clauses));
        }
        for (value, (name, [low, high])) in self.command.iter_mut().zip(&self.contract.commands) {
            let given = command.iter().find(|(known, _)| known == name);
            *value = given.map_or(0.0_f64.max(*low).min(*high), |(_, value)| *value);
        }
        Ok(())
    }

    /// Sets those commands that are named `vx`, `vy` (m/s) and `yaw_rate` (rad/s), as far as the
    /// contract's ranges allow. The others stay. It does not allocate.
    pub fn set_velocity(&mut self, velocity: [f64; 3]) {
        for (value, (name, [low, high])) in self.command.iter_mut().zip(&self.contract.commands) {
            let place = ["vx", "vy", "yaw_rate"].iter().position(|known| known == name);
            if let Some(i) = place {
                *value = velocity[i].max(*low).min(*high);
            }
        }
    }

    /// Forgets the last action, histories and the states of the network, and starts the gait clock
    /// again. The command stays.
    pub fn reset(&mut self) {
        self.last_action.fill(0.0);
        self.observer.reset();
        for state in &self.states {
            let Span { at, len } = state.input;
            self.network.program.workspace[at..at + len].fill(0.0);
        }
    }

    /// Runs one step of the policy: target positions of [`Policy::joints`], rad.
    ///
    /// Call it every [`Policy::period_ticks`]. It does not allocate. A sensor that is NaN makes
    /// targets NaN, which the caller must not send to a robot.
    pub fn act(&mut self, sensors: &Sensors<'_>) -> &[f64] {
        let workspace = &mut self.network.program.workspace;
        let observation = &mut workspace[self.input.at..self.input.at + self.input.len];
        self.observer.observe(sensors, &self.last_action, &self.command, observation);
        self.network.program.run();
        let workspace = &mut self.network.program.workspace;
        let clip = self.contract.action_clip.unwrap_or(f64::INFINITY);
        for (i, action) in self.output.of(workspace).iter().enumerate() {
            let action = clipped(f64::from(*action), clip);
            self.last_action[i] = action;
            let target = self.contract.default_q[i] + self.contract.action_scale.at(i) * action;
            // the sign and payload of a NaN depend on the processor
            self.targets_rad[i] = if target.is_nan() { f64::NAN } else { target };
        }
        for state in &self.states {
            let Span { at, len } = state.output;
            workspace.copy_within(at..at + len, state.input.at);
        }
        &self.targets_rad
    }

    /// The observation of the last action, in the order of the contract.
    #[must_use]
    pub fn observation(&self) -> &[f32] {
        self.input.of(&self.network.program.workspace)
    }

    /// What the network computed last, after `action_clip`.
    #[must_use]
    pub fn last_action(&self) -> &[f64] {
        &self.last_action
    }
}
