//! Observations, targets and gains against the Python package.

use hardstand_policy::{Contract, Network, Policy, RobotFacts, Sensors, Truth};
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize)]
struct Case {
    contract: String,
    network: String,
    joints: Vec<String>,
    feet: usize,
    imu_quat: [f64; 4],
    period: u64,
    commanded: Vec<String>,
    kp: Vec<f64>,
    kd: Vec<f64>,
    steps: Vec<Step>,
}

#[derive(Deserialize)]
struct Step {
    reset: bool,
    command: BTreeMap<String, f64>,
    gyro: [f64; 3],
    acc: [f64; 3],
    quat: [f64; 4],
    q: Vec<f64>,
    dq: Vec<f64>,
    foot_contact: Vec<bool>,
    base_velocity: [f64; 3],
    base_quat: [f64; 4],
    base_position: [f64; 3],
    observation: Vec<f32>,
    targets: Vec<f64>,
}

impl Step {
    fn sensors(&self) -> Sensors<'_> {
        Sensors {
            gyro_rad_per_s: self.gyro,
            acc_m_per_s2: self.acc,
            imu_quat_wxyz: self.quat,
            q_rad: &self.q,
            dq_rad_per_s: &self.dq,
            foot_contact: &self.foot_contact,
            truth: Some(Truth {
                base_velocity_m_per_s: self.base_velocity,
                base_quat_wxyz: self.base_quat,
                base_position_m: self.base_position,
            }),
        }
    }
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits = hex.as_bytes().chunks(2);
    digits.map(|d| u8::from_str_radix(std::str::from_utf8(d).unwrap(), 16).unwrap()).collect()
}

fn policy(case: &Case) -> Policy {
    let robot = RobotFacts {
        joints: case.joints.clone(),
        period_s: 0.001,
        kp_max: 100.0,
        kd_max: 10.0,
        feet: case.feet,
        imu_quat_wxyz: case.imu_quat,
        imu_on_base: true,
        ..RobotFacts::default()
    };
    let network = Network::from_bytes(&bytes(&case.network), "case").unwrap();
    Policy::new(Contract::parse(&case.contract, "case").unwrap(), network, &robot, &[]).unwrap()
}

#[test]
fn observations_and_targets_are_those_of_the_python_package() {
    let cases = crate::cases(".policy.json");
    assert!(cases.len() >= 3, "{cases:?}");
    let (mut numbers, mut different) = (0_usize, 0_usize);
    for path in cases {
        let case: Case = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let mut policy = policy(&case);
        assert_eq!(policy.period_ticks(), case.period);
        assert_eq!(policy.joints(), case.commanded);
        let gains: Vec<(f64, f64)> = case.kp.iter().copied().zip(case.kd.clone()).collect();
        assert_eq!(policy.gains(), gains);
        for (i, step) in case.steps.iter().enumerate() {
            if !step.command.is_empty() {
                let command: Vec<_> = step.command.clone().into_iter().collect();
                policy.set_command(&command).unwrap();
            }
            if step.reset {
                policy.reset();
            }
            let targets = policy.act(&step.sensors()).to_vec();
            for (x, y) in policy.observation().iter().zip(&step.observation) {
                // sin and cos of the two differ in the last bit of f64 at most
                let limit = f32::EPSILON * y.abs().max(1e-6);
                assert!((x - y).abs() <= limit, "{path:?} step {i}: {x} is not {y}");
                different += usize::from(x.to_bits() != y.to_bits());
            }
            numbers += step.observation.len();
            assert_eq!(policy.observation().len(), step.observation.len());
            for (x, y) in targets.iter().zip(&step.targets) {
                assert!((x - y).abs() < 1e-7, "{path:?} step {i}: target {x} is not {y}");
            }
            assert_eq!(targets.len(), step.targets.len());
        }
    }
    println!("{different} of {numbers} numbers differ in the last bit");
    assert!(different * 10_000 <= numbers, "{different} of {numbers} numbers differ");
}
