//! Where log files live.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crossbeam_channel::{Receiver, Sender, bounded};

/// An open log file.
pub trait LogFile: Write + Send {
    /// Puts everything written so far on the disk.
    ///
    /// # Errors
    /// As the system tells.
    fn sync(&self) -> io::Result<()>;

    /// Asks for the same without waiting for it, where that can be had.
    ///
    /// # Errors
    /// What came of what was asked for before.
    fn sync_soon(&self) -> io::Result<()> {
        self.sync()
    }

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
        Ok(Box::new(DiskFile::new(File::create(path)?)?))
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

/// A file, and a thread that puts it on the disk. A busy disk takes its time for that; what is
/// written meanwhile is the system's, and a kill does not lose it.
#[derive(Debug)]
struct DiskFile {
    file: File,
    requests: Sender<()>,
    results: Receiver<io::Result<()>>,
}

impl DiskFile {
    fn new(file: File) -> io::Result<Self> {
        let (requests, asked) = bounded::<()>(1);
        let (result, results) = bounded(1);
        let own = file.try_clone()?;
        let work = move || {
            for () in asked {
                let _the_one_before_is_unread = result.try_send(own.sync_data()).is_ok();
            }
        };
        std::thread::Builder::new().name("log-sync".into()).spawn(work)?;
        Ok(Self { file, requests, results })
    }
}

impl Write for DiskFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl LogFile for DiskFile {
    fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn sync_soon(&self) -> io::Result<()> {
        let before = self.results.try_recv().unwrap_or(Ok(()));
        let _still_at_it = self.requests.try_send(()).is_ok();
        before
    }

    fn another(&self) -> io::Result<Box<dyn LogFile>> {
        Ok(Box::new(self.file.try_clone()?))
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
