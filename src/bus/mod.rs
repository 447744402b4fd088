//! The bus: the only room that knows zenoh.
//!
//! Keys, all under `hardstand/<robot>/`:
//!
//! | key | kind | payload |
//! |---|---|---|
//! | `state` | published | [`StateReading`](hardstand_protocol::StateReading) |
//! | `contacts` | published | [`ContactsReading`](hardstand_protocol::ContactsReading) |
//! | `status` | published once a second, and queryable | [`StatusReading`] |
//! | `cmd` | subscribed | [`ClaimedCommand`](hardstand_protocol::ClaimedCommand) |
//! | those of [`Ask`] | queryable | an order, answered by [`OrderReply`] |
//! | `model` | queryable | [`ModelReply`](hardstand_protocol::ModelReply) |
//! | `model/urdf` | queryable | the URDF, as text |
//!
//! zenoh is quiet by default here: loopback only, no multicast, no router needed, gossip only with
//! nodes of ROS 2. Beyond loopback only with credentials and a list of who may do what.

mod access;
mod client;
mod commands;
mod feed;
mod joined;
mod orders;
mod panic_guard;
mod publisher;
mod request_validator;
mod secrets;
mod services;
mod session;
mod topics;
mod transport_metrics;

pub use access::Credentials;
pub use client::{Client, Controller, Events};
pub use commands::subscribe_commands;
pub use feed::{Fed, Feed, FeedEnd, Newest, SharedNewest};
pub use hardstand_protocol::{Ask, Keys};
pub use joined::JoinedController;
pub use orders::{OrderPort, OrderService, Reply, SharedOutbox};
pub use panic_guard::PanicGuard;
pub use publisher::Publisher;
pub use request_validator::RequestValidator;
pub use services::Services;
pub use session::{Bus, open_client, open_client_as};
pub use topics::{Call, LatchedTopic, Listening, Probe, Serving, Token, Topic, WallClock};
pub use transport_metrics::link_counts;

use hardstand_error::{Error, ErrorKind};
#[cfg(doc)]
use hardstand_protocol::OrderReply;
use hardstand_protocol::StatusReading;

/// The latest status, shared between the monitor and the answers to queries; never touched by the
/// physics thread.
pub type SharedStatus = std::sync::Arc<std::sync::Mutex<StatusReading>>;

fn bus_error(what: &str, e: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Bus, format!("{what}: {}", without_places(&e.to_string())))
}

/// zenoh's errors name the places of its source that they passed, as ` at /….rs:61.`; nobody who
/// reads them here has those files.
fn without_places(text: &str) -> String {
    let mut parts = text.split(" at /");
    let mut out = String::from(parts.next().unwrap_or_default());
    for part in parts {
        match part.split_once(".rs:") {
            Some((path, rest)) if !path.contains(' ') => {
                let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
                out.push_str(rest.trim_start_matches('.'));
            }
            _ => {
                out.push_str(" at /");
                out.push_str(part);
            }
        }
    }
    out
}
