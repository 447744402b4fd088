//! What ports have in common that are not the bus: how they get states from the loop, how they join
//! and send commands, and their counters.
//!
//! Each port has a thread of its own. The loop hands it the newest state; its commands pass the
//! same ingress, queue, admission and leases as those of any controller.

mod counters;
mod exchange;
mod port_guard;
mod shared_memory;
mod source;
mod udp;

pub use counters::PortCounters;
pub use port_guard::PortGuard;
pub use shared_memory::OpenSharedMemory;
pub use source::{BusOrders, Source, SourceSpec};
pub use udp::OpenUdp;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::buffer_pool::Inbox;
use crate::rt::PortState;

/// The connections of a port's thread to the daemon.
#[derive(Debug)]
pub struct PortEnds {
    /// States, oldest first.
    pub states: Inbox<PortState>,
    /// Its commands.
    pub source: Source,
    /// Its counters.
    pub counters: PortCounters,
    /// Restarts its work after a panic.
    pub guard: PortGuard,
    /// Set to end the thread.
    pub stop: Arc<AtomicBool>,
}

impl PortEnds {
    /// The newest state that has come into `newest`; true if there was one.
    pub fn take_newest(&self, newest: &mut Box<PortState>) -> bool {
        let mut found = false;
        while let Some(state) = self.states.take() {
            let older = std::mem::replace(newest, state);
            self.states.give_back(older);
            found = true;
        }
        found
    }
}
