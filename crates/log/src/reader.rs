//! Reads logs, also damaged ones, in bounded memory.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use mcap::records::Record;
use serde::de::DeserializeOwned;

use hardstand_error::{Error, ErrorKind, Result, open_regular};
use hardstand_protocol::limits::TICK_MAX;
use hardstand_protocol::{Keyframe, Kind, LogLink, LogTick, StateReading, VERSION, decode};

use crate::chain_reader::ChainReader;
use crate::chunk_parser::refuse;
use crate::envelope;
use crate::records::{Records, Source};
use crate::verify::LogFault;
use crate::{
    KEYFRAME_TOPIC, NEXT_NOTE, NEXT_RUN_ID, NEXT_SEGMENT, NEXT_TICK, NextSegment, RunInfo,
    STATE_TOPIC, TICK_TOPIC,
};

/// One record of a log.
#[derive(Clone, Debug, PartialEq)]
pub enum LogRecord {
    /// What was applied in a tick.
    Tick(Box<LogTick>),
    /// State after a tick.
    State(Box<StateReading>),
    /// Complete state before a tick.
    Keyframe(Keyframe),
}

/// Reads a log from beginning to end.
pub struct LogReader {
    path: PathBuf,
    bytes: u64,
    records: Records,
    contents: Contents,
    pending: Option<LogRecord>,
    damage: Option<String>,
    done: bool,
}

/// A channel of the log's own.
#[derive(Clone, Copy)]
enum Own {
    Tick,
    State,
    Keyframe,
}

/// What the records have said so far.
#[derive(Default)]
struct Contents {
    info: RunInfo,
    channels: BTreeMap<u16, Own>,
    next_segment: Option<NextSegment>,
    keyframe_tick: Option<u64>,
    next_tick: Option<u64>,
    /// Version of the payloads, if this crate does not read it.
    other_version: Option<u8>,
}

impl std::fmt::Debug for LogReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LogReader").field("path", &self.path).finish_non_exhaustive()
    }
}

impl LogReader {
    /// Opens a log and reads up to its first record.
    ///
    /// # Errors
    /// [`ErrorKind::File`] if it cannot be opened; [`ErrorKind::Log`] if it is not a Hardstand log
    /// or breaks off before robot and scenario.
    pub fn open(path: &Path) -> Result<Self> {
        Self::begin(path)?.checked()
    }

    /// The same from memory; `path` is its name in errors.
    ///
    /// # Errors
    /// [`ErrorKind::Log`], as [`open`](Self::open).
    pub fn from_bytes(path: &Path, bytes: Vec<u8>) -> Result<Self> {
        let size = bytes.len() as u64;
        Self::new(path, Box::new(std::io::Cursor::new(bytes)), size).checked()
    }

    /// [`open`](Self::open) of a file that may be damaged before robot and scenario.
    pub(crate) fn begin(path: &Path) -> Result<Self> {
        let failed =
            |e: std::io::Error| Error::new(ErrorKind::File, format!("log {}: {e}", path.display()));
        let file = open_regular(path).map_err(failed)?;
        let bytes = file.metadata().map_err(failed)?.len();
        Ok(Self::new(path, Box::new(file), bytes))
    }

    fn new(path: &Path, source: Box<dyn Source>, bytes: u64) -> Self {
        let mut reader = Self {
            path: path.into(),
            bytes,
            records: Records::new(source),
            contents: Contents::default(),
            pending: None,
            damage: None,
            done: false,
        };
        reader.pending = reader.advance();
        reader
    }

    /// Refuses what cannot be replayed.
    pub(crate) fn checked(self) -> Result<Self> {
        let path = self.path.display();
        if let Some(found) = self.contents.other_version {
            let text = format!(
                "{path} is a log of version {found}; this version of Hardstand reads logs of \
                 version {VERSION}"
            );
            return Err(Error::new(ErrorKind::Log, text));
        }
        if self.info().robot.is_empty() || self.info().scenario.is_empty() {
            let why = self.damage.as_deref().unwrap_or("it holds no robot and no scenario");
            let text = format!("{path} is not a log that can be replayed: {why}");
            return Err(Error::new(ErrorKind::Log, text));
        }
        Ok(self)
    }

    /// Its file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the log says about its run.
    #[must_use]
    pub const fn info(&self) -> &RunInfo {
        &self.contents.info
    }

    /// Size of the file and how much of it has been read, bytes.
    #[must_use]
    pub const fn progress(&self) -> (u64, u64) {
        (self.records.read_bytes(), self.bytes)
    }

    /// Why reading ended before the end of a complete log, if it did.
    #[must_use]
    pub fn damage(&self) -> Option<&str> {
        self.damage.as_deref()
    }

    /// Where and how reading ended before the end of a complete log, if it did: what
    /// [`damage`](Self::damage) says in words.
    #[must_use]
    pub fn fault(&self) -> Option<LogFault> {
        let why = self.damage.clone()?;
        let (from_byte, to_byte, is_broken) = match self.records.fault() {
            Some(fault) => (fault.from_byte, fault.to_byte, fault.is_broken),
            // every checksum is right: what the records say is wrong
            None => {
                let at = self.records.chain().map_or(self.progress().0, ChainReader::at);
                (self.records.chain().map_or(0, ChainReader::covered_bytes).min(at), at, true)
            }
        };
        let end = self.last_link().map_or((self.info().run_id, 0), |link| (link.run_id, link.tick));
        let (file, (run_id, tick)) = (self.path.clone(), end);
        Some(LogFault { is_broken, file, from_byte, to_byte, run_id, tick, why })
    }

    /// True if the log has a chain: the checksums of all its bytes.
    #[must_use]
    pub fn has_chain(&self) -> bool {
        self.records.chain().is_some()
    }

    /// True if there are links in a file that cannot be read.
    pub(crate) fn has_links(&self) -> bool {
        self.first_link().is_some() || self.records.fault().is_some_and(|fault| fault.has_links)
    }

    pub(crate) fn first_link(&self) -> Option<LogLink> {
        self.records.chain()?.ends().0
    }

    pub(crate) fn last_link(&self) -> Option<LogLink> {
        self.records.chain()?.ends().1
    }

    /// Number of links that have been checked.
    pub(crate) fn links(&self) -> u64 {
        self.records.chain().map_or(0, ChainReader::links)
    }

    /// The file in which the run goes on, once the end has been read.
    #[must_use]
    pub const fn next_segment(&self) -> Option<&NextSegment> {
        self.contents.next_segment.as_ref()
    }

    /// The next record; `None` at the end of the log or of its undamaged part, see
    /// [`damage`](Self::damage).
    pub fn next_record(&mut self) -> Option<LogRecord> {
        self.pending.take().or_else(|| self.advance())
    }

    fn advance(&mut self) -> Option<LogRecord> {
        while !self.done {
            let record = match self.records.next() {
                Ok(Some(record)) => record,
                Ok(None) => break,
                Err(e) => {
                    self.stop(e.to_string());
                    break;
                }
            };
            match self.contents.take(record) {
                Ok(Some(found)) => return Some(found),
                Ok(None) => {}
                Err(e) => self.stop(e.to_string()),
            }
        }
        self.done = true;
        let last = self.last_link();
        if let Some(next) = &mut self.contents.next_segment {
            next.follows = last.map(|link| link.follows);
        }
        None
    }

    fn stop(&mut self, why: String) {
        self.done = true;
        self.damage.get_or_insert(why);
    }
}

impl Contents {
    fn take(&mut self, record: Record<'_>) -> Result<Option<LogRecord>> {
        match record {
            Record::Metadata(ref m) if m.name == NEXT_NOTE => {
                let text = |key: &str| m.metadata.get(key).cloned().unwrap_or_default();
                let first_tick = text(NEXT_TICK).parse().unwrap_or_default();
                let run_id = text(NEXT_RUN_ID).parse().unwrap_or(self.info.run_id);
                let file = text(NEXT_SEGMENT);
                self.next_segment = Some(NextSegment { file, run_id, first_tick, follows: None });
            }
            Record::Metadata(_) | Record::Attachment { .. } => self.info.take(&record),
            Record::Channel(c) => {
                let own = match c.topic.as_str() {
                    TICK_TOPIC => Own::Tick,
                    STATE_TOPIC => Own::State,
                    KEYFRAME_TOPIC => Own::Keyframe,
                    _ => return Ok(None),
                };
                self.channels.insert(c.id, own);
            }
            Record::Message { header, data } => {
                return self.message(header.channel_id, &data);
            }
            _ => {}
        }
        Ok(None)
    }

    fn message(&mut self, channel: u16, data: &[u8]) -> Result<Option<LogRecord>> {
        let record = match self.channels.get(&channel) {
            None => return Ok(None),
            Some(Own::Tick) => LogRecord::Tick(Box::new(self.decode(Kind::LogTick, data)?)),
            Some(Own::State) => LogRecord::State(Box::new(self.decode(Kind::State, data)?)),
            Some(Own::Keyframe) => LogRecord::Keyframe(self.decode(Kind::Keyframe, data)?),
        };
        self.check_order(&record)?;
        Ok(Some(record))
    }

    /// The reader skips a chunk whose type is damaged without an error: then ticks are missing.
    fn check_order(&mut self, record: &LogRecord) -> Result<()> {
        let tick = match record {
            LogRecord::Keyframe(keyframe) => keyframe.tick,
            LogRecord::Tick(tick) => tick.tick,
            LogRecord::State(state) => state.tick,
        };
        if tick >= TICK_MAX {
            return refuse(&format!("tick {tick} is not below {TICK_MAX}"));
        }
        match (record, self.next_tick) {
            (LogRecord::Keyframe(keyframe), _) => self.keyframe_tick = Some(keyframe.tick),
            (LogRecord::Tick(tick), None) if self.keyframe_tick != Some(tick.tick) => {
                return refuse(&format!("its first tick, {}, has no keyframe", tick.tick));
            }
            (LogRecord::Tick(tick), Some(expected)) if tick.tick != expected => {
                return refuse(&format!("tick {} follows, not {expected}", tick.tick));
            }
            (LogRecord::Tick(tick), _) => self.next_tick = Some(tick.tick + 1),
            (LogRecord::State(_), _) => {}
        }
        Ok(())
    }

    fn decode<T: DeserializeOwned>(&mut self, kind: Kind, data: &[u8]) -> Result<T> {
        let payload = envelope::unwrap(data);
        if let Some(&[b'H', b'S', version, _]) = payload.first_chunk()
            && version != VERSION
        {
            self.other_version = Some(version);
            return refuse(&format!("a message of version {version}, not {VERSION}"));
        }
        decode(kind, payload)
    }
}
