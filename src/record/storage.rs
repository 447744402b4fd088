//! Where log files live.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

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

    /// Files in the same folder as `path`.
    ///
    /// # Errors
    /// As the system tells.
    fn beside(&self, path: &Path) -> io::Result<Vec<PathBuf>>;

    /// Removes a file.
    ///
    /// # Errors
    /// As the system tells.
    fn remove(&self, path: &Path) -> io::Result<()>;
}

/// The file system.
#[derive(Clone, Copy, Debug, Default)]
pub struct Disk;

impl Storage for Disk {
    fn create(&self, path: &Path) -> io::Result<Box<dyn LogFile>> {
        Ok(Box::new(File::create(path)?))
    }

    fn beside(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let name = |entry: io::Result<fs::DirEntry>| Ok(path.with_file_name(entry?.file_name()));
        fs::read_dir(folder)?.map(name).collect()
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
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
