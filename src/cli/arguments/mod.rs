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
mod drive;
#[cfg(feature = "zenoh")]
mod fault;
#[cfg(feature = "zenoh")]
mod hunt;
mod model;
mod new;
#[cfg(feature = "zenoh")]
mod plot;
mod recover;
#[cfg(feature = "zenoh")]
mod remote;
mod replay;
mod robot_log;
mod run;
#[cfg(feature = "zenoh")]
mod status;
mod verify;
#[cfg(feature = "view")]
mod view;

use clap::{Args, Parser, Subcommand};

use super::exit::ExitCode;

pub(super) use bisect::BisectArguments;
pub(super) use branch::BranchArguments;
#[cfg(feature = "zenoh")]
pub(super) use campaign::{
    CampaignArguments, CampaignCompareArguments, CampaignPlanArguments, CampaignReportArguments,
    CampaignRunArguments, CampaignVerb, ReportFiles,
};
#[cfg(feature = "zenoh")]
pub(super) use certify::CertifyArguments;
#[cfg(feature = "zenoh")]
pub(super) use controller::{
    ConnectionArguments, ControllerArguments, ControllerKind, InProcessArguments, PolicyArguments,
    StandArguments, TrotArguments, VelocityArguments,
};
#[cfg(feature = "zenoh")]
pub(super) use ctl::{
    AnchorsArguments, ClearArguments, CtlArguments, CtlKind, FrictionArguments, PushArguments,
    StateFileArguments, StepArguments, Switch,
};
#[cfg(feature = "zenoh")]
pub(super) use daemon::DaemonArguments;
#[cfg(feature = "zenoh")]
pub(super) use demo::DemoArguments;
pub(super) use doctor::DoctorArguments;
pub(super) use drive::DriveArguments;
#[cfg(feature = "zenoh")]
pub(super) use fault::FaultArguments;
#[cfg(feature = "zenoh")]
pub(super) use hunt::{CaseArguments, HuntArguments, PushesArguments};
pub(super) use model::{BaseArgument, ModelArguments};
pub(super) use new::NewArguments;
#[cfg(feature = "zenoh")]
pub(super) use plot::{ExportArguments, PlotArguments};
pub(super) use recover::RecoverArguments;
#[cfg(feature = "zenoh")]
pub(super) use remote::RemoteArguments;
pub(super) use replay::ReplayArguments;
pub(super) use robot_log::{CalibrateArguments, CompareArguments, ImportArguments};
pub(super) use run::{ModeArgument, PaceArgument, RunArguments};
#[cfg(feature = "zenoh")]
pub(super) use status::{EventsArguments, StatusArguments};
pub(super) use verify::VerifyArguments;
#[cfg(feature = "view")]
pub(super) use view::{PageArguments, PageServer, ViewArguments};

const AFTER_HELP: &str = "\
Start here:
  hardstand demo                                  a quadruped walks, is pushed, turns and stands
  hardstand new robot.urdf -o my.toml             a scenario for your robot
  hardstand run my.toml --view                    the daemon, with a page in the browser
  hardstand controller stand --robot NAME         an example controller, in another terminal
  hardstand doctor                                is this machine fit for real time?

With the log of a run:
  hardstand replay run.mcap                       run it again and compare every tick
  hardstand page run.mcap -o run.html             the run as one file that can be mailed
  hardstand plot run.mcap feet -o feet.svg        foot forces over time, as a drawing
  hardstand bisect run.mcap --where 'base.height < 0.2'    the first tick of a fall
  hardstand branch run.mcap --at 500 --log b.mcap continue from a tick with changes

`hardstand COMMAND --help` describes a command, README.md and docs/ have examples of each.
Commands that report print JSON with --json; docs/cli.md lists the fields.

Exit codes:
";

/// The examples and the exit codes.
fn after_help() -> String {
    // a build without the bus or the page has fewer commands
    let all = Verb::augment_subcommands(clap::Command::new("hardstand"));
    let is_there = |line: &&str| {
        let example = line.strip_prefix("  hardstand ");
        let verb = example.and_then(|words| words.split(' ').next());
        verb.is_none_or(|verb| all.find_subcommand(verb).is_some())
    };
    let examples: String = AFTER_HELP.split_inclusive('\n').filter(is_there).collect();
    let line = |code: ExitCode| format!("  {:>2} {}\n", code.number(), code.meaning());
    examples + &ExitCode::ALL.map(line).concat()
}

/// Real-time simulation daemon for legged robots. The controller under test runs in a process of
/// its own and talks to the simulated robot over zenoh; runs repeat bit for bit.
#[derive(Debug, Parser)]
#[command(name = "hardstand", version, after_help = after_help(), max_term_width = 100)]
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
    /// Walk, be pushed, turn and stand for eight seconds, then replay the log
    ///
    /// The daemon simulates the quadruped of config/quadruped.toml and starts
    /// `hardstand controller trot` as a process of its own. The robot drops from 0.1 m, walks, is
    /// pushed sideways, walks on, turns and stands. Then the log is replayed. Exit code 0 only if
    /// the robot stands and the replay is identical, bit for bit.
    #[cfg(feature = "zenoh")]
    Demo(DemoArguments),
    /// Test whether a closed loop is a function of its inputs
    ///
    /// Runs controller and daemon nine times in lockstep: as fast as possible, at 1 × and 0.1 ×
    /// real time, with either side stopped for a second, with loaded cores, and twice from a saved
    /// state. If all digests are equal and all logs replay, writes a certificate (JSON and a page);
    /// otherwise prints the run that differs, the first tick and quantity, and the cause. The
    /// controller must join (docs/protocol.md). Exit code 0: certified; 1: a run differs; 8: the
    /// controller did not join, or ended early. docs/certify.md has examples.
    #[cfg(feature = "zenoh")]
    Certify(CertifyArguments),
    /// Run an example controller, as a process of its own
    #[cfg(feature = "zenoh")]
    Controller(ControllerArguments),
    /// Run scenarios × faults × seeds against a controller, and make a table
    ///
    /// Each case has a daemon and a controller of its own, in lockstep: its row is always the same.
    /// An interrupted campaign continues with the cases that have no outcome. The controller finds
    /// its daemon by HARDSTAND_CONNECT and HARDSTAND_ROBOT, its seed by HARDSTAND_SEED.
    /// docs/campaigns.md describes the file, the table, reports, and slices for a cluster.
    ///
    /// Exit code 0: all cases have a row; 1: a case is one of fail_if; 3: cases are missing.
    #[cfg(feature = "zenoh")]
    Campaign(CampaignArguments),
    /// Take runs from standard input, for campaigns
    #[cfg(feature = "zenoh")]
    #[command(hide = true)]
    Worker,
    /// Look for a case in which a condition holds, and shrink it to what is needed
    ///
    /// Draws pushes, faults, friction, start states and commands from the section `hunt` of the
    /// scenario, at random first, then towards the condition. The case that is found is shrunk to
    /// the fewest events and smallest numbers, and kept as a log, a page, a sentence, and a
    /// campaign that fails as long as it happens. The same seed takes the same way on every
    /// machine; an interrupted hunt goes on. The controller must join. docs/hunt.md describes the
    /// section.
    ///
    /// Exit code 0: nothing was found; 1: a case was found; 3: the hunt was stopped.
    #[cfg(feature = "zenoh")]
    Hunt(HuntArguments),
    /// Measure how hard a controller can be pushed, by direction and by phase of its gait
    ///
    /// Finds for each direction and time the least push that makes the condition true, and writes a
    /// table and a plot. docs/hunt.md describes it.
    ///
    /// Exit code 0: the limits were found; 3: the search was stopped.
    #[cfg(feature = "zenoh")]
    Pushes(PushesArguments),
    /// Show a robot in the browser: live, or from a log
    ///
    /// Serves a page on this machine that shows the robot in 3-D, with contact forces, friction
    /// cones, joints, timing and events; its buttons pause, step, push and break. Without LOG it
    /// is a client of a running daemon, a process of its own, which does not affect the physics.
    /// Foxglove and Lichtblick can connect to the same port. docs/view.md describes the page.
    #[cfg(feature = "view")]
    View(ViewArguments),
    /// Write a log as one HTML file that needs no server and no network
    ///
    /// The file holds robot, time line and plots, and can be mailed. docs/view.md describes it.
    #[cfg(feature = "view")]
    Page(PageArguments),
    /// Draw quantities of a log over time
    ///
    /// Replays the log, so contact forces are there too. WHAT is a word (base, feet, joints,
    /// efforts, friction, imu, latency) or a name of quantities.
    #[cfg(feature = "zenoh")]
    Plot(PlotArguments),
    /// Write quantities of a log as a table (CSV, Parquet)
    ///
    /// One column for each quantity, with its unit in the header, and one row for each tick.
    #[cfg(feature = "zenoh")]
    Export(ExportArguments),
    /// Print the status of a running daemon
    ///
    /// Phase, authority, owner, real-time factor; what the system granted and refused, with the
    /// remedy; wake-up latency, tick cost and ages of commands as histograms since the start; the
    /// counters of everything that was dropped or refused. Exit code 5 if no daemon answers.
    #[cfg(feature = "zenoh")]
    Status(StatusArguments),
    /// Print the events of a running daemon until Ctrl-C
    ///
    /// Joins and leaves, emergency stops, pushes, friction, faults; a controller that answers the
    /// same state twice and differently (conflict); ticks whose wait budget is spent (gave_up);
    /// why messages with commands are refused (refused).
    /// Exit code 5 if no daemon answers.
    #[cfg(feature = "zenoh")]
    Events(EventsArguments),
    /// Control a running daemon: pause, step, reset, save, push, stop
    #[cfg(feature = "zenoh")]
    Ctl(CtlArguments),
    /// Be the remote control of a Unitree robot: with the keyboard, or a game controller
    ///
    /// Sends sensor_msgs/Joy to the daemon's topic /joy, until q or Ctrl-C: with unitree.enabled,
    /// its sticks ask for the velocity, and controllers see sticks and keys as those of Unitree's
    /// remote control. docs/unitree.md lists keys and buttons. Exit code 5 if no daemon is there.
    #[cfg(feature = "zenoh")]
    Remote(RemoteArguments),
    /// Run a log again and compare the digest of every tick
    ///
    /// Builds the plant from the robot and scenario in the log, runs every tick with the commands
    /// that were applied, and compares every digest. The first difference is shown with tick and
    /// quantity. A log whose chain of checksums breaks is refused (see `verify`). Exit code 0:
    /// identical; 1: different; 3: identical as far as the log goes, but it is damaged or cut
    /// short, or refused.
    Replay(ReplayArguments),
    /// Find the first tick at which a condition holds, or two logs differ
    ///
    /// With --where: the first tick at which a condition on published quantities holds, such as
    /// `foot.FL.slip > 0.02`. With a command: a binary search for the first tick that it calls bad;
    /// once bad, all later ticks have to be bad. With a second log: the first tick at which the two
    /// differ, the cause, and the quantity that differs most. With --list: the quantities.
    ///
    /// The log is replayed, and must be identical. Exit code 0: the condition never holds, no
    /// tick is bad, or the logs do not differ; 1: found, or the replay differs from the log; 3:
    /// nothing found, but a log is damaged or cut short. docs/bisect.md has examples.
    Bisect(BisectArguments),
    /// Continue a run of a log with other parameters or another controller, and compare
    ///
    /// Takes the state before tick N of a log, changes the scenario, runs on with the commands of
    /// the log as they were applied, or in lockstep with the controller whose command follows `--`,
    /// writes that as a new log, and compares both runs. Exit code 0: both runs are the same; 1:
    /// they differ, or the replay differs from the log; 3: it ended before the log's run did; 6:
    /// the plant stopped itself; 8: the controller did not join, or ended early.
    Branch(BranchArguments),
    /// Complete a log that was cut off, for other readers
    ///
    /// A run that was killed leaves a log without index and end, which `replay` reads, but rosbags,
    /// `ros2 bag` and most viewers refuse. This copies everything that is whole of one file to a
    /// new one. Exit code 3 if it is not a log that can be replayed.
    Recover(RecoverArguments),
    /// Check that a log is as it was recorded: every byte of it, in all its files
    ///
    /// Reads the log once and checks the chain of checksums, those of MCAP, that every record
    /// decodes, and that each file follows the one before. It does not run the simulation: `replay`
    /// does. Exit code 0: complete; 1: the log has no chain; 3: cut off or broken, and where.
    Verify(VerifyArguments),
    /// Print how a robot description is read
    ///
    /// Reads a URDF as `run` would and shows the tree, masses, joint order, possible feet, and
    /// everything that is doubtful. An invalid model is refused with all its mistakes.
    Model(ModelArguments),
    /// Write a scenario for a robot: feet, standing posture, gains; check that it stands
    New(NewArguments),
    /// Make a table of the log of a real robot
    ///
    /// Reads joint states and commands from CSV, NumPy npz, MCAP with ROS 2 messages or a log of
    /// `hardstand run`, converts names, units, signs and time as a mapping says
    /// (docs/calibration.md), and writes one table for `compare` and `calibrate`. Gaps, empty
    /// cells, numbers that are not finite and time that runs back are refused with line and column.
    Import(ImportArguments),
    /// Let recorded commands drive the simulated robot, and measure the error of each joint
    ///
    /// Begins in the recorded state, of the whole table or of each window, and gives the drives the
    /// recorded commands at their times. Exit code 0: within the limits, or none was given; 1: an
    /// error is larger.
    Compare(CompareArguments),
    /// Fit parameters of a scenario to the log of a real robot
    ///
    /// Writes NAME.toml, which a scenario takes with overlays = ["NAME.toml"], and NAME.html with
    /// values, confidence intervals and errors before and after, on the part that was fitted and on
    /// the part that was held back. A parameter that the log does not determine gets no value. A
    /// fit that does not converge writes nothing. docs/calibration.md has examples.
    Calibrate(CalibrateArguments),
    /// Test whether this machine is fit for real time
    ///
    /// Reads how kernel, physics core and rights are set up and prints a fix for each source of
    /// latency that it finds. Then runs the real loop with the scenario's robot, without a
    /// controller, and judges its wake-up latency, tick cost and missed deadlines.
    /// docs/real-time.md explains each check and band. Exit code 0: usable; 1: "not for real time".
    Doctor(DoctorArguments),
    /// List the faults that a scenario or `ctl fault` can inject
    ///
    /// Each kind with what it does, its parameters with range and unit, and a command that works
    /// with the shipped quadruped. docs/faults.md says exactly what each one changes.
    Faults(FaultsArguments),
    /// Show what a drive does: torque by speed, step and frequency response, friction
    ///
    /// The drive is a shipped one or a file with the keys of joints.*.drive; it runs on a simulated
    /// test bench with its joint held. docs/drives.md lists all keys and the shipped drives.
    Drive(DriveArguments),
}

#[derive(Debug, Args)]
pub(super) struct FaultsArguments {
    /// Print one JSON document instead of text (docs/cli.md)
    #[arg(long)]
    pub(super) json: bool,
}
