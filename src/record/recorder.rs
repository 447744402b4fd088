//! The recorder's thread: takes ticks from the physics thread and writes them.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::error::{Error, ErrorKind, Result};
use crate::handover::Inbox;
use crate::rt::{Clock, LogTick, MonotonicClock};

use super::{LogWriter, RunInfo};

/// Time between two looks into the queue.
const POLL: Duration = Duration::from_millis(5);
/// Time between two requests to put the file on the disk, ns.
const SYNC_NS: u64 = 1_000_000_000;

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
            synced_ns: MonotonicClock::default().now_ns(),
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
        let now_ns = MonotonicClock::default().now_ns();
        if now_ns.saturating_sub(self.synced_ns) < SYNC_NS {
            return Ok(());
        }
        self.synced_ns = now_ns;
        self.writer.as_ref().map_or(Ok(()), LogWriter::sync)
    }
}
