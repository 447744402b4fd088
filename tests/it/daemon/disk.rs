//! RC-4: a real disk that is full.

use std::path::{Path, PathBuf};

use rustix::process::Signal;

use crate::common::namespace::Namespace;
use crate::common::process::{Log, Observer, Process, Scene, digest, serial};

/// A disk of 8 MiB in mounts of our own; `None` where that is not allowed.
fn small_disk(scene: &Scene) -> Option<(Namespace, PathBuf)> {
    let mounts = Namespace::new(scene, "mounts", 'm')?;
    let dir = scene.path("disk");
    std::fs::create_dir(&dir).unwrap();
    mounts.shell(&format!("mount -t tmpfs -o size=8m none {}", dir.display()));
    Some((mounts, dir.join("run.mcap")))
}

fn daemon(scene: &Scene, mounts: &Namespace, log: &Path, more: &[&str]) -> Process {
    let mut command = mounts.command(env!("CARGO_BIN_EXE_hardstand"));
    command.args(scene.run_args_with_log(log, more));
    Process::start(scene.dir.path(), "daemon", command)
}

/// What is on the disk is copied beside it; it must be the beginning of the run.
fn check_log(scene: &Scene, mounts: &Namespace, log: &Path) -> usize {
    std::fs::copy(mounts.seen_from_outside(log), scene.log()).unwrap();
    let out = scene.replay(&[]).ends_with(3);
    let read = Log::read(&scene.log());
    read.assert_no_tick_is_missing();
    let ticks = read.ticks.len();
    assert!(out.contains(&format!("identical  all {ticks} digests")), "{out}");
    assert!(read.damage.is_some(), "a full disk has no room for an end");
    assert_eq!(read.states.len(), ticks, "it ends at a whole tick");
    ticks
}

#[test]
fn a_full_disk_of_8_mib_ends_the_recording_at_a_whole_tick() {
    let _one = serial();
    let scene = Scene::new();
    let Some((mounts, log)) = small_disk(&scene) else { return };
    let args = ["--pace", "free", "--duration", "20"];
    let whole = Scene::new().daemon(&args).ends_with(0);
    let out = daemon(&scene, &mounts, &log, &args).ends_with(3);
    assert!(out.contains("recording ended early") && out.contains("No space left"), "{out}");
    assert!(out.contains("ran        20000 ticks") && out.contains("log_failed 1"), "{out}");
    assert_eq!(digest(&out), digest(&whole));
    let ticks = check_log(&scene, &mounts, &log);
    assert!((3000..5500).contains(&ticks), "{ticks} ticks in 8 MiB");
}

#[test]
fn a_disk_that_fills_up_stops_no_robot_and_the_status_says_so() {
    let _one = serial();
    let scene = Scene::new();
    let Some((mounts, log)) = small_disk(&scene) else { return };
    // room for a second
    let ballast = log.with_file_name("ballast");
    mounts.shell(&format!("head -c 7000000 /dev/zero > {}", ballast.display()));
    let mut daemon = daemon(&scene, &mounts, &log, &["--set", "sim.start=now"]);
    let observer = Observer::of(&scene);
    observer.until("it runs", |s| s.tick >= 100);
    assert_eq!(observer.status().counter("log_failed"), 0);
    let told = observer.status_until("the failure", |s| s.counter("log_failed") == 1);
    let state = observer.until("the robot goes on", |s| s.tick >= told.tick + 500);
    assert_eq!(state.failure, 0);
    daemon.signal(Signal::TERM);
    let out = daemon.ends_with(3);
    assert!(out.contains("No space left"), "{out}");
    let ticks = check_log(&scene, &mounts, &log) as u64;
    assert!(ticks > 300 && ticks < told.tick, "{ticks} ticks, told at {}", told.tick);
}

/// What was recorded replays: that the rest is missing is no difference.
#[test]
fn a_demo_on_a_disk_that_fills_up_says_that_the_recording_ended_early() {
    let _one = serial();
    let scene = Scene::new();
    let Some((mounts, log)) = small_disk(&scene) else { return };
    let demo = |more: &[&str]| {
        // an old log would have to make room first
        mounts.shell(&format!("rm -f {}", log.display()));
        let mut command = mounts.command(env!("CARGO_BIN_EXE_hardstand"));
        let sets = ["sim.pace=free", "control.mode=lockstep"];
        command.args(["demo".as_ref(), "--log".as_ref(), log.as_os_str()]);
        command.args(sets.iter().flat_map(|set| ["--set", set])).args(more);
        let mut demo = Process::start(scene.dir.path(), "demo", command);
        demo.ends_with(3);
        demo.out()
    };
    let said = demo(&[]);
    let verdict = "the robot stands; the replay is identical up to the end of the recording: ";
    assert!(said.contains(verdict) && said.contains("No space left"), "{said}");
    let result: serde_json::Value = serde_json::from_str(&demo(&["--json"])).unwrap();
    assert_eq!((&result["stands"], &result["replay_identical"]), (&true.into(), &true.into()));
    assert_eq!(result["replay"]["identical"], true);
    assert!(result["end"]["recording_error"].is_string(), "{result}");
}

/// A disk that stands still for longer than the queue of ticks lasts.
#[test]
fn a_log_with_gaps_is_said_to_be_incomplete() {
    let _one = serial();
    let scene = Scene::new();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_hardstand"));
    command.env("HARDSTAND_FAULT_POINT", "recorder:100:stall");
    command.args(scene.run_args(&["--set", "sim.start=now", "--duration", "5"]));
    let out = Process::start(scene.dir.path(), "daemon", command).ends_with(3);
    assert!(out.contains("INCOMPLETE: ") && out.contains("ticks were not recorded"), "{out}");
    // the log says where
    let out = scene.replay(&[]).ends_with(3);
    assert!(out.contains("gap        ticks ") && out.contains("were lost"), "{out}");
}
