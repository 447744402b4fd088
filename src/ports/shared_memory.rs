//! States and commands in shared memory, with one peer.
//!
//! Two slots, each behind a counter that is odd while its packet changes. `docs/port.md` has the
//! offsets and a peer in C.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering, fence};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};

use crate::buffer_pool::Waiter;
use crate::fault_point;
use crate::rt::PortState;
use hardstand_error::{Error, ErrorKind, Result};

use super::PortEnds;
use super::exchange::Exchange;
use super::mapped::Mapped;
use super::packet::{command_bytes, in_slot, state_bytes};

/// First word.
const MAGIC: u64 = u64::from_le_bytes(*b"HSSHM001");
/// Words of magic, offset and size of the state's and of the command's packet (bytes), and
/// [`OPEN`].
const HEAD: usize = 0;
/// 1 while a daemon has the file open, 0 after its end.
const OPEN: usize = 5;
/// Counter of the state, on a cache line of its own.
const STATE_COUNTER: usize = 8;
/// Counter of the command.
const COMMAND_COUNTER: usize = 16;
/// The state's packet.
const STATE: usize = 32;
/// Time between two looks after the time of spinning is over.
const LOOK_AGAIN: Duration = Duration::from_micros(20);
/// Reads of a slot that changes meanwhile.
const TRIES: usize = 8;

/// Shared memory, before its thread runs.
#[derive(Debug)]
pub struct OpenSharedMemory {
    memory: Mapped,
    /// The file, locked as long as the daemon has it.
    file: File,
    /// Bytes of the packets of state and command.
    sizes: (usize, usize),
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
        let sizes = (state_bytes(joints, feet), command_bytes(joints));
        let count = command_word(sizes.0) + (sizes.1 / 8).next_multiple_of(8);
        let file = create(path, count).map_err(failed)?;
        let memory = Mapped::new(&file, count).map_err(failed)?;
        let open = Self { memory, file, sizes, spin: Duration::from_micros(spin_us) };
        open.put_head();
        Ok(open)
    }

    /// Writes the first words, and last the magic.
    fn put_head(&self) {
        let (state, command) = (8 * STATE, 8 * command_word(self.sizes.0));
        let head = [state, self.sizes.0, command, self.sizes.1, 1];
        for (n, number) in head.into_iter().enumerate() {
            self.word(HEAD + 1 + n).store(number as u64, Ordering::Relaxed);
        }
        self.word(HEAD).store(MAGIC, Ordering::Release);
    }

    /// Makes the file whole again if a peer has cut it: words that are not in the file end the
    /// process when they are touched. Between this and the access remains less than 1 µs.
    fn is_whole(&self) -> bool {
        let bytes = 8 * self.memory.words().len() as u64;
        if rustix::fs::fstat(&self.file).is_ok_and(|stat| stat.st_size as u64 >= bytes) {
            return true;
        }
        let whole = self.file.set_len(bytes).is_ok();
        if whole {
            self.put_head();
        }
        whole
    }

    /// Starts the thread; `arrived` wakes it when a state has come, if ticks wait for its commands.
    ///
    /// # Errors
    /// [`ErrorKind::Internal`] if there is no thread.
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
            .map_err(|e| Error::new(ErrorKind::Internal, format!("thread of shared memory: {e}")))
    }

    fn run(&self, exchange: &mut Exchange, arrived: Option<&Waiter>) {
        let mut bytes = vec![0; self.sizes.1];
        let mut seen = 0;
        let mut spin_until = Instant::now();
        while !exchange.ends.stop.load(Ordering::Relaxed) {
            fault_point::visit("shared-memory");
            let whole = self.is_whole();
            if exchange.has_news() && whole {
                self.put(&exchange.packet);
                spin_until = Instant::now() + self.spin;
            }
            if whole && self.has_command(&mut seen, &mut bytes) {
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
            self.word(OPEN).store(0, Ordering::Release);
        }
    }

    fn word(&self, n: usize) -> &AtomicU64 {
        &self.memory.words()[n]
    }

    /// Writes a state. The counter is odd meanwhile.
    fn put(&self, packet: &[u8]) {
        let counter = self.word(STATE_COUNTER);
        let before = counter.load(Ordering::Relaxed) & !1;
        counter.store(before + 1, Ordering::Relaxed);
        fence(Ordering::Release);
        self.memory.write(STATE, packet);
        counter.store(before + 2, Ordering::Release);
    }

    /// Reads the command if its counter has changed and is even.
    fn has_command(&self, seen: &mut u64, bytes: &mut [u8]) -> bool {
        for _ in 0..TRIES {
            let counter = self.word(COMMAND_COUNTER).load(Ordering::Acquire);
            if counter == *seen || counter % 2 == 1 {
                return false;
            }
            self.memory.read(command_word(self.sizes.0), bytes);
            fence(Ordering::Acquire);
            if self.word(COMMAND_COUNTER).load(Ordering::Relaxed) == counter {
                *seen = counter;
                return true;
            }
        }
        false
    }
}

/// The command's packet, behind a state's packet of so many bytes.
const fn command_word(state_bytes: usize) -> usize {
    STATE + (state_bytes / 8).next_multiple_of(8)
}

/// A new file of `words` words; one of an earlier run is replaced.
fn create(path: &Path, words: usize) -> std::io::Result<File> {
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
    file.set_len(8 * words as u64)?;
    Ok(file)
}

fn begins_with_magic(path: &Path) -> bool {
    use std::io::Read as _;
    let mut first = [0; 8];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut first));
    read.is_ok() && first == MAGIC.to_le_bytes()
}
