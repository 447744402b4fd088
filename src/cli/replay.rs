//! `hardstand replay`.

use std::num::NonZeroUsize;
use std::path::Path;
use std::thread;
use std::time::Instant;

use crate::config::Scenario;
use crate::error::Result;
use crate::record::{self, LogReader, ReplayReport};

use super::arguments::ReplayArguments;
use super::{exit, progress, show};

pub(super) fn replay(a: &ReplayArguments) -> Result<u8> {
    let report = replay_file(&a.log, &a.sets, a.threads)?;
    let lossy = report.damage.is_some() || report.next_segment.is_some();
    Ok(match (&report.difference, lossy) {
        (Some(_), _) => exit::NEGATIVE,
        (None, true) => exit::LOSSY,
        (None, false) => exit::OK,
    })
}

/// Replays a log and prints the result; on all cores unless `threads` says how many.
pub(super) fn replay_file(
    path: &Path,
    sets: &[String],
    threads: Option<u8>,
) -> Result<ReplayReport> {
    let mut log = LogReader::open(path)?;
    let info = log.info().clone();
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
    let bar = progress::bar(log.progress().1, "replaying");
    let threads = threads.and_then(|n| NonZeroUsize::new(n.into()));
    let threads = threads.or_else(|| thread::available_parallelism().ok());
    let begin = Instant::now();
    let report = record::replay(
        &mut log,
        scenario.plant(),
        threads.unwrap_or(NonZeroUsize::MIN),
        |ticks, read, all| {
            bar.set_length(all);
            bar.set_position(read);
            bar.set_message(format!("{ticks} ticks"));
        },
    )?;
    bar.finish_and_clear();
    show::replay(&report, begin.elapsed().as_secs_f64(), info.period_ns);
    Ok(report)
}
