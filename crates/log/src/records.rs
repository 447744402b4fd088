//! The records of a log, one after another, in bounded memory.

use std::collections::VecDeque;
use std::io::Read;

use mcap::records::Record;
use mcap::sans_io::linear_reader::{LinearReadEvent, LinearReader, LinearReaderOptions};

use hardstand_error::{Error, ErrorKind, Result};

use crate::chunk_parser::{damaged, parse};

/// Largest record that is read: a damaged length must not make the reader ask for more.
const RECORD_BYTES_MAX: usize = 64 << 20;
const READ_BYTES: usize = 256 << 10;

/// Reads records from beginning to end; those of a chunk once all of it is known to be whole.
pub(crate) struct Records {
    source: Box<dyn Read + Send>,
    read_bytes: u64,
    mcap: LinearReader,
    /// Records that are still to be looked at.
    parsed: VecDeque<Record<'static>>,
}

impl Records {
    pub(crate) fn new(source: Box<dyn Read + Send>) -> Self {
        let options = LinearReaderOptions::default()
            .with_emit_chunks(true)
            .with_validate_data_section_crc(true)
            .with_record_length_limit(RECORD_BYTES_MAX);
        let mcap = LinearReader::new_with_options(options);
        Self { source, read_bytes: 0, mcap, parsed: VecDeque::new() }
    }

    /// Bytes read so far.
    pub(crate) const fn read_bytes(&self) -> u64 {
        self.read_bytes
    }

    /// True if the next record is not of the same chunk as the last one.
    pub(crate) fn is_at_border(&self) -> bool {
        self.parsed.is_empty()
    }

    /// The next record; `None` at the end of a complete log.
    ///
    /// # Errors
    /// [`ErrorKind::Log`] with what is wrong; nothing can be read after that.
    pub(crate) fn next(&mut self) -> Result<Option<Record<'static>>> {
        loop {
            if let Some(record) = self.parsed.pop_front() {
                return Ok(Some(record));
            }
            match self.mcap.next_event() {
                None => return Ok(None),
                Some(Ok(LinearReadEvent::ReadRequest(n))) => self.feed(n)?,
                Some(Ok(LinearReadEvent::Record { data, opcode })) => {
                    self.parsed = parse(opcode, data)?;
                }
                Some(Err(e)) => return Err(damaged(&e)),
            }
        }
    }

    fn feed(&mut self, wanted: usize) -> Result<()> {
        let buffer = self.mcap.insert(wanted.clamp(READ_BYTES, RECORD_BYTES_MAX));
        let read = self.source.read(buffer);
        let n = *read.as_ref().unwrap_or(&0);
        self.mcap.notify_read(n);
        self.read_bytes += n as u64;
        read.map(|_| ()).map_err(|e| Error::new(ErrorKind::Log, e.to_string()))
    }
}
