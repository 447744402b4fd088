//! A run that goes on in another file.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::plant::Plant;

use super::{Difference, LogReader, ReplayReport, RunInfo, replay};

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
        let plant = plant_of(log.info())?;
        replay(&mut log, plant, threads, &mut progress)
    };
    let mut run = RunReport { whole: one(path)?, files: vec![path.into()], gaps: Vec::new() };
    while run.whole.difference.is_none()
        && let Some(next) = run.whole.next_segment.take()
    {
        let whole = &mut run.whole;
        let here = whole.first_tick + whole.ticks + lost(&run.gaps);
        // a name, never a path to somewhere else
        let name = Path::new(&next.file).file_name().unwrap_or_default();
        let file = path.with_file_name(name);
        let report = match one(&file) {
            Ok(report) => report,
            Err(e) => {
                whole.damage = Some(format!("the run goes on in {}: {e}", next.file));
                break;
            }
        };
        if report.first_tick == here && report.first_digest != whole.digest {
            let quantity = format!("digest at the beginning of {}", file.display());
            whole.difference = Some(Difference { tick: here, quantity });
            break;
        }
        if report.first_tick != here {
            run.gaps.push(Gap { from_tick: here, to_tick: report.first_tick });
        }
        *whole = ReplayReport {
            ticks: whole.ticks + report.ticks,
            equal: whole.equal + report.equal,
            first_tick: whole.first_tick,
            first_digest: whole.first_digest,
            ..report
        };
        run.files.push(file);
    }
    Ok(run)
}

fn lost(gaps: &[Gap]) -> u64 {
    gaps.iter().map(|g| g.to_tick.saturating_sub(g.from_tick)).sum()
}
