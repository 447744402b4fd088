//! A bell: wakes a thread that has nothing to do until something comes.

use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded};

/// Rings for a [`Sleeper`]. While nobody sleeps that is neither a lock nor a call of the system.
#[derive(Clone, Debug)]
pub struct Bell(Sender<()>);

/// Sleeps until its [`Bell`] rings.
#[derive(Clone, Debug)]
pub struct Sleeper(Receiver<()>);

/// A bell and who is woken by it.
#[must_use]
pub fn bell() -> (Bell, Sleeper) {
    let (ring, rung) = bounded(1);
    (Bell(ring), Sleeper(rung))
}

impl Bell {
    /// Wakes the sleeper, or keeps it from falling asleep once.
    pub fn ring(&self) {
        let _rung_already = self.0.try_send(()).is_err();
    }
}

impl Sleeper {
    /// Sleeps until the bell rings, or has rung since the last sleep, at most for `patience`.
    pub fn sleep(&self, patience: Duration) {
        let _woken = self.0.recv_timeout(patience).is_ok();
    }
}
