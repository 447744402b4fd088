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
    /// The newest state that has come into `newest`; true if there was one. Of several, that is the
    /// newest of those every so many ticks, if there is one: a tick may wait for its answer.
    pub fn take_newest(&self, newest: &mut Box<PortState>, every_ticks: u64) -> bool {
        let (mut found, mut due) = (false, false);
        while let Some(mut state) = self.states.take() {
            let is_due = state.state.tick.is_multiple_of(every_ticks);
            if is_due || !due {
                std::mem::swap(newest, &mut state);
            }
            self.states.give_back(state);
            (found, due) = (true, due || is_due);
        }
        found
    }
}
