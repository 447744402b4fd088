//! Controllers that join and leave.

use crate::config::ControllerNumbers;
use crate::limits::{EVENTS_MAX, LEASES_MAX, STOP_EVENTS};
use crate::simulation::{Denied, Lease};
use hardstand_protocol::{Authority, Event, Grant, Join, JointCommand, Role};

use super::{Clock, Executive};

/// Answer to a request to join.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JoinAnswer {
    /// Why the controller may not join, if so.
    pub denied: Option<Denied>,
    /// Session of its commands.
    pub session: u64,
    /// The first state that it answers.
    pub first_tick: u64,
    /// What its joints obey until its first command applies; with room for as many as it wants.
    pub in_force: Vec<JointCommand>,
}

impl<C: Clock> Executive<C> {
    /// True if the coming tick has room for one more event of leases.
    pub(super) fn has_room_for_leases(&mut self) -> bool {
        let is_full = |e: &Self| e.input.events.len() >= EVENTS_MAX - STOP_EVENTS;
        if is_full(self) {
            self.drop_needless_grants();
        }
        !is_full(self)
    }

    /// Where no tick runs, controllers may join and leave without end. Drops the grants, each with
    /// the leave that belongs to it, without which all leases come out the same.
    fn drop_needless_grants(&mut self) {
        let meant = self.leases().into_owned();
        let mut at = 0;
        while at < self.input.events.len() {
            let event = self.input.events[at];
            let Event::Grant(grant) = event else {
                at += 1;
                continue;
            };
            let events = &mut self.input.events;
            events.remove(at);
            let is_its_leave =
                |e: &Event| matches!(e, Event::Leave { session } if *session == grant.session);
            let leave = events[at..].iter().position(is_its_leave).map(|after| at + after);
            let left = leave.map(|place| (place, events.remove(place)));
            if *self.leases() == meant {
                continue;
            }
            let events = &mut self.input.events;
            if let Some((place, leave)) = left {
                events.insert(place, leave);
            }
            events.insert(at, event);
            at += 1;
        }
    }

    /// Gives a controller its lease, from the coming tick on.
    pub(super) fn join(&mut self, join: &Join, answer: &mut JoinAnswer) {
        let (tick, leases) = (self.simulation.state().tick, self.leases().into_owned());
        self.publish_at_once = true;
        answer.first_tick = join.schedule.next_from(tick);
        if join.role == Role::Observer {
            return;
        }
        let spec = self.simulation.watchdog();
        if let Some(lease) = leases.of_controller(join.controller)
            && lease.authority(spec, tick) == Authority::Held
            && self.renews(join, lease)
        {
            // it comes again, or its lease was in the saved state: it goes on where it was
            self.admission.note_joined(lease.session);
            answer.session = lease.session;
            answer.first_tick = self.first_unanswered(lease, tick);
            return self.fill_in_force(join, answer);
        }
        let grant = Grant {
            controller: join.controller,
            session: join.controller,
            schedule: join.schedule,
            required: join.role == Role::Required,
            joints: join.joints,
        };
        let owner = self.simulation.unjoined_owner().filter(|_| self.replay_leases.is_none());
        answer.denied = leases.check(spec, tick, &grant, owner).err();
        if answer.denied.is_none() {
            answer.session = grant.session;
            while let Some(stale) = self.admission.forget(grant.session) {
                self.links.commands.give_back(stale);
            }
            self.admission.note_joined(grant.session);
            self.input.events.push(Event::Grant(grant));
            self.fill_in_force(join, answer);
        }
    }

    /// True if the request asks for what the lease already gives.
    fn renews(&self, join: &Join, lease: &Lease) -> bool {
        let leases = self.leases();
        let place = leases.of_session(lease.session).map(|(place, _)| place);
        let joints = 0..self.simulation.model().joint_count();
        let same = |joint: usize| (leases.owner(joint) == place) == join.joints.contains(joint);
        let required = join.role == Role::Required;
        !lease.left
            && (lease.schedule, lease.required) == (join.schedule, required)
            && joints.into_iter().all(same)
    }

    /// The first state of a lease to which no answer is there.
    fn first_unanswered(&self, lease: &Lease, tick: u64) -> u64 {
        let mut state = lease.schedule.next_from(lease.next);
        while state <= tick && self.admission.is_answered(lease, state, &self.input.candidates) {
            state = lease.schedule.next_from(state + 1);
        }
        state
    }

    fn fill_in_force(&self, join: &Join, answer: &mut JoinAnswer) {
        let commands = self.simulation.command().iter().enumerate();
        let own = commands.filter(|(joint, _)| join.joints.contains(*joint));
        for (_, command) in own.take(answer.in_force.capacity()) {
            answer.in_force.push(*command);
        }
    }

    /// The controllers that are missing at the start. If none is named, any one will do.
    pub(super) fn absent(&self) -> ControllerNumbers {
        let leases = self.leases();
        let mut absent = self.limits.expected;
        for number in &mut absent {
            if leases.of_controller(*number).is_some_and(|l| self.admission.is_present(l.session)) {
                *number = 0;
            }
        }
        absent
    }
}

const _: () = assert!(LEASES_MAX < EVENTS_MAX);
