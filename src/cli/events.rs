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
    // other sessions may publish events, too: nothing in one moves the cursor
    let plain = |text: &str| -> String {
        text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
    };
    let (time_s, kind, text) = (e.time_ns as f64 * 1e-9, plain(&e.kind), plain(&e.text));
    format!("{run}tick {:<8} {time_s:>9.3} s  {kind:<11} {text}", e.tick)
}
