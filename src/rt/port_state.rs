//! What the loop hands to ports that are not the bus: motor buses, UDP, shared memory.

use crate::buffer_pool::Outbox;
use crate::limits::LEASES_MAX;
use crate::simulation::{InjectedFaults, Snapshot};
use hardstand_protocol::{OwnerReading, StateReading};

use super::{Clock, Executive};

/// States that may wait for a port. It needs the newest only, and of delayed ones that come
/// together the newest for each controller.
pub const PORT_QUEUE: usize = LEASES_MAX + 1;

/// One state, who commands, and the injected faults that act.
#[derive(Clone, Debug, Default)]
pub struct PortState {
    /// State, as it is published.
    pub state: StateReading,
    /// Who commands each joint.
    pub owners: Vec<OwnerReading>,
    /// Faults: some affect drives on a bus.
    pub faults: InjectedFaults,
}

impl PortState {
    /// One with room for the states that fill `snapshot`.
    #[must_use]
    pub fn of(snapshot: &Snapshot) -> Self {
        let (state, owners) = (snapshot.state.clone(), snapshot.owners.clone());
        Self { state, owners, faults: InjectedFaults::default() }
    }
}

impl<C: Clock> Executive<C> {
    /// Hands the snapshot to ports. A port that has not kept up loses its oldest state.
    pub(super) fn send_to(&self, ports: &[Outbox<PortState>]) {
        for port in ports {
            let Some(mut free) = port.take_free().or_else(|| port.recall_oldest()) else {
                continue;
            };
            free.state.copy_from(&self.snapshot.state);
            free.owners.clone_from(&self.snapshot.owners);
            free.faults = *self.simulation.faults();
            port.send(free);
        }
    }
}
