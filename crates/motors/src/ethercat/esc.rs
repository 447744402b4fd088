//! Registers and memory of a slave controller (ESC): SyncManagers, FMMUs, access rights.

use super::{double, word};

/// 4 KiB of registers and 8 KiB of process memory.
const MEMORY: usize = 0x3000;
/// FMMUs and SyncManagers, and the size of their settings.
pub(super) const FMMUS: usize = 3;
pub(super) const SYNC_MANAGERS: usize = 4;
const FMMU_BYTES: usize = 16;
const SYNC_BYTES: usize = 8;

pub(super) const STATION: usize = 0x0010;
pub(super) const ALIAS: usize = 0x0012;
pub(super) const DL_CONTROL: usize = 0x0100;
pub(super) const DL_STATUS: usize = 0x0110;
pub(super) const AL_CONTROL: usize = 0x0120;
pub(super) const AL_STATUS: usize = 0x0130;
pub(super) const AL_CODE: usize = 0x0134;
pub(super) const RX_ERRORS: usize = 0x0300;
pub(super) const FORWARDED_ERRORS: usize = 0x0308;
pub(super) const WATCHDOG_DIVIDER: usize = 0x0400;
pub(super) const WATCHDOG_TIME: usize = 0x0420;
pub(super) const WATCHDOG_STATUS: usize = 0x0440;
pub(super) const WATCHDOG_COUNTER: usize = 0x0442;
pub(super) const EEPROM_CONTROL: usize = 0x0502;
pub(super) const EEPROM_ADDRESS: usize = 0x0504;
pub(super) const EEPROM_DATA: usize = 0x0508;
const FMMU: usize = 0x0600;
const SYNC: usize = 0x0800;
pub(super) const DC_RECEIVED: usize = 0x0900;
pub(super) const DC_TIME: usize = 0x0910;
pub(super) const DC_RECEIVED_64: usize = 0x0918;
pub(super) const DC_OFFSET: usize = 0x0920;

/// Registers that a master may change. What it writes elsewhere below 0x1000 has no effect.
const WRITABLE: [(usize, usize); 12] = [
    (STATION, 2),
    (DL_CONTROL, 4),
    (AL_CONTROL, 2),
    (0x0200, 2),
    (WATCHDOG_DIVIDER, 2),
    (0x0410, 2),
    (WATCHDOG_TIME, 2),
    (0x0500, 16),
    (FMMU, FMMUS * FMMU_BYTES),
    (SYNC, SYNC_MANAGERS * SYNC_BYTES),
    (DC_OFFSET, 0x20),
    (0x0980, 0x50),
];
/// Status bit of a mailbox that holds a message.
const FULL: u8 = 8;

/// A SyncManager as the master has set it.
#[derive(Clone, Copy, Debug)]
pub(super) struct SyncManager {
    pub(super) start: usize,
    pub(super) length: usize,
    control: u8,
    pub(super) active: bool,
}

impl SyncManager {
    fn is_mailbox(self) -> bool {
        self.control & 3 == 2
    }

    /// The master writes it.
    pub(super) fn is_written(self) -> bool {
        self.control >> 2 & 3 == 1
    }

    pub(super) fn watches(self) -> bool {
        self.control & 0x40 != 0
    }

    /// Whether an access to these bytes comes to its buffer, and whether it reaches the end.
    fn meets(self, begin: usize, length: usize) -> (bool, bool) {
        let (end, own_end) = (begin + length, self.start + self.length);
        let meets = self.active && self.length > 0 && begin < own_end && self.start < end;
        (meets, end >= own_end)
    }
}

/// What a write has completed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Completed {
    /// The mailbox for the slave holds a message.
    pub(super) mailbox: bool,
    /// The outputs are new.
    pub(super) outputs: bool,
}

/// Memory of one slave controller.
#[derive(Clone, Debug)]
pub(super) struct Esc {
    memory: Vec<u8>,
    /// The application has process data: in SAFEOP and OP.
    pub(super) exchanges: bool,
}

impl Esc {
    pub(super) fn new() -> Self {
        let mut esc = Self { memory: vec![0; MEMORY], exchanges: false };
        // a type of no maker, revision and build; FMMUs, SyncManagers, KiB; two ports with a PHY
        esc.set(0, &[0x00, 0x01, 0x00, 0x00, FMMUS as u8, SYNC_MANAGERS as u8, 8, 0x0f]);
        // FMMUs take whole bytes; a DC clock of 64 bits
        esc.set(8, &0x000d_u16.to_le_bytes());
        esc.set(WATCHDOG_DIVIDER, &2498_u16.to_le_bytes());
        esc.set(0x0410, &1000_u16.to_le_bytes());
        esc.set(WATCHDOG_TIME, &1000_u16.to_le_bytes());
        esc
    }

    pub(super) fn word(&self, at: usize) -> u16 {
        word(&self.memory, at)
    }

    pub(super) fn double(&self, at: usize) -> u32 {
        double(&self.memory, at)
    }

    /// Changes memory from the slave's side.
    pub(super) fn set(&mut self, at: usize, bytes: &[u8]) {
        if let Some(place) = self.memory.get_mut(at..at + bytes.len()) {
            place.copy_from_slice(bytes);
        }
    }

    /// Counts in a register of 8 bits, which stops at its end.
    pub(super) fn count(&mut self, at: usize) {
        if let Some(byte) = self.memory.get_mut(at) {
            *byte = byte.saturating_add(1);
        }
    }

    pub(super) fn sync_manager(&self, n: usize) -> SyncManager {
        let at = SYNC + n * SYNC_BYTES;
        SyncManager {
            start: self.word(at).into(),
            length: self.word(at + 2).into(),
            control: self.memory[at + 4],
            active: self.memory[at + 6] & 1 != 0,
        }
    }

    /// The buffer of a SyncManager, as far as it is in the memory.
    pub(super) fn buffer(&self, n: usize) -> &[u8] {
        let SyncManager { start, length, .. } = self.sync_manager(n);
        self.memory.get(start..start + length).unwrap_or_default()
    }

    pub(super) fn is_full(&self, n: usize) -> bool {
        self.memory[SYNC + n * SYNC_BYTES + 5] & FULL != 0
    }

    pub(super) fn set_full(&mut self, n: usize, full: bool) {
        let status = &mut self.memory[SYNC + n * SYNC_BYTES + 5];
        *status = if full { *status | FULL } else { *status & !FULL };
    }

    /// A read of the master. False if a SyncManager denies it.
    pub(super) fn read(&mut self, at: u16, out: &mut [u8]) -> bool {
        let (at, mut emptied) = (usize::from(at), None);
        let Some(bytes) = self.memory.get(at..at + out.len()) else { return false };
        for n in 0..SYNC_MANAGERS {
            let manager = self.sync_manager(n);
            let (meets, to_the_end) = manager.meets(at, out.len());
            if !meets {
                continue;
            }
            let open = if manager.is_mailbox() { self.is_full(n) } else { self.exchanges };
            if manager.is_written() || !open {
                return false;
            }
            emptied = (manager.is_mailbox() && to_the_end).then_some(n).or(emptied);
        }
        out.copy_from_slice(bytes);
        if let Some(n) = emptied {
            self.set_full(n, false);
        }
        true
    }

    /// A write of the master; `None` if a SyncManager denies it.
    pub(super) fn write(&mut self, at: u16, data: &[u8]) -> Option<Completed> {
        let (at, mut completed) = (usize::from(at), Completed::default());
        self.memory.get(at..at + data.len())?;
        for n in 0..SYNC_MANAGERS {
            let manager = self.sync_manager(n);
            let (meets, to_the_end) = manager.meets(at, data.len());
            if !meets {
                continue;
            }
            let open = if manager.is_mailbox() { !self.is_full(n) } else { self.exchanges };
            if !manager.is_written() || !open {
                return None;
            }
            completed.mailbox |= manager.is_mailbox() && to_the_end;
            completed.outputs |= !manager.is_mailbox() && to_the_end;
        }
        for (address, &byte) in (at..).zip(data) {
            self.write_byte(address, byte);
        }
        Some(completed)
    }

    fn write_byte(&mut self, at: usize, byte: u8) {
        let in_range = |&(begin, length): &(usize, usize)| (begin..begin + length).contains(&at);
        let is_sync = (SYNC..SYNC + SYNC_MANAGERS * SYNC_BYTES).contains(&at);
        match at {
            // a write of any value clears error counters
            RX_ERRORS..0x0314 | 0x0442..0x0444 => self.memory[at] = 0,
            // status and the slave's own control
            _ if is_sync && matches!(at % SYNC_BYTES, 5 | 7) => {}
            // a mailbox that is switched off forgets its message
            _ if is_sync && at % SYNC_BYTES == 6 => {
                self.memory[at] = byte;
                if byte & 1 == 0 {
                    self.memory[at - 1] = 0;
                }
            }
            _ if at >= 0x1000 || WRITABLE.iter().any(in_range) => self.memory[at] = byte,
            _ => {}
        }
    }

    /// Parts of logical memory from `logical` on that FMMUs map for reading or for writing: offset
    /// in it, address here, length.
    pub(super) fn mapped(
        &self,
        logical: u32,
        length: usize,
        write: bool,
    ) -> impl Iterator<Item = (usize, u16, usize)> {
        let ask = (u64::from(logical), u64::from(logical) + length as u64);
        let fmmus: [Option<_>; FMMUS] = std::array::from_fn(|n| {
            let fmmu = &self.memory[FMMU + n * FMMU_BYTES..][..FMMU_BYTES];
            // it takes whole bytes: no bit of the first or the last one is left out
            let whole = fmmu[6] & 7 == 0 && fmmu[7] & 7 == 7 && fmmu[10] & 7 == 0;
            let right = fmmu[11] & if write { 2 } else { 1 } != 0;
            let begin = u64::from(double(fmmu, 0));
            let (from, to) = (ask.0.max(begin), ask.1.min(begin + u64::from(word(fmmu, 4))));
            let here = u64::from(word(fmmu, 8)) + from.saturating_sub(begin);
            (fmmu[12] & 1 != 0 && whole && right && from < to)
                .then(|| ((from - ask.0) as usize, here as u16, (to - from) as usize))
        });
        fmmus.into_iter().flatten()
    }
}
