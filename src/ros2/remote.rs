//! A remote control for the simulated robot: what `/joy` and others' `/wirelesscontroller` say are
//! the sticks and keys that controllers see. Its sticks ask for the velocity, as an operator does;
//! keys are only passed on.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::messages::{Joy, Message};
use super::orders::Refused;
use super::unitree::{WirelessController, remote_of, sticks, within_ends};
use crate::bus::OrderPort;
use hardstand_protocol::{StateReading, VelocityCommand};

/// Keys are released, and sticks are let go, where no message has come for this long.
const HOLDS: Duration = Duration::from_secs(1);

/// What was heard last.
#[derive(Debug)]
pub(super) struct Remote {
    orders: OrderPort,
    heard: Mutex<Option<(WirelessController, Instant)>>,
}

impl Remote {
    pub(super) const fn new(orders: OrderPort) -> Self {
        Self { orders, heard: Mutex::new(None) }
    }

    /// Takes a `sensor_msgs/Joy`.
    pub(super) fn hear_joy(&self, bytes: &[u8]) -> Result<(), Refused> {
        self.hear(&remote_of(&Joy::decode(bytes)?));
        Ok(())
    }

    /// Takes a `unitree_go/WirelessController` of another program.
    pub(super) fn hear_remote(&self, bytes: &[u8]) -> Result<(), Refused> {
        self.hear(&within_ends(&WirelessController::decode(bytes)?));
        Ok(())
    }

    fn hear(&self, remote: &WirelessController) {
        let mut heard = self.lock();
        let before = heard.replace((remote.clone(), Instant::now()));
        self.ask(before.map(|(before, _)| before), remote);
    }

    /// Lets go a remote control that is no longer heard.
    pub(super) fn look(&self) {
        let mut heard = self.lock();
        if let Some((before, _)) = heard.take_if(|(_, at)| at.elapsed() > HOLDS) {
            self.ask(Some(before), &WirelessController::default());
        }
    }

    /// What controllers see: the sticks that ask for the velocity command that holds, and of what
    /// was heard the rest.
    pub(super) fn shown(&self, state: &StateReading) -> WirelessController {
        let heard = self.lock();
        let rest = heard.as_ref().map(|(remote, _)| (remote.ry, remote.keys));
        let (ry, keys) = rest.unwrap_or_default();
        WirelessController { ry, keys, ..sticks(state) }
    }

    /// Orders the velocity of the sticks where they have moved: one that rests leaves the velocity
    /// to others.
    fn ask(&self, before: Option<WirelessController>, now: &WirelessController) {
        let of = |r: &WirelessController| [r.ly, -r.lx, -r.rx].map(|x| f64::from(x) + 0.0);
        if of(now) != of(&before.unwrap_or_default()) {
            let _counted = self.orders.stream("joy", &VelocityCommand::from(of(now))).is_ok();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<(WirelessController, Instant)>> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
