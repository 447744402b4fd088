//! The log of a run: one file after another.

use std::path::{Path, PathBuf};

use hardstand_error::{Error, ErrorKind, Result};
use hardstand_protocol::LogTick;

use crate::{LogWriter, RunInfo, SideChannel, SideMessages, Storage};

/// Time between two requests to put the file on the disk, ns.
const SYNC_NS: u64 = 1_000_000_000;

/// What has been written of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WrittenLog {
    /// Ticks written.
    pub ticks: u64,
    /// Files, in order: the next one begins when one is full, or when ticks were lost.
    pub segments: Vec<PathBuf>,
    /// Why writing ended early, if it did.
    pub error: Option<String>,
}

/// Writes the ticks of a run. It knows no thread and no clock, so that a simulation can run it too.
/// After the first failure it writes nothing more: see [`error`](Self::error).
pub struct RunWriter {
    storage: Box<dyn Storage>,
    stats: WrittenLog,
    first: PathBuf,
    info: RunInfo,
    segment_bytes_max: u64,
    channels: Vec<SideChannel>,
    writer: Option<LogWriter>,
    /// Run number and tick.
    next_tick: Option<(u32, u64)>,
    /// Ticks written at the last call of [`settle`](Self::settle).
    settled: u64,
    synced_ns: Option<u64>,
}

impl std::fmt::Debug for RunWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunWriter").field("stats", &self.stats).finish_non_exhaustive()
    }
}

impl RunWriter {
    /// Creates the first file, and removes the further files of an earlier run of the same name: it
    /// is replaced as a whole. A file that has reached `segment_bytes_max` ends before the next
    /// keyframe: the index of a file is kept in memory until it ends. Every file gets the side
    /// `channels`.
    ///
    /// # Errors
    /// [`ErrorKind::File`] if the file cannot be created, or one of an earlier run cannot be
    /// removed.
    pub fn start(
        storage: Box<dyn Storage>,
        path: PathBuf,
        info: RunInfo,
        segment_bytes_max: u64,
        channels: Vec<SideChannel>,
    ) -> Result<Self> {
        let writer = LogWriter::create_on(storage.as_ref(), &path, &info, &channels)?;
        remove_segments(storage.as_ref(), &path)?;
        Ok(Self {
            storage,
            stats: WrittenLog { segments: vec![path.clone()], ..Default::default() },
            first: path,
            info,
            segment_bytes_max,
            channels,
            writer: Some(writer),
            next_tick: None,
            settled: 0,
            synced_ns: None,
        })
    }

    /// Writes a tick with its side messages. A tick that does not follow the one before, and a
    /// keyframe when the file is full, begin the next file.
    pub fn write(&mut self, tick: &LogTick, messages: &SideMessages) {
        let result = self.try_write(tick, messages);
        self.note(result);
    }

    /// Closes a chunk that has got no tick since the last call, and puts the file on the disk once
    /// a second. Call it every few milliseconds.
    pub fn settle(&mut self, now_ns: u64) {
        let result = self.flush_if_idle().and_then(|()| self.sync_if_due(now_ns));
        self.note(result);
    }

    /// Why writing has ended early, if it has.
    #[must_use]
    pub fn error(&self) -> Option<&str> {
        self.stats.error.as_deref()
    }

    /// Closes the file.
    #[must_use]
    pub fn finish(mut self) -> WrittenLog {
        let result = self.writer.take().map_or(Ok(()), LogWriter::finish);
        self.note(result);
        self.stats
    }

    fn note(&mut self, result: Result<()>) {
        if let Err(e) = result {
            self.writer = None;
            self.stats.error.get_or_insert_with(|| e.to_string());
        }
    }

    fn try_write(&mut self, tick: &LogTick, messages: &SideMessages) -> Result<()> {
        let gap = self.next_tick.is_some_and(|next| next != (tick.run_id, tick.tick));
        self.next_tick = Some((tick.run_id, tick.tick.wrapping_add(1)));
        let full = self.writer.as_ref().is_some_and(|w| w.bytes() >= self.segment_bytes_max);
        if gap || (full && !tick.keyframe.is_empty()) {
            self.next_segment(tick.run_id, tick.tick)?;
        }
        if let Some(writer) = &mut self.writer {
            writer.write(tick, messages)?;
            self.stats.ticks += 1;
        }
        Ok(())
    }

    /// No file holds a gap or two runs: the next one begins with a keyframe.
    fn next_segment(&mut self, run_id: u32, tick: u64) -> Result<()> {
        let Some(writer) = self.writer.take() else { return Ok(()) };
        let path = segment_path(&self.first, self.stats.segments.len() + 1);
        self.info.run_id = run_id;
        let storage = self.storage.as_ref();
        // first the new one: the old one must not name a file of another run
        let next = LogWriter::create_on(storage, &path, &self.info, &self.channels);
        writer.finish_before(&path, run_id, tick)?;
        self.writer = Some(next?);
        self.stats.segments.push(path);
        Ok(())
    }

    /// At a slow rate a chunk would stay open for long: it is closed when no tick has come.
    fn flush_if_idle(&mut self) -> Result<()> {
        let idle = self.settled == self.stats.ticks;
        self.settled = self.stats.ticks;
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
fn segment_path(first: &Path, n: usize) -> PathBuf {
    let stem = first.file_stem().unwrap_or_default().to_string_lossy();
    first.with_file_name(format!("{stem}.part{n}.mcap"))
}

/// Removes the files in which an earlier run that began in `first` went on: a replay of one of them
/// must not show that run as part of this one.
fn remove_segments(storage: &dyn Storage, first: &Path) -> Result<()> {
    // a folder that cannot be read may still be written to
    for path in storage.beside(first).unwrap_or_default() {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let number =
            name.strip_suffix(".mcap").and_then(|n| n.rsplit_once(".part")?.1.parse().ok());
        if number.is_none_or(|n| n < 2 || segment_path(first, n) != path) {
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
