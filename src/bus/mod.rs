//! The bus: the daemon's side of zenoh.
//!
//! Keys, all under `hardstand/<robot>/`:
//!
//! | key | kind | payload |
//! |---|---|---|
//! | `state` | published | [`StateReading`](hardstand_protocol::StateReading) |
//! | `contacts` | published | [`ContactsReading`](hardstand_protocol::ContactsReading) |
//! | `sensors` | published | [`SensorsReading`](hardstand_protocol::SensorsReading) |
//! | `drives` | published | [`DrivesReading`](hardstand_protocol::DrivesReading) |
//! | `bodies` | published | [`BodiesReading`](hardstand_protocol::BodiesReading) |
//! | `status` | published once a second, and queryable | [`StatusReading`] |
//! | `cmd` | subscribed | [`ClaimedCommand`](hardstand_protocol::ClaimedCommand) |
//! | those of [`Order`] | queryable | an order, answered by [`OrderReply`] |
//! | `model` | queryable | [`ModelReply`](hardstand_protocol::ModelReply) |
//! | `model/urdf` | queryable | the URDF, as text |
//!
//! Orders and commands count only under their exact key: a query of `**` changes nothing.
//!
//! zenoh is quiet by default here: loopback only, no multicast, no router needed, gossip only with
//! nodes of ROS 2. Beyond loopback only with credentials and a list of who may do what.

mod access;
mod commands;
mod connections;
mod feed;
mod kept;
mod listen_path;
mod orders;
mod panic_guard;
mod publisher;
mod recent_snapshots;
mod services;
mod session;
mod shared;
mod stop_service;
mod stream_slot;
mod topics;
mod transport_metrics;
mod users;
mod view;
mod watch;

pub use commands::subscribe_commands;
pub use connections::watch_connections;
pub use feed::{Feed, FeedEnd, FeedItem, Newest, SharedNewest};
pub use hardstand_protocol::{Keys, Order};
pub use kept::KeptBus;
pub use orders::{OrderPort, OrderService};
pub use panic_guard::PanicGuard;
pub use publisher::Publisher;
pub use services::Services;
pub use session::Bus;
pub use shared::SharedBus;
pub use topics::{
    LatchedTopic, Listening, Probe, ServiceCall, ServiceGuard, Token, Topic, WallClock,
};
pub use transport_metrics::link_counts;
pub use watch::Watch;

use hardstand_client::session::bus_error;
#[cfg(doc)]
use hardstand_protocol::OrderReply;
use hardstand_protocol::StatusReading;

/// The latest status, shared between the monitor and the answers to queries; never touched by the
/// physics thread.
pub type SharedStatus = std::sync::Arc<std::sync::Mutex<StatusReading>>;
