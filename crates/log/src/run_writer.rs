//! The log of a run: one file after another.

use std::io;
use std::path::PathBuf;

use hardstand_error::{Error, ErrorKind, Result};
use hardstand_protocol::{LogLink, LogTick};

use crate::segments::segment_path;
use crate::writer::file_error;
use crate::{LogFile, LogWriter, RunInfo, SideChannel, SideMessages, Stamp, Storage, TickId};

/// Time between two looks at the file, and requests to put it on the disk, ns.
const LOOK_NS: u64 = 1_000_000_000;
/// Names that are tried for a further file, where other files are in the way.
const NAMES_MAX: usize = 100;

/// How large a log may become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogLimits {
    /// Size at which a file ends before the next keyframe, bytes of messages.
    pub segment_bytes_max: u64,
    /// Files of a recording.
    pub files_max: usize,
    /// Bytes of a recording: robot, scenario and messages of all its files.
    pub bytes_max: u64,
}

impl Default for LogLimits {
    /// None.
    fn default() -> Self {
        Self { segment_bytes_max: u64::MAX, files_max: usize::MAX, bytes_max: u64::MAX }
    }
}

/// What has been written of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WrittenLog {
    /// Ticks written.
    pub ticks: u64,
    /// Files, in order: the next one begins when one is full, or when ticks were lost.
    pub segments: Vec<PathBuf>,
    /// Why writing ended early, if it did.
    pub error: Option<String>,
    /// Writing ended because the log has one of its [`LogLimits`].
    pub is_full: bool,
    /// Files that other programs have removed, replaced or changed, and what happened to each.
    pub losses: Vec<String>,
    /// Ticks of the run that never came to be written, because writing was too slow.
    pub missing_ticks: u64,
}

impl WrittenLog {
    /// Why the log is not whole, if it is not.
    #[must_use]
    pub fn problem(&self) -> Option<String> {
        let missing = self.gaps();
        let all = self.losses.iter().chain(&self.error).chain(&missing);
        let all: Vec<&str> = all.map(String::as_str).collect();
        (!all.is_empty()).then(|| all.join("; "))
    }

    /// What is missing between its files, if anything is: a sentence.
    #[must_use]
    pub fn gaps(&self) -> Option<String> {
        (self.missing_ticks > 0).then(|| {
            format!(
                "{} ticks were not recorded, because the recorder or the disk was too slow; the \
                 log goes on in another file after each gap",
                self.missing_ticks
            )
        })
    }

    /// Compares with the number of ticks that the run had. After an error no tick was written.
    pub fn note_run(&mut self, ticks: u64) {
        if self.error.is_none() && !self.segments.is_empty() {
            self.missing_ticks = ticks.saturating_sub(self.ticks);
        }
    }
}

/// Writes the ticks of a run. It knows no thread and no clock, so that a simulation can run it too.
/// After the first failure it writes nothing more: see [`written`](Self::written).
pub struct RunWriter {
    // dropped before the storage, which has the locks
    writer: Option<LogWriter>,
    storage: Box<dyn Storage>,
    written: WrittenLog,
    first: PathBuf,
    info: RunInfo,
    limits: LogLimits,
    channels: Vec<SideChannel>,
    /// The file at hand is lost: the next keyframe begins another one.
    lost: bool,
    /// Files that have ended.
    closed: Vec<Stamp>,
    /// Number of the file at hand.
    number: usize,
    /// Bytes of the files that have ended, and of the headers of all.
    bytes: u64,
    next_tick: Option<TickId>,
    /// Ticks written at the last call of [`settle`](Self::settle).
    settled: u64,
    looked_ns: Option<u64>,
}

impl std::fmt::Debug for RunWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunWriter").field("written", &self.written).finish_non_exhaustive()
    }
}

impl RunWriter {
    /// Creates the first file. An earlier recording of the same name is replaced as a whole, once
    /// this one has a tick: [`Storage::replace`]. A file that has reached its size ends before the
    /// next keyframe: the index of a file is kept in memory until it ends. Every file gets the side
    /// `channels`.
    ///
    /// # Errors
    /// [`ErrorKind::File`] if the file cannot be created, or must not replace what is there.
    pub fn start(
        mut storage: Box<dyn Storage>,
        path: PathBuf,
        info: RunInfo,
        limits: LogLimits,
        channels: Vec<SideChannel>,
    ) -> Result<Self> {
        let file = storage.replace(&path)?;
        let writer = LogWriter::begin(file, &path, &info, &channels, LogLink::default())?;
        Ok(Self {
            storage,
            written: WrittenLog { segments: vec![path.clone()], ..Default::default() },
            first: path,
            bytes: header_bytes(&info),
            info,
            limits,
            channels,
            writer: Some(writer),
            lost: false,
            closed: Vec::new(),
            number: 1,
            next_tick: None,
            settled: 0,
            looked_ns: None,
        })
    }

    /// Writes a tick with its side messages. A tick that does not follow the one before, and a
    /// keyframe when the file is full, begin the next file.
    pub fn write(&mut self, tick: &LogTick, messages: &SideMessages) {
        let result = self.try_write(tick, messages);
        self.note(result);
    }

    /// Writes side messages that belong to no tick.
    pub fn write_beside(&mut self, messages: &SideMessages) {
        let result = match &mut self.writer {
            Some(writer) => writer.write_beside(messages),
            None => Ok(()),
        };
        self.note(result);
    }

    /// Closes a chunk that has got no tick since the last call; once a second puts the file on the
    /// disk, and looks whether it is still there. Call it every few milliseconds.
    pub fn settle(&mut self, now_ns: u64) {
        let mut result = self.flush_if_idle();
        let since = *self.looked_ns.get_or_insert(now_ns);
        if now_ns.saturating_sub(since) >= LOOK_NS {
            self.looked_ns = Some(now_ns);
            self.look();
            result = result.and_then(|()| self.writer.as_ref().map_or(Ok(()), LogWriter::sync));
        }
        self.note(result);
    }

    /// What has been written so far, and what is wrong with it.
    #[must_use]
    pub const fn written(&self) -> &WrittenLog {
        &self.written
    }

    /// Closes the file, and looks at all files of the run once more.
    #[must_use]
    pub fn finish(mut self) -> WrittenLog {
        let result = self.close();
        self.note(result);
        for stamp in std::mem::take(&mut self.closed) {
            if let Some(change) = stamp.change() {
                let text = format!("log {}: {change}", stamp.path().display());
                self.written.losses.push(text);
            }
        }
        self.written
    }

    fn note(&mut self, result: Result<()>) {
        if let Err(e) = result {
            self.writer = None;
            self.written.error.get_or_insert_with(|| e.to_string());
        }
    }

    fn try_write(&mut self, tick: &LogTick, messages: &SideMessages) -> Result<()> {
        let here = TickId { run_id: tick.run_id, tick: tick.tick };
        let before = self.next_tick.replace(TickId { tick: here.tick.wrapping_add(1), ..here });
        let begins = !tick.keyframe.is_empty();
        let Some(writer) = &self.writer else { return Ok(()) };
        let is_over = self.lost || writer.bytes() >= self.limits.segment_bytes_max;
        if self.bytes.saturating_add(writer.bytes()) >= self.limits.bytes_max {
            return self.end_full("record.total_mib", self.limits.bytes_max, "bytes");
        }
        match before {
            // no file holds a gap or two runs
            Some(end) if end != here => self.next_segment(here)?,
            _ if is_over && begins => self.next_segment(here)?,
            _ => {}
        }
        if let Some(writer) = &mut self.writer {
            writer.write(tick, messages)?;
            self.written.ticks += 1;
        }
        Ok(())
    }

    /// The next file begins, with a keyframe.
    fn next_segment(&mut self, first: TickId) -> Result<()> {
        if self.written.segments.len() >= self.limits.files_max {
            return self.end_full("record.files_max", self.limits.files_max as u64, "files");
        }
        self.info.run_id = first.run_id;
        let mut before = LogLink::default();
        if let Some(writer) = &mut self.writer {
            if writer.open_ticks > 0 {
                writer.flush()?;
            }
            before = writer.last_link();
            writer.file().replace_now(); // further files of the earlier run are in the way
        }
        // first the new one: the old one must not name a file of another run
        let next = self.create_next(before);
        if let (Some(writer), Ok((_, path))) = (&mut self.writer, &next) {
            writer.name_next(path, first)?;
        }
        self.close()?;
        let (writer, path) = next?;
        self.bytes += header_bytes(&self.info);
        self.written.segments.push(path);
        self.writer = Some(writer);
        Ok(())
    }

    /// A file of another name, if something is in the way: it is not ours to replace.
    fn create_next(&mut self, before: LogLink) -> Result<(LogWriter, PathBuf)> {
        for _ in 0..NAMES_MAX {
            self.number += 1;
            let path = segment_path(&self.first, self.number);
            match self.storage.create(&path) {
                Ok(file) => {
                    let (info, channels) = (&self.info, &self.channels);
                    let writer = LogWriter::begin(file, &path, info, channels, before)?;
                    return Ok((writer, path));
                }
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(file_error(&path, &e)),
            }
        }
        let path = segment_path(&self.first, self.number);
        Err(file_error(&path, &io::Error::from(io::ErrorKind::AlreadyExists)))
    }

    /// Ends in order the file at hand.
    fn close(&mut self) -> Result<()> {
        let Some(writer) = self.writer.take() else { return Ok(()) };
        self.bytes += writer.bytes();
        let (result, file) = writer.close();
        self.look_at(file.as_ref());
        if !std::mem::take(&mut self.lost) {
            self.closed.extend(file.stamp());
        }
        result
    }

    /// The log has as many `unit` as it may have.
    fn end_full(&mut self, key: &str, max: u64, unit: &str) -> Result<()> {
        self.written.is_full = true;
        self.close()?;
        let text = format!(
            "log {}: it has the {max} {unit} that {key} allows; record less, or raise {key}",
            self.first.display()
        );
        Err(Error::new(ErrorKind::File, text))
    }

    fn look(&mut self) {
        if let Some(writer) = self.writer.take() {
            self.look_at(writer.file());
            self.writer = Some(writer);
        }
    }

    /// Notes what has happened to the file at hand, once.
    fn look_at(&mut self, file: &dyn LogFile) {
        if self.lost {
            return;
        }
        let Some(change) = file.change() else { return };
        self.lost = true;
        let path = self.written.segments.last().map(|path| path.display().to_string());
        self.written.losses.push(format!("log {}: {change}", path.unwrap_or_default()));
    }

    /// At a slow rate a chunk would stay open for long: it is closed when no tick has come.
    fn flush_if_idle(&mut self) -> Result<()> {
        let idle = self.settled == self.written.ticks;
        self.settled = self.written.ticks;
        match &mut self.writer {
            Some(writer) if idle && writer.open_ticks > 0 => writer.flush(),
            _ => Ok(()),
        }
    }
}

/// What every file has of a run, bytes.
fn header_bytes(info: &RunInfo) -> u64 {
    (info.robot.len() + info.scenario.len()) as u64
}
