//! `hardstand controller`: control laws, each over the bus, over shared memory, or in the process
//! of a simulation.

mod in_process;
mod laws;
mod stand;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hardstand_client::{Client, JoinedController};
use hardstand_controllers::{ControlLaw, Runner};
use hardstand_error::{Error, ErrorKind, Result};
use hardstand_port::SharedMemory;
use hardstand_protocol::{JoinRequest, ModelReply};

use super::arguments::{ConnectionArguments, ControllerArguments, ControllerKind};
use super::{ExitCode, show, stop_on_signal};

/// Time for the daemon to answer that a controller leaves.
const LEAVING: Duration = Duration::from_secs(1);

pub(super) fn controller(a: &ControllerArguments) -> Result<ExitCode> {
    match &a.kind {
        ControllerKind::Stand(a) => stand::stand(a),
        ControllerKind::Trot(a) => laws::trot(a),
        ControllerKind::Policy(a) => laws::policy(a),
    }
}

/// Runs a law as the controller `name`, the way that the arguments ask for. `law` makes it for the
/// robot; without one there is nothing to run. `change` may change how it joins over the bus.
fn run(
    a: &ConnectionArguments,
    name: &str,
    law: impl FnOnce(&ModelReply) -> Result<Option<Box<dyn ControlLaw>>>,
    change: impl FnOnce(&mut JoinRequest),
) -> Result<ExitCode> {
    if let Some(scenario) = &a.in_process.scenario {
        return in_process::run(&a.in_process, scenario, name, law);
    }
    let Connection { client, model, patience, stop } = Connection::new(a)?;
    let Some(law) = law(&model)? else { return Ok(ExitCode::Done) };
    let mut runner = Runner::new(law, &model);
    let count = runner.joints().len();
    if let Some(path) = &a.shared_memory {
        let mut memory = SharedMemory::open(path, runner.period_ticks())?;
        show::note(&format!("controller: {count} joints, over {}", path.display()));
        runner.run(&mut memory, patience, &stop, |_| {})?;
        return Ok(ExitCode::Done);
    }
    let mut request = runner.request(&model, name);
    change(&mut request);
    let mut joined = client.join(request, patience)?;
    let session = joined.reply().session;
    show::note(&format!("controller: {name} commands {count} joints (session {session:016x})"));
    let mut losses = 0;
    runner.run(&mut joined, patience, &stop, |link: &JoinedController| {
        if link.losses() > losses {
            losses = link.losses();
            show::note(&format!("controller: {name} was late, and has joined again"));
        }
    })?;
    if joined.skipped() > 0 {
        let skipped = joined.skipped();
        show::note(&format!("controller: {name} was too slow for {skipped} states"));
    }
    // a daemon that has ended does not answer
    let _left = joined.leave(LEAVING).is_ok();
    Ok(ExitCode::Done)
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
        let patience = Duration::try_from_secs_f64(a.patience).map_err(|_out_of_range| {
            let text = format!("--patience is {}; it must be 0 to 1e19 s", a.patience);
            Error::new(ErrorKind::Input, text)
        })?;
        let client = a.daemon.client()?;
        let model = find(&client, patience, &stop)?;
        Ok(Self { client, model, patience, stop })
    }
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
