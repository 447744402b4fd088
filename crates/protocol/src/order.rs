//! Orders: who asks, for which robot and run; and the answer.

use hardstand_error::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};

use crate::{Rejection, random_number};

/// The first part of every order. The body follows it in the message.
///
/// ```
/// use hardstand_protocol::{Order, OrderHead, SpeedRequest, decode_order, encode_order};
///
/// let head = OrderHead::new("quadruped", 1, "bench-3");
/// let mut bytes = Vec::new();
/// encode_order(Order::Speed, &head, &SpeedRequest { speed: 0.5 }, &mut bytes)?;
/// let (got, body) = decode_order(Order::Speed, &bytes)?;
/// assert_eq!((got, body.len()), (head, 8));
/// # Ok::<(), hardstand_error::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderHead {
    /// Robot that is meant, as in the key.
    pub robot: String,
    /// Run that is meant; 0 for whichever there is, in `stop` only.
    pub run_id: u32,
    /// A random number, never 0, another one for each order. An order that comes again with the
    /// same one is answered again, but not executed again.
    pub nonce: u64,
    /// Name of the asker: it appears in events and in the log.
    pub asker: String,
}

impl OrderHead {
    /// The head of a new order.
    #[must_use]
    pub fn new(robot: &str, run_id: u32, asker: &str) -> Self {
        Self { robot: robot.into(), run_id, nonce: random_number(), asker: asker.into() }
    }
}

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
