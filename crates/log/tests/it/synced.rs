//! When a recording is put on the disk.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use hardstand_log::{LogFile, LogLimits, RunWriter, Storage};

use crate::{info, write_ticks};

/// What has happened, in order: `w` for a write, `s` for a sync that is waited for, `r` for a
/// request for one, and `|` for a new file.
#[derive(Clone, Default)]
struct Journal(Arc<Mutex<String>>);

impl Journal {
    fn note(&self, what: char) {
        let mut text = self.0.lock().unwrap();
        if what != 'w' || !text.ends_with('w') {
            text.push(what);
        }
    }

    fn take(&self) -> String {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

impl Storage for Journal {
    fn replace(&mut self, path: &Path) -> hardstand_error::Result<Box<dyn LogFile>> {
        Ok(self.create(path).unwrap())
    }

    fn create(&mut self, _path: &Path) -> io::Result<Box<dyn LogFile>> {
        self.note('|');
        Ok(Box::new(self.clone()))
    }
}

impl Write for Journal {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.note('w');
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl LogFile for Journal {
    fn sync(&self) -> io::Result<()> {
        self.note('s');
        Ok(())
    }

    fn sync_soon(&self) -> io::Result<()> {
        self.note('r');
        Ok(())
    }

    fn another(&self) -> io::Result<Box<dyn LogFile>> {
        Ok(Box::new(self.clone()))
    }
}

#[test]
fn a_file_is_synced_every_second_and_after_its_last_byte() {
    let journal = Journal::default();
    let limits = LogLimits { segment_bytes_max: 10_000, ..Default::default() };
    let (path, disk) = (PathBuf::from("run.mcap"), Box::new(journal.clone()));
    let mut writer = RunWriter::start(disk, path, info(), limits, Vec::new()).unwrap();
    assert_eq!(journal.take(), "|w", "the header is written at once");
    write_ticks(&mut writer, 0..9);
    assert_eq!(journal.take(), "", "a chunk waits for its tenth tick");
    write_ticks(&mut writer, 9..10);
    assert_eq!(journal.take(), "w");
    for (ms, expected) in [(0, ""), (5, ""), (999, ""), (1000, "r"), (1005, ""), (2000, "r")] {
        writer.settle(ms * 1_000_000);
        assert_eq!(journal.take(), expected, "{ms} ms");
    }
    write_ticks(&mut writer, 10..26);
    assert_eq!(journal.take(), "w|ws", "the old file is synced when the next one has begun");
    assert_eq!(writer.finish().problem(), None);
    assert_eq!(journal.take(), "ws", "nothing is written after the last sync");
}

/// A chunk goes to the system with its link, so a kill does not part them.
#[test]
fn a_chunk_and_its_link_are_one_write() {
    struct Counter(Arc<Mutex<Vec<usize>>>);
    impl Write for Counter {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().push(bytes.len());
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    impl LogFile for Counter {
        fn sync(&self) -> io::Result<()> {
            Ok(())
        }
        fn another(&self) -> io::Result<Box<dyn LogFile>> {
            Ok(Box::new(Self(Arc::clone(&self.0))))
        }
    }
    impl Storage for Counter {
        fn replace(&mut self, _path: &Path) -> hardstand_error::Result<Box<dyn LogFile>> {
            Ok(Box::new(Self(Arc::clone(&self.0))))
        }
        fn create(&mut self, path: &Path) -> io::Result<Box<dyn LogFile>> {
            Ok(self.replace(path).unwrap())
        }
    }
    let writes = Arc::new(Mutex::new(Vec::new()));
    let (path, disk) = (PathBuf::from("run.mcap"), Box::new(Counter(Arc::clone(&writes))));
    let limits = LogLimits::default();
    let mut writer = RunWriter::start(disk, path, info(), limits, Vec::new()).unwrap();
    let header = writes.lock().unwrap().len();
    assert_eq!(header, 1);
    write_ticks(&mut writer, 0..1000);
    assert_eq!(writes.lock().unwrap().len(), header + 100);
    drop(writer);
    assert_eq!(writes.lock().unwrap().len(), header + 100, "no end without a last link");
}
