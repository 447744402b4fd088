//! Arguments of `controller`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::daemon::DaemonArguments;

#[derive(Debug, Args)]
pub(in crate::cli) struct ControllerArguments {
    #[command(subcommand)]
    pub(in crate::cli) kind: ControllerKind,
}

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum ControllerKind {
    /// Hold the robot's initial joint positions with PD gains: it stands
    ///
    /// Asks the daemon for the robot's joints, then answers every state with a command that holds
    /// the initial joint positions. Ends on Ctrl-C, or with exit code 5 when no state has come for
    /// --patience.
    Stand(StandArguments),
    /// Walk with the shipped quadruped: a trot, by its published sensors only
    ///
    /// Joins, in lockstep or in real time. Without velocities it does what the states ask for: the
    /// scenario's [[commands]], or `hardstand ctl cmd-vel`. `crates/trot` is the controller, 500
    /// lines.
    Trot(TrotArguments),
    /// Run a learned policy (ONNX) with its contract
    ///
    /// Checks the contract against the robot and the policy before the first step, then joins, in
    /// lockstep or in real time. Without velocities and commands it does what the states ask for,
    /// within the contract's limits. The arithmetic is its own: the same targets on every machine.
    /// docs/python.md describes contracts.
    Policy(PolicyArguments),
}

#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub(in crate::cli) struct StandArguments {
    #[command(flatten)]
    pub(in crate::cli) connection: ConnectionArguments,
    /// Stiffness of every joint, N·m/rad [default: each joint's hold_kp in the scenario]
    #[arg(long)]
    pub(in crate::cli) kp: Option<f64>,
    /// Damping of every joint, N·m·s/rad [default: each joint's hold_kd in the scenario]
    #[arg(long)]
    pub(in crate::cli) kd: Option<f64>,
    /// Join under this name, for lockstep; without it, the first session that proves life owns the
    /// robot
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) join: Option<String>,
    /// Joint that it holds, if it joins (repeatable) [default: all]
    #[arg(long = "joint", value_name = "NAME", requires = "join")]
    pub(in crate::cli) joints: Vec<String>,
    /// Ticks between two states that it answers
    #[arg(long, value_name = "TICKS", default_value_t = 1, requires = "join")]
    pub(in crate::cli) period: u64,
    /// Remainder of their ticks by the period
    #[arg(long, value_name = "TICKS", default_value_t = 0, requires = "join")]
    pub(in crate::cli) phase: u64,
    /// From the state to the tick at which the answer applies
    #[arg(long, value_name = "TICKS", default_value_t = 0, requires = "join")]
    pub(in crate::cli) offset: u64,
    /// Ticks do not wait for it
    #[arg(long, requires = "join")]
    pub(in crate::cli) advisory: bool,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct TrotArguments {
    #[command(flatten)]
    pub(in crate::cli) connection: ConnectionArguments,
    #[command(flatten)]
    pub(in crate::cli) velocity: VelocityArguments,
    /// Name under which it joins
    #[arg(long, value_name = "NAME", default_value = "legs")]
    pub(in crate::cli) join: String,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct PolicyArguments {
    /// Contract of the policy, TOML
    pub(in crate::cli) contract: PathBuf,
    #[command(flatten)]
    pub(in crate::cli) connection: ConnectionArguments,
    /// ONNX file [default: the contract's `policy`]
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) policy: Option<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) velocity: VelocityArguments,
    /// A command of the contract by name (repeatable)
    #[arg(long = "command", value_name = "NAME=VALUE")]
    pub(in crate::cli) commands: Vec<String>,
    /// Check the contract against the robot and the policy, and do no step
    #[arg(long)]
    pub(in crate::cli) check: bool,
    /// Name under which it joins
    #[arg(long, value_name = "NAME", default_value = "policy")]
    pub(in crate::cli) join: String,
}

/// How a controller reaches its robot.
#[derive(Debug, Args)]
pub(in crate::cli) struct ConnectionArguments {
    #[command(flatten)]
    pub(in crate::cli) daemon: DaemonArguments,
    /// States and commands through the daemon's shared_memory.path; the robot's description still
    /// comes from its bus
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) shared_memory: Option<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) in_process: InProcessArguments,
    /// Seconds without a state after which to give up
    #[arg(long, value_name = "S", default_value_t = 30.0, allow_negative_numbers = true)]
    pub(in crate::cli) patience: f64,
}

/// A simulation without a daemon.
#[derive(Debug, Args)]
pub(in crate::cli) struct InProcessArguments {
    /// Simulate this scenario in this process, without a daemon, as fast as it goes: the ticks and
    /// digests of lockstep
    #[arg(long = "in-process", value_name = "SCENARIO", conflicts_with = "shared_memory")]
    pub(in crate::cli) scenario: Option<PathBuf>,
    /// Change a value of the scenario (repeatable)
    #[arg(long = "set", value_name = "KEY=VALUE", requires = "scenario")]
    pub(in crate::cli) sets: Vec<String>,
    /// Simulated seconds [default: the scenario's sim.duration_s]
    #[arg(long, value_name = "S", requires = "scenario", allow_negative_numbers = true)]
    pub(in crate::cli) duration: Option<f64>,
    /// Record the run
    #[arg(long, value_name = "FILE", requires = "scenario")]
    pub(in crate::cli) log: Option<PathBuf>,
    /// Write the end of the run to a file, as `run --report` does
    #[arg(long, value_name = "FILE", requires = "scenario")]
    pub(in crate::cli) report: Option<PathBuf>,
    /// Print the end of the run as JSON
    #[arg(long, requires = "scenario")]
    pub(in crate::cli) json: bool,
}

/// How the robot shall move; without these, as `velocity_command` of the states says.
#[derive(Clone, Copy, Debug, Args)]
pub(in crate::cli) struct VelocityArguments {
    /// Velocity forward, m/s
    #[arg(long, value_name = "M_PER_S", allow_negative_numbers = true)]
    pub(in crate::cli) vx: Option<f64>,
    /// Velocity to the left, m/s
    #[arg(long, value_name = "M_PER_S", allow_negative_numbers = true)]
    pub(in crate::cli) vy: Option<f64>,
    /// Turn to the left, rad/s
    #[arg(long, value_name = "RAD_PER_S", allow_negative_numbers = true)]
    pub(in crate::cli) yaw_rate: Option<f64>,
}
