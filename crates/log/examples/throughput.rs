//! Measures writer, reader and `verify`: MB/s of the file, CPU time and wall time per tick of a
//! robot with 12 joints. `cargo run --release -p hardstand-log --example throughput -- FILE`
#![allow(clippy::print_stdout, reason = "this is its output")]

use std::path::PathBuf;
use std::time::Instant;

use hardstand_error::{Error, ErrorKind, Result};
use hardstand_log::{LogReader, LogWriter, RunInfo, SideMessages, verify};
use hardstand_protocol::{
    Authority, CandidateRecord, JointCommand, JointReading, LogTick, StateReading, Verdict,
};

const TICKS: u64 = 200_000;
const KEYFRAME_TICKS: u64 = 1000;

fn info() -> RunInfo {
    RunInfo {
        version: "throughput".into(),
        recording_id: 1,
        layout_hash: 2,
        physics_hash: 3,
        run_id: 1,
        period_ns: 1_000_000,
        robot: "<robot/>".repeat(6000),
        scenario: "[sim]\n".repeat(2000),
    }
}

fn tick(number: u64) -> LogTick {
    let x = number as f64;
    let command = JointCommand { q: x, dq: 0.5, kp: 100.0, kd: 3.0, tau_ff: -1.0 };
    let candidate = CandidateRecord {
        session: 7,
        seq: number,
        answers_tick: number,
        applies_tick: 0,
        size: 12,
        verdict: Verdict::Accepted,
    };
    let state = StateReading {
        run_id: 1,
        tick: number + 1,
        time_ns: (number + 1) * 1_000_000,
        digest: number.wrapping_mul(0x9E37_79B9_7F4A_7C15),
        joints: vec![JointReading { q: x, dq: -x, tau: 0.25 }; 12],
        foot_contact: vec![1; 4],
        foot_normal_n: vec![x; 4],
        ..Default::default()
    };
    let begins = number.is_multiple_of(KEYFRAME_TICKS);
    LogTick {
        run_id: 1,
        tick: number,
        candidates: vec![candidate],
        joints: vec![command; 12],
        events: Vec::new(),
        authority: Authority::Fresh,
        failure: None,
        digest: state.digest,
        missed_deadlines: 0,
        state,
        contacts: None,
        drives: Default::default(),
        sensors: Default::default(),
        references: Vec::new(),
        keyframe: if begins { vec![number; 700] } else { Vec::new() },
    }
}

/// CPU time of this process, ns, from the kernel's count for its scheduler.
fn cpu_ns() -> u64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    text.split_whitespace().next().and_then(|n| n.parse().ok()).unwrap_or_default()
}

fn main() -> Result<()> {
    let path = std::env::args_os().nth(1).map(PathBuf::from);
    let usage = || Error::new(ErrorKind::Input, "name the file to write");
    let path = path.ok_or_else(usage)?;
    let ticks: Vec<LogTick> = (0..KEYFRAME_TICKS).map(tick).collect();
    let mut writer = LogWriter::create(&path, &info(), &[])?;
    let (begin, cpu) = (Instant::now(), cpu_ns());
    let mut record = ticks[0].clone();
    for number in 0..TICKS {
        record.clone_from(&ticks[(number % KEYFRAME_TICKS) as usize]);
        (record.tick, record.state.tick) = (number, number + 1);
        record.state.time_ns = (number + 1) * 1_000_000;
        writer.write(&record, &SideMessages::default())?;
    }
    let (cpu, wall) = (cpu_ns() - cpu, begin.elapsed());
    writer.finish()?;
    let bytes = std::fs::metadata(&path).map_or(0, |m| m.len());
    let mb = bytes as f64 * 1e-6;
    println!(
        "wrote  {mb:.1} MB, {:.0} B/tick: {:.0} MB/s, wall {:.2} us/tick, CPU {:.2} us/tick",
        bytes as f64 / TICKS as f64,
        mb / wall.as_secs_f64(),
        wall.as_secs_f64() * 1e6 / TICKS as f64,
        cpu as f64 * 1e-3 / TICKS as f64
    );
    let (begin, mut log, mut records) = (Instant::now(), LogReader::open(&path)?, 0_u64);
    while log.next_record().is_some() {
        records += 1;
    }
    let wall = begin.elapsed().as_secs_f64();
    println!("read   {records} records: {:.0} MB/s, damage {:?}", mb / wall, log.damage());
    let (begin, found) = (Instant::now(), verify(&path, |_, _| ())?);
    let wall = begin.elapsed().as_secs_f64();
    println!("verify {:?}: {:.0} MB/s", found.verdict, mb / wall);
    Ok(())
}
