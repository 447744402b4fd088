//! Logs without a robot: what is written is read back, and damage is reported.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panic")]
#![allow(missing_docs, unreachable_pub, missing_debug_implementations, reason = "tests")]

mod bytes;
mod chain;
mod chain_files;
mod damage;
mod killed;
mod limits;
mod losses;
mod old_version;
mod replace;
mod segments;
mod side_channels;
mod synced;
mod verify_cost;

use std::path::{Path, PathBuf};

use hardstand_log::{
    Disk, LogLimits, LogReader, LogRecord, LogWriter, RunInfo, RunWriter, SideMessages,
};
use hardstand_protocol::{
    Authority, CandidateRecord, Event, JointCommand, JointReading, LogTick, StateReading, Verdict,
};

pub const PERIOD_NS: u64 = 1_000_000;
/// Ticks between two keyframes.
pub const KEYFRAME_TICKS: u64 = 25;

pub fn info() -> RunInfo {
    RunInfo {
        version: "test".into(),
        recording_id: 7,
        layout_hash: 0x0123_4567_89ab_cdef,
        physics_hash: 0xfedc_ba98_7654_3210,
        run_id: 1,
        period_ns: PERIOD_NS,
        robot: "<robot name=\"lump\"/>".into(),
        scenario: "[sim]\n".into(),
    }
}

/// A tick of a made-up robot with two joints.
pub fn tick(number: u64) -> LogTick {
    let x = number as f64;
    let command = |q| JointCommand { q, dq: 0.5, kp: 100.0, kd: 3.0, tau_ff: -1.0 };
    let candidate = CandidateRecord {
        session: 7,
        seq: number,
        answers_tick: number,
        applies_tick: 0,
        size: 2,
        verdict: Verdict::Accepted,
    };
    let state = StateReading {
        run_id: 1,
        tick: number + 1,
        time_ns: (number + 1) * PERIOD_NS,
        digest: number.wrapping_mul(0x9E37_79B9_7F4A_7C15),
        joints: vec![JointReading { q: x, dq: -x, tau: 0.25 }; 2],
        foot_contact: vec![1],
        foot_normal_n: vec![x],
        ..Default::default()
    };
    let keyframe =
        if number.is_multiple_of(KEYFRAME_TICKS) { vec![number; 40] } else { Vec::new() };
    LogTick {
        run_id: 1,
        tick: number,
        candidates: vec![candidate],
        joints: vec![command(x), command(-x)],
        events: if number == 3 { vec![Event::Stop, Event::Arm] } else { Vec::new() },
        authority: Authority::Fresh,
        failure: None,
        digest: state.digest,
        missed_deadlines: number / 10,
        state,
        contacts: None,
        drives: Default::default(),
        sensors: Default::default(),
        references: Vec::new(),
        keyframe,
    }
}

pub fn write(path: &Path, ticks: impl IntoIterator<Item = LogTick>) {
    let mut writer = LogWriter::create(path, &info(), &[]).unwrap();
    for tick in ticks {
        writer.write(&tick, &SideMessages::default()).unwrap();
    }
    writer.finish().unwrap();
}

/// A recording that has begun, in files of 25 ticks.
pub fn start(path: &Path, info: RunInfo) -> hardstand_error::Result<RunWriter> {
    start_with(path, info, 10_000)
}

pub fn start_with(
    path: &Path,
    info: RunInfo,
    segment_bytes_max: u64,
) -> hardstand_error::Result<RunWriter> {
    let limits = LogLimits { segment_bytes_max, ..Default::default() };
    RunWriter::start(Box::new(Disk::default()), path.into(), info, limits, Vec::new())
}

pub fn write_ticks(writer: &mut RunWriter, ticks: impl IntoIterator<Item = u64>) {
    for number in ticks {
        writer.write(&tick(number), &SideMessages::default());
    }
}

/// Writes `ticks` in files of 25; their names.
pub fn record(path: &Path, ticks: impl IntoIterator<Item = u64>) -> Vec<PathBuf> {
    let mut writer = start(path, info()).unwrap();
    write_ticks(&mut writer, ticks);
    let written = writer.finish();
    assert_eq!(written.problem(), None);
    written.segments
}

/// Digests in the order of the log, and why it ended early.
pub fn digests(mut log: LogReader) -> (Vec<u64>, Option<String>) {
    let mut found = Vec::new();
    while let Some(record) = log.next_record() {
        if let LogRecord::Tick(tick) = record {
            found.push(tick.digest);
        }
    }
    (found, log.damage().map(String::from))
}

#[test]
fn a_log_gives_back_what_was_written() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.mcap");
    write(&path, (0..60).map(tick));
    let mut log = LogReader::open(&path).unwrap();
    assert_eq!(log.info(), &info());
    for number in 0..60 {
        let written = tick(number);
        if !written.keyframe.is_empty() {
            let Some(LogRecord::Keyframe(keyframe)) = log.next_record() else { panic!("{number}") };
            assert_eq!((keyframe.tick, keyframe.words), (number, written.keyframe.clone()));
        }
        let Some(LogRecord::Tick(read)) = log.next_record() else { panic!("tick {number}") };
        // state and keyframe have messages of their own
        let bare =
            LogTick { state: StateReading::default(), keyframe: Vec::new(), ..written.clone() };
        assert_eq!(*read, bare);
        let Some(LogRecord::State(state)) = log.next_record() else { panic!("state {number}") };
        assert_eq!(*state, written.state);
    }
    assert_eq!((log.next_record(), log.damage()), (None, None));
}
