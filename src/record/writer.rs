//! One log file.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use mcap::records::{MessageHeader, Metadata};
use mcap::write::NoSeek;
use mcap::{Attachment, WriteOptions, Writer};

use crate::error::{Error, ErrorKind, Result};
use crate::message::{Kind, encode};
use crate::rt::LogTick;

use super::{
    Disk, KEYFRAME_TOPIC, Keyframe, LogFile, NEXT_EPOCH, NEXT_NOTE, NEXT_SEGMENT, NEXT_TICK,
    ROBOT_ATTACHMENT, RunInfo, SCENARIO_ATTACHMENT, STATE_TOPIC, Storage, TICK_TOPIC,
};

/// A chunk is closed after so many ticks: a killed run loses at most these.
const CHUNK_TICKS: u64 = 10;

/// One log file.
pub struct LogWriter {
    path: PathBuf,
    mcap: Writer<NoSeek<BufWriter<Box<dyn LogFile>>>>,
    file: Box<dyn LogFile>,
    channels: [u16; 3],
    period_ns: u64,
    buffer: Vec<u8>,
    pub(super) open_ticks: u64,
    sequence: u32,
    bytes: u64,
}

impl std::fmt::Debug for LogWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LogWriter").field("path", &self.path).finish_non_exhaustive()
    }
}

impl LogWriter {
    /// Creates the file and writes what a replay needs: version, hashes, robot, scenario.
    ///
    /// # Errors
    /// [`ErrorKind::File`] with the path if it cannot be created or written.
    pub fn create(path: &Path, info: &RunInfo) -> Result<Self> {
        Self::create_on(&Disk, path, info)
    }

    /// [`create`](Self::create) in another place than the file system.
    pub(super) fn create_on(storage: &dyn Storage, path: &Path, info: &RunInfo) -> Result<Self> {
        let failed = |e: &dyn std::error::Error| file_error(path, e);
        let file = storage.create(path).map_err(|e| failed(&e))?;
        let other = file.another().map_err(|e| failed(&e))?;
        // without seeking a chunk is written in one piece, when it is complete
        let options = WriteOptions::new()
            .profile("hardstand")
            .library(concat!("hardstand ", env!("CARGO_PKG_VERSION")))
            .chunk_size(None)
            .disable_seeking(true);
        let mut mcap =
            options.create(NoSeek::new(BufWriter::new(other))).map_err(|e| failed(&e))?;
        let mut channel = |topic: &str, kind: Kind| {
            let schema = mcap.add_schema(kind.schema(), "", b"docs/protocol.md")?;
            mcap.add_channel(schema, topic, "hardstand-bincode", &BTreeMap::new())
        };
        let channels = [
            channel(TICK_TOPIC, Kind::LogTick).map_err(|e| failed(&e))?,
            channel(STATE_TOPIC, Kind::State).map_err(|e| failed(&e))?,
            channel(KEYFRAME_TOPIC, Kind::Keyframe).map_err(|e| failed(&e))?,
        ];
        let metadata = Metadata { name: "hardstand".into(), metadata: info.to_map() };
        mcap.write_metadata(&metadata).map_err(|e| failed(&e))?;
        for (name, media_type, data) in [
            (ROBOT_ATTACHMENT, "application/xml", &info.robot),
            (SCENARIO_ATTACHMENT, "application/toml", &info.scenario),
        ] {
            let attachment = Attachment {
                log_time: 0,
                create_time: 0,
                name: name.into(),
                media_type: media_type.into(),
                data: Cow::Borrowed(data.as_bytes()),
            };
            mcap.attach(&attachment).map_err(|e| failed(&e))?;
        }
        mcap.flush().map_err(|e| failed(&e))?;
        Ok(Self {
            path: path.into(),
            mcap,
            file,
            channels,
            period_ns: info.period_ns,
            buffer: Vec::new(),
            open_ticks: 0,
            sequence: 0,
            bytes: 0,
        })
    }

    /// Writes one tick; closes the chunk every few ticks.
    ///
    /// # Errors
    /// [`ErrorKind::File`] with the path.
    pub fn write(&mut self, tick: &LogTick) -> Result<()> {
        let before_ns = tick.state.time_ns.saturating_sub(self.period_ns);
        if !tick.keyframe.is_empty() {
            let words = tick.keyframe.clone();
            let keyframe = Keyframe { epoch: tick.epoch, tick: tick.tick, words };
            encode(Kind::Keyframe, &keyframe, &mut self.buffer)?;
            self.put(2, before_ns)?;
        }
        encode(Kind::LogTick, tick, &mut self.buffer)?;
        self.put(0, before_ns)?;
        encode(Kind::State, &tick.state, &mut self.buffer)?;
        self.put(1, tick.state.time_ns)?;
        self.open_ticks += 1;
        if self.open_ticks >= CHUNK_TICKS { self.flush() } else { Ok(()) }
    }

    fn put(&mut self, channel: usize, time_ns: u64) -> Result<()> {
        let header = MessageHeader {
            channel_id: self.channels[channel],
            sequence: self.sequence,
            log_time: time_ns,
            publish_time: time_ns,
        };
        self.sequence = self.sequence.wrapping_add(1);
        self.bytes += self.buffer.len() as u64;
        self.mcap
            .write_to_known_channel(&header, &self.buffer)
            .map_err(|e| file_error(&self.path, &e))
    }

    /// Bytes of the messages written so far.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Closes the chunk and gives it to the system.
    ///
    /// # Errors
    /// [`ErrorKind::File`] with the path.
    pub fn flush(&mut self) -> Result<()> {
        self.open_ticks = 0;
        self.mcap.flush().map_err(|e| file_error(&self.path, &e))
    }

    /// Puts everything written so far on the disk, soon.
    pub(super) fn sync(&self) -> Result<()> {
        self.file.sync_soon().map_err(|e| file_error(&self.path, &e))
    }

    /// Notes that the run goes on in the file `next` with `tick` of run `epoch`, then
    /// [`finish`](Self::finish)es.
    ///
    /// # Errors
    /// [`ErrorKind::File`] with the path.
    pub fn finish_before(mut self, next: &Path, epoch: u32, tick: u64) -> Result<()> {
        let name = next.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let metadata = BTreeMap::from([
            (NEXT_SEGMENT.into(), name),
            (NEXT_EPOCH.into(), epoch.to_string()),
            (NEXT_TICK.into(), tick.to_string()),
        ]);
        let note = Metadata { name: NEXT_NOTE.into(), metadata };
        self.mcap.write_metadata(&note).map_err(|e| file_error(&self.path, &e))?;
        self.finish()
    }

    /// Writes index and footer and puts the file on the disk.
    ///
    /// # Errors
    /// [`ErrorKind::File`] with the path.
    pub fn finish(mut self) -> Result<()> {
        self.mcap.finish().map_err(|e| file_error(&self.path, &e))?;
        drop(self.mcap.into_inner());
        self.file.sync().map_err(|e| file_error(&self.path, &e))
    }
}

/// With the cause: mcap's own text does not say that the disk is full.
fn file_error(path: &Path, e: &dyn std::error::Error) -> Error {
    let cause = e.source().map_or_else(String::new, |cause| format!(": {cause}"));
    Error::new(ErrorKind::File, format!("log {}: {e}{cause}", path.display()))
}
