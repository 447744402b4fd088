//! The services of the node and their thread. A repeated request is executed once.

use std::collections::VecDeque;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded, select};

use super::counters::{RosCounters, RosRejection};
use super::messages::written;
use super::orders::Refused;
use super::service_entry::{Outcome, ServiceEntry, all_services};
use super::simulator::{Simulator, Steps};
use super::wires::{Call, Wires};
use crate::bus::{PanicGuard, WallClock};
use crate::fault_point;
use hardstand_error::{Result, no_thread};

/// Calls that can wait.
const WAITING_MAX: usize = 32;
/// Repeated calls that can wait for the same ticks.
const STEPPING_MAX: usize = 32;
/// Requests whose answers are kept.
const REMEMBERED_MAX: usize = 64;
/// Time between two looks whether the bus has died, and for ticks that are done.
const IDLE: Duration = Duration::from_millis(50);
const LOOK_AGAIN: Duration = Duration::from_millis(1);

/// Identifies a request: service and identity among its calls.
type Identity = (usize, Vec<u8>);

/// The thread of the services.
#[derive(Debug)]
pub(super) struct Services {
    thread: JoinHandle<()>,
    end: Sender<()>,
}

impl Services {
    /// Declares the services and starts the thread.
    pub(super) fn start(
        wires: &mut Wires<'_>,
        simulator: Simulator,
        counters: Arc<RosCounters>,
    ) -> Result<Self> {
        let (calls, waiting) = bounded(WAITING_MAX);
        let services = all_services();
        for (i, service) in services.iter().enumerate() {
            let enqueue = enqueue((i, service.name), calls.clone(), Arc::clone(&counters));
            wires.serve(service.name, service.of, enqueue)?;
        }
        let mut server = Server {
            services,
            simulator,
            clock: wires.attachment_clock(),
            waiting,
            panic_guard: wires.bus().panic_guard(),
            counters,
            stepping: Vec::new(),
            remembered: VecDeque::new(),
        };
        let (end, ended) = bounded(0);
        let thread = std::thread::Builder::new()
            .name("ros2-services".into())
            .spawn(move || server.run(&ended))
            .map_err(|e| no_thread("ros2 services", &e))?;
        Ok(Self { thread, end })
    }

    /// Ends the thread. Calls that wait get no answer, unless their ticks are done.
    pub(super) fn finish(self) {
        drop(self.end);
        let _ended = self.thread.join().is_ok();
    }
}

/// Queues the calls of the service with the number `which`.
fn enqueue(
    (which, name): (usize, &'static str),
    calls: Sender<(usize, Call)>,
    counters: Arc<RosCounters>,
) -> impl Fn(Call) + Send + Sync + 'static {
    move |call| {
        counters.count_called();
        if calls.try_send((which, call)).is_err() {
            let text = format!("more than {WAITING_MAX} calls are waiting");
            counters.count(name, &Refused::new(RosRejection::Busy, text));
        }
    }
}

/// Ticks that calls wait for.
struct Stepping {
    steps: Steps,
    identity: Option<Identity>,
    calls: Vec<Call>,
}

struct Server {
    services: Vec<ServiceEntry>,
    simulator: Simulator,
    clock: Option<WallClock>,
    waiting: Receiver<(usize, Call)>,
    panic_guard: PanicGuard,
    counters: Arc<RosCounters>,
    stepping: Vec<Stepping>,
    /// The last requests and their answers, because a bridge can repeat a request.
    remembered: VecDeque<(Identity, Vec<u8>)>,
}

impl Server {
    fn run(&mut self, ended: &Receiver<()>) {
        while !self.panic_guard.is_over() {
            let patience = if self.stepping.is_empty() { IDLE } else { LOOK_AGAIN };
            let panic_guard = self.panic_guard.clone();
            let next = select! {
                recv(self.waiting) -> next => next.ok(),
                recv(ended) -> _ => return self.answer_stepped(true),
                default(patience) => None,
            };
            panic_guard.guard(|| {
                if let Some((which, call)) = next {
                    self.take(which, call);
                }
                self.answer_stepped(false);
            });
        }
    }

    fn take(&mut self, which: usize, call: Call) {
        fault_point::visit("ros2_service");
        let identity = call.identity().map(|request| (which, request));
        let Some(call) = self.repeated(identity.as_ref(), call) else { return };
        let Some(entry) = self.services.get(which) else { return };
        match entry.serve(&mut self.simulator, call.type_hash(), &call.payload()) {
            Ok(Outcome::Answer(bytes)) => {
                self.answer(&call, &bytes);
                self.remember(identity, bytes);
            }
            Ok(Outcome::After(steps)) => {
                self.stepping.push(Stepping { steps, identity, calls: vec![call] });
            }
            Err(refused) => self.counters.count(entry.name, &refused),
        }
    }

    /// Answers a repeated request with the same answer, or lets it wait for the first one. Returns
    /// a request that is not repeated.
    fn repeated(&mut self, identity: Option<&Identity>, call: Call) -> Option<Call> {
        let Some(identity) = identity else { return Some(call) };
        if let Some((_, bytes)) = self.remembered.iter().find(|(known, _)| known == identity) {
            self.answer(&call, bytes);
            return None;
        }
        let same = |s: &&mut Stepping| s.identity.as_ref() == Some(identity);
        match self.stepping.iter_mut().find(same) {
            Some(stepping) if stepping.calls.len() < STEPPING_MAX => stepping.calls.push(call),
            Some(_) => {}
            None => return Some(call),
        }
        None
    }

    fn answer_stepped(&mut self, is_over: bool) {
        let mut i = 0;
        while let Some(stepping) = self.stepping.get_mut(i) {
            let Some(done) = self.simulator.stepped(&mut stepping.steps, is_over) else {
                i += 1;
                continue;
            };
            let bytes = written(&done);
            let stepping = self.stepping.remove(i);
            stepping.calls.iter().for_each(|call| self.answer(call, &bytes));
            self.remember(stepping.identity, bytes);
        }
    }

    fn remember(&mut self, identity: Option<Identity>, answer: Vec<u8>) {
        let Some(identity) = identity else { return };
        self.remembered.push_back((identity, answer));
        if self.remembered.len() > REMEMBERED_MAX {
            self.remembered.pop_front();
        }
    }

    fn answer(&self, call: &Call, bytes: &[u8]) {
        call.answer(bytes, self.clock.as_ref());
    }
}
