//! What a test costs.
#![allow(clippy::print_stdout, reason = "a long run gives its figures")]
#![allow(dead_code, reason = "each test binary uses a part")]

use rustix::time::{ClockId, clock_gettime};

fn status_kib(key: &str) -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|l| l.strip_prefix(key)).unwrap_or("0");
    line.split_whitespace().next().and_then(|n| n.parse().ok()).unwrap_or(0)
}

/// Memory of the process now, KiB.
pub fn resident_kib() -> u64 {
    status_kib("VmRSS:")
}

/// The most memory that the process has had since its start, KiB.
pub fn peak_kib() -> u64 {
    status_kib("VmHWM:")
}

/// What this thread has computed, s.
pub fn thread_s() -> f64 {
    let t = clock_gettime(ClockId::ThreadCPUTime);
    t.tv_sec as f64 + t.tv_nsec as f64 / 1e9
}

/// Runs `cases` cases and says what the dearest one cost. None of them may need 64 MiB.
pub fn frugal(cases: u64, mut case: impl FnMut(u64)) {
    let (before, mut slowest_s, mut which) = (resident_kib(), 0.0, 0);
    for n in 0..cases {
        let start = thread_s();
        case(n);
        let taken = thread_s() - start;
        if taken > slowest_s {
            (slowest_s, which) = (taken, n);
        }
    }
    let more = peak_kib().saturating_sub(before);
    println!("{cases} cases: slowest {slowest_s:.4} s (case {which}), peak {more} KiB more");
    assert!(more < 64 << 10, "{more} KiB");
}
