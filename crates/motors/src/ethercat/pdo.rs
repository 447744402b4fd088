//! Process data: which objects are in a PDO, and their bytes.

use super::coe::{Abort, abort};
use crate::JointReading;
use crate::drives::Cia402;
use crate::drives::cia402_objects::{Rights, find};

/// Entries of a PDO.
pub(super) const ENTRIES_MAX: usize = 16;
/// Index, subindex and bits, as objects 0x1600 and 0x1a00 have them. Index 0 is a gap.
const OUTPUTS: [u32; 7] =
    [0x6040_0010, 0x607a_0020, 0x60ff_0020, 0x6071_0010, 0x60b2_0010, 0x6060_0008, 0x0000_0008];
const INPUTS: [u32; 7] =
    [0x6041_0010, 0x6064_0020, 0x606c_0020, 0x6077_0010, 0x603f_0010, 0x6061_0008, 0x0000_0008];

/// The objects of one direction, in their order.
#[derive(Clone, Debug)]
pub(super) struct Pdo {
    pub(super) is_output: bool,
    entries: [u32; ENTRIES_MAX],
    count: usize,
    /// Whether the SyncManager has it: object 0x1c12 or 0x1c13.
    pub(super) assigned: bool,
}

impl Pdo {
    pub(super) fn new(is_output: bool) -> Self {
        let default = if is_output { OUTPUTS } else { INPUTS };
        let mut entries = [0; ENTRIES_MAX];
        entries[..default.len()].copy_from_slice(&default);
        Self { is_output, entries, count: default.len(), assigned: true }
    }

    fn mapped(&self) -> &[u32] {
        &self.entries[..self.count]
    }

    /// Bytes in the process data.
    pub(super) fn bytes(&self) -> usize {
        let bits: u32 = self.mapped().iter().map(|entry| entry & 0xff).sum();
        if self.assigned { bits as usize / 8 } else { 0 }
    }

    /// The object of the mapping.
    pub(super) fn get(&self, sub: u8) -> Option<u32> {
        match sub {
            0 => Some(self.count as u32),
            n => self.mapped().get(usize::from(n) - 1).copied(),
        }
    }

    /// Changes the mapping: the count to 0, then entries, then their count.
    pub(super) fn set(&mut self, sub: u8, value: u32) -> Result<(), Abort> {
        if sub == 0 {
            if value as usize > ENTRIES_MAX {
                return Err(abort::TOO_LONG);
            }
            let used = &self.entries[..value as usize];
            if !used.iter().all(|entry| self.fits(*entry)) {
                return Err(abort::NOT_MAPPABLE);
            }
            self.count = value as usize;
            return Ok(());
        }
        let fits = self.fits(value);
        let slot = self.entries.get_mut(usize::from(sub) - 1).ok_or(abort::NO_SUBINDEX)?;
        if self.count != 0 {
            return Err(abort::NOT_NOW);
        }
        if !fits {
            return Err(abort::NOT_MAPPABLE);
        }
        *slot = value;
        Ok(())
    }

    fn fits(&self, entry: u32) -> bool {
        let (index, sub, bits) = ((entry >> 16) as u16, (entry >> 8) as u8, entry & 0xff);
        if index == 0 {
            return (8..=64).contains(&bits) && bits.is_multiple_of(8);
        }
        find(index, sub).is_some_and(|object| {
            let rights = object.rights == Rights::Output
                || !self.is_output && object.rights == Rights::Input;
            rights && bits as usize == 8 * object.kind.bytes()
        })
    }

    /// Writes the outputs to the drive. A value that it refuses changes nothing.
    pub(super) fn write(&self, mut bytes: &[u8], drive: &mut Cia402) {
        for entry in self.mapped() {
            let Some((own, rest)) = bytes.split_at_checked((entry & 0xff) as usize / 8) else {
                return;
            };
            if let Some(object) = find((entry >> 16) as u16, (entry >> 8) as u8) {
                let value = object.kind.value(own);
                let _refused = drive.set(object.index, object.sub, value).is_err();
            }
            bytes = rest;
        }
    }

    /// The inputs as the drive has them.
    pub(super) fn read(&self, drive: &Cia402, now: &JointReading) -> Vec<u8> {
        let mut out = Vec::new();
        for entry in self.mapped() {
            let bytes = (entry & 0xff) as usize / 8;
            let value = find((entry >> 16) as u16, (entry >> 8) as u8)
                .map_or(0, |object| drive.get(object.index, object.sub, now));
            out.extend(value.to_le_bytes().into_iter().cycle().take(bytes));
        }
        out
    }
}
