//! What files compute about their own shapes: integers, all constant.

use super::node::Node;
use super::value::Data;
use super::{Compiler, Outcome, Value, arithmetic, elements, movement};
use crate::onnx::{messages, tensor};
use crate::program::Zip;

pub(super) fn constant(compiler: &mut Compiler, node: &Node<'_>) -> Outcome<Vec<Value>> {
    let value = node.constant()?;
    compiler.spend(value.len())?;
    Ok(vec![value])
}

/// The shape of its input, a constant even if the input is computed.
#[expect(clippy::cast_possible_wrap, reason = "sizes are below 2^31")]
pub(super) fn shape(_: &mut Compiler, node: &Node<'_>) -> Outcome<Vec<Value>> {
    let shape = &node.input(0)?.shape;
    let rank = shape.len() as i64;
    let place = |name, default| {
        let given = node.int(name, default);
        let from_end = if given < 0 { given.saturating_add(rank) } else { given };
        usize::try_from(from_end.clamp(0, rank)).unwrap_or(0)
    };
    let part = shape.get(place("start", 0)..place("end", rank)).unwrap_or_default();
    let sizes: Vec<i64> = part.iter().map(|n| *n as i64).collect();
    Ok(vec![Value::constant(vec![sizes.len()], Data::I64(sizes))])
}

pub(super) fn constant_of_shape(compiler: &mut Compiler, node: &Node<'_>) -> Outcome<Vec<Value>> {
    let shape = tensor::sizes(&node.integers(0)?.ok_or("it lacks a shape")?)?;
    let (_, value) =
        node.tensor("value").map_or_else(|| Ok((vec![], Data::F32(vec![0.0]))), tensor::read)?;
    let count = elements(&shape)?;
    compiler.spend(count)?;
    if value.len() != 1 {
        return Err(format!("its value has {} numbers; it must have 1", value.len()));
    }
    Ok(vec![Value::constant(shape, value.picked(&vec![0; count]))])
}

/// To the type of a computed value, nothing; constants are converted.
#[expect(clippy::cast_precision_loss, reason = "that is what the file asks for")]
#[expect(clippy::cast_possible_truncation, reason = "as ONNX: towards zero")]
pub(super) fn cast(_: &mut Compiler, node: &Node<'_>) -> Outcome<Vec<Value>> {
    let (x, to) = (node.input(0)?, i32::try_from(node.int("to", 1)).unwrap_or(0));
    let name = messages::type_name(to);
    let Some(data) = x.data() else {
        if to == messages::FLOAT {
            return Ok(vec![x.clone()]);
        }
        return Err(format!("it casts computed numbers to {name}; they stay float32"));
    };
    let data = match (data, to) {
        (Data::F32(_), messages::FLOAT) | (Data::F64(_), messages::DOUBLE) => data.clone(),
        (Data::F64(x), messages::FLOAT) => Data::F32(x.iter().map(|&x| x as f32).collect()),
        (Data::I64(x), messages::FLOAT) => Data::F32(x.iter().map(|&x| x as f32).collect()),
        (Data::F32(x), messages::DOUBLE) => Data::F64(x.iter().map(|&x| x.into()).collect()),
        (Data::I64(x), messages::DOUBLE) => Data::F64(x.iter().map(|&x| x as f64).collect()),
        (Data::F32(x), messages::BOOL) => {
            Data::I64(x.iter().map(|&x| i64::from(x != 0.0)).collect())
        }
        (Data::I64(x), messages::BOOL) => Data::I64(x.iter().map(|&x| i64::from(x != 0)).collect()),
        (Data::F32(x), messages::INT32 | messages::INT64) => {
            Data::I64(x.iter().map(|&x| x as i64).collect())
        }
        (Data::I64(_), messages::INT32 | messages::INT64) => data.clone(),
        _ => return Err(format!("it casts to {name}, which is not supported")),
    };
    Ok(vec![Value::constant(x.shape.clone(), data)])
}

/// The integers of two constants.
pub(super) fn both<'a>(a: &'a Value, b: &'a Value) -> Option<(&'a [i64], &'a [i64])> {
    Some((a.data()?.integers().ok()?, b.data()?.integers().ok()?))
}

pub(super) fn zip(
    function: Zip,
    a: &Value,
    left: &[i64],
    b: &Value,
    right: &[i64],
) -> Outcome<Value> {
    let of = match function {
        Zip::Add => i64::checked_add,
        Zip::Sub => i64::checked_sub,
        Zip::Mul => i64::checked_mul,
        Zip::Div => i64::checked_div,
        _ => return Err("integers can be added, subtracted, multiplied and divided".into()),
    };
    pairs(a, left, b, right, of)
}

fn pairs(
    a: &Value,
    left: &[i64],
    b: &Value,
    right: &[i64],
    of: impl Fn(i64, i64) -> Option<i64>,
) -> Outcome<Value> {
    let shape = arithmetic::broadcast(&a.shape, &b.shape)?;
    let left = movement::expansion(&a.shape, &shape)?.into_iter().map(|i| left[i]);
    let right = movement::expansion(&b.shape, &shape)?.into_iter().map(|i| right[i]);
    let made = left.zip(right).map(|(x, y)| of(x, y)).collect::<Option<Vec<i64>>>();
    Ok(Value::constant(shape, Data::I64(made.ok_or("integers overflow, or are divided by 0")?)))
}

pub(super) fn equal(_: &mut Compiler, node: &Node<'_>) -> Outcome<Vec<Value>> {
    let (a, b) = (node.input(0)?, node.input(1)?);
    let (left, right) = both(a, b).ok_or("its inputs must be constant integers")?;
    Ok(vec![pairs(a, left, b, right, |x, y| Some(i64::from(x == y)))?])
}

/// `Where` with a constant condition and integers.
pub(super) fn choose(_: &mut Compiler, node: &Node<'_>) -> Outcome<Vec<Value>> {
    let (when, a, b) = (node.input(0)?, node.input(1)?, node.input(2)?);
    let (left, right) = both(a, b).ok_or("its inputs must be constant integers")?;
    let when_true =
        pairs(when, conditions(when)?, a, left, |c, x| Some(if c != 0 { x } else { 0 }))?;
    let when_false =
        pairs(when, conditions(when)?, b, right, |c, x| Some(if c != 0 { 0 } else { x }))?;
    let (left, right) = both(&when_true, &when_false).ok_or("integers")?;
    Ok(vec![pairs(&when_true, left, &when_false, right, i64::checked_add)?])
}

fn conditions(when: &Value) -> Outcome<&[i64]> {
    when.data().ok_or("its condition must be constant")?.integers()
}

/// The integers of several constants one after the other along an axis; None if not all are
/// constant integers.
pub(super) fn concatenated(
    values: &[Value],
    axis: usize,
    shape: &[usize],
) -> Outcome<Option<Value>> {
    let parts = values.iter().map(|value| value.data()?.integers().ok());
    let Some(parts) = parts.collect::<Option<Vec<&[i64]>>>() else { return Ok(None) };
    let outer: usize = shape[..axis].iter().product();
    let mut made = Vec::with_capacity(elements(shape)?);
    for o in 0..outer {
        for part in &parts {
            let len = part.len() / outer;
            made.extend_from_slice(&part[o * len..(o + 1) * len]);
        }
    }
    Ok(Some(Value::constant(shape.to_vec(), Data::I64(made))))
}
