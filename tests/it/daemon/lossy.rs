//! Lockstep where states, answers and replies are lost on the way: each client comes to the end of
//! the run, and the run is the one without losses.

use std::process::Command;
use std::time::Duration;

use hardstand_client::{Client, JoinRequest, JoinedController};

use crate::common::lossy::{Loss, Lossy};
use crate::common::process::{PATIENCE, Process, Scene, digest, repository, serial};
use crate::python::python;

/// Period, phase and offset of the controller, ticks.
type Schedule = [u64; 3];

const SCHEDULES: [Schedule; 8] =
    [[1, 0, 0], [1, 0, 7], [3, 2, 20], [3, 1, 2], [5, 0, 12], [7, 6, 14], [20, 0, 5], [50, 49, 20]];
const LOCKSTEP: [&str; 4] = ["--mode", "lockstep", "--pace", "free"];

/// A controller that is told its endpoint and its schedule, and runs until the daemon has ended.
type Controller = dyn Fn(&Scene, &str, Schedule, &mut Process);

/// The digest of a run of so many seconds with this controller, and how many states, commands and
/// replies were lost.
fn run(
    controller: &Controller,
    schedule: Schedule,
    seconds: &str,
    loss: Loss,
) -> (String, [u64; 3]) {
    let scene = Scene::in_memory();
    let mut daemon = scene.daemon(&[&LOCKSTEP[..], &["--duration", seconds]].concat());
    // it listens before a relay can connect
    scene.client().model(PATIENCE).unwrap();
    let relay = Lossy::start(scene.dir.path(), &scene.endpoint, loss);
    controller(&scene, &relay.endpoint, schedule, &mut daemon);
    (digest(&daemon.ends_with(0)), relay.lost())
}

/// Every schedule without losses, and with those of these seeds.
fn losses(controller: &Controller, seconds: &str, seeds: std::ops::Range<u64>) {
    for schedule in SCHEDULES {
        let (whole, none) = run(controller, schedule, seconds, Loss::of_all(0, 0));
        assert_eq!(none, [0; 3]);
        let (mut states, mut commands) = (0, 0);
        for seed in seeds.clone() {
            let (digest, lost) = run(controller, schedule, seconds, Loss::of_all(5, seed));
            assert_eq!(digest, whole, "{schedule:?}, seed {seed}: {lost:?} lost");
            (states, commands) = (states + lost[0], commands + lost[1]);
        }
        println!("{schedule:?}: {states} states and {commands} commands lost");
        assert!(states > 0, "{schedule:?}: no state was lost");
    }
}

/// The client in Rust, which C and C++ use too.
fn in_rust(_: &Scene, endpoint: &str, schedule: Schedule, daemon: &mut Process) {
    let [period_ticks, phase_ticks, offset_ticks] = schedule;
    let client = Client::connect(endpoint, "quadruped").unwrap();
    let model = client.model(PATIENCE).unwrap();
    let request =
        JoinRequest { period_ticks, phase_ticks, offset_ticks, ..JoinRequest::new(&model, "legs") };
    let mut controller: JoinedController = client.join(request, PATIENCE).unwrap();
    let (hold, mut silent) = (model.hold(), 0);
    while !daemon.has_ended() {
        match controller.next_state(Duration::from_millis(100)).unwrap() {
            Some(state) => {
                silent = 0;
                controller.answer(&state, &hold).unwrap();
            }
            None => silent += 1,
        }
        assert!(silent < 150, "no state for 15 s");
    }
}

/// A script that runs until the daemon has ended; it may not end before.
fn in_python(
    scene: &Scene,
    script: &str,
    (endpoint, schedule): (&str, Schedule),
    daemon: &mut Process,
) {
    let python = python(script, "zenoh, numpy").unwrap();
    let mut command = Command::new(python);
    command
        .arg(repository(script))
        .args(["--connect", endpoint])
        .env("PYTHONPATH", repository("python"));
    for (name, ticks) in ["--period", "--phase", "--offset"].iter().zip(schedule) {
        command.args([name, ticks.to_string().as_str()]);
    }
    let mut controller = Process::start(scene.dir.path(), "controller", command);
    let silent = std::time::Instant::now();
    while !daemon.has_ended() {
        let (out, err) = (controller.out(), controller.err());
        assert!(!controller.has_ended(), "{script} has ended:\n{out}{err}");
        assert!(silent.elapsed() < PATIENCE, "{script} hangs:\n{out}{err}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn in_the_python_example(scene: &Scene, at: &str, schedule: Schedule, daemon: &mut Process) {
    in_python(scene, "examples/lockstep.py", (at, schedule), daemon);
}

fn in_the_python_package(scene: &Scene, at: &str, schedule: Schedule, daemon: &mut Process) {
    in_python(scene, "tests/python/schedule.py", (at, schedule), daemon);
}

#[test]
fn lost_messages_change_nothing_for_the_client_in_rust() {
    let _one = serial();
    losses(&in_rust, "0.5", 1..3);
}

#[test]
#[ignore = "some minutes: cargo test --release --test it lost_messages -- --ignored --nocapture"]
fn lost_messages_change_nothing_for_the_client_in_rust_many_seeds() {
    let _one = serial();
    losses(&in_rust, "1", 1..126);
}

#[test]
fn lost_messages_change_nothing_for_the_example_in_python() {
    if python("lost_messages_…_the_example_in_python", "zenoh, numpy").is_some() {
        let _one = serial();
        losses(&in_the_python_example, "0.5", 1..2);
    }
}

#[test]
fn lost_messages_change_nothing_for_the_package_in_python() {
    if python("lost_messages_…_the_package_in_python", "zenoh, numpy").is_some() {
        let _one = serial();
        losses(&in_the_python_package, "0.5", 1..2);
    }
}
