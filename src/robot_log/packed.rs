//! Chunks of MCAP files that are packed with LZ4 or Zstandard.

use std::borrow::Cow;
use std::io::Read;

use mcap::records::{Record, op};

use super::BYTES_MAX;

/// Length of the file's first and last bytes, which name the format.
const MAGIC: usize = mcap::MAGIC.len();
/// Kind and length of a record.
const HEAD: usize = 9;

/// The file with unpacked chunks and without attachments, which the reader of the messages takes
/// for whole. Its indexes then point to wrong places. What is no MCAP file is returned as it is:
/// that reader says why.
pub(super) fn unpacked(file: &[u8]) -> Result<Cow<'_, [u8]>, String> {
    let mut out = file.get(..MAGIC).unwrap_or(file).to_vec();
    let mut rest = file.get(MAGIC..).unwrap_or_default();
    let mut changed = false;
    while let Some((kind, body)) = record(rest) {
        let whole = &rest[..HEAD + body.len()];
        match (kind == op::CHUNK).then(|| mcap::read::parse_record(kind, body)) {
            Some(Ok(Record::Chunk { header, data })) if header.compression.is_empty() => {
                check_records(&data)?;
                out.extend(whole);
            }
            Some(Ok(Record::Chunk { header, data })) => {
                changed = true;
                let left = BYTES_MAX.saturating_sub(out.len() as u64);
                let plain = unpack(&header.compression, &data, header.uncompressed_size, left)?;
                check_records(&plain)?;
                let numbers = body.get(..28).unwrap_or_default(); // times, size, checksum
                out.push(op::CHUNK);
                out.extend((28 + 4 + 8 + plain.len() as u64).to_le_bytes());
                out.extend(numbers);
                out.extend(0_u32.to_le_bytes()); // not packed
                out.extend((plain.len() as u64).to_le_bytes());
                out.extend(plain);
            }
            Some(Err(e)) => return Err(format!("a chunk: {e}")),
            None if kind == op::ATTACHMENT => changed = true,
            _ => out.extend(whole),
        }
        rest = &rest[whole.len()..];
    }
    // its records could not be checked, and would be read before its end is missed
    if rest.first() == Some(&op::CHUNK) {
        return Err("a chunk is cut off".into());
    }
    out.extend(rest);
    Ok(if changed { Cow::Owned(out) } else { Cow::Borrowed(file) })
}

/// Refuses a chunk with records that are longer than it is, or do not belong into one: the reader
/// of the messages believes them.
fn check_records(mut rest: &[u8]) -> Result<(), String> {
    while !rest.is_empty() {
        let Some((kind, body)) = record(rest) else {
            return Err(format!("a chunk: its last {} bytes are no record", rest.len()));
        };
        if kind == op::ATTACHMENT {
            return Err("a chunk with an attachment".into());
        }
        rest = &rest[HEAD + body.len()..];
    }
    Ok(())
}

/// Kind and body of the first record.
fn record(bytes: &[u8]) -> Option<(u8, &[u8])> {
    let (head, rest) = bytes.split_at_checked(HEAD)?;
    let length = u64::from_le_bytes(head[1..].try_into().ok()?);
    Some((head[0], rest.get(..usize::try_from(length).ok()?)?))
}

fn unpack(how: &str, data: &[u8], size: u64, left: u64) -> Result<Vec<u8>, String> {
    if size > left {
        return Err(format!("a chunk of {size} bytes; at most {BYTES_MAX} in all"));
    }
    let failed = |e: &dyn std::fmt::Display| format!("a chunk packed with {how}: {e}");
    let mut reader: Box<dyn Read + '_> = match how {
        "lz4" => Box::new(lz4_flex::frame::FrameDecoder::new(data)),
        "zstd" => Box::new(ruzstd::decoding::StreamingDecoder::new(data).map_err(|e| failed(&e))?),
        _ => return Err(failed(&"unknown; lz4, zstd and chunks that are not packed are read")),
    };
    let mut out = Vec::new();
    // one more than it should have, to notice that
    reader.by_ref().take(size + 1).read_to_end(&mut out).map_err(|e| failed(&e))?;
    if out.len() as u64 == size {
        return Ok(out);
    }
    let relation = if out.len() as u64 > size { "more" } else { "fewer" };
    Err(failed(&format!("{relation} than the {size} bytes that it names")))
}
