//! Chunks of a log: nothing of one is believed before all of it is checked.

use std::collections::VecDeque;

use mcap::read::ChunkReader;
use mcap::records::{ChunkHeader, Record};

use crate::error::{Error, ErrorKind, Result};

/// The records of a chunk, once all of it is known to be whole.
pub(super) fn unpack(header: ChunkHeader, data: &[u8]) -> Result<VecDeque<Record<'static>>> {
    // mcap's reader trusts these lengths
    let mut rest = data;
    while let Some((length, after)) = rest.get(1..).and_then(<[u8]>::split_first_chunk::<8>) {
        let length = usize::try_from(u64::from_le_bytes(*length)).ok();
        let Some(after) = length.and_then(|n| after.get(n..)) else { break };
        rest = after;
    }
    if !rest.is_empty() || !header.compression.is_empty() {
        return Err(Error::new(
            ErrorKind::Log,
            "it is damaged (a chunk that no recorder of Hardstand writes)",
        ));
    }
    let records = ChunkReader::new(header, data).map_err(|e| damaged(&e))?;
    let owned = records.map(|r| r.map(Record::into_owned));
    owned.collect::<mcap::McapResult<_>>().map_err(|e| damaged(&e))
}

/// What is wrong with a log, in its reader's words.
pub(super) fn damaged(e: &mcap::McapError) -> Error {
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
