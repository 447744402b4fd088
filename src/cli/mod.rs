//! The command line: arguments, one module for each command, and the text of its typed result.

mod arguments;
mod bisect;
mod branch;
#[cfg(feature = "zenoh")]
mod branch_live;
#[cfg(feature = "zenoh")]
mod campaign;
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
mod exit;
#[cfg(feature = "zenoh")]
mod failure;
mod faults;
mod histogram;
mod judge_command;
mod model;
mod plot;
mod plot_differences;
mod progress;
mod recover;
mod replay;
#[cfg(feature = "zenoh")]
mod replay_live;
mod run;
mod show;
#[cfg(feature = "zenoh")]
mod status;

use std::process;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::Parser;
use signal_hook::consts::{SIGINT, SIGTERM};

use arguments::{Arguments, Verb};
pub use exit::ExitCode;
use hardstand_error::{Error, ErrorKind, Result};

/// Runs the program: parses the arguments, does what they say, prints errors to standard error.
#[must_use]
pub fn main() -> process::ExitCode {
    let arguments = Arguments::parse();
    let result = match &arguments.verb {
        Verb::Run(a) => run::run(a),
        Verb::Replay(a) => replay::replay(a),
        Verb::Bisect(a) => bisect::bisect(a),
        Verb::Branch(a) => branch::branch(a),
        Verb::Recover(a) => recover::recover(a),
        Verb::Model(a) => model::model(a),
        Verb::Doctor(a) => doctor::doctor(a),
        Verb::Faults(a) => faults::faults(a),
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
    let code = result.unwrap_or_else(|e| {
        show::error(&e);
        e.kind().into()
    });
    process::ExitCode::from(code.number())
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
