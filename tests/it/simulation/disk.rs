//! A disk in memory that stalls, is full, and forgets what was not synced.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use super::faults::Faults;
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
        for (name, file) in &self.state().files {
            std::fs::write(dir.join(name), &file.data).unwrap();
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
        if state.dead {
            return Err(io::Error::other("dead"));
        }
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
        if state.dead {
            return Err(io::Error::other("dead"));
        }
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
        if state.dead {
            return Err(io::Error::other("dead"));
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

    fn another(&self) -> io::Result<Box<dyn LogFile>> {
        Ok(Box::new(Self { disk: self.disk.clone(), path: self.path.clone() }))
    }
}
