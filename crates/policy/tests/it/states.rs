//! States that a network gives as outputs and takes as inputs in the next step.

use crate::onnx_writer::{model, node, value};
use hardstand_policy::{Contract, Network, Policy, RobotFacts, Sensors};

const CONTRACT: &str = r#"
    schema = "hardstand.contract.v1"
    name = "sum"
    policy_hz = 50.0
    input = "obs"
    joints = ["knee"]
    default_q = [0.0]
    kp = 1.0
    kd = 1.0
    observation = [{ term = "q" }]
"#;

/// The action is the sum of the observation and the state, and the next state is `next`.
fn policy(input: &str, output: &str, next: &str, size: u64) -> Result<Policy, String> {
    let nodes = vec![
        node("Add", &["obs", input], &["actions"], &[]),
        node("Identity", &[next], &[output], &[]),
    ];
    let inputs = vec![value("obs", 1, &[1, 1]), value(input, 1, &[1, size])];
    let outputs = vec![value("actions", 1, &[1, 1]), value(output, 1, &[1, size])];
    let bytes = model([nodes, vec![], inputs, outputs]);
    let network = Network::from_bytes(&bytes, "sum.onnx").unwrap();
    let robot = RobotFacts {
        joints: vec!["knee".to_string()],
        period_s: 0.001,
        kp_max: 10.0,
        kd_max: 10.0,
        ..RobotFacts::default()
    };
    let contract = Contract::parse(CONTRACT, "sum.toml").unwrap();
    Policy::new(contract, network, &robot, &[]).map_err(|e| e.to_string())
}

fn act(policy: &mut Policy, q_rad: f64) -> f64 {
    policy.act(&Sensors {
        gyro_rad_per_s: [0.0; 3],
        acc_m_per_s2: [0.0; 3],
        imu_quat_wxyz: [1.0, 0.0, 0.0, 0.0],
        q_rad: &[q_rad],
        dq_rad_per_s: &[0.0],
        foot_contact: &[],
        truth: None,
    })[0]
}

#[test]
fn states_are_carried_under_the_names_that_exporters_use() {
    for (input, output) in [
        ("h_in", "h_out"),
        ("in_h", "out_h"),
        ("h", "h_out"),
        ("h", "next_h"),
        ("h", "new_h"),
        ("h", "h_next"),
        ("h0", "hn"),
        ("h_0", "h_n"),
    ] {
        let mut policy = policy(input, output, "actions", 1).unwrap();
        let sums = [1.0, 2.0, 4.0].map(|q_rad| act(&mut policy, q_rad));
        policy.reset();
        let again = act(&mut policy, 8.0);
        assert_eq!([sums[0], sums[1], sums[2], again], [1.0, 3.0, 7.0, 8.0], "{input} {output}");
    }
}

#[test]
fn inputs_that_are_no_states_are_violated_clauses() {
    let unknown = policy("h", "result", "actions", 1).unwrap_err();
    let text = "the policy's input \"h\" is not the observation, and no output has its next value; \
                known are NAME_in with NAME_out, ";
    assert!(unknown.contains(text), "{unknown}");
    let wide = policy("h_in", "h_out", "obs", 3).unwrap_err();
    let text = "the policy's input \"h_in\" has shape [1, 3], but its next value \"h_out\" has";
    assert!(wide.contains(text), "{wide}");
}
