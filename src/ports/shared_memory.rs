//! States and commands in shared memory, with one peer.
//!
//! Two slots, each behind a counter that is odd while its packet changes. `docs/port.md` has the
//! offsets and a peer in C.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::fs::{FallocateFlags, FlockOperation, fallocate, flock};
use rustix::io::{Errno, retry_on_intr};

use crate::buffer_pool::Waiter;
use crate::fault_point;
use crate::rt::PortState;
use hardstand_error::{Error, ErrorKind, Result, no_thread};
use hardstand_port::Slots;
use hardstand_port::packet::in_slot;

use super::PortEnds;
use super::exchange::Exchange;

/// Time between two looks after the time of spinning is over.
const LOOK_AGAIN: Duration = Duration::from_micros(20);

/// Shared memory, before its thread runs.
#[derive(Debug)]
pub struct OpenSharedMemory {
    slots: Slots,
    /// The file, locked as long as the daemon has it.
    file: File,
    spin: Duration,
}

impl OpenSharedMemory {
    /// Makes the file for a robot with so many joints and feet. After a state the thread looks for
    /// its answer without a pause for `spin_us`.
    ///
    /// # Errors
    /// [`ErrorKind::File`] if it cannot be made, or something else is there that is no such file.
    pub fn open(path: &Path, (joints, feet): (usize, usize), spin_us: u64) -> Result<Self> {
        let failed = |e: std::io::Error| {
            Error::new(ErrorKind::File, format!("shared memory {}: {e}", path.display()))
        };
        let file = create(path, Slots::file_bytes(joints, feet)).map_err(failed)?;
        let slots = Slots::create(&file, (joints, feet)).map_err(failed)?;
        Ok(Self { slots, file, spin: Duration::from_micros(spin_us) })
    }

    /// Makes the file whole again if a peer has cut it. If that is between this and an access, the
    /// memory is lost, and the next look maps the file again.
    fn is_whole(&self) -> bool {
        let (bytes, is_lost) = (self.slots.bytes(), self.slots.is_lost());
        let stat = rustix::fs::fstat(&self.file);
        if !is_lost && stat.is_ok_and(|stat| stat.st_size as u64 >= bytes) {
            return true;
        }
        let whole = reserve(&self.file, bytes).is_ok()
            && (!is_lost || self.slots.map_again(&self.file).is_ok());
        if whole {
            self.slots.put_head();
        }
        whole
    }

    /// Starts the thread; `arrived` wakes it when a state has come, if ticks wait for its commands.
    ///
    /// # Errors
    /// [`ErrorKind::Bus`] if there is no thread.
    pub fn start(
        self,
        ends: PortEnds,
        state: PortState,
        arrived: Option<Waiter>,
    ) -> Result<JoinHandle<()>> {
        let mut exchange = Exchange::new("shared_memory", ends, state, arrived.is_some());
        let guard = exchange.ends.guard.clone();
        std::thread::Builder::new()
            .name("shared-memory".into())
            .spawn(move || guard.keep(|| self.run(&mut exchange, arrived.as_ref())))
            .map_err(|e| no_thread("shared memory", &e))
    }

    fn run(&self, exchange: &mut Exchange, arrived: Option<&Waiter>) {
        let (mut bytes, mut seen) = (Vec::new(), 0);
        let mut spin_until = Instant::now();
        while !exchange.ends.stop.load(Ordering::Relaxed) {
            fault_point::visit("shared-memory");
            let whole = self.is_whole();
            if exchange.has_news() && whole {
                self.slots.put_state(&exchange.packet);
                spin_until = Instant::now() + self.spin;
            }
            if whole && self.slots.take_command(&mut seen, &mut bytes) {
                exchange.take(in_slot(&bytes));
                exchange.count();
                spin_until = Instant::now();
            } else if Instant::now() < spin_until {
                std::hint::spin_loop();
            } else {
                exchange.count();
                match arrived {
                    Some(waiter) => waiter.sleep(LOOK_AGAIN),
                    None => std::thread::sleep(LOOK_AGAIN),
                }
            }
        }
        if self.is_whole() {
            self.slots.close();
        }
    }
}

/// A new file of so many bytes; one of an earlier run is replaced.
fn create(path: &Path, bytes: u64) -> std::io::Result<File> {
    if let Ok(found) = std::fs::symlink_metadata(path) {
        let exists = |text| Err(std::io::Error::new(std::io::ErrorKind::AlreadyExists, text));
        if !found.is_file() || !begins_with_magic(path) {
            return exists("there is something already that is no shared memory of a daemon");
        }
        if flock(&File::open(path)?, FlockOperation::NonBlockingLockExclusive).is_err() {
            return exists("another daemon uses it");
        }
        std::fs::remove_file(path)?;
    }
    let mut options = OpenOptions::new();
    let file = options.read(true).write(true).create_new(true).mode(0o600).open(path)?;
    flock(&file, FlockOperation::NonBlockingLockExclusive)?;
    if let Err(e) = reserve(&file, bytes) {
        // it is no shared memory yet, so the next start would refuse it
        let _gone = std::fs::remove_file(path).is_ok();
        return Err(e);
    }
    Ok(file)
}

/// Makes the file so long, with all its pages: one for which there is no room would end the
/// process when it is touched.
fn reserve(file: &File, bytes: u64) -> std::io::Result<()> {
    match retry_on_intr(|| fallocate(file, FallocateFlags::empty(), 0, bytes)) {
        // a file system that cannot reserve
        Err(Errno::OPNOTSUPP) => file.set_len(bytes),
        // without room the file stays as short as it was
        reserved => Ok(reserved?),
    }
}

fn begins_with_magic(path: &Path) -> bool {
    use std::io::Read as _;
    let mut first = [0; 8];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut first));
    read.is_ok() && first == Slots::MAGIC
}
