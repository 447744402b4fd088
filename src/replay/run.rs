//! Replays a run through all of its files.

use std::num::NonZeroUsize;

use crate::simulation::Simulation;
use hardstand_error::Result;
use hardstand_log::LogReader;

use super::parallel::replay_looking;
use super::{Difference, Gap, Look, ReplayReport, RunReport};

/// Replays the run that begins in `log`, and goes on in other files in the same folder.
/// `simulation` must have been made from the log's robot and scenario; the rest is as in
/// [`replay`](super::replay()).
///
/// # Errors
/// As [`replay`](super::replay()), for the first file. What is wrong with a later one is damage of
/// the run.
pub fn replay_run(
    log: LogReader,
    simulation: &Simulation,
    threads: NonZeroUsize,
    progress: impl FnMut(u64, u64, u64),
) -> Result<RunReport> {
    replay_all(log, simulation, threads, None, progress)
}

/// [`replay_run`] for an observer: `look` sees every tick that is as in the log, and the replay
/// ends at the first of which it returns true: [`ReplayReport::seen`]. With several threads it sees
/// ticks in any order, and some that come after that one.
///
/// # Errors
/// As [`replay_run`].
pub fn replay_until(
    log: LogReader,
    simulation: &Simulation,
    threads: NonZeroUsize,
    look: Look<'_>,
    progress: impl FnMut(u64, u64, u64),
) -> Result<RunReport> {
    replay_all(log, simulation, threads, Some(look), progress)
}

fn replay_all(
    mut log: LogReader,
    simulation: &Simulation,
    threads: NonZeroUsize,
    look: Option<Look<'_>>,
    mut progress: impl FnMut(u64, u64, u64),
) -> Result<RunReport> {
    let path = log.path().to_path_buf();
    let whole = replay_looking(&mut log, simulation.clone(), threads, look, &mut progress)?;
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
            Err(next.is_of_another_run())
        };
        let report = next
            .open(log.info(), &path)
            .and_then(|mut log| {
                let replayed =
                    replay_looking(&mut log, simulation.clone(), threads, look, &mut progress);
                replayed.map_err(|e| next.within(e))
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
