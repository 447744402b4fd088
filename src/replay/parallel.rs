//! Replays a log on one core or on many.
//!
//! A keyframe inside the log is a *border*: the stretch before it ends by comparing the state that
//! it has reached with the keyframe, bit for bit, and the stretch after it starts from the
//! keyframe. So stretches can run side by side, and if all are without a difference, one run
//! through the whole log is, too. The report is that of the log's first difference, whichever
//! thread ends first.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread::Builder;

use crossbeam_channel::{Receiver, Sender, bounded};

use crate::simulation::Simulation;
use hardstand_error::{Error, ErrorKind, Result};
use hardstand_log::LogReader;
use hardstand_protocol::Keyframe;

use super::Look;
use super::batches::{Batch, Batches, Then};
use super::replayer::Replayer;
use super::report::ReplayReport;

/// Records that go to another thread together: 32 ticks and their states.
const BATCH_RECORDS: usize = 64;
/// Records that are run at once on this thread: a tick and its state, which are still in the cache.
const BATCH_RECORDS_HERE: usize = 2;
/// Ticks between two reports of progress on one thread.
const PROGRESS_TICKS: u64 = 1024;
/// Batches between two reports of progress on several.
const PROGRESS_BATCHES: u64 = 32;
/// Batches that may wait for a thread: with those, a stretch between two keyframes of the default
/// distance fits in the queue, and the reader goes on to the next one.
const BATCH_QUEUE: usize = 32;

/// Replays `log` on `simulation`, which must have been made from the log's robot and scenario.
/// `threads` stretches between keyframes run side by side; the report does not depend on it.
/// `progress(ticks, bytes read, bytes in all)` is called now and then.
///
/// # Errors
/// [`ErrorKind::Log`] if a keyframe does not fit the plant, or the log holds no tick;
/// [`ErrorKind::Internal`] if a thread cannot be started.
pub fn replay(
    log: &mut LogReader,
    simulation: Simulation,
    threads: NonZeroUsize,
    progress: impl FnMut(u64, u64, u64),
) -> Result<ReplayReport> {
    replay_looking(log, simulation, threads, None, progress)
}

/// [`replay`] for an observer that sees every tick.
pub(super) fn replay_looking(
    log: &mut LogReader,
    simulation: Simulation,
    threads: NonZeroUsize,
    look: Option<Look<'_>>,
    mut progress: impl FnMut(u64, u64, u64),
) -> Result<ReplayReport> {
    let report = if threads.get() == 1 {
        let run = Replayer::new(simulation, look);
        one_after_another(Batches::new(log, BATCH_RECORDS_HERE), run, &mut progress)?
    } else {
        let mut batches = Batches::new(log, BATCH_RECORDS);
        side_by_side(&mut batches, &Replayer::new(simulation, look), threads, &mut progress)?
    };
    if report.ticks == 0 && report.difference.is_none() {
        return Err(Error::new(
            ErrorKind::Log,
            match &report.damage {
                Some(why) => format!("the log holds no complete tick: {why}"),
                None => "the log holds no tick: the run ended before its first".into(),
            },
        ));
    }
    Ok(report)
}

fn one_after_another(
    mut batches: Batches<'_>,
    mut run: Replayer<'_>,
    progress: &mut impl FnMut(u64, u64, u64),
) -> Result<ReplayReport> {
    loop {
        let batch = batches.next_batch();
        run.feed(&batch)?;
        let ticks = run.report().ticks;
        let over = matches!(batch.then, Then::End { .. }) || run.report().is_settled();
        if over || ticks.is_multiple_of(PROGRESS_TICKS) {
            let (read, all) = batches.progress();
            progress(ticks, read, all);
        }
        if over {
            return Ok(run.report().clone());
        }
    }
}

/// A stretch of the log.
struct Stretch {
    number: usize,
    /// Where it begins; `None` for the beginning of the log.
    start: Option<Keyframe>,
    batches: Receiver<Batch>,
}

/// Number of a stretch, and its report.
type Numbered = (usize, Result<ReplayReport>);

/// What the threads share.
struct Shared {
    /// First stretch that is known to end the replay: nothing after it counts.
    last: AtomicUsize,
    ticks: AtomicU64,
}

fn failed(how: &str) -> Error {
    Error::new(ErrorKind::Internal, format!("a thread of the replay {how}"))
}

fn side_by_side(
    batches: &mut Batches<'_>,
    new: &Replayer<'_>,
    threads: NonZeroUsize,
    progress: &mut impl FnMut(u64, u64, u64),
) -> Result<ReplayReport> {
    let shared = &Shared { last: AtomicUsize::new(usize::MAX), ticks: AtomicU64::new(0) };
    let parts = std::thread::scope(|scope| {
        let (stretches, waiting) = bounded(0);
        let work = |_| {
            let waiting = waiting.clone();
            Builder::new().spawn_scoped(scope, move || work(&waiting, new.clone(), shared))
        };
        let workers: std::io::Result<Vec<_>> = (0..threads.get()).map(work).collect();
        let workers = workers.map_err(|e| failed(&format!("cannot be started: {e}")))?;
        drop(waiting);
        hand_out(batches, &stretches, shared, progress);
        drop(stretches); // which ends the threads
        let parts = workers.into_iter().map(|w| w.join().map_err(|_panic| failed("panicked")));
        parts.collect::<Result<Vec<_>>>()
    })?;
    let mut parts: Vec<Numbered> = parts.into_iter().flatten().collect();
    let (read, all) = batches.progress();
    progress(shared.ticks.load(Ordering::Relaxed), read, all);
    parts.sort_by_key(|(number, _)| *number);
    merged(parts)
}

/// Hands out the stretches in their order, until the log or the replay ends.
fn hand_out(
    batches: &mut Batches<'_>,
    stretches: &Sender<Stretch>,
    shared: &Shared,
    progress: &mut impl FnMut(u64, u64, u64),
) {
    let (mut start, mut number, mut batch_count) = (None, 0, 0_u64);
    loop {
        let (feed, fed) = bounded(BATCH_QUEUE);
        if stretches.send(Stretch { number, start, batches: fed }).is_err() {
            return;
        }
        start = loop {
            let batch = batches.next_batch();
            batch_count += 1;
            if batch_count % PROGRESS_BATCHES == 0 {
                let (read, all) = batches.progress();
                progress(shared.ticks.load(Ordering::Relaxed), read, all);
            }
            let then = batch.then.clone();
            // the thread of a stretch that is over takes no more batches
            if feed.send(batch).is_err() {
                return;
            }
            match then {
                Then::More => {}
                Then::Border(keyframe) => break Some(keyframe),
                Then::End { .. } => return,
            }
        };
        number += 1;
    }
}

/// Runs stretch after stretch, as long as there are any.
fn work(stretches: &Receiver<Stretch>, mut run: Replayer<'_>, shared: &Shared) -> Vec<Numbered> {
    // the first stretch is the first one of its thread, so its plant is as new
    let mut parts = Vec::new();
    for stretch in stretches {
        let part = run_stretch(&mut run, &stretch, shared);
        if !matches!(&part, Ok(report) if !report.is_settled()) {
            shared.last.fetch_min(stretch.number, Ordering::Relaxed);
        }
        parts.push((stretch.number, part));
    }
    parts
}

fn run_stretch(run: &mut Replayer<'_>, stretch: &Stretch, shared: &Shared) -> Result<ReplayReport> {
    if let Some(keyframe) = &stretch.start {
        run.begin_at(keyframe)?;
    }
    for batch in &stretch.batches {
        if shared.last.load(Ordering::Relaxed) < stretch.number {
            break;
        }
        let before = run.report().ticks;
        run.feed(&batch)?;
        shared.ticks.fetch_add(run.report().ticks - before, Ordering::Relaxed);
        if run.is_over() {
            return Ok(run.report().clone());
        }
    }
    Err(Error::new(ErrorKind::Internal, "a stretch of the log was not replayed to its end"))
}

/// The report of one run through all stretches, which are in their order.
fn merged(parts: Vec<Numbered>) -> Result<ReplayReport> {
    let mut whole = ReplayReport::default();
    for (number, part) in parts {
        let part = part?;
        let first = if number == 0 { &part } else { &whole };
        let (first_tick, first_digest) = (first.first_tick, first.first_digest);
        let digest = if part.ticks > 0 { part.digest } else { whole.digest };
        whole = ReplayReport {
            ticks: whole.ticks + part.ticks,
            equal: whole.equal + part.equal,
            first_tick,
            first_digest,
            digest,
            ..part
        };
        if whole.is_settled() {
            break;
        }
    }
    Ok(whole)
}
