//! The file: a head, a slot for the state and one for the command.

use std::fs::File;
use std::sync::atomic::{AtomicU64, Ordering, fence};

use crate::mapped::Mapped;
use crate::packet::{command_bytes, state_bytes};

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
/// Reads of a slot that changes meanwhile.
const TRIES: usize = 8;

/// Memory that daemon and controller share. Each slot is behind a counter that is odd while its
/// packet changes.
#[derive(Debug)]
pub struct Slots {
    memory: Mapped,
    /// Bytes of the packets of state and command.
    sizes: (usize, usize),
}

/// A slot: the word of its counter, and the first of its packet.
type Place = (usize, usize);

impl Slots {
    /// The bytes with which each such file begins.
    pub const MAGIC: [u8; 8] = *b"HSSHM001";

    /// Bytes of the file for a robot with so many joints and feet.
    #[must_use]
    pub const fn file_bytes(joints: usize, feet: usize) -> u64 {
        8 * words((state_bytes(joints, feet), command_bytes(joints))) as u64
    }

    /// Maps a file of [`file_bytes`](Self::file_bytes), and writes its head, last the magic.
    ///
    /// # Errors
    /// Those of `mmap`.
    pub fn create(file: &File, (joints, feet): (usize, usize)) -> std::io::Result<Self> {
        let sizes = (state_bytes(joints, feet), command_bytes(joints));
        let slots = Self { memory: Mapped::new(file, words(sizes))?, sizes };
        slots.put_head();
        Ok(slots)
    }

    /// Maps a file that a daemon has made.
    ///
    /// # Errors
    /// `InvalidData` if its head is another one, or it is shorter than its head says; those of
    /// `mmap`.
    pub fn open(file: &File) -> std::io::Result<Self> {
        let refuse = |text: &str| std::io::Error::new(std::io::ErrorKind::InvalidData, text);
        let bytes = file.metadata()?.len() as usize;
        if bytes < 8 * STATE {
            return Err(refuse("it is too short"));
        }
        let memory = Mapped::new(file, bytes / 8)?;
        let head = |n: usize| memory.words()[HEAD + n].load(Ordering::Acquire);
        if head(0) != u64::from_le_bytes(Self::MAGIC) {
            return Err(refuse("it is no shared memory of a daemon"));
        }
        let size = |n: usize| usize::try_from(head(n)).unwrap_or(usize::MAX);
        let (sizes, most) = ((size(2), size(4)), bytes);
        let fits = sizes.0 <= most && sizes.1 <= most && words(sizes) <= bytes / 8;
        if !fits || (size(1), size(3)) != (8 * STATE, 8 * command_word(sizes.0)) {
            return Err(refuse("its head does not fit its length"));
        }
        Ok(Self { memory, sizes })
    }

    /// Writes the head, last the magic.
    pub fn put_head(&self) {
        let (state, command) = (8 * STATE, 8 * command_word(self.sizes.0));
        let head = [state, self.sizes.0, command, self.sizes.1, 1];
        for (n, number) in head.into_iter().enumerate() {
            self.word(HEAD + 1 + n).store(number as u64, Ordering::Relaxed);
        }
        self.word(HEAD).store(u64::from_le_bytes(Self::MAGIC), Ordering::Release);
    }

    /// Bytes that the file must have.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        8 * self.memory.words().len() as u64
    }

    /// True after the orderly end of the daemon. A file that was cut says nothing.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        let head = self.word(HEAD).load(Ordering::Acquire);
        head == u64::from_le_bytes(Self::MAGIC) && self.word(OPEN).load(Ordering::Acquire) == 0
    }

    /// Whether another process has cut the file under an access of this one, which then saw zeros.
    /// What was written since then is lost.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.memory.is_lost()
    }

    /// Maps the file again, after it was lost.
    ///
    /// # Errors
    /// Those of `mmap`.
    pub fn map_again(&self, file: &File) -> std::io::Result<()> {
        self.memory.map_again(file)
    }

    /// The daemon ends.
    pub fn close(&self) {
        self.word(OPEN).store(0, Ordering::Release);
    }

    /// Writes a state's packet.
    pub fn put_state(&self, packet: &[u8]) {
        self.put((STATE_COUNTER, STATE), packet);
    }

    /// Copies the state's packet into `bytes` if it is another than that of the counter `seen`.
    pub fn take_state(&self, seen: &mut u64, bytes: &mut Vec<u8>) -> bool {
        bytes.resize(self.sizes.0, 0);
        self.take((STATE_COUNTER, STATE), seen, bytes)
    }

    /// Writes a command's packet.
    pub fn put_command(&self, packet: &[u8]) {
        self.put((COMMAND_COUNTER, command_word(self.sizes.0)), packet);
    }

    /// Copies the command's slot into `bytes` if it is another than that of the counter `seen`.
    pub fn take_command(&self, seen: &mut u64, bytes: &mut Vec<u8>) -> bool {
        bytes.resize(self.sizes.1, 0);
        self.take((COMMAND_COUNTER, command_word(self.sizes.0)), seen, bytes)
    }

    fn word(&self, n: usize) -> &AtomicU64 {
        &self.memory.words()[n]
    }

    fn put(&self, (counter, packet): Place, bytes: &[u8]) {
        let counter = self.word(counter);
        // the other process may have written any number
        let before = counter.load(Ordering::Relaxed) & !1;
        counter.store(before + 1, Ordering::Relaxed);
        fence(Ordering::Release);
        self.memory.write(packet, bytes);
        counter.store(before.wrapping_add(2), Ordering::Release);
    }

    fn take(&self, (counter, packet): Place, seen: &mut u64, bytes: &mut [u8]) -> bool {
        for _ in 0..TRIES {
            let now = self.word(counter).load(Ordering::Acquire);
            if now == *seen || now % 2 == 1 {
                return false;
            }
            self.memory.read(packet, bytes);
            fence(Ordering::Acquire);
            if self.word(counter).load(Ordering::Relaxed) == now {
                *seen = now;
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

/// Words of the file.
const fn words(sizes: (usize, usize)) -> usize {
    command_word(sizes.0) + (sizes.1 / 8).next_multiple_of(8)
}
