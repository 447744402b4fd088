//! `hardstand replay`.

use std::num::NonZeroUsize;
use std::path::Path;
use std::thread;
use std::time::Instant;

use crate::config::Scenario;
use crate::record::LogReader;
use crate::replay::{self, Look, RunReport};
use hardstand_error::Result;

use super::arguments::ReplayArguments;
use super::{ExitCode, progress, show};

pub(super) fn replay(a: &ReplayArguments) -> Result<ExitCode> {
    #[cfg(feature = "zenoh")]
    if a.to_controller {
        return super::replay_live::show_to_controllers(a);
    }
    let run = replay_file(&a.log, &a.sets, a.threads)?;
    Ok(code_of(&run))
}

/// The exit code of a replay.
pub(super) fn code_of(run: &RunReport) -> ExitCode {
    let lossy = run.whole.damage.is_some() || !run.gaps.is_empty();
    match (&run.whole.difference, lossy) {
        (Some(_), _) => ExitCode::Negative,
        (None, true) => ExitCode::Incomplete,
        (None, false) => ExitCode::Done,
    }
}

/// Replays a log, with all files in which its run goes on, and prints the result; on all cores
/// unless `threads` says how many.
pub(super) fn replay_file(path: &Path, sets: &[String], threads: Option<u8>) -> Result<RunReport> {
    let (log, scenario) = open(path, sets)?;
    run(log, &scenario, threads, None)
}

/// A log and its scenario, with `sets` changed; what is doubtful about it is told.
pub(super) fn open(path: &Path, sets: &[String]) -> Result<(LogReader, Scenario)> {
    let log = LogReader::open(path)?;
    let info = log.info();
    let version = env!("CARGO_PKG_VERSION");
    if info.version != version {
        show::note(&format!(
            "the log was written by version {}, this is {version}: digests may differ",
            info.version
        ));
    }
    let scenario = Scenario::from_texts(&info.scenario, &info.robot, sets)?;
    if sets.is_empty() && scenario.physics_hash != info.physics_hash {
        show::note("the physics hash of the log does not match its own robot and scenario");
    }
    Ok((log, scenario))
}

/// Replays a log that has been opened and prints the result; `look` may end it.
pub(super) fn run(
    log: LogReader,
    scenario: &Scenario,
    threads: Option<u8>,
    look: Option<Look<'_>>,
) -> Result<RunReport> {
    let period_ns = log.info().period_ns;
    let bar = progress::bar(0, "replaying");
    let threads = threads.and_then(|n| NonZeroUsize::new(n.into()));
    let threads = threads.or_else(|| thread::available_parallelism().ok());
    let threads = threads.unwrap_or(NonZeroUsize::MIN);
    let progress = |ticks, read, all| {
        bar.set_length(all);
        bar.set_position(read);
        bar.set_message(format!("{ticks} ticks"));
    };
    let (plant, begin) = (scenario.plant(), Instant::now());
    let run = match look {
        Some(look) => replay::replay_until(log, &plant, threads, look, progress)?,
        None => replay::replay_run(log, &plant, threads, progress)?,
    };
    bar.finish_and_clear();
    show::replay(&run, begin.elapsed().as_secs_f64(), period_ns);
    Ok(run)
}
