//! The answer to an order.

use hardstand_error::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};

/// The answer to an order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderReply {
    /// 0 accepted, 1 refused, 2 busy: the same order may be accepted later.
    pub verdict: u8,
    /// Accepted: it holds from the start of this tick on. For steps: the number of ticks after
    /// which the simulation pauses.
    pub tick: u64,
    /// Otherwise: what is wrong, with value and range.
    pub reason: String,
}

impl OrderReply {
    /// Holds from `tick` on.
    #[must_use]
    pub const fn accepted(tick: u64) -> Self {
        Self { verdict: 0, tick, reason: String::new() }
    }

    /// The tick from which on the order holds.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] if it was refused, [`ErrorKind::Bus`] if the daemon was busy.
    pub fn tick(self) -> Result<u64> {
        match self.verdict {
            0 => Ok(self.tick),
            1 => Err(Error::new(ErrorKind::Input, self.reason)),
            _ => Err(Error::new(ErrorKind::Bus, self.reason)),
        }
    }
}
