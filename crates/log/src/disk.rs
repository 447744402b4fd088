//! Log files on a disk.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hardstand_error::Result;

use crate::replace::{Begun, Pending, begin};
use crate::writer::file_error;
use crate::{LogFile, Stamp, Storage};

/// The file system. It locks the files of a run: another process that records in one of them is
/// refused until this is dropped.
#[derive(Debug, Default)]
pub struct Disk {
    /// The first file of the run, whose lock is that of the run, and the one at hand.
    locked: Vec<File>,
}

impl Storage for Disk {
    fn replace(&mut self, path: &Path) -> Result<Box<dyn LogFile>> {
        let Begun { file, path: at, pending } = begin(path)?;
        let failed = |e| file_error(path, &e);
        self.locked = vec![file.try_clone().map_err(failed)?];
        Ok(Box::new(DiskFile::new(file, at, pending).map_err(failed)?))
    }

    fn create(&mut self, path: &Path) -> io::Result<Box<dyn LogFile>> {
        // appended to: a file that is cut stays shorter than what was written
        let file = OpenOptions::new().append(true).create_new(true).open(path)?;
        // a file system without locks has no way to refuse another process
        let _locked = file.try_lock().is_ok();
        self.unlock_all_but_the_first();
        self.locked.push(file.try_clone()?);
        Ok(Box::new(DiskFile::new(file, path.into(), None)?))
    }
}

impl Disk {
    fn unlock_all_but_the_first(&mut self) {
        for file in self.locked.drain(self.locked.len().min(1)..) {
            let _closed_anyway = file.unlock().is_ok();
        }
    }
}

impl Drop for Disk {
    /// Another handle, for instance of the thread that syncs, must not hold the lock any longer.
    fn drop(&mut self) {
        self.unlock_all_but_the_first();
        for file in self.locked.drain(..) {
            let _closed_anyway = file.unlock().is_ok();
        }
    }
}

/// A file, and a thread that puts it on the disk, which can take long on a busy disk. What has been
/// written belongs to the operating system: a killed process does not lose it.
#[derive(Debug)]
struct DiskFile {
    shared: Arc<Shared>,
    /// Asks for a sync; none in another handle of the file.
    requests: Option<SyncSender<()>>,
}

/// What the handles of a file have in common.
#[derive(Debug)]
struct Shared {
    file: File,
    written: AtomicU64,
    /// Why the first sync failed that did: the system reports it once, and later syncs succeed.
    failed: Mutex<Option<(io::ErrorKind, String)>>,
    /// Its name is on the disk.
    named: AtomicBool,
    /// It shall take the place of an older file.
    begun: AtomicBool,
    place: Mutex<Place>,
}

#[derive(Debug)]
struct Place {
    path: PathBuf,
    /// What it replaces, until it has.
    pending: Option<Pending>,
    /// Why it could not replace that.
    trouble: Option<String>,
}

impl DiskFile {
    fn new(file: File, path: PathBuf, pending: Option<Pending>) -> io::Result<Self> {
        let place = Mutex::new(Place { path, pending, trouble: None });
        let (written, failed, named, begun) = Default::default();
        let shared = Arc::new(Shared { file, written, failed, named, begun, place });
        let (requests, asked) = sync_channel::<()>(1);
        let own = Arc::clone(&shared);
        let work = move || {
            for () in asked {
                if own.sync().is_ok() && own.begun.load(Ordering::Acquire) {
                    own.take_place();
                }
            }
        };
        std::thread::Builder::new().name("log-sync".into()).spawn(work)?;
        Ok(Self { shared, requests: Some(requests) })
    }
}

impl Shared {
    fn place(&self) -> MutexGuard<'_, Place> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts contents and name on the disk. Once this has failed, it fails for good.
    fn sync(&self) -> io::Result<()> {
        self.remembering(|| self.sync_once())
    }

    fn remembering(&self, sync: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        said(failed.as_ref())?;
        let synced = sync();
        if let Err(e) = &synced {
            *failed = Some((e.kind(), e.to_string()));
        }
        synced
    }

    /// The failure of an earlier sync; none is known while a sync runs.
    fn earlier_failure(&self) -> io::Result<()> {
        self.failed.try_lock().map_or(Ok(()), |failed| said(failed.as_ref()))
    }

    fn sync_once(&self) -> io::Result<()> {
        self.file.sync_data()?;
        if !self.named.load(Ordering::Acquire) {
            let path = self.place().path.clone();
            sync_folder(&path)?;
            self.named.store(true, Ordering::Release);
        }
        Ok(())
    }

    /// Replaces the older file, if that is still to be done.
    fn take_place(&self) {
        let mut place = self.place();
        let Some(pending) = place.pending.take() else { return };
        match pending.replace_with(&place.path).and_then(|()| sync_folder(&place.path)) {
            Ok(()) => place.path = pending.into_path(),
            Err(e) => {
                let (at, of) = (place.path.display(), pending.path().display());
                place.trouble = Some(format!("it cannot replace {of} ({e}) and stays in {at}"));
            }
        }
    }
}

fn said(failed: Option<&(io::ErrorKind, String)>) -> io::Result<()> {
    failed.map_or(Ok(()), |(kind, text)| Err(io::Error::new(*kind, text.clone())))
}

/// Puts the names in the folder of `path` on the disk: a new file can be lost without that, and an
/// old name come back. Not every folder can be opened, and not every file system syncs folders.
fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Ok(folder) = File::open(folder) else { return Ok(()) };
    match folder.sync_all() {
        Err(e) if matches!(e.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => {
            Ok(())
        }
        synced => synced,
    }
}

impl Drop for DiskFile {
    /// A file that was not ended takes its place if it holds ticks. After this, no thread touches
    /// names: another process may have them.
    fn drop(&mut self) {
        if self.requests.is_none() {
            return;
        }
        if self.shared.begun.load(Ordering::Acquire) {
            return self.replace_now();
        }
        let mut place = self.shared.place();
        if place.pending.take().is_some() {
            let _it_holds_no_tick = fs::remove_file(&place.path).is_ok();
        }
    }
}

impl Write for DiskFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = (&self.shared.file).write(bytes)?;
        self.shared.written.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        (&self.shared.file).flush()
    }
}

impl LogFile for DiskFile {
    fn sync(&self) -> io::Result<()> {
        self.shared.sync()
    }

    fn sync_soon(&self) -> io::Result<()> {
        let Some(requests) = &self.requests else { return self.sync() };
        let _a_sync_is_running = requests.try_send(()).is_ok();
        self.shared.earlier_failure()
    }

    fn another(&self) -> io::Result<Box<dyn LogFile>> {
        Ok(Box::new(Self { shared: Arc::clone(&self.shared), requests: None }))
    }

    fn replace_soon(&self) {
        if !self.shared.begun.swap(true, Ordering::AcqRel)
            && let Some(requests) = &self.requests
        {
            let _the_next_sync_does_it = requests.try_send(()).is_ok();
        }
    }

    fn replace_now(&self) {
        let is_pending = self.shared.place().pending.is_some();
        if is_pending && self.shared.sync().is_ok() {
            self.shared.take_place();
        }
    }

    fn change(&self) -> Option<String> {
        let trouble = self.shared.place().trouble.take();
        trouble.or_else(|| self.stamp()?.change())
    }

    fn stamp(&self) -> Option<Stamp> {
        let place = self.shared.place();
        let bytes = self.shared.written.load(Ordering::Relaxed);
        let metadata = self.shared.file.metadata().ok()?;
        Some(Stamp::of(&place.path, &metadata, bytes))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests fail by panic")]
mod tests {
    use std::io;

    use super::DiskFile;
    use crate::LogFile as _;

    /// The system reports a failed write once: what comes after succeeds.
    #[test]
    fn a_sync_that_failed_is_not_forgotten() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run.mcap");
        let new = || {
            let file = std::fs::File::create(&path).unwrap();
            DiskFile::new(file, path.clone(), None).unwrap()
        };
        let file = new();
        file.sync_soon().unwrap();
        file.sync().unwrap();
        let broken = || Err(io::Error::new(io::ErrorKind::StorageFull, "no space"));
        file.shared.remembering(broken).unwrap_err();
        for found in [file.sync_soon(), file.sync(), file.another().unwrap().sync()] {
            let found = found.unwrap_err();
            assert_eq!(
                (found.kind(), found.to_string()),
                (io::ErrorKind::StorageFull, "no space".into())
            );
        }
        new().sync().unwrap();
    }
}
