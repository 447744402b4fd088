//! Logs of commanded runs, and the program that looks into them.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use hardstand::config::{OverrunPolicy, Pace, Scenario, StartRule};
use hardstand::daemon::Recording;
use hardstand::ros2::RosChannels;
use hardstand::rt::ManualClock;
use hardstand_log::Disk;
use hardstand_protocol::LogTick;
use hardstand_protocol::{Command as PlantCommand, JointCommand};

use super::bench::{Bench, ROOMY, TestClock, in_files_of, info, write_log};

/// What a controller does: it is silent for 50 ticks, then another one comes.
#[derive(Clone, Copy)]
pub struct Script {
    /// Session of the first controller; that of the second one is the next number.
    pub session: u64,
    /// From here on the controller is stiffer.
    pub other_from: u64,
    /// Ticks between the state and the answer to it, in the second half.
    pub late_ticks: u64,
}

impl Default for Script {
    fn default() -> Self {
        Self { session: 7, other_from: u64::MAX, late_ticks: 0 }
    }
}

/// The ticks of a commanded run.
pub fn run_of(scenario: &Scenario, script: &Script, ticks: u64) -> Vec<LogTick> {
    let mut bench = Bench::new(scenario.clone(), ROOMY);
    let (commands, q) = (bench.commands.clone(), scenario.spec.q.joints.clone());
    let script = *script;
    let between = move |period: u64| {
        let session = match period {
            ..65 => script.session,
            65..115 => return,
            _ => script.session + 1,
        };
        let late = if period < 115 { 0 } else { script.late_ticks };
        let kp = if period < script.other_from { 100.0 } else { 130.0 };
        let hold = |&q: &f64| JointCommand { q, kp, kd: 3.0, ..Default::default() };
        let answers_tick = period.saturating_sub(late);
        let joints = q.iter().map(hold).collect();
        let (seq, applies_tick) = (period, 0);
        let command = PlantCommand { run_id: 1, session, seq, answers_tick, applies_tick, joints };
        commands.send(&command);
    };
    let clock = TestClock { clock: ManualClock::default(), late: Vec::new(), between };
    let pace = Pace::RealTime(OverrunPolicy::Slip);
    bench.executive(clock, pace, StartRule::Now, ticks).run();
    bench.logged()
}

/// A log in one file.
pub fn write(path: &Path, scenario: &Scenario, ticks: &[LogTick]) {
    write_log(path, scenario, ticks);
}

/// A log in files of about 100 kB; their names.
pub fn write_parts(path: &Path, scenario: &Scenario, ticks: &[LogTick]) -> Vec<PathBuf> {
    let (out, inbox) = hardstand::buffer_pool::pool(ticks.len(), || ticks[0].clone());
    for tick in ticks {
        let mut record = out.take_free().unwrap();
        (*record).clone_from(tick);
        out.send(record);
    }
    let (disk, ros2) = (Box::<Disk>::default(), RosChannels::of(scenario));
    let limits = in_files_of(100_000);
    let recording =
        Recording::start(disk, path.into(), info(scenario), limits, ros2.into(), inbox).unwrap();
    let stats = recording.finish();
    assert_eq!((stats.error, stats.ticks), (None, ticks.len() as u64));
    stats.segments
}

/// Runs the program: all that it says, and its exit code.
pub fn hardstand(arguments: &[&OsStr]) -> (String, i32) {
    let output = Command::new(env!("CARGO_BIN_EXE_hardstand"))
        .args(arguments)
        .output()
        .expect("the program");
    let text = [output.stdout, output.stderr].concat();
    (String::from_utf8_lossy(&text).into_owned(), output.status.code().expect("an exit code"))
}
