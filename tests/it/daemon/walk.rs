//! Controllers that walk, as processes: against the same in one process.

use hardstand::simulation::Solo;
use hardstand_policy::{Contract, Network, Policy, RobotFacts, Sensors};
use hardstand_protocol::{JoinRequest, JointCommand, StateReading};
use hardstand_trot::{Command, Readings, Trot, commanded};

use crate::common::process::{Log, Scene, digest, repository, serial};
use crate::common::scene::quadruped;
use std::time::Duration;

const LOCKSTEP: [&str; 4] = ["--mode", "lockstep", "--pace", "free"];

/// The state as a controller gets it.
fn state_of(solo: &Solo) -> StateReading {
    let mut snapshot = solo.simulation.new_snapshot();
    solo.simulation.fill_state(&mut snapshot.state);
    snapshot.state
}

fn in_process(name: &str) -> Solo {
    let scenario = quadruped(&[]);
    Solo::new(scenario.simulation(), scenario.events, name)
}

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

    let stand = Command::default();
    let spot = Command { trot: true, ..stand };
    let walk = Command { vx_m_per_s: 0.4, wz_rad_per_s: 0.2, ..spot };
    let schedule = [(0.0, stand), (0.8, spot), (1.5, walk)];
    let (mut solo, mut trot) = (in_process("legs"), Trot::new());
    let initial_q = solo.simulation.spec().q.joints.clone();
    let mut yaw_rate_sum = 0.0;
    for tick in 0..4000 {
        let s = state_of(&solo);
        let time_s = s.time_ns as f64 / 1e9;
        let readings = Readings {
            time_s,
            imu_quat_wxyz: s.imu_quat_wxyz,
            imu_gyro_rad_per_s: s.imu_angular_velocity_rad_per_s,
            imu_acc_m_per_s2: s.imu_specific_force_m_per_s2,
            q_rad: std::array::from_fn(|i| s.joints[i].q),
            dq_rad_per_s: std::array::from_fn(|i| s.joints[i].dq),
            foot_contact: std::array::from_fn(|i| s.foot_contact[i] != 0),
        };
        if tick < 500 {
            // it lands
            for (c, q) in solo.set_points().iter_mut().zip(&initial_q) {
                *c = JointCommand { q: *q, kp: 100.0, kd: 3.0, ..Default::default() };
            }
            solo.step();
            continue;
        }
        let points = trot.step(&readings, &commanded(&schedule, time_s));
        for (c, p) in solo.set_points().iter_mut().zip(points) {
            let (q, dq, tau_ff) = (p.q_rad, p.dq_rad_per_s, p.tau_ff_nm);
            *c = JointCommand { q, dq, kp: p.kp, kd: p.kd, tau_ff };
        }
        solo.step();
        if tick >= 2500 {
            yaw_rate_sum += solo.simulation.state().v.w_WB.z;
        }
    }
    assert_eq!(digest(&said), format!("{:016x}", solo.simulation.state().digest));
    // it walks: truth against what was asked
    let mean_yaw_rate = yaw_rate_sum / 1500.0;
    assert!((mean_yaw_rate - 0.2).abs() < 0.02, "{mean_yaw_rate} rad/s");
    let velocity = solo.simulation.state().v.v_WB.xy().norm();
    assert!((velocity - 0.4).abs() < 0.08, "{velocity} m/s");
    assert!(solo.simulation.state().q.p_WB.z > 0.28);
}

/// A network of random weights moves the calves a little; the other joints are held.
const CONTRACT: &str = r#"
schema = "hardstand.contract.v1"
name = "calves"
policy_hz = 50.0
joints = ["FL_calf_joint", "FR_calf_joint", "RL_calf_joint", "RR_calf_joint"]
default_q = [-1.5, -1.5, -1.5, -1.5]
kp = 100.0
kd = 3.0
action_scale = 0.1
action_clip = 1.0

[commands]
vx = [-1.0, 1.0]

[[observation]]
term = "gyro"
scale = 0.25

[[observation]]
term = "gravity"

[[observation]]
term = "command"

[[observation]]
term = "q"

[[observation]]
term = "last_action"

[[hold]]
joints = [
    "FL_hip_joint", "FR_hip_joint", "RL_hip_joint", "RR_hip_joint",
    "FL_thigh_joint", "FR_thigh_joint", "RL_thigh_joint", "RR_thigh_joint",
]
q = [0.0, 0.0, 0.0, 0.0, 0.8, 0.8, 0.8, 0.8]
kp = 100.0
kd = 3.0
"#;

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

    let mut solo = in_process("policy");
    let names: Vec<String> =
        solo.simulation.model().joints.iter().map(|j| j.name.clone()).collect();
    let robot = RobotFacts {
        joints: names.clone(),
        period_s: 0.001,
        kp_max: 1e3,
        kd_max: 1e3,
        feet: 4,
        imu_quat_wxyz: [1.0, 0.0, 0.0, 0.0],
        imu_on_base: true,
        ..RobotFacts::default()
    };
    let contract = Contract::parse(CONTRACT, "calves.toml").unwrap();
    let network = Network::read(&network).unwrap();
    let mut policy = Policy::new(contract, network, &robot, &[("vx".into(), 0.5)]).unwrap();
    assert_eq!(policy.period_ticks(), 20);
    for tick in 0..1500 {
        if tick % 20 == 0 {
            let s = state_of(&solo);
            let q: Vec<f64> = s.joints.iter().map(|j| j.q).collect();
            let dq: Vec<f64> = s.joints.iter().map(|j| j.dq).collect();
            let targets = policy.act(&Sensors {
                gyro_rad_per_s: s.imu_angular_velocity_rad_per_s,
                acc_m_per_s2: s.imu_specific_force_m_per_s2,
                imu_quat_wxyz: s.imu_quat_wxyz,
                q_rad: &q,
                dq_rad_per_s: &dq,
                foot_contact: &[],
                truth: None,
            });
            let targets: Vec<f64> = targets.to_vec();
            for (name, q) in policy.joints().iter().zip(targets) {
                let place = names.iter().position(|n| n == name).unwrap();
                solo.set_points()[place] =
                    JointCommand { q, dq: 0.0, kp: 100.0, kd: 3.0, tau_ff: 0.0 };
            }
        }
        solo.step();
    }
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
