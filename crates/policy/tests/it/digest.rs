//! The bits of whole walks. They must be the same in debug and release builds, with any
//! `target-cpu` and on every machine.

use crate::allocator::calls;
use hardstand_policy::{Contract, Network, Policy, RobotFacts, Sensors};
use xxhash_rust::xxh3::Xxh3;

const JOINTS: [&str; 4] = ["FL_hip", "FL_thigh", "FL_calf", "FR_hip"];

/// For `lstm.onnx`: histories, a clock, a frame, and states that are carried.
const RECURRENT: &str = r#"
    schema = "hardstand.contract.v1"
    name = "recurrent"
    policy_hz = 50.0
    input = "obs"
    joints = ["FR_hip", "FL_calf", "FL_thigh", "FL_hip"]
    default_q = [0.0, -1.5, 0.8, 0.1]
    kp = 25.0
    kd = 0.5
    action_scale = 0.25
    clock = { period_s = 0.6, offsets = [0.25] }
    observation = [
        { term = "gyro", frame = "base", history = 2, decimation = 2 },
        { term = "clock_sin" },
        { term = "q", joints = ["FL_calf", "FR_hip"], scale = 0.5, clip = 0.8 },
    ]
"#;

fn robot() -> RobotFacts {
    let half = 0.5_f64.sqrt();
    RobotFacts {
        joints: JOINTS.map(String::from).to_vec(),
        period_s: 0.001,
        kp_max: 100.0,
        kd_max: 10.0,
        imu_quat_wxyz: [half, 0.0, 0.0, half],
        imu_on_base: true,
        ..RobotFacts::default()
    }
}

/// Numbers in ±1 from integers, the same on every machine.
fn random(state: &mut u64) -> f64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    f64::from(i32::try_from(*state >> 32 & 0x7FFF_FFFF).unwrap()) / f64::from(1 << 30) - 1.0
}

fn policy(network: &str, contract: &str) -> Policy {
    let network = Network::read(crate::data().join(network)).unwrap();
    Policy::new(Contract::parse(contract, "c.toml").unwrap(), network, &robot(), &[]).unwrap()
}

/// A walk of 200 steps whose joints follow the targets.
fn walk(policy: &mut Policy) -> u64 {
    let (mut state, mut hasher) = (11, Xxh3::new());
    let mut q_rad = [0.0; 4];
    for step in 0..200 {
        if step == 90 {
            policy.reset();
        }
        let [w, x, y, z] = [1.0, 0.3, 0.3, 0.3].map(|scale| scale * random(&mut state));
        let norm = (w * w + x * x + y * y + z * z).sqrt();
        let targets_rad = policy.act(&Sensors {
            gyro_rad_per_s: std::array::from_fn(|_| 2.0 * random(&mut state)),
            acc_m_per_s2: std::array::from_fn(|_| 9.0 * random(&mut state)),
            imu_quat_wxyz: [w, x, y, z].map(|c| c / norm),
            q_rad: &q_rad,
            dq_rad_per_s: &[0.1; 4],
            foot_contact: &[],
            truth: None,
        });
        for (q, target) in q_rad.iter_mut().zip(targets_rad) {
            *q += 0.3 * (target - *q);
            hasher.update(&target.to_le_bytes());
        }
    }
    hasher.digest()
}

#[test]
fn walks_have_the_same_bits_everywhere() {
    let example = std::fs::read_to_string(crate::data().join("example.toml")).unwrap();
    let digests =
        [walk(&mut policy("elu.onnx", &example)), walk(&mut policy("lstm.onnx", RECURRENT))];
    let found = digests.map(|digest| format!("{digest:016x}"));
    assert_eq!(found, ["92a2002ed8400359", "a83fdba0ced69e45"]);
}

#[test]
fn a_walk_repeats_after_a_reset() {
    let mut policy = policy("lstm.onnx", RECURRENT);
    let first = walk(&mut policy);
    policy.reset();
    assert_eq!(walk(&mut policy), first);
}

/// Each stored network, 50 runs with pseudo-random inputs: every operator.
#[test]
fn networks_have_the_same_bits_everywhere() {
    let mut found = Vec::new();
    for path in crate::stored(".onnx") {
        let mut network = Network::read(&path).unwrap();
        let inputs: Vec<(String, usize)> =
            network.inputs().map(|(name, size)| (name.to_string(), size)).collect();
        let (mut state, mut hasher) = (5, Xxh3::new());
        for _ in 0..50 {
            for (name, size) in &inputs {
                #[expect(clippy::cast_possible_truncation, reason = "rounded, as observations")]
                let numbers: Vec<f32> =
                    (0..*size).map(|_| 3.0 * random(&mut state) as f32).collect();
                network.run(&[(name, &numbers)]).unwrap();
            }
            for x in network.output("actions").unwrap() {
                hasher.update(&x.to_bits().to_le_bytes());
            }
        }
        let name = path.file_stem().unwrap().to_str().unwrap().to_string();
        found.push((name, format!("{:016x}", hasher.digest())));
    }
    found.sort();
    let found: Vec<(&str, &str)> = found.iter().map(|(n, d)| (n.as_str(), d.as_str())).collect();
    assert_eq!(found, NETWORKS);
}

const NETWORKS: [(&str, &str); 13] = [
    ("elu", "b383d12878972f97"),
    ("gru", "3d1501767c0ab6bf"),
    ("gru_from_zero", "30835116e653f493"),
    ("layer_norm", "df2c6005614d9630"),
    ("layer_norm_decomposed", "8fff5cc7b599a911"),
    ("lstm", "3710f84bbdb9e432"),
    ("lstm_from_zero", "1b0158a6f9489824"),
    ("moves", "8fad7ec007fbaadd"),
    ("newer", "433d2a93da96a75c"),
    ("rare", "fb59d2a055ffa21f"),
    ("rectifiers", "1ea38b4e1ebe44b6"),
    ("sigmoids", "05c4857735bb2116"),
    ("wide", "d6a4ef63fb09883a"),
];

#[test]
fn an_action_does_not_allocate() {
    let mut policy = policy("lstm.onnx", RECURRENT);
    let made = calls(|| {
        walk(&mut policy);
    });
    // the state of the digest is on the stack
    assert_eq!(made, 0);
    let command = [("vx".to_string(), 0.5)];
    let example = std::fs::read_to_string(crate::data().join("example.toml")).unwrap();
    let mut policy = self::policy("elu.onnx", &example);
    assert_eq!(calls(|| policy.set_command(&command).unwrap()), 0);
}
