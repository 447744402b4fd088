//! Motor buses: the daemon is the drives on the wire. `docs/motors.md` says what is modelled.
//!
//! ```text
//! master ─ pty or TCP ─► port ─► adapter ─► network, drives ─► set-points ─► ports::Source ─► loop
//!        ◄──────────────────────────────────┴── readings ◄── PortState ◄──────────────────────┘
//! ```
//!
//! One thread per bus. Its clock is simulated time, continued between two ticks, so a bus is as
//! late as a real one within a tick and stands still with the loop. What a drive does becomes a
//! command for its joint with every state, so the loop knows no drives, and a log replays without
//! them.

mod bus;
mod clock;
mod load;
mod mapping;
mod network;
mod port;

use std::thread::JoinHandle;

use crate::config::MotorBus;
use crate::ports::PortEnds;
use crate::rt::PortState;
use hardstand_error::{Error, ErrorKind, Result};

use bus::Bus;
use port::Port;

/// The open port of a bus, before its thread runs.
#[derive(Debug)]
pub struct OpenBus {
    bus: MotorBus,
    port: Port,
}

impl OpenBus {
    /// Opens the port of a bus.
    ///
    /// # Errors
    /// [`ErrorKind::File`] or [`ErrorKind::Bus`] if it cannot be opened.
    pub fn open(bus: &MotorBus) -> Result<Self> {
        Ok(Self { port: Port::open(&bus.port)?, bus: bus.clone() })
    }

    /// Starts the thread, which begins with `state`; ticks are `periods_ns` long in simulated and
    /// in wall time.
    ///
    /// # Errors
    /// [`ErrorKind::Internal`] if there is no thread.
    pub fn start(
        self,
        ends: PortEnds,
        state: PortState,
        periods_ns: (u64, u64),
    ) -> Result<JoinHandle<()>> {
        let guard = ends.guard.clone();
        let mut bus = Bus::new(self.bus, self.port, ends, state, periods_ns);
        std::thread::Builder::new()
            .name("motor-bus".into())
            .spawn(move || guard.keep(|| bus.run()))
            .map_err(|e| Error::new(ErrorKind::Internal, format!("thread of a bus: {e}")))
    }
}
