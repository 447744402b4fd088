//! Arguments of `certify`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(in crate::cli) struct CertifyArguments {
    /// Print one JSON document instead of text (docs/cli.md)
    #[arg(long)]
    pub(in crate::cli) json: bool,
    /// Scenario file (TOML)
    #[arg(required_unless_present = "check")]
    pub(in crate::cli) scenario: Option<PathBuf>,
    /// Change a key of the scenario, e.g. --set sim.micro_steps=20 (repeatable)
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(in crate::cli) sets: Vec<String>,
    /// Simulated seconds of a run; all runs together take about 15 times that and a quarter of a
    /// minute [default: the scenario's sim.duration_s, or else 2]
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub(in crate::cli) duration: Option<f64>,
    /// Folder of the certificate and of the logs; what is in the way there is replaced [default:
    /// hardstand-certificate, or hardstand-check with --check]
    #[arg(long, value_name = "FOLDER")]
    pub(in crate::cli) out: Option<PathBuf>,
    /// Keep all logs, not only those of the reference and of runs that differ
    #[arg(long)]
    pub(in crate::cli) keep_logs: bool,
    /// Seconds to wait for the controller to join, and for each of its answers
    #[arg(long, value_name = "S", default_value_t = 30.0, allow_negative_numbers = true)]
    pub(in crate::cli) patience: f64,
    /// A file or folder that the controller reads, to be recorded with its hash (repeatable); its
    /// program, its libraries, and the files that its command names are recorded anyway
    #[arg(long = "file", value_name = "PATH")]
    pub(in crate::cli) files: Vec<PathBuf>,
    /// Sign the certificate with this private Ed25519 key (PEM): certificate.json.sig
    #[arg(long, value_name = "KEY")]
    pub(in crate::cli) sign: Option<PathBuf>,
    /// Repeat the runs of this certificate.json here, and compare: its scenario, keys, duration and
    /// command, unless others are given
    #[arg(long, value_name = "CERTIFICATE", conflicts_with_all = ["scenario", "duration"])]
    pub(in crate::cli) check: Option<PathBuf>,
    /// With --check: refuse a certificate that was not signed with the key of this public one (PEM)
    #[arg(long, value_name = "PUBLIC_KEY", requires = "check")]
    pub(in crate::cli) key: Option<PathBuf>,
    /// The controller's command, after `--`; it finds the daemon where bus.listen of the scenario
    /// says, which is also in HARDSTAND_CONNECT, and the robot's name in HARDSTAND_ROBOT
    #[arg(last = true, required_unless_present = "check", value_name = "COMMAND")]
    pub(in crate::cli) command: Vec<OsString>,
}
