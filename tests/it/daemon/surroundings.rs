//! What surrounds the daemon: signals, files at its paths, the limit of open files.

use std::os::unix::net::{UnixListener, UnixStream};
use std::process::Command;

use rustix::process::Signal;

use crate::common::process::{Log, Observer, Process, Scene, serial};

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

/// A file or socket of another program at the path stays as it is.
#[test]
fn what_is_at_the_path_of_a_socket_is_not_removed() {
    let _one = serial();
    let refused = |scene: &Scene, what: &str| {
        let out = scene.daemon(&[]).ends_with(5);
        assert!(out.contains(what) && out.contains(&scene.endpoint), "{out}");
    };
    let scene = Scene::new();
    let (socket, lock) = (scene.path("z.sock"), scene.path("z.sock.lock"));
    std::fs::write(&socket, "mine").unwrap();
    refused(&scene, "is no socket");
    assert_eq!(std::fs::read_to_string(&socket).unwrap(), "mine");
    std::fs::remove_file(&socket).unwrap();

    // a program that listens there, and goes on with it
    let listener = UnixListener::bind(&socket).unwrap();
    refused(&scene, "a program that listens");
    let (_tried, _) = listener.accept().unwrap();
    let _client = UnixStream::connect(&socket).unwrap();
    listener.accept().unwrap();
    drop(listener);

    std::fs::write(&lock, "mine").unwrap();
    refused(&scene, "is no lock");
    assert_eq!(std::fs::read_to_string(&lock).unwrap(), "mine");

    // what a killed daemon leaves: its lock, and a socket on which no program listens
    std::fs::write(&lock, "").unwrap();
    let mut daemon = scene.daemon(&[]);
    let observer = Observer::of(&scene);
    assert_eq!(observer.state().phase, 0);
    // the lock is held: a second daemon does not even connect
    refused(&scene, "is locked");
    assert_eq!(observer.status().counter("handshakes_failed"), 0);
    daemon.kill();
    assert!(socket.exists() && lock.exists());
    let mut daemon = scene.daemon(&[]);
    assert_eq!(Observer::of(&scene).state().phase, 0);
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
    assert!(!socket.exists() && !lock.exists());
}

#[test]
fn too_few_files_are_refused_and_a_low_limit_is_raised() {
    let _one = serial();
    let limited = |limit: &str, scene: &Scene, more: &[&str]| {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{limit}; exec \"$0\" \"$@\"")]);
        command.arg(env!("CARGO_BIN_EXE_hardstand")).args(scene.run_args(more));
        Process::start(scene.dir.path(), "limited", command)
    };
    let scene = Scene::new();
    let out = limited("ulimit -n 24", &scene, &[]).ends_with(5);
    assert!(out.contains("may open 24 files, and needs 128"), "{out}");

    let mut daemon =
        limited("ulimit -Sn 24 && ulimit -Hn 4096", &scene, &["--set", "sim.start=now"]);
    let observer = Observer::of(&scene);
    observer.until("it runs", |s| s.tick >= 100);
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", daemon.pid())).unwrap();
    let files = limits.lines().find(|l| l.starts_with("Max open files")).unwrap();
    assert_eq!(files.split_whitespace().nth(3), Some("4096"), "{files}");
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
}
