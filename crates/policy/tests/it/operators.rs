//! What is refused when a network is read, and how the text names it.

use crate::onnx_writer::{Field, floats, from_four, integers, message, model, node, tensor, value};
use hardstand_policy::Network;

fn refusal(bytes: &[u8]) -> String {
    Network::from_bytes(bytes, "walk.onnx").unwrap_err().to_string()
}

fn assert_refused(nodes: Vec<Vec<u8>>, constants: Vec<Vec<u8>>, parts: &[&str]) {
    let text = refusal(&from_four(nodes, constants));
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in: {text}");
    }
}

#[test]
fn an_unknown_operator_is_named_with_those_that_are_known() {
    let nodes = vec![node("Attention", &["obs"], &["actions"], &[])];
    let text = "policy walk.onnx: node \"n_Attention\" has the operator Attention, which is not \
                supported; known are Abs, Add, BatchNormalization, ";
    assert_refused(nodes, vec![], &[text, "LSTM", "Unsqueeze"]);
}

#[test]
fn an_operator_of_another_domain_is_unknown() {
    let mut relu = node("Relu", &["obs"], &["actions"], &[]);
    relu.extend(message(vec![(7, crate::onnx_writer::text("com.example"))]));
    assert_refused(vec![relu], vec![], &["the operator com.example.Relu"]);
}

#[test]
fn shapes_that_do_not_fit_are_refused_with_the_node() {
    let gemm = |attributes| vec![node("Gemm", &["obs", "w"], &["actions"], attributes)];
    let place = "node \"n_Gemm\" (Gemm)";
    let w = || vec![floats("w", &[3, 2], &[1.0; 6])];
    let text = "its input has shape [1, 4]; its weights take 3";
    assert_refused(gemm(&[]), w(), &[place, text]);
    assert_refused(gemm(&[("transB", 1)]), w(), &[place, "its weights take 2"]);
    assert_refused(gemm(&[("transA", 1)]), w(), &[place, "transA"]);
    let short = vec![floats("w", &[4, 3], &[1.0; 6])];
    assert_refused(gemm(&[]), short, &["tensor \"w\": it has 6 numbers; its shape [4, 3] has 12"]);
    let add = vec![node("Add", &["obs", "w"], &["actions"], &[])];
    assert_refused(add, w(), &["shapes [1, 4] and [3, 2] do not fit"]);
    let reshape = vec![node("Reshape", &["obs", "s"], &["actions"], &[])];
    assert_refused(reshape, vec![integers("s", &[3, -1])], &["[1, 4] cannot become [3, -1]"]);
    let gather = vec![node("Gather", &["obs", "i"], &["actions"], &[("axis", 1)])];
    assert_refused(gather, vec![integers("i", &[0, 4])], &["an index is not within 4"]);
    let split = vec![node("Split", &["obs", "s"], &["actions", "b"], &[("axis", 1)])];
    assert_refused(split, vec![integers("s", &[1, 2])], &["it splits 4 into [1, 2]"]);
    let axis = vec![node("Flatten", &["obs"], &["actions"], &[("axis", 7)])];
    assert_refused(axis, vec![], &["axis 7 of a value with 3 axes"]);
    let huge = vec![node("Expand", &["obs", "s"], &["actions"], &[])];
    assert_refused(huge, vec![integers("s", &[1 << 23, 4])], &["more than 4194304 numbers"]);
}

#[test]
fn all_values_together_have_a_limit() {
    let expands = |count| {
        let outputs = ["actions", "b", "c"];
        let nodes = outputs.iter().take(count);
        nodes.map(|output| node("Expand", &["obs", "s"], &[output], &[])).collect()
    };
    let read = |count| {
        let bytes = from_four(expands(count), vec![integers("s", &[1 << 18, 4])]);
        Network::from_bytes(&bytes, "walk.onnx")
    };
    assert!(read(1).is_ok());
    assert!(read(3).unwrap_err().to_string().contains("more than 4194304 numbers together"));
}

#[test]
fn values_that_are_missing_are_refused() {
    let relu = |input| vec![node("Relu", &[input], &["actions"], &[])];
    assert_refused(relu("other"), vec![], &["its input \"other\" is unknown"]);
    assert_refused(relu(""), vec![], &["it lacks input 0"]);
    let other = vec![node("Relu", &["obs"], &["other"], &[])];
    assert_refused(other, vec![], &["output \"actions\": no node computes it"]);
    let product = vec![node("MatMul", &["obs", "obs"], &["actions"], &[])];
    assert_refused(product, vec![], &["its second input: it must be constant, but is computed"]);
}

#[test]
fn types_other_than_float32_are_refused_by_name() {
    let add = || vec![node("Add", &["obs", "w"], &["actions"], &[])];
    let half = tensor("w", 10, &[4], vec![0; 8]);
    assert_refused(add(), vec![half], &["tensor \"w\": it is float16; a policy may have float32"]);
    let double = tensor("w", 11, &[4], vec![0; 32]);
    assert_refused(add(), vec![double], &["float64; a policy computes with float32"]);
    let mut elsewhere = floats("w", &[4], &[]);
    elsewhere.extend(message(vec![(14, Field::Number(1))]));
    assert_refused(
        add(),
        vec![elsewhere],
        &["its data is in another file; save the policy as one"],
    );
    let cast = vec![node("Cast", &["obs"], &["actions"], &[("to", 7)])];
    assert_refused(cast, vec![], &["it casts computed numbers to int64"]);
}

#[test]
fn inputs_without_a_fixed_size_are_refused() {
    let of_input = |input| {
        let relu = node("Relu", &["obs"], &["actions"], &[]);
        refusal(&model([vec![relu], vec![], vec![input], vec![value("actions", 1, &[1, 4])]]))
    };
    assert!(of_input(value("obs", 1, &[1, 0])).contains("input \"obs\": its last size is open"));
    assert!(of_input(value("obs", 1, &[])).contains("it has no shape"));
    assert!(of_input(value("obs", 7, &[1, 4])).contains("it is int64; it must be float32"));
}

#[test]
fn a_file_that_is_not_onnx_is_refused() {
    assert!(refusal(b"not a policy").contains("policy walk.onnx: it is no ONNX file"));
    assert!(refusal(b"").contains("it has no graph"));
    let missing = Network::read("/nowhere/walk.onnx").unwrap_err();
    assert_eq!(missing.kind(), hardstand_error::ErrorKind::File);
    assert!(missing.to_string().contains("policy /nowhere/walk.onnx: "), "{missing}");
}

#[test]
fn infinities_and_nan_pass_through_comparisons() {
    for operator in ["Relu", "Elu", "LeakyRelu", "Clip", "Softplus", "Tanh", "Sigmoid"] {
        let bytes = from_four(vec![node(operator, &["obs"], &["actions"], &[])], vec![]);
        let mut network = Network::from_bytes(&bytes, "nan").unwrap();
        network.run(&[("obs", &[f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0])]).unwrap();
        let made = network.output("actions").unwrap();
        assert!(made[0].is_nan() && !made[1].is_nan() && !made[2].is_nan(), "{operator} {made:?}");
    }
    for operator in ["Max", "Min"] {
        let nodes = vec![node(operator, &["obs", "w"], &["actions"], &[])];
        let bytes = from_four(nodes, vec![floats("w", &[4], &[0.0, f32::NAN, 1.0, 1.0])]);
        let mut network = Network::from_bytes(&bytes, "nan").unwrap();
        network.run(&[("obs", &[f32::NAN, 0.0, 3.0, 0.5])]).unwrap();
        let made = network.output("actions").unwrap();
        assert!(made[0].is_nan() && made[1].is_nan() && !made[2].is_nan(), "{operator} {made:?}");
    }
}

#[test]
fn constant_nodes_cost_nothing_at_run_time() {
    let nodes = vec![
        node("Mul", &["w", "w"], &["square"], &[]),
        node("Add", &["square", "w"], &["sum"], &[]),
        node("Mul", &["obs", "sum"], &["actions"], &[]),
    ];
    let bytes = from_four(nodes, vec![floats("w", &[4], &[1.0, 2.0, 3.0, 4.0])]);
    let mut network = Network::from_bytes(&bytes, "folded").unwrap();
    network.run(&[("obs", &[1.0, 1.0, 1.0, 0.5])]).unwrap();
    assert_eq!(network.output("actions").unwrap(), [2.0, 6.0, 12.0, 10.0]);
}
