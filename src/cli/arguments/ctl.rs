//! Arguments of `ctl`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::daemon::DaemonArguments;
use super::fault::FaultArguments;

#[derive(Debug, Args)]
pub(in crate::cli) struct CtlArguments {
    /// Print one JSON document instead of text (docs/cli.md)
    #[arg(long, global = true)]
    pub(in crate::cli) json: bool,
    #[command(subcommand)]
    pub(in crate::cli) kind: CtlKind,
}

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum CtlKind {
    /// Change the friction of a foot, a station, a region of the ground, or all stations
    ///
    /// The daemon answers with the tick from whose start on the coefficients hold. The change is in
    /// the log, and a replay repeats it. Exit code 2 if it is refused, 5 if no daemon answers.
    Friction(FrictionArguments),
    /// Push a link with a constant force for some time
    Push(PushArguments),
    /// Inject a fault: encoder, motor, IMU, foot sensor, ground
    ///
    /// One command for each kind; `hardstand faults` lists them all. The daemon answers with the
    /// tick from whose start on the fault acts. It is in the log, and a replay repeats it.
    #[command(subcommand)]
    Fault(FaultArguments),
    /// Clear faults: all of them, or those of one kind
    ///
    /// Pushes end too, and friction is the scenario's again.
    #[command(alias = "mend")]
    Clear(ClearArguments),
    /// Ask controllers that walk for a velocity, until the next command
    ///
    /// It is `velocity_command` of every state, which `controller trot` and `controller policy`
    /// follow.
    CmdVel(CmdVelArguments),
    /// Let a constraint of the scenario act, or end it
    Constraint(ConstraintArguments),
    /// Put the anchors of friction springs under their stations, so that nothing is stretched
    Anchors(AnchorsArguments),
    /// Run no further tick; commands wait, and their ages stand still
    Pause(DaemonArguments),
    /// Run on after a pause
    Resume(DaemonArguments),
    /// Run so many ticks, then pause
    Step(StepArguments),
    /// Run until so many ticks are done, then pause
    RunUntil(RunUntilArguments),
    /// Begin again with the initial state, as the next run
    ///
    /// Ticks begin at 0 again; the controller has to prove life again. The log goes on in another
    /// file.
    Reset(ResetArguments),
    /// Set the simulated seconds per second of wall time
    Speed(SpeedArguments),
    /// Emergency stop: damp all joints and refuse every command
    Stop(DaemonArguments),
    /// End the emergency stop
    Arm(DaemonArguments),
    /// Save the complete state in a file
    Snapshot(StateFileArguments),
    /// Go on from a saved state, as the next run
    Restore(StateFileArguments),
}

#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub(in crate::cli) struct PushArguments {
    /// Link that is pushed
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) link: String,
    /// Force in world axes, N
    #[arg(long, value_name = "N", num_args = 3, allow_negative_numbers = true, required = true)]
    pub(in crate::cli) force: Vec<f64>,
    /// Point of attack in the link's frame, m
    #[arg(long, value_name = "M", num_args = 3, allow_negative_numbers = true)]
    pub(in crate::cli) point: Vec<f64>,
    /// Duration, s; at least one tick
    #[arg(long, value_name = "S")]
    pub(in crate::cli) duration: f64,
    #[command(flatten)]
    pub(in crate::cli) daemon: DaemonArguments,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct ConstraintArguments {
    /// Name of the constraint
    pub(in crate::cli) name: String,
    /// Whether it acts from now on
    pub(in crate::cli) state: Switch,
    #[command(flatten)]
    pub(in crate::cli) daemon: DaemonArguments,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Switch {
    On,
    Off,
}

#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub(in crate::cli) struct CmdVelArguments {
    /// Velocity ahead, m/s
    pub(in crate::cli) vx: f64,
    /// Velocity to the left, m/s
    #[arg(default_value_t = 0.0)]
    pub(in crate::cli) vy: f64,
    /// Turn to the left, rad/s
    #[arg(default_value_t = 0.0)]
    pub(in crate::cli) yaw_rate: f64,
    #[command(flatten)]
    pub(in crate::cli) daemon: DaemonArguments,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct ClearArguments {
    /// Kind of fault [default: all]
    #[arg(value_name = "KIND")]
    pub(in crate::cli) kind: Option<String>,
    /// Joint whose faults end
    #[arg(long, value_name = "NAME", group = "part", requires = "kind")]
    pub(in crate::cli) joint: Option<String>,
    /// Foot, likewise
    #[arg(long, value_name = "NAME", group = "part", requires = "kind")]
    pub(in crate::cli) foot: Option<String>,
    /// Link, likewise
    #[arg(long, value_name = "NAME", group = "part", requires = "kind")]
    pub(in crate::cli) link: Option<String>,
    /// Station, likewise
    #[arg(long, value_name = "NAME", group = "part", requires = "kind")]
    pub(in crate::cli) station: Option<String>,
    /// Region of the ground, likewise
    #[arg(long, value_name = "NAME", group = "part", requires = "kind")]
    pub(in crate::cli) region: Option<String>,
    #[command(flatten)]
    pub(in crate::cli) daemon: DaemonArguments,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct StepArguments {
    /// Number of ticks; negative to go back, for which the daemon needs a log
    #[arg(default_value_t = 1, value_name = "N", allow_negative_numbers = true)]
    pub(in crate::cli) ticks: i64,
    /// Do not wait until they are done
    #[arg(long)]
    pub(in crate::cli) no_wait: bool,
    #[command(flatten)]
    pub(in crate::cli) daemon: DaemonArguments,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct RunUntilArguments {
    /// Ticks done in this run
    #[arg(value_name = "TICK")]
    pub(in crate::cli) tick: u64,
    /// Do not wait until they are done
    #[arg(long)]
    pub(in crate::cli) no_wait: bool,
    #[command(flatten)]
    pub(in crate::cli) daemon: DaemonArguments,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct SpeedArguments {
    /// Simulated seconds per second of wall time, 0.001 to 1000; 0: as many as the machine allows
    #[arg(value_name = "X", allow_negative_numbers = true)]
    pub(in crate::cli) speed: f64,
    #[command(flatten)]
    pub(in crate::cli) daemon: DaemonArguments,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct ResetArguments {
    /// Let published time begin at 0 again, too: subscribers see time jump back
    #[arg(long)]
    pub(in crate::cli) rewind: bool,
    #[command(flatten)]
    pub(in crate::cli) daemon: DaemonArguments,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct StateFileArguments {
    /// File of the state
    #[arg(value_name = "FILE")]
    pub(in crate::cli) file: PathBuf,
    #[command(flatten)]
    pub(in crate::cli) daemon: DaemonArguments,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct AnchorsArguments {
    /// Foot whose stations and shapes are meant [default: all stations and shapes]
    #[arg(long, value_name = "NAME", group = "scope")]
    pub(in crate::cli) foot: Option<String>,
    /// Station that is meant
    #[arg(long, value_name = "NAME", group = "scope")]
    pub(in crate::cli) station: Option<String>,
    #[command(flatten)]
    pub(in crate::cli) daemon: DaemonArguments,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct FrictionArguments {
    /// Foot whose stations are meant [default: all stations]
    #[arg(long, value_name = "NAME", group = "scope")]
    pub(in crate::cli) foot: Option<String>,
    /// Station that is meant
    #[arg(long, value_name = "NAME", group = "scope")]
    pub(in crate::cli) station: Option<String>,
    /// Region of the ground that is meant; it replaces the friction of stations in it
    #[arg(long, value_name = "NAME", group = "scope")]
    pub(in crate::cli) region: Option<String>,
    /// Static coefficient, 0 to 100
    #[arg(long = "static", value_name = "MU", allow_negative_numbers = true)]
    pub(in crate::cli) mu_static: f64,
    /// Kinetic coefficient, 0 to the static one
    #[arg(long = "kinetic", value_name = "MU", allow_negative_numbers = true)]
    pub(in crate::cli) mu_kinetic: f64,
    #[command(flatten)]
    pub(in crate::cli) daemon: DaemonArguments,
}
