//! `hardstand controller`: controllers, each a process of its own that connects over the bus.

mod joined;
mod policy;
mod rise;
mod stand;
mod trot;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hardstand_client::Client;
use hardstand_error::{Error, ErrorKind, Result};
use hardstand_protocol::ModelReply;

use super::arguments::{ConnectionArguments, ControllerArguments, ControllerKind};
use super::{ExitCode, stop_on_signal};

pub(super) fn controller(a: &ControllerArguments) -> Result<ExitCode> {
    match &a.kind {
        ControllerKind::Stand(a) => stand::stand(a),
        ControllerKind::Trot(a) => trot::trot(a),
        ControllerKind::Policy(a) => policy::policy(a),
    }
}

/// A daemon that has answered.
struct Connection {
    client: Client,
    model: ModelReply,
    /// Longest wait for the daemon.
    patience: Duration,
    /// Set by a signal.
    stop: Arc<AtomicBool>,
}

impl Connection {
    fn new(a: &ConnectionArguments) -> Result<Self> {
        let stop = stop_on_signal()?;
        let patience = Duration::try_from_secs_f64(a.patience).map_err(|e| {
            Error::new(ErrorKind::Input, format!("--patience is {}: {e}", a.patience))
        })?;
        let client = a.daemon.client()?;
        let model = find(&client, patience, &stop)?;
        Ok(Self { client, model, patience, stop })
    }
}

fn no_state(patience: Duration) -> Error {
    let text = format!("no state for {} s: the daemon has ended", patience.as_secs_f64());
    Error::new(ErrorKind::Bus, text)
}

/// Longest single wait for the model, so that a signal soon ends the search.
const TURN: Duration = Duration::from_millis(100);

/// Asks for the model until there is an answer, `patience` is over or a signal came.
fn find(client: &Client, patience: Duration, stop: &AtomicBool) -> Result<ModelReply> {
    let begin = Instant::now();
    loop {
        match client.model(patience.min(TURN)) {
            Err(_) if begin.elapsed() < patience && !stop.load(Ordering::Relaxed) => {}
            ended => return ended,
        }
    }
}
