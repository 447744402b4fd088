//! Arguments of `import`, `compare` and `calibrate`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(in crate::cli) struct ImportArguments {
    /// Logs that follow one another in time: .csv, .csv.gz, .npz, .mcap, .db3, or the folder of a
    /// rosbag2
    #[arg(value_name = "FILE", required = true)]
    pub(in crate::cli) files: Vec<PathBuf>,
    /// Table to write, .csv or .csv.gz
    #[arg(short, long, value_name = "FILE")]
    pub(in crate::cli) output: PathBuf,
    /// Names, units, signs and time (TOML); logs of `hardstand run` need none
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) map: Option<PathBuf>,
    /// Print one JSON document instead of text
    #[arg(long)]
    pub(in crate::cli) json: bool,
}

#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub(in crate::cli) struct CompareArguments {
    /// Table that `hardstand import` has written
    #[arg(value_name = "REAL")]
    pub(in crate::cli) real: PathBuf,
    /// Scenario file (TOML)
    pub(in crate::cli) scenario: PathBuf,
    /// Change a key of the scenario, e.g. --set joints.*.friction=0.2 (repeatable)
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(in crate::cli) sets: Vec<String>,
    /// Time of the table at which the comparison begins, s
    #[arg(long, value_name = "S")]
    pub(in crate::cli) from: Option<f64>,
    /// Time of the table at which it ends, s
    #[arg(long, value_name = "S")]
    pub(in crate::cli) to: Option<f64>,
    /// Begin again in the recorded state after each S seconds [default: one window]
    #[arg(long, value_name = "S")]
    pub(in crate::cli) window: Option<f64>,
    /// Exit code 1 if the error of all joints together is larger
    #[arg(long, value_name = "RAD")]
    pub(in crate::cli) max_rms_rad: Option<f64>,
    /// Exit code 1 if the error of any joint is larger
    #[arg(long, value_name = "RAD")]
    pub(in crate::cli) max_joint_rms_rad: Option<f64>,
    /// Folder for drawings of positions and errors over time
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) plot: Option<PathBuf>,
    /// Print one JSON document instead of text
    #[arg(long)]
    pub(in crate::cli) json: bool,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct CalibrateArguments {
    /// Table that `hardstand import` has written
    #[arg(value_name = "REAL")]
    pub(in crate::cli) real: PathBuf,
    /// Scenario file (TOML)
    pub(in crate::cli) scenario: PathBuf,
    /// What is fitted: keys of joints (armature, damping, friction, hold_kp, hold_kd, drive.…), of
    /// links (mass, inertia), or any key of the scenario, separated by commas; KEY@each: a value
    /// for each joint, KEY@*_calf_joint: one for these, KEY=VALUE: where the search begins
    #[arg(long, value_name = "KEYS", required = true, value_delimiter = ',')]
    pub(in crate::cli) fit: Vec<String>,
    /// Change a key of the scenario (repeatable)
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(in crate::cli) sets: Vec<String>,
    /// Share of the log, at its end, that is not fitted but predicted, 0 to 0.9
    #[arg(long, value_name = "SHARE", default_value_t = 1.0 / 3.0)]
    pub(in crate::cli) hold_back: f64,
    /// Begin again in the recorded state after each S seconds [default: one window, through which
    /// the replay of a robot whose base is free follows the recording]
    #[arg(long, value_name = "S")]
    pub(in crate::cli) window: Option<f64>,
    /// Where the result goes: NAME.toml and NAME.html
    #[arg(short, long, value_name = "NAME")]
    pub(in crate::cli) output: PathBuf,
    /// Threads; the result does not depend on it [default: one for each core]
    #[arg(long, value_name = "N")]
    pub(in crate::cli) threads: Option<NonZeroUsize>,
    /// Iterations after which the fit counts as not converged
    #[arg(long, value_name = "N", default_value_t = 40)]
    pub(in crate::cli) iterations: usize,
    /// Print one JSON document instead of text
    #[arg(long)]
    pub(in crate::cli) json: bool,
}
