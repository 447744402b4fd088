//! Motor buses: the daemon is the drives on the wire. `docs/motors.md` says what is modelled.
//!
//! ```text
//! master ─ pty, TCP, cable ─► port ─► adapter ─► network, drives ─► set-points ─► Source ─► loop
//!        ◄────────────────────────────────────────┴── readings ◄── PortState ◄──────────────┘
//! ```
//!
//! One thread per bus. Its clock is simulated time, continued between two ticks, so a bus is as
//! late as a real one within a tick and stands still with the loop. What a drive does becomes a
//! command for its joint with every state, so the loop knows no drives, and a log replays without
//! them.

mod bus;
mod can;
mod clock;
mod ethernet;
mod link;
mod load;
mod mapping;
mod network;
mod port;

use std::thread::JoinHandle;

use crate::config::{BusPort, BusWire, MotorBus};
use crate::ports::PortEnds;
use crate::rt::PortState;
use hardstand_error::{Error, ErrorKind, Result, no_thread};
use hardstand_motors::{ethercat, odri};

use bus::Bus;
use ethernet::Cable;
use port::Port;

/// The sockets of buses on network interfaces, by name. They are opened while the process has the
/// right to do so; the other ports are opened without any.
#[derive(Debug)]
pub struct Cables(Vec<(String, Cable)>);

impl Cables {
    /// Opens the sockets of all buses that need one.
    ///
    /// # Errors
    /// [`ErrorKind::Bus`] if one cannot be opened.
    pub fn open(buses: &[MotorBus]) -> Result<Self> {
        let mut cables = Vec::new();
        for bus in buses {
            if let BusPort::Interface(name) = &bus.port {
                let cable = match bus.wire {
                    BusWire::Socketcan => can::open(name, bus),
                    wire => ethernet::open(name, ether_type(wire)),
                };
                let cable = cable.map_err(|e| {
                    Error::new(ErrorKind::Bus, format!("network interface {name} of a bus: {e}"))
                })?;
                cables.push((bus.name.clone(), cable));
            }
        }
        Ok(Self(cables))
    }

    fn take(&mut self, bus: &MotorBus) -> Option<Cable> {
        let at = self.0.iter().position(|(name, _)| *name == bus.name)?;
        Some(self.0.swap_remove(at).1)
    }
}

const fn ether_type(wire: BusWire) -> u16 {
    if matches!(wire, BusWire::Odri) { odri::ETHER_TYPE } else { ethercat::ETHER_TYPE }
}

/// The open port of a bus, before its thread runs.
#[derive(Debug)]
pub struct OpenBus {
    bus: MotorBus,
    port: Port,
}

impl OpenBus {
    /// Opens the port of a bus, or takes its cable.
    ///
    /// # Errors
    /// [`ErrorKind::File`] or [`ErrorKind::Bus`] if it cannot be opened.
    pub fn open(bus: &MotorBus, cables: &mut Cables) -> Result<Self> {
        Ok(Self { port: Port::open(bus, cables.take(bus))?, bus: bus.clone() })
    }

    /// Starts the thread, which begins with `state`; ticks are `periods_ns` long in simulated and
    /// in wall time. A joint gets gains of at most `gains_max`.
    ///
    /// # Errors
    /// [`ErrorKind::Bus`] if there is no thread.
    pub fn start(
        self,
        ends: PortEnds,
        state: PortState,
        periods_ns: (u64, u64),
        gains_max: [f64; 2],
    ) -> Result<JoinHandle<()>> {
        let guard = ends.guard.clone();
        let mut bus = Bus::new(self.bus, self.port, ends, state, periods_ns, gains_max);
        std::thread::Builder::new()
            .name("motor-bus".into())
            .spawn(move || guard.keep(|| bus.run()))
            .map_err(|e| no_thread("bus", &e))
    }
}
