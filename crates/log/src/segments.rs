//! A run that goes on in another file.

use std::path::{Path, PathBuf};

use hardstand_error::{Error, ErrorKind, Result};

use crate::{LogReader, RunInfo};

/// The file in which a run goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextSegment {
    /// Its name, in the same folder.
    pub file: String,
    /// Its run number: a run that was reset goes on as the next one.
    pub run_id: u32,
    /// Its first tick: ticks were lost if that is not the one after the last of this file.
    pub first_tick: u64,
    /// The value with which its chain begins; `None` in a log without a chain.
    pub follows: Option<u64>,
}

impl NextSegment {
    /// Opens it. `first` is the first file of the run, and `info` what its log says.
    ///
    /// # Errors
    /// Why the run does not go on there.
    pub fn open(&self, info: &RunInfo, first: &Path) -> Result<LogReader> {
        let log = LogReader::open(&self.beside(first)).map_err(|e| self.within(e))?;
        self.refuse_another_run(&log, info).map(|()| log)
    }

    /// Refuses a file of another run, and one whose chain does not go on from the file before.
    pub(crate) fn refuse_another_run(&self, log: &LogReader, info: &RunInfo) -> Result<()> {
        if *log.info() != (RunInfo { run_id: self.run_id, ..info.clone() }) {
            return Err(self.is_of_another_run());
        }
        let begins = log.first_link().map(|link| link.follows);
        if begins == self.follows {
            return Ok(());
        }
        let value = |of: Option<u64>| of.map_or("none".into(), |value| format!("{value:016x}"));
        let text = format!(
            "{}, but that is another run or another part of this one (its chain follows {}, and \
             the file before ends with {})",
            self.place(),
            value(begins),
            value(self.follows)
        );
        Err(Error::new(ErrorKind::Log, text))
    }

    /// Its path, in the folder of the run's `first` file.
    #[must_use]
    pub fn beside(&self, first: &Path) -> PathBuf {
        // a name, never a path to somewhere else
        first.with_file_name(Path::new(&self.file).file_name().unwrap_or_default())
    }

    /// True if a file whose first tick is `first_tick` begins where the one before said, and not
    /// before that one ended with `end`, run number and tick: so the files form no circle.
    #[must_use]
    pub fn is_reached(&self, end: (u32, u64), first_tick: u64) -> bool {
        first_tick == self.first_tick && (self.run_id, first_tick) >= end
    }

    /// An error that was met in this file.
    #[must_use]
    pub fn within(&self, e: Error) -> Error {
        e.within(self.place())
    }

    /// The error of a file that is part of another run.
    #[must_use]
    pub fn is_of_another_run(&self) -> Error {
        Error::new(ErrorKind::Log, format!("{}, but that is another run", self.place()))
    }

    fn place(&self) -> String {
        format!("the run goes on in {}", self.file)
    }
}

/// The `n`th file of the log that begins in `first`.
pub(crate) fn segment_path(first: &Path, n: usize) -> PathBuf {
    let stem = first.file_stem().unwrap_or_default().to_string_lossy();
    first.with_file_name(format!("{stem}.part{n}.mcap"))
}

/// The number of the file `path`, if its name is that of a further file of the log that begins in
/// `first`.
pub(crate) fn segment_number(first: &Path, path: &Path) -> Option<usize> {
    let name = path.file_name()?.to_string_lossy();
    let (_, number) = name.strip_suffix(".mcap")?.rsplit_once(".part")?;
    let number = number.parse().ok()?;
    (number >= 2 && segment_path(first, number) == path).then_some(number)
}

/// The first file of the log, if the name `path` is that of a further one.
#[cfg(unix)]
pub(crate) fn first_of(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_string_lossy();
    let (stem, _) = name.strip_suffix(".mcap")?.rsplit_once(".part")?;
    let first = path.with_file_name(format!("{stem}.mcap"));
    segment_number(&first, path).map(|_| first)
}
