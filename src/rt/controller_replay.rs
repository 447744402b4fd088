//! A log shown to controllers: what is applied is in the log, what they answer is heard only.

use std::borrow::Cow;
use std::fmt;

use crate::simulation::{Leases, Simulation};
use hardstand_protocol::{Event, TickInput, Verdict};

use super::SetPoint;

/// What was answered by the time of a tick.
#[derive(Debug)]
pub struct Heard<'a> {
    /// The plant before the tick.
    pub plant: &'a Simulation,
    /// What the controllers would have their joints told in it.
    pub answers: &'a [SetPoint],
}

/// Gives what was applied in the coming tick; `None` at the end.
pub type Prompt = Box<dyn FnMut(&Heard<'_>) -> Option<TickInput> + Send>;

/// Leads the loop through a log. Leases are those of the controllers that are there now; those of
/// the log are in the plant.
pub struct ControllerReplay {
    prompt: Prompt,
    leases: Leases,
}

impl ControllerReplay {
    /// Of the log that `prompt` reads.
    #[must_use]
    pub fn new(prompt: Prompt) -> Self {
        Self { prompt, leases: Leases::default() }
    }

    /// The leases of the coming tick, if these are its events.
    pub(super) fn leases_with(&self, tick: u64, events: &[Event]) -> Cow<'_, Leases> {
        self.leases.with(tick, events)
    }

    /// Judges `input` as the plant would, lets its leases happen, and gives what was applied.
    pub(super) fn hear(&mut self, plant: &Simulation, input: &TickInput) -> Option<TickInput> {
        let (tick, joints) = (plant.state().tick, plant.model().joint_count());
        let leases = &mut self.leases;
        input.events.iter().for_each(|event| leases.apply(tick, event));
        let mut answers = Vec::new();
        for offer in &input.offers {
            let Some((place, _)) = leases.of_session(offer.session) else { continue };
            let (answers_tick, size) = (offer.answers_tick, offer.joints.len());
            let spec = &plant.spec().watchdog;
            let verdict = leases.offer(spec, tick, place, (answers_tick, offer.applies_tick), size);
            if verdict == Verdict::Accepted {
                let from = (offer.session, answers_tick);
                answers.extend(SetPoint::of(from, &offer.joints, leases, joints));
            }
        }
        (self.prompt)(&Heard { plant, answers: &answers })
    }
}

impl fmt::Debug for ControllerReplay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ControllerReplay").field("leases", &self.leases).finish_non_exhaustive()
    }
}
