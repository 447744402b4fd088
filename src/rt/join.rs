//! Controllers that join and leave.

use crate::limits::{EVENTS_MAX, LEASES_MAX};
use crate::simulation::{Denied, Lease, random};
use hardstand_protocol::{Event, Grant, Join, JointCommand, Role};

use super::gate::Missing;
use super::{Clock, Executive};

/// What the loop says to a controller that wants to join.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JoinAnswer {
    /// Why not, if not.
    pub denied: Option<Denied>,
    /// Session of its commands.
    pub session: u64,
    /// The first state that it answers.
    pub first_tick: u64,
    /// What its joints obey until its first command applies; with room for as many as it wants.
    pub in_force: Vec<JointCommand>,
}

impl<C: Clock> Executive<C> {
    /// Lets a controller in, from the coming tick on.
    pub(super) fn join(&mut self, join: &Join, answer: &mut JoinAnswer) {
        let (tick, leases) = (self.plant.state().tick, self.leases().into_owned());
        self.newcomer = true;
        answer.first_tick = join.schedule.next_from(tick);
        if join.role == Role::Observer {
            return;
        }
        let before = leases.of_controller(join.controller);
        if let Some(lease) = before
            && !self.gate.is_present(lease.session)
            && self.is_again(join, lease)
        {
            // it was there when this state was saved: nothing has changed
            self.gate.welcome(lease.session);
            answer.session = lease.session;
            return self.tell_in_force(join, answer);
        }
        let grant = Grant {
            controller: join.controller,
            session: new_session(join.controller, tick, before),
            schedule: join.schedule,
            required: join.role == Role::Required,
            joints: join.joints,
        };
        let spec = &self.plant.spec().watchdog;
        let owner = self.plant.unjoined_owner().filter(|_| self.links.controller_replay.is_none());
        answer.denied = leases.check(spec, tick, &grant, owner).err();
        if self.input.events.len() >= EVENTS_MAX {
            answer.denied = Some(Denied::Full);
        }
        if answer.denied.is_none() {
            answer.session = grant.session;
            self.gate.welcome(grant.session);
            self.input.events.push(Event::Grant(grant));
            self.tell_in_force(join, answer);
        }
    }

    /// True if a controller wants what its lease gives it.
    fn is_again(&self, join: &Join, lease: &Lease) -> bool {
        let leases = self.leases();
        let place = leases.of_session(lease.session).map(|(place, _)| place);
        let joints = 0..self.plant.model().joint_count();
        let same = |joint: usize| (leases.owner(joint) == place) == join.joints.contains(joint);
        let required = join.role == Role::Required;
        !lease.left
            && (lease.schedule, lease.required) == (join.schedule, required)
            && joints.into_iter().all(same)
    }

    fn tell_in_force(&self, join: &Join, answer: &mut JoinAnswer) {
        let commands = self.plant.command().iter().enumerate();
        let own = commands.filter(|(joint, _)| join.joints.contains(*joint));
        for (_, command) in own.take(answer.in_force.capacity()) {
            answer.in_force.push(*command);
        }
    }

    /// The controllers without which the run does not begin. If none is named, any will do.
    pub(super) fn absent(&self) -> Missing {
        let leases = self.leases();
        let mut absent = self.limits.expected;
        for number in &mut absent {
            if leases.of_controller(*number).is_some_and(|l| self.gate.is_present(l.session)) {
                *number = 0;
            }
        }
        absent
    }
}

/// The same controller, joining at the same tick, gets the same session in every run; one that
/// comes again at the same tick gets another.
fn new_session(controller: u64, tick: u64, before: Option<&Lease>) -> u64 {
    let nth = |n: u64| random(controller, tick, n).max(1);
    match before {
        // it may have come again and again
        Some(lease) => (1..AGAIN_MAX).find(|&n| nth(n - 1) == lease.session).map_or(nth(0), nth),
        None => nth(0),
    }
}

/// So often a controller can come again at one tick and get a session that it has not had before.
const AGAIN_MAX: u64 = 1000;

const _: () = assert!(LEASES_MAX < EVENTS_MAX);
