//! A disk in memory that stalls, is full, fails, and forgets what was not synced; another program
//! removes files from it.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use super::faults::Faults;
use super::world::BEGIN_NS;
use crate::common::dice::Dice;
use hardstand::ErrorKind;
use hardstand_log::{LogFile, Storage};

#[derive(Clone)]
pub struct SimDisk(Arc<Mutex<State>>);

pub struct State {
    pub files: BTreeMap<PathBuf, File>,
    /// The recorder's thread is in a write until then.
    pub busy_until_ns: u64,
    pub now_ns: u64,
    /// When the newest file was synced: an older one that ends holds only what came before it.
    pub synced_ns: u64,
    newest: PathBuf,
    /// Nothing is written any more: the process is dead.
    pub dead: bool,
    pub stalls: u64,
    pub is_full: bool,
    /// An operation has failed.
    pub has_failed: bool,
    /// A file was removed.
    pub removed: Option<PathBuf>,
    operations: u64,
    syncs: u64,
    dice: Dice,
    faults: Faults,
}

#[derive(Default)]
pub struct File {
    pub data: Vec<u8>,
    pub synced: usize,
}

impl SimDisk {
    pub fn new(faults: &Faults, seed: u64) -> Self {
        Self(Arc::new(Mutex::new(State {
            files: BTreeMap::new(),
            busy_until_ns: 0,
            now_ns: 0,
            synced_ns: 0,
            newest: PathBuf::new(),
            dead: false,
            stalls: 0,
            is_full: false,
            has_failed: false,
            removed: None,
            operations: 0,
            syncs: 0,
            dice: Dice(seed | 1),
            faults: faults.clone(),
        })))
    }

    pub fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    /// What a crash of the machine leaves: all that was synced, and any part of the rest.
    pub fn lose_power(&self) {
        let mut state = self.state();
        let State { files, dice, .. } = &mut *state;
        for file in files.values_mut() {
            let unsynced = (file.data.len() - file.synced) as u64;
            let kept = file.synced + dice.roll(unsynced + 1) as usize;
            file.data.truncate(kept);
        }
    }

    /// Copies the files into a real folder.
    pub fn pour_into(&self, dir: &Path) {
        let state = self.state();
        for (name, file) in
            state.files.iter().filter(|(name, _)| state.removed.as_ref() != Some(name))
        {
            std::fs::write(dir.join(name), &file.data).unwrap();
        }
    }
}

impl State {
    /// Counts an operation; one of them fails.
    fn operate(&mut self) -> io::Result<()> {
        if self.dead {
            return Err(io::Error::other("dead"));
        }
        self.operations += 1;
        if self.faults.disk_error == Some(self.operations) {
            self.has_failed = true;
            return Err(io::Error::from_raw_os_error(5)); // EIO
        }
        Ok(())
    }

    /// Another program removes the newest file, once.
    pub fn remove_newest(&mut self) {
        let is_due = self.faults.removal_ns.is_some_and(|after| self.now_ns >= BEGIN_NS + after);
        if is_due && self.removed.is_none() {
            self.removed = Some(self.newest.clone());
        }
    }
}

impl Storage for SimDisk {
    fn replace(&mut self, path: &Path) -> hardstand::Result<Box<dyn LogFile>> {
        let failed = |e: io::Error| hardstand::Error::new(ErrorKind::File, e.to_string());
        self.create(path).map_err(failed)
    }

    fn create(&mut self, path: &Path) -> io::Result<Box<dyn LogFile>> {
        let mut state = self.state();
        state.operate()?;
        if state.files.insert(path.into(), File::default()).is_some() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        state.newest = path.into();
        Ok(Box::new(Handle { disk: self.clone(), path: path.into() }))
    }
}

struct Handle {
    disk: SimDisk,
    path: PathBuf,
}

impl Write for Handle {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut state = self.disk.state();
        state.operate()?;
        if state.faults.disk_stall > 0 && state.dice.roll(1000) < state.faults.disk_stall {
            let max = state.faults.disk_stall_ms_max;
            let stall_ns = (1 + state.dice.roll(max)) * 1_000_000;
            state.busy_until_ns = state.busy_until_ns.max(state.now_ns) + stall_ns;
            state.stalls += 1;
        }
        // a system may take less than it is given
        let short = state.dice.roll(8) == 0;
        let mut n =
            if short { 1 + state.dice.roll(bytes.len() as u64) as usize } else { bytes.len() };
        if let Some(capacity) = state.faults.disk_bytes {
            let used: usize = state.files.values().map(|f| f.data.len()).sum();
            n = n.min(capacity.saturating_sub(used));
            if n == 0 && !bytes.is_empty() {
                state.is_full = true;
                return Err(io::ErrorKind::StorageFull.into());
            }
        }
        state.files.get_mut(&self.path).unwrap().data.extend_from_slice(&bytes[..n]);
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl LogFile for Handle {
    fn sync(&self) -> io::Result<()> {
        let mut state = self.disk.state();
        state.operate()?;
        state.syncs += 1;
        if state.faults.sync_error == Some(state.syncs) {
            state.has_failed = true;
            return Err(io::Error::from_raw_os_error(5)); // EIO
        }
        // what was taken in when the round began; the stall comes on top
        let now_ns = state.now_ns;
        if state.newest == self.path {
            state.synced_ns = now_ns;
        }
        let file = state.files.get_mut(&self.path).unwrap();
        file.synced = file.data.len();
        Ok(())
    }

    fn change(&self) -> Option<String> {
        let state = self.disk.state();
        (state.removed.as_ref() == Some(&self.path)).then(|| "it was removed".into())
    }

    fn another(&self) -> io::Result<Box<dyn LogFile>> {
        Ok(Box::new(Self { disk: self.disk.clone(), path: self.path.clone() }))
    }
}
