//! Arguments of `controller`.

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
}

#[derive(Debug, Args)]
pub(in crate::cli) struct StandArguments {
    #[command(flatten)]
    pub(in crate::cli) daemon: DaemonArguments,
    /// Stiffness of every joint, N·m/rad [default: each joint's hold_kp in the scenario]
    #[arg(long)]
    pub(in crate::cli) kp: Option<f64>,
    /// Damping of every joint, N·m·s/rad [default: each joint's hold_kd in the scenario]
    #[arg(long)]
    pub(in crate::cli) kd: Option<f64>,
    /// Seconds without a state after which to give up
    #[arg(long, value_name = "S", default_value_t = 30.0, allow_negative_numbers = true)]
    pub(in crate::cli) patience: f64,
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
