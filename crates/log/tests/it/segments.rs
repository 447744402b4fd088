//! A run in several files.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use hardstand_log::{LogFile, LogLimits, LogReader, RunIndex, RunWriter, Storage, TickId};

use crate::{KEYFRAME_TICKS, digests, info, record, write_ticks};

#[test]
fn a_full_file_ends_before_a_keyframe_and_names_the_next_one() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.mcap");
    let files = record(&path, 0..200);
    assert!(files.len() > 2, "{files:?}");
    let mut expected = 0;
    for (n, file) in files.iter().enumerate() {
        let mut log = LogReader::open(file).unwrap();
        let mut count = 0;
        while let Some(record) = log.next_record() {
            count += u64::from(matches!(record, hardstand_log::LogRecord::Tick(_)));
        }
        assert_eq!(log.damage(), None);
        expected += count;
        assert!(expected.is_multiple_of(KEYFRAME_TICKS));
        let next = log.next_segment().map(|next| (next.beside(&path), next.first_tick));
        assert_eq!(next, files.get(n + 1).map(|file| (file.clone(), expected)));
    }
    assert_eq!(expected, 200);
}

#[test]
fn the_index_of_a_run_finds_every_tick_and_its_keyframe() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.mcap");
    // ticks 80 to 99 are lost
    let files = record(&path, (0..80).chain(100..150));
    let index = RunIndex::of(&path, |_, _| ()).unwrap();
    assert_eq!((index.segments.len(), index.damage.clone()), (files.len(), None));
    assert_eq!((index.ticks(), index.end_tick(1), index.end_tick(2)), (130, Some(150), None));
    assert_eq!(index.tick(80), Some(TickId { run_id: 1, tick: 101 }));
    let (segment, keyframe) = index.before(1, 130).unwrap();
    assert!(segment.first_tick >= 100 && files.contains(&segment.file));
    assert_eq!(keyframe, 125);
    let text = index.before(1, 90).unwrap_err().to_string();
    assert!(text.contains("tick 90 of run 1 is not in the log"), "{text}");
}

/// A disk that is full after some bytes.
struct SmallDisk(usize);

struct SmallFile(usize);

impl Storage for SmallDisk {
    fn replace(&mut self, _path: &Path) -> hardstand_error::Result<Box<dyn LogFile>> {
        Ok(Box::new(SmallFile(self.0)))
    }

    fn create(&mut self, _path: &Path) -> io::Result<Box<dyn LogFile>> {
        Ok(Box::new(SmallFile(self.0)))
    }
}

impl Write for SmallFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0 == 0 && !bytes.is_empty() {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let n = bytes.len().min(self.0);
        self.0 -= n;
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl LogFile for SmallFile {
    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn another(&self) -> io::Result<Box<dyn LogFile>> {
        Ok(Box::new(Self(self.0)))
    }
}

#[test]
fn a_full_disk_ends_the_log_with_an_error_and_counts_the_ticks_before() {
    let disk = Box::new(SmallDisk(20_000));
    let path = PathBuf::from("run.mcap");
    let limits = LogLimits::default();
    let mut writer = RunWriter::start(disk, path, info(), limits, Vec::new()).unwrap();
    write_ticks(&mut writer, 0..500);
    let error = writer.written().error.clone();
    assert!(error.as_ref().is_some_and(|e| e.contains("run.mcap")), "{error:?}");
    let written = writer.finish();
    assert!((1..500).contains(&written.ticks), "{}", written.ticks);
}

#[test]
fn further_files_of_an_earlier_run_are_removed_and_no_others() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.mcap");
    let before = record(&path, 0..200);
    let other = dir.path().join("run.part02.mcap");
    std::fs::write(&other, "not of this run").unwrap();
    let files = record(&path, 0..20);
    assert_eq!(files.len(), 1);
    assert!(before[1..].iter().all(|file| !file.exists()) && other.exists());
    assert_eq!(digests(LogReader::open(&path).unwrap()).0.len(), 20);
}
