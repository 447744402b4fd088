//! Commands of controllers that have joined: which tick each is for, and which one is missing.

use crate::config::ControllerNumbers;
use crate::limits::{CANDIDATES_MAX, EARLY_MAX, LEASES_MAX};
use crate::simulation::{Lease, Leases, random};
use hardstand_protocol::{Command, JointCommand, Rejection};

use super::arrivals::Arrivals;

/// Commands that are remembered, to tell a repeat from a contradiction.
const KNOWN_MAX: usize = 64;

/// Counts since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AdmissionCounts {
    /// Commands that repeated one that was known.
    pub repeated: u64,
    /// Commands that contradicted one that was known.
    pub conflicts: u64,
    /// Commands of sessions that have not joined, in a mode that only takes those of joined ones.
    pub not_joined: u64,
    /// Commands that found no room.
    pub no_room: u64,
    /// Answers to states that a fault of the link had lost, or let a newer one overtake.
    pub void: u64,
    /// Ticks that waited for a controller.
    pub ticks_waited: u64,
    /// Wall time of that, ns.
    pub waited_ns: u64,
    /// Ticks that were run without a command that was due, since the budget was spent.
    pub ticks_given_up: u64,
}

/// Decides for which tick each command is, and drops repeats and contradictions.
#[derive(Debug)]
pub(super) struct CommandAdmission {
    /// Commands that are there before their tick.
    #[allow(clippy::vec_box, reason = "the boxes go back to where they came from")]
    early: Vec<Box<Command>>,
    known: [Known; KNOWN_MAX],
    next_known: usize,
    /// Sessions that have joined in this run.
    present: [u64; LEASES_MAX],
    /// No state before this tick was published in this run.
    since: u64,
    /// When the states of this run come to the controllers.
    pub(super) arrivals: Arrivals,
    pub(super) counts: AdmissionCounts,
    /// The last contradiction that was not taken yet.
    conflict: Option<Conflict>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Known {
    session: u64,
    answers_tick: u64,
    fingerprint: u64,
}

/// A session has answered a state twice, and differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Conflict {
    pub(super) session: u64,
    /// Tick of the state.
    pub(super) answers_tick: u64,
}

/// What is to be done with a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Admission {
    /// It is for this tick, or for no tick at all, which the plant will judge.
    Now,
    /// It is for a later tick.
    Early,
    /// It is dropped.
    Ignored,
}

impl CommandAdmission {
    pub(super) fn new() -> Self {
        Self {
            early: Vec::with_capacity(EARLY_MAX),
            known: [Known::default(); KNOWN_MAX],
            next_known: 0,
            present: [0; LEASES_MAX],
            since: 0,
            arrivals: Arrivals::default(),
            counts: AdmissionCounts::default(),
            conflict: None,
        }
    }

    /// What to do with a command at `tick`.
    pub(super) fn admit(
        &mut self,
        command: &Command,
        leases: &Leases,
        tick: u64,
        joined_only: bool,
    ) -> Admission {
        let Some((_, lease)) = leases.of_session(command.session) else {
            self.counts.not_joined += u64::from(joined_only);
            return if joined_only { Admission::Ignored } else { Admission::Now };
        };
        let on_grid = lease.schedule.answers(command.answers_tick)
            && command.applies_tick == command.answers_tick.saturating_add(lease.schedule.offset);
        if !on_grid || command.answers_tick > tick {
            return Admission::Now;
        }
        if joined_only && self.is_void(command, lease, tick) {
            return Admission::Ignored;
        }
        if !self.is_new(command) {
            return Admission::Ignored;
        }
        match (self.arrivals.applies(command) > tick, self.early.len() < EARLY_MAX) {
            (false, _) => Admission::Now,
            (true, true) => Admission::Early,
            (true, false) => {
                self.counts.no_room += 1;
                Admission::Ignored
            }
        }
    }

    /// True, and counted, if no tick needs this answer. One that comes before its state does, from
    /// who sees the robot in another way, may become so.
    pub(super) fn is_void(&mut self, command: &Command, lease: &Lease, tick: u64) -> bool {
        let is_void = self.arrivals.is_void(&lease.schedule, command.answers_tick, tick);
        self.counts.void += u64::from(is_void);
        is_void
    }

    /// Remembers a command; counts a repeat or a contradiction.
    fn is_new(&mut self, command: &Command) -> bool {
        let Command { session, answers_tick, .. } = *command;
        let fingerprint = fingerprint(command);
        let same = |k: &&Known| k.session == session && k.answers_tick == answers_tick;
        match self.known.iter().find(same) {
            Some(known) if known.fingerprint == fingerprint => self.counts.repeated += 1,
            Some(_) => {
                self.counts.conflicts += 1;
                self.conflict = Some(Conflict { session, answers_tick });
            }
            None => {
                self.known[self.next_known] = Known { session, answers_tick, fingerprint };
                self.next_known = (self.next_known + 1) % KNOWN_MAX;
                return true;
            }
        }
        false
    }

    /// The last contradiction since the last call.
    pub(super) const fn take_conflict(&mut self) -> Option<Conflict> {
        self.conflict.take()
    }

    /// Keeps a command until its tick.
    pub(super) fn keep(&mut self, command: Box<Command>) {
        self.early.push(command);
    }

    /// A command that is kept and applies by `tick`.
    pub(super) fn take_due(&mut self, tick: u64) -> Option<Box<Command>> {
        let due = self.early.iter().position(|c| self.arrivals.applies(c) <= tick)?;
        Some(self.early.swap_remove(due))
    }

    /// Any command that is kept.
    pub(super) fn take_any(&mut self) -> Option<Box<Command>> {
        self.early.pop()
    }

    /// What a session has sent is void; a command of it that is kept, until there is none.
    pub(super) fn forget(&mut self, session: u64) -> Option<Box<Command>> {
        let own = |k: &&mut Known| k.session == session;
        self.known.iter_mut().filter(own).for_each(|k| *k = Known::default());
        let kept = self.early.iter().position(|c| c.session == session)?;
        Some(self.early.swap_remove(kept))
    }

    /// True if an answer to the state of the tick `answered` is there.
    pub(super) fn is_answered(
        &self,
        lease: &Lease,
        answered: u64,
        candidates: &[Box<Command>],
    ) -> bool {
        let mut there = self.early.iter().chain(candidates);
        there.any(|c| c.session == lease.session && c.answers_tick == answered)
    }

    /// A controller has joined.
    pub(super) fn note_joined(&mut self, session: u64) {
        if self.is_present(session) {
            return;
        }
        self.present.rotate_right(1);
        self.present[0] = session;
    }

    pub(super) fn is_present(&self, session: u64) -> bool {
        session != 0 && self.present.contains(&session)
    }

    /// Another run begins with the state of `tick`: every controller has to join again.
    pub(super) fn begin(&mut self, tick: u64) {
        (self.present, self.since) = ([0; LEASES_MAX], tick);
        self.known = [Known::default(); KNOWN_MAX];
        self.arrivals.clear();
    }

    /// The state whose answer `tick` cannot do without under a lease; `None` if it has what it
    /// needs.
    pub(super) fn owed(&self, lease: &Lease, tick: u64) -> Option<u64> {
        let wanted = self.arrivals.wanted(&lease.schedule, tick);
        wanted.filter(|&answered| lease.owes(answered))
    }

    /// The controllers without which the tick cannot be run. While the robot is stopped the tick
    /// waits for none: no command would be obeyed.
    pub(super) fn missing(
        &self,
        leases: &Leases,
        tick: u64,
        candidates: &[Box<Command>],
    ) -> ControllerNumbers {
        let mut missing = ControllerNumbers::default();
        if leases.stopped {
            return missing;
        }
        for (slot, lease) in missing.iter_mut().zip(leases.places()) {
            if self.lacks(lease, tick, candidates) {
                *slot = lease.controller;
            }
        }
        missing
    }

    fn lacks(&self, lease: &Lease, tick: u64, candidates: &[Box<Command>]) -> bool {
        let asked = lease.controller != 0 && lease.required && !lease.left;
        if asked && !self.is_present(lease.session) {
            return true;
        }
        let has_answered = |answered: &u64| {
            candidates.iter().any(|o| o.session == lease.session && o.answers_tick == *answered)
        };
        let owed = self.owed(lease, tick);
        owed.is_some_and(|answered| answered >= self.since && !has_answered(&answered))
    }
}

/// Inserts a command in order: those of leases first, in the order of the leases.
#[allow(clippy::vec_box, reason = "the boxes go back to where they came from")]
pub(super) fn insert(candidates: &mut Vec<Box<Command>>, command: Box<Command>, leases: &Leases) {
    debug_assert!(candidates.len() < CANDIDATES_MAX, "there is room");
    let place = |c: &Command| leases.of_session(c.session).map_or(LEASES_MAX, |(place, _)| place);
    let own = place(&command);
    let at = candidates.iter().take_while(|o| place(o) <= own).count();
    candidates.insert(at, command);
}

/// A hash of the set-points.
fn fingerprint(command: &Command) -> u64 {
    let words = command.joints.iter().flat_map(JointCommand::numbers);
    words.fold(command.joints.len() as u64, |sum, x| random(sum, x.to_bits(), 0))
}

impl AdmissionCounts {
    /// Commands that were refused here for `reason`.
    #[must_use]
    pub const fn rejected(&self, reason: Rejection) -> u64 {
        match reason {
            Rejection::Conflict => self.conflicts,
            Rejection::NotJoined => self.not_joined,
            Rejection::QueueFull => self.no_room,
            _ => 0,
        }
    }
}
