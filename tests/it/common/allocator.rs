//! The allocator of this test binary: the system's, with a count of what each thread does. Counts
//! per thread let tests that run side by side measure only themselves.
#![allow(unsafe_code, reason = "a global allocator is unsafe by nature")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static COUNTS: Cell<Counts> = const { Cell::new(Counts { calls: 0, bytes: 0, peak: 0 }) };
}

#[derive(Clone, Copy)]
struct Counts {
    calls: u64,
    /// Bytes that this thread has allocated and not freed; negative if it frees for others.
    bytes: i64,
    peak: i64,
}

struct Counting;

fn count(bytes: i64) {
    // while a thread ends its counter may be gone
    let _ = COUNTS.try_with(|cell| {
        let mut counts = cell.get();
        counts.calls += 1;
        counts.bytes += bytes;
        counts.peak = counts.peak.max(counts.bytes);
        cell.set(counts);
    });
}

fn signed(bytes: usize) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

// SAFETY: every call is passed on unchanged to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(signed(layout.size()));
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(signed(layout.size()));
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn dealloc(&self, p: *mut u8, layout: Layout) {
        count(-signed(layout.size()));
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(p, layout) }
    }
    unsafe fn realloc(&self, p: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(signed(size) - signed(layout.size()));
        // SAFETY: the caller's promise is passed on.
        unsafe { System.realloc(p, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Calls of the allocator by this thread since it began.
pub fn calls_so_far() -> u64 {
    COUNTS.get().calls
}

/// Calls of the allocator by this thread while `work` runs.
pub fn calls(work: impl FnOnce()) -> u64 {
    let before = calls_so_far();
    work();
    calls_so_far() - before
}

/// What `work` returns, and the most memory that it held at once beyond what was there before,
/// bytes. Counts this thread only.
pub fn peak_bytes<T>(work: impl FnOnce() -> T) -> (T, i64) {
    let mut counts = COUNTS.get();
    let before = counts.bytes;
    counts.peak = before;
    COUNTS.set(counts);
    let value = work();
    (value, COUNTS.get().peak - before)
}
