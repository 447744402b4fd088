//! Whether a log is as the recorder wrote it: every byte of it, in all its files.

use std::fs;
use std::path::{Path, PathBuf};

use hardstand_error::{Error, ErrorKind, Result};
use hardstand_protocol::LogLink;

use crate::{LogReader, LogRecord, NextSegment, RunInfo};

/// What [`verify`] found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// Whether the log is complete.
    pub verdict: Verdict,
    /// The files that were read, in order; all but the last one are whole.
    pub files: Vec<PathBuf>,
    /// Bytes of these files.
    pub bytes: u64,
    /// Links whose checksum is right.
    pub links: u64,
    /// Ticks before the first damage.
    pub ticks: u64,
    /// Run number of the last of them.
    pub run_id: u32,
    /// The state after the last of them has this number.
    pub end_tick: u64,
    /// Value of the last link; `None` if there is none. It depends on every byte before it.
    pub value: Option<u64>,
    /// The log was ended by [`recover`](crate::recover()): the recording may have gone on.
    pub is_recovered: bool,
    /// The first file follows another one, which was not looked at.
    pub is_continuation: bool,
}

/// Whether a log is complete.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Verdict {
    /// Every byte is as it was written, up to the end of the recording.
    #[default]
    Complete,
    /// No link of a chain: only the checksums of MCAP are right.
    NoChain,
    /// It ends after the last link, as the log of a killed daemon does. Every byte before is right.
    CutOff(LogFault),
    /// Bytes are wrong, missing or from elsewhere, and more of the log follows.
    Broken(LogFault),
}

/// Where a log cannot be believed any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogFault {
    /// It goes on after this place: it is not merely cut off.
    pub is_broken: bool,
    /// The file.
    pub file: PathBuf,
    /// All bytes of the file before this one are covered by correct checksums.
    pub from_byte: u64,
    /// The first wrong byte is before this one.
    pub to_byte: u64,
    /// Run number of the last tick before.
    pub run_id: u32,
    /// The state after that tick has this number.
    pub tick: u64,
    /// What is wrong.
    pub why: String,
}

impl LogFault {
    /// The error of a command that does not read such a log.
    #[must_use]
    pub fn refusal(&self) -> Error {
        let file = self.file.display();
        let text = format!(
            "{self}. Ticks up to there are as they were recorded: `hardstand recover {file}` \
             writes those of this file to a new one"
        );
        Error::new(ErrorKind::Log, text)
    }

    /// The fault of a file that does not belong to the run, or whose header is damaged. `end` is
    /// run number and tick at the end of the file before.
    pub(crate) fn in_header(file: PathBuf, end: (u32, u64), why: String) -> Self {
        let (run_id, tick) = end;
        let to_byte = fs::metadata(&file).map_or(0, |metadata| metadata.len());
        Self { is_broken: true, file, from_byte: 0, to_byte, run_id, tick, why }
    }

    fn verdict(self) -> Verdict {
        if self.is_broken { Verdict::Broken(self) } else { Verdict::CutOff(self) }
    }
}

impl std::fmt::Display for LogFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { from_byte, to_byte, run_id, tick, why, .. } = self;
        let what = if self.is_broken { "the chain breaks" } else { "it ends" };
        let file = self.file.display();
        write!(f, "{file}: {what} after tick {tick} of run {run_id}, ")?;
        write!(f, "in bytes {from_byte} to {to_byte}: {why}")
    }
}

/// Reads the log that begins in `path`, through all its files, once and in bounded memory, and
/// checks every byte: the chain, the checksums of MCAP, that every record decodes, and that ticks
/// follow one another. It does not run the simulation: that is a replay. `progress` gets bytes read
/// and bytes in all of the file at hand.
///
/// ```no_run
/// use std::path::Path;
/// use hardstand_log::{Verdict, verify};
/// let found = verify(Path::new("run.mcap"), |_, _| ())?;
/// assert_eq!(found.verdict, Verdict::Complete);
/// # Ok::<(), hardstand_error::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::File`] if the first file cannot be read; [`ErrorKind::Log`] if it is not a log of
/// Hardstand, or one of another version.
pub fn verify(path: &Path, mut progress: impl FnMut(u64, u64)) -> Result<Verified> {
    let mut log = LogReader::begin(path)?;
    if !log.has_links() {
        log = log.checked()?;
    }
    let (mut found, info) = (Verified::default(), log.info().clone());
    let begins = log.first_link().unwrap_or_default();
    found.is_continuation = begins.follows != 0;
    (found.run_id, found.end_tick) = (info.run_id, begins.tick);
    loop {
        found.take_file(&mut log, &mut progress);
        let end = (found.run_id, found.end_tick);
        if let Some(fault) = log.fault() {
            // before the first link of a file, the ticks are those of the file before
            let (run_id, tick) = if log.links() > 0 { (fault.run_id, fault.tick) } else { end };
            found.verdict = LogFault { run_id, tick, ..fault }.verdict();
            return Ok(found);
        }
        let Some(next) = log.next_segment().cloned() else {
            found.verdict = if log.has_chain() { Verdict::Complete } else { Verdict::NoChain };
            return Ok(found);
        };
        match open_next(&next, path, &info, end) {
            Ok(following) if found.files.iter().any(|file| file == following.path()) => {
                let why = next.is_of_another_run().to_string();
                found.verdict = LogFault::in_header(following.path().into(), end, why).verdict();
                return Ok(found);
            }
            Ok(following) => log = following,
            Err(verdict) => {
                found.verdict = verdict;
                return Ok(found);
            }
        }
    }
}

impl Verified {
    /// Reads a file to its end, or to the first damage.
    fn take_file(&mut self, log: &mut LogReader, progress: &mut impl FnMut(u64, u64)) {
        while let Some(record) = log.next_record() {
            match record {
                LogRecord::Tick(tick) => {
                    self.ticks += 1;
                    (self.run_id, self.end_tick) = (tick.run_id, tick.tick.saturating_add(1));
                }
                LogRecord::Keyframe(_) => {
                    let (read, all) = log.progress();
                    progress(read, all);
                }
                LogRecord::State(_) => {}
            }
        }
        self.files.push(log.path().into());
        self.bytes += log.progress().1;
        self.links += log.links();
        if let Some(last) = log.last_link() {
            self.value = Some(last.value);
            self.is_recovered = last.end == LogLink::RECOVERED;
        }
    }
}

/// The file in which the log goes on, or why it does not. `end` is that of the file before.
fn open_next(
    next: &NextSegment,
    first: &Path,
    info: &RunInfo,
    end: (u32, u64),
) -> std::result::Result<LogReader, Verdict> {
    let file = next.beside(first);
    let in_header = |why: String| LogFault::in_header(file.clone(), end, why);
    let log = LogReader::begin(&file).map_err(|e| {
        let is_broken = is_followed(first, &file);
        LogFault { is_broken, ..in_header(next.within(e).to_string()) }.verdict()
    })?;
    if log.links() == 0 && log.fault().is_some() {
        return Ok(log); // damaged before the first link: the reader says where
    }
    let belongs = next.refuse_another_run(&log, info);
    belongs.map_err(|e| in_header(e.to_string()).verdict())?;
    Ok(log)
}

/// True if a file of the run that begins in `first` comes after the missing `file`.
fn is_followed(first: &Path, file: &Path) -> bool {
    let number = |path: &Path| crate::segments::segment_number(first, path);
    let folder = first.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let (Some(missing), Ok(entries)) = (number(file), fs::read_dir(folder)) else { return false };
    let names = entries.filter_map(|entry| Some(entry.ok()?.file_name()));
    let mut numbers = names.filter_map(|name| number(&first.with_file_name(name)));
    numbers.any(|n| n > missing)
}
