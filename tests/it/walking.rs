//! Controllers in one process with the shipped quadruped: the trot, and a policy. `daemon/walk.rs`
//! compares them with processes of their own, `determinism_cases.rs` writes their digests down.
#![allow(clippy::unwrap_used)]

use hardstand::config::Scenario;
use hardstand::simulation::Solo;
use hardstand_policy::{Contract, Network, Policy, RobotFacts, Sensors};
use hardstand_protocol::{JointCommand, StateReading};
use hardstand_trot::{Command, Readings, Trot, commanded};

/// Ticks in which `hardstand controller trot` lets the robot land.
const LAND_TICKS: u64 = 500;

/// The robot with a controller of this name.
fn robot(name: &str, sets: &[&str]) -> Solo {
    let scenario = include_str!("../../config/quadruped.toml");
    let robot = include_str!("../../config/robots/quadruped.urdf");
    let sets: Vec<String> = sets.iter().map(|s| (*s).to_owned()).collect();
    let scenario = Scenario::from_texts(scenario, robot, &sets).unwrap();
    Solo::new(scenario.simulation(), scenario.events, name)
}

/// The state as a controller gets it.
pub fn state_of(solo: &Solo) -> StateReading {
    let mut snapshot = solo.simulation.new_snapshot();
    solo.simulation.fill_state(&mut snapshot.state);
    snapshot.state
}

/// Lands, and trots from 0.8 s on; from 1.5 s on with 0.4 m/s and 0.2 rad/s. `after` sees the robot
/// after each tick.
pub fn trot(ticks: u64, after: impl FnMut(&Solo)) -> Solo {
    trot_on(&[], ticks, after)
}

/// The same with keys of the scenario changed.
pub fn trot_on(sets: &[&str], ticks: u64, mut after: impl FnMut(&Solo)) -> Solo {
    let stand = Command::default();
    let spot = Command { trot: true, ..stand };
    let walk = Command { vx_m_per_s: 0.4, wz_rad_per_s: 0.2, ..spot };
    let schedule = [(0.0, stand), (0.8, spot), (1.5, walk)];
    let (mut solo, mut trot) = (robot("legs", sets), Trot::new());
    let initial_q = solo.simulation.spec().q.joints.clone();
    for tick in 0..ticks {
        if tick < LAND_TICKS {
            let hold = |q: &f64| JointCommand { q: *q, kp: 100.0, kd: 3.0, ..Default::default() };
            let hold: Vec<JointCommand> = initial_q.iter().map(hold).collect();
            solo.set_points().copy_from_slice(&hold);
        } else {
            let readings = readings(&state_of(&solo));
            let points = trot.step(&readings, &commanded(&schedule, readings.time_s));
            for (c, p) in solo.set_points().iter_mut().zip(points) {
                let (q, dq, tau_ff) = (p.q_rad, p.dq_rad_per_s, p.tau_ff_nm);
                *c = JointCommand { q, dq, kp: p.kp, kd: p.kd, tau_ff };
            }
        }
        solo.step();
        after(&solo);
    }
    solo
}

fn readings(s: &StateReading) -> Readings {
    Readings {
        time_s: s.time_ns as f64 / 1e9,
        imu_quat_wxyz: s.imu_quat_wxyz,
        imu_gyro_rad_per_s: s.imu_angular_velocity_rad_per_s,
        imu_acc_m_per_s2: s.imu_specific_force_m_per_s2,
        q_rad: std::array::from_fn(|i| s.joints[i].q),
        dq_rad_per_s: std::array::from_fn(|i| s.joints[i].dq),
        foot_contact: std::array::from_fn(|i| s.foot_contact[i] != 0),
    }
}

/// A network of random weights moves the calves a little; the other joints are held.
pub const CONTRACT: &str = r#"
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

/// Runs the policy of [`CONTRACT`] with vx = 0.5.
pub fn policy(ticks: u64) -> (Solo, Policy) {
    let mut solo = robot("policy", &[]);
    let names: Vec<String> =
        solo.simulation.model().joints.iter().map(|j| j.name.clone()).collect();
    let facts = RobotFacts {
        joints: names.clone(),
        period_s: 0.001,
        kp_max: 1e3,
        kd_max: 1e3,
        imu_quat_wxyz: [1.0, 0.0, 0.0, 0.0],
        imu_on_base: true,
        ..RobotFacts::default()
    };
    let network = include_bytes!("../../crates/policy/tests/data/elu.onnx");
    let network = Network::from_bytes(network, "elu.onnx").unwrap();
    let contract = Contract::parse(CONTRACT, "calves.toml").unwrap();
    let mut policy = Policy::new(contract, network, &facts, &[("vx".into(), 0.5)]).unwrap();
    for tick in 0..ticks {
        if tick % policy.period_ticks() == 0 {
            act(&mut policy, &mut solo, &names);
        }
        solo.step();
    }
    (solo, policy)
}

fn act(policy: &mut Policy, solo: &mut Solo, names: &[String]) {
    let s = state_of(solo);
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
        solo.set_points()[place] = JointCommand { q, kp: 100.0, kd: 3.0, ..Default::default() };
    }
}
