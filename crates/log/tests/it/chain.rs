//! The chain of one file: whatever is changed is found, with its place.

use std::path::{Path, PathBuf};

use hardstand_log::{
    CHAIN_TOPIC, LogFault, LogReader, RunInfo, Verdict, Verified, recover, verify,
};
use xxhash_rust::xxh3::xxh3_64;

use crate::bytes::{DATA_END, METADATA, Random, RawLink, links, mend_data_crc, records};
use crate::{digests, info, tick, write};

const TICKS: u64 = 60;

struct Log {
    dir: tempfile::TempDir,
    bytes: Vec<u8>,
    links: Vec<RawLink>,
}

impl Log {
    fn new() -> Self {
        Self::of(&info(), 0, TICKS)
    }

    /// A log of `info` whose states differ from those of others by `salt`.
    fn of(info: &RunInfo, salt: u64, ticks: u64) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run.mcap");
        let mut writer = hardstand_log::LogWriter::create(&path, info, &[]).unwrap();
        for number in 0..ticks {
            let mut tick = tick(number);
            tick.digest ^= salt;
            writer.write(&tick, &hardstand_log::SideMessages::default()).unwrap();
        }
        writer.finish().unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let links = links(&bytes);
        assert_eq!(links.len(), 2 + ticks as usize / 10);
        Self { dir, bytes, links }
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("run.mcap")
    }

    fn verify(&self, bytes: &[u8]) -> Result<Verified, String> {
        std::fs::write(self.path(), bytes).unwrap();
        verify(&self.path(), |_, _| ()).map_err(|e| e.to_string())
    }

    /// The ticks before the last link that ends at `byte` or before.
    fn ticks_before(&self, byte: usize) -> u64 {
        self.links.iter().rfind(|link| link.bytes.end <= byte).map_or(0, |link| link.tick)
    }

    /// The fault of a log whose byte `at` was changed is where it was changed.
    fn check_place(&self, fault: &LogFault, at: usize, what: &str) {
        assert_eq!(fault.file, self.path(), "{what}");
        let (from, to) = (fault.from_byte as usize, fault.to_byte as usize);
        assert!((from..to).contains(&at), "{what}: {fault}");
        // a link whose own bytes are changed may be good, or not
        let in_link = self.links.iter().find(|link| link.bytes.contains(&at));
        let is_there = fault.tick == self.ticks_before(at)
            || in_link.is_some_and(|link| fault.tick == link.tick);
        assert!(is_there, "{what}: {fault}");
        // not more than one link is lost
        let before = self.links.iter().rfind(|link| link.bytes.end <= at);
        let least = before.map_or(0, |link| link.bytes.start);
        assert!(from >= least, "{what}: {fault}, not from {least}");
    }
}

fn fault(found: Result<Verified, String>, what: &str) -> LogFault {
    match found.unwrap_or_else(|e| panic!("{what}: {e}")).verdict {
        Verdict::CutOff(fault) | Verdict::Broken(fault) => fault,
        verdict => panic!("{what}: {verdict:?}"),
    }
}

fn broken(found: Result<Verified, String>, what: &str) -> LogFault {
    match found.unwrap_or_else(|e| panic!("{what}: {e}")).verdict {
        Verdict::Broken(fault) => fault,
        verdict => panic!("{what}: {verdict:?}"),
    }
}

#[test]
fn a_good_log_is_complete() {
    let log = Log::new();
    let found = log.verify(&log.bytes).unwrap();
    assert_eq!(found.verdict, Verdict::Complete);
    assert_eq!((found.ticks, found.end_tick, found.run_id), (TICKS, TICKS, 1));
    assert_eq!((found.links, found.bytes), (log.links.len() as u64, log.bytes.len() as u64));
    assert_eq!(found.value, log.links.last().map(|link| link.value));
    assert_eq!((found.files, found.is_recovered), (vec![log.path()], false));
}

/// The values are those of docs/protocol.md, from the bytes alone.
#[test]
fn a_link_has_the_hash_of_the_bytes_since_the_one_before_and_of_its_value() {
    let log = Log::new();
    let (mut start, mut follows) = (0, 0_u64);
    for link in &log.links {
        let stretch = [&log.bytes[start..link.bytes.start], &follows.to_le_bytes()].concat();
        assert_eq!((link.follows, link.value), (follows, xxh3_64(&stretch)));
        (start, follows) = (link.bytes.start, link.value);
    }
    let ends: Vec<u8> = log.links.iter().map(|link| link.end).collect();
    assert_eq!(ends, [0, 0, 0, 0, 0, 0, 0, 1]);
}

#[test]
fn every_flipped_byte_is_found_where_it_is() {
    let log = Log::of(&info(), 0, 10);
    let mut bytes = log.bytes.clone();
    for at in 0..bytes.len() {
        let what = format!("bit {} of byte {at}", at % 8);
        bytes[at] ^= 1 << (at % 8);
        log.check_place(&broken(log.verify(&bytes), &what), at, &what);
        bytes[at] ^= 1 << (at % 8);
    }
}

#[test]
fn of_1000_random_flips_each_is_found_where_it_is() {
    let log = Log::new();
    let (mut bytes, mut random) = (log.bytes.clone(), Random(19));
    for _ in 0..1000 {
        let (at, bit) = (random.below(bytes.len()), random.below(8));
        let what = format!("bit {bit} of byte {at}");
        bytes[at] ^= 1 << bit;
        log.check_place(&broken(log.verify(&bytes), &what), at, &what);
        bytes[at] ^= 1 << bit;
    }
}

#[test]
fn a_log_cut_anywhere_is_cut_off_after_its_last_link() {
    let log = Log::new();
    let begun = log.links[0].bytes.end;
    for cut in (0..log.bytes.len()).step_by(3) {
        let what = format!("cut at {cut}");
        let found = log.verify(&log.bytes[..cut]);
        if cut < begun {
            assert!(found.unwrap_err().contains("breaks off"), "{what}");
            continue;
        }
        let fault = fault(found, &what);
        assert!(!fault.is_broken, "{what}: {fault}");
        assert_eq!((fault.tick, fault.run_id), (log.ticks_before(cut), 1), "{what}");
        assert_eq!(fault.to_byte, cut as u64, "{what}");
    }
}

/// After a cut, a flip before the last link but one is still found where it is, and none after it
/// lets more ticks pass than are covered.
#[test]
fn a_flip_in_a_log_that_was_cut_off_is_found_where_it_is() {
    let log = Log::new();
    let cut = log.links[5].bytes.end + 100;
    let (mut bytes, mut random) = (log.bytes[..cut].to_vec(), Random(20));
    for _ in 0..1000 {
        let (at, bit) = (random.below(cut), random.below(8));
        let what = format!("bit {bit} of byte {at}");
        bytes[at] ^= 1 << bit;
        let fault = fault(log.verify(&bytes), &what);
        log.check_place(&fault, at, &what);
        if at < log.links[4].bytes.start {
            assert!(fault.is_broken, "{what}: {fault}");
        }
        bytes[at] ^= 1 << bit;
    }
}

/// A power failure can leave zeros where the last bytes were to be.
#[test]
fn zeros_after_the_last_link_are_a_cut() {
    let log = Log::new();
    let cut = log.links[3].bytes.end;
    for zeros in [1, 100, 5000] {
        for torn in [0, 30, 200] {
            let bytes = [&log.bytes[..cut + torn], &vec![0; zeros]].concat();
            let fault = fault(log.verify(&bytes), "zeros");
            assert!(!fault.is_broken, "{zeros} zeros: {fault}");
            assert_eq!(fault.tick, 30, "{fault}");
        }
    }
}

#[test]
fn bytes_after_the_end_are_found() {
    let log = Log::new();
    let end = log.bytes.len() as u64;
    for more in [&b"x"[..], &[0; 100], &log.bytes.clone()] {
        let fault = broken(log.verify(&[&log.bytes, more].concat()), "appended");
        assert!(fault.from_byte <= end && fault.to_byte > end, "{fault}");
        assert_eq!(fault.tick, TICKS);
    }
}

/// A link whose own checksum is right, and which follows another one.
#[test]
fn a_link_that_does_not_follow_the_one_before_it_is_found() {
    let log = Log::new();
    let link = log.links[3].bytes.clone();
    let mut bytes = log.bytes[..link.end].to_vec();
    let payload = link.end - 33;
    let follows = (log.links[2].value ^ 1).to_le_bytes();
    let value = xxh3_64(&[&bytes[log.links[2].bytes.start..link.start], &follows].concat());
    bytes[payload + 16..payload + 24].copy_from_slice(&follows);
    bytes[payload + 24..payload + 32].copy_from_slice(&value.to_le_bytes());
    let crc = crc32fast::hash(&bytes[link.start + 49..link.end]);
    bytes[link.start + 33..link.start + 37].copy_from_slice(&crc.to_le_bytes());
    let fault = fault(log.verify(&bytes), "another link before");
    assert!(fault.why.contains("does not follow"), "{fault}");
    assert_eq!(fault.tick, 20, "{fault}");
}

/// Bytes from one link's end to the next one's: a chunk with its index, and its link.
fn stretch(log: &Log, n: usize) -> &[u8] {
    &log.bytes[log.links[n].bytes.end..log.links[n + 1].bytes.end]
}

/// Whoever puts in bytes of another log, with right checksums of MCAP, is noticed.
#[test]
fn a_spliced_chunk_is_found() {
    let log = Log::new();
    let other = Log::of(&RunInfo { recording_id: 8, ..info() }, 1 << 40, TICKS);
    let same = Log::of(&info(), 1 << 40, TICKS);
    let at = log.links[2].bytes.end;
    let end = log.links[3].bytes.end;
    let link = log.links[3].bytes.start;
    for (what, middle) in [
        ("a chunk of another log", [&other.bytes[at..link], &log.bytes[link..end]].concat()),
        ("a chunk with its link", stretch(&other, 2).to_vec()),
        ("a chunk with its link and the same header", stretch(&same, 2).to_vec()),
        ("a chunk of another place", stretch(&log, 4).to_vec()),
        ("a chunk twice", [stretch(&log, 2), stretch(&log, 2)].concat()),
        ("no chunk", Vec::new()),
    ] {
        let mut bytes = [&log.bytes[..at], &middle, &log.bytes[end..]].concat();
        mend_data_crc(&mut bytes);
        let fault = broken(log.verify(&bytes), what);
        assert!(fault.why.contains("chain") || fault.why.contains("follow"), "{what}: {fault}");
        let expected = if what == "a chunk twice" { 30 } else { 20 };
        assert_eq!(fault.tick, expected, "{what}: {fault}");
        let from = log.links[expected as usize / 10].bytes.start as u64;
        assert_eq!(fault.from_byte, from, "{what}: {fault}");
    }
}

/// What comes after the last link is not covered by it.
#[test]
fn a_chunk_after_the_last_link_is_found() {
    let log = Log::new();
    let at = records(&log.bytes).iter().find(|r| r.opcode == DATA_END).unwrap().bytes.start;
    let (chunk, link) = (log.links[4].bytes.end..log.links[5].bytes.start, &log.links[0].bytes);
    // what the run is about, once more
    let metadata = records(&log.bytes).into_iter().find(|r| r.opcode == METADATA).unwrap().bytes;
    let stretch = log.links[4].bytes.end..log.links[5].bytes.end;
    for more in [chunk, stretch, link.clone(), metadata] {
        let more = log.bytes[more].to_vec();
        let mut bytes = [&log.bytes[..at], &more, &log.bytes[at..]].concat();
        mend_data_crc(&mut bytes);
        let fault = broken(log.verify(&bytes), "after the last link");
        assert_eq!(fault.tick, TICKS, "{fault}");
    }
    // and a log without its last link is not complete
    let last = log.links.last().unwrap().bytes.start;
    let mut bytes = [&log.bytes[..last], &log.bytes[at..]].concat();
    mend_data_crc(&mut bytes);
    assert_eq!(broken(log.verify(&bytes), "no last link").tick, TICKS);
}

/// No mutation panics, and none of them is a complete log.
#[test]
fn mutated_logs_never_pass_and_never_panic() {
    let log = Log::new();
    let mut random = Random(21);
    for round in 0..3000 {
        let mut bytes = log.bytes.clone();
        for _ in 0..=random.below(4) {
            let (at, to) = (random.below(bytes.len()), random.below(bytes.len()));
            let count = random.below(300).min(bytes.len() - at.max(to));
            match random.below(5) {
                0 => bytes[at] = random.below(256) as u8,
                1 => drop(bytes.drain(at..at + count)),
                2 => bytes.copy_within(at..at + count, to),
                3 => bytes[at..at + count].fill(0xFF),
                _ => {
                    let copy = bytes[at..at + count].to_vec();
                    drop(bytes.splice(to..to, copy));
                }
            }
            if bytes.is_empty() {
                break;
            }
        }
        let is_same = bytes == log.bytes;
        let found = log.verify(&bytes).map(|found| found.verdict);
        assert_eq!(found == Ok(Verdict::Complete), is_same, "round {round}: {found:?}");
        if let Ok(mut log) = LogReader::from_bytes(Path::new("mutated.mcap"), bytes) {
            while log.next_record().is_some() {}
        }
    }
}

/// The log as it was before there was a chain.
pub fn without_chain(bytes: &[u8]) -> Vec<u8> {
    let summary = mcap::Summary::read(bytes).unwrap().unwrap();
    let options = mcap::WriteOptions::new().compression(None).profile("ros2");
    let mut out = options.create(std::io::Cursor::new(Vec::new())).unwrap();
    for index in summary.metadata_indexes {
        out.write_metadata(&mcap::read::metadata(bytes, &index).unwrap()).unwrap();
    }
    for index in summary.attachment_indexes {
        out.attach(&mcap::read::attachment(bytes, &index).unwrap()).unwrap();
    }
    for message in mcap::MessageStream::new(bytes).unwrap().map(Result::unwrap) {
        if message.channel.topic != CHAIN_TOPIC {
            out.write(&message).unwrap();
        }
    }
    out.finish().unwrap();
    out.into_inner().into_inner()
}

#[test]
fn a_log_without_a_chain_is_read_and_says_so() {
    let log = Log::new();
    let bytes = without_chain(&log.bytes);
    assert_eq!(log.verify(&bytes).unwrap().verdict, Verdict::NoChain);
    let reader = LogReader::open(&log.path()).unwrap();
    assert!(!reader.has_chain());
    let (found, damage) = digests(reader);
    assert_eq!((found.len(), damage), (TICKS as usize, None));
    // its checksums are looked at all the same
    let mut bytes = bytes;
    let at = bytes.len() / 2;
    bytes[at] ^= 1;
    broken(log.verify(&bytes), "a flip");
}

/// A chain cannot be turned off by damage.
#[test]
fn links_that_are_not_declared_are_refused() {
    let log = Log::new();
    let plain = without_chain(&log.bytes);
    let declared = &records(&log.bytes)[1].bytes;
    let header = &plain[..records(&plain)[0].bytes.end];
    let mut bytes = [header, &log.bytes[declared.end..]].concat();
    mend_data_crc(&mut bytes);
    let fault = fault(log.verify(&bytes), "no declaration");
    assert!(fault.is_broken && fault.why.contains("does not declare"), "{fault}");
}

#[test]
fn a_recovered_log_has_the_bytes_and_the_links_of_the_old_one() {
    let log = Log::new();
    let to = log.dir.path().join("whole.mcap");
    let cut = log.links[4].bytes.end;
    for (bytes, ticks, is_recovered) in
        [(&log.bytes[..cut + 20], 40, true), (&log.bytes[..], TICKS, false)]
    {
        std::fs::write(log.path(), bytes).unwrap();
        let saved = recover(&log.path(), &to).unwrap();
        assert_eq!((saved.ticks, saved.damage.is_some()), (ticks, is_recovered));
        let found = verify(&to, |_, _| ()).unwrap();
        assert_eq!((found.verdict, found.ticks), (Verdict::Complete, ticks));
        assert_eq!(found.is_recovered, is_recovered);
        let copy = std::fs::read(&to).unwrap();
        let same = if is_recovered { cut } else { log.bytes.len() };
        assert_eq!(copy[..same], log.bytes[..same]);
        std::fs::remove_file(&to).unwrap();
    }
    // what follows the damage is not copied
    let mut bytes = log.bytes.clone();
    bytes[log.links[2].bytes.end + 200] ^= 1;
    std::fs::write(log.path(), &bytes).unwrap();
    assert_eq!(recover(&log.path(), &to).unwrap().ticks, 20);
    assert_eq!(verify(&to, |_, _| ()).unwrap().ticks, 20);
}

#[test]
fn a_file_that_is_no_log_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.mcap");
    for text in ["", "a text", "a text of more than a few bytes, so that a record could begin"] {
        std::fs::write(&path, text).unwrap();
        let error = verify(&path, |_, _| ()).unwrap_err();
        assert_eq!(error.kind(), hardstand_error::ErrorKind::Log, "{error}");
    }
    std::fs::remove_file(&path).unwrap();
    let error = verify(&path, |_, _| ()).unwrap_err();
    assert_eq!(error.kind(), hardstand_error::ErrorKind::File, "{error}");
    write(&path, (0..3).map(tick));
    assert_eq!(verify(&path, |_, _| ()).unwrap().verdict, Verdict::Complete);
}
