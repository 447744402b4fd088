//! Networks against onnxruntime.

use hardstand_policy::Network;
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize)]
struct Run {
    inputs: BTreeMap<String, Vec<f32>>,
    /// Of onnxruntime.
    outputs: BTreeMap<String, Vec<f32>>,
    /// Computed in f64.
    exact: BTreeMap<String, Vec<f32>>,
}

/// Sums of up to some hundred f32 round in another order than those of onnxruntime.
const TOLERANCE: f32 = 2e-6;

/// The largest difference, relative to the largest number.
fn difference(made: &[f32], expected: &[f32]) -> f32 {
    assert_eq!(made.len(), expected.len());
    let largest = expected.iter().fold(1e-30_f32, |most, x| most.max(x.abs()));
    let differences = made.iter().zip(expected).map(|(x, y)| (x - y).abs() / largest);
    differences.fold(0.0, |most, d| if d > most || d.is_nan() { d } else { most })
}

#[test]
fn networks_agree_with_onnxruntime_to_rounding() {
    let cases = crate::cases(".network.json");
    assert!(cases.len() >= 12, "{cases:?}");
    let (mut errors, mut their_errors, mut apart) = (Vec::new(), Vec::new(), 0.0_f32);
    let mut mistakes = Vec::new();
    for case in cases {
        let name = case.to_str().unwrap().replace(".network.json", "");
        let runs: Vec<Run> = serde_json::from_slice(&std::fs::read(&case).unwrap()).unwrap();
        let mut network = Network::read(format!("{name}.onnx")).unwrap();
        for run in &runs {
            let inputs: Vec<(&str, &[f32])> =
                run.inputs.iter().map(|(name, x)| (name.as_str(), x.as_slice())).collect();
            network.run(&inputs).unwrap();
            for (output, expected) in &run.outputs {
                let made = network.output(output).unwrap();
                let from_theirs = difference(made, expected);
                let error = difference(made, &run.exact[output]);
                let their_error = difference(expected, &run.exact[output]);
                // some random networks amplify rounding errors, then theirs are large too
                let is_near = from_theirs <= TOLERANCE || error <= 2.0 * their_error;
                if !is_near || from_theirs.is_nan() {
                    let both = format!("{error:e} from exact, onnxruntime {their_error:e}");
                    mistakes.push(format!("{name} {output}: {from_theirs:e} apart; {both}"));
                }
                errors.push(error);
                their_errors.push(their_error);
                apart = apart.max(from_theirs);
            }
        }
    }
    for (name, errors) in [("ours", &mut errors), ("onnxruntime's", &mut their_errors)] {
        errors.sort_by(f32::total_cmp);
        let (median, most) = (errors[errors.len() / 2], errors[errors.len() - 1]);
        println!("{name}: median error {median:e}, largest {most:e}");
    }
    println!("largest difference {apart:e}");
    assert!(mistakes.is_empty(), "{}", mistakes.join("\n"));
}

#[test]
fn a_run_does_not_depend_on_the_runs_before() {
    let mut network = Network::read(crate::data().join("lstm_from_zero.onnx")).unwrap();
    let input = [0.3_f32; 9];
    network.run(&[("obs", &input)]).unwrap();
    let first = network.output("actions").unwrap().to_vec();
    network.run(&[("obs", &[-1.0; 9])]).unwrap();
    assert_ne!(network.output("actions").unwrap(), first);
    network.run(&[("obs", &input)]).unwrap();
    assert_eq!(network.output("actions").unwrap(), first);
}
