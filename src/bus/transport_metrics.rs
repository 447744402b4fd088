//! Counts events on the links, and connections and messages that zenoh rejects.
//!
//! zenoh reports them only as `tracing` events, so this module subscribes to those. It reads only
//! the sender and the first bytes of an event and stores neither, so no secret can leak.
//! `tests/it/security.rs` checks every pattern with real sessions.

use std::fmt::{self, Write as _};
use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::limits::ROBOTS_MAX;
use tracing_core::field::{Field, Visit};
use tracing_core::span::{Attributes, Id, Record};
use tracing_core::subscriber::{Interest, Subscriber};
use tracing_core::{Dispatch, Event, Level, LevelFilter, Metadata, dispatcher};

/// Names of the counters in the status.
const NAMES: [&str; 8] = [
    "sessions_opened",
    "sessions_closed",
    "sessions_denied",
    "sessions_refused",
    "handshakes_failed",
    "messages_denied",
    "messages_too_large",
    "messages_unsent",
];
const OPENED: usize = 0;
const CLOSED: usize = 1;
/// Wrong or no credentials.
const DENIED: usize = 2;
/// More sessions than allowed.
const REFUSED: usize = 3;
/// Not zenoh's protocol, too slow, aborted, or too many at a time.
const HANDSHAKE: usize = 4;
/// Not on the access list.
const MESSAGE_DENIED: usize = 5;
const TOO_LARGE: usize = 6;
/// The receiver was too slow: states, contacts, views, ROS messages that it did not get.
const UNSENT: usize = 7;

/// Pattern of an event.
struct Sign {
    target: &'static str,
    level: Level,
    begins: &'static str,
    counter: usize,
}

const fn sign(target: &'static str, level: Level, begins: &'static str, counter: usize) -> Sign {
    Sign { target, level, begins, counter }
}

const ACCEPT: &str = "zenoh_transport::unicast::establishment::accept";
const MANAGER: &str = "zenoh_transport::unicast::manager";
const TRANSPORT: &str = "zenoh_transport::unicast::universal::transport";
const SEND: &str = "zenoh_transport::unicast::universal::tx";
const RECEIVE: &str = "zenoh_transport::unicast::universal::rx";
const TLS: &str = "zenoh_link_tls::unicast";
const INTERCEPTOR: &str = "zenoh::net::routing::interceptor";

/// The first pattern that matches counts.
const SIGNS: [Sign; 13] = [
    sign(ACCEPT, Level::DEBUG, "New transport link accepted", OPENED),
    sign(ACCEPT, Level::DEBUG, "UsrPwd extension", DENIED),
    // all other reasons that end a handshake
    sign(ACCEPT, Level::DEBUG, "", HANDSHAKE),
    sign(TLS, Level::WARN, "peer sent no certificates", DENIED),
    sign(TLS, Level::WARN, "invalid peer certificate", DENIED),
    sign(TLS, Level::WARN, "", HANDSHAKE),
    sign(MANAGER, Level::DEBUG, "Failed to accept link before deadline", HANDSHAKE),
    sign(MANAGER, Level::TRACE, "Closing link for preventing potential DoS", HANDSHAKE),
    sign(MANAGER, Level::TRACE, "Max transports reached", REFUSED),
    sign(TRANSPORT, Level::DEBUG, "[", CLOSED),
    sign(SEND, Level::TRACE, "Droppable message not sent", UNSENT),
    sign(INTERCEPTOR, Level::TRACE, "Msg intercepted!", MESSAGE_DENIED),
    sign(RECEIVE, Level::TRACE, "Defragmentation buffer full", TOO_LARGE),
];

/// The daemon itself has connected so often and will hang up: so many failed handshakes do not
/// count. Each robot looks after its own bus.
static PROBED: AtomicU64 = AtomicU64::new(0);

static COUNTS: [AtomicU64; NAMES.len()] = [const { AtomicU64::new(0) }; NAMES.len()];

/// The counters of this process, by name. They stay 0 in a process that has installed its own
/// `tracing` subscriber before it opened the bus.
#[must_use]
pub fn link_counts() -> Vec<(&'static str, u64)> {
    NAMES.into_iter().zip(COUNTS.iter().map(|c| c.load(Ordering::Relaxed))).collect()
}

/// The daemon connects to itself: one more failed handshake is not counted.
pub(super) fn expect_probe() {
    let more = |n: u64| Some((n + 1).min(ROBOTS_MAX as u64));
    let _never_fails = PROBED.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok();
}

/// It could not connect, or its failed handshake has come: true if one was expected.
pub(super) fn end_probe() -> bool {
    let less = |n: u64| n.checked_sub(1);
    PROBED.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok()
}

/// Begins to count.
pub(super) fn start() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let _first = dispatcher::set_global_default(Dispatch::new(Witness)).is_ok();
    });
}

struct Witness;

/// The patterns that can match an event of this kind.
fn signs<'a>(metadata: &'a Metadata<'a>) -> impl Iterator<Item = &'static Sign> + use<'a> {
    let (target, level) = (metadata.target(), *metadata.level());
    SIGNS.iter().filter(move |s| s.target == target && s.level == level)
}

impl Subscriber for Witness {
    /// zenoh's threads call this once per place in the code; all others cost a comparison.
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        if self.enabled(metadata) { Interest::always() } else { Interest::never() }
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && signs(metadata).next().is_some()
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LevelFilter::TRACE)
    }

    fn event(&self, event: &Event<'_>) {
        let mut beginning = Beginning::default();
        event.record(&mut beginning);
        if let Some(sign) = signs(event.metadata()).find(|s| beginning.is(s.begins)) {
            if sign.counter == HANDSHAKE && end_probe() {
                return;
            }
            COUNTS[sign.counter].fetch_add(1, Ordering::Relaxed);
        }
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// The first bytes of an event's text. The rest is not even formatted.
#[derive(Default)]
struct Beginning {
    bytes: [u8; 32],
    len: usize,
}

impl Beginning {
    /// True if the text starts with `begins`, as far as it is known.
    fn is(&self, begins: &str) -> bool {
        let n = begins.len().min(self.bytes.len());
        self.bytes[..self.len].starts_with(&begins.as_bytes()[..n])
    }
}

impl fmt::Write for Beginning {
    fn write_str(&mut self, s: &str) -> fmt::Result {
        let n = s.len().min(self.bytes.len() - self.len);
        self.bytes[self.len..self.len + n].copy_from_slice(&s.as_bytes()[..n]);
        self.len += n;
        if n < s.len() { Err(fmt::Error) } else { Ok(()) }
    }
}

impl Visit for Beginning {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            let _full = write!(self, "{value:?}").is_ok();
        }
    }
}
