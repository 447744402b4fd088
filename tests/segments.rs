//! A run in several files: full ones, and ticks that were lost between them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panic")]
#![allow(missing_docs, unreachable_pub, missing_debug_implementations, reason = "tests")]

#[path = "common/bench.rs"]
mod bench;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use bench::{Bench, ROOMY, info, quadruped};
use hardstand::config::Scenario;
use hardstand::error::Result;
use hardstand::record::{Disk, Gap, Recording, RunInfo, RunReport, replay_run};
use hardstand::rt::{LogTick, ManualClock, OverrunPolicy, Pace, StartRule};

const TICKS: u64 = 600;

/// A run with a keyframe every 50 ticks.
fn run() -> (Scenario, Vec<LogTick>, u64) {
    let scenario = quadruped(&["record.keyframe_every_ticks=50"]);
    let mut bench = Bench::new(scenario.clone(), ROOMY);
    let pace = Pace::RealTime(OverrunPolicy::Slip);
    let run = bench.executive(ManualClock::default(), pace, StartRule::Now, TICKS);
    let (_, plant) = run.run();
    (scenario, bench.logged(), plant.state().digest)
}

/// Records `ticks` in files of about 100 kB; their names.
fn record(path: &Path, scenario: &Scenario, ticks: &[&LogTick]) -> Vec<PathBuf> {
    let (out, inbox) = hardstand::handover::pool(ticks.len(), || ticks[0].clone());
    for tick in ticks {
        let mut record = out.take_free().unwrap();
        (*record).clone_from(tick);
        out.send(record);
    }
    let recording =
        Recording::start(Box::new(Disk), path.into(), info(scenario), 100_000, inbox).unwrap();
    let stats = recording.finish();
    assert_eq!((stats.error, stats.ticks), (None, ticks.len() as u64));
    stats.segments
}

fn plant_of(info: &RunInfo) -> Result<hardstand::plant::Plant> {
    Ok(Scenario::from_texts(&info.scenario, &info.robot, &[])?.plant())
}

fn replayed(path: &Path) -> RunReport {
    replay_run(path, plant_of, NonZeroUsize::new(2).unwrap(), |_, _, _| ()).unwrap()
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

#[test]
fn a_file_that_is_missing_or_another_run_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.mcap");
    let (scenario, ticks, _) = run();
    let files = record(&path, &scenario, &ticks.iter().collect::<Vec<_>>());
    let first = replayed(&files[1]).whole.first_tick;

    // the second file of a run that was pushed
    let pushed_dir = tempfile::tempdir().unwrap();
    let push = "events=[{at_s=0.01, kind=\"push\", link=\"trunk\", force_n=[0.0, 50.0, 0.0], \
                duration_s=0.01}]";
    let other = quadruped(&["record.keyframe_every_ticks=50", push]);
    let mut bench = Bench::new(other.clone(), ROOMY);
    let pace = Pace::RealTime(OverrunPolicy::Slip);
    bench.executive(ManualClock::default(), pace, StartRule::Now, TICKS).run();
    let pushed = bench.logged();
    let others =
        record(&pushed_dir.path().join("run.mcap"), &other, &pushed.iter().collect::<Vec<_>>());
    std::fs::copy(&others[1], &files[1]).unwrap();
    let difference = replayed(&path).whole.difference.expect("another run");
    assert_eq!(difference.tick, first);
    assert!(difference.quantity.contains("run-2.mcap"), "{difference:?}");

    std::fs::remove_file(&files[1]).unwrap();
    let report = replayed(&path);
    let damage = report.whole.damage.expect("a missing file");
    assert!(damage.contains("run-2.mcap"), "{damage}");
    assert_eq!(report.whole.ticks, first);
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
