//! The sandbox of a real daemon. What it prevents in all is tested in crates/sandbox.

use std::path::Path;
use std::process::Command;

use hardstand::daemon::{Report, reports};
use rustix::process::Signal;

use crate::common::process::{Observer, Process, Scene, repository, serial, wait_for};

const FAULT_POINT: &str = "HARDSTAND_FAULT_POINT";

/// A daemon with a log in a folder of its own, and with a thing to do at a fault point.
fn daemon(scene: &Scene, fault_point: &str, more: &[&str]) -> Process {
    let log = scene.path("log");
    let _may_be_there = std::fs::create_dir(&log).is_ok();
    let mut command = Command::new(env!("CARGO_BIN_EXE_hardstand"));
    command
        .args(["run", &repository("config/quadruped.toml"), "--set", "sim.start=now"])
        .arg("--report")
        .arg(scene.path("report"))
        .arg("--log")
        .arg(log.join("run.mcap"))
        .env(FAULT_POINT, fault_point);
    command.args(["--set", &format!("bus.listen=[{:?}]", scene.endpoint)]).args(more);
    Process::start(scene.dir.path(), "daemon", command)
}

/// The lines `Name: value` of a thread's status.
fn field(task: &Path, name: &str) -> Option<String> {
    let text = std::fs::read_to_string(task.join("status")).ok()?;
    let line = text.lines().find_map(|l| l.strip_prefix(name))?;
    Some(line.trim_start_matches(':').trim().into())
}

/// Name, mode of seccomp and number of filters of each thread.
fn threads(daemon: &Process) -> Vec<(String, String, String)> {
    let tasks = std::fs::read_dir(format!("/proc/{}/task", daemon.pid())).unwrap();
    let thread = |task: std::io::Result<std::fs::DirEntry>| {
        let task = task.unwrap().path();
        let name = std::fs::read_to_string(task.join("comm")).ok()?.trim().to_string();
        Some((name, field(&task, "Seccomp")?, field(&task, "Seccomp_filters")?))
    };
    tasks.filter_map(thread).collect()
}

fn ready(scene: &Scene) -> hardstand::daemon::ReadyReport {
    wait_for("the daemon is ready", || {
        let text = std::fs::read_to_string(scene.path("report")).unwrap_or_default();
        reports(&text).into_iter().find_map(|report| match report {
            Report::Ready(ready) => Some(ready),
            _ => None,
        })
    })
}

#[test]
fn every_thread_of_a_running_daemon_is_confined_and_the_loop_more() {
    let _one = serial();
    let scene = Scene::new();
    let mut daemon = daemon(&scene, "", &[]);
    let _ready = ready(&scene);
    let observer = Observer::of(&scene);
    observer.until("it runs", |s| s.tick > 100);
    let all = threads(&daemon);
    assert!(all.len() > 8, "{all:?}");
    for (name, mode, filters) in all {
        let expected = if name == "physics" { "2" } else { "1" };
        assert_eq!((mode.as_str(), filters.as_str()), ("2", expected), "{name}");
    }
    daemon.signal(Signal::INT);
    daemon.ends_with(0);
}

#[test]
fn in_lockstep_the_loop_has_the_filter_of_the_others() {
    let _one = serial();
    let scene = Scene::new();
    let mut daemon = daemon(&scene, "", &["--mode", "lockstep"]);
    let _ready = ready(&scene);
    let observer = Observer::of(&scene);
    observer.until("it runs", |s| s.tick > 100);
    for (name, mode, filters) in threads(&daemon) {
        assert_eq!((mode.as_str(), filters.as_str()), ("2", "1"), "{name}");
    }
    daemon.signal(Signal::INT);
    daemon.ends_with(0);
}

#[test]
fn a_thread_of_the_bus_the_recorder_and_the_loop_cannot_read_a_file() {
    let _one = serial();
    if hardstand_sandbox::probe().landlock_abi.is_none() {
        println!("SKIPPED: this kernel has no Landlock");
        return;
    }
    for (point, mode, why) in [
        ("watch", "realtime", "permission denied"),
        ("recorder", "realtime", "permission denied"),
        ("physics", "realtime", "unsupported"),
        ("physics", "lockstep", "permission denied"),
    ] {
        for (sandbox, expected) in [("on", why), ("off", "opened")] {
            let scene = Scene::new();
            let set = format!("security.sandbox={sandbox:?}");
            let deed = format!("{point}:1:open=/etc/passwd");
            let more = ["--mode", mode, "--duration", "0.3", "--set", &set];
            let out = daemon(&scene, &deed, &more).ends_with(0);
            let line = format!("fault point {point}: {expected}");
            assert!(out.contains(&line), "{point} {mode} {sandbox}: {out}");
        }
    }
}

#[test]
fn what_is_in_force_is_reported_and_required_means_all_of_it() {
    let _one = serial();
    let scene = Scene::new();
    let mut free = daemon(&scene, "", &["--duration", "0.1", "--set", "security.sandbox=\"off\""]);
    assert_eq!(ready(&scene).sandbox, None);
    assert!(free.ends_with(0).contains("sandbox    off"));
    let scene = Scene::new();
    let mut confined = daemon(&scene, "", &["--duration", "0.1"]);
    let report = ready(&scene).sandbox.unwrap();
    assert!(report.seccomp, "{report:?}");
    let out = confined.ends_with(0);
    report.not_applied.iter().for_each(|text| assert!(out.contains(text), "{out}"));
    let scene = Scene::new();
    let more = ["--duration", "0.1", "--set", "security.sandbox=\"required\""];
    let mut required = daemon(&scene, "", &more);
    if report.not_applied.is_empty() {
        required.ends_with(0);
    } else {
        let out = required.ends_with(4);
        assert!(out.contains("security.sandbox") && out.contains(&report.not_applied[0]), "{out}");
        assert!(!scene.path("log/run.mcap").exists(), "a refused run leaves no log");
    }
}
