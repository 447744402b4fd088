//! Writes logs.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use mcap::records::{MessageHeader, Metadata};
use mcap::write::NoSeek;
use mcap::{Attachment, WriteOptions, Writer};

use crate::error::{Error, ErrorKind, Result};
use crate::handover::Inbox;
use crate::message::{Kind, encode};
use crate::rt::{Clock, LogTick, MonotonicClock};

use super::{
    KEYFRAME_TOPIC, Keyframe, NEXT_SEGMENT, ROBOT_ATTACHMENT, RunInfo, SCENARIO_ATTACHMENT,
    STATE_TOPIC, TICK_TOPIC,
};

/// A chunk is closed after so many ticks: a killed run loses at most these.
const CHUNK_TICKS: u64 = 10;
/// Time between two looks into the queue.
const POLL: Duration = Duration::from_millis(5);
/// Time between two requests to put the file on the disk, ns.
const SYNC_NS: u64 = 1_000_000_000;

/// One log file.
pub struct LogWriter {
    path: PathBuf,
    mcap: Writer<NoSeek<BufWriter<File>>>,
    sync: File,
    channels: [u16; 3],
    period_ns: u64,
    buffer: Vec<u8>,
    open_ticks: u64,
    sequence: u32,
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
        let failed = |e: &dyn std::error::Error| file_error(path, e);
        let file = File::create(path).map_err(|e| failed(&e))?;
        let sync = file.try_clone().map_err(|e| failed(&e))?;
        // without seeking a chunk is written in one piece, when it is complete
        let options = WriteOptions::new()
            .profile("hardstand")
            .library(concat!("hardstand ", env!("CARGO_PKG_VERSION")))
            .chunk_size(None)
            .disable_seeking(true);
        let mut mcap = options.create(NoSeek::new(BufWriter::new(file))).map_err(|e| failed(&e))?;
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
            sync,
            channels,
            period_ns: info.period_ns,
            buffer: Vec::new(),
            open_ticks: 0,
            sequence: 0,
        })
    }

    /// Writes one tick; closes the chunk every few ticks.
    ///
    /// # Errors
    /// [`ErrorKind::File`] with the path.
    pub fn write(&mut self, tick: &LogTick) -> Result<()> {
        let before_ns = tick.tick.wrapping_mul(self.period_ns);
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
        self.mcap
            .write_to_known_channel(&header, &self.buffer)
            .map_err(|e| file_error(&self.path, &e))
    }

    /// Closes the chunk and gives it to the system.
    ///
    /// # Errors
    /// [`ErrorKind::File`] with the path.
    pub fn flush(&mut self) -> Result<()> {
        self.open_ticks = 0;
        self.mcap.flush().map_err(|e| file_error(&self.path, &e))
    }

    /// Puts everything written so far on the disk.
    fn sync(&self) -> Result<()> {
        self.sync.sync_data().map_err(|e| file_error(&self.path, &e))
    }

    /// Notes that ticks were lost and the run goes on in `next`, then [`finish`](Self::finish)es.
    ///
    /// # Errors
    /// [`ErrorKind::File`] with the path.
    pub fn finish_before(mut self, next: &Path) -> Result<()> {
        let name = next.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let metadata = BTreeMap::from([(NEXT_SEGMENT.to_string(), name)]);
        let note = Metadata { name: "hardstand-gap".into(), metadata };
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
        self.sync.sync_all().map_err(|e| file_error(&self.path, &e))
    }
}

/// With the cause: mcap's own text does not say that the disk is full.
fn file_error(path: &Path, e: &dyn std::error::Error) -> Error {
    let cause = e.source().map_or_else(String::new, |cause| format!(": {cause}"));
    Error::new(ErrorKind::File, format!("log {}: {e}{cause}", path.display()))
}

/// What the recorder has done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecorderStats {
    /// Ticks written.
    pub ticks: u64,
    /// Files, in order: more than one if ticks were lost in between.
    pub segments: Vec<PathBuf>,
    /// Why recording ended early, if it did.
    pub error: Option<String>,
}

/// The recorder's thread: takes ticks from the physics thread and writes them.
#[derive(Debug)]
pub struct Recorder {
    thread: JoinHandle<RecorderStats>,
    stop: Arc<AtomicBool>,
    failed: Arc<AtomicBool>,
}

impl Recorder {
    /// Creates the first file and starts the thread.
    ///
    /// # Errors
    /// [`ErrorKind::File`] if the file cannot be created or the thread cannot be started.
    pub fn start(path: &Path, info: RunInfo, inbox: Inbox<LogTick>) -> Result<Self> {
        let writer = LogWriter::create(path, &info)?;
        let (stop, failed) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let mut work = Work {
            failed: Arc::clone(&failed),
            stats: RecorderStats { segments: vec![path.into()], ..Default::default() },
            first: path.into(),
            info,
            inbox,
            writer: Some(writer),
            next_tick: None,
            written: 0,
            synced_ns: MonotonicClock.now_ns(),
        };
        let seen = Arc::clone(&stop);
        let thread = std::thread::Builder::new()
            .name("recorder".into())
            .spawn(move || work.run(&seen))
            .map_err(|e| Error::new(ErrorKind::Internal, format!("recorder thread: {e}")))?;
        Ok(Self { thread, stop, failed })
    }

    /// True once recording has ended early; [`finish`](Self::finish) says why.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// Writes what is still in the queue, closes the file and ends the thread.
    #[must_use]
    pub fn finish(self) -> RecorderStats {
        self.stop.store(true, Ordering::Release);
        self.thread.join().unwrap_or_else(|_| RecorderStats {
            error: Some("the recorder thread panicked".into()),
            ..Default::default()
        })
    }
}

struct Work {
    failed: Arc<AtomicBool>,
    stats: RecorderStats,
    first: PathBuf,
    info: RunInfo,
    inbox: Inbox<LogTick>,
    writer: Option<LogWriter>,
    next_tick: Option<u64>,
    /// Ticks written at the last look.
    written: u64,
    synced_ns: u64,
}

impl Work {
    fn run(&mut self, stop: &AtomicBool) -> RecorderStats {
        loop {
            // read before draining: what was sent before the stop is written
            let last_round = stop.load(Ordering::Acquire);
            let result = self.drain();
            self.note(result);
            if last_round {
                let result = self.writer.take().map_or(Ok(()), LogWriter::finish);
                self.note(result);
                return std::mem::take(&mut self.stats);
            }
            let result = self.flush_if_idle().and_then(|()| self.sync_if_due());
            self.note(result);
            std::thread::sleep(POLL);
        }
    }

    /// The first failure ends recording; the queue is drained all the same.
    fn note(&mut self, result: Result<()>) {
        if let Err(e) = result {
            self.writer = None;
            self.failed.store(true, Ordering::Relaxed);
            self.stats.error.get_or_insert_with(|| e.to_string());
        }
    }

    fn drain(&mut self) -> Result<()> {
        let mut result = Ok(());
        while let Some(tick) = self.inbox.take() {
            if result.is_ok() {
                result = self.write(&tick);
            }
            self.inbox.give_back(tick);
        }
        result
    }

    fn write(&mut self, tick: &LogTick) -> Result<()> {
        let gap = self.next_tick.is_some_and(|next| next != tick.tick);
        self.next_tick = Some(tick.tick.wrapping_add(1));
        if gap {
            self.next_segment()?;
        }
        if let Some(writer) = &mut self.writer {
            writer.write(tick)?;
            self.stats.ticks += 1;
        }
        Ok(())
    }

    /// Never a gap inside a file: the next one begins with a keyframe.
    fn next_segment(&mut self) -> Result<()> {
        let Some(writer) = self.writer.take() else { return Ok(()) };
        let stem = self.first.file_stem().unwrap_or_default().to_string_lossy();
        let name = format!("{stem}-{}.mcap", self.stats.segments.len() + 1);
        let path = self.first.with_file_name(name);
        writer.finish_before(&path)?;
        self.writer = Some(LogWriter::create(&path, &self.info)?);
        self.stats.segments.push(path);
        Ok(())
    }

    /// At a slow rate a chunk would stay open for long: it is closed when no tick has come.
    fn flush_if_idle(&mut self) -> Result<()> {
        let idle = self.written == self.stats.ticks;
        self.written = self.stats.ticks;
        match &mut self.writer {
            Some(writer) if idle && writer.open_ticks > 0 => writer.flush(),
            _ => Ok(()),
        }
    }

    fn sync_if_due(&mut self) -> Result<()> {
        let now_ns = MonotonicClock.now_ns();
        if now_ns.saturating_sub(self.synced_ns) < SYNC_NS {
            return Ok(());
        }
        self.synced_ns = now_ns;
        self.writer.as_ref().map_or(Ok(()), LogWriter::sync)
    }
}
