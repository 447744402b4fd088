//! Threads of ports that panic.

use std::net::UdpSocket;
use std::process::Command;

use hardstand::daemon::EVENT_TOPIC;
use rustix::process::Signal;

use crate::common::process::{Log, Observer, Process, Scene, repository, serial, wait_for};

/// A daemon in which the point `fault` (`NAME:N:panics=K`, the first K of every Nth visits) panics.
fn daemon(scene: &Scene, fault: &str, set: &str) -> Process {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hardstand"));
    command
        .args(scene.run_args(&["--set", set, "--set", "sim.start=now", "--set", "ros2.mode=off"]))
        .env("HARDSTAND_FAULT_POINT", fault);
    Process::start(scene.dir.path(), "daemon", command)
}

/// Texts of the events in a log.
fn events(scene: &Scene) -> Vec<String> {
    let bytes = std::fs::read(scene.log()).unwrap();
    let messages = mcap::MessageStream::new(&bytes).unwrap().map(Result::unwrap);
    messages
        .filter(|m| m.channel.topic == EVENT_TOPIC)
        .map(|m| String::from_utf8_lossy(&m.data).into_owned())
        .collect()
}

/// BUS-1: each port runs again after a panic of its thread.
#[test]
fn a_port_whose_thread_panics_is_restarted() {
    let _one = serial();
    for (fault, set, port) in [
        ("udp:200:panics=2", "udp.listen=127.0.0.1:0".to_string(), "udp"),
        ("shared-memory:2000:panics=2", "shared_memory.path=@robot".into(), "shared_memory"),
        (
            "motor-bus:2000:panics=2",
            "buses=[{ name = \"legs\", wire = \"slcan\", port = \"@legs\", drives = \
          [{ motor = \"mini-cheetah\", id = 1, joint = \"FL_hip_joint\" }] }]"
                .into(),
            "legs",
        ),
    ] {
        let scene = Scene::in_memory();
        let set = set.replace('@', &format!("{}/", scene.dir.path().display()));
        let mut daemon = daemon(&scene, fault, &set);
        let observer = Observer::of(&scene);
        let restarts = |status: &hardstand_protocol::StatusReading| {
            let of_port = |name: &str| name.ends_with("restarts") && name.contains(port);
            status.counters.iter().filter(|c| of_port(&c.name)).map(|c| c.value).sum::<u64>()
        };
        // the second panic shows that the first restart worked
        observer.status_until("two restarts", |s| restarts(s) >= 2);
        let state = observer.state();
        observer.until("the robot runs on", |s| s.tick > state.tick + 100);
        daemon.signal(Signal::TERM);
        let out = daemon.ends_with(0);
        let point = fault.split(':').next().unwrap();
        assert!(out.contains(&format!("fault point {point}")), "{out}");
        let texts = events(&scene);
        let said = |text: &&String| text.contains(port) && text.contains("was restarted");
        assert!(texts.iter().filter(said).count() == 2, "{port}: {texts:?}");
        Log::read(&scene.log()).assert_no_tick_is_missing();
    }
}

/// A peer is answered again after the panic, on the same address.
#[test]
fn commands_over_udp_go_on_after_a_panic_of_its_thread() {
    let _one = serial();
    let scene = Scene::in_memory();
    let address = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let mut daemon = daemon(&scene, "udp:3000:panics=2", &format!("udp.listen={address}"));
    let mut command = Command::new("python3");
    command.arg("-B").arg(repository("examples/ports/hold.py")).args([&address, "60"]);
    let mut peer = Process::start(scene.dir.path(), "peer", command);
    let observer = Observer::of(&scene);
    // on a busy machine the second one may come before the first is seen
    for restarts in 1..=2 {
        let status = observer.status_until("a restart", |s| s.counter("udp_restarts") >= restarts);
        let before = status.counter("udp_commands");
        wait_for("commands after the restart", || {
            (observer.status().counter("udp_commands") > before).then_some(())
        });
    }
    daemon.signal(Signal::TERM);
    daemon.ends_with(0);
    peer.kill();
    scene.replays();
}

#[test]
fn a_port_that_panics_again_and_again_ends_the_run_in_order() {
    let _one = serial();
    let scene = Scene::in_memory();
    let mut daemon = daemon(&scene, "udp:2", "udp.listen=127.0.0.1:0");
    let out = daemon.ends_with(70);
    assert!(out.contains("a thread of a port panicked again and again"), "{out}");
    assert!(Log::read(&scene.log()).damage.is_none());
    scene.replays();
}
