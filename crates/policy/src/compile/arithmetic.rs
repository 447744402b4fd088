//! Operators that compute each number by itself, with the broadcasting of ONNX.

use super::node::Node;
use super::{Compiler, Outcome, Value, elements, integers, movement};
use crate::program::{Kind, Map, Zip};

/// A function of one number.
pub(super) fn map(compiler: &mut Compiler, node: &Node<'_>) -> Outcome<Vec<Value>> {
    let alpha = |default| node.float("alpha", default);
    let function = match node.operator() {
        "Abs" => Map::Abs,
        "Celu" => Map::Celu(alpha(1.0)),
        "Cos" => Map::Cos,
        "Elu" => Map::Elu(alpha(1.0)),
        "Erf" => Map::Erf,
        "Exp" => Map::Exp,
        "Gelu" if node.text("approximate", "none") == "tanh" => Map::GeluTanh,
        "Gelu" => Map::Gelu,
        "HardSigmoid" => Map::HardSigmoid(alpha(0.2), node.float("beta", 0.5)),
        "HardSwish" => Map::HardSwish,
        "LeakyRelu" => Map::LeakyRelu(alpha(0.01)),
        "Log" => Map::Log,
        "Mish" => Map::Mish,
        "Neg" => Map::Neg,
        "Reciprocal" => Map::Reciprocal,
        "Relu" => Map::Relu,
        "Selu" => Map::Selu(alpha(1.673_263_2), node.float("gamma", 1.050_701)),
        "Sigmoid" => Map::Sigmoid,
        "Sin" => Map::Sin,
        "Softplus" => Map::Softplus,
        "Softsign" => Map::Softsign,
        "Sqrt" => Map::Sqrt,
        "Swish" => Map::Swish(alpha(1.0)),
        "Tanh" => Map::Tanh,
        name => return Err(format!("{name} is no function of one number")),
    };
    Ok(vec![mapped(compiler, function, node.input(0)?)?])
}

pub(super) fn mapped(compiler: &mut Compiler, function: Map, x: &Value) -> Outcome<Value> {
    let span = compiler.place(x)?;
    compiler.emit(Kind::Map { function, x: span }, x.shape.clone())
}

pub(super) fn clip(compiler: &mut Compiler, node: &Node<'_>) -> Outcome<Vec<Value>> {
    let low = node.scalar(1)?.unwrap_or_else(|| node.float("min", f32::NEG_INFINITY));
    let high = node.scalar(2)?.unwrap_or_else(|| node.float("max", f32::INFINITY));
    Ok(vec![mapped(compiler, Map::Clip(low, high), node.input(0)?)?])
}

/// A function of two numbers.
pub(super) fn zip(compiler: &mut Compiler, node: &Node<'_>) -> Outcome<Vec<Value>> {
    let function = function(node.operator())?;
    let (a, b) = (node.input(0)?, node.input(1)?);
    let made = match integers::both(a, b) {
        Some((left, right)) => integers::zip(function, a, left, b, right)?,
        None => zipped(compiler, function, a, b)?,
    };
    Ok(vec![made])
}

/// A function of two numbers, applied to any count of inputs from the first to the last.
pub(super) fn fold(compiler: &mut Compiler, node: &Node<'_>) -> Outcome<Vec<Value>> {
    let function = function(node.operator())?;
    let mut made = node.input(0)?.clone();
    for value in node.inputs().skip(1) {
        made = zipped(compiler, function, &made, value)?;
    }
    Ok(vec![made])
}

fn function(operator: &str) -> Outcome<Zip> {
    Ok(match operator {
        "Add" | "Sum" => Zip::Add,
        "Sub" => Zip::Sub,
        "Mul" => Zip::Mul,
        "Div" => Zip::Div,
        "Max" => Zip::Max,
        "Min" => Zip::Min,
        "PRelu" => Zip::PRelu,
        name => return Err(format!("{name} is no function of two numbers")),
    })
}

/// Squares and roots, which are the powers of decomposed layer norms, are exact operations.
pub(super) fn pow(compiler: &mut Compiler, node: &Node<'_>) -> Outcome<Vec<Value>> {
    let x = node.input(0)?;
    let exponent = exponent(node.input(1)?)?;
    let made = match exponent.floats()? {
        [2.0] => mapped(compiler, Map::Square, x)?,
        [0.5] => mapped(compiler, Map::Sqrt, x)?,
        _ => zipped(compiler, Zip::Pow, x, &exponent)?,
    };
    Ok(vec![made])
}

/// The exponent may have another type than the base.
#[expect(clippy::cast_precision_loss, reason = "exponents are small")]
#[expect(clippy::cast_possible_truncation, reason = "rounded to the type of the base")]
fn exponent(value: &Value) -> Outcome<Value> {
    use super::Data;
    let floats = match value.data().ok_or("its exponent must be constant")? {
        Data::F32(numbers) => numbers.clone(),
        Data::F64(numbers) => numbers.iter().map(|&x| x as f32).collect(),
        Data::I64(numbers) => numbers.iter().map(|&x| x as f32).collect(),
    };
    Ok(Value::constant(value.shape.clone(), Data::F32(floats)))
}

/// `a` and `b` of any shapes that can be broadcast.
pub(super) fn zipped(
    compiler: &mut Compiler,
    function: Zip,
    a: &Value,
    b: &Value,
) -> Outcome<Value> {
    let shape = broadcast(&a.shape, &b.shape)?;
    let a = periodic(compiler, a, &shape)?;
    let b = periodic(compiler, b, &shape)?;
    let (a, b) = (compiler.place(&a)?, compiler.place(&b)?);
    compiler.emit(Kind::Zip { function, a, b }, shape)
}

/// The value itself if `shape` repeats it as a whole; otherwise it is expanded.
fn periodic(compiler: &mut Compiler, value: &Value, shape: &[usize]) -> Outcome<Value> {
    let ones = value.shape.iter().take_while(|n| **n == 1).count();
    if shape.ends_with(&value.shape[ones..]) {
        return Ok(value.clone());
    }
    movement::expanded(compiler, value, shape)
}

/// The shape of a result of two shapes.
pub(super) fn broadcast(a: &[usize], b: &[usize]) -> Outcome<Vec<usize>> {
    let rank = a.len().max(b.len());
    let size =
        |shape: &[usize], i: usize| (i + shape.len()).checked_sub(rank).map_or(1, |at| shape[at]);
    let sizes = (0..rank).map(|i| match (size(a, i), size(b, i)) {
        (1, n) | (n, 1) => Some(n),
        (n, m) => (n == m).then_some(n),
    });
    let shape: Option<Vec<usize>> = sizes.collect();
    let shape = shape.ok_or_else(|| format!("shapes {a:?} and {b:?} do not fit"))?;
    elements(&shape)?;
    Ok(shape)
}
