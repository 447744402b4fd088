//! Records of a log, apart: nothing of a chunk is believed before all of it is checked.

use mcap::McapError;
use mcap::records::{ChunkHeader, Record, op};

use hardstand_error::{Error, ErrorKind, Result};

const FOREIGN_CHUNK: &str = "a chunk that no recorder of Hardstand writes";
/// Opcode and length of a record.
pub(crate) const HEAD_BYTES: usize = 1 + 8;
/// Channel, sequence, two times.
const MESSAGE_HEADER_BYTES: usize = 2 + 4 + 8 + 8;

/// A record of the file, or all records of a chunk of it, as their bytes: each is taken apart when
/// it is looked at, for most of a log are messages of channels that its reader does not use.
#[derive(Debug, Default)]
pub(crate) struct Piece {
    bytes: Vec<u8>,
    /// Where the next record begins.
    at: usize,
}

impl Piece {
    /// The next record.
    ///
    /// # Errors
    /// None: [`parse`] has looked at all of them.
    pub(crate) fn next(&mut self) -> Result<Option<Record<'_>>> {
        let mut rest = Entries(&self.bytes[self.at..]);
        let Some((opcode, body)) = rest.next() else { return Ok(None) };
        self.at = self.bytes.len() - rest.0.len();
        mcap::parse_record(opcode, body).map(Some).map_err(|e| damaged(&e))
    }

    /// True if no record is left.
    pub(crate) fn is_over(&self) -> bool {
        self.at == self.bytes.len()
    }

    /// Opcodes and bodies of all records.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (u8, &[u8])> {
        Entries(&self.bytes)
    }
}

/// The records in these bytes, up to one that breaks off.
struct Entries<'a>(&'a [u8]);

impl<'a> Iterator for Entries<'a> {
    type Item = (u8, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let (&[opcode, ref length @ ..], rest) = self.0.split_first_chunk::<HEAD_BYTES>()?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
        let (body, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some((opcode, body))
    }
}

/// The channel of a message.
pub(crate) fn channel_of(body: &[u8]) -> Option<u16> {
    body.first_chunk().map(|channel| u16::from_le_bytes(*channel))
}

/// What a message carries.
pub(crate) fn data_of(body: &[u8]) -> &[u8] {
    body.get(MESSAGE_HEADER_BYTES..).unwrap_or_default()
}

/// A record of the file, or a chunk of it.
pub(crate) fn parse(opcode: u8, body: &[u8]) -> Result<Piece> {
    if opcode == op::ATTACHMENT && !attachment_is_whole(body) {
        return refuse("an attachment that breaks off");
    }
    match mcap::parse_record(opcode, body).map_err(|e| damaged(&e))? {
        Record::Chunk { header, data } => unpack(&header, &data),
        // our writer knows no such records: the opcode is damaged
        Record::Unknown { opcode, .. } => refuse(&format!("a record of unknown kind {opcode}")),
        // a log is read from beginning to end
        Record::MessageIndex(_) | Record::ChunkIndex(_) => Ok(Piece::default()),
        _ => {
            let mut bytes = Vec::with_capacity(HEAD_BYTES + body.len());
            bytes.push(opcode);
            bytes.extend((body.len() as u64).to_le_bytes());
            bytes.extend(body);
            Ok(Piece { bytes, at: 0 })
        }
    }
}

/// Two times, name, kind, length, data, checksum: mcap takes the last for granted.
fn attachment_is_whole(body: &[u8]) -> bool {
    fn after_text(rest: &[u8]) -> Option<&[u8]> {
        let (length, rest) = rest.split_first_chunk::<4>()?;
        rest.get(u32::from_le_bytes(*length) as usize..)
    }
    let rest = body.get(16..).and_then(after_text).and_then(after_text);
    rest.is_some_and(|rest| rest.len() >= 8 + 4)
}

/// The records of a chunk, once all of it is known to be whole.
fn unpack(header: &ChunkHeader, data: &[u8]) -> Result<Piece> {
    let mut entries = Entries(data);
    for (opcode, body) in &mut entries {
        match opcode {
            op::MESSAGE if body.len() >= MESSAGE_HEADER_BYTES => {}
            op::MESSAGE | op::SCHEMA | op::CHANNEL => {
                mcap::parse_record(opcode, body).map_err(|e| damaged(&e))?;
            }
            _ => return refuse(FOREIGN_CHUNK),
        }
    }
    if !entries.0.is_empty() || !header.compression.is_empty() {
        return refuse(FOREIGN_CHUNK);
    }
    let (saved, calculated) = (header.uncompressed_crc, crc32fast::hash(data));
    if saved != 0 && saved != calculated {
        return Err(damaged(&McapError::BadChunkCrc { saved, calculated }));
    }
    Ok(Piece { bytes: data.to_vec(), at: 0 })
}

/// The error of a log that holds `what`.
pub(crate) fn refuse<T>(what: &str) -> Result<T> {
    Err(Error::new(ErrorKind::Log, format!("it is damaged ({what})")))
}

/// What is wrong with a log, in its reader's words.
pub(crate) fn damaged(e: &McapError) -> Error {
    Error::new(ErrorKind::Log, describe(e))
}

fn describe(e: &McapError) -> String {
    match e {
        McapError::UnexpectedEof => "it breaks off (the run was killed, or is still \
                                           being written)"
            .into(),
        McapError::BadMagic => "it is not an MCAP file".into(),
        other => format!("it is damaged ({other})"),
    }
}

#[cfg(test)]
mod tests {
    use mcap::records::op;

    use super::{MESSAGE_HEADER_BYTES, parse};

    fn entry(opcode: u8, body: &[u8]) -> Vec<u8> {
        [&[opcode][..], &(body.len() as u64).to_le_bytes(), body].concat()
    }

    /// The body of a chunk without compression: two times, size, checksum, no name, size, records.
    fn chunk(crc: u32, records: &[u8]) -> Vec<u8> {
        let size = (records.len() as u64).to_le_bytes();
        [&[0; 16][..], &size, &crc.to_le_bytes(), &[0; 4], &size, records].concat()
    }

    /// Also where no checksum tells: a chunk may have none.
    #[test]
    fn of_a_chunk_that_is_not_whole_nothing_is_taken() {
        let message = entry(op::MESSAGE, &[0; MESSAGE_HEADER_BYTES + 1]);
        let parsed = |crc, records: &[u8]| parse(op::CHUNK, &chunk(crc, records));
        for crc in [0, crc32fast::hash(&message)] {
            assert_eq!(parsed(crc, &message).map(|piece| piece.entries().count()), Ok(1));
        }
        let short = entry(op::MESSAGE, &[0; MESSAGE_HEADER_BYTES - 1]);
        let foreign = entry(op::METADATA, &[]);
        for more in [&[0][..], &message[..message.len() - 1], &short, &foreign] {
            assert!(parsed(0, &[&message, more].concat()).is_err(), "{more:?}");
        }
        assert!(parsed(1, &message).is_err(), "a wrong checksum");
        assert!(parse(0x7f, &[]).is_err(), "an unknown record");
    }
}
