//! Earlier states of a run that is being recorded: the way back in time.

use std::path::Path;
use std::time::Duration;

use hardstand_error::{Error, ErrorKind, Result};
use hardstand_log::RunIndex;
use hardstand_protocol::SavedState;

use crate::ingress::Present;

use super::Player;

/// The recorder puts a tick into the file within this.
const WRITTEN_WITHIN: Duration = Duration::from_secs(1);
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// The state after `tick` ticks on the way to `now`, from the log of the recording that begins in
/// `log`: the keyframe before it, run on. A run that began in a state of an earlier one has that
/// one's past.
///
/// # Errors
/// [`ErrorKind::Input`] if the run did not come that way; [`ErrorKind::Log`] if the log cannot be
/// read or replayed.
pub fn past_state(log: &Path, now: Present, tick: u64) -> Result<SavedState> {
    let mut looks = WRITTEN_WITHIN.as_millis() / LOOK_AGAIN.as_millis();
    loop {
        let index = RunIndex::of(log, |_, _| ());
        let is_whole = |index: &RunIndex| index.end_tick(now.run_id) >= Some(now.tick);
        let whole = index.as_ref().is_ok_and(is_whole);
        let found = index.and_then(|index| recorded_state(log, &index, now, tick));
        looks = looks.saturating_sub(1);
        match found {
            Err(_) if looks > 0 && !whole => std::thread::sleep(LOOK_AGAIN),
            found => return found,
        }
    }
}

fn recorded_state(log: &Path, index: &RunIndex, now: Present, tick: u64) -> Result<SavedState> {
    let mut at = now;
    loop {
        if let Some(begin) = index.first_tick(at.run_id) {
            let player = Player::open_before(log, index, at.run_id, begin.max(tick))?;
            let differs = || Error::new(ErrorKind::Log, "the replay differs from the log");
            let saved = player.saved_state().ok_or_else(differs)?;
            if begin <= tick {
                return Ok(SavedState { run_id: at.run_id, ..saved }.summed());
            }
            let digest = saved.words.last().copied().unwrap_or_default();
            at = Present { tick: begin, digest, ..at };
        }
        at.run_id = earlier_run(log, index, at)?;
    }
}

/// The run that was in the state in which the run of `begin` began.
fn earlier_run(log: &Path, index: &RunIndex, begin: Present) -> Result<u32> {
    let is_there = |earlier: &u32| {
        let player = Player::open_after(log, index, *earlier, begin.tick);
        player.is_ok_and(|p| p.simulation().is_some_and(|s| s.state().digest == begin.digest))
    };
    (index.run_id()..begin.run_id).rev().find(is_there).ok_or_else(|| {
        let Present { run_id, tick, .. } = begin;
        let text = format!("run {run_id} began with tick {tick}: the log has nothing before it");
        Error::new(ErrorKind::Input, text)
    })
}
