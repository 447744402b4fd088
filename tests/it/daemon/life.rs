//! Start, run, end, replay.

use std::cell::Cell;
use std::process::Command;
use std::time::Duration;

use hardstand_protocol::{Authority, Rejection, Verdict};
use hardstand_protocol::{Kind, encode};
use rustix::process::Signal;

use crate::common::process;
use crate::common::process::{Log, Observer, Process, Scene, digest, serial};

#[test]
fn the_demo_stands_and_replays_in_another_process() {
    let _one = serial();
    let scene = Scene::new();
    let log = scene.log().display().to_string();
    let mut demo = scene.hardstand("demo", &["demo", "--log", &log, "--set", "sim.duration_s=7.5"]);
    let out = demo.ends_with(0);
    let states = Log::read(log.as_ref()).states;
    // ahead for 3 s at 0.4 m/s, in which it is pushed
    let walked_m = |from: usize, to: usize| {
        let [a, b] = [from, to].map(|i| states[i].truth_base_position_m);
        let (x, y) = (b[0] - a[0], b[1] - a[1]);
        (x * x + y * y).sqrt()
    };
    assert!(walked_m(0, 4500) > 0.8, "{} m", walked_m(0, 4500));
    assert!(out.contains("verdict    the robot stands; the replay is identical"), "{out}");
    // no second without its line, apart from the first and the last
    assert!(out.lines().filter(|l| l.starts_with("t ")).count() >= 5, "{out}");
    assert_eq!(digest(&out), digest(&scene.replays()));
}

#[test]
#[ignore = "half a minute: cargo test --test it every_contact_model -- --ignored"]
fn the_demo_stands_and_replays_on_every_contact_model() {
    let _one = serial();
    let holding = "contact.stiction=holding";
    for sets in [
        ["contact.model=rigid", holding],
        ["contact.model=hunt_crossley", holding],
        ["feet.0.model=rigid", "feet.3.model=hunt_crossley"],
    ] {
        let scene = Scene::new();
        let log = scene.log().display().to_string();
        let mut args = vec!["demo", "--log", &log, "--set", "sim.duration_s=7.5"];
        sets.iter().for_each(|set| args.extend(["--set", set]));
        let out = scene.hardstand("demo", &args).ends_with(0);
        assert!(out.contains("verdict    the robot stands; the replay is identical"), "{out}");
        assert_eq!(digest(&out), digest(&scene.replays()), "{sets:?}");
    }
}

#[test]
fn simulated_time_begins_with_the_first_proof_of_life() {
    let _one = serial();
    let scene = Scene::new();
    let mut daemon = scene.daemon(&["--duration", "0.5"]);
    let observer = Observer::of(&scene);
    // it waits: states are published, and all of them are the initial one
    let first = observer.state();
    for _ in 0..200 {
        let state = observer.state();
        assert_eq!((state.tick, state.phase, state.digest), (0, 0, first.digest));
    }
    let _controller = scene.controller("controller");
    let out = daemon.ends_with(0);
    let log = Log::read(&scene.log());
    assert_eq!(log.ticks.len(), 500, "{out}");
    let tick = &log.ticks[0];
    let verdicts: Vec<Verdict> = tick.candidates.iter().map(|o| o.verdict).collect();
    assert_eq!(verdicts[..3], [Verdict::Proving, Verdict::Proving, Verdict::Accepted]);
    assert_eq!((tick.tick, tick.authority), (0, Authority::Fresh));
    assert_eq!(digest(&out), digest(&scene.replays()));
}

#[test]
fn free_runs_repeat_and_a_changed_key_shows() {
    let _one = serial();
    let run = |more: &[&str]| {
        let scene = Scene::new();
        let mut args = vec!["--pace", "free", "--duration", "2"];
        args.extend(more);
        let out = scene.daemon(&args).ends_with(0);
        (scene, digest(&out))
    };
    let ((scene, a), (_, b), (_, c)) = (run(&[]), run(&[]), run(&["--set", "contact.d1_n=0.6"]));
    assert_eq!(a, b, "two free runs of the same scenario");
    assert_ne!(a, c, "a stiffer ground must change the digest");
    assert_eq!(a, digest(&scene.replays()));

    for (set, names) in [
        ("contact.d1_n=0.6", "base.p_WB"),
        ("contact.mu_static=0.9", "contact.mu_static"),
        ("sim.micro_steps=20", "truth_base"),
    ] {
        let out = scene.replay(&["--set", set]).ends_with(1);
        let line = out.lines().find(|l| l.starts_with("DIFFERENT")).expect("a difference");
        assert!(line.contains("first at tick ") && line.contains(names), "{set}: {line}");
    }
}

#[test]
fn sigterm_and_sigint_end_it_in_order() {
    let _one = serial();
    for signal in [Signal::TERM, Signal::INT] {
        let scene = Scene::new();
        let mut daemon = scene.daemon(&[]);
        let observer = Observer::of(&scene);
        let _controller = scene.controller("controller");
        let seen = observer.until("300 ticks", |s| s.tick >= 300);
        daemon.signal(signal);
        let out = daemon.ends_with(0);
        assert!(out.contains("ended      stopped by a signal or an operator"), "{out}");
        let log = Log::read(&scene.log());
        assert_eq!(log.damage, None);
        assert!(log.ticks.len() as u64 >= seen.tick, "a tick that was shown is not in the log");
        log.assert_no_tick_is_missing();
        assert_eq!(digest(&out), digest(&scene.replays()));
    }
}

/// `timeout` sends SIGTERM to its child and to its group, and a launcher that is interrupted passes
/// on what its child has received from the terminal, too.
#[test]
fn signals_that_come_together_are_one_request() {
    let _one = serial();
    let scene = Scene::new();
    let mut daemon = scene.daemon(&[]);
    let observer = Observer::of(&scene);
    let _controller = scene.controller("controller");
    observer.until("300 ticks", |s| s.tick >= 300);
    // two signals of one kind may be delivered as one
    for signal in [Signal::TERM, Signal::INT, Signal::TERM, Signal::INT] {
        daemon.signal(signal);
    }
    let out = daemon.ends_with(0);
    assert!(out.contains("ended      stopped by a signal or an operator"), "{out}");
    assert_eq!(Log::read(&scene.log()).damage, None);
    assert_eq!(digest(&out), digest(&scene.replays()));
}

#[test]
fn a_signal_while_waiting_ends_it_too_and_the_log_says_that_it_is_empty() {
    let _one = serial();
    let scene = Scene::new();
    let mut daemon = scene.daemon(&[]);
    let observer = Observer::of(&scene);
    assert_eq!(observer.state().phase, 0);
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
    let out = scene.replay(&[]).ends_with(3);
    assert!(out.contains("holds no tick"), "{out}");
}

/// A disk that never answers stops the recorder, and the recorder alone.
#[test]
fn a_stuck_disk_does_not_stop_the_physics_and_a_second_signal_ends_at_once() {
    let _one = serial();
    let scene = Scene::new();
    let mut command = Command::new(env!("CARGO_BIN_EXE_hardstand"));
    command.env("HARDSTAND_FAULT_POINT", "recorder:20:hang");
    command.args(scene.run_args(&["--set", "sim.start=now"]));
    let mut daemon = Process::start(scene.dir.path(), "daemon", command);
    let observer = Observer::of(&scene);
    // the queue holds 2048 ticks
    let state = observer.until("more ticks than the queue holds", |s| s.tick >= 3000);
    assert_eq!(state.failure, 0);
    let status =
        observer.status_until("dropped log ticks", |s| s.counter("log_ticks_dropped") >= 200);
    assert!(status.counter("snapshots_dropped") < 1000, "{status:?}");

    daemon.signal(Signal::TERM);
    std::thread::sleep(Duration::from_millis(500));
    assert!(!daemon.has_ended(), "it cannot close a log that is stuck");
    daemon.signal(Signal::TERM);
    assert_eq!(daemon.wait().code(), Some(128 + 15));
}

/// RC-4: the file may not grow any further. Recording ends, the physics does not notice.
#[test]
fn a_full_disk_ends_the_recording_and_nothing_else() {
    let _one = serial();
    let free = Scene::new();
    let whole = free.daemon(&["--pace", "free", "--duration", "2"]).ends_with(0);

    let scene = Scene::new();
    let mut command = Command::new("prlimit");
    command.args(["--fsize=900000", env!("CARGO_BIN_EXE_hardstand")]);
    command.args(scene.run_args(&["--pace", "free", "--duration", "2"]));
    if Command::new("prlimit").arg("--version").output().is_err() {
        eprintln!("skipped: there is no prlimit");
        return;
    }
    let out = Process::start(scene.dir.path(), "daemon", command).ends_with(3);
    assert!(out.contains("recording ended early") && out.contains("too large"), "{out}");
    assert!(out.contains("log_failed 1"), "{out}");
    assert_eq!(digest(&out), digest(&whole));
    let log = Log::read(&scene.log());
    assert!(log.damage.is_some() && log.ticks.len() > 300, "{} ticks", log.ticks.len());
    scene.replay(&[]).ends_with(3);
}

/// Its terminal goes away: SIGHUP, and nobody reads the output any more.
#[test]
fn a_daemon_outlives_its_terminal() {
    let _one = serial();
    let scene = Scene::new();
    let mut command = Command::new(env!("CARGO_BIN_EXE_hardstand"));
    command.args(scene.run_args(&["--set", "sim.start=now", "--duration", "2.5"]));
    let mut daemon = Process::start_unread(command);
    let observer = Observer::of(&scene);
    observer.until("it runs", |s| s.tick >= 100);
    daemon.signal(Signal::HUP);
    assert_eq!(daemon.wait().code(), Some(0));
    assert_eq!(Log::read(&scene.log()).ticks.len(), 2500);
    scene.replays();
}

#[test]
fn a_taken_endpoint_is_named() {
    let _one = serial();
    for scene in [Scene::tcp(), Scene::new()] {
        let _first = scene.daemon(&[]);
        let observer = Observer::of(&scene);
        let mut second = scene.hardstand(
            "second",
            &[
                "run",
                &process::repository("config/quadruped.toml"),
                "--set",
                &format!("bus.listen=[{:?}]", scene.endpoint),
            ],
        );
        let out = second.ends_with(5);
        assert!(out.contains(&scene.endpoint), "{out}");
        // and the first one is undisturbed
        assert_eq!(observer.state().phase, 0);
    }
}

#[test]
fn a_standing_robot_weighs_what_it_weighs() {
    let _one = serial();
    let scene = Scene::new();
    let mut daemon = scene.daemon(&[]);
    let observer = Observer::of(&scene);
    let _controller = scene.controller("controller");
    // if the machine holds up the controller, the drives are damped, and the robot sinks
    let (seen, driven_from) = (Cell::new(0), Cell::new(0));
    let state = observer.until("2 s, of which half a second of standing is the last", |s| {
        if s.tick > seen.replace(s.tick) + 20 || !Authority::is_command(s.authority) {
            driven_from.set(s.tick);
        }
        s.tick >= 2000 && s.tick >= driven_from.get() + 500
    });
    let weight_n = observer.model.mass_kg * 9.81;
    let feet_n: f64 = state.foot_normal_n.iter().sum();
    assert!((feet_n / weight_n - 1.0).abs() < 0.02, "feet {feet_n} N, weight {weight_n} N");
    let imu = state.imu_specific_force_m_per_s2;
    assert!((imu[2] - 9.81).abs() < 0.2 && imu[0].abs() < 0.5 && imu[1].abs() < 0.5, "{imu:?}");
    assert_eq!(state.foot_contact, [1, 1, 1, 1]);
    assert!((0.2..0.5).contains(&state.truth_base_position_m[2]));
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
    scene.replays();
}

#[test]
fn two_controllers_never_share_the_robot() {
    let _one = serial();
    let scene = Scene::new();
    let mut daemon = scene.daemon(&[]);
    let observer = Observer::of(&scene);
    // both are there before the first tick
    let _a = scene.controller("a");
    let _b = scene.controller("b");
    observer.until("500 ticks", |s| s.tick >= 500);
    observer.status_until("the second is refused", |s| s.counter("rejected_not_owner") > 50);
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);

    let log = Log::read(&scene.log());
    let accepted = |t: &hardstand_protocol::LogTick| -> Vec<u64> {
        let of = |o: &hardstand_protocol::CandidateRecord| {
            (o.verdict == Verdict::Accepted).then_some(o.session)
        };
        t.candidates.iter().filter_map(of).collect()
    };
    let refused = log.ticks.iter().flat_map(|t| &t.candidates);
    let refused = refused.filter(|o| o.verdict == Verdict::Rejected(Rejection::NotOwner)).count();
    assert!(refused > 50, "{refused}");
    let mut owner = 0;
    let mut lost = false;
    for t in &log.ticks {
        lost |= matches!(t.authority, Authority::Damped | Authority::Zero);
        for session in accepted(t) {
            assert!(owner == 0 || session == owner || lost, "tick {}: {session:x}", t.tick);
            (owner, lost) = (session, false);
        }
    }
    scene.replays();
}

/// The longest description that there can be goes in several pieces; it must arrive whole.
#[test]
fn the_largest_robot_is_described_whole() {
    let _one = serial();
    let scene = Scene::tcp();
    let inertial = "<inertial><mass value=\"1\"/><inertia ixx=\"0.1\" ixy=\"0\" ixz=\"0\" \
                    iyy=\"0.1\" iyz=\"0\" izz=\"0.1\"/></inertial>";
    let long = "n".repeat(250);
    let mut urdf = format!("<robot name=\"large\"><link name=\"base\">{inertial}</link>");
    for i in 0..256 {
        urdf += &format!(
            "<link name=\"l{i}{long}\">{inertial}</link><joint name=\"j{i}{long}\" \
             type=\"continuous\"><parent link=\"base\"/><child link=\"l{i}{long}\"/>\
             <axis xyz=\"0 1 0\"/></joint>"
        );
    }
    urdf += "</robot>";
    std::fs::write(scene.path("large.urdf"), &urdf).unwrap();
    let stations: String = (0..32)
        .map(|i| {
            let points = "[0, 0, 0.5], ".repeat(6);
            format!(
                "[[feet]]\nname = \"{i}{}\"\nlink = \"l{i}{long}\"\npoints_m = [{points}]\n",
                "f".repeat(90)
            )
        })
        .collect();
    let scenario = format!("[robot]\nurdf = \"large.urdf\"\nname = \"quadruped\"\n{stations}");
    std::fs::write(scene.path("large.toml"), scenario).unwrap();
    let listen = format!("bus.listen=[{:?}]", scene.endpoint);
    let file = scene.path("large.toml").display().to_string();
    let mut daemon = scene.hardstand("daemon", &["run", &file, "--set", &listen]);
    let observer = Observer::of(&scene);
    let mut bytes = Vec::new();
    encode(Kind::Model, &observer.model, &mut bytes).unwrap();
    assert!(bytes.len() > 2 * 65_535, "{} bytes", bytes.len());
    assert_eq!((observer.model.joints.len(), observer.model.stations.len()), (256, 192));
    assert!(observer.model.joints.iter().all(|j| j.name.ends_with(&long)));
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
}
