//! A run that goes on in another file.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::plant::Plant;

use super::{Difference, LogReader, NextSegment, ReplayReport, RunInfo, replay};

/// Ticks that are in no file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The first that is missing.
    pub from_tick: u64,
    /// The first that is there again.
    pub to_tick: u64,
}

/// Result of the replay of all files of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunReport {
    /// Of all files together; the last one's damage.
    pub whole: ReplayReport,
    /// The files that were replayed.
    pub files: Vec<PathBuf>,
    /// Ticks that were lost between them.
    pub gaps: Vec<Gap>,
}

/// Replays the run that begins in `log`, and goes on in other files in the same folder. `plant`
/// must have been made from the log's robot and scenario; the rest is as in [`replay`].
///
/// # Errors
/// As [`replay`], for the first file. What is wrong with a later one is damage of the run.
pub fn replay_run(
    mut log: LogReader,
    plant: &Plant,
    threads: NonZeroUsize,
    mut progress: impl FnMut(u64, u64, u64),
) -> Result<RunReport> {
    let path = log.path().to_path_buf();
    let whole = replay(&mut log, plant.clone(), threads, &mut progress)?;
    let (mut epoch, mut end_tick) = (log.info().epoch, whole.first_tick + whole.ticks);
    let mut run = RunReport { whole, files: vec![path.clone()], gaps: Vec::new() };
    while run.whole.difference.is_none()
        && run.whole.damage.is_none()
        && let Some(next) = run.whole.next_segment.take()
    {
        // a name, never a path to somewhere else
        let file = path.with_file_name(Path::new(&next.file).file_name().unwrap_or_default());
        let info = RunInfo { epoch: next.epoch, ..log.info().clone() };
        let report = match continued(&file, &info, plant, threads, &mut progress) {
            Ok(Some(report)) if goes_on(&report, &next, (epoch, end_tick)) => report,
            Ok(_) => {
                let what = format!("the run goes on in {}, but that is another run", next.file);
                run.whole.damage = Some(what);
                break;
            }
            Err(e) => {
                run.whole.damage = Some(format!("the run goes on in {}: {e}", next.file));
                break;
            }
        };
        if next.epoch > epoch {
            epoch = next.epoch;
        } else if report.first_tick > end_tick {
            run.gaps.push(Gap { from_tick: end_tick, to_tick: report.first_tick });
        } else if report.first_digest != run.whole.digest {
            let quantity = format!("digest at the beginning of {}", file.display());
            run.whole.difference = Some(Difference { tick: end_tick, quantity });
            break;
        }
        end_tick = report.first_tick + report.ticks;
        run.whole = ReplayReport {
            ticks: run.whole.ticks + report.ticks,
            equal: run.whole.equal + report.equal,
            first_tick: run.whole.first_tick,
            first_digest: run.whole.first_digest,
            ..report
        };
        run.files.push(file);
    }
    Ok(run)
}

/// Replays `file`; `None` if it is not of the run `info`.
fn continued(
    file: &Path,
    info: &RunInfo,
    plant: &Plant,
    threads: NonZeroUsize,
    progress: &mut impl FnMut(u64, u64, u64),
) -> Result<Option<ReplayReport>> {
    let mut log = LogReader::open(file)?;
    if log.info() != info {
        return Ok(None);
    }
    replay(&mut log, plant.clone(), threads, progress).map(Some)
}

/// True if a file begins where the one before said, and not before that one ended with `end`, run
/// number and tick: so no run of files is without end.
fn goes_on(report: &ReplayReport, next: &NextSegment, end: (u32, u64)) -> bool {
    let begin = (next.epoch, report.first_tick);
    report.first_tick == next.first_tick && begin >= end && report.ticks > 0
}
