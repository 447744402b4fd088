//! A run that goes on in another file.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
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

/// Replays the run that begins in the file `path`, and goes on in others in the same folder.
/// `plant_of` makes a plant for a file; the rest is as in [`replay`].
///
/// # Errors
/// As [`LogReader::open`], [`replay`] and `plant_of`, for the first file. What is wrong with a
/// later one is damage of the run.
pub fn replay_run(
    path: &Path,
    plant_of: impl Fn(&RunInfo) -> Result<Plant>,
    threads: NonZeroUsize,
    mut progress: impl FnMut(u64, u64, u64),
) -> Result<RunReport> {
    let mut one = |path: &Path| {
        let mut log = LogReader::open(path)?;
        let info = log.info().clone();
        let report = replay(&mut log, plant_of(&info)?, threads, &mut progress)?;
        Ok::<_, Error>((info, report))
    };
    let (info, first) = one(path)?;
    let mut end_tick = first.first_tick + first.ticks;
    let mut run = RunReport { whole: first, files: vec![path.into()], gaps: Vec::new() };
    while run.whole.difference.is_none()
        && run.whole.damage.is_none()
        && let Some(next) = run.whole.next_segment.take()
    {
        // a name, never a path to somewhere else
        let file = path.with_file_name(Path::new(&next.file).file_name().unwrap_or_default());
        let report = match one(&file) {
            Ok((its_info, report)) if its_info == info && goes_on(&report, &next, end_tick) => {
                report
            }
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
        if report.first_tick > end_tick {
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

/// True if a file begins where the one before said, and not before that one ended: so no run of
/// files is without end.
const fn goes_on(report: &ReplayReport, next: &NextSegment, end_tick: u64) -> bool {
    report.first_tick == next.first_tick && report.first_tick >= end_tick && report.ticks > 0
}
