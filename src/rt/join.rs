//! Controllers that join and leave.

use crate::config::ControllerNumbers;
use crate::limits::{EVENTS_MAX, LEASES_MAX};
use crate::simulation::{Denied, Lease, random};
use hardstand_protocol::{Event, Grant, Join, JointCommand, Role};

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
    /// Gives a controller its lease, from the coming tick on.
    pub(super) fn join(&mut self, join: &Join, answer: &mut JoinAnswer) {
        let (tick, leases) = (self.simulation.state().tick, self.leases().into_owned());
        self.publish_to_joined = true;
        answer.first_tick = join.schedule.next_from(tick);
        if join.role == Role::Observer {
            return;
        }
        let before = leases.of_controller(join.controller);
        if let Some(lease) = before
            && !self.admission.is_present(lease.session)
            && self.renews(join, lease)
        {
            // its lease was in the saved state: nothing has changed
            self.admission.note_joined(lease.session);
            answer.session = lease.session;
            return self.fill_in_force(join, answer);
        }
        let grant = Grant {
            controller: join.controller,
            session: new_session(join.controller, tick, before),
            schedule: join.schedule,
            required: join.role == Role::Required,
            joints: join.joints,
        };
        let spec = self.simulation.watchdog();
        let owner = self.simulation.unjoined_owner().filter(|_| self.replay_leases.is_none());
        answer.denied = leases.check(spec, tick, &grant, owner).err();
        if self.input.events.len() >= EVENTS_MAX {
            answer.denied = Some(Denied::Full);
        }
        if answer.denied.is_none() {
            answer.session = grant.session;
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

/// The same controller, joining at the same tick, gets the same session in every run; one that
/// joins again at the same tick gets another.
fn new_session(controller: u64, tick: u64, before: Option<&Lease>) -> u64 {
    let nth = |n: u64| random(controller, tick, n).max(1);
    match before {
        // it may have joined several times
        Some(lease) => (1..JOINS_MAX).find(|&n| nth(n - 1) == lease.session).map_or(nth(0), nth),
        None => nth(0),
    }
}

/// Number of times that a controller can join at one tick and get a new session each time.
const JOINS_MAX: u64 = 1000;

const _: () = assert!(LEASES_MAX < EVENTS_MAX);
