//! Events of the loop as messages for the bus.

use crossbeam_channel::{Receiver, Sender};

use crate::config::Scenario;
use crate::ingress::{AcceptedOrder, ControllerRegistry};
use crate::rt::{Happened, LoopEvent};
use crate::simulation::PartNames;
use hardstand_protocol::Event;
use hardstand_protocol::{EventReading, StatusReading};

use super::io::Io;

/// Converts events of the loop to messages.
#[derive(Debug)]
pub(super) struct EventFeed {
    inbox: Receiver<LoopEvent>,
    accepted: Receiver<AcceptedOrder>,
    parts: PartNames,
    period_ns: u64,
    registry: ControllerRegistry,
    /// To the recorder, if there is one.
    log: Option<Sender<EventReading>>,
}

impl EventFeed {
    /// Takes events of the loop from `inbox`, and orders that were accepted from `accepted`; passes
    /// all to `log`, too.
    pub(super) fn new(
        scenario: &Scenario,
        inbox: Receiver<LoopEvent>,
        accepted: Receiver<AcceptedOrder>,
        registry: ControllerRegistry,
        log: Option<Sender<EventReading>>,
    ) -> Self {
        let parts = PartNames::of(&scenario.model, &scenario.spec);
        let period_ns = scenario.spec.period_ns;
        Self { inbox, accepted, parts, period_ns, registry, log }
    }

    /// Publishes all pending events, oldest first; `lost` is given those that a user must hear of
    /// even without a subscriber. `refused` says what was refused just before.
    pub(super) fn publish(
        &self,
        io: &Io<'_>,
        refused: Option<&str>,
        mut lost: impl FnMut(&EventReading),
    ) {
        for LoopEvent { run_id, tick, time_ns, happened } in self.inbox.try_iter() {
            let (kind, controller, mut text) = self.words(&happened);
            if let (Happened::Lost { .. }, Some(refused)) = (&happened, refused) {
                text += &format!("; commands were refused just before: {refused}");
            }
            let (kind, asker) = (kind.into(), String::new());
            let event = EventReading { run_id, tick, time_ns, kind, controller, asker, text };
            self.spread(&event, io);
            if matches!(happened, Happened::Lost { .. }) {
                lost(&event);
            }
        }
        for AcceptedOrder { run, tick, order, asker } in self.accepted.try_iter() {
            let event = EventReading {
                run_id: run.id,
                tick,
                time_ns: run.time_ns(tick, self.period_ns),
                kind: "order".into(),
                controller: String::new(),
                text: format!("{asker} ordered {} from tick {tick} on", order.name()),
                asker,
            };
            self.spread(&event, io);
        }
    }

    /// Says that the port `port` was restarted, at the tick of the last status.
    pub(super) fn port_restarted(&self, io: &Io<'_>, status: &StatusReading, port: String) {
        let text = format!("the port {port} was restarted after a panic of its thread");
        self.spread(&at_status(status, "port_restarted", port, text), io);
    }

    /// Says why commands are refused, at the tick of the last status.
    pub(super) fn refused(&self, io: &Io<'_>, status: &StatusReading, text: String) {
        self.spread(&at_status(status, "refused", String::new(), text), io);
    }

    /// Publishes an event and passes it to the log, which may lose it when its queue is full.
    fn spread(&self, event: &EventReading, io: &Io<'_>) {
        io.publish_event(event);
        if let Some(log) = &self.log {
            // a recorder that is behind loses texts, not ticks
            let _full = log.try_send(event.clone());
        }
    }

    /// Kind, controller and words.
    fn words(&self, happened: &Happened) -> (&'static str, String, String) {
        let name = |number| self.registry.name(number);
        match happened {
            Happened::Event(event) => {
                let controller = match event {
                    Event::Grant(grant) => name(grant.controller),
                    Event::Leave { session } => name(*session),
                    _ => String::new(),
                };
                (event.name(), controller, self.parts.words(event, name))
            }
            Happened::Conflict { controller, answers_tick } => {
                let name = name(*controller);
                let text = format!(
                    "the controller {name} answered the state of tick {answers_tick} twice, \
                     and differently; the first answer is used"
                );
                ("conflict", name, text)
            }
            Happened::Lost { controller, session } => {
                let (name, again) = match controller {
                    0 => (format!("session {session:016x}"), "start a new session"),
                    number => (name(*number), "join again"),
                };
                let text = format!(
                    "{name} has lost the robot: no command in time (command.hold_ticks); it must \
                     {again}"
                );
                ("lost", if *controller == 0 { String::new() } else { name }, text)
            }
            Happened::GivenUp(missing) => {
                let missing: Vec<String> =
                    missing.iter().filter(|number| **number != 0).map(|n| name(*n)).collect();
                let names = missing.join(", ");
                let text = format!("the tick timed out waiting for {names} (control.budget_ms)");
                ("gave_up", names, text)
            }
            Happened::PlantFailure(failure) => {
                ("plant_failure", String::new(), failure.advice().to_string())
            }
        }
    }
}

fn at_status(s: &StatusReading, kind: &str, controller: String, text: String) -> EventReading {
    let (run_id, tick, time_ns, asker) = (s.run_id, s.tick, s.time_ns, String::new());
    EventReading { run_id, tick, time_ns, kind: kind.into(), controller, asker, text }
}
