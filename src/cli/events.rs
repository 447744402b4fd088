//! `hardstand events`: the events of a running daemon.

use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::daemon::event_json;
use hardstand_error::Result;
use hardstand_protocol::EventReading;

use super::arguments::EventsArguments;
use super::{ExitCode, show, stop_on_signal};

/// Time to find the daemon.
const PATIENCE: Duration = Duration::from_secs(5);
/// Time between two checks of the stop flag.
const LOOK: Duration = Duration::from_millis(100);

pub(super) fn events(a: &EventsArguments) -> Result<ExitCode> {
    let stop = stop_on_signal()?;
    let client = a.daemon.client()?;
    let events = client.events()?;
    // fails if no daemon answers
    let _status = client.status(PATIENCE)?;
    while !stop.load(Ordering::Relaxed) {
        if let Some(event) = events.next(LOOK)? {
            show::line(&if a.json { event_json(&event) } else { as_text(&event) });
        }
    }
    Ok(ExitCode::Done)
}

fn as_text(e: &EventReading) -> String {
    let run = if e.run_id > 1 { format!("run {} ", e.run_id) } else { String::new() };
    format!("{run}tick {:<8} {:>9.3} s  {:<11} {}", e.tick, e.time_ns as f64 * 1e-9, e.kind, e.text)
}
