//! One log file.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use mcap::records::{MessageHeader, Metadata};
use mcap::write::NoSeek;
use mcap::{Attachment, WriteOptions, Writer};

use crate::ros2::cdr;
use crate::rt::LogTick;
use hardstand_error::{Error, ErrorKind, Result};
use hardstand_protocol::{Kind, encode};

use super::ros2::{CDR, ROS2MSG, RosChannels};
use super::{
    Disk, KEYFRAME_TOPIC, Keyframe, LogFile, NEXT_NOTE, NEXT_RUN_ID, NEXT_SEGMENT, NEXT_TICK,
    ROBOT_ATTACHMENT, RunInfo, SCENARIO_ATTACHMENT, STATE_TOPIC, Storage, TICK_TOPIC,
};

/// A chunk is closed after so many ticks: a killed run loses at most these.
const CHUNK_TICKS: u64 = 10;

/// What a message of the daemon's own is to ROS 2: bytes, so that no reader stumbles over it.
const OWN_DEFINITION: &[u8] =
    b"# docs/protocol.md of Hardstand says what the bytes are\nuint8[] payload\n";

/// One log file.
pub struct LogWriter {
    out: Out,
    file: Box<dyn LogFile>,
    channels: [u16; 3],
    ros2: Option<RosChannels>,
    period_ns: u64,
    payload: Vec<u8>,
    message: Vec<u8>,
    pub(super) open_ticks: u64,
}

impl std::fmt::Debug for LogWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LogWriter").field("path", &self.out.path).finish_non_exhaustive()
    }
}

/// Where messages go.
struct Out {
    path: PathBuf,
    mcap: Writer<NoSeek<BufWriter<Box<dyn LogFile>>>>,
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
    /// Creates the file and writes what a replay needs: version, hashes, robot, scenario. With
    /// `ros2` it gets these channels, too.
    ///
    /// # Errors
    /// [`ErrorKind::File`] with the path if it cannot be created or written.
    pub fn create(path: &Path, info: &RunInfo, ros2: Option<RosChannels>) -> Result<Self> {
        Self::create_on(&Disk, path, info, ros2)
    }

    /// [`create`](Self::create) in another place than the file system.
    pub(super) fn create_on(
        storage: &dyn Storage,
        path: &Path,
        info: &RunInfo,
        mut ros2: Option<RosChannels>,
    ) -> Result<Self> {
        let failed = |e: &dyn std::error::Error| file_error(path, e);
        let file = storage.create(path).map_err(|e| failed(&e))?;
        let other = file.another().map_err(|e| failed(&e))?;
        let mut mcap =
            options().create(NoSeek::new(BufWriter::new(other))).map_err(|e| failed(&e))?;
        let mut channel = |topic: &str, name: &str| {
            let schema = mcap.add_schema(name, ROS2MSG, OWN_DEFINITION)?;
            mcap.add_channel(schema, topic, CDR, &BTreeMap::new())
        };
        let channels = [
            channel(TICK_TOPIC, "hardstand_msgs/msg/LogTick").map_err(|e| failed(&e))?,
            channel(STATE_TOPIC, "hardstand_msgs/msg/State").map_err(|e| failed(&e))?,
            channel(KEYFRAME_TOPIC, "hardstand_msgs/msg/Keyframe").map_err(|e| failed(&e))?,
        ];
        if let Some(ros2) = &mut ros2 {
            ros2.declare(&mut mcap).map_err(|e| failed(&e))?;
        }
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
            out: Out { path: path.into(), mcap, sequence: 0, bytes: 0 },
            file,
            channels,
            ros2,
            period_ns: info.period_ns,
            payload: Vec::new(),
            message: Vec::new(),
            open_ticks: 0,
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
            let keyframe = Keyframe { run_id: tick.run_id, tick: tick.tick, words };
            encode(Kind::Keyframe, &keyframe, &mut self.payload)?;
            self.put(2, before_ns)?;
        }
        encode(Kind::LogTick, tick, &mut self.payload)?;
        self.put(0, before_ns)?;
        encode(Kind::State, &tick.state, &mut self.payload)?;
        self.put(1, tick.state.time_ns)?;
        if let Some(ros2) = &mut self.ros2 {
            ros2.write(tick, before_ns, |id, ns, message| self.out.put(id, ns, message))?;
        }
        self.open_ticks += 1;
        if self.open_ticks >= CHUNK_TICKS { self.flush() } else { Ok(()) }
    }

    fn put(&mut self, channel: usize, time_ns: u64) -> Result<()> {
        cdr::Writer::new(&mut self.message).octets(&self.payload);
        self.out.put(self.channels[channel], time_ns, &self.message)
    }

    /// Bytes of the messages written so far.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.out.bytes
    }

    /// Closes the chunk and gives it to the system.
    ///
    /// # Errors
    /// [`ErrorKind::File`] with the path.
    pub fn flush(&mut self) -> Result<()> {
        self.open_ticks = 0;
        self.out.mcap.flush().map_err(|e| file_error(&self.out.path, &e))
    }

    /// Puts everything written so far on the disk, soon.
    pub(super) fn sync(&self) -> Result<()> {
        self.file.sync_soon().map_err(|e| file_error(&self.out.path, &e))
    }

    /// Notes that the run goes on in the file `next` with `tick` of run `run_id`, then
    /// [`finish`](Self::finish)es.
    ///
    /// # Errors
    /// [`ErrorKind::File`] with the path.
    pub fn finish_before(mut self, next: &Path, run_id: u32, tick: u64) -> Result<()> {
        let name = next.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let metadata = BTreeMap::from([
            (NEXT_SEGMENT.into(), name),
            (NEXT_RUN_ID.into(), run_id.to_string()),
            (NEXT_TICK.into(), tick.to_string()),
        ]);
        let note = Metadata { name: NEXT_NOTE.into(), metadata };
        self.out.mcap.write_metadata(&note).map_err(|e| file_error(&self.out.path, &e))?;
        self.finish()
    }

    /// Writes index and footer and puts the file on the disk.
    ///
    /// # Errors
    /// [`ErrorKind::File`] with the path.
    pub fn finish(self) -> Result<()> {
        let Out { path, mut mcap, .. } = self.out;
        mcap.finish().map_err(|e| file_error(&path, &e))?;
        drop(mcap.into_inner());
        self.file.sync().map_err(|e| file_error(&path, &e))
    }
}

/// Without seeking a chunk is written in one piece, when it is complete.
pub(super) fn options() -> WriteOptions {
    WriteOptions::new()
        .profile("ros2")
        .library(concat!("hardstand ", env!("CARGO_PKG_VERSION")))
        .chunk_size(None)
        .disable_seeking(true)
}

/// With the cause: mcap's own text does not say that the disk is full.
pub(super) fn file_error(path: &Path, e: &dyn std::error::Error) -> Error {
    let cause = e.source().map_or_else(String::new, |cause| format!(": {cause}"));
    Error::new(ErrorKind::File, format!("log {}: {e}{cause}", path.display()))
}
