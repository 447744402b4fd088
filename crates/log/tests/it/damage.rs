//! Logs that were cut off or changed: what can be read is a prefix, and the reader says why it
//! ends.

use std::path::Path;

use hardstand_error::ErrorKind;
use hardstand_log::{LogReader, recover};

use crate::bytes::links;
use crate::{digests, tick, write};

const TICKS: u64 = 60;
/// Ticks of a chunk.
const CHUNK: usize = 10;

struct Written {
    bytes: Vec<u8>,
    /// Where the links end that cover a chunk of ticks each, by the lengths of the records alone.
    link_ends: Vec<usize>,
}

impl Written {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("whole.mcap");
        write(&path, (0..TICKS).map(tick));
        let bytes = std::fs::read(&path).unwrap();
        let mut link_ends: Vec<usize> = links(&bytes).iter().map(|link| link.bytes.end).collect();
        link_ends.remove(0); // of the header
        assert_eq!(link_ends.pop().map(|_last| link_ends.len() * CHUNK), Some(TICKS as usize));
        Self { bytes, link_ends }
    }

    fn ticks_before(&self, byte: usize) -> usize {
        self.link_ends.iter().filter(|&&end| end <= byte).count() * CHUNK
    }

    /// Number of ticks that are read, and the reported damage.
    fn check(&self, bytes: &[u8], what: &str) -> (usize, Option<String>) {
        match LogReader::from_bytes(Path::new("damaged.mcap"), bytes.to_vec()) {
            Ok(log) => {
                let (found, damage) = digests(log);
                let prefix: Vec<u64> = (0..found.len() as u64).map(|n| tick(n).digest).collect();
                assert_eq!(found, prefix, "{what}: not a prefix");
                assert!(found.len() as u64 == TICKS || damage.is_some(), "{what}: no damage");
                (found.len(), damage)
            }
            Err(e) => {
                assert_eq!(e.kind(), ErrorKind::Log, "{what}: {e}");
                (0, Some(e.to_string()))
            }
        }
    }
}

#[test]
fn a_log_cut_at_any_byte_is_read_up_to_its_last_link() {
    let log = Written::new();
    assert_eq!(log.check(&log.bytes, "whole"), (TICKS as usize, None));
    for cut in 0..log.bytes.len() {
        let what = format!("cut at {cut}");
        let (found, damage) = log.check(&log.bytes[..cut], &what);
        assert_eq!(found, log.ticks_before(cut), "{what}");
        assert!(damage.is_some_and(|d| d.contains("breaks off")), "{what}");
    }
}

#[test]
fn a_flipped_bit_in_a_chunk_ends_the_log_before_it() {
    let log = Written::new();
    let (start, end) = (log.link_ends[2], links(&log.bytes)[4].bytes.start);
    let mut bytes = log.bytes.clone();
    for at in (start..end).step_by(7) {
        for bit in [0, 7] {
            bytes[at] ^= 1 << bit;
            let (found, _) = log.check(&bytes, &format!("bit {bit} of byte {at}"));
            assert_eq!(found, log.ticks_before(start), "bit {bit} of byte {at}");
            bytes[at] ^= 1 << bit;
        }
    }
}

#[test]
fn a_recovered_log_is_whole_and_holds_the_same_ticks() {
    let log = Written::new();
    let dir = tempfile::tempdir().unwrap();
    let (from, to) = (dir.path().join("cut.mcap"), dir.path().join("whole.mcap"));
    std::fs::write(&from, &log.bytes[..log.link_ends[3] + 20]).unwrap();
    let saved = recover(&from, &to).unwrap();
    assert_eq!((saved.ticks, saved.damage.is_some()), (40, true));
    let (found, damage) = digests(LogReader::open(&to).unwrap());
    assert_eq!((found.len(), damage), (40, None));
}

/// What is made anew need not be whole.
#[test]
fn a_damaged_index_keeps_no_tick_from_being_recovered() {
    let log = Written::new();
    let dir = tempfile::tempdir().unwrap();
    let (from, to) = (dir.path().join("damaged.mcap"), dir.path().join("whole.mcap"));
    let end = *log.link_ends.last().unwrap();
    // every second letter of the names of schemas behind the last tick
    let name = b"hardstand";
    let at = |from: usize| log.bytes[from..].windows(name.len()).position(|w| w == name);
    let first = end + at(end).expect("a name in the index");
    for at in first..first + name.len() {
        let mut bytes = log.bytes.clone();
        bytes[at] ^= 4;
        std::fs::write(&from, &bytes).unwrap();
        let saved = recover(&from, &to).unwrap();
        assert_eq!(saved.ticks, TICKS, "byte {at}");
        assert_eq!(digests(LogReader::open(&to).unwrap()).0.len() as u64, TICKS);
        std::fs::remove_file(&to).unwrap();
    }
    // before the first whole tick
    std::fs::write(&from, &log.bytes[..log.link_ends[0] - 40]).unwrap();
    assert_eq!(recover(&from, &to).unwrap().ticks, 0);
}
