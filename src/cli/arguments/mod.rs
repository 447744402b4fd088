//! The command line: commands, their help, and their arguments.

mod bisect;
mod branch;
#[cfg(feature = "zenoh")]
mod campaign;
#[cfg(feature = "zenoh")]
mod certify;
#[cfg(feature = "zenoh")]
mod controller;
#[cfg(feature = "zenoh")]
mod ctl;
#[cfg(feature = "zenoh")]
mod daemon;
#[cfg(feature = "zenoh")]
mod demo;
mod doctor;
#[cfg(feature = "zenoh")]
mod fault;
mod model;
mod recover;
mod replay;
mod run;
#[cfg(feature = "zenoh")]
mod status;

use clap::{Args, Parser, Subcommand};

pub(super) use bisect::BisectArguments;
pub(super) use branch::BranchArguments;
#[cfg(feature = "zenoh")]
pub(super) use campaign::CampaignArguments;
#[cfg(feature = "zenoh")]
pub(super) use certify::CertifyArguments;
#[cfg(feature = "zenoh")]
pub(super) use controller::{ControllerArguments, ControllerKind, StandArguments};
#[cfg(feature = "zenoh")]
pub(super) use ctl::{ClearArguments, CtlArguments, CtlKind, FrictionArguments, PushArguments, StateFileArguments};
#[cfg(feature = "zenoh")]
pub(super) use daemon::DaemonArguments;
#[cfg(feature = "zenoh")]
pub(super) use demo::DemoArguments;
pub(super) use doctor::DoctorArguments;
#[cfg(feature = "zenoh")]
pub(super) use fault::FaultArguments;
pub(super) use model::{BaseArgument, ModelArguments};
pub(super) use recover::RecoverArguments;
pub(super) use replay::ReplayArguments;
pub(super) use run::{ModeArgument, PaceArgument, RunArguments};
#[cfg(feature = "zenoh")]
pub(super) use status::{EventsArguments, StatusArguments};

const AFTER_HELP: &str = "\
Start here:
  hardstand demo                                  a quadruped stands, is pushed, recovers
  hardstand run config/quadruped.toml             the daemon, waiting for your controller
  hardstand controller stand                      an example controller, in another terminal
  hardstand replay hardstand-demo.mcap            run a log again and compare every tick
  hardstand bisect run.mcap --where 'tick > 9'    the first tick at which a condition holds
  hardstand bisect a.mcap b.mcap                  where two runs part, and who caused it
  hardstand branch run.mcap --at 500 --log b.mcap another way from a tick on
  hardstand certify SCENARIO -- CONTROLLER        the same run, whatever the machine does?
  hardstand campaign examples/campaign.toml       scenarios × faults × seeds, and a table
  hardstand recover run.mcap                      make a log of a killed run whole
  hardstand model config/robots/quadruped.urdf    what was understood of a robot
  hardstand doctor                                is this machine fit for real time?
  hardstand faults                                what can be broken on purpose, and how

Exit codes: 0 done; 1 the robot does not stand, a replay differs, bisect has found something, a
branch or a run of certify differs, a case of a campaign failed, or the doctor says \"not for real
time\"; 2 a file, key or argument was refused; 3 a log is damaged or cut short, recording ended
early, or cases of a campaign are missing; 4 real-time rights were required and refused; 5 the bus
could not be opened or nobody answers; 6 the plant stopped itself; 7 a deadline was missed under
overrun = \"stop\"; 8 a controller was missing for longer than
control.patience_s, or ended early; 70 a fault of this program.";

/// Real-time simulation daemon for legged robots. The controller under test runs in a process of
/// its own and talks to the simulated robot over zenoh; runs repeat bit for bit.
#[derive(Debug, Parser)]
#[command(name = "hardstand", version, after_help = AFTER_HELP, max_term_width = 100)]
pub(super) struct Arguments {
    #[command(subcommand)]
    pub(super) verb: Verb,
}

#[derive(Debug, Subcommand)]
pub(super) enum Verb {
    /// Simulate a scenario
    ///
    /// The daemon simulates the robot of a scenario, publishes its state and takes commands. It
    /// waits for a controller before simulated time begins (sim.start). Every key of a scenario is
    /// documented in config/default.toml. Ctrl-C ends the run and completes the log.
    Run(RunArguments),
    /// Show the whole in twelve seconds: stand, push, recover, replay
    ///
    /// The daemon simulates the quadruped of config/quadruped.toml in real time and starts
    /// `hardstand controller stand` as a process of its own. The robot drops from 0.1 m, stands, is
    /// pushed sideways and recovers; then the log is replayed. Exit code 0 only if the robot stands
    /// and the replay is identical, bit for bit.
    #[cfg(feature = "zenoh")]
    Demo(DemoArguments),
    /// Is the closed loop of a controller and a scenario a function of its inputs? Try it
    ///
    /// Runs both again and again in lockstep: as fast as possible, at 1 × and 0.1 × real time, with
    /// either side stopped for a second, with loaded cores, and twice from a saved state. If all
    /// digests are equal and all logs replay, it writes a certificate (JSON and a page); else it
    /// says which run differs, the first tick and quantity, and who caused it. The controller has
    /// to join (docs/protocol.md). Exit code 0: certified; 1: a run differs; 8: the controller does
    /// not join, or ends early. docs/certify.md has examples.
    #[cfg(feature = "zenoh")]
    Certify(CertifyArguments),
    /// Run an example controller, as a process of its own
    #[cfg(feature = "zenoh")]
    Controller(ControllerArguments),
    /// Run scenarios × faults × seeds against a controller, and make a table
    ///
    /// Each case is a daemon and a controller of its own, in lockstep: its row is always the same.
    /// A campaign that was interrupted goes on with the cases that have no outcome yet. The command
    /// finds its daemon by HARDSTAND_CONNECT and HARDSTAND_ROBOT, its seed by HARDSTAND_SEED.
    /// docs/campaigns.md describes file, table, and slices for a farm's scheduler.
    ///
    /// Exit code 0: all cases have a row; 1: a case is one of fail_if; 3: cases are missing.
    #[cfg(feature = "zenoh")]
    Campaign(CampaignArguments),
    /// Show how a running daemon does
    ///
    /// Phase, authority, owner, real-time factor; what the system granted and refused, with the
    /// remedy; wake-up latency, tick cost and ages of commands as histograms since the start; the
    /// counters of everything that was dropped or refused. Exit code 5 if nobody answers.
    #[cfg(feature = "zenoh")]
    Status(StatusArguments),
    /// Tell what happens in a running daemon, as it happens, until Ctrl-C
    ///
    /// Who joins and leaves, emergency stops, pushes, friction, faults; a controller that answers
    /// the same state twice and differently (conflict); ticks that had to do without a controller
    /// under a budget (gave_up). Exit code 5 if nobody answers.
    #[cfg(feature = "zenoh")]
    Events(EventsArguments),
    /// Time, state and world of a running daemon: pause, step, reset, save, push, stop
    #[cfg(feature = "zenoh")]
    Ctl(CtlArguments),
    /// Run a log again and compare the digest of every tick
    ///
    /// Builds the plant from the robot and scenario in the log, runs every tick with the commands
    /// that were applied, and compares every digest. The first difference is shown with tick and
    /// quantity. Exit code 0: identical; 1: different; 3: identical as far as the log goes, but it
    /// is damaged or cut short.
    Replay(ReplayArguments),
    /// Find the tick at which something happens, or where two logs part
    ///
    /// With --where: the first tick at which a condition on published quantities holds, such as
    /// `foot.FL.slip > 0.02`. With a command: a binary search for the first tick that it calls bad;
    /// once bad, all later ticks have to be bad. With a second log: the first tick at which the two
    /// differ, who caused it, and what differs most. With --list: the quantities.
    ///
    /// The log is run again, and must come out as it is. Exit code 0: the condition never holds, no
    /// tick is bad, or the logs do not differ; 1: found, or the replay differs from the log; 3:
    /// nothing found, but a log is damaged or cut short. docs/bisect.md has examples.
    Bisect(BisectArguments),
    /// Let a run of a log go on under other parameters or another controller, and compare
    ///
    /// Takes the state before tick N of a log, changes the scenario, runs on with the commands of
    /// the log as they were applied, or in lockstep with the controller whose command follows `--`,
    /// writes that as a new log, and compares both runs. Exit code 0: both runs are the same; 1:
    /// they differ, or the replay differs from the log; 3: it ended before the log's run did; 6:
    /// the plant stopped itself; 8: the controller did not join, or ended early.
    Branch(BranchArguments),
    /// Make a log whole that was cut off, for other readers
    ///
    /// A run that was killed leaves a log without index and end, which `replay` reads, but rosbags,
    /// `ros2 bag` and most viewers refuse. This copies everything that is whole of one file to a
    /// new one. Exit code 3 if it is not a log that can be replayed.
    Recover(RecoverArguments),
    /// Show what is understood of a robot description
    ///
    /// Reads a URDF as `run` would and shows the tree, masses, joint order, possible feet, and
    /// everything that is doubtful. A bad model is refused with all its mistakes.
    Model(ModelArguments),
    /// Examine this machine: is it fit for real time, and what mends it?
    ///
    /// Reads how kernel, physics core and rights are set up and prints the command that mends what
    /// costs latency. Then runs the real loop with the scenario's robot, without a controller, and
    /// judges its wake-up latency, tick cost and missed deadlines. docs/real-time.md explains each
    /// check and band. Exit code 0: usable; 1: "not for real time".
    Doctor(DoctorArguments),
    /// List the faults that a scenario or `ctl fault` can bring about
    ///
    /// Each kind with what it does, its parameters with range and unit, and a command that works
    /// with the shipped quadruped. docs/faults.md says exactly what each one changes.
    Faults(FaultsArguments),
}

#[derive(Debug, Args)]
pub(super) struct FaultsArguments {
    /// Print one JSON document instead of text (docs/cli.md)
    #[arg(long)]
    pub(super) json: bool,
}
