//! What surrounds the daemon: signals, files at its paths, the limit of open files.

use std::process::Command;

use rustix::process::Signal;

use crate::common::process::{Log, Observer, Scene, serial};

/// A stray signal neither ends the run nor costs a tick; two signals announce an end.
#[test]
fn other_signals_end_nothing_or_end_it_in_order() {
    let _one = serial();
    let scene = Scene::new();
    let mut daemon = scene.daemon(&["--set", "sim.start=now", "--duration", "2.5"]);
    let observer = Observer::of(&scene);
    observer.until("it runs", |s| s.tick >= 100);
    let stray = [
        Signal::USR1,
        Signal::USR2,
        Signal::ALARM,
        Signal::VTALARM,
        Signal::PROF,
        Signal::IO,
        Signal::PIPE,
    ];
    stray.into_iter().for_each(|signal| daemon.signal(signal));
    let real_time = Command::new("sh").args(["-c", &format!("kill -34 {}", daemon.pid())]).status();
    assert!(real_time.unwrap().success());
    daemon.ends_with(0);
    assert_eq!(Log::read(&scene.log()).ticks.len(), 2500);
    scene.replays();

    for signal in [Signal::XCPU, Signal::POWER] {
        let scene = Scene::new();
        let mut daemon = scene.daemon(&["--set", "sim.start=now"]);
        Observer::of(&scene).until("it runs", |s| s.tick >= 100);
        daemon.signal(signal);
        let out = daemon.ends_with(0);
        assert!(out.contains("stopped by a signal"), "{out}");
        let log = Log::read(&scene.log());
        assert!(log.damage.is_none() && log.ticks.len() >= 100, "{} ticks", log.ticks.len());
        scene.replays();
    }
}
