//! A log has at most so many files and bytes.

use hardstand_log::{Disk, LogLimits, RunIndex, RunWriter, SideMessages, WrittenLog};

use crate::{info, tick};

/// Ticks are lost after every tenth: each stretch has a file of its own.
fn record(limits: LogLimits, ticks: u64) -> (WrittenLog, RunIndex) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.mcap");
    let disk = Box::new(Disk::default());
    let mut writer = RunWriter::start(disk, path.clone(), info(), limits, Vec::new()).unwrap();
    for number in 0..ticks {
        let mut tick = tick(number + 5 * (number / 10));
        if number.is_multiple_of(10) {
            tick.keyframe = vec![number; 40];
        }
        writer.write(&tick, &SideMessages::default());
    }
    let written = writer.finish();
    let files = std::fs::read_dir(dir.path()).unwrap().count();
    assert_eq!(files, written.segments.len());
    (written, RunIndex::of(&path, |_, _| ()).unwrap())
}

#[test]
fn a_log_ends_in_order_when_it_has_as_many_files_as_it_may() {
    let limits = LogLimits { files_max: 4, ..Default::default() };
    let (written, index) = record(limits, 40);
    assert_eq!((written.problem(), written.is_full, written.segments.len()), (None, false, 4));
    assert_eq!((index.ticks(), index.damage), (40, None));

    let (written, index) = record(limits, 200);
    let error = written.error.expect("an error");
    assert!(error.contains("the 4 files that record.files_max allows"), "{error}");
    assert_eq!((written.is_full, written.ticks, written.segments.len()), (true, 40, 4));
    assert_eq!((index.ticks(), index.damage), (40, None));
}

#[test]
fn a_log_ends_in_order_when_it_has_as_many_bytes_as_it_may() {
    let limits = LogLimits { bytes_max: 20_000, ..Default::default() };
    let (written, index) = record(limits, 500);
    let error = written.error.expect("an error");
    assert!(error.contains("the 20000 bytes that record.total_mib allows"), "{error}");
    assert!(written.is_full && (10..200).contains(&written.ticks), "{}", written.ticks);
    assert_eq!((index.ticks(), index.damage), (written.ticks, None));
}
