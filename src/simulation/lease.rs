//! Leases: who commands which joints, and when each of their commands is due.
//!
//! A controller that joins gets the joints that it asks for, and no other controller has them. It
//! answers the states whose tick is on its [`CommandSchedule`]. An answer applies as many ticks
//! later as agreed: the latency of the real robot, as a number. Nothing here reads a clock, so a
//! replay takes the same decisions.
//!
//! ```text
//!  period 4, phase 0, offset 2
//!  state that is answered   0           4           8
//!  tick that it applies at        2           6          10
//! ```

use std::borrow::Cow;

use hardstand_protocol::{
    Authority, CommandSchedule, Event, Grant, Rejection, SCHEDULE_TICKS_MAX, Verdict,
};

use hardstand_physics::plant::{WatchdogSpec, Word};

use crate::limits::{JOINTS_MAX, LEASES_MAX};

/// A lease.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lease {
    /// Number of the controller's name; 0 for a free place.
    pub controller: u64,
    /// Session of its commands.
    pub session: u64,
    /// When it answers.
    pub schedule: CommandSchedule,
    /// Lockstep waits for it.
    pub required: bool,
    /// The controller has left: its joints hold its last command until others take them over.
    pub left: bool,
    /// No state before this tick may be answered any more.
    pub next: u64,
    /// Tick at which the command in force was applied.
    pub applied: u64,
}

impl Lease {
    /// The state whose answer the tick `tick` cannot do without; `None` if it has what it needs.
    #[must_use]
    pub fn owes(&self, tick: u64) -> Option<u64> {
        let asked = self.controller != 0 && self.required && !self.left;
        self.schedule.answered_at(tick).filter(|&answered| asked && answered >= self.next)
    }

    /// The rung of the ladder at `tick`, if no command was accepted in it. What is held counts from
    /// when the next command should have been there.
    fn authority(&self, spec: &WatchdogSpec, tick: u64) -> Authority {
        let held = spec.hold_ticks + self.schedule.period + self.schedule.offset;
        match tick.saturating_sub(self.applied) {
            age if age <= held => Authority::Held,
            age if age <= held.saturating_add(spec.damped_ticks) => Authority::Damped,
            _ => Authority::Zero,
        }
    }
}

/// Why a controller cannot join.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denied {
    /// Another controller has this joint.
    Taken {
        /// The joint.
        joint: usize,
        /// Number of the other's name.
        controller: u64,
    },
    /// There are [`LEASES_MAX`] controllers already.
    Full,
    /// A session that has not joined commands the robot.
    Owned {
        /// The session.
        session: u64,
    },
}

/// All leases, in the order of their controllers' numbers, and whether the robot is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leases {
    places: [Lease; LEASES_MAX],
    /// Per joint the place of its lease and 1; 0 for none.
    owners: [u8; JOINTS_MAX],
    /// The emergency stop is in force.
    pub stopped: bool,
}

impl Default for Leases {
    fn default() -> Self {
        Self { places: [Lease::default(); LEASES_MAX], owners: [0; JOINTS_MAX], stopped: false }
    }
}

impl Leases {
    /// All places, free ones too.
    #[must_use]
    pub const fn places(&self) -> &[Lease; LEASES_MAX] {
        &self.places
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

    /// Takes all leases away.
    pub fn clear(&mut self) {
        *self = Self { stopped: self.stopped, ..Self::default() };
    }

    /// What a joint obeys at `tick` without a command in it; `None` if it is nobody's.
    #[must_use]
    pub fn authority(&self, spec: &WatchdogSpec, tick: u64, joint: usize) -> Option<Authority> {
        self.owner(joint).map(|place| self.places[place].authority(spec, tick))
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
    /// in it become its own.
    pub fn grant(&mut self, tick: u64, grant: &Grant) -> bool {
        if let Some(own) = self.places.iter().position(|l| l.controller == grant.controller) {
            self.vacate(own);
        }
        for joint in (0..JOINTS_MAX).filter(|&joint| grant.joints.contains(joint)) {
            self.owners[joint] = 0;
        }
        for place in 0..LEASES_MAX {
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
            applied: tick,
        });
        for joint in (0..JOINTS_MAX).filter(|&joint| grant.joints.contains(joint)) {
            self.owners[joint] = place as u8 + 1;
        }
        true
    }

    /// Puts a lease into its place: whoever comes first, the order is that of the controllers.
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
            match usize::from(*owner) {
                at if at == place + 1 => *owner = 0,
                at if at > place + 1 => *owner -= 1,
                _ => {}
            }
        }
    }

    /// Lets an event of leases happen at `tick`; any other does nothing.
    pub fn apply(&mut self, tick: u64, event: &Event) {
        match event {
            Event::Grant(grant) => {
                let _the_loop_has_asked = self.grant(tick, grant);
            }
            Event::Leave { session } => self.leave(*session),
            Event::Stop => self.stopped = true,
            Event::Arm => self.arm(tick),
            Event::Push { .. }
            | Event::Friction { .. }
            | Event::InjectFault { .. }
            | Event::ClearFaults { .. } => {}
        }
    }

    /// These leases once `events` have happened at `tick`.
    #[must_use]
    pub fn with(&self, tick: u64, events: &[Event]) -> Cow<'_, Self> {
        let mut leases = Cow::Borrowed(self);
        for event in events.iter().filter(|event| event.is_of_leases()) {
            leases.to_mut().apply(tick, event);
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

    /// The emergency stop ends at `tick`: what is held counts from now on, and answers to states
    /// before it are void.
    pub fn arm(&mut self, tick: u64) {
        self.stopped = false;
        for lease in self.places.iter_mut().filter(|l| l.controller != 0) {
            (lease.next, lease.applied) = (lease.next.max(tick), tick);
        }
    }

    /// Judges a command with `joints` set-points for the lease at `place`, offered at `tick`.
    /// [`Verdict::Accepted`] means that the caller puts it in force.
    pub fn offer(
        &mut self,
        spec: &WatchdogSpec,
        tick: u64,
        place: usize,
        (answers_tick, applies_tick): (u64, u64),
        joints: usize,
    ) -> Verdict {
        let (count, lease) = (self.joint_count(place), &mut self.places[place]);
        let schedule = lease.schedule;
        let refused = if joints != count {
            Some(Rejection::Size)
        } else if answers_tick > tick || applies_tick > tick {
            Some(Rejection::FutureTick)
        } else if !schedule.answers(answers_tick) || applies_tick != answers_tick + schedule.offset
        {
            Some(Rejection::OffGrid)
        } else if lease.left || lease.authority(spec, tick) != Authority::Held {
            Some(Rejection::Revoked)
        } else if answers_tick < lease.next {
            Some(Rejection::Sequence)
        } else if tick - applies_tick > spec.hold_ticks {
            Some(Rejection::Late)
        } else {
            None
        };
        if let Some(reason) = refused {
            return Verdict::Rejected(reason);
        }
        (lease.next, lease.applied) = (answers_tick + 1, tick);
        Verdict::Accepted
    }

    /// Visits every word of a robot with `joints` joints, as
    /// [`Walk`](hardstand_physics::plant::Walk) does.
    #[inline(always)]
    pub(super) fn walk(
        &mut self,
        joints: usize,
        visit: &mut impl FnMut(&'static str, usize, Word<'_>),
    ) {
        let mut stopped = u64::from(self.stopped);
        visit("lease.stopped", 0, Word::U64(&mut stopped));
        self.stopped = stopped != 0;
        for (i, lease) in self.places.iter_mut().enumerate() {
            let mut schedule = lease.schedule.word();
            let mut flags = u64::from(lease.required) | u64::from(lease.left) << 1;
            visit("lease.controller", i, Word::U64(&mut lease.controller));
            visit("lease.session", i, Word::U64(&mut lease.session));
            visit("lease.schedule", i, Word::U64(&mut schedule));
            visit("lease.flags", i, Word::U64(&mut flags));
            visit("lease.next", i, Word::U64(&mut lease.next));
            visit("lease.applied", i, Word::U64(&mut lease.applied));
            lease.schedule = CommandSchedule::of_word(schedule);
            (lease.required, lease.left) = (flags & 1 != 0, flags & 2 != 0);
        }
        for (i, eight) in self.owners.chunks_exact_mut(8).take(joints.div_ceil(8)).enumerate() {
            let mut word = eight.iter().rev().fold(0, |word, &owner| word << 8 | u64::from(owner));
            visit("lease.owners", i, Word::U64(&mut word));
            eight.copy_from_slice(&word.to_le_bytes());
        }
    }

    /// True if no run can have left this behind: a restored state may come from anywhere.
    pub(super) fn is_senseless(&self) -> bool {
        let taken = self.places.iter().take_while(|l| l.controller != 0).count();
        let senseless = |l: &Lease| {
            let CommandSchedule { period, phase, offset } = l.schedule;
            period == 0
                || period > SCHEDULE_TICKS_MAX
                || phase >= period
                || offset > SCHEDULE_TICKS_MAX
        };
        self.places[..taken].iter().any(senseless)
            || self.places[taken..].iter().any(|l| *l != Lease::default())
            || self.places[..taken].windows(2).any(|w| w[0].controller >= w[1].controller)
            || self.owners.iter().any(|&owner| usize::from(owner) > taken)
    }
}

const _: () = assert!(LEASES_MAX < u8::MAX as usize);
