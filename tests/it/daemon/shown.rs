//! A log is shown to controllers, and what they answer is compared.

use hardstand_protocol::JoinRequest;
use hardstand_protocol::JointCommand;

use super::lockstep::{REAR, front, joined, lockstep, rear};
use crate::common::process::{Log, PATIENCE, Process, Scene, serial};

/// A run of 400 ticks in lockstep with a controller of the front legs and one of all others.
fn recorded(scene: &Scene) {
    let mut daemon = lockstep(scene, &["--pace", "free", "--duration", "0.4"]);
    let _two = [front(scene), rear(scene)];
    daemon.ends_with(0);
}

fn show(scene: &Scene, more: &[&str]) -> Process {
    scene.replay(&[&["--to-controller"], more].concat())
}

#[test]
fn the_same_controllers_answer_the_same_and_others_are_told_from_them() {
    let _one = serial();
    let scene = Scene::new();
    recorded(&scene);
    let mut daemon = show(&scene, &[]);
    let same = [front(&scene), rear(&scene)];
    let said = daemon.ends_with(0);
    drop(same);
    // 6 joints in each of 400 ticks, 6 in every fifth from the third on
    assert!(
        said.contains("compared   2880 set-points, one per joint and state: 2880 equal"),
        "{said}"
    );
    assert!(said.contains("identical") && !said.contains("missing") && !said.contains("new  "));

    let mut daemon = show(&scene, &["--speed", "2"]);
    let _others = [front(&scene), joined(&scene, "rear", &REAR, &["--kd", "2.5"])];
    let said = daemon.ends_with(1);
    assert!(said.contains("2880 set-points, one per joint and state: 480 equal"), "{said}");
    let first = "DIFFERENT  first to the state of tick 0: controller rear, \
                 command.RL_hip_joint.kd: 3e0 and 2.5e0";
    assert!(said.contains(first), "{said}");
    assert!(said.contains("largest    kd: 0.500000 N·m·s/rad, RL_hip_joint"), "{said}");
}

/// What is answered changes nothing: the states are those of the log.
#[test]
fn the_states_of_the_log_come_whatever_is_answered() {
    let _one = serial();
    let scene = Scene::new();
    recorded(&scene);
    let states = Log::read(&scene.log()).states;
    let mut daemon = show(&scene, &["--set", "control.controllers=[\"new\"]"]);
    let client = scene.client();
    let model = client.model(PATIENCE).unwrap();
    let request = JoinRequest {
        layout_hash: model.layout_hash,
        period_ticks: 1,
        controller: "new".into(),
        units: "SI".into(),
        joints: model.joints.iter().take(6).map(|j| j.name.clone()).collect(),
        ..Default::default()
    };
    let mut controller = client.join(request, PATIENCE).unwrap();
    let push = ["push", "--link", "trunk", "--force", "0", "0", "9", "--duration", "0.1"];
    let said = scene.ctl(&push, 2);
    assert!(said.contains("this is a log that is shown"), "{said}");
    let wild = JointCommand { tau_ff: 20.0, ..Default::default() };
    for state in &states[..399] {
        // the one after this tick, once the one before it is answered
        let seen = loop {
            let seen = controller.next_state(PATIENCE).unwrap().expect("a state");
            controller.answer(&seen, &[wild; 6]).unwrap();
            if seen.tick == state.tick {
                break seen;
            }
        };
        assert_eq!((seen.tick, seen.digest), (state.tick, state.digest));
        assert_eq!(seen.joints, state.joints);
    }
    let said = daemon.ends_with(1);
    assert!(said.contains("shown      400 ticks"), "{said}");
    assert!(said.contains(": 0 equal") && said.contains("missing    2400 of the log"), "{said}");
}

/// A run in real time, by a controller that had not joined, is one to be answered too.
#[test]
fn a_log_of_real_time_is_shown_as_well_and_who_does_not_come_is_named() {
    let _one = serial();
    let scene = Scene::new();
    let mut daemon = scene.daemon(&["--duration", "0.5"]);
    let old = scene.controller("old");
    daemon.ends_with(0);
    drop(old);
    let program = env!("CARGO_BIN_EXE_hardstand");
    let command = ["--", program, "controller", "stand", "--join", "a"];
    let said = show(&scene, &command).ends_with(0);
    assert!(said.contains("shown      500 ticks") && said.contains("identical"), "{said}");

    let nobody = ["--set", "control.controllers=[\"b\"]", "--set", "control.patience_s=0.5"];
    let said = show(&scene, &nobody).ends_with(8);
    assert!(said.contains("timed out waiting for b (control.patience_s)"), "{said}");
    let said = show(&scene, &["--set", "sim.micro_steps=20"]).ends_with(2);
    assert!(said.contains("--set changes what a tick computes"), "{said}");
}

/// No further answer will come: `control.patience_s`, 60 s, is for controllers that may still join.
#[test]
fn a_controller_that_has_ended_is_not_waited_for() {
    let _one = serial();
    let scene = Scene::new();
    recorded(&scene);
    let patience = ["--set", "control.patience_s=600"];
    let words = [&patience[..], &["--", "sh", "-c", "exit 7"]].concat();
    let said = show(&scene, &words).ends_with(8);
    let ended = "the controller ended after 0 ticks, before the log did (exit status: 7)";
    assert!(said.contains(ended), "{said}");
}

/// Nothing is recorded unless `--set record.file` asks for it: then not over what is shown.
#[test]
fn the_log_that_is_shown_is_not_recorded_over() {
    let _one = serial();
    let scene = Scene::new();
    recorded(&scene);
    let before = std::fs::read(scene.log()).unwrap();
    let linked = scene.path("linked.mcap");
    std::fs::hard_link(scene.log(), &linked).unwrap();
    for name in [scene.log(), linked] {
        let set = format!("record.file={name:?}");
        let said = show(&scene, &["--set", &set]).ends_with(2);
        assert!(said.contains("choose another name"), "{said}");
    }
    assert!(std::fs::read(scene.log()).unwrap() == before, "it is as it was");
}
