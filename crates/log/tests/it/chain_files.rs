//! The chain of a run in several files: each follows the one before.

use std::path::{Path, PathBuf};

use hardstand_error::ErrorKind;
use hardstand_log::{LogFault, LogReader, RunIndex, RunInfo, Verdict, recover, verify};

use crate::bytes::{Random, links};
use crate::{digests, info, record, start, write_ticks};

struct Run {
    _dir: tempfile::TempDir,
    files: Vec<PathBuf>,
}

impl Run {
    /// 200 ticks in files of 25.
    fn new(info: RunInfo) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = start(&dir.path().join("run.mcap"), info).unwrap();
        write_ticks(&mut writer, 0..200);
        let files = writer.finish().segments;
        assert!(files.len() > 4, "{files:?}");
        Self { _dir: dir, files }
    }

    fn verdict(&self) -> Verdict {
        verify(&self.files[0], |_, _| ()).unwrap().verdict
    }

    fn bytes(&self, n: usize) -> Vec<u8> {
        std::fs::read(&self.files[n]).unwrap()
    }

    fn put(&self, n: usize, bytes: &[u8]) {
        std::fs::write(&self.files[n], bytes).unwrap();
    }

    /// The number of the state after the last tick of the `n`th file.
    fn end_tick(&self, n: usize) -> u64 {
        links(&self.bytes(n)).last().unwrap().tick
    }

    /// The run is broken at the beginning of the `n`th file.
    fn check_broken_at(&self, n: usize, what: &str) -> LogFault {
        let Verdict::Broken(fault) = self.verdict() else { panic!("{what}: {:?}", self.verdict()) };
        assert_eq!(fault.file, self.files[n], "{what}: {fault}");
        assert_eq!((fault.tick, fault.from_byte), (self.end_tick(n - 1), 0), "{what}: {fault}");
        fault
    }
}

#[test]
fn a_run_in_several_files_is_complete_from_each_of_them() {
    let run = Run::new(info());
    let whole = verify(&run.files[0], |_, _| ()).unwrap();
    assert_eq!((&whole.verdict, whole.ticks, &whole.files), (&Verdict::Complete, 200, &run.files));
    assert!(!whole.is_continuation);
    let rest = verify(&run.files[2], |_, _| ()).unwrap();
    assert_eq!((&rest.verdict, &rest.files[..]), (&Verdict::Complete, &run.files[2..]));
    assert_eq!((rest.is_continuation, rest.value), (true, whole.value));
    // the first link of a file follows the last one before the closing link of the file before
    for n in 1..run.files.len() {
        let (before, after) = (links(&run.bytes(n - 1)), links(&run.bytes(n)));
        assert_eq!(after[0].follows, before.last().unwrap().follows);
        assert_eq!(after[0].tick, before.last().unwrap().tick);
    }
}

#[test]
fn ticks_that_the_recorder_lost_do_not_break_the_chain() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.mcap");
    record(&path, (0..80).chain(100..150));
    let found = verify(&path, |_, _| ()).unwrap();
    assert_eq!((found.verdict, found.ticks), (Verdict::Complete, 130));
}

/// Recording id, hashes, ticks and names are the same: only the chain knows.
#[test]
fn a_file_of_another_run_is_found() {
    let run = Run::new(info());
    let dir = tempfile::tempdir().unwrap();
    let mut writer = start(&dir.path().join("run.mcap"), info()).unwrap();
    for number in 0..200 {
        let mut tick = crate::tick(number);
        tick.state.time_ns += 1;
        writer.write(&tick, &hardstand_log::SideMessages::default());
    }
    let others = writer.finish().segments;
    let (mine, other) = (run.bytes(2), std::fs::read(&others[2]).unwrap());
    assert_eq!(mine.len(), other.len());
    run.put(2, &other);
    let fault = run.check_broken_at(2, "another run");
    assert!(fault.why.contains("another part of this one"), "{fault}");
    // whoever reads the run says so, too
    let error = RunIndex::of(&run.files[0], |_, _| ()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Log);
    assert!(error.to_string().contains("run.part3.mcap"), "{error}");
    run.put(2, &mine);
    assert_eq!(run.verdict(), Verdict::Complete);
}

#[test]
fn files_in_another_order_are_found() {
    let run = Run::new(info());
    let (second, third) = (run.bytes(1), run.bytes(2));
    run.put(1, &third);
    let fault = run.check_broken_at(1, "exchanged");
    assert!(fault.why.contains("run.part2.mcap"), "{fault}");
    run.put(2, &second);
    run.check_broken_at(1, "both exchanged");
    // a file that is there twice
    run.put(1, &second);
    let Verdict::Broken(fault) = run.verdict() else { panic!("{:?}", run.verdict()) };
    assert_eq!((&fault.file, fault.tick), (&run.files[2], links(&second).last().unwrap().tick));
}

#[test]
fn a_missing_file_is_found() {
    let run = Run::new(info());
    let last = run.files.len() - 1;
    std::fs::remove_file(&run.files[last]).unwrap();
    let Verdict::CutOff(fault) = run.verdict() else { panic!("{:?}", run.verdict()) };
    assert_eq!((&fault.file, fault.tick), (&run.files[last], run.end_tick(last - 1)));
    std::fs::remove_file(&run.files[2]).unwrap();
    let fault = run.check_broken_at(2, "a file in the middle");
    assert!(fault.why.contains("run.part3.mcap"), "{fault}");
}

#[test]
fn flips_in_any_file_are_found_in_that_file() {
    let run = Run::new(info());
    let mut random = Random(22);
    for _ in 0..300 {
        let n = random.below(run.files.len());
        let mut bytes = run.bytes(n);
        let (at, bit) = (random.below(bytes.len()), random.below(8));
        bytes[at] ^= 1 << bit;
        run.put(n, &bytes);
        let what = format!("bit {bit} of byte {at} of file {n}");
        let found = verify(&run.files[0], |_, _| ()).unwrap();
        let Verdict::Broken(fault) = found.verdict else { panic!("{what}: {:?}", found.verdict) };
        assert_eq!(fault.file, run.files[n], "{what}");
        assert!((fault.from_byte..fault.to_byte).contains(&(at as u64)), "{what}: {fault}");
        let before = if n == 0 { 0 } else { run.end_tick(n - 1) };
        assert!((before..=before + 25).contains(&fault.tick), "{what}: {fault}");
        bytes[at] ^= 1 << bit;
        run.put(n, &bytes);
    }
    assert_eq!(run.verdict(), Verdict::Complete);
}

/// The header of a further file says to which run it belongs: it is covered, too.
#[test]
fn a_file_cut_before_its_first_link_ends_the_run_before_it() {
    let run = Run::new(info());
    let third = run.bytes(2);
    for cut in [0, 8, 100, links(&third)[0].bytes.start] {
        run.put(2, &third[..cut]);
        let Verdict::CutOff(fault) = run.verdict() else { panic!("{cut}: {:?}", run.verdict()) };
        assert_eq!((&fault.file, fault.tick), (&run.files[2], run.end_tick(1)), "{cut}: {fault}");
    }
}

/// A file that replaces a damaged one must fit in the chain.
#[test]
fn a_recovered_file_takes_the_place_of_the_old_one() {
    let run = Run::new(info());
    let (path, copy) = (&run.files[2], run.files[2].with_extension("copy"));
    recover(path, &copy).unwrap();
    std::fs::rename(&copy, path).unwrap();
    assert_eq!(run.verdict(), Verdict::Complete);
    let mut bytes = run.bytes(2);
    let at = links(&bytes)[1].bytes.end + 200;
    bytes[at] ^= 1;
    run.put(2, &bytes);
    let error = RunIndex::of(&run.files[0], |_, _| ()).unwrap_err().to_string();
    assert!(error.contains("hardstand recover") && error.contains("tick 60"), "{error}");
    recover(path, &copy).unwrap();
    std::fs::rename(&copy, path).unwrap();
    let found = verify(&run.files[0], |_, _| ()).unwrap();
    assert_eq!((found.verdict, found.ticks), (Verdict::Complete, 60));
    assert!(found.is_recovered);
}

/// Without a chain, too: files that name each other in a circle have an end.
#[test]
fn files_without_a_chain_that_form_a_circle_are_refused() {
    let run = Run::new(info());
    let plain = crate::chain::without_chain(&run.bytes(0));
    run.put(0, &plain);
    run.put(1, &plain);
    let Verdict::Broken(fault) = run.verdict() else { panic!("{:?}", run.verdict()) };
    assert_eq!((&fault.file, fault.tick), (&run.files[1], 25), "{fault}");
}

/// A reader that stops at the damage gives no tick after it.
#[test]
fn a_reader_gives_only_what_links_cover() {
    let run = Run::new(info());
    let mut bytes = run.bytes(0);
    let at = links(&bytes)[1].bytes.end + 200;
    bytes[at] ^= 1;
    let log = LogReader::from_bytes(Path::new("run.mcap"), bytes).unwrap();
    let (found, damage) = digests(log);
    assert_eq!((found.len(), damage.is_some()), (10, true));
}
