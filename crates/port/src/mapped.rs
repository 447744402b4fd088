//! Memory that is shared with another process, as atomic words.

use std::ffi::c_void;
use std::fs::File;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use crate::bus_error::Watched;

/// A file in memory. Another process may write it at any time, so each access is atomic; it may
/// also cut it, and then this is lost until [`map_again`](Self::map_again).
#[derive(Debug)]
pub(crate) struct Mapped {
    words: NonNull<AtomicU64>,
    count: usize,
    watched: &'static Watched,
}

// SAFETY: the words are atomic, and the mapping lives as long as the value
#[allow(unsafe_code, reason = "a pointer to shared memory")]
unsafe impl Send for Mapped {}

impl Mapped {
    /// Maps the first `count` words of a file that is as long.
    #[allow(unsafe_code, reason = "mmap")]
    pub(crate) fn new(file: &File, count: usize) -> std::io::Result<Self> {
        let (access, bytes) = (ProtFlags::READ | ProtFlags::WRITE, 8 * count);
        // SAFETY: a new mapping at an address that the kernel chooses overlaps nothing
        let at = unsafe { mmap(std::ptr::null_mut(), bytes, access, MapFlags::SHARED, file, 0)? };
        let words = NonNull::new(at.cast::<AtomicU64>());
        let words = words.ok_or_else(|| std::io::Error::other("mapped at address 0"))?;
        let watched = Watched::claim(words.as_ptr() as usize, bytes).inspect_err(|_| {
            // SAFETY: nothing refers to the mapping yet
            let _unmapped = unsafe { munmap(at, bytes) };
        })?;
        Ok(Self { words, count, watched })
    }

    /// Whether the file was cut under an access. What was written since then is nowhere.
    pub(crate) fn is_lost(&self) -> bool {
        self.watched.is_lost()
    }

    /// Maps the file in the same place, after it was lost.
    #[allow(unsafe_code, reason = "mmap")]
    pub(crate) fn map_again(&self, file: &File) -> std::io::Result<()> {
        let (access, kind) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED);
        let (at, bytes) = (self.words.as_ptr().cast::<c_void>(), 8 * self.count);
        // SAFETY: these pages are those of this mapping, and are accessed as atomic words only
        unsafe { mmap(at, bytes, access, kind | MapFlags::FIXED, file, 0)? };
        self.watched.found();
        Ok(())
    }

    /// The words.
    #[allow(unsafe_code, reason = "a pointer to shared memory")]
    pub(crate) fn words(&self) -> &[AtomicU64] {
        // SAFETY: `count` aligned words are mapped until `self` is dropped, and every access to
        // them in this process is atomic
        unsafe { std::slice::from_raw_parts(self.words.as_ptr(), self.count) }
    }

    /// Copies bytes to word `at` on; a part of a word is filled with zeros.
    pub(crate) fn write(&self, at: usize, bytes: &[u8]) {
        for (word, chunk) in self.words()[at..].iter().zip(bytes.chunks(8)) {
            let mut whole = [0; 8];
            whole[..chunk.len()].copy_from_slice(chunk);
            word.store(u64::from_le_bytes(whole), Ordering::Relaxed);
        }
    }

    /// Copies words into bytes.
    pub(crate) fn read(&self, at: usize, bytes: &mut [u8]) {
        for (chunk, word) in bytes.chunks_mut(8).zip(&self.words()[at..]) {
            let whole = word.load(Ordering::Relaxed).to_le_bytes();
            chunk.copy_from_slice(&whole[..chunk.len()]);
        }
    }
}

impl Drop for Mapped {
    #[allow(unsafe_code, reason = "munmap")]
    fn drop(&mut self) {
        self.watched.release();
        // SAFETY: nothing refers to the mapping any more
        let _unmapped = unsafe { munmap(self.words.as_ptr().cast::<c_void>(), 8 * self.count) };
    }
}
