//! Where log files live.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

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
}

/// A place where files can be created: a disk, or a faulty one in a simulation.
pub trait Storage: Send {
    /// Creates a file, or empties it.
    ///
    /// # Errors
    /// The error of the operating system.
    fn create(&self, path: &Path) -> io::Result<Box<dyn LogFile>>;

    /// Files in the same folder as `path`.
    ///
    /// # Errors
    /// The error of the operating system.
    fn beside(&self, path: &Path) -> io::Result<Vec<PathBuf>>;

    /// Removes a file.
    ///
    /// # Errors
    /// The error of the operating system.
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

/// A file, and a thread that puts it on the disk, which can take long on a busy disk. What has been
/// written belongs to the operating system: a killed process does not lose it.
#[derive(Debug)]
struct DiskFile {
    file: File,
    requests: SyncSender<()>,
    results: Receiver<io::Result<()>>,
}

impl DiskFile {
    fn new(file: File) -> io::Result<Self> {
        let (requests, asked) = sync_channel::<()>(1);
        let (result, results) = sync_channel(1);
        let own = file.try_clone()?;
        let work = move || {
            for () in asked {
                let _unread_result_of_an_earlier_sync = result.try_send(own.sync_data()).is_ok();
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
        let _a_sync_is_running = self.requests.try_send(()).is_ok();
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
