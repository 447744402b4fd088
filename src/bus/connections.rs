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
                if let Some(public) = public_session(name) {
                    joined.note_connection(public, sample.kind() == SampleKind::Put);
                }
            });
        })
        .wait()
        .map_err(|e| bus_error(&pattern, e))
}

/// The public number that a token is named after. The same number written otherwise is the token of
/// a stranger: its end says nothing.
fn public_session(name: &str) -> Option<u64> {
    let public = u64::from_str_radix(name, 16).ok()?;
    (name == format!("{public:016x}")).then_some(public)
}

#[cfg(test)]
mod tests {
    use super::public_session;

    #[test]
    fn a_number_is_written_in_one_way() {
        assert_eq!(public_session("8b75845e7539b350"), Some(0x8b75_845e_7539_b350));
        assert_eq!(public_session("00000000000000ab"), Some(0xab));
        for other in ["8B75845E7539B350", "+b75845e7539b350", "ab", "000000000000000ab", ""] {
            assert_eq!(public_session(other), None, "{other}");
        }
    }
}
