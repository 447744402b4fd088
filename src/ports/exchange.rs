//! What UDP and shared memory do with packets: a state out for each one that came, commands in.

use std::time::{Duration, Instant};

use crate::rt::PortState;

use super::PortEnds;
use hardstand_port::packet::{BadPacket, PacketCommand, decode_command, encode_state};
use hardstand_protocol::{Phase, Rejection};

/// Outside real time a state without an answer is sent again after this: it may have been lost.
const SENT_AGAIN: Duration = Duration::from_millis(20);
/// Time between two updates of the counters.
const COUNTED_EVERY: Duration = Duration::from_millis(200);
/// A sender that has sent only old sequence numbers for so long counts from another begin.
const BEGUN_AGAIN: Duration = Duration::from_secs(1);

/// How far a sequence number is ahead of the last one, which begins again at 0 after the largest;
/// `None` if it is not ahead.
fn ahead(last: u64, sequence: u64) -> Option<u64> {
    let ahead = sequence.wrapping_sub(last);
    (1..=u64::MAX / 2).contains(&ahead).then_some(ahead)
}

/// One port with its peer.
#[derive(Debug)]
pub(super) struct Exchange {
    pub(super) ends: PortEnds,
    name: &'static str,
    state: Box<PortState>,
    /// Run and tick of the newest state that has come.
    newest: (u32, u64),
    /// The packet of the newest state.
    pub(super) packet: Vec<u8>,
    sequence: u64,
    waits: bool,
    sent: Instant,
    counted: Option<Instant>,
    /// Sequence number of the last command, and when it came.
    last: Option<(u64, Instant)>,
    received: u64,
    bad_form: u64,
    bad_crc: u64,
    repeated: u64,
    stale: u64,
    missed: u64,
    of_others: u64,
}

impl Exchange {
    /// For a port `name`; `waits` if ticks wait for its commands.
    pub(super) fn new(name: &'static str, ends: PortEnds, state: PortState, waits: bool) -> Self {
        Self {
            ends,
            name,
            newest: (state.state.run_id, state.state.tick),
            state: Box::new(state),
            packet: Vec::new(),
            sequence: 0,
            waits,
            sent: Instant::now(),
            counted: None,
            last: None,
            received: 0,
            bad_form: 0,
            bad_crc: 0,
            repeated: 0,
            stale: 0,
            missed: 0,
            of_others: 0,
        }
    }

    /// Encodes the newest state if one has come; true if the packet is to be sent, for the first
    /// time or again.
    pub(super) fn has_news(&mut self) -> bool {
        let every_ticks = if self.waits { self.ends.source.spec().every_ticks } else { 1 };
        if self.ends.take_newest(&mut self.state, every_ticks) {
            let state = &self.state.state;
            // a state that comes late is not the newest
            self.newest = self.newest.max((state.run_id, state.tick));
            self.sequence += 1;
            encode_state(&self.state.state, self.sequence, &mut self.packet);
            self.sent = Instant::now();
            return true;
        }
        let running = self.state.state.phase == Phase::Running.code();
        let again = self.waits && running && self.sent.elapsed() > SENT_AGAIN;
        if again && self.ends.source.owed(&self.state).is_some() {
            self.sent = Instant::now();
            return true;
        }
        false
    }

    /// True if the newest state has its answer.
    pub(super) fn is_answered(&self) -> bool {
        let state = &self.state.state;
        self.ends.source.has_answered((state.run_id, state.tick))
    }

    /// Takes the bytes of a command of the peer.
    pub(super) fn take(&mut self, bytes: &[u8]) {
        if let Some(command) = self.decode(bytes) {
            self.obey(command);
        }
    }

    /// Decodes the bytes of a command; counts those that are none.
    pub(super) fn decode(&mut self, bytes: &[u8]) -> Option<PacketCommand> {
        self.received += 1;
        match decode_command(bytes) {
            Ok(command) => return Some(command),
            Err(BadPacket::Form) => self.bad_form += 1,
            Err(BadPacket::Crc) => self.bad_crc += 1,
        }
        None
    }

    /// Whether a packet is for this robot, or only asks for states.
    pub(super) fn is_for_this_robot(&self, command: &PacketCommand) -> bool {
        command.joints.is_empty() || self.wrong(command).is_none()
    }

    /// Why a command can be none for this robot in its newest state.
    fn wrong(&self, command: &PacketCommand) -> Option<Rejection> {
        let (spec, newest) = (self.ends.source.spec(), self.newest);
        if command.layout_hash != spec.layout_hash {
            return Some(Rejection::Layout);
        }
        if command.joints.len() != spec.joints.len() {
            return Some(Rejection::Size);
        }
        // an answer that stood for all later states would silence the port
        let ahead = command.run_id == newest.0 && command.tick > newest.1;
        ahead.then_some(Rejection::FutureTick)
    }

    /// Passes a command on, or refuses it: what is refused changes nothing but a counter.
    pub(super) fn obey(&mut self, command: PacketCommand) {
        if command.joints.is_empty() {
            return;
        }
        if let Some(reason) = self.wrong(&command) {
            self.ends.source.refuse(reason, command.tick);
            return;
        }
        if !self.follows(command.sequence) {
            return;
        }
        let (source, at) = (&mut self.ends.source, (command.run_id, command.tick));
        if !source.holds(&self.state) && !source.join(&self.state) {
            return;
        }
        if source.has_answered(at) {
            self.repeated += 1;
        } else {
            let _counted_by_the_ingress = source.send(at, command.joints).is_ok();
        }
    }

    /// Whether a command with this sequence number is newer than the last one.
    fn follows(&mut self, sequence: u64) -> bool {
        let now = Instant::now();
        if let Some((last, at)) = self.last {
            if sequence == last {
                self.repeated += 1;
                return false;
            }
            let ahead = ahead(last, sequence);
            if ahead.is_none() && now.duration_since(at) < BEGUN_AGAIN {
                self.stale += 1;
                return false;
            }
            self.missed = self.missed.saturating_add(ahead.map_or(0, |ahead| ahead - 1));
        }
        self.last = Some((sequence, now));
        true
    }

    /// Another peer has come, which counts from another begin and has to join. In real time the
    /// lease of the one before ends at once. Where ticks wait it goes on where it was: ticks that
    /// wait for no answer would run before the next peer has joined.
    pub(super) fn begin_again(&mut self) {
        self.last = None;
        if self.waits {
            self.ends.source.forget();
        } else {
            self.ends.source.leave();
        }
    }

    /// True while the peer has reason to be silent: in a pause, and as long as ticks wait for it.
    pub(super) fn may_be_silent(&self) -> bool {
        let paused = self.state.state.phase == Phase::Paused.code();
        paused || (self.waits && self.ends.source.holds(&self.state))
    }

    /// A packet came from a sender that is not the peer.
    pub(super) const fn count_other(&mut self) {
        self.of_others += 1;
    }

    /// Updates the counters.
    pub(super) fn count(&mut self) {
        if self.counted.is_some_and(|at| at.elapsed() < COUNTED_EVERY) {
            return;
        }
        self.counted = Some(Instant::now());
        let source = &self.ends.source;
        let counts = [
            ("states", self.sequence),
            ("packets", self.received),
            ("packets_malformed", self.bad_form),
            ("packets_bad_crc", self.bad_crc),
            ("packets_repeated", self.repeated),
            ("packets_stale", self.stale),
            ("packets_missed", self.missed),
            ("packets_of_others", self.of_others),
            ("commands", source.commands),
            ("joins_refused", source.joins_refused),
        ];
        self.ends.counters.set(self.name, &counts);
    }
}

#[cfg(test)]
mod tests {
    use super::ahead;

    #[test]
    fn sequence_numbers_begin_again_after_the_largest() {
        assert_eq!(ahead(6, 7), Some(1));
        assert_eq!(ahead(u64::MAX, 0), Some(1));
        assert_eq!(ahead(u64::MAX - 1, 2), Some(4));
        for old in [7, 6, 0, u64::MAX] {
            assert_eq!(ahead(7, old), None);
        }
    }
}
