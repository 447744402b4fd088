//! Where log files live.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// An open log file.
pub trait LogFile: Write + Send {
    /// Puts everything written so far on the disk.
    ///
    /// # Errors
    /// As the system tells.
    fn sync(&self) -> io::Result<()>;

    /// Another handle of the same file.
    ///
    /// # Errors
    /// As the system tells.
    fn another(&self) -> io::Result<Box<dyn LogFile>>;
}

/// A place where files can be created: a disk, or a faulty one in a simulation.
pub trait Storage: Send {
    /// Creates a file, or empties it.
    ///
    /// # Errors
    /// As the system tells.
    fn create(&self, path: &Path) -> io::Result<Box<dyn LogFile>>;
}

/// The file system.
#[derive(Clone, Copy, Debug, Default)]
pub struct Disk;

impl Storage for Disk {
    fn create(&self, path: &Path) -> io::Result<Box<dyn LogFile>> {
        Ok(Box::new(File::create(path)?))
    }
}

impl LogFile for File {
    fn sync(&self) -> io::Result<()> {
        self.sync_data()
    }

    fn another(&self) -> io::Result<Box<dyn LogFile>> {
        Ok(Box::new(self.try_clone()?))
    }
}
