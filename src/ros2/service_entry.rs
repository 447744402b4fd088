//! The table of the services: names, types and functions.

use super::cdr::CdrError;
use super::counters::RosRejection;
use super::messages::{
    GetEntityState, GetSimulationState, GetSimulatorFeatures, ResetSimulation, Service, SetBool,
    SetChosenEntityState, SetEntityState, SetSimulationState, StepSimulation, Trigger, read,
    written,
};
use super::orders::Refused;
use super::simulator::{Simulator, Steps};

/// The answer, or the ticks that must be done first.
pub(super) enum Outcome {
    Answer(Vec<u8>),
    After(Steps),
}

type Serve = Box<dyn Fn(&mut Simulator, &[u8]) -> std::result::Result<Outcome, CdrError> + Send>;

/// A service: its name, and a function for each hash of its type that is known.
pub(super) struct ServiceEntry {
    pub(super) name: &'static str,
    /// Name and hash of its type.
    pub(super) of: (&'static str, &'static str),
    versions: Vec<(&'static str, Serve)>,
}

/// All services.
pub(super) fn all_services() -> Vec<ServiceEntry> {
    vec![
        ServiceEntry::at_once::<SetBool>("hardstand/pause", Simulator::pause),
        ServiceEntry::at_once::<SetBool>("hardstand/join", Simulator::join),
        ServiceEntry::at_once::<Trigger>("hardstand/reset", Simulator::reset),
        ServiceEntry::at_once::<GetSimulatorFeatures>(
            "get_simulator_features",
            Simulator::features,
        ),
        ServiceEntry::at_once::<GetSimulationState>("get_simulation_state", Simulator::state),
        ServiceEntry::at_once::<SetSimulationState>("set_simulation_state", Simulator::set_state),
        ServiceEntry::after_steps::<StepSimulation>("step_simulation", Simulator::step),
        ServiceEntry::at_once::<ResetSimulation>("reset_simulation", Simulator::reset_simulation),
        ServiceEntry::at_once::<GetEntityState>("get_entity_state", Simulator::entity),
        ServiceEntry::at_once::<SetEntityState>("set_entity_state", Simulator::set_entity)
            .or_at_once::<SetChosenEntityState>(Simulator::set_chosen),
    ]
}

impl ServiceEntry {
    /// A service that answers at once.
    fn at_once<S: Service>(
        name: &'static str,
        serve: fn(&mut Simulator, &S::Request) -> S::Answer,
    ) -> Self
    where
        S::Request: 'static,
        S::Answer: 'static,
    {
        let entry = Self { name, of: (S::NAME, S::HASH), versions: Vec::new() };
        entry.or_at_once::<S>(serve)
    }

    /// Another version of the type of a service that answers at once.
    fn or_at_once<S: Service>(mut self, serve: fn(&mut Simulator, &S::Request) -> S::Answer) -> Self
    where
        S::Request: 'static,
        S::Answer: 'static,
    {
        let serve: Serve =
            Box::new(move |s, bytes| Ok(Outcome::Answer(written(&serve(s, &read(bytes)?)))));
        self.versions.push((S::HASH, serve));
        self
    }

    /// A service that answers after its ticks are done.
    fn after_steps<S: Service>(
        name: &'static str,
        serve: fn(&mut Simulator, &S::Request) -> std::result::Result<Steps, S::Answer>,
    ) -> Self
    where
        S::Request: 'static,
        S::Answer: 'static,
    {
        let serve: Serve = Box::new(move |s, bytes| {
            let outcome = serve(s, &read(bytes)?);
            Ok(outcome.map_or_else(|answer| Outcome::Answer(written(&answer)), Outcome::After))
        });
        Self { name, of: (S::NAME, S::HASH), versions: vec![(S::HASH, serve)] }
    }

    /// Serves a call. Without a hash its length tells the version: it must be exact.
    pub(super) fn serve(
        &self,
        simulator: &mut Simulator,
        hash: Option<&str>,
        bytes: &[u8],
    ) -> std::result::Result<Outcome, Refused> {
        let mut refused = None;
        let fits = |own: &str| hash.is_none_or(|hash| hash == own);
        for (_, serve) in self.versions.iter().filter(|(own, _)| fits(own)) {
            match serve(simulator, bytes) {
                Ok(outcome) => return Ok(outcome),
                Err(e) => refused = Some(e),
            }
        }
        Err(refused.map_or_else(|| self.unknown(hash.unwrap_or_default()), Refused::from))
    }

    fn unknown(&self, hash: &str) -> Refused {
        let known: Vec<&str> = self.versions.iter().map(|(own, _)| *own).collect();
        let short: String = hash.chars().take(80).collect();
        let text = format!("the type hash is {short}; known: {}", known.join(", "));
        Refused::new(RosRejection::Type, text)
    }
}
