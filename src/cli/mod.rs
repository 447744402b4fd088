//! The command line: what the user typed, and what is printed.

mod arguments;
mod bisect;
mod branch;
mod branch_arguments;
#[cfg(feature = "zenoh")]
mod branch_live;
#[cfg(feature = "zenoh")]
mod campaign;
#[cfg(feature = "zenoh")]
mod campaign_arguments;
#[cfg(feature = "zenoh")]
mod certify;
#[cfg(feature = "zenoh")]
mod controller;
#[cfg(feature = "zenoh")]
mod ctl;
#[cfg(feature = "zenoh")]
mod demo;
mod differences;
mod doctor;
#[cfg(feature = "zenoh")]
mod events;
#[cfg(feature = "zenoh")]
mod fault_arguments;
mod faults;
mod histogram;
mod judge;
mod model;
mod plot;
mod plot_differences;
mod progress;
mod recover;
mod replay;
mod replay_arguments;
#[cfg(feature = "zenoh")]
mod replay_live;
mod run;
mod show;
#[cfg(feature = "zenoh")]
mod status;

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::Parser;
use signal_hook::consts::{SIGINT, SIGTERM};

use arguments::{Arguments, Verb};
use hardstand_error::{Error, ErrorKind, Result};

/// Exit codes beside those of [`ErrorKind`].
pub mod exit {
    /// All went well.
    pub const OK: u8 = 0;
    /// The verdict is negative: the demo's robot does not stand, a replay or a certified run
    /// differs, `bisect` has found what it was looking for, a case of a campaign is one of
    /// `fail_if`, or the doctor finds a machine unfit for real time.
    pub const NEGATIVE: u8 = 1;
    /// A log is damaged or truncated; what could be replayed is equal. Or a campaign's table lacks
    /// cases.
    pub const LOSSY: u8 = 3;
    /// The plant stopped itself.
    pub const FAULT: u8 = 6;
    /// A deadline was missed under `realtime.overrun = "stop"`.
    pub const OVERRUN: u8 = 7;
    /// A controller did not come, or was silent for longer than `control.patience_s`.
    pub const CONTROLLER_TIMEOUT: u8 = 8;
}

/// Runs the program: parses the arguments, does what they say, prints errors to standard error.
#[must_use]
pub fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let result = match &arguments.verb {
        Verb::Run(a) => run::run(a),
        Verb::Replay(a) => replay::replay(a),
        Verb::Bisect(a) => bisect::bisect(a),
        Verb::Branch(a) => branch::branch(a),
        Verb::Recover(a) => recover::recover(a),
        Verb::Model(a) => model::model(a),
        Verb::Doctor(a) => doctor::doctor(a),
        Verb::Faults => faults::faults(),
        #[cfg(feature = "zenoh")]
        Verb::Certify(a) => certify::certify(a),
        #[cfg(feature = "zenoh")]
        Verb::Demo(a) => demo::demo(a),
        #[cfg(feature = "zenoh")]
        Verb::Campaign(a) => campaign::campaign(a),
        #[cfg(feature = "zenoh")]
        Verb::Controller(a) => controller::controller(a),
        #[cfg(feature = "zenoh")]
        Verb::Ctl(a) => ctl::ctl(a),
        #[cfg(feature = "zenoh")]
        Verb::Events(a) => events::events(a),
        #[cfg(feature = "zenoh")]
        Verb::Status(a) => status::status(a),
    };
    match result {
        Ok(code) => ExitCode::from(code),
        Err(e) => {
            show::error(&e);
            ExitCode::from(e.kind().exit_code())
        }
    }
}

/// A flag that SIGINT and SIGTERM set; a second signal ends the process at once.
fn stop_on_signal() -> Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        let at_once = 128 + signal;
        signal_hook::flag::register_conditional_shutdown(signal, at_once, Arc::clone(&stop))
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&stop)))
            .map_err(signal_error)?;
    }
    Ok(stop)
}

/// Makes these signals harmless: a file that may not grow is then a failed write.
fn survive(signals: &[i32]) -> Result<()> {
    for &signal in signals {
        let unread = Arc::new(AtomicBool::new(false));
        signal_hook::flag::register(signal, unread).map_err(signal_error)?;
    }
    Ok(())
}

#[allow(clippy::needless_pass_by_value, reason = "for map_err")]
fn signal_error(e: std::io::Error) -> Error {
    Error::new(ErrorKind::Internal, format!("signal handler: {e}"))
}
