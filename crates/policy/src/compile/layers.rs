//! Dense layers, layer norms, means and softmax.

use super::node::Node;
use super::value::Data;
use super::{Compiler, Outcome, Value, arithmetic, elements, movement};
use crate::program::{Dense, Kind, Map, Reduction, Zip, pack};

/// alpha A B + beta C.
pub(super) fn gemm(compiler: &mut Compiler, node: &Node<'_>) -> Outcome<Vec<Value>> {
    let (a, b) = (node.input(0)?, matrix(node.input(1)?, node.int("transB", 0) != 0)?);
    if node.int("transA", 0) != 0 {
        return Err("transA is not supported".to_string());
    }
    if a.shape.len() != 2 {
        return Err(format!("its input has shape {:?}; it must have 2 axes", a.shape));
    }
    let (alpha, beta) = (node.float("alpha", 1.0), node.float("beta", 1.0));
    let is_plain = alpha.to_bits() == 1.0_f32.to_bits() && beta.to_bits() == 1.0_f32.to_bits();
    let c = node.optional(2);
    let bias = c.filter(|c| is_plain && c.shape.last() == Some(&b.outputs));
    let bias = bias.filter(|c| c.len() == b.outputs).and_then(|c| c.floats().ok());
    let made = dense(compiler, a, &b, bias)?;
    let made = scaled(compiler, &made, alpha)?;
    match c.filter(|_| bias.is_none()) {
        Some(c) => {
            let c = scaled(compiler, c, beta)?;
            Ok(vec![arithmetic::zipped(compiler, Zip::Add, &made, &c)?])
        }
        None => Ok(vec![made]),
    }
}

fn scaled(compiler: &mut Compiler, x: &Value, factor: f32) -> Outcome<Value> {
    if factor.to_bits() == 1.0_f32.to_bits() {
        return Ok(x.clone());
    }
    let factor = Value::constant(vec![], Data::F32(vec![factor]));
    arithmetic::zipped(compiler, Zip::Mul, x, &factor)
}

pub(super) fn matmul(compiler: &mut Compiler, node: &Node<'_>) -> Outcome<Vec<Value>> {
    let b = matrix(node.input(1)?, false)?;
    Ok(vec![dense(compiler, node.input(0)?, &b, None)?])
}

/// Constant weights, row by row: `inputs` × `outputs`.
pub(super) struct Matrix {
    pub weights: Vec<f32>,
    pub inputs: usize,
    pub outputs: usize,
}

/// A constant matrix, `(…1, inputs, outputs)` or its transpose.
pub(super) fn matrix(value: &Value, is_transposed: bool) -> Outcome<Matrix> {
    let weights = value.floats().map_err(|e| format!("its second input: {e}"))?;
    let [others @ .., rows, columns] = &value.shape[..] else {
        return Err(format!("its weights have shape {:?}", value.shape));
    };
    if others.iter().any(|n| *n != 1) || weights.is_empty() {
        return Err(format!("its weights have shape {:?}", value.shape));
    }
    if is_transposed {
        let weights = transposed(weights, *columns);
        return Ok(Matrix { weights, inputs: *columns, outputs: *rows });
    }
    Ok(Matrix { weights: weights.to_vec(), inputs: *rows, outputs: *columns })
}

/// A matrix of rows with `columns` numbers, column by column.
pub(super) fn transposed(rows: &[f32], columns: usize) -> Vec<f32> {
    (0..columns).flat_map(|i| rows.iter().skip(i).step_by(columns).copied()).collect()
}

fn dense(compiler: &mut Compiler, x: &Value, b: &Matrix, bias: Option<&[f32]>) -> Outcome<Value> {
    let (inputs, outputs) = (b.inputs, b.outputs);
    if x.shape.last() != Some(&inputs) {
        return Err(format!("its input has shape {:?}; its weights take {inputs}", x.shape));
    }
    let mut shape = x.shape.clone();
    if let Some(last) = shape.last_mut() {
        *last = outputs;
    }
    let weights = compiler.store(&pack(&b.weights, inputs, outputs))?;
    let bias = bias.map(|bias| compiler.store(bias)).transpose()?;
    let rows = x.len() / inputs;
    let x = compiler.place(x)?;
    compiler.emit(Kind::Dense(Dense { x, rows, outputs, weights, bias }), shape)
}

pub(super) fn layer_norm(compiler: &mut Compiler, node: &Node<'_>) -> Outcome<Vec<Value>> {
    let x = node.input(0)?;
    let axis = x.axis(node.int("axis", -1))?;
    let (outer, inner) = x.shape.split_at(axis);
    let (rows, size): (usize, usize) = (outer.iter().product(), inner.iter().product());
    for value in [Some(node.input(1)?), node.optional(2)].into_iter().flatten() {
        if value.len() != size {
            let found = &value.shape;
            return Err(format!("its scale or bias has shape {found:?}; its rows have {size}"));
        }
    }
    let scale = compiler.place(node.input(1)?)?;
    let bias = node.optional(2).map(|bias| compiler.place(bias)).transpose()?;
    let epsilon = node.float("epsilon", 1e-5);
    let function = Reduction::LayerNorm { epsilon, scale, bias };
    let (shape, x) = (x.shape.clone(), compiler.place(x)?);
    Ok(vec![compiler.emit(Kind::Reduce { function, x, rows }, shape)?])
}

/// (x − mean) · scale / sqrt(variance + epsilon) + bias, for each channel.
pub(super) fn batch_norm(compiler: &mut Compiler, node: &Node<'_>) -> Outcome<Vec<Value>> {
    let x = node.input(0)?;
    let [_, channels] = x.shape[..] else {
        return Err(format!("its input has shape {:?}; it must have 2 axes", x.shape));
    };
    let scale = node.input(1)?.floats()?;
    let variance = node.input(4)?.floats()?;
    let epsilon = node.float("epsilon", 1e-5);
    let all = [1, 2, 3, 4].map(|i| node.input(i).map_or(0, Value::len));
    if all != [channels; 4] {
        return Err(format!("its parameters have {all:?} numbers; its input has {channels}"));
    }
    let factor = scale.iter().zip(variance).map(|(s, v)| s / (v + epsilon).sqrt()).collect();
    let factor = Value::constant(vec![channels], Data::F32(factor));
    let centred = arithmetic::zipped(compiler, Zip::Sub, x, node.input(3)?)?;
    let made = arithmetic::zipped(compiler, Zip::Mul, &centred, &factor)?;
    Ok(vec![arithmetic::zipped(compiler, Zip::Add, &made, node.input(2)?)?])
}

/// Means, sums and others over axes, which are moved to the end.
pub(super) fn reduce(compiler: &mut Compiler, node: &Node<'_>) -> Outcome<Vec<Value>> {
    let x = node.input(0)?;
    let given = node.ints_or_input("axes", 1)?.unwrap_or_default();
    if given.is_empty() && node.int("noop_with_empty_axes", 0) != 0 {
        return Ok(vec![x.clone()]);
    }
    let mut is_gone = vec![given.is_empty(); x.shape.len()];
    for axis in given {
        is_gone[x.axis(axis)?] = true;
    }
    let (gone, kept): (Vec<usize>, Vec<usize>) =
        (0..x.shape.len()).partition(|axis| is_gone[*axis]);
    let order: Vec<usize> = kept.iter().chain(&gone).copied().collect();
    let mut x = movement::permuted(compiler, x, &order)?;
    let rows: Vec<usize> = x.shape[..kept.len()].to_vec();
    let function = match node.operator() {
        "ReduceMax" => Reduction::Max,
        "ReduceMean" => Reduction::Mean,
        "ReduceL2" => {
            x = arithmetic::mapped(compiler, Map::Square, &x)?;
            Reduction::Sum
        }
        _ => Reduction::Sum,
    };
    let (span, count) = (compiler.place(&x)?, elements(&rows)?);
    let mut made = compiler.emit(Kind::Reduce { function, x: span, rows: count }, rows.clone())?;
    if node.operator() == "ReduceL2" {
        made = arithmetic::mapped(compiler, Map::Sqrt, &made)?;
    }
    if node.int("keepdims", 1) == 0 {
        return Ok(vec![made]);
    }
    let mut rows = rows.into_iter();
    let shape = is_gone.iter().map(|gone| if *gone { 1 } else { rows.next().unwrap_or(1) });
    Ok(vec![made.reshaped(shape.collect())?])
}

pub(super) fn softmax(compiler: &mut Compiler, node: &Node<'_>) -> Outcome<Vec<Value>> {
    let x = node.input(0)?;
    let axis = x.axis(node.int("axis", -1))?;
    if axis + 1 != x.shape.len() {
        return Err(format!("its axis is {axis}; it must be the last of {:?}", x.shape));
    }
    let (shape, rows) = (x.shape.clone(), x.shape[..axis].iter().product());
    let x = compiler.place(x)?;
    Ok(vec![compiler.emit(Kind::Reduce { function: Reduction::Softmax, x, rows }, shape)?])
}
