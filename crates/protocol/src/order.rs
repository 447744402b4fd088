//! The answer to an order.

use hardstand_error::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};

use crate::Rejection;

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

/// Why an order was refused: the reason that is counted, and words for the sender.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The counter.
    pub reason: Rejection,
    /// Field, value and range.
    pub text: String,
}

impl Refusal {
    /// Every reason that an order can be refused for.
    pub const REASONS: [Rejection; 8] = [
        Rejection::Size,
        Rejection::Version,
        Rejection::Layout,
        Rejection::RunId,
        Rejection::NotFinite,
        Rejection::OutOfRange,
        Rejection::NotOwner,
        Rejection::QueueFull,
    ];
}

impl From<Refusal> for OrderReply {
    /// The answer that changes nothing.
    fn from(refusal: Refusal) -> Self {
        let verdict = if refusal.reason == Rejection::QueueFull { 2 } else { 1 };
        Self { verdict, tick: 0, reason: refusal.text }
    }
}
