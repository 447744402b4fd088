//! What a test costs.

use rustix::time::{ClockId, clock_gettime};

use super::allocator::peak_bytes;

/// CPU time of this thread, s.
fn thread_s() -> f64 {
    let t = clock_gettime(ClockId::ThreadCPUTime);
    t.tv_sec as f64 + t.tv_nsec as f64 / 1e9
}

/// Runs `cases` cases and prints the cost of the slowest one. None of them may need 64 MiB.
pub fn frugal(cases: u64, mut case: impl FnMut(u64)) {
    let (mut slowest_s, mut which) = (0.0, 0);
    let ((), bytes) = peak_bytes(|| {
        for n in 0..cases {
            let start = thread_s();
            case(n);
            let taken = thread_s() - start;
            if taken > slowest_s {
                (slowest_s, which) = (taken, n);
            }
        }
    });
    println!("{cases} cases: slowest {slowest_s:.4} s (case {which}), peak {} KiB", bytes >> 10);
    assert!(bytes < 64 << 20, "{} KiB", bytes >> 10);
}
