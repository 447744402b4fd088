//! Where log files live.

use std::io::{self, Write};
use std::path::Path;

use hardstand_error::Result;

use crate::Stamp;

/// An open log file.
pub trait LogFile: Write + Send {
    /// Puts everything written so far on the disk.
    ///
    /// # Errors
    /// The error of the operating system.
    fn sync(&self) -> io::Result<()>;

    /// Requests the same without waiting for it, where the storage can do that.
    ///
    /// # Errors
    /// The error of an earlier request.
    fn sync_soon(&self) -> io::Result<()> {
        self.sync()
    }

    /// Another handle of the same file.
    ///
    /// # Errors
    /// The error of the operating system.
    fn another(&self) -> io::Result<Box<dyn LogFile>>;

    /// Header and first ticks are written: a file that replaces another one takes its place once
    /// they are on the disk. Does not wait for that.
    fn replace_soon(&self) {}

    /// The same at once, if it is still to be done.
    fn replace_now(&self) {}

    /// What has happened to the file by another program, if anything has.
    fn change(&self) -> Option<String> {
        None
    }

    /// The file as it is written so far; `None` if nothing else can reach it.
    fn stamp(&self) -> Option<Stamp> {
        None
    }
}

/// A place where files can be created: a disk, or a faulty one in a simulation.
pub trait Storage: Send {
    /// The first file of a run. It replaces the log of an earlier run at `path`, which stays until
    /// the new one has begun: [`LogFile::replace_soon`].
    ///
    /// # Errors
    /// [`ErrorKind::File`](hardstand_error::ErrorKind::File) with the path, if it cannot be
    /// created, or if what is there must not be replaced.
    fn replace(&mut self, path: &Path) -> Result<Box<dyn LogFile>>;

    /// A further file of the run.
    ///
    /// # Errors
    /// The error of the operating system; [`io::ErrorKind::AlreadyExists`] if a file is there.
    fn create(&mut self, path: &Path) -> io::Result<Box<dyn LogFile>>;
}
