//! Datagrams in an EtherCAT frame, and how a slave takes part in one.

use super::{double, word};

/// Bytes before the data, and the working counter after them.
const HEADER: usize = 10;
const COUNTER: usize = 2;
/// Ethernet header and EtherCAT header.
const FRAME_HEADER: usize = 14 + 2;

/// Where in a frame a datagram is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    begin: usize,
    length: usize,
}

/// What a slave does with the memory that a datagram addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
    Both,
}

/// Whom a datagram addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// The slave that finds 0; each one adds 1.
    Position(u16),
    /// The slave with this address.
    Station(u16),
    /// All; what they read is combined by OR, and each one adds 1 to the address.
    All,
    /// Logical memory from this address on.
    Logical(u32),
    /// The slave that finds 0 reads, the others write; each one adds 1.
    ReadByPosition(u16),
    /// The slave with this address reads, the others write.
    ReadByStation(u16),
}

/// The datagrams of a frame; `None` if its lengths do not fit.
pub(super) fn places(frame: &[u8]) -> Option<Vec<Place>> {
    let header = word(frame.get(..FRAME_HEADER)?, FRAME_HEADER - 2);
    let end = FRAME_HEADER + usize::from(header & 0x7ff);
    if header >> 12 != 1 || end > frame.len() {
        return None;
    }
    let (mut found, mut begin) = (Vec::new(), FRAME_HEADER);
    loop {
        let field = word(frame.get(begin..begin + HEADER)?, 6);
        let length = usize::from(field & 0x7ff);
        let next = begin + HEADER + length + COUNTER;
        if next > end {
            return None;
        }
        found.push(Place { begin, length });
        if field & 0x8000 == 0 {
            return Some(found);
        }
        begin = next;
    }
}

/// One datagram, open for a slave.
#[derive(Debug)]
pub(super) struct Datagram<'a> {
    header: &'a mut [u8],
    pub(super) data: &'a mut [u8],
    counter: &'a mut [u8],
}

impl<'a> Datagram<'a> {
    /// The datagram at a place that [`places`] has found in this frame.
    pub(super) fn at(frame: &'a mut [u8], place: Place) -> Option<Self> {
        let bytes = frame.get_mut(place.begin..)?;
        let (header, rest) = bytes.split_at_mut_checked(HEADER)?;
        let (data, rest) = rest.split_at_mut_checked(place.length)?;
        let (counter, _) = rest.split_at_mut_checked(COUNTER)?;
        Some(Self { header, data, counter })
    }

    /// Whom it addresses, for what; `None` for no operation and unknown commands.
    pub(super) fn request(&self) -> Option<(Target, Access)> {
        let (command, address) = (self.header[0], word(self.header, 2));
        let access = match command {
            1 | 4 | 7 | 10 => Access::Read,
            2 | 5 | 8 | 11 => Access::Write,
            _ => Access::Both,
        };
        let target = match command {
            1..=3 => Target::Position(address),
            4..=6 => Target::Station(address),
            7..=9 => Target::All,
            10..=12 => Target::Logical(double(self.header, 2)),
            13 => Target::ReadByPosition(address),
            14 => Target::ReadByStation(address),
            _ => return None,
        };
        Some((target, access))
    }

    /// The address in a slave's memory.
    pub(super) fn offset(&self) -> u16 {
        word(self.header, 4)
    }

    /// The slave has been passed: what counts slaves is one more.
    pub(super) fn pass(&mut self) {
        if matches!(self.header[0], 1..=3 | 7..=9 | 13) {
            let next = word(self.header, 2).wrapping_add(1);
            self.header[2..4].copy_from_slice(&next.to_le_bytes());
        }
    }

    /// Adds to the working counter.
    pub(super) fn count(&mut self, more: u16) {
        let next = word(self.counter, 0).wrapping_add(more);
        self.counter.copy_from_slice(&next.to_le_bytes());
    }
}
