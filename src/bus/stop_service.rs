//! The key of the emergency stop: a way of its own, behind no other request.
//!
//! The query itself requests the stop, on zenoh's thread; a thread here answers once the loop has
//! taken it. A stop is never refused because something else is busy.

use std::thread::JoinHandle;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded, select};
use zenoh::query::{Query, Queryable};

use crate::buffer_pool::EmergencyStop;
use crate::desk::OrderGate;
use hardstand_error::{Result, no_thread};
use hardstand_protocol::{Kind, OrderReply};

use super::orders::send;
use super::{Bus, Keys, Order};

/// Stops that can wait for their answer elsewhere than on zenoh's thread.
const WAITING_MAX: usize = 256;
/// Longest wait for the loop, which looks every 2 ms.
const TAKEN_WITHIN: Duration = Duration::from_secs(5);

/// The service behind the key of [`Order::Stop`].
#[derive(Debug)]
pub(super) struct StopService {
    queryable: Queryable<()>,
    thread: JoinHandle<()>,
    end: Sender<()>,
}

/// A stop that waits for its answer.
struct Asked {
    number: u64,
    asker: String,
    query: Query,
}

impl Asked {
    /// Answers once the loop has taken the stop. Without an answer the asker knows that the loop
    /// has ended.
    fn answer(self, stop: &EmergencyStop, gate: &OrderGate, key: &str) {
        if let Some(taken) = stop.wait_taken(self.number, TAKEN_WITHIN) {
            send(&self.query, key, Kind::OrderReply, &gate.stop_taken(taken, &self.asker));
        }
    }
}

impl StopService {
    /// Declares the key and starts the thread. With `takes_orders` unset every stop is refused: a
    /// log is shown.
    pub(super) fn start(
        bus: &Bus,
        keys: &Keys,
        stop: &EmergencyStop,
        gate: &OrderGate,
        takes_orders: bool,
    ) -> Result<Self> {
        let key = keys.order(Order::Stop).to_string();
        let (asked_out, asked) = bounded(WAITING_MAX);
        let (own, requested, checked) = (key.clone(), stop.clone(), gate.clone());
        let queryable = bus.answer_exactly(&key, move |query| {
            let payload = query.payload().map(|p| p.to_bytes().into_owned()).unwrap_or_default();
            let (number, asker) = match checked.request_stop(&requested, &payload, takes_orders) {
                Ok(taken) => taken,
                Err(refusal) => {
                    return send(&query, &own, Kind::OrderReply, &OrderReply::from(refusal));
                }
            };
            if let Err(full) = asked_out.try_send(Asked { number, asker, query }) {
                // hundreds at once: their link can wait, the loop takes this one within 2 ms
                full.into_inner().answer(&requested, &checked, &own);
            }
        })?;
        let (end, ended) = bounded(0);
        let (stop, gate) = (stop.clone(), gate.clone());
        let panic_guard = bus.panic_guard();
        let work = move || panic_guard.guard(|| answer(&asked, &stop, &gate, &key, &ended));
        let thread = std::thread::Builder::new()
            .name("stop".into())
            .spawn(work)
            .map_err(|e| no_thread("stop", &e))?;
        Ok(Self { queryable, thread, end })
    }

    pub(super) fn finish(self) {
        drop((self.end, self.queryable));
        let _ended = self.thread.join().is_ok();
    }
}

fn answer(
    asked: &Receiver<Asked>,
    stop: &EmergencyStop,
    gate: &OrderGate,
    key: &str,
    ended: &Receiver<()>,
) {
    loop {
        let asked = select! {
            recv(asked) -> asked => asked.ok(),
            recv(ended) -> _ => None,
        };
        let Some(asked) = asked else { return };
        asked.answer(stop, gate, key);
    }
}
