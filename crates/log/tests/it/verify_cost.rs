//! The time that `verify` takes.

use hardstand_log::{Verdict, verify};
use rustix::time::{ClockId, clock_gettime};

use crate::{info, start_with, write_ticks};

fn cpu_ns() -> i64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// CPU time for each tick of a log of so many ticks, ns: the least of three.
fn cost_ns(ticks: u64, segment_bytes_max: u64) -> i64 {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = start_with(&dir.path().join("run.mcap"), info(), segment_bytes_max).unwrap();
    write_ticks(&mut writer, 0..ticks);
    let files = writer.finish().segments;
    let once = || {
        let begin = cpu_ns();
        let found = verify(&files[0], |_, _| ()).unwrap();
        assert_eq!(found.verdict, Verdict::Complete);
        cpu_ns() - begin
    };
    (0..3).map(|_| once()).min().unwrap() / ticks as i64
}

/// Ten times as many ticks take ten times as long, in one file and in many. A quadratic step would
/// multiply the time for each tick by up to ten.
#[test]
fn verify_is_linear_in_the_length_of_the_log() {
    for segment_bytes_max in [u64::MAX, 10_000] {
        let [short, long] = [1000, 10_000].map(|ticks| cost_ns(ticks, segment_bytes_max));
        assert!(
            long < 3 * short,
            "files of {segment_bytes_max} bytes: {short} ns for each of 1000 ticks, {long} of 10,000"
        );
    }
}
