//! Records of a log, apart: nothing of a chunk is believed before all of it is checked.

use std::collections::VecDeque;

use mcap::read::ChunkReader;
use mcap::records::{ChunkHeader, Record, op};

use hardstand_error::{Error, ErrorKind, Result};

/// A record of the file, or all records of a chunk of it.
pub(crate) fn parse(opcode: u8, body: &[u8]) -> Result<VecDeque<Record<'static>>> {
    if opcode == op::ATTACHMENT && !attachment_is_whole(body) {
        return refuse("an attachment that breaks off");
    }
    match mcap::parse_record(opcode, body).map_err(|e| damaged(&e))? {
        Record::Chunk { header, data } => unpack(header, &data),
        record => Ok(VecDeque::from([record.into_owned()])),
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
fn unpack(header: ChunkHeader, data: &[u8]) -> Result<VecDeque<Record<'static>>> {
    // mcap's reader trusts these lengths
    let mut rest = data;
    while let Some((&[opcode, ref length @ ..], after)) = rest.split_first_chunk::<9>() {
        let length = usize::try_from(u64::from_le_bytes(*length)).ok();
        let Some(after) = length.and_then(|n| after.get(n..)) else { break };
        if !matches!(opcode, op::SCHEMA | op::CHANNEL | op::MESSAGE) {
            break;
        }
        rest = after;
    }
    if !rest.is_empty() || !header.compression.is_empty() {
        return refuse("a chunk that no recorder of Hardstand writes");
    }
    let records = ChunkReader::new(header, data).map_err(|e| damaged(&e))?;
    let owned = records.map(|r| r.map(Record::into_owned));
    owned.collect::<mcap::McapResult<_>>().map_err(|e| damaged(&e))
}

/// The error of a log that holds `what`.
pub(crate) fn refuse<T>(what: &str) -> Result<T> {
    Err(Error::new(ErrorKind::Log, format!("it is damaged ({what})")))
}

/// What is wrong with a log, in its reader's words.
pub(crate) fn damaged(e: &mcap::McapError) -> Error {
    Error::new(ErrorKind::Log, describe(e))
}

fn describe(e: &mcap::McapError) -> String {
    match e {
        mcap::McapError::UnexpectedEof => "it breaks off (the run was killed, or is still \
                                           being written)"
            .into(),
        mcap::McapError::BadMagic => "it is not an MCAP file".into(),
        other => format!("it is damaged ({other})"),
    }
}
