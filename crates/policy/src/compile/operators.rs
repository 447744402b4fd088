//! The operators that are known, each with the function that compiles it.

use super::node::Node;
use super::{Compiler, Outcome, Value, arithmetic, integers, layers, movement, recurrent};
use crate::onnx::messages::NodeProto;

type Lower = fn(&mut Compiler, &Node<'_>) -> Outcome<Vec<Value>>;

const OPERATORS: [(&str, Lower); 63] = [
    ("Abs", arithmetic::map),
    ("Add", arithmetic::zip),
    ("BatchNormalization", layers::batch_norm),
    ("Cast", integers::cast),
    ("Celu", arithmetic::map),
    ("Clip", arithmetic::clip),
    ("Concat", movement::concat),
    ("Constant", integers::constant),
    ("ConstantOfShape", integers::constant_of_shape),
    ("Cos", arithmetic::map),
    ("Div", arithmetic::zip),
    ("Dropout", movement::identity),
    ("Elu", arithmetic::map),
    ("Equal", integers::equal),
    ("Erf", arithmetic::map),
    ("Exp", arithmetic::map),
    ("Expand", movement::expand),
    ("Flatten", movement::flatten),
    ("GRU", recurrent::gru),
    ("Gather", movement::gather),
    ("Gelu", arithmetic::map),
    ("Gemm", layers::gemm),
    ("HardSigmoid", arithmetic::map),
    ("HardSwish", arithmetic::map),
    ("Identity", movement::identity),
    ("LSTM", recurrent::lstm),
    ("LayerNormalization", layers::layer_norm),
    ("LeakyRelu", arithmetic::map),
    ("Log", arithmetic::map),
    ("MatMul", layers::matmul),
    ("Max", arithmetic::fold),
    ("Min", arithmetic::fold),
    ("Mish", arithmetic::map),
    ("Mul", arithmetic::zip),
    ("Neg", arithmetic::map),
    ("PRelu", arithmetic::zip),
    ("Pow", arithmetic::pow),
    ("Reciprocal", arithmetic::map),
    ("ReduceL2", layers::reduce),
    ("ReduceMax", layers::reduce),
    ("ReduceMean", layers::reduce),
    ("ReduceSum", layers::reduce),
    ("Relu", arithmetic::map),
    ("Reshape", movement::reshape),
    ("Selu", arithmetic::map),
    ("Shape", integers::shape),
    ("Sigmoid", arithmetic::map),
    ("Sin", arithmetic::map),
    ("Slice", movement::slice),
    ("Softmax", layers::softmax),
    ("Softplus", arithmetic::map),
    ("Softsign", arithmetic::map),
    ("Split", movement::split),
    ("Sqrt", arithmetic::map),
    ("Squeeze", movement::squeeze),
    ("Sub", arithmetic::zip),
    ("Sum", arithmetic::fold),
    ("Swish", arithmetic::map),
    ("Tanh", arithmetic::map),
    ("Tile", movement::tile),
    ("Transpose", movement::transpose),
    ("Unsqueeze", movement::unsqueeze),
    ("Where", integers::choose),
];

pub(super) fn find(name: &str) -> Outcome<Lower> {
    let found = OPERATORS.iter().find(|(known, _)| *known == name);
    found.map(|(_, lower)| *lower).ok_or_else(|| format!("operator {name} is unknown"))
}

/// Refuses unknown operators before anything is compiled.
pub(super) fn check(nodes: &[NodeProto]) -> Outcome<()> {
    let standard = |node: &NodeProto| matches!(node.domain.as_str(), "" | "ai.onnx");
    let unknown =
        nodes.iter().enumerate().find(|(_, node)| !standard(node) || find(&node.op_type).is_err());
    let Some((i, node)) = unknown else { return Ok(()) };
    let known: Vec<&str> = OPERATORS.iter().map(|(name, _)| *name).collect();
    let domain = if standard(node) { String::new() } else { format!("{}.", node.domain) };
    Err(format!(
        "node {} has the operator {domain}{}, which is not supported; known are {}",
        super::label(node, i),
        node.op_type,
        known.join(", ")
    ))
}
