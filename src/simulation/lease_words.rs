//! Leases as words of the state.

use hardstand_physics::plant::Word;
use hardstand_protocol::{CommandSchedule, SCHEDULE_TICKS_MAX};

use crate::limits::LEASES_MAX;

use super::{Lease, Leases};

impl Leases {
    /// Visits every word of a robot with `joints` joints, as
    /// [`Walk`](hardstand_physics::plant::Walk) does.
    #[inline(always)]
    pub(super) fn walk(
        &mut self,
        joints: usize,
        visit: &mut impl FnMut(&'static str, usize, Word<'_>),
    ) {
        self.walk_implicit(visit);
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
            visit("lease.applied", i, Word::U64(&mut lease.since));
            lease.schedule = CommandSchedule::of_word(schedule);
            (lease.required, lease.left) = (flags & 1 != 0, flags & 2 != 0);
        }
        for (i, eight) in self.owners.chunks_exact_mut(8).take(joints.div_ceil(8)).enumerate() {
            let mut word = eight.iter().rev().fold(0, |word, &owner| word << 8 | u64::from(owner));
            visit("lease.owners", i, Word::U64(&mut word));
            eight.copy_from_slice(&word.to_le_bytes());
        }
    }

    fn walk_implicit(&mut self, visit: &mut impl FnMut(&'static str, usize, Word<'_>)) {
        visit("watchdog.owner", 0, Word::U64(&mut self.implicit.session));
        visit("watchdog.seq", 0, Word::U64(&mut self.implicit.seq));
        visit("watchdog.answers_tick", 0, Word::U64(&mut self.implicit.since));
        self.claim.walk(visit);
        for (i, session) in self.revoked.iter_mut().enumerate() {
            visit("watchdog.revoked", i, Word::U64(session));
        }
        // no word of its own: the list says it
        self.implicit.left = self.is_revoked(self.implicit.session);
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
