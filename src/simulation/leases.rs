//! All leases: which session commands which joints.
//!
//! Nothing here reads a clock, so a replay takes the same decisions.

use std::borrow::Cow;
use std::cmp::Ordering;

use hardstand_protocol::{Authority, Event, Grant, OwnerReading};

use crate::limits::{JOINTS_MAX, LEASES_MAX, REVOKED_SESSIONS};

use super::{Claim, Denied, Lease, WatchdogSpec};

/// The leases of controllers, in the order of their numbers; the implicit lease of all other
/// joints; and whether the robot is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leases {
    pub(super) places: [Lease; LEASES_MAX],
    /// Per joint the place of its lease and 1; 0 for none.
    pub(super) owners: [u8; JOINTS_MAX],
    /// The session that commands without having joined.
    pub(super) implicit: Lease,
    /// The session that claims the implicit lease.
    pub(super) claim: Claim,
    /// Sessions that lost the implicit lease, newest first.
    pub(super) revoked: [u64; REVOKED_SESSIONS],
    /// The emergency stop is in force.
    pub stopped: bool,
}

impl Default for Leases {
    fn default() -> Self {
        Self {
            places: [Lease::default(); LEASES_MAX],
            owners: [0; JOINTS_MAX],
            implicit: Lease::default(),
            claim: Claim::default(),
            revoked: [0; REVOKED_SESSIONS],
            stopped: false,
        }
    }
}

impl Leases {
    /// The leases of controllers that have joined; free places too.
    #[must_use]
    pub const fn places(&self) -> &[Lease; LEASES_MAX] {
        &self.places
    }

    /// The lease of the session that commands without having joined.
    #[must_use]
    pub const fn implicit(&self) -> &Lease {
        &self.implicit
    }

    /// True if `session` is remembered as one that lost the implicit lease.
    #[must_use]
    pub fn is_revoked(&self, session: u64) -> bool {
        session != 0 && self.revoked.contains(&session)
    }

    /// The session that commands the robot at `tick` without having joined, if there is one.
    #[must_use]
    pub fn unjoined_owner(&self, spec: &WatchdogSpec, tick: u64) -> Option<u64> {
        let held = self.implicit.authority(spec, tick) == Authority::Held;
        (held && !self.stopped && !self.implicit.left).then_some(self.implicit.session)
    }

    /// The lease under which commands of `session` come, and its place.
    #[must_use]
    pub fn of_session(&self, session: u64) -> Option<(usize, &Lease)> {
        let mut taken = self.places.iter().enumerate().filter(|(_, l)| l.controller != 0);
        taken.find(|(_, l)| l.session == session)
    }

    /// The lease of a controller.
    #[must_use]
    pub fn of_controller(&self, controller: u64) -> Option<&Lease> {
        self.places.iter().find(|l| controller != 0 && l.controller == controller)
    }

    /// The place of the lease that a joint belongs to.
    #[must_use]
    pub fn owner(&self, joint: usize) -> Option<usize> {
        self.owners.get(joint).and_then(|&owner| usize::from(owner).checked_sub(1))
    }

    /// Joints of the lease at `place`.
    #[must_use]
    pub fn joint_count(&self, place: usize) -> usize {
        self.owners.iter().filter(|&&owner| usize::from(owner) == place + 1).count()
    }

    /// True if a controller that has joined is there at `tick`.
    #[must_use]
    pub fn are_in_use(&self, spec: &WatchdogSpec, tick: u64) -> bool {
        let there = |l: &Lease| !l.left && l.authority(spec, tick) == Authority::Held;
        self.places.iter().any(|l| l.controller != 0 && there(l))
    }

    /// True if some controller has joined and not left.
    #[must_use]
    pub fn of_anybody(&self) -> bool {
        self.places.iter().any(|l| l.controller != 0 && !l.left)
    }

    /// Takes the leases of all controllers away: the implicit lease has all joints.
    pub fn clear(&mut self) {
        (self.places, self.owners) = ([Lease::default(); LEASES_MAX], [0; JOINTS_MAX]);
    }

    /// The lease that a joint obeys.
    #[must_use]
    pub fn of_joint(&self, joint: usize) -> &Lease {
        self.owner(joint).map_or(&self.implicit, |place| &self.places[place])
    }

    /// Age of the command in force when `tick` ticks are done, ticks; of several controllers the
    /// oldest.
    pub(super) fn command_age_ticks(&self, tick: u64) -> Option<u64> {
        let joined = self.places.iter().filter(|l| l.controller != 0);
        let oldest = joined.filter_map(|l| l.answer_age_ticks(tick)).max();
        oldest.or_else(|| self.implicit.answer_age_ticks(tick))
    }

    /// Who commands each of the first `joints` joints when `tick` ticks are done.
    pub fn owners(&self, tick: u64, joints: usize) -> impl Iterator<Item = OwnerReading> {
        (0..joints).map(move |joint| {
            let lease = self.of_joint(joint);
            let age = lease.answer_age_ticks(tick);
            OwnerReading {
                controller: lease.controller,
                age_ticks: age.map_or(u32::MAX, |age| u32::try_from(age).unwrap_or(u32::MAX - 1)),
            }
        })
    }

    /// Whether a controller may join at `tick`. The same controller may again: it takes its own
    /// lease over. `unjoined` is the session that commands the robot without a lease.
    ///
    /// # Errors
    /// Why not.
    pub fn check(
        &self,
        spec: &WatchdogSpec,
        tick: u64,
        grant: &Grant,
        unjoined: Option<u64>,
    ) -> Result<(), Denied> {
        if let Some(session) = unjoined {
            return Err(Denied::Owned { session });
        }
        for joint in (0..JOINTS_MAX).filter(|&joint| grant.joints.contains(joint)) {
            let Some(lease) = self.owner(joint).map(|place| &self.places[place]) else { continue };
            let lost = lease.left || lease.authority(spec, tick) != Authority::Held;
            if lease.controller != grant.controller && !lost {
                return Err(Denied::Taken { joint, controller: lease.controller });
            }
        }
        let mut after = *self;
        if after.grant(tick, grant) { Ok(()) } else { Err(Denied::Full) }
    }

    /// Gives a controller its joints from `tick` on; false if there is no place. Joints of others
    /// in it become its own: those had lost them, and have to join again.
    pub fn grant(&mut self, tick: u64, grant: &Grant) -> bool {
        if let Some(own) = self.places.iter().position(|l| l.controller == grant.controller) {
            self.vacate(own);
        }
        for joint in (0..JOINTS_MAX).filter(|&joint| grant.joints.contains(joint)) {
            if let Some(place) = self.owner(joint) {
                self.places[place].left = true;
            }
            self.owners[joint] = 0;
        }
        // from the last on: those behind a place that becomes free move up
        for place in (0..LEASES_MAX).rev() {
            if self.places[place].left && self.joint_count(place) == 0 {
                self.vacate(place);
            }
        }
        let free = self.places.iter().filter(|l| l.controller == 0).count();
        if free == 0 {
            return false;
        }
        let place = self.insert(Lease {
            controller: grant.controller,
            session: grant.session,
            schedule: grant.schedule,
            required: grant.required,
            left: false,
            next: tick,
            seq: 0,
            since: tick,
        });
        for joint in (0..JOINTS_MAX).filter(|&joint| grant.joints.contains(joint)) {
            self.owners[joint] = place as u8 + 1;
        }
        true
    }

    /// Puts a lease into its place: in whatever order they come, they stand in that of the
    /// controllers.
    fn insert(&mut self, lease: Lease) -> usize {
        let taken = self.places.iter().filter(|l| l.controller != 0).count();
        let before = |l: &&Lease| l.controller != 0 && l.controller < lease.controller;
        let place = self.places.iter().filter(before).count();
        self.places[place..=taken.min(LEASES_MAX - 1)].rotate_right(1);
        self.places[place] = lease;
        for owner in self.owners.iter_mut().filter(|owner| usize::from(**owner) > place) {
            *owner += 1;
        }
        place
    }

    /// Takes a lease away; the others close up.
    fn vacate(&mut self, place: usize) {
        self.places[place] = Lease::default();
        self.places[place..].rotate_left(1);
        for owner in &mut self.owners {
            match usize::from(*owner).cmp(&(place + 1)) {
                Ordering::Less => {}
                Ordering::Equal => *owner = 0,
                Ordering::Greater => *owner -= 1,
            }
        }
    }

    /// Lets an event of leases happen at `tick`; any other does nothing.
    pub fn apply(&mut self, spec: &WatchdogSpec, tick: u64, event: &Event) {
        match event {
            Event::Grant(grant) => {
                let _the_loop_has_asked = self.grant(tick, grant);
            }
            Event::Leave { session } => self.leave(*session),
            Event::Stop => self.stop(spec, tick),
            Event::Arm => self.arm(tick),
            Event::Push { .. }
            | Event::Friction { .. }
            | Event::InjectFault { .. }
            | Event::ClearFaults { .. }
            | Event::Velocity(_)
            | Event::Constraint { .. }
            | Event::ResetAnchors { .. }
            | Event::Touch { .. } => {}
        }
    }

    /// These leases once `events` have happened at `tick`.
    #[must_use]
    pub fn with(&self, spec: &WatchdogSpec, tick: u64, events: &[Event]) -> Cow<'_, Self> {
        let mut leases = Cow::Borrowed(self);
        for event in events.iter().filter(|event| event.is_of_leases()) {
            leases.to_mut().apply(spec, tick, event);
        }
        leases
    }

    /// The controller has left. Its joints hold its last command as if it were late.
    pub fn leave(&mut self, session: u64) {
        let Some((place, _)) = self.of_session(session) else { return };
        self.places[place].left = true;
        if self.joint_count(place) == 0 {
            self.vacate(place);
        }
    }

    /// All sessions are over: the joints hold their last commands as if they were late.
    pub fn dismiss(&mut self) {
        for session in self.places.map(|lease| lease.session) {
            self.leave(session);
        }
        self.revoke_implicit();
        self.claim.session = 0;
    }

    /// The session of the implicit lease is over: its last command stays only as an age.
    pub(super) fn revoke_implicit(&mut self) {
        let session = self.implicit.session;
        self.implicit.left = session != 0;
        if session != 0 && !self.is_revoked(session) {
            self.revoked.rotate_right(1);
            self.revoked[0] = session;
        }
    }

    /// The emergency stop begins at `tick`. A controller that was lost before does not come back
    /// with [`arm`](Self::arm); later none can be told from those that are only refused.
    fn stop(&mut self, spec: &WatchdogSpec, tick: u64) {
        let is_lost = |l: &&mut Lease| l.authority(spec, tick) != Authority::Held;
        if !self.stopped {
            self.places.iter_mut().filter(is_lost).for_each(|l| l.left = l.controller != 0);
        }
        self.stopped = true;
        self.revoke_implicit();
        self.claim = Claim::default();
    }

    /// The emergency stop ends at `tick`: what is held counts from now on, and answers to states
    /// before it are void. Nothing happens if the robot is not stopped.
    pub fn arm(&mut self, tick: u64) {
        if !self.stopped {
            return;
        }
        self.stopped = false;
        self.implicit.since = tick;
        for lease in self.places.iter_mut().filter(|l| l.controller != 0) {
            (lease.next, lease.since) = (lease.next.max(tick), tick);
        }
    }
}
