//! Whether a daemon is still there.

use std::time::{Duration, Instant};

use hardstand_client::Client;
use hardstand_error::Result;
use hardstand_protocol::StatusReading;

/// A daemon that gives no sign of life for so long is gone.
const SILENT: Duration = Duration::from_secs(3);
/// Time between two statuses.
const STATUS_EVERY: Duration = Duration::from_secs(1);

/// Signs of life of a daemon.
pub(crate) struct Pulse {
    seen: Instant,
    asked: Instant,
}

impl Default for Pulse {
    fn default() -> Self {
        Self { seen: Instant::now(), asked: Instant::now() }
    }
}

impl Pulse {
    /// It has sent something.
    pub(crate) fn beats(&mut self) {
        self.seen = Instant::now();
    }

    /// Its status, once in a while.
    ///
    /// # Errors
    /// `ErrorKind::Bus` if it has been silent for too long.
    pub(crate) fn feel(&mut self, client: &Client) -> Result<Option<StatusReading>> {
        if self.asked.elapsed() < STATUS_EVERY {
            return Ok(None);
        }
        self.asked = Instant::now();
        match client.status(Duration::ZERO) {
            Ok(status) => {
                self.seen = self.asked;
                Ok(Some(status))
            }
            Err(e) if self.seen.elapsed() > SILENT => Err(e),
            Err(_) => Ok(None),
        }
    }
}
