//! The command line: arguments, one module for each command, and the text of its typed result.

mod arguments;
mod bisect;
mod branch;
#[cfg(feature = "zenoh")]
mod branch_live;
mod calibrate;
mod calibration_page;
#[cfg(feature = "zenoh")]
mod campaign;
#[cfg(feature = "zenoh")]
mod certify;
mod compare;
#[cfg(feature = "zenoh")]
mod controller;
#[cfg(feature = "zenoh")]
mod ctl;
#[cfg(feature = "zenoh")]
mod demo;
mod differences;
mod doctor;
mod drive;
mod drive_plot;
#[cfg(feature = "zenoh")]
mod events;
mod exit;
#[cfg(feature = "zenoh")]
mod export;
#[cfg(feature = "zenoh")]
mod failure;
mod faults;
mod histogram;
mod html;
#[cfg(feature = "zenoh")]
mod hunt;
mod import;
mod judge_command;
mod model;
mod new;
mod output_file;
mod panels;
mod picture;
mod plot;
mod plot_differences;
#[cfg(feature = "zenoh")]
mod plot_run;
mod progress;
mod recover;
#[cfg(feature = "zenoh")]
mod remote;
mod replay;
#[cfg(feature = "zenoh")]
mod replay_live;
mod run;
mod run_watch;
mod shell;
mod show;
mod signals;
#[cfg(feature = "zenoh")]
mod status;
mod verify;
#[cfg(feature = "view")]
mod view;
#[cfg(feature = "zenoh")]
mod worker;

use std::process;

use clap::Parser;

use arguments::{Arguments, Verb};
pub use exit::ExitCode;
use signals::{DaemonStop, stop_on_signal};

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
        Verb::Verify(a) => verify::verify_command(a),
        Verb::Model(a) => model::model(a),
        Verb::New(a) => new::new(a),
        Verb::Import(a) => import::import(a),
        Verb::Compare(a) => compare::compare(a),
        Verb::Calibrate(a) => calibrate::calibrate(a),
        Verb::Doctor(a) => doctor::doctor(a),
        Verb::Faults(a) => faults::faults(a),
        Verb::Drive(a) => drive::drive(a),
        #[cfg(feature = "zenoh")]
        Verb::Certify(a) => certify::certify(a),
        #[cfg(feature = "zenoh")]
        Verb::Demo(a) => demo::demo(a),
        #[cfg(feature = "zenoh")]
        Verb::Campaign(a) => campaign::campaign(a),
        #[cfg(feature = "zenoh")]
        Verb::Worker => worker::worker(),
        #[cfg(feature = "zenoh")]
        Verb::Hunt(a) => hunt::hunt(a),
        #[cfg(feature = "zenoh")]
        Verb::Pushes(a) => hunt::pushes(a),
        #[cfg(feature = "zenoh")]
        Verb::Controller(a) => controller::controller(a),
        #[cfg(feature = "zenoh")]
        Verb::Ctl(a) => ctl::ctl(a),
        #[cfg(feature = "zenoh")]
        Verb::Events(a) => events::events(a),
        #[cfg(feature = "zenoh")]
        Verb::Remote(a) => remote::remote(a),
        #[cfg(feature = "zenoh")]
        Verb::Status(a) => status::status(a),
        #[cfg(feature = "zenoh")]
        Verb::Plot(a) => plot_run::plot(a),
        #[cfg(feature = "zenoh")]
        Verb::Export(a) => export::export(a),
        #[cfg(feature = "view")]
        Verb::View(a) => view::view(a),
        #[cfg(feature = "view")]
        Verb::Page(a) => view::page(a),
    };
    // what a command has found counts more than a line that is lost
    let result = result.and_then(|code| match code {
        ExitCode::Done => show::all_written().map(|()| code),
        _found => Ok(code),
    });
    let code = result.unwrap_or_else(|e| {
        show::error(&e);
        e.kind().into()
    });
    process::ExitCode::from(code.number())
}
