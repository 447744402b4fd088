//! A run in several files: full ones, and ticks that were lost between them.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use crate::common::bench::{Bench, ROOMY, in_files_of, info, quadruped};
use hardstand::config::{OverrunPolicy, Pace, Scenario, StartRule};
use hardstand::daemon::Recording;
use hardstand::replay::{Gap, RunReport, replay_run};
use hardstand::ros2::RosChannels;
use hardstand::rt::{ManualClock, Request};
use hardstand_log::{Disk, LogReader};
use hardstand_protocol::LogTick;
use hardstand_protocol::{Event, Scope};

const TICKS: u64 = 600;

/// A run with a keyframe every 50 ticks.
fn run() -> (Scenario, Vec<LogTick>, u64) {
    let scenario = quadruped(&["record.keyframe_every_ticks=50"]);
    let mut bench = Bench::new(scenario.clone(), ROOMY);
    let pace = Pace::RealTime(OverrunPolicy::Slip);
    let run = bench.executive(ManualClock::default(), pace, StartRule::Now, TICKS);
    let (_, simulation) = run.run();
    (scenario, bench.logged(), simulation.state().digest)
}

/// Records `ticks` in files of about 100 kB; their names.
fn record(path: &Path, scenario: &Scenario, ticks: &[&LogTick]) -> Vec<PathBuf> {
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

fn replayed(path: &Path) -> RunReport {
    let log = LogReader::open(path).unwrap();
    let scenario = Scenario::from_texts(&log.info().scenario, &log.info().robot, &[]).unwrap();
    replay_run(log, &scenario.simulation(), NonZeroUsize::new(2).unwrap(), |_, _, _| ()).unwrap()
}

#[test]
fn a_full_file_ends_before_a_keyframe_and_no_tick_is_lost() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.mcap");
    let (scenario, ticks, digest) = run();
    let files = record(&path, &scenario, &ticks.iter().collect::<Vec<_>>());
    assert!(files.len() >= 4, "{files:?}");
    let report = replayed(&path);
    assert_eq!((&report.files, &report.gaps), (&files, &vec![]));
    let whole = &report.whole;
    assert_eq!((whole.ticks, whole.equal, whole.digest), (TICKS, TICKS, digest));
    assert_eq!((&whole.difference, &whole.damage), (&None, &None));
    // each file can be replayed from its own beginning, to the end of the run
    let rest = replayed(&files[2]);
    assert!(rest.whole.first_tick > 0 && rest.whole.first_tick.is_multiple_of(50));
    assert_eq!(rest.whole.first_tick + rest.whole.ticks, TICKS);
    assert_eq!(rest.whole.digest, digest);
}

/// The same scenario, but somebody changes the friction at its beginning.
fn disturbed(scenario: &Scenario) -> Vec<LogTick> {
    let mut bench = Bench::new(scenario.clone(), ROOMY);
    let ice = Event::Friction { scope: Scope::All, mu_static: 0.1, mu_kinetic: 0.1 };
    let mut orders = bench.orders.take().unwrap();
    assert!(orders.send(Request::Event(ice)).is_ok());
    let pace = Pace::RealTime(OverrunPolicy::Slip);
    bench.executive(ManualClock::default(), pace, StartRule::Now, TICKS).run();
    bench.logged()
}

#[test]
fn a_file_that_is_missing_or_of_another_run_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.mcap");
    let (scenario, ticks, _) = run();
    let files = record(&path, &scenario, &ticks.iter().collect::<Vec<_>>());
    let first = replayed(&files[1]).whole.first_tick;
    let put_in_place = |scenario: &Scenario, ticks: &[LogTick]| {
        let other = tempfile::tempdir().unwrap();
        let all: Vec<&LogTick> = ticks.iter().collect();
        let others = record(&other.path().join("run.mcap"), scenario, &all);
        std::fs::copy(&others[1], &files[1]).unwrap();
    };

    put_in_place(&scenario, &disturbed(&scenario));
    let report = replayed(&path);
    let damage = report.whole.damage.expect("other ticks");
    assert!(damage.contains("run.part2.mcap, but that is another run or another part"), "{damage}");
    assert_eq!((report.whole.ticks, report.whole.difference), (first, None));

    let softer = quadruped(&["record.keyframe_every_ticks=50", "contact.d1_n=0.5"]);
    put_in_place(&softer, &ticks);
    let report = replayed(&path);
    let damage = report.whole.damage.expect("another scenario");
    assert!(damage.contains("run.part2.mcap, but that is another run"), "{damage}");

    // a file that names itself has no end
    std::fs::copy(&files[0], &files[1]).unwrap();
    let report = replayed(&path);
    assert!(report.whole.damage.is_some_and(|d| d.contains("another run")));
    assert_eq!((report.whole.ticks, report.files.len()), (first, 1));

    std::fs::remove_file(&files[1]).unwrap();
    let report = replayed(&path);
    let damage = report.whole.damage.expect("a missing file");
    assert!(damage.contains("run.part2.mcap"), "{damage}");
    assert_eq!(report.whole.ticks, first);
}

/// A file that is damaged behind its last tick names its successor all the same: the damage stays.
#[test]
fn damage_before_the_last_file_is_not_forgotten() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.mcap");
    let (scenario, ticks, _) = run();
    let files = record(&path, &scenario, &ticks.iter().collect::<Vec<_>>());
    let whole = std::fs::read(&path).unwrap();
    let note = b"hardstand-next";
    let at = whole.windows(note.len()).position(|w| w == note).unwrap();
    // after the note, which is some hundred bytes long
    std::fs::write(&path, &whole[..at + 120]).unwrap();
    let report = replayed(&path);
    assert!(report.whole.damage.is_some(), "{report:?}");
    assert!(report.files.len() < files.len());
}

#[test]
fn lost_ticks_are_told_and_the_rest_is_replayed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.mcap");
    let (scenario, ticks, digest) = run();
    // the loop asks for a keyframe after a gap: tick 300 carries one
    let kept: Vec<&LogTick> = ticks.iter().filter(|t| !(120..300).contains(&t.tick)).collect();
    record(&path, &scenario, &kept);
    let report = replayed(&path);
    assert_eq!(report.gaps, [Gap { from_tick: 120, to_tick: 300 }]);
    let whole = &report.whole;
    assert_eq!((whole.ticks, whole.equal, whole.digest), (TICKS - 180, TICKS - 180, digest));
    assert_eq!((&whole.difference, &whole.damage), (&None, &None));
}

/// Whatever an earlier run of this name has left is gone, and nothing else is.
#[test]
fn a_run_replaces_all_files_of_an_earlier_one() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.mcap");
    let (scenario, ticks, _) = run();
    let all: Vec<&LogTick> = ticks.iter().collect();
    let before = record(&path, &scenario, &all);
    assert!(before.len() >= 4, "{before:?}");
    // somebody has tidied up a little
    std::fs::remove_file(&before[1]).unwrap();
    let others = ["run.part1.mcap", "run.part02.mcap", "run.part9.txt", "run2.part2.mcap"];
    let others = others.map(|name| dir.path().join(name));
    others.iter().for_each(|path| std::fs::write(path, "not of this run").unwrap());

    let files = record(&path, &scenario, &all[..200]);
    assert!((1..before.len()).contains(&files.len()), "{files:?}");
    let kept: BTreeSet<PathBuf> =
        std::fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().path()).collect();
    assert_eq!(kept, files.iter().chain(&others).cloned().collect());
    let report = replayed(&path);
    assert_eq!((&report.files, report.whole.ticks), (&files, 200));

    // what must not be replaced is told before the first tick
    std::fs::create_dir(dir.path().join("run.part7.mcap")).unwrap();
    let (_, inbox) = hardstand::buffer_pool::pool(1, || ticks[0].clone());
    let (disk, limits) = (Box::<Disk>::default(), in_files_of(100_000));
    let refused = Recording::start(disk, path, info(&scenario), limits, None.into(), inbox);
    let text = refused.unwrap_err().to_string();
    assert!(text.contains("run.part7.mcap") && text.contains("--log"), "{text}");
}
