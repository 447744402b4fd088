//! Commands of the coming tick.

use std::borrow::Cow;

use crate::config::{ControllerNumbers, Mode};
use crate::limits::CANDIDATES_MAX;
use crate::simulation::{Lease, Leases, Simulation};
use hardstand_protocol::{Command, Event};

use super::command_admission::{Admission, insert};
use super::links::Links;
use super::loop_event::Happened;
use super::{Clock, Executive};

impl<C: Clock> Executive<C> {
    /// Takes all commands for this tick that have come: those of controllers that have joined in
    /// the order of their leases, then the others, oldest first.
    pub(super) fn take_commands(&mut self) {
        let Self {
            simulation, admission, input, links, run_id, counts, limits, replay_leases, ..
        } = self;
        let tick = simulation.state().tick;
        let leases = &leases_of(simulation, replay_leases.as_ref(), &input.events);
        let joined_only = limits.mode != Mode::RealTime;
        while input.candidates.len() < CANDIDATES_MAX
            && let Some(due) = admission.take_due(tick)
        {
            let lease = leases.of_session(due.session).filter(|_| joined_only);
            if lease.is_some_and(|(_, lease)| admission.is_void(&due, lease, tick)) {
                links.commands.give_back(due);
            } else {
                insert(&mut input.candidates, due, leases);
            }
        }
        while input.candidates.len() < CANDIDATES_MAX
            && let Some(command) = next_command(links, *run_id, &mut counts.commands_outdated)
        {
            match admission.admit(&command, leases, tick, joined_only) {
                Admission::Now => insert(&mut input.candidates, command, leases),
                Admission::Early => admission.keep(command),
                Admission::Ignored => links.commands.give_back(command),
            }
        }
        let conflict = admission.take_conflict().and_then(|conflict| {
            let (_, lease) = leases.of_session(conflict.session)?;
            let answers_tick = conflict.answers_tick;
            Some(Happened::Conflict { controller: lease.controller, answers_tick })
        });
        if let Some(conflict) = conflict {
            self.send_event(tick, conflict);
        }
    }

    /// Says whose commands come first from now on.
    pub(super) fn note_owners(&mut self) {
        let Self { simulation, replay_leases, input, links, .. } = self;
        let leases = leases_of(simulation, replay_leases.as_ref(), &input.events);
        let joined = leases.places().iter().filter(|l| !l.left).map(|l| l.session);
        let implicit = leases.implicit();
        let implicit = if implicit.left { 0 } else { implicit.session };
        for (queue, session) in joined.chain([implicit]).enumerate() {
            links.commands.set_owner(queue, session);
        }
    }

    /// The leases as the coming tick will have them.
    pub(super) fn leases(&self) -> Cow<'_, Leases> {
        leases_of(&self.simulation, self.replay_leases.as_ref(), &self.input.events)
    }

    /// The controllers that the coming tick has to wait for.
    pub(super) fn missing(&self) -> ControllerNumbers {
        let tick = self.simulation.state().tick;
        if self.limits.mode == Mode::RealTime || self.wait_budget.is_given_up(tick) {
            return ControllerNumbers::default();
        }
        self.admission.missing(&self.leases(), tick, &self.input.candidates)
    }

    pub(super) fn misses_commands(&self) -> bool {
        self.missing() != ControllerNumbers::default()
    }

    /// The next command for this run; those for the run before are out of date.
    pub(super) fn take_command(&mut self) -> Option<Box<Command>> {
        next_command(&mut self.links, self.run_id, &mut self.counts.commands_outdated)
    }

    /// Drops, delays or changes commands as the injected faults of the link say.
    pub(super) fn apply_link_faults(&mut self) {
        let Self { simulation, link_faults, input, links, .. } = self;
        link_faults.apply(simulation, input, |b| links.commands.give_back(b));
    }

    /// Makes room for commands that the tick waits for: gives back those that no tick will obey.
    pub(super) fn make_room(&mut self) {
        if self.input.candidates.len() < CANDIDATES_MAX {
            return;
        }
        let (tick, leases) = (self.simulation.state().tick, self.leases().into_owned());
        let is_due = |candidate: &Command| {
            let lease = leases.of_session(candidate.session).map(|(_, lease)| lease);
            let wanted = |l: &Lease| self.admission.arrivals.wanted(&l.schedule, tick);
            lease.is_some_and(|l| wanted(l) == Some(candidate.answers_tick))
        };
        while let Some(useless) =
            self.input.candidates.iter().position(|candidate| !is_due(candidate))
        {
            let candidate = self.input.candidates.remove(useless);
            self.admission.counts.no_room += 1;
            self.links.commands.give_back(candidate);
        }
    }

    pub(super) fn recycle_input(&mut self) {
        self.recycle_commands();
        self.input.events.clear();
    }

    pub(super) fn recycle_commands(&mut self) {
        let Self { link_faults, input, links, .. } = self;
        link_faults.take_back(&mut input.candidates, |b| links.commands.give_back(b));
    }
}

/// The leases of the coming tick, if these are its events.
pub(super) fn leases_of<'a>(
    simulation: &'a Simulation,
    replay_leases: Option<&'a Leases>,
    events: &[Event],
) -> Cow<'a, Leases> {
    match replay_leases {
        Some(leases) => leases.with(simulation.watchdog(), simulation.tick(), events),
        None => simulation.leases_with(events),
    }
}

/// The next command for the run `run_id`; those for the run before are out of date.
fn next_command(links: &mut Links, run_id: u32, outdated: &mut u64) -> Option<Box<Command>> {
    while let Some(command) = links.commands.take() {
        if command.run_id == run_id {
            return Some(command);
        }
        *outdated += 1;
        links.commands.give_back(command);
    }
    None
}
