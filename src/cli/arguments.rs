//! Exactly what the user typed.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

#[cfg(feature = "zenoh")]
use crate::bus::{Client, Credentials};
#[cfg(feature = "zenoh")]
use crate::config::TlsFiles;
#[cfg(feature = "zenoh")]
use hardstand_error::Result;

pub(super) use super::branch_arguments::BranchArguments;
#[cfg(feature = "zenoh")]
pub(super) use super::branch_arguments::CertifyArguments;
#[cfg(feature = "zenoh")]
use super::campaign_arguments::CampaignArguments;
#[cfg(feature = "zenoh")]
use super::fault_arguments::FaultArguments;
pub(super) use super::replay_arguments::ReplayArguments;

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
    Faults,
}

#[derive(Debug, Args)]
pub(super) struct DoctorArguments {
    /// Scenario file (TOML) [default: the quadruped, which is built in]
    pub(super) scenario: Option<PathBuf>,
    /// How long to measure, 1 to 604800 (a week)
    #[arg(long, value_name = "S", default_value_t = 60.0, allow_negative_numbers = true)]
    pub(super) seconds: f64,
    /// One JSON object on standard output instead of text
    #[arg(long)]
    pub(super) json: bool,
    /// Draw both histograms; an existing file is overwritten
    #[arg(long, value_name = "FILE.svg")]
    pub(super) plot: Option<PathBuf>,
    /// Change a key of the scenario, e.g. --set realtime.core=3 (repeatable)
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(super) sets: Vec<String>,
}

#[derive(Debug, Args)]
pub(super) struct RunArguments {
    /// Scenario file (TOML)
    pub(super) scenario: PathBuf,
    /// Simulated seconds to run, in all: those before a state of --from too [default: the
    /// scenario's sim.duration_s]
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub(super) duration: Option<f64>,
    /// Begin in a state that `ctl snapshot` has saved, of the same robot and physics; in lockstep,
    /// the required controllers of that state are waited for
    #[arg(long, value_name = "FILE")]
    pub(super) from: Option<PathBuf>,
    /// Record everything needed for a replay; an earlier run of that name is replaced [default: the
    /// scenario's record.file]
    #[arg(long, value_name = "FILE")]
    pub(super) log: Option<PathBuf>,
    /// Change a key of the scenario, e.g. --set contact.mu_static=0.3 (repeatable)
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(super) sets: Vec<String>,
    /// Write a line of JSON to FILE when the daemon accepts controllers, and a line when it ends
    /// (docs/cli.md); /dev/fd/N is the file descriptor N
    #[arg(long, value_name = "FILE")]
    pub(super) report: Option<PathBuf>,
    /// How time passes [default: the scenario's sim.pace]
    #[arg(long, value_enum)]
    pub(super) pace: Option<PaceArgument>,
    /// Simulated seconds per second of wall time [default: the scenario's sim.speed]
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub(super) speed: Option<f64>,
    /// Whether ticks wait for controllers [default: the scenario's control.mode]
    #[arg(long, value_enum)]
    pub(super) mode: Option<ModeArgument>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum ModeArgument {
    /// Never: what is late is counted
    Realtime,
    /// Always: a run is a function of its inputs
    Lockstep,
    /// For so long, see control.budget_ms
    Budgeted,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum PaceArgument {
    /// One tick per period of wall time
    Realtime,
    /// As fast as the machine allows; without waiting for a controller to come, unless in lockstep
    Free,
}

#[cfg(feature = "zenoh")]
#[derive(Debug, Args)]
pub(super) struct DemoArguments {
    /// Where the log goes; an earlier run of that name is replaced
    #[arg(long, value_name = "FILE", default_value = "hardstand-demo.mcap")]
    pub(super) log: PathBuf,
    /// Change a key of the scenario (repeatable)
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(super) sets: Vec<String>,
}

#[cfg(feature = "zenoh")]
#[derive(Debug, Args)]
pub(super) struct ControllerArguments {
    #[command(subcommand)]
    pub(super) kind: ControllerKind,
}

#[cfg(feature = "zenoh")]
#[derive(Debug, Subcommand)]
pub(super) enum ControllerKind {
    /// Hold the robot's initial joint positions with PD gains: it stands
    ///
    /// Asks the daemon for the robot's joints, then answers every state with a command that holds
    /// the initial joint positions. Ends on Ctrl-C, or with exit code 5 when no state has come for
    /// --patience.
    Stand(StandArguments),
}

#[cfg(feature = "zenoh")]
#[derive(Debug, Args)]
pub(super) struct StandArguments {
    #[command(flatten)]
    pub(super) daemon: DaemonArguments,
    /// Stiffness of every joint, N·m/rad
    #[arg(long, default_value_t = 100.0)]
    pub(super) kp: f64,
    /// Damping of every joint, N·m·s/rad
    #[arg(long, default_value_t = 3.0)]
    pub(super) kd: f64,
    /// Seconds without a state after which to give up
    #[arg(long, value_name = "S", default_value_t = 30.0, allow_negative_numbers = true)]
    pub(super) patience: f64,
    /// Join under this name, for lockstep; without it, whoever proves life first owns the robot
    #[arg(long, value_name = "NAME")]
    pub(super) join: Option<String>,
    /// Joint that it holds, if it joins (repeatable) [default: all]
    #[arg(long = "joint", value_name = "NAME", requires = "join")]
    pub(super) joints: Vec<String>,
    /// Ticks between two states that it answers
    #[arg(long, value_name = "TICKS", default_value_t = 1, requires = "join")]
    pub(super) period: u64,
    /// Remainder of their ticks by the period
    #[arg(long, value_name = "TICKS", default_value_t = 0, requires = "join")]
    pub(super) phase: u64,
    /// From the state to the tick at which the answer applies
    #[arg(long, value_name = "TICKS", default_value_t = 0, requires = "join")]
    pub(super) offset: u64,
    /// Ticks do not wait for it
    #[arg(long, requires = "join")]
    pub(super) advisory: bool,
}

#[cfg(feature = "zenoh")]
#[derive(Debug, Args)]
pub(super) struct CtlArguments {
    #[command(subcommand)]
    pub(super) kind: CtlKind,
}

#[cfg(feature = "zenoh")]
#[derive(Debug, Subcommand)]
pub(super) enum CtlKind {
    /// Change the friction of a foot, a station, a region of the ground, or all stations
    ///
    /// The daemon answers with the tick from whose start on the coefficients hold. The change is in
    /// the log, and a replay repeats it. Exit code 2 if it is refused, 5 if nobody answers.
    Friction(FrictionArguments),
    /// Push a link with a constant force for some time
    Push(PushArguments),
    /// Break something: an encoder, a motor, the IMU, a foot's sensor, the ground
    ///
    /// One command for each kind; `hardstand faults` lists them all. The daemon answers with the
    /// tick from whose start on the fault acts. It is in the log, and a replay repeats it.
    #[command(subcommand)]
    Fault(FaultArguments),
    /// End faults: all of them, or those of one kind
    ///
    /// Pushes end too, and friction is the scenario's again.
    #[command(alias = "mend")]
    Clear(ClearArguments),
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
    /// Let more or less time pass per second of wall time
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

#[cfg(feature = "zenoh")]
#[derive(Debug, Args)]
pub(super) struct PushArguments {
    /// Link that is pushed
    #[arg(long, value_name = "NAME")]
    pub(super) link: String,
    /// Force in world axes, N
    #[arg(long, value_name = "N", num_args = 3, allow_negative_numbers = true, required = true)]
    pub(super) force: Vec<f64>,
    /// Point of attack in the link's frame, m
    #[arg(long, value_name = "M", num_args = 3, allow_negative_numbers = true)]
    pub(super) point: Vec<f64>,
    /// Duration, s; at least one tick
    #[arg(long, value_name = "S")]
    pub(super) duration: f64,
    #[command(flatten)]
    pub(super) daemon: DaemonArguments,
}

#[cfg(feature = "zenoh")]
#[derive(Debug, Args)]
pub(super) struct ClearArguments {
    /// Kind of fault [default: all]
    #[arg(value_name = "KIND")]
    pub(super) kind: Option<String>,
    /// Joint whose faults end
    #[arg(long, value_name = "NAME", group = "part", requires = "kind")]
    pub(super) joint: Option<String>,
    /// Foot, likewise
    #[arg(long, value_name = "NAME", group = "part", requires = "kind")]
    pub(super) foot: Option<String>,
    /// Link, likewise
    #[arg(long, value_name = "NAME", group = "part", requires = "kind")]
    pub(super) link: Option<String>,
    /// Station, likewise
    #[arg(long, value_name = "NAME", group = "part", requires = "kind")]
    pub(super) station: Option<String>,
    /// Region of the ground, likewise
    #[arg(long, value_name = "NAME", group = "part", requires = "kind")]
    pub(super) region: Option<String>,
    #[command(flatten)]
    pub(super) daemon: DaemonArguments,
}

#[cfg(feature = "zenoh")]
#[derive(Debug, Args)]
pub(super) struct StepArguments {
    /// Number of ticks
    #[arg(default_value_t = 1, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) ticks: u64,
    /// Do not wait until they are done
    #[arg(long)]
    pub(super) no_wait: bool,
    #[command(flatten)]
    pub(super) daemon: DaemonArguments,
}

#[cfg(feature = "zenoh")]
#[derive(Debug, Args)]
pub(super) struct RunUntilArguments {
    /// Ticks done in this run
    #[arg(value_name = "TICK")]
    pub(super) tick: u64,
    /// Do not wait until they are done
    #[arg(long)]
    pub(super) no_wait: bool,
    #[command(flatten)]
    pub(super) daemon: DaemonArguments,
}

#[cfg(feature = "zenoh")]
#[derive(Debug, Args)]
pub(super) struct SpeedArguments {
    /// Simulated seconds per second of wall time, 0.001 to 1000; 0: as many as the machine allows
    #[arg(value_name = "X", allow_negative_numbers = true)]
    pub(super) speed: f64,
    #[command(flatten)]
    pub(super) daemon: DaemonArguments,
}

#[cfg(feature = "zenoh")]
#[derive(Debug, Args)]
pub(super) struct ResetArguments {
    /// Let published time begin at 0 again, too: a step back for who listens
    #[arg(long)]
    pub(super) rewind: bool,
    #[command(flatten)]
    pub(super) daemon: DaemonArguments,
}

#[cfg(feature = "zenoh")]
#[derive(Debug, Args)]
pub(super) struct StateFileArguments {
    /// File of the state
    #[arg(value_name = "FILE")]
    pub(super) file: PathBuf,
    #[command(flatten)]
    pub(super) daemon: DaemonArguments,
}

#[cfg(feature = "zenoh")]
#[derive(Debug, Args)]
pub(super) struct FrictionArguments {
    /// Foot whose stations are meant [default: all stations]
    #[arg(long, value_name = "NAME", group = "scope")]
    pub(super) foot: Option<String>,
    /// Station that is meant
    #[arg(long, value_name = "NAME", group = "scope")]
    pub(super) station: Option<String>,
    /// Region of the ground that is meant; it goes before the friction of whoever stands in it
    #[arg(long, value_name = "NAME", group = "scope")]
    pub(super) region: Option<String>,
    /// Static coefficient, 0 to 100
    #[arg(long = "static", value_name = "MU", allow_negative_numbers = true)]
    pub(super) mu_static: f64,
    /// Kinetic coefficient, 0 to the static one
    #[arg(long = "kinetic", value_name = "MU", allow_negative_numbers = true)]
    pub(super) mu_kinetic: f64,
    #[command(flatten)]
    pub(super) daemon: DaemonArguments,
}

#[cfg(feature = "zenoh")]
#[derive(Debug, Args)]
pub(super) struct StatusArguments {
    #[command(flatten)]
    pub(super) daemon: DaemonArguments,
    /// One JSON object instead of text; docs/protocol.md lists its fields
    #[arg(long)]
    pub(super) json: bool,
    /// Again every second, until Ctrl-C
    #[arg(long)]
    pub(super) watch: bool,
    /// Counters that are 0, too
    #[arg(long)]
    pub(super) all: bool,
}

#[cfg(feature = "zenoh")]
#[derive(Debug, Args)]
pub(super) struct EventsArguments {
    #[command(flatten)]
    pub(super) daemon: DaemonArguments,
    /// One JSON object a line instead of text
    #[arg(long)]
    pub(super) json: bool,
}

/// Where a daemon is, and what it wants to see.
#[cfg(feature = "zenoh")]
#[derive(Debug, Args)]
pub(super) struct DaemonArguments {
    /// zenoh endpoint of the daemon
    #[arg(long, value_name = "ENDPOINT", default_value = "tcp/127.0.0.1:7447")]
    #[arg(env = crate::process_harness::CONNECT_VARIABLE)]
    pub(super) connect: String,
    /// Robot name in the keys, hardstand/ROBOT/…
    #[arg(long, default_value = "quadruped", env = crate::process_harness::ROBOT_VARIABLE)]
    pub(super) robot: String,
    /// User of the daemon's bus.users_file
    #[arg(long, value_name = "NAME", requires = "password_file")]
    pub(super) user: Option<String>,
    /// File with this user's password and nothing else, mode 600
    #[arg(long, value_name = "FILE", requires = "user")]
    pub(super) password_file: Option<PathBuf>,
    /// Certificate (PEM) to show at an endpoint tls/HOST:PORT
    #[arg(long, value_name = "FILE", requires_all = ["tls_key", "tls_ca"])]
    pub(super) tls_certificate: Option<PathBuf>,
    /// Its private key (PEM), mode 600
    #[arg(long, value_name = "FILE", requires = "tls_certificate")]
    pub(super) tls_key: Option<PathBuf>,
    /// Authority (PEM) that has signed the daemon's certificate
    #[arg(long, value_name = "FILE", requires = "tls_certificate")]
    pub(super) tls_ca: Option<PathBuf>,
}

#[cfg(feature = "zenoh")]
impl DaemonArguments {
    /// A client of that daemon.
    pub(super) fn client(&self) -> Result<Client> {
        let user = self.user.clone().zip(self.password_file.clone());
        let tls = match (&self.tls_certificate, &self.tls_key, &self.tls_ca) {
            (Some(certificate), Some(key), Some(ca)) => Some(TlsFiles {
                certificate: certificate.clone(),
                key: key.clone(),
                ca: ca.clone(),
            }),
            _ => None,
        };
        Client::connect_as(&self.connect, &self.robot, &Credentials { user, tls })
    }
}

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("question").required(true))]
pub(super) struct BisectArguments {
    /// Log file (MCAP) written by `run --log`, `demo` or `branch`
    pub(super) log: PathBuf,
    /// Another log, to be compared with it
    #[arg(group = "question")]
    pub(super) other: Option<PathBuf>,
    /// Condition on quantities of a tick: < <= > >= == !=, and or not, + - * /, abs min max
    #[arg(long = "where", value_name = "EXPR", group = "question", allow_hyphen_values = true)]
    pub(super) condition: Option<String>,
    /// Show all quantities with unit and meaning; with --at, their values
    #[arg(long, group = "question")]
    pub(super) list: bool,
    /// Ticks done, as in the state after the tick
    #[arg(long, value_name = "TICK", requires = "list")]
    pub(super) at: Option<u64>,
    /// Run number that TICK is of [default: the first in the log]
    #[arg(long, alias = "epoch", value_name = "N", requires = "at")]
    pub(super) run_id: Option<u32>,
    /// Draw what differs most; an existing file is overwritten
    #[arg(long, value_name = "FILE.svg", requires = "other")]
    pub(super) plot: Option<PathBuf>,
    /// Stretches of the log that run side by side [default: all cores]
    #[arg(long, value_name = "N", requires = "condition",
          value_parser = clap::value_parser!(u8).range(1..))]
    pub(super) threads: Option<u8>,
    /// Command that judges a tick, after `--`: it gets the quantities as JSON on standard input and
    /// the tick as HARDSTAND_TICK. Exit code 0: good; 1 to 127: bad, but for 125: cannot be judged
    #[arg(last = true, value_name = "COMMAND", group = "question")]
    pub(super) command: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(super) struct RecoverArguments {
    /// Log file (MCAP); it is left as it is
    pub(super) log: PathBuf,
    /// The new file, which must not exist [default: NAME.recovered.mcap beside the log]
    #[arg(long, value_name = "FILE")]
    pub(super) to: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct ModelArguments {
    /// Robot description (URDF)
    pub(super) urdf: PathBuf,
    /// How the root link is held
    #[arg(long, value_enum, default_value = "auto")]
    pub(super) base: BaseArgument,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum BaseArgument {
    /// Floating, unless the root link is called "world"
    Auto,
    /// Free in space
    Floating,
    /// Welded to the world
    Fixed,
}
