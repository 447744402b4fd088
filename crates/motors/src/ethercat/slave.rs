//! One slave of the chain: its controller, its states, its mailbox and its drive.

use super::al::{Al, AlState, code};
use super::coe;
use super::datagram::{Access, Datagram, Target};
use super::esc::{self, Completed, Esc};
use super::pdo::Pdo;
use super::sii;
use crate::drives::{Cia402, Cia402Config};
use crate::{JointReading, Watchdog};

/// Where the SyncManagers are by default.
pub(super) const RECEIVE_MAILBOX: u16 = 0x1000;
pub(super) const SEND_MAILBOX: u16 = 0x1100;
pub(super) const MAILBOX_BYTES: u16 = 256;
pub(super) const OUTPUTS_AT: u16 = 0x1200;
pub(super) const INPUTS_AT: u16 = 0x1300;
/// Answers that wait for the mailbox.
const ANSWERS_MAX: usize = 8;
/// From one slave to the next, one way.
pub(super) const HOP_NS: u64 = 300;

/// What a slave says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Its place in the chain begins with the lowest one; also its configured alias and serial
    /// number.
    pub alias: u16,
    /// Vendor id.
    pub vendor: u32,
    /// Product code.
    pub product: u32,
    /// Revision.
    pub revision: u32,
    /// Device name, ASCII.
    pub name: &'static str,
}

impl Identity {
    /// Hardstand's own, which is no maker's.
    pub const fn new(alias: u16) -> Self {
        Self { alias, vendor: 0, product: 402, revision: 1, name: "CiA 402 drive" }
    }
}

/// A slave.
#[derive(Debug)]
pub(super) struct Slave {
    pub(super) identity: Identity,
    esc: Esc,
    pub(super) al: Al,
    image: Vec<u8>,
    pub(super) pdos: [Pdo; 2],
    pub(super) drive: Cia402,
    /// The newest reading of the joint.
    pub(super) now: JointReading,
    watchdog: Watchdog,
    answers: Vec<Vec<u8>>,
    /// Counter of mailbox messages, 1 to 7.
    messages: u8,
}

impl Slave {
    /// One with its drive; `last` has nothing on its second port.
    pub(super) fn new(identity: Identity, config: Cia402Config, last: bool) -> Self {
        let pdos = [Pdo::new(true), Pdo::new(false)];
        let mut esc = Esc::new();
        esc.set(esc::ALIAS, &identity.alias.to_le_bytes());
        // ports 2 and 3 are closed; 0 is connected, 1 unless it is the last
        let ports: u16 = if last { 0x5611 } else { 0x5a31 };
        esc.set(esc::DL_STATUS, &ports.to_le_bytes());
        let mut slave = Self {
            image: sii::image(&identity, pdos[0].bytes(), pdos[1].bytes()),
            identity,
            esc,
            al: Al::new(),
            pdos,
            drive: Cia402::new(config),
            now: JointReading::default(),
            watchdog: Watchdog::default(),
            answers: Vec::new(),
            messages: 0,
        };
        slave.show_state();
        slave
    }

    /// Takes part in a datagram; `back_ns` after it, the datagram returns from the rest of the
    /// chain.
    pub(super) fn take(&mut self, now_ns: u64, datagram: &mut Datagram<'_>, back_ns: u64) {
        let Some((target, access)) = datagram.request() else { return };
        let is_own = |address: u16| {
            let by_alias = self.esc.double(esc::DL_CONTROL) >> 24 & 1 != 0;
            let alias = self.esc.word(esc::ALIAS);
            address == self.esc.word(esc::STATION) || by_alias && address == alias
        };
        let access = match target {
            Target::Position(place) => (place == 0).then_some(access),
            Target::Station(station) => is_own(station).then_some(access),
            Target::All => Some(access),
            Target::ReadByPosition(0) => Some(Access::Read),
            Target::ReadByStation(station) if is_own(station) => Some(Access::Read),
            Target::ReadByPosition(_) | Target::ReadByStation(_) => Some(Access::Write),
            Target::Logical(address) => return self.logical(now_ns, address, access, datagram),
        };
        datagram.pass();
        if let Some(access) = access {
            let or = target == Target::All;
            self.physical(now_ns, access, or, datagram, back_ns);
        }
    }

    fn physical(
        &mut self,
        now_ns: u64,
        access: Access,
        or: bool,
        datagram: &mut Datagram<'_>,
        back_ns: u64,
    ) {
        let (at, length) = (datagram.offset(), datagram.data.len());
        let sent = (access == Access::Both).then(|| datagram.data.to_vec());
        if access != Access::Write {
            let mut read = vec![0; length];
            self.show_time(now_ns);
            if self.esc.read(at, &mut read) {
                let places = datagram.data.iter_mut().zip(read);
                places.for_each(|(place, byte)| *place = if or { *place | byte } else { byte });
                datagram.count(1);
                self.fill_mailbox();
            }
        }
        if access != Access::Read {
            let data = sent.as_deref().unwrap_or(datagram.data);
            if let Some(completed) = self.esc.write(at, data) {
                let range = usize::from(at)..usize::from(at) + length;
                datagram.count(if access == Access::Both { 2 } else { 1 });
                self.react(now_ns, &range, completed, back_ns);
            }
        }
    }

    fn logical(&mut self, now_ns: u64, address: u32, access: Access, datagram: &mut Datagram<'_>) {
        let length = datagram.data.len();
        let mut counts = [false; 2];
        if access != Access::Read {
            let writes: Vec<_> = self.esc.mapped(address, length, true).collect();
            for (offset, at, length) in writes {
                let written = self.esc.write(at, &datagram.data[offset..offset + length]);
                if let Some(completed) = written {
                    counts[1] = true;
                    self.react(now_ns, &(0..0), completed, 0);
                }
            }
        }
        if access != Access::Write {
            let reads: Vec<_> = self.esc.mapped(address, length, false).collect();
            for (offset, at, length) in reads {
                counts[0] |= self.esc.read(at, &mut datagram.data[offset..offset + length]);
            }
        }
        let write = if access == Access::Both { 2 } else { 1 };
        datagram.count(u16::from(counts[0]) + write * u16::from(counts[1]));
    }

    /// What a write to registers or to a SyncManager sets off.
    fn react(
        &mut self,
        now_ns: u64,
        range: &std::ops::Range<usize>,
        done: Completed,
        back_ns: u64,
    ) {
        if range.contains(&esc::AL_CONTROL) {
            self.request_state(now_ns);
        }
        if range.contains(&(esc::EEPROM_CONTROL + 1)) {
            sii::obey(&mut self.esc, &self.image);
        }
        if range.contains(&esc::DC_RECEIVED) {
            let [first, second] = [now_ns, now_ns + back_ns].map(|ns| (ns as u32).to_le_bytes());
            self.esc.set(esc::DC_RECEIVED, &first);
            self.esc.set(esc::DC_RECEIVED + 4, &second);
            self.esc.set(esc::DC_RECEIVED_64, &now_ns.to_le_bytes());
        }
        if done.mailbox {
            let message = self.esc.buffer(0).to_vec();
            if let Some(answer) = coe::answer(self, &message) {
                self.answer(answer);
            }
        }
        if done.outputs {
            self.watchdog.feed(now_ns);
            if self.al.state == AlState::Op {
                self.pdos[0].write(self.esc.buffer(2), &mut self.drive);
            }
        }
    }

    /// The clock is the bus's own, with the offset that the master has set.
    fn show_time(&mut self, now_ns: u64) {
        let [low, high] = [0, 4].map(|at| u64::from(self.esc.double(esc::DC_OFFSET + at)));
        let time = now_ns.wrapping_add(high << 32 | low);
        self.esc.set(esc::DC_TIME, &time.to_le_bytes());
    }

    fn request_state(&mut self, now_ns: u64) {
        let before = self.al.state;
        let (mut al, control) = (self.al, self.esc.word(esc::AL_CONTROL));
        al.request(control, |wanted| self.check(wanted));
        self.al = al;
        if before == AlState::Op && al.state != AlState::Op {
            self.drive.leave_operation();
        }
        if al.state == AlState::Init {
            self.answers.clear();
        }
        if before < AlState::Op && al.state == AlState::Op {
            self.watchdog.feed(now_ns);
        }
        self.show_state();
    }

    /// Whether the settings are those of a state.
    fn check(&self, wanted: AlState) -> Result<(), u16> {
        let is = |n: usize, written: bool, length: usize| {
            let manager = self.esc.sync_manager(n);
            let inside = manager.start >= 0x1000 && self.esc.buffer(n).len() == length;
            let active = manager.active && manager.is_written() == written && inside;
            active && manager.length == length || length == 0 && manager.length == 0
        };
        let mailbox = |n: usize| self.esc.sync_manager(n).length;
        let lengths = [mailbox(0), mailbox(1)];
        let good = lengths.iter().all(|length| (32..=1024).contains(length));
        if !good || !is(0, true, lengths[0]) || !is(1, false, lengths[1]) {
            return Err(code::INVALID_MAILBOX);
        }
        if wanted >= AlState::SafeOp {
            if !is(2, true, self.pdos[0].bytes()) {
                return Err(code::INVALID_OUTPUTS);
            }
            if !is(3, false, self.pdos[1].bytes()) {
                return Err(code::INVALID_INPUTS);
            }
        }
        Ok(())
    }

    fn show_state(&mut self) {
        self.esc.exchanges = self.al.state >= AlState::SafeOp;
        self.esc.set(esc::AL_STATUS, &self.al.status().to_le_bytes());
        self.esc.set(esc::AL_CODE, &self.al.code.to_le_bytes());
    }

    /// Advances the watchdog of the outputs, and shows the newest inputs.
    pub(super) fn advance(&mut self, now_ns: u64, now: &JointReading) {
        self.now = *now;
        // the unit of the divider is 40 ns
        let unit_ns = 40 * (u64::from(self.esc.word(esc::WATCHDOG_DIVIDER)) + 2);
        let timeout_ns = unit_ns * u64::from(self.esc.word(esc::WATCHDOG_TIME));
        let watches = timeout_ns > 0 && self.esc.sync_manager(2).watches();
        self.watchdog.timeout_ns = watches.then_some(timeout_ns);
        let expired = self.watchdog.expired(now_ns);
        self.esc.set(esc::WATCHDOG_STATUS, &[u8::from(!expired)]);
        if expired && self.al.state == AlState::Op {
            self.esc.count(esc::WATCHDOG_COUNTER);
            self.al.fall(AlState::SafeOp, code::WATCHDOG);
            self.drive.leave_operation();
            self.show_state();
        }
        if self.esc.exchanges {
            let inputs = self.pdos[1].read(&self.drive, now);
            let start = self.esc.sync_manager(3).start;
            self.esc.set(start, &inputs);
        }
    }

    pub(super) fn is_operational(&self) -> bool {
        self.al.state == AlState::Op
    }

    /// A frame came with a wrong checksum, from its sender or from the slave before.
    pub(super) fn count_error(&mut self, first: bool) {
        self.esc.count(if first { esc::RX_ERRORS + 1 } else { esc::FORWARDED_ERRORS });
    }

    fn answer(&mut self, mut message: Vec<u8>) {
        self.messages = self.messages % 7 + 1;
        message[5] |= self.messages << 4;
        if self.answers.len() < ANSWERS_MAX {
            self.answers.push(message);
        }
        self.fill_mailbox();
    }

    /// Puts the next answer into the mailbox, if that is empty.
    fn fill_mailbox(&mut self) {
        if self.esc.is_full(1) || self.answers.is_empty() {
            return;
        }
        let manager = self.esc.sync_manager(1);
        let mut message = self.answers.remove(0);
        message.resize(manager.length, 0);
        self.esc.set(manager.start, &message);
        self.esc.set_full(1, true);
    }
}
