//! Runs many cases, some at a time.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use crossbeam_channel::Sender;

use hardstand_error::Result;

use super::case;
use super::outcome::Outcome;
use super::plan::{Case, Plan};
use super::store::Store;
use super::workers::Workers;

/// Runs `cases`, `jobs` at a time, with `workers` if processes stay up, and stores what comes out;
/// `watch` sees each outcome. Once `stop` is set, those that run are ended, and will have to be run
/// again.
///
/// # Errors
/// The first that a case has met: the controller's command does not start, or a file cannot be
/// written. Other cases are ended then, too.
pub fn run(
    plan: &Plan,
    store: &Store,
    cases: &[Case],
    (jobs, workers): (NonZeroUsize, &Workers),
    stop: &AtomicBool,
    mut watch: impl FnMut(&Outcome),
) -> Result<()> {
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let go_on = || !stop.load(Ordering::Relaxed) && !failed.load(Ordering::Relaxed);
    let (out, outcomes) = crossbeam_channel::bounded(jobs.get());
    let work = |out: Sender<_>| {
        while go_on()
            && let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed))
        {
            let outcome = case::run(plan, case, store, workers, &go_on);
            failed.fetch_or(outcome.is_err(), Ordering::Relaxed);
            let _heard = out.send(outcome).is_ok();
        }
    };
    let mut first = Ok(());
    thread::scope(|scope| {
        for _ in 0..jobs.get().min(cases.len()) {
            let out = out.clone();
            scope.spawn(move || work(out));
        }
        drop(out);
        for outcome in outcomes {
            match outcome {
                Ok(Some(outcome)) => watch(&outcome),
                Err(e) if first.is_ok() => first = Err(e),
                _ => {}
            }
        }
    });
    first
}
