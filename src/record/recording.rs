//! A recording: the ticks of a run in one file after another.

use std::path::{Path, PathBuf};

use crate::buffer_pool::Inbox;
use crate::rt::LogTick;
use hardstand_error::{Error, ErrorKind, Result};

use super::{LogWriter, RosChannels, RunInfo, Storage};

/// Time between two requests to put the file on the disk, ns.
const SYNC_NS: u64 = 1_000_000_000;

/// What a recording has done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecorderStats {
    /// Ticks written.
    pub ticks: u64,
    /// Files, in order: the next one begins when one is full, or when ticks were lost.
    pub segments: Vec<PathBuf>,
    /// Why recording ended early, if it did.
    pub error: Option<String>,
}

/// Takes ticks out of a queue and writes them. It knows no thread and no clock, so that a
/// simulation can run it too.
pub struct Recording {
    storage: Box<dyn Storage>,
    stats: RecorderStats,
    first: PathBuf,
    info: RunInfo,
    segment_bytes_max: u64,
    ros2: Option<RosChannels>,
    inbox: Inbox<LogTick>,
    writer: Option<LogWriter>,
    /// Run number and tick.
    next_tick: Option<(u32, u64)>,
    /// Ticks written at the last look.
    written: u64,
    synced_ns: Option<u64>,
}

impl std::fmt::Debug for Recording {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recording").field("stats", &self.stats).finish_non_exhaustive()
    }
}

impl Recording {
    /// Creates the first file, and removes the further files of an earlier run of the same name: it
    /// is replaced as a whole. A file that has reached `segment_bytes_max` ends before the next
    /// keyframe: the index of a file is kept in memory until it ends. Every file gets the channels
    /// of `ros2`; they need records with contacts.
    ///
    /// # Errors
    /// [`ErrorKind::File`](crate::ErrorKind::File) if the file cannot be created, or one of an
    /// earlier run cannot be removed.
    pub fn start(
        storage: Box<dyn Storage>,
        path: PathBuf,
        info: RunInfo,
        segment_bytes_max: u64,
        ros2: Option<RosChannels>,
        inbox: Inbox<LogTick>,
    ) -> Result<Self> {
        let writer = LogWriter::create_on(storage.as_ref(), &path, &info, ros2.clone())?;
        remove_parts(storage.as_ref(), &path)?;
        Ok(Self {
            storage,
            stats: RecorderStats { segments: vec![path.clone()], ..Default::default() },
            first: path,
            info,
            segment_bytes_max,
            ros2,
            inbox,
            writer: Some(writer),
            next_tick: None,
            written: 0,
            synced_ns: None,
        })
    }

    /// Writes what is in the queue, and puts it on the disk once a second. Call it every few
    /// milliseconds.
    pub fn round(&mut self, now_ns: u64) {
        let result = self.drain();
        self.note(result);
        let result = self.flush_if_idle().and_then(|()| self.sync_if_due(now_ns));
        self.note(result);
    }

    /// Why recording has ended early, if it has.
    #[must_use]
    pub fn error(&self) -> Option<&str> {
        self.stats.error.as_deref()
    }

    /// Writes what is still in the queue and closes the file.
    #[must_use]
    pub fn finish(mut self) -> RecorderStats {
        let result = self.drain();
        self.note(result);
        let result = self.writer.take().map_or(Ok(()), LogWriter::finish);
        self.note(result);
        self.stats
    }

    /// The first failure ends recording; the queue is drained all the same.
    fn note(&mut self, result: Result<()>) {
        if let Err(e) = result {
            self.writer = None;
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
        let gap = self.next_tick.is_some_and(|next| next != (tick.run_id, tick.tick));
        self.next_tick = Some((tick.run_id, tick.tick.wrapping_add(1)));
        let full = self.writer.as_ref().is_some_and(|w| w.bytes() >= self.segment_bytes_max);
        if gap || (full && !tick.keyframe.is_empty()) {
            self.next_segment(tick.run_id, tick.tick)?;
        }
        if let Some(writer) = &mut self.writer {
            writer.write(tick)?;
            self.stats.ticks += 1;
        }
        Ok(())
    }

    /// Never a gap or another run inside a file: the next one begins with a keyframe.
    fn next_segment(&mut self, run_id: u32, tick: u64) -> Result<()> {
        let Some(writer) = self.writer.take() else { return Ok(()) };
        let path = part(&self.first, self.stats.segments.len() + 1);
        self.info.run_id = run_id;
        let storage = self.storage.as_ref();
        // first the new one: the old one must not name a file of another run
        let next = LogWriter::create_on(storage, &path, &self.info, self.ros2.clone());
        writer.finish_before(&path, run_id, tick)?;
        self.writer = Some(next?);
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

    fn sync_if_due(&mut self, now_ns: u64) -> Result<()> {
        let since = *self.synced_ns.get_or_insert(now_ns);
        if now_ns.saturating_sub(since) < SYNC_NS {
            return Ok(());
        }
        self.synced_ns = Some(now_ns);
        self.writer.as_ref().map_or(Ok(()), LogWriter::sync)
    }
}

/// The `n`th file of the run that begins in `first`.
fn part(first: &Path, n: usize) -> PathBuf {
    let stem = first.file_stem().unwrap_or_default().to_string_lossy();
    first.with_file_name(format!("{stem}.part{n}.mcap"))
}

/// Removes the files in which an earlier run that began in `first` went on: whoever replays one of
/// them should not get that run for this one.
fn remove_parts(storage: &dyn Storage, first: &Path) -> Result<()> {
    // a folder that cannot be read may still be written to
    for path in storage.beside(first).unwrap_or_default() {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let number =
            name.strip_suffix(".mcap").and_then(|n| n.rsplit_once(".part")?.1.parse().ok());
        if number.is_none_or(|n| n < 2 || part(first, n) != path) {
            continue;
        }
        storage.remove(&path).map_err(|e| {
            let text = format!(
                "log {}: it is of an earlier run and cannot be removed ({e}); remove it, or choose \
                 another name with --log",
                path.display()
            );
            Error::new(ErrorKind::File, text)
        })?;
    }
    Ok(())
}
