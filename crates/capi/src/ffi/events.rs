//! Events of the daemon.
#![allow(unsafe_code, reason = "names that C calls")]

use std::ffi::CString;
use std::mem::MaybeUninit;
use std::sync::Mutex;

use hardstand_client::{Client, Error, ErrorKind, Events};

use super::client::HardstandClient;
use super::pointers::{given, place, seize};
use crate::description::c_text;
use crate::failure::{done, guard};
use crate::names::{HARDSTAND_NONE, HARDSTAND_OK};
use crate::settings::duration;
use crate::structs::HardstandEvent;

/// Events since it was opened, up to 1000 that wait. It has a connection of its own, and one user
/// at a time.
#[derive(Debug)]
pub struct HardstandEvents(Mutex<Feed>);

#[derive(Debug)]
struct Feed {
    events: Events,
    client: Client,
    texts: [CString; 4],
}

/// Subscribes to events. Any thread; blocks until the daemon answers, for up to `patience_ns` and a
/// second; allocates.
///
/// HARDSTAND_BUS: no daemon answers.
#[unsafe(no_mangle)]
pub extern "C" fn hardstand_events_open(
    client: Option<&HardstandClient>,
    patience_ns: u64,
    events: Option<&mut MaybeUninit<*mut HardstandEvents>>,
) -> i32 {
    done(|| {
        let events = place(events, "events")?;
        let own = given(client, "client")?.settings.connect()?;
        let feed = own.events()?;
        // when the answer is there, the daemon knows the subscriber too
        own.model(duration(patience_ns))?;
        let feed = Feed { events: feed, client: own, texts: Default::default() };
        *events = Box::into_raw(Box::new(HardstandEvents(Mutex::new(feed))));
        Ok(())
    })
}

/// The next event. One thread at a time; blocks for up to `patience_ns`; allocates.
///
/// HARDSTAND_NONE: none came. HARDSTAND_BUS: none came, and the connection is closed.
#[unsafe(no_mangle)]
pub extern "C" fn hardstand_events_next(
    events: Option<&HardstandEvents>,
    patience_ns: u64,
    event: Option<&mut MaybeUninit<HardstandEvent>>,
) -> i32 {
    guard(|| {
        let (events, event) = (given(events, "events")?, given(event, "event")?);
        let mut feed = seize(&events.0, "handle of events")?;
        let Some(e) = feed.events.next(duration(patience_ns))? else {
            if feed.client.is_connected() {
                return Ok(HARDSTAND_NONE);
            }
            let text = "no event came; the connection is closed: the daemon has stopped";
            return Err(Error::new(ErrorKind::Bus, text));
        };
        feed.texts = [&e.kind, &e.controller, &e.asker, &e.text].map(|text| c_text(text));
        let [kind, controller, asker, text] = [0, 1, 2, 3].map(|i: usize| feed.texts[i].as_ptr());
        let (tick, time_ns, run_id) = (e.tick, e.time_ns, e.run_id);
        event.write(HardstandEvent { tick, time_ns, run_id, kind, controller, asker, text });
        Ok(HARDSTAND_OK)
    })
}

/// Ends the subscription. Null is allowed. Blocks for some milliseconds. Call it before `main`
/// returns.
#[unsafe(no_mangle)]
pub extern "C" fn hardstand_events_free(events: Option<Box<HardstandEvents>>) {
    done(|| {
        drop(events);
        Ok(())
    });
}
