//! The records of a log, one after another, in bounded memory.

use std::collections::VecDeque;
use std::io::{Read, Seek, SeekFrom};

use mcap::McapError;
use mcap::records::Record;
use mcap::sans_io::linear_reader::{LinearReadEvent, LinearReader, LinearReaderOptions};

use hardstand_error::{Error, ErrorKind, Result};

use crate::chain_reader::{ChainReader, Rest};
use crate::chunk_parser::{Piece, damaged, parse};

/// Largest record that is read: a damaged length must not make the reader ask for more.
const RECORD_BYTES_MAX: usize = 64 << 20;
const READ_BYTES: usize = 256 << 10;
/// Length of the records at the end of a file whose checksums mcap compares.
const END_RECORD_BYTES_MAX: u64 = 20;

/// Where a log is: a file, or memory.
pub(crate) trait Source: Read + Seek + Send {}

impl Source for std::fs::File {}
impl Source for std::io::Cursor<Vec<u8>> {}

/// Reads records from beginning to end; those of a chunk once all of it is known to be whole, and,
/// in a file with a chain, once a link covers it.
pub(crate) struct Records {
    source: Box<dyn Source>,
    read_bytes: u64,
    mcap: LinearReader,
    /// None if the chain is not looked at.
    chain: Option<ChainReader>,
    /// What is being looked at.
    piece: Piece,
    /// What comes after it.
    ready: VecDeque<Piece>,
    fault: Option<Fault>,
}

/// Where and how reading ended before the end of a complete log.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fault {
    /// The file goes on after the damage: it is not cut off.
    pub(crate) is_broken: bool,
    /// The file holds links.
    pub(crate) has_links: bool,
    /// The damage is not before this byte.
    pub(crate) from_byte: u64,
    /// The damage begins before this byte.
    pub(crate) to_byte: u64,
}

impl Records {
    /// Checks the chain, if the file has one.
    pub(crate) fn new(source: Box<dyn Source>) -> Self {
        Self { chain: Some(ChainReader::new()), ..Self::unchecked(source) }
    }

    /// Without a look at the chain: what a file says about its run, however it ends.
    pub(crate) fn unchecked(source: Box<dyn Source>) -> Self {
        let options = LinearReaderOptions::default()
            .with_emit_chunks(true)
            .with_validate_data_section_crc(true)
            .with_validate_summary_section_crc(true)
            .with_check_finishes_after_end_magic(true)
            .with_record_length_limit(RECORD_BYTES_MAX);
        let mcap = LinearReader::new_with_options(options);
        let (piece, ready) = (Piece::default(), VecDeque::new());
        Self { source, read_bytes: 0, mcap, chain: None, piece, ready, fault: None }
    }

    /// Bytes read so far.
    pub(crate) const fn read_bytes(&self) -> u64 {
        self.read_bytes
    }

    /// The chain; `None` if the file has none.
    pub(crate) fn chain(&self) -> Option<&ChainReader> {
        self.chain.as_ref().filter(|chain| chain.is_declared())
    }

    /// Where and how reading ended, if an error ended it.
    pub(crate) const fn fault(&self) -> Option<Fault> {
        self.fault
    }

    /// True if the next record is not of the same chunk as the last one.
    pub(crate) fn is_at_border(&self) -> bool {
        self.piece.is_over()
    }

    /// The next record; `None` at the end of a complete log.
    ///
    /// # Errors
    /// [`ErrorKind::Log`] with what is wrong; nothing can be read after that.
    pub(crate) fn next(&mut self) -> Result<Option<Record<'_>>> {
        while self.piece.is_over() {
            match self.ready.pop_front() {
                Some(piece) => self.piece = piece,
                None if !self.read()? => break,
                None => {}
            }
        }
        self.piece.next()
    }

    /// Reads on by a record of the file, or a part of one; false at its end.
    fn read(&mut self) -> Result<bool> {
        match self.mcap.next_event() {
            None => return Ok(false),
            Some(Ok(LinearReadEvent::ReadRequest(n))) => self.feed(n)?,
            Some(Ok(LinearReadEvent::Record { data, opcode })) => {
                let length = data.len() as u64;
                let taken = parse(opcode, data).and_then(|piece| match &mut self.chain {
                    Some(chain) => chain.take(opcode, data, piece, &mut self.ready),
                    None => {
                        self.ready.push_back(piece);
                        Ok(())
                    }
                });
                if let Err(e) = taken {
                    self.note_fault(false, length);
                    return Err(e);
                }
            }
            Some(Err(e)) => {
                self.note_fault(matches!(e, McapError::UnexpectedEof), END_RECORD_BYTES_MAX);
                return Err(damaged(&e));
            }
        }
        Ok(true)
    }

    /// The record at hand, of `length` bytes as far as that is known, cannot be read.
    fn note_fault(&mut self, is_cut: bool, length: u64) {
        let Some(chain) = &self.chain else { return };
        let bytes = if is_cut {
            // a log that is being recorded has grown meanwhile
            self.read_bytes
        } else {
            self.source.seek(SeekFrom::End(0)).unwrap_or(self.read_bytes)
        };
        // a file that cannot be read any more is not cut off
        let unread = Rest { has_link: true, was_ended: true };
        let rest = chain.rest(&mut self.source, bytes).unwrap_or(unread);
        let is_end_damaged = chain.is_closed() && !is_cut;
        let is_unchained = !chain.is_declared() && !is_cut;
        let to_byte = if is_cut { bytes } else { (chain.at() + 9 + length).min(bytes) };
        self.fault = Some(Fault {
            is_broken: rest.has_link || rest.was_ended || is_end_damaged || is_unchained,
            has_links: rest.has_link || chain.links() > 0,
            from_byte: chain.covered_bytes(),
            to_byte: to_byte.max(chain.covered_bytes()),
        });
    }

    fn feed(&mut self, wanted: usize) -> Result<()> {
        let buffer = self.mcap.insert(wanted.clamp(READ_BYTES, RECORD_BYTES_MAX));
        let read = self.source.read(buffer);
        let n = *read.as_ref().unwrap_or(&0);
        self.mcap.notify_read(n);
        self.read_bytes += n as u64;
        read.map(|_| ()).map_err(|e| {
            self.note_fault(false, 0);
            Error::new(ErrorKind::Log, e.to_string())
        })
    }
}
