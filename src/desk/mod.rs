//! Where orders arrive: what they must name, what they ask of the loop, and what was answered.
//!
//! The desk knows no transport, thread or clock, so a simulation runs it too. The bus hands it the
//! bytes of each order and the time, and takes the answers.

mod order_desk;
mod order_gate;
mod order_memory;
mod past_search;
mod reply;
mod request_validator;
mod waiters;

pub use order_desk::{Incoming, OrderDesk};
pub use order_gate::OrderGate;
pub use order_memory::{OrderMemory, SharedOrders};
pub use past_search::PastSearch;
pub use reply::{Reply, busy, refused};
pub use request_validator::{CheckedOrder, RequestValidator};
