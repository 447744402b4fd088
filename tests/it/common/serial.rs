//! One test at a time, also where each test is a process (`cargo nextest`).

use std::fs::File;

/// Held by a test that needs the machine: two cores carry one daemon, not ten. Dropping the file
/// releases the lock.
pub fn serial() -> File {
    let lock = File::create(concat!(env!("CARGO_TARGET_TMPDIR"), "/serial.lock")).unwrap();
    lock.lock().unwrap();
    lock
}
