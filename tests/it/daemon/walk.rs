//! Controllers that walk, as processes: against the same in one process.

use std::time::Duration;

use hardstand_protocol::{JoinRequest, JointCommand};

use crate::common::process::{Log, Scene, digest, repository, serial};
use crate::walking::{CONTRACT, policy, state_of, trot};

const LOCKSTEP: [&str; 4] = ["--mode", "lockstep", "--pace", "free"];

#[test]
fn the_trot_walks_in_a_daemon_as_in_one_process() {
    let _one = serial();
    let scene = Scene::new();
    let mut daemon = scene.daemon(&[&LOCKSTEP[..], &["--duration", "4"]].concat());
    let asked = ["--vx", "0.4", "--yaw-rate", "0.2"];
    let words = [&["controller", "trot", "--connect", &scene.endpoint], &asked[..]].concat();
    let mut controller = scene.hardstand("trot", &words);
    let said = daemon.ends_with(0);
    controller.kill();

    let (mut tick, mut yaw_rates, mut speeds) = (0, 0.0, 0.0);
    let solo = trot(4000, |solo| {
        tick += 1;
        if tick > 2500 {
            let v = &solo.simulation.state().v;
            yaw_rates += v.w_WB.z;
            speeds += v.v_WB.xy().norm();
        }
    });
    assert_eq!(digest(&said), format!("{:016x}", solo.simulation.state().digest));
    // it walks: truth against what was asked
    let (yaw_rate, speed) = (yaw_rates / 1500.0, speeds / 1500.0);
    assert!((yaw_rate - 0.2).abs() < 0.02, "{yaw_rate} rad/s");
    assert!((speed - 0.4).abs() < 0.03, "{speed} m/s");
    assert!(solo.simulation.state().q.p_WB.z > 0.28);
}

#[test]
fn a_policy_runs_in_a_daemon_as_in_one_process() {
    let _one = serial();
    let scene = Scene::new();
    let network = repository("crates/policy/tests/data/elu.onnx");
    let file = scene.path("calves.toml").display().to_string();
    std::fs::write(&file, CONTRACT).unwrap();
    let mut daemon = scene.daemon(&[&LOCKSTEP[..], &["--duration", "1.5"]].concat());
    let words = ["controller", "policy", &file, "--policy", &network, "--vx", "0.5"];
    let connect = ["--connect", &scene.endpoint];
    let mut controller = scene.hardstand("policy", &[&words[..], &connect].concat());
    daemon.ends_with(0);
    controller.kill();
    assert!(controller.out().contains("calves: every clause holds"), "{}", controller.out());
    let log = Log::read(&scene.log());
    let last = log.states.last().unwrap();
    assert_eq!(last.tick, 1500);

    let (solo, policy) = policy(1500);
    let own = state_of(&solo);
    assert_eq!(own.joints, last.joints);
    assert_eq!(own.truth_base_position_m, last.truth_base_position_m);
    // the policy did something
    assert!(policy.last_action().iter().any(|a| a.abs() > 0.01), "{:?}", policy.last_action());
}

#[test]
fn a_contract_that_does_not_fit_names_every_clause() {
    let _one = serial();
    let scene = Scene::new();
    let _daemon = scene.daemon(&LOCKSTEP);
    let network = repository("crates/policy/tests/data/elu.onnx");
    let file = scene.path("wrong.toml").display().to_string();
    let wrong = CONTRACT.replace("FL_calf", "FL_wing").replace("50.0", "70.0");
    std::fs::write(&file, wrong).unwrap();
    let words = ["controller", "policy", &file, "--policy", &network, "--vx", "5"];
    let connect = ["--connect", &scene.endpoint];
    let mut controller = scene.hardstand("policy", &[&words[..], &connect].concat());
    controller.ends_with(2);
    for word in
        ["no joint FL_wing_joint", "FL_calf_joint are not commanded", "policy_hz is 70", "vx is 5"]
    {
        assert!(controller.err().contains(word), "{word}: {}", controller.err());
    }
    let words = ["controller", "trot", "--connect", &scene.endpoint, "--robot", "nobody"];
    scene.hardstand("trot", &[&words[..], &["--patience", "0.3"]].concat()).ends_with(5);
}

#[test]
fn a_slow_controller_gets_the_newest_state_in_real_time() {
    let _one = serial();
    let scene = Scene::new();
    let _daemon = scene.daemon(&["--set", "command.hold_ticks=2000"]);
    let client = scene.client();
    let model = client.model(Duration::from_secs(30)).unwrap();
    let hold: Vec<JointCommand> = model
        .joints
        .iter()
        .map(|j| JointCommand { q: j.q_initial, kp: 100.0, kd: 3.0, ..Default::default() })
        .collect();
    let request = JoinRequest::new(&model, "slow");
    let mut controller = client.join(request, Duration::from_secs(5)).unwrap();
    let (mut last, mut answered) = (0, 0);
    while last < 600 {
        let state = controller.next_state(Duration::from_secs(5)).unwrap().expect("a state");
        assert!(state.tick >= last, "{} after {last}", state.tick);
        last = state.tick;
        controller.answer(&state, &hold).unwrap();
        answered += 1;
        if last > 0 {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    // it answered few of them, and did not fall behind
    let skipped = controller.skipped();
    assert!(skipped > 300, "{skipped} skipped, {answered} answered");
}
