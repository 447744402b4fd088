//! A run that goes on in another file.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use hardstand_error::{Error, ErrorKind, Result};
use hardstand_physics::plant::Plant;

use super::replay::replay_looking;
use super::tick_view::Look;
use super::{Difference, LogReader, NextSegment, ReplayReport, RunInfo};

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
/// must have been made from the log's robot and scenario; the rest is as in
/// [`replay`](super::replay()).
///
/// # Errors
/// As [`replay`](super::replay()), for the first file. What is wrong with a later one is damage of
/// the run.
pub fn replay_run(
    log: LogReader,
    plant: &Plant,
    threads: NonZeroUsize,
    progress: impl FnMut(u64, u64, u64),
) -> Result<RunReport> {
    replay_all(log, plant, threads, None, progress)
}

/// [`replay_run`] for an observer: `look` sees every tick that is as in the log, and the replay
/// ends at the first of which it returns true: [`ReplayReport::seen`]. With several threads it sees
/// ticks in any order, and some that come after that one.
///
/// # Errors
/// As [`replay_run`].
pub fn replay_until(
    log: LogReader,
    plant: &Plant,
    threads: NonZeroUsize,
    look: Look<'_>,
    progress: impl FnMut(u64, u64, u64),
) -> Result<RunReport> {
    replay_all(log, plant, threads, Some(look), progress)
}

fn replay_all(
    mut log: LogReader,
    plant: &Plant,
    threads: NonZeroUsize,
    look: Option<Look<'_>>,
    mut progress: impl FnMut(u64, u64, u64),
) -> Result<RunReport> {
    let path = log.path().to_path_buf();
    let whole = replay_looking(&mut log, plant.clone(), threads, look, &mut progress)?;
    let (mut run_id, mut end_tick) = (log.info().run_id, whole.first_tick + whole.ticks);
    let mut run = RunReport { whole, files: vec![path.clone()], gaps: Vec::new() };
    while !run.whole.is_settled()
        && run.whole.damage.is_none()
        && let Some(next) = run.whole.next_segment.take()
    {
        let goes_on = |report: ReplayReport| {
            let begin = report.first_tick;
            if report.ticks > 0 && next.is_reached((run_id, end_tick), begin) {
                return Ok(report);
            }
            Err(next.another())
        };
        let report = open_next(log.info(), &path, &next)
            .and_then(|mut log| {
                let replayed =
                    replay_looking(&mut log, plant.clone(), threads, look, &mut progress);
                replayed.map_err(|e| e.within(next.place()))
            })
            .and_then(goes_on);
        let (report, file) = match report {
            Ok(report) => (report, next.beside(&path)),
            Err(e) => {
                run.whole.damage = Some(e.to_string());
                break;
            }
        };
        if next.run_id > run_id {
            run_id = next.run_id;
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

/// Opens the file in which the run that begins in `first` goes on.
///
/// # Errors
/// Why it does not go on there.
pub(super) fn open_next(info: &RunInfo, first: &Path, next: &NextSegment) -> Result<LogReader> {
    let log = LogReader::open(&next.beside(first)).map_err(|e| e.within(next.place()))?;
    let same = RunInfo { run_id: next.run_id, ..info.clone() };
    if *log.info() == same { Ok(log) } else { Err(next.another()) }
}

impl NextSegment {
    /// Its file, beside the first one of the run.
    pub(super) fn beside(&self, first: &Path) -> PathBuf {
        // a name, never a path to somewhere else
        first.with_file_name(Path::new(&self.file).file_name().unwrap_or_default())
    }

    /// True if a file whose first tick is `first_tick` begins where the one before said, and not
    /// before that one ended with `end`, run number and tick: so no run of files is without end.
    pub(super) fn is_reached(&self, end: (u32, u64), first_tick: u64) -> bool {
        first_tick == self.first_tick && (self.run_id, first_tick) >= end
    }

    fn place(&self) -> String {
        format!("the run goes on in {}", self.file)
    }

    /// The error of a file that is not the one.
    pub(super) fn another(&self) -> Error {
        Error::new(ErrorKind::Log, format!("{}, but that is another run", self.place()))
    }
}
