//! The log: damage of every kind, segments, replay from the middle, differences by name.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use crate::common::allocator::peak_bytes;
use crate::common::bench::{Bench, Queues, ROOMY, TestClock, info, quadruped, write_log};
use crate::common::dice::Dice;
use hardstand::ErrorKind;
use hardstand::config::{OverrunPolicy, Pace, Scenario, StartRule};
use hardstand::daemon::Recorder;
use hardstand::replay::{ReplayReport, replay};
use hardstand::ros2::RosChannels;
use hardstand::rt::{ManualClock, empty_log_tick};
use hardstand_log::{LogLimits, LogReader, LogRecord};
use hardstand_protocol::LogTick;

const SLIP: Pace = Pace::RealTime(OverrunPolicy::Slip);

/// A robot with one contact: its log is small enough to be damaged at every byte.
const LUMP: &str = r#"<robot name="lump"><link name="a"><inertial><mass value="1"/><inertia
 ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link></robot>"#;
const LUMP_SCENARIO: &str = "[[feet]]\nname = \"f\"\nlink = \"a\"\npoints_m = [[0.0, 0.0, 0.0]]\n\
                             [record]\nkeyframe_every_ticks = 25\n";

fn lump() -> Scenario {
    Scenario::from_texts(LUMP_SCENARIO, LUMP, &[]).unwrap()
}

/// The ticks of a run of the real loop.
fn ticks_of(scenario: Scenario, ticks: u64) -> Vec<LogTick> {
    let mut bench = Bench::new(scenario, ROOMY);
    bench.executive(ManualClock::default(), SLIP, StartRule::Now, ticks).run();
    bench.logged()
}

fn write(path: &Path, scenario: &Scenario, ticks: &[LogTick]) {
    write_log(path, scenario, ticks);
}

/// The report, which is the same for any number of threads.
fn replay_of(path: &Path) -> hardstand::Result<ReplayReport> {
    let [one, four] = [1, 4].map(|threads| {
        let mut log = LogReader::open(path)?;
        let scenario = Scenario::from_texts(&log.info().scenario, &log.info().robot, &[])?;
        let threads = NonZeroUsize::new(threads).unwrap();
        replay(&mut log, scenario.simulation(), threads, |_, _, _| {})
    });
    assert_eq!(format!("{one:?}"), format!("{four:?}"), "{}", path.display());
    one
}

/// Digests in the order of the log, and why it ended early.
fn digests(path: &Path) -> hardstand::Result<(Vec<u64>, Option<String>)> {
    digests_of(LogReader::open(path)?)
}

fn digests_in(bytes: &[u8]) -> hardstand::Result<(Vec<u64>, Option<String>)> {
    digests_of(LogReader::from_bytes(Path::new("damaged.mcap"), bytes.to_vec())?)
}

fn digests_of(mut log: LogReader) -> hardstand::Result<(Vec<u64>, Option<String>)> {
    let mut found = Vec::new();
    while let Some(record) = log.next_record() {
        if let LogRecord::Tick(tick) = record {
            found.push(tick.digest);
        }
    }
    Ok((found, log.damage().map(String::from)))
}

struct Written {
    dir: tempfile::TempDir,
    bytes: Vec<u8>,
    digests: Vec<u64>,
    /// Where the chunks of ticks begin, by the lengths of the records alone.
    chunks: Vec<usize>,
    /// Where the links end that cover them.
    link_ends: Vec<usize>,
    /// Where what comes before them ends: what says which channel is which.
    head: usize,
}

/// Bytes of a chunk with a link of the chain.
const LINK_BYTES: usize = 121;

/// Ticks of a chunk.
const CHUNK: usize = 10;

impl Written {
    /// A complete log of the lump.
    fn new(ticks: u64) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("whole.mcap");
        let ticks = ticks_of(lump(), ticks);
        write(&path, &lump(), &ticks);
        let digests: Vec<u64> = ticks.iter().map(|t| t.digest).collect();
        let bytes = std::fs::read(&path).unwrap();
        let (mut chunks, mut link_ends, mut at) = (Vec::new(), Vec::new(), 8);
        while at + 9 <= bytes.len() - 8 {
            let length = u64::from_le_bytes(bytes[at + 1..at + 9].try_into().unwrap());
            let end = at + 9 + length as usize;
            match (bytes[at], end - at) {
                (0x06, LINK_BYTES) => link_ends.push(end),
                (0x06, _) => chunks.push(at),
                _ => {}
            }
            at = end;
        }
        chunks.remove(0); // schemas and channels
        let head = link_ends.remove(0);
        link_ends.pop(); // the last one covers no tick
        assert_eq!(chunks.len() * CHUNK, digests.len());
        assert_eq!(chunks.len(), link_ends.len());
        Self { bytes, dir, digests, chunks, link_ends, head }
    }

    fn file(&self, bytes: &[u8]) -> PathBuf {
        let path = self.dir.path().join("damaged.mcap");
        std::fs::write(&path, bytes).unwrap();
        path
    }

    /// Ticks of the chunks whose links end before `byte`.
    fn ticks_before(&self, byte: usize) -> usize {
        self.link_ends.iter().filter(|&&end| end <= byte).count() * CHUNK
    }

    /// Whatever was done to the log: what can be read is a prefix, and if it is not all of it, the
    /// reader says so. Returns the number of ticks and what was said.
    fn check(&self, bytes: &[u8], what: &str) -> (usize, Option<String>) {
        match digests_in(bytes) {
            Ok((found, damage)) => {
                let prefix = self.digests.get(..found.len());
                assert_eq!(prefix, Some(found.as_slice()), "{what}: not a prefix");
                let whole = found.len() == self.digests.len();
                assert!(whole || damage.is_some(), "{what}: {} ticks, no word", found.len());
                (found.len(), damage)
            }
            // it breaks off before the robot and the scenario
            Err(e) => {
                assert_eq!(e.kind(), ErrorKind::Log, "{what}: {e}");
                (0, Some(e.to_string()))
            }
        }
    }
}

/// RC-3: cut at every byte, whatever is before is read up to the last link.
#[test]
fn a_log_cut_anywhere_is_the_longest_prefix_and_says_so() {
    let log = Written::new(60);
    let length = log.bytes.len();
    assert!((66_000..130_000).contains(&length), "{length} bytes");
    assert_eq!(log.check(&log.bytes, "whole"), (60, None));
    for cut in 0..length {
        let what = format!("cut at {cut}");
        let (found, damage) = log.check(&log.bytes[..cut], &what);
        assert_eq!(found, log.ticks_before(cut), "{what}");
        assert!(damage.is_some_and(|d| d.contains("breaks off")), "{what} goes unnoticed");
    }
}

/// A cut log replays up to its last link.
#[test]
fn a_cut_log_replays_up_to_its_last_link() {
    let log = Written::new(100);
    for share in 5..10 {
        let cut = log.bytes.len() * share / 10;
        let report = replay_of(&log.file(&log.bytes[..cut])).unwrap();
        assert_eq!((report.difference, report.equal), (None, report.ticks), "cut at {cut}");
        assert!(report.damage.unwrap().contains("breaks off"));
        assert_eq!(report.digest, log.digests[report.ticks as usize - 1]);
    }
}

/// RC-3: flips bits here and there. What ends before the first flip must be read.
#[test]
fn flipped_bits_never_panic_and_never_invent_a_tick() {
    let rounds = 100_000;
    let log = Written::new(50);
    let mut dice = Dice(0x5eed_0004);
    let mut roll = |below: usize| dice.roll(below as u64) as usize;
    let mut cut_short = 0;
    let mut bytes = log.bytes.clone();
    for round in 0..rounds {
        bytes.copy_from_slice(&log.bytes);
        let mut first = bytes.len();
        for _ in 0..=roll(3) {
            // half of them in the first records, where the lengths and the texts are
            let below = if roll(2) == 0 { log.head } else { bytes.len() };
            let at = roll(below);
            bytes[at] ^= 1 << roll(8);
            first = if bytes[at] == log.bytes[at] { first } else { first.min(at) };
        }
        let (found, _) = log.check(&bytes, &format!("round {round}"));
        assert!(found >= log.ticks_before(first), "round {round}: {found}, first flip {first}");
        cut_short += usize::from(found < 50);
        if round % 200 == 0 {
            // a flip may spoil a hash in the metadata, but never what is run
            if let Ok(report) = replay_of(&log.file(&bytes)) {
                assert_eq!(report.difference, None, "round {round}");
            }
        }
    }
    assert!(cut_short > rounds / 3, "{cut_short} of {rounds}: are the flips in the data?");
}

/// A chunk that says that it is something else is passed over; what it held must be missed.
#[test]
fn a_chunk_that_poses_as_another_record_is_missed() {
    let log = Written::new(60);
    for (n, &start) in log.chunks.iter().enumerate() {
        for opcode in (0..=255).filter(|&o| o != 6) {
            let mut bytes = log.bytes.clone();
            bytes[start] = opcode;
            let (found, _) = log.check(&bytes, &format!("chunk {n} as {opcode}"));
            assert_eq!(found, n * CHUNK, "chunk {n} as {opcode}");
        }
    }
}

/// The exit code of `hardstand replay`: 0, 3 for what is lossy, 1 for what differs.
#[test]
fn replay_says_by_its_exit_code_that_a_log_is_damaged() {
    let log = Written::new(40);
    let replay = |bytes: &[u8]| {
        let mut hardstand = std::process::Command::new(env!("CARGO_BIN_EXE_hardstand"));
        let arguments = ["replay", "--until-break"];
        let out = hardstand.args(arguments).arg(log.file(bytes)).output().unwrap();
        (out.status.code(), String::from_utf8_lossy(&out.stdout).into_owned())
    };
    assert_eq!(replay(&log.bytes).0, Some(0));
    let (code, says) = replay(&log.bytes[..log.link_ends[2] - 1]);
    assert_eq!(code, Some(3), "{says}");
    assert!(says.contains("20 ticks") && says.contains("breaks off"), "{says}");
    let mut flipped = log.bytes.clone();
    flipped[log.link_ends[2] - 300] ^= 4;
    let (code, says) = replay(&flipped);
    assert_eq!(code, Some(3), "{says}");
    assert!(says.contains("20 ticks") && says.contains("damaged"), "{says}");
}

#[test]
fn a_record_that_claims_to_be_huge_is_refused() {
    let log = Written::new(20);
    // opcode and length of the first record after the magic
    for claimed in [u64::MAX, 1 << 40, (64 << 20) + 1] {
        let mut bytes = log.bytes.clone();
        bytes[9..17].copy_from_slice(&claimed.to_le_bytes());
        let refused = digests(&log.file(&bytes)).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Log);
    }
    for (bytes, says) in [
        (&b""[..], "breaks off"),
        (b"not a log at all, but long enough to look into", "not an MCAP file"),
    ] {
        let refused = digests(&log.file(bytes)).unwrap_err().to_string();
        assert!(refused.contains(says), "{refused}");
    }
    let missing = LogReader::open(&log.dir.path().join("no.mcap")).unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::File);
}

/// The file of `change`d ticks, replayed.
fn altered(change: impl Fn(&mut Vec<LogTick>)) -> ReplayReport {
    let mut bench = Bench::new(quadruped(&["record.keyframe_every_ticks=50"]), ROOMY);
    for seq in 1..=3 {
        bench.hands().candidate(7, seq, 0);
    }
    let hands = bench.hands();
    // it answers the newest state in every tick, as a good controller does
    let between = move |period| hands.candidate(7, period + 3, period);
    let clock = TestClock { clock: ManualClock::default(), late: Vec::new(), between };
    bench.executive(clock, SLIP, StartRule::Now, 120).run();
    let mut ticks = bench.logged();
    change(&mut ticks);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("altered.mcap");
    write(&path, &bench.scenario, &ticks);
    replay_of(&path).unwrap()
}

#[test]
fn the_first_difference_is_named_with_tick_and_quantity() {
    let clean = altered(|_| {});
    assert_eq!((clean.difference, clean.ticks, clean.equal), (None, 120, 120));
    let difference = |change: fn(&mut Vec<LogTick>)| altered(change).difference.unwrap();

    let d = difference(|t| t[60].joints[4].q += 0.01);
    assert_eq!(d.tick, 61, "{d:?}");
    assert!(d.quantity.starts_with("truth_base_position_m[0]: "), "{d:?}");

    // a set-point without effect on the motion of this tick: still in the digest
    let d = difference(|t| t[60].joints[4].q = f64::from_bits(t[60].joints[4].q.to_bits() ^ 1));
    assert_eq!(d.tick, 61, "{d:?}");

    let d = difference(|t| t[70].digest ^= 1);
    assert_eq!((d.tick, d.quantity.starts_with("digest")), (71, true), "{d:?}");

    let d = difference(|t| t[70].candidates[0].session ^= 1);
    assert_eq!(d.tick, 71);
    assert!(d.quantity.contains("verdict on command"), "{d:?}");

    let holed = altered(|t| drop(t.remove(70)));
    assert_eq!((holed.difference, holed.ticks, holed.equal), (None, 70, 70));
    assert!(holed.damage.unwrap().contains("tick 71 follows, not 70"));

    let d = difference(|t| t[50].keyframe[40] ^= 1);
    assert_eq!(d.tick, 50);
    assert!(d.quantity.contains("[") && d.quantity.contains("bits"), "{d:?}");

    let d = difference(|t| *t[100].keyframe.last_mut().unwrap() ^= 1);
    assert_eq!((d.tick, d.quantity.as_str()), (100, "digest of the keyframe"));

    let d = difference(|t| {
        t[80].state.digest ^= 1;
        t[80].state.foot_normal_n[2] += 1.0;
    });
    assert_eq!(d.tick, 81);
    assert!(d.quantity.starts_with("foot_normal_n[2]"), "{d:?}");
}

/// DET-4 and RC-5: a gap ends the file; the next one begins with a keyframe and replays alone.
#[test]
fn a_gap_begins_a_new_segment_that_replays_by_itself() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.mcap");
    let mut bench = Bench::new(quadruped(&[]), Queues { log: 40, ..ROOMY });
    // nobody takes ticks before tick 100: 0 to 39 wait, 40 to 99 are lost
    let (log, kept) = (bench.log.clone(), std::cell::RefCell::new(Vec::new()));
    let between = |period: u64| {
        while period == 100
            && let Some(tick) = log.take()
        {
            kept.borrow_mut().push((*tick).clone());
            log.give_back(tick);
        }
    };
    let clock = TestClock { clock: ManualClock::default(), late: Vec::new(), between };
    let (_, simulation) = bench.executive(clock, SLIP, StartRule::Now, 140).run();
    let ticks = [kept.into_inner(), bench.logged()].concat();
    let (out, inbox) = hardstand::buffer_pool::pool(ticks.len(), || ticks[0].clone());
    for tick in &ticks {
        let mut record = out.take_free().unwrap();
        (*record).clone_from(tick);
        out.send(record);
    }
    let ros2 = RosChannels::of(&bench.scenario);
    let limits = LogLimits::default();
    let recorder =
        Recorder::start(&path, info(&bench.scenario), limits, ros2.into(), inbox).unwrap();
    let stats = recorder.finish();
    let second = dir.path().join("run.part2.mcap");
    assert_eq!((stats.error, stats.ticks), (None, 80));
    assert_eq!(stats.segments, [path.clone(), second.clone()]);

    let first = replay_of(&path).unwrap();
    assert_eq!((first.first_tick, first.ticks, first.damage), (0, 40, None));
    let rest = replay_of(&second).unwrap();
    assert_eq!((rest.first_tick, rest.ticks, rest.equal), (100, 40, 40));
    assert_eq!((rest.difference, rest.damage), (None, None));
    assert_eq!(rest.digest, simulation.state().digest);
}

/// The next segment cannot be written: recording ends and says so; its queue is still emptied.
#[test]
fn a_recorder_that_cannot_write_gives_the_boxes_back() {
    let dir = tempfile::tempdir().unwrap();
    let (folder, moved) = (dir.path().join("logs"), dir.path().join("moved"));
    std::fs::create_dir(&folder).unwrap();
    let path = folder.join("run.mcap");
    let scenario = quadruped(&[]);
    let (out, inbox) = hardstand::buffer_pool::pool(4, || {
        let mut simulation = quadruped(&[]).simulation();
        let words = simulation.snapshot_words().len();
        empty_log_tick(&simulation, &simulation.new_snapshot(), words, false)
    });
    let ros2 = RosChannels::of(&scenario);
    let limits = LogLimits::default();
    let recorder = Recorder::start(&path, info(&scenario), limits, ros2.into(), inbox).unwrap();
    std::fs::rename(&folder, &moved).unwrap();
    let ticks = ticks_of(scenario, 40);
    for tick in ticks.iter().filter(|t| t.tick != 20) {
        let mut free = out.take_free();
        for _ in 0..5000 {
            if free.is_some() {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
            free = out.take_free();
        }
        let mut record = free.expect("the recorder no longer gives boxes back");
        (*record).clone_from(tick);
        out.send(record);
    }
    let failed = recorder.written().error.is_some();
    let stats = recorder.finish();
    assert_eq!(stats.ticks, 20);
    let error = stats.error.expect("an error");
    assert!(error.contains("run.part2.mcap") && error.contains("No such file"), "{error}");
    assert!(failed, "a recorder that has failed says so at once");
    let report = replay_of(&moved.join("run.mcap")).unwrap();
    assert_eq!((report.ticks, report.damage, report.difference), (20, None, None));
}

/// Nothing that counts ticks runs over.
#[test]
fn a_log_whose_ticks_have_no_successor_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("end.mcap");
    let scenario = quadruped(&[]);
    let first = ticks_of(scenario.clone(), 1).remove(0);
    write_log(&path, &scenario, [LogTick { tick: u64::MAX, ..first }]);
    let wanted = format!("tick {} is not below", u64::MAX);
    let found = hardstand_log::RunIndex::of(&path, |_, _| ()).unwrap_err().to_string();
    let (read, damage) = digests(&path).unwrap();
    assert!(read.is_empty() && damage.as_ref().is_some_and(|d| d.contains(&wanted)), "{damage:?}");
    assert!(found.contains(&wanted), "{found}");
}

/// A log is read a piece at a time, however long it is.
#[test]
fn reading_takes_bounded_memory() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("long.mcap");
    let scenario = quadruped(&["record.keyframe_every_ticks=1"]);
    let ticks = ticks_of(scenario.clone(), 200);
    // 40 times the same 200 ticks: no test replays it
    let repeated = (0..40).flat_map(|_| &ticks).zip(0_u64..);
    write_log(&path, &scenario, repeated.map(|(t, tick)| LogTick { tick, ..t.clone() }));
    drop(ticks);
    let size = std::fs::metadata(&path).unwrap().len();
    let ((found, damage), grown) = peak_bytes(|| digests(&path).unwrap());
    assert_eq!((found.len(), damage), (8000, None));
    assert!(size > 20 << 20, "{size} bytes");
    assert!(grown < size as i64 / 2, "reading {size} bytes took {grown} bytes");
}
