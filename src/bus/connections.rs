//! Connections of controllers: a liveliness token each, under `alive/` and the public number of the
//! session. When a controller dies, zenoh takes its token back.

use zenoh::Wait;
use zenoh::pubsub::Subscriber;
use zenoh::sample::SampleKind;

use crate::ingress::JoinedSessions;
use hardstand_error::Result;

use super::{Bus, Keys, bus_error};

/// Notes in `joined` which connections are there. The subscription lasts as long as the returned
/// value.
///
/// # Errors
/// [`ErrorKind::Bus`](crate::ErrorKind::Bus).
pub fn watch_connections(bus: &Bus, keys: &Keys, joined: JoinedSessions) -> Result<Subscriber<()>> {
    let panic_guard = bus.panic_guard.clone();
    let pattern = keys.alive("*");
    let declared = bus.session.liveliness().declare_subscriber(pattern.clone());
    declared
        .history(true)
        .callback(move |sample| {
            panic_guard.guard(|| {
                let name = sample.key_expr().as_str().rsplit('/').next().unwrap_or_default();
                if let Ok(public) = u64::from_str_radix(name, 16) {
                    joined.note_connection(public, sample.kind() == SampleKind::Put);
                }
            });
        })
        .wait()
        .map_err(|e| bus_error(&pattern, e))
}
