//! The ports of a build without the bus: there are none, because a port joins over it.

use std::net::SocketAddr;

use crate::config::{MotorBus, PacketPorts, Scenario};
use crate::rt::Links;
use crate::simulation::Simulation;
use hardstand_error::{Error, ErrorKind, Result};
use hardstand_protocol::ModelReply;

use super::front::Ends;

/// No socket.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cables;

impl Cables {
    /// Nothing to open: a scenario with buses is refused later.
    ///
    /// # Errors
    /// None.
    pub(super) fn open(_: &[MotorBus]) -> Result<Self> {
        Ok(Self)
    }
}

/// No port.
#[derive(Debug)]
pub(super) struct OpenPorts;

/// No thread.
#[derive(Debug)]
pub(super) struct Ports;

impl OpenPorts {
    /// # Errors
    /// [`ErrorKind::Input`] if the scenario has ports.
    pub(super) fn open(
        scenario: &Scenario,
        _simulation: &Simulation,
        cables: Option<Cables>,
        _links: &mut Links,
    ) -> Result<Self> {
        let packets = scenario.ports != PacketPorts::default() || scenario.lcm.is_some();
        let none = scenario.buses.is_empty() && !packets;
        if none || cables.is_none() {
            return Ok(Self);
        }
        Err(Error::new(
            ErrorKind::Input,
            "[[buses]], udp, shared_memory, lcm: this build has no bus to join over",
        ))
    }

    /// None.
    #[allow(clippy::unused_self, reason = "as with the bus")]
    pub(super) const fn udp_address(&self) -> Option<SocketAddr> {
        None
    }

    /// Nothing to start.
    ///
    /// # Errors
    /// None.
    pub(super) fn start(self, _: &Scenario, _: &ModelReply, _: &Ends) -> Result<Ports> {
        Ok(Ports)
    }
}

impl Ports {
    /// None.
    pub(super) fn restarted(&self) -> Vec<String> {
        Vec::new()
    }

    /// # Errors
    /// None.
    pub(super) fn check(&self) -> Result<()> {
        Ok(())
    }

    /// Nothing to end.
    pub(super) fn finish(self) {}
}
