//! Whom the drives obey in a tick.

use std::borrow::Cow;

use crate::actuator::Reference;
use crate::limits::LEASES_MAX;

use super::{
    Authority, Command, Event, Grant, JointCommand, Leases, Outcome, Plant, Rejection, Verdict,
    Watchdog,
};

impl From<JointCommand> for Reference {
    fn from(c: JointCommand) -> Self {
        Self { q: c.q, dq: c.dq, kp: c.kp, kd: c.kd, tau_ff: c.tau_ff }
    }
}

impl Plant {
    /// Judges every offer; the newest accepted command of each session is in force.
    pub(super) fn take_commands(&mut self, offers: &[Box<Command>], outcome: &mut Outcome) {
        let (mut fresh, mut fresh_places) = (false, [false; LEASES_MAX]);
        for (offer, verdict) in offers.iter().zip(&mut outcome.verdicts) {
            let place = self.state.leases.of_session(offer.session).map(|(place, _)| place);
            *verdict = self.judge(offer, place);
            if *verdict != Verdict::Accepted {
                continue;
            }
            match place {
                Some(place) => fresh_places[place] = true,
                None => fresh = true,
            }
            self.put_in_force(offer, place);
        }
        self.authority = if self.state.leases.stopped {
            Authority::Stopped
        } else if fresh {
            Authority::Fresh
        } else {
            self.weakest(&fresh_places)
        };
        self.refer();
    }

    /// What becomes of an offer, under the lease at `place` if there is one.
    fn judge(&mut self, offer: &Command, place: Option<usize>) -> Verdict {
        let (tick, spec) = (self.state.tick, &self.spec.watchdog);
        let (size, joints) = (offer.joints.len(), self.state.command.len());
        let leases = &mut self.state.leases;
        match place {
            _ if leases.stopped => Verdict::Rejected(Rejection::Stopped),
            Some(place) => {
                leases.offer(spec, tick, place, (offer.answers_tick, offer.applies_tick), size)
            }
            None if leases.are_in_use(spec, tick) => Verdict::Rejected(Rejection::NotOwner),
            // before the watchdog hears of it: it must not renew the age of another command
            None if size != joints => Verdict::Rejected(Rejection::Size),
            None => {
                let Command { session, seq, answers_tick, .. } = *offer;
                self.state.watchdog.offer(spec, tick, session, seq, answers_tick)
            }
        }
    }

    fn put_in_force(&mut self, offer: &Command, place: Option<usize>) {
        let leases = &mut self.state.leases;
        if place.is_none() {
            leases.clear(); // of controllers that have gone
        }
        let joints = self.state.command.iter_mut().enumerate();
        let own = joints.filter(|(joint, _)| place.is_none() || leases.owner(*joint) == place);
        for ((_, command), offered) in own.zip(&offer.joints) {
            *command = *offered;
        }
    }

    /// What the joints obey that obey the least; of a robot without leases, all of them.
    fn weakest(&self, fresh: &[bool; LEASES_MAX]) -> Authority {
        let (tick, spec) = (self.state.tick, &self.spec.watchdog);
        let leases = &self.state.leases;
        let of_joint = |joint| {
            let place = leases.owner(joint)?;
            let own = leases.authority(spec, tick, joint)?;
            Some(if fresh[place] { Authority::Fresh } else { own })
        };
        let weakness = |authority: &Authority| match authority {
            Authority::Fresh => 0,
            Authority::Held => 1,
            Authority::Damped | Authority::Stopped => 2,
            Authority::Zero => 3,
        };
        let weakest = (0..self.state.command.len()).filter_map(of_joint).max_by_key(weakness);
        weakest.unwrap_or_else(|| self.state.watchdog.authority(spec, tick))
    }

    /// What a joint obeys that has no command in this tick.
    fn authority_of(&self, joint: usize) -> Authority {
        let (tick, spec) = (self.state.tick, &self.spec.watchdog);
        let leased = self.state.leases.authority(spec, tick, joint);
        leased.unwrap_or_else(|| self.state.watchdog.authority(spec, tick))
    }

    /// What the drives are to do in this tick.
    fn refer(&mut self) {
        for joint in 0..self.references.len() {
            let authority = if self.state.leases.stopped {
                Authority::Stopped
            } else {
                self.authority_of(joint)
            };
            self.references[joint] = match authority {
                Authority::Fresh | Authority::Held => self.state.command[joint].into(),
                Authority::Damped | Authority::Stopped => self.damper(joint),
                Authority::Zero => Reference::default(),
            };
            self.gains[joint] = [self.references[joint].kp, self.references[joint].kd];
        }
    }

    fn damper(&self, joint: usize) -> Reference {
        self.passive[joint].damper(self.spec.watchdog.damping)
    }

    /// Lets an event of leases happen.
    pub(super) fn change_leases(&mut self, event: &Event) {
        match event {
            Event::Grant(grant) => self.keep_up(grant),
            Event::Stop => self.void_commands(),
            _ => {}
        }
        self.state.leases.apply(self.state.tick, event);
    }

    /// The leases of the coming tick, if these are its events.
    #[must_use]
    pub fn leases_with(&self, events: &[Event]) -> Cow<'_, Leases> {
        self.state.leases.with(self.state.tick, events)
    }

    /// All controllers are gone: what they commanded last is held as if it were late, until others
    /// come.
    pub fn dismiss(&mut self) {
        for session in self.state.leases.places().map(|lease| lease.session) {
            self.state.leases.leave(session);
        }
        self.state.watchdog.revoke_owner();
        self.state.watchdog.candidate = 0;
        self.wake();
    }

    /// Joints that get another controller go on as they are until its first command.
    fn keep_up(&mut self, grant: &Grant) {
        let joints = 0..self.state.command.len();
        for joint in joints.filter(|&joint| grant.joints.contains(joint)) {
            match self.authority_of(joint) {
                Authority::Fresh | Authority::Held => {}
                Authority::Damped | Authority::Stopped => self.damp(joint),
                Authority::Zero => self.state.command[joint] = JointCommand::default(),
            }
        }
    }

    /// Emergency stop: all that was commanded is void.
    fn void_commands(&mut self) {
        self.state.watchdog.revoke_owner();
        for joint in 0..self.state.command.len() {
            self.damp(joint);
        }
    }

    fn damp(&mut self, joint: usize) {
        let Reference { kd, .. } = self.damper(joint);
        self.state.command[joint] = JointCommand { kd, ..Default::default() };
    }

    /// Age of what the robot obeys, ticks; of several controllers the oldest.
    pub(super) fn command_age_ticks(&self) -> Option<u64> {
        let (tick, leases) = (self.state.tick, self.state.leases.places());
        let ages = leases.iter().filter(|l| l.controller != 0).map(|l| tick.saturating_sub(l.next));
        let unjoined = |w: &Watchdog| w.age_ticks(tick.saturating_sub(1));
        ages.max().or_else(|| unjoined(&self.state.watchdog))
    }

    /// The session that commands the robot without having joined, if there is one.
    #[must_use]
    pub fn unjoined_owner(&self) -> Option<u64> {
        let (tick, watchdog) = (self.state.tick, &self.state.watchdog);
        let owned = watchdog.authority(&self.spec.watchdog, tick) == Authority::Held;
        (owned && !self.state.leases.stopped && !watchdog.revoked.contains(&watchdog.owner))
            .then_some(watchdog.owner)
    }
}
