//! Events of the loop as messages for the bus.

use crossbeam_channel::Receiver;

use crate::ingress::ControllerRegistry;
use crate::rt::{Happened, LoopEvent};
use hardstand_physics::model::Model;
use hardstand_protocol::Event;
use hardstand_protocol::EventReading;

use super::io::Io;

/// Converts events of the loop to messages.
#[derive(Debug)]
pub(super) struct EventFeed {
    pub(super) inbox: Receiver<LoopEvent>,
    pub(super) model: Model,
    pub(super) directory: ControllerRegistry,
}

impl EventFeed {
    /// Publishes all pending events, oldest first.
    pub(super) fn publish(&self, io: &Io<'_>) {
        for LoopEvent { run_id, tick, time_ns, happened } in self.inbox.try_iter() {
            let (kind, controller, text) = self.words(&happened);
            let kind = kind.into();
            io.publish_event(&EventReading { run_id, tick, time_ns, kind, controller, text });
        }
    }

    /// Kind, controller and words.
    fn words(&self, happened: &Happened) -> (&'static str, String, String) {
        let name = |number| self.directory.name(number);
        let link = |body| self.model.body_name(body);
        match happened {
            Happened::Event(event) => {
                let controller = match event {
                    Event::Grant(grant) => name(grant.controller),
                    Event::Leave { session } => self.directory.with_session(*session),
                    _ => String::new(),
                };
                (event.name(), controller, event.words(link, name))
            }
            Happened::Conflict { controller, answers_tick } => {
                let name = name(*controller);
                let text = format!(
                    "the controller {name} answered the state of tick {answers_tick} twice, \
                     and differently; the first answer is used"
                );
                ("conflict", name, text)
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
