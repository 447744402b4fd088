//! One log file.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use mcap::records::{MessageHeader, Metadata};
use mcap::write::NoSeek;
use mcap::{Attachment, McapResult, WriteOptions, Writer};

use hardstand_error::{Error, ErrorKind, Result};
use hardstand_protocol::{Keyframe, Kind, LogLink, LogTick, encode};

use crate::chain::{ChainSink, ChainWriter};
use crate::envelope::{self, ENCODING, SCHEMA, SCHEMA_ENCODING};
use crate::{
    CHAIN_TOPIC, KEYFRAME_TOPIC, LogFile, NEXT_NOTE, NEXT_RUN_ID, NEXT_SEGMENT, NEXT_TICK,
    ROBOT_ATTACHMENT, RunInfo, SCENARIO_ATTACHMENT, STATE_TOPIC, SideChannel, SideMessages,
    TICK_TOPIC, TickId,
};

/// A chunk is closed after so many ticks: a killed run loses at most these.
const CHUNK_TICKS: u64 = 10;

type McapFile = Writer<NoSeek<ChainSink<Box<dyn LogFile>>>>;

/// One log file.
pub struct LogWriter {
    /// Dropped before `out`, which would write an index after the last link.
    chain: ChainWriter<Box<dyn LogFile>>,
    out: Out,
    file: Box<dyn LogFile>,
    own: OwnChannels,
    side: Vec<SideOut>,
    /// The side channels' first messages are written.
    begun: bool,
    period_ns: u64,
    payload: Vec<u8>,
    message: Vec<u8>,
    pub(crate) open_ticks: u64,
    /// The state after the last tick, and its simulated time, ns.
    end: (TickId, u64),
}

impl std::fmt::Debug for LogWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LogWriter").field("path", &self.out.path).finish_non_exhaustive()
    }
}

/// Numbers of the log's own channels.
#[derive(Clone, Copy)]
struct OwnChannels {
    tick: u16,
    state: u16,
    keyframe: u16,
    chain: u16,
}

/// A side channel in this file.
struct SideOut {
    id: u16,
    first: Option<Vec<u8>>,
}

/// Where messages go.
struct Out {
    path: PathBuf,
    mcap: McapFile,
    sequence: u32,
    bytes: u64,
}

impl Out {
    fn put(&mut self, channel_id: u16, time_ns: u64, data: &[u8]) -> Result<()> {
        let header = MessageHeader {
            channel_id,
            sequence: self.sequence,
            log_time: time_ns,
            publish_time: time_ns,
        };
        self.sequence = self.sequence.wrapping_add(1);
        self.bytes += data.len() as u64;
        self.mcap.write_to_known_channel(&header, data).map_err(|e| file_error(&self.path, &e))
    }
}

impl LogWriter {
    /// Creates a log in one file, in place of an earlier one, with what a replay needs: version,
    /// hashes, robot, scenario. The file gets the side `channels`, too. It is not locked.
    ///
    /// # Errors
    /// [`ErrorKind::File`] with the path if it cannot be created or written.
    #[cfg(unix)]
    pub fn create(path: &Path, info: &RunInfo, channels: &[SideChannel]) -> Result<Self> {
        let file = crate::Storage::replace(&mut crate::Disk::default(), path)?;
        Self::begin(file, path, info, channels, LogLink::default())
    }

    /// [`create`](Self::create) in a new `file`, whose chain goes on after the link `before`.
    pub(crate) fn begin(
        file: Box<dyn LogFile>,
        path: &Path,
        info: &RunInfo,
        channels: &[SideChannel],
        before: LogLink,
    ) -> Result<Self> {
        let failed = |e: &dyn std::error::Error| file_error(path, e);
        let other = file.another().map_err(|e| failed(&e))?;
        let sink = ChainSink::new(other);
        let mut mcap = options().create(NoSeek::new(sink.another())).map_err(|e| failed(&e))?;
        let own = add_own_channels(&mut mcap).map_err(|e| failed(&e))?;
        let side = channels.iter().map(|c| add_side_channel(&mut mcap, c));
        let side = side.collect::<McapResult<_>>().map_err(|e| failed(&e))?;
        write_header(&mut mcap, info).map_err(|e| failed(&e))?;
        let mut chain = ChainWriter::new(sink, own.chain, before);
        let first = LogLink { run_id: info.run_id, tick: before.tick, ..LogLink::default() };
        chain.write(&mut mcap, first, 0, path)?;
        chain.push(path)?;
        Ok(Self {
            chain,
            out: Out { path: path.into(), mcap, sequence: 0, bytes: 0 },
            file,
            own,
            side,
            begun: false,
            period_ns: info.period_ns,
            payload: Vec::new(),
            message: Vec::new(),
            open_ticks: 0,
            end: (TickId { run_id: info.run_id, tick: before.tick }, 0),
        })
    }

    /// Writes one tick and its side messages; closes the chunk every few ticks.
    ///
    /// # Errors
    /// [`ErrorKind::File`] with the path; [`ErrorKind::Internal`] if there is no such side channel.
    pub fn write(&mut self, tick: &LogTick, messages: &SideMessages) -> Result<()> {
        let before_ns = tick.state.time_ns.saturating_sub(self.period_ns);
        if !tick.keyframe.is_empty() {
            let words = tick.keyframe.clone();
            let keyframe = Keyframe { run_id: tick.run_id, tick: tick.tick, words };
            encode(Kind::Keyframe, &keyframe, &mut self.payload)?;
            self.put(self.own.keyframe, before_ns)?;
        }
        encode(Kind::LogTick, tick, &mut self.payload)?;
        self.put(self.own.tick, before_ns)?;
        encode(Kind::State, &tick.state, &mut self.payload)?;
        self.put(self.own.state, tick.state.time_ns)?;
        if !std::mem::replace(&mut self.begun, true) {
            for side in &self.side {
                if let Some(first) = &side.first {
                    self.out.put(side.id, before_ns, first)?;
                }
            }
        }
        self.write_beside(messages)?;
        let after = TickId { run_id: tick.run_id, tick: tick.tick.wrapping_add(1) };
        self.end = (after, tick.state.time_ns);
        self.open_ticks += 1;
        if self.open_ticks >= CHUNK_TICKS { self.flush() } else { Ok(()) }
    }

    /// Writes side messages alone.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub fn write_beside(&mut self, messages: &SideMessages) -> Result<()> {
        for (channel, time_ns, message) in messages.iter() {
            let Some(side) = self.side.get(channel) else {
                let text = format!("a message of side channel {channel}, which the log has not");
                return Err(Error::new(ErrorKind::Internal, text));
            };
            self.out.put(side.id, time_ns, message)?;
        }
        Ok(())
    }

    fn put(&mut self, channel: u16, time_ns: u64) -> Result<()> {
        envelope::wrap(&self.payload, &mut self.message);
        self.out.put(channel, time_ns, &self.message)
    }

    /// Bytes of the messages written so far.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.out.bytes
    }

    /// Closes the chunk and gives it to the system, with its link of the chain.
    ///
    /// # Errors
    /// [`ErrorKind::File`] with the path.
    pub fn flush(&mut self) -> Result<()> {
        self.open_ticks = 0;
        self.link(LogLink::GOES_ON)?;
        self.chain.push(&self.out.path)?;
        if self.begun {
            self.file.replace_soon();
        }
        Ok(())
    }

    fn link(&mut self, end: u8) -> Result<()> {
        let (TickId { run_id, tick }, time_ns) = self.end;
        let link = LogLink { run_id, tick, end, ..LogLink::default() };
        self.chain.write(&mut self.out.mcap, link, time_ns, &self.out.path)
    }

    /// The last link of the chain: the next file follows it.
    pub(crate) const fn last_link(&self) -> LogLink {
        self.chain.last()
    }

    /// Puts everything written so far on the disk, soon.
    pub(crate) fn sync(&self) -> Result<()> {
        self.file.sync_soon().map_err(|e| file_error(&self.out.path, &e))
    }

    /// The file.
    pub(crate) const fn file(&self) -> &dyn LogFile {
        &*self.file
    }

    /// Notes that the log goes on in the file `next` with `first`.
    pub(crate) fn name_next(&mut self, next: &Path, first: TickId) -> Result<()> {
        let name = next.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let metadata = BTreeMap::from([
            (NEXT_SEGMENT.into(), name),
            (NEXT_RUN_ID.into(), first.run_id.to_string()),
            (NEXT_TICK.into(), first.tick.to_string()),
        ]);
        let note = Metadata { name: NEXT_NOTE.into(), metadata };
        self.out.mcap.write_metadata(&note).map_err(|e| file_error(&self.out.path, &e))
    }

    /// Writes index and footer and puts the file on the disk, in its place.
    ///
    /// # Errors
    /// [`ErrorKind::File`] with the path.
    pub fn finish(self) -> Result<()> {
        self.close().0
    }

    /// [`finish`](Self::finish); the file is still open.
    pub(crate) fn close(mut self) -> (Result<()>, Box<dyn LogFile>) {
        let linked = self.link(LogLink::CLOSED);
        let Self { chain, out: Out { path, mut mcap, .. }, file, .. } = self;
        let finished = linked.and_then(|()| chain.finish(&mut mcap, &path));
        let finished = finished.and_then(|()| file.sync().map_err(|e| file_error(&path, &e)));
        file.replace_now();
        (finished, file)
    }
}

fn add_own_channels(mcap: &mut McapFile) -> McapResult<OwnChannels> {
    let mut add = |topic: &str, name: &str| {
        let schema = mcap.add_schema(name, SCHEMA_ENCODING, SCHEMA)?;
        mcap.add_channel(schema, topic, ENCODING, &BTreeMap::new())
    };
    Ok(OwnChannels {
        tick: add(TICK_TOPIC, "hardstand_msgs/msg/LogTick")?,
        state: add(STATE_TOPIC, "hardstand_msgs/msg/State")?,
        keyframe: add(KEYFRAME_TOPIC, "hardstand_msgs/msg/Keyframe")?,
        chain: add(CHAIN_TOPIC, "hardstand_msgs/msg/LogLink")?,
    })
}

fn add_side_channel(mcap: &mut McapFile, channel: &SideChannel) -> McapResult<SideOut> {
    let SideChannel { topic, schema_name, schema_encoding, message_encoding, .. } = channel;
    let text = channel.schema_text.as_bytes();
    let schema = mcap.add_schema(schema_name, schema_encoding, text)?;
    let id = mcap.add_channel(schema, topic, message_encoding, &channel.metadata)?;
    Ok(SideOut { id, first: channel.first.clone() })
}

fn write_header(mcap: &mut McapFile, info: &RunInfo) -> McapResult<()> {
    mcap.write_metadata(&info.to_metadata())?;
    for (name, media_type, data) in [
        (ROBOT_ATTACHMENT, "application/xml", &info.robot),
        (SCENARIO_ATTACHMENT, "application/toml", &info.scenario),
    ] {
        mcap.attach(&Attachment {
            log_time: 0,
            create_time: 0,
            name: name.into(),
            media_type: media_type.into(),
            data: Cow::Borrowed(data.as_bytes()),
        })?;
    }
    mcap.flush()
}

/// Without seeking a chunk is written in one piece, when it is complete.
pub(crate) fn options() -> WriteOptions {
    WriteOptions::new()
        .profile("ros2")
        .library(concat!("hardstand ", env!("CARGO_PKG_VERSION")))
        .chunk_size(None)
        .disable_seeking(true)
}

/// With the cause: mcap's own text does not say that the disk is full.
pub(crate) fn file_error(path: &Path, e: &dyn std::error::Error) -> Error {
    let cause = e.source().map_or_else(String::new, |cause| format!(": {cause}"));
    Error::new(ErrorKind::File, format!("log {}: {e}{cause}", path.display()))
}
