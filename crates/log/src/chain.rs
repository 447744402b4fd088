//! The chain: checksums over every byte of a log and over the files of a recording.
//!
//! A link is a message in a chunk of its own. Its value is the XXH3 of the bytes since the chunk of
//! the link before it (that chunk included) and of that link's value. The first link of a file
//! follows the last one with ticks of the file before. docs/logs.md says what this proves.

use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcap::Writer;
use mcap::records::MessageHeader;
use mcap::write::NoSeek;
use xxhash_rust::xxh3::Xxh3;

use hardstand_error::Result;
use hardstand_protocol::{Kind, LogLink, VERSION, encode};

use crate::envelope;
use crate::writer::file_error;

/// A chunk and its link go to the system in one piece if they fit in here.
const BUFFER_BYTES: usize = 256 << 10;

/// How every link begins, for a search in damaged bytes: the envelope of 33 bytes, and the head.
pub(crate) const SIGNATURE: [u8; 12] =
    [0, 1, 0, 0, 33, 0, 0, 0, b'H', b'S', VERSION, Kind::LogLink.code()];

/// Bytes between two links.
#[derive(Clone)]
pub(crate) struct Stretch(Xxh3);

impl Stretch {
    pub(crate) fn new() -> Self {
        Self(Xxh3::new())
    }

    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The value of the link that ends it. The next stretch begins.
    pub(crate) fn end(&mut self, follows: u64) -> u64 {
        self.0.update(&follows.to_le_bytes());
        let value = self.0.digest();
        self.0.reset();
        value
    }
}

/// The way of a log's bytes to its file.
pub(crate) struct ChainSink<W: Write>(Arc<Mutex<Sink<W>>>);

struct Sink<W: Write> {
    /// None once nothing more may be written.
    out: Option<BufWriter<W>>,
    stretch: Stretch,
}

impl<W: Write> ChainSink<W> {
    pub(crate) fn new(file: W) -> Self {
        let out = Some(BufWriter::with_capacity(BUFFER_BYTES, file));
        Self(Arc::new(Mutex::new(Sink { out, stretch: Stretch::new() })))
    }

    /// The same one.
    pub(crate) fn another(&self) -> Self {
        Self(Arc::clone(&self.0))
    }

    /// Gives everything written so far to the system.
    pub(crate) fn push(&self) -> io::Result<()> {
        self.lock().out.as_mut().map_or_else(|| Err(closed()), BufWriter::flush)
    }

    fn lock(&self) -> MutexGuard<'_, Sink<W>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<W: Write> Write for ChainSink<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut sink = self.lock();
        let Sink { out: Some(out), stretch } = &mut *sink else { return Err(closed()) };
        if let Err(e) = out.write_all(bytes) {
            sink.out = None;
            return Err(e);
        }
        stretch.update(bytes);
        Ok(bytes.len())
    }

    /// Does nothing: a chunk waits for its link, see [`push`](Self::push).
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn closed() -> io::Error {
    io::Error::other("the file is not written to any more")
}

/// Writes the links of a file. When it is dropped, the file gets nothing more: an index after the
/// last link would say that the log is complete.
pub(crate) struct ChainWriter<W: Write> {
    sink: ChainSink<W>,
    channel: u16,
    last: LogLink,
    sequence: u32,
    payload: Vec<u8>,
    message: Vec<u8>,
}

impl<W: Write> ChainWriter<W> {
    /// The chain of a file that goes through `sink` and follows `before`.
    pub(crate) fn new(sink: ChainSink<W>, channel: u16, before: LogLink) -> Self {
        let (payload, message) = (Vec::new(), Vec::new());
        Self { sink, channel, last: before, sequence: 0, payload, message }
    }

    /// The chain of a copy of a file whose first link follows the value `follows`.
    pub(crate) const fn follow(&mut self, follows: u64) {
        self.last.value = follows;
    }

    /// The last link, or the one that the first one follows.
    pub(crate) const fn last(&self) -> LogLink {
        self.last
    }

    /// Closes the chunk and writes its link. Of `link`, run id, tick and end count.
    pub(crate) fn write(
        &mut self,
        mcap: &mut Writer<NoSeek<ChainSink<W>>>,
        link: LogLink,
        time_ns: u64,
        path: &Path,
    ) -> Result<()> {
        mcap.flush().map_err(|e| file_error(path, &e))?;
        let follows = self.last.value;
        let value = self.sink.lock().stretch.end(follows);
        self.last = LogLink { follows, value, ..link };
        encode(Kind::LogLink, &self.last, &mut self.payload)?;
        envelope::wrap(&self.payload, &mut self.message);
        let (channel_id, sequence) = (self.channel, self.sequence);
        self.sequence = sequence.wrapping_add(1);
        let header =
            MessageHeader { channel_id, sequence, log_time: time_ns, publish_time: time_ns };
        let written = mcap.write_to_known_channel(&header, &self.message);
        written.and_then(|()| mcap.flush()).map_err(|e| file_error(path, &e))
    }

    /// Gives everything written so far to the system.
    pub(crate) fn push(&self, path: &Path) -> Result<()> {
        self.sink.push().map_err(|e| file_error(path, &e))
    }

    /// Writes the end of the file: its index is complete.
    pub(crate) fn finish(self, mcap: &mut Writer<NoSeek<ChainSink<W>>>, path: &Path) -> Result<()> {
        mcap.finish().map_err(|e| file_error(path, &e))?;
        self.push(path)
    }
}

impl<W: Write> Drop for ChainWriter<W> {
    fn drop(&mut self) {
        self.sink.lock().out = None;
    }
}
