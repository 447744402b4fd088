//! Operators that move numbers without a change: each result is a list of places in the input.

use super::node::Node;
use super::value::{axis_of, strides};
use super::{Compiler, Outcome, Place, Value, elements};
use crate::program::{Kind, Span};

/// The numbers of `x` at `places`. A part in one piece stays where it is.
fn moved(
    compiler: &mut Compiler,
    x: &Value,
    shape: Vec<usize>,
    places: &[usize],
) -> Outcome<Value> {
    let at = match &x.place {
        Place::Constant(data) => {
            compiler.spend(places.len())?;
            return Ok(Value::constant(shape, data.picked(places)));
        }
        Place::Computed(at) => *at,
    };
    let mut parts: Vec<Span> = Vec::new();
    for place in places {
        match parts.last_mut() {
            Some(part) if part.at + part.len == at + place => part.len += 1,
            _ => parts.push(Span { at: at + place, len: 1 }),
        }
    }
    match parts[..] {
        [] => Err("a value without numbers".to_string()),
        [part] => Ok(Value::computed(shape, part.at)),
        _ => compiler.emit(Kind::Copy { parts }, shape),
    }
}

/// The places of a view: from `first` on, `steps` apart along each axis.
fn view(shape: &[usize], first: usize, steps: &[isize]) -> Outcome<Vec<usize>> {
    let count = elements(shape)?;
    let mut places = vec![first; count];
    let mut inner = count.max(1);
    for (n, step) in shape.iter().zip(steps) {
        inner /= (*n).max(1);
        for (i, place) in places.iter_mut().enumerate() {
            let along = isize::try_from(i / inner % n).unwrap_or(0);
            *place = place.wrapping_add_signed(along * step);
        }
    }
    Ok(places)
}

pub(super) fn identity(_: &mut Compiler, node: &Node<'_>) -> Outcome<Vec<Value>> {
    Ok(vec![node.input(0)?.clone()])
}

pub(super) fn reshape(_: &mut Compiler, node: &Node<'_>) -> Outcome<Vec<Value>> {
    let x = node.input(0)?;
    let wanted = node.ints_or_input("shape", 1)?.ok_or("it lacks a shape")?;
    let mut shape = Vec::with_capacity(wanted.len());
    for (i, n) in wanted.iter().enumerate() {
        let same = || x.shape.get(i).copied().ok_or("a 0 in its shape names no axis");
        shape.push(match n {
            0 if node.int("allowzero", 0) == 0 => same()?,
            -1 => 1,
            n => usize::try_from(*n).map_err(|_bad| format!("its shape is {wanted:?}"))?,
        });
    }
    if let Some(open) = wanted.iter().position(|n| *n == -1) {
        let others = elements(&shape)?;
        if others == 0 || x.len() % others != 0 {
            return Err(format!("shape {:?} cannot become {wanted:?}", x.shape));
        }
        shape[open] = x.len() / others;
    }
    Ok(vec![x.reshaped(shape)?])
}

pub(super) fn flatten(_: &mut Compiler, node: &Node<'_>) -> Outcome<Vec<Value>> {
    let x = node.input(0)?;
    let axis = axis_of(node.int("axis", 1), x.shape.len() + 1)?;
    let (outer, inner) = x.shape.split_at(axis);
    Ok(vec![x.reshaped(vec![outer.iter().product(), inner.iter().product()])?])
}

pub(super) fn squeeze(_: &mut Compiler, node: &Node<'_>) -> Outcome<Vec<Value>> {
    let x = node.input(0)?;
    let axes = node.ints_or_input("axes", 1)?;
    let mut gone: Vec<bool> = x.shape.iter().map(|n| axes.is_none() && *n == 1).collect();
    for axis in axes.unwrap_or_default() {
        gone[x.axis(axis)?] = true;
    }
    let kept = x.shape.iter().zip(gone).filter(|(_, gone)| !gone).map(|(n, _)| *n).collect();
    Ok(vec![x.reshaped(kept)?])
}

pub(super) fn unsqueeze(_: &mut Compiler, node: &Node<'_>) -> Outcome<Vec<Value>> {
    let x = node.input(0)?;
    let axes = node.ints_or_input("axes", 1)?.ok_or("it lacks axes")?;
    let rank = x.shape.len() + axes.len();
    let mut is_new = vec![false; rank];
    for axis in axes {
        is_new[axis_of(axis, rank)?] = true;
    }
    let mut old = x.shape.iter().copied();
    let sizes = is_new.iter().map(|new| if *new { 1 } else { old.next().unwrap_or(1) });
    let shape: Vec<usize> = sizes.collect();
    Ok(vec![x.reshaped(shape)?])
}

#[expect(clippy::cast_possible_wrap, reason = "sizes are below 2^31")]
pub(super) fn transpose(compiler: &mut Compiler, node: &Node<'_>) -> Outcome<Vec<Value>> {
    let x = node.input(0)?;
    let rank = x.shape.len();
    let reversed = || (0..rank as i64).rev().collect();
    let order: Vec<i64> = node.ints("perm").unwrap_or_else(reversed);
    let order = order.into_iter().map(|axis| x.axis(axis)).collect::<Outcome<Vec<_>>>()?;
    let is_complete = (0..rank).all(|axis| order.contains(&axis)) && order.len() == rank;
    if !is_complete {
        return Err(format!("its perm {order:?} is no order of {rank} axes"));
    }
    Ok(vec![permuted(compiler, x, &order)?])
}

/// `x` with its axes in another order.
#[expect(clippy::cast_possible_wrap, reason = "sizes are below 2^31")]
pub(super) fn permuted(compiler: &mut Compiler, x: &Value, order: &[usize]) -> Outcome<Value> {
    let shape: Vec<usize> = order.iter().map(|&axis| x.shape[axis]).collect();
    let apart = strides(&x.shape);
    let steps: Vec<isize> = order.iter().map(|&axis| apart[axis] as isize).collect();
    let places = view(&shape, 0, &steps)?;
    moved(compiler, x, shape, &places)
}

pub(super) fn expand(compiler: &mut Compiler, node: &Node<'_>) -> Outcome<Vec<Value>> {
    let x = node.input(0)?;
    let wanted = super::tensor::sizes(&node.integers(1)?.ok_or("it lacks a shape")?)?;
    let shape = super::arithmetic::broadcast(&x.shape, &wanted)?;
    Ok(vec![expanded(compiler, x, &shape)?])
}

/// `x` repeated along its axes of size 1.
pub(super) fn expanded(compiler: &mut Compiler, x: &Value, shape: &[usize]) -> Outcome<Value> {
    compiler.spend(elements(shape)?)?;
    let places = expansion(&x.shape, shape)?;
    moved(compiler, x, shape.to_vec(), &places)
}

/// For each number of `to`, which has at least as many axes, its place in `from`.
#[expect(clippy::cast_possible_wrap, reason = "sizes are below 2^31")]
pub(super) fn expansion(from: &[usize], to: &[usize]) -> Outcome<Vec<usize>> {
    let mut steps = vec![0; to.len() - from.len()];
    let sizes = from.iter().zip(strides(from));
    steps.extend(sizes.map(|(n, apart)| if *n == 1 { 0 } else { apart as isize }));
    view(to, 0, &steps)
}

pub(super) fn tile(compiler: &mut Compiler, node: &Node<'_>) -> Outcome<Vec<Value>> {
    let mut made = node.input(0)?.clone();
    let repeats = super::tensor::sizes(&node.integers(1)?.ok_or("it lacks repeats")?)?;
    if repeats.len() != made.shape.len() {
        return Err(format!("it has {} repeats for shape {:?}", repeats.len(), made.shape));
    }
    for (axis, count) in repeats.into_iter().enumerate().filter(|(_, count)| *count != 1) {
        compiler.spend(made.len().saturating_mul(count))?;
        let parts = vec![made.clone(); count];
        made = concatenated(compiler, &parts, axis)?;
    }
    Ok(vec![made])
}

pub(super) fn slice(compiler: &mut Compiler, node: &Node<'_>) -> Outcome<Vec<Value>> {
    let x = node.input(0)?;
    let starts = node.ints_or_input("starts", 1)?.ok_or("it lacks starts")?;
    let ends = node.ints_or_input("ends", 2)?.ok_or("it lacks ends")?;
    let axes = node.ints_or_input("axes", 3)?;
    let axes = axes.unwrap_or_else(|| (0_i64..).take(starts.len()).collect());
    let by = node.integers(4)?.unwrap_or_else(|| vec![1; starts.len()]);
    if ends.len() != starts.len() || axes.len() != starts.len() || by.len() != starts.len() {
        return Err("its starts, ends, axes and steps have different sizes".to_string());
    }
    let (mut made, mut chosen) = (x.clone(), starts.iter().zip(&ends).zip(&axes).zip(&by));
    chosen.try_for_each(|(((start, end), axis), step)| {
        let axis = made.axis(*axis)?;
        let indices = range(*start, *end, *step, made.shape[axis])?;
        made = picked(compiler, &made, axis, &indices)?;
        Ok::<(), String>(())
    })?;
    Ok(vec![made])
}

/// The indices from `start` to `end`, which may count from the end and may be too large.
#[expect(clippy::cast_possible_wrap, reason = "sizes are below 2^31")]
fn range(start: i64, end: i64, step: i64, size: usize) -> Outcome<Vec<usize>> {
    let size = size as i64;
    let from_end = |i: i64| if i < 0 { i.saturating_add(size) } else { i };
    let (start, end) = (from_end(start), from_end(end));
    let indices: Vec<i64> = match step {
        0 => return Err("its step is 0".to_string()),
        1.. => {
            let by = usize::try_from(step).unwrap_or(usize::MAX);
            (start.clamp(0, size)..end.clamp(0, size)).step_by(by).collect()
        }
        _ => {
            let by = usize::try_from(step.unsigned_abs()).unwrap_or(usize::MAX);
            let (low, high) = (end.clamp(-1, size - 1) + 1, start.clamp(-1, size - 1));
            (low..=high).rev().step_by(by).collect()
        }
    };
    Ok(indices.into_iter().filter_map(|i| usize::try_from(i).ok()).collect())
}

pub(super) fn gather(compiler: &mut Compiler, node: &Node<'_>) -> Outcome<Vec<Value>> {
    let x = node.input(0)?;
    let axis = x.axis(node.int("axis", 0))?;
    let size = x.shape[axis];
    let indices = node.integers(1)?.ok_or("it lacks indices")?;
    let indices = indices.into_iter().map(|i| axis_of(i, size)).collect::<Outcome<Vec<_>>>();
    let indices = indices.map_err(|_axis| format!("an index is not within {size}"))?;
    let made = picked(compiler, x, axis, &indices)?;
    let mut shape = x.shape[..axis].to_vec();
    shape.extend_from_slice(&node.input(1)?.shape);
    shape.extend_from_slice(&x.shape[axis + 1..]);
    Ok(vec![made.reshaped(shape)?])
}

/// These indices along an axis.
fn picked(compiler: &mut Compiler, x: &Value, axis: usize, indices: &[usize]) -> Outcome<Value> {
    let (outer, inner): (usize, usize) =
        (x.shape[..axis].iter().product(), x.shape[axis + 1..].iter().product());
    let mut shape = x.shape.clone();
    shape[axis] = indices.len();
    compiler.spend(elements(&shape)?)?;
    let mut places = Vec::with_capacity(outer * indices.len() * inner);
    for o in 0..outer {
        for i in indices {
            let first = (o * x.shape[axis] + i) * inner;
            places.extend(first..first + inner);
        }
    }
    moved(compiler, x, shape, &places)
}

pub(super) fn split(compiler: &mut Compiler, node: &Node<'_>) -> Outcome<Vec<Value>> {
    let x = node.input(0)?;
    let axis = x.axis(node.int("axis", 0))?;
    let (size, count) = (x.shape[axis], node.outputs().max(1));
    let sizes = match node.ints_or_input("split", 1)? {
        Some(sizes) => super::tensor::sizes(&sizes)?,
        None => {
            let each = size.div_ceil(count);
            (0..count).map(|i| each.min(size.saturating_sub(i * each))).collect()
        }
    };
    let total = sizes.iter().try_fold(0_usize, |sum, n| sum.checked_add(*n));
    if total != Some(size) || sizes.len() != count {
        return Err(format!("it splits {size} into {sizes:?} for {count} outputs"));
    }
    let mut made = Vec::with_capacity(count);
    let mut begin = 0;
    for n in sizes {
        let indices: Vec<usize> = (begin..begin + n).collect();
        made.push(picked(compiler, x, axis, &indices)?);
        begin += n;
    }
    Ok(made)
}

pub(super) fn concat(compiler: &mut Compiler, node: &Node<'_>) -> Outcome<Vec<Value>> {
    let values: Vec<Value> = node.inputs().cloned().collect();
    let axis = node.input(0)?.axis(node.int("axis", 0))?;
    Ok(vec![concatenated(compiler, &values, axis)?])
}

fn concatenated(compiler: &mut Compiler, values: &[Value], axis: usize) -> Outcome<Value> {
    let Some(first) = values.first() else { return Err("a value without numbers".to_string()) };
    let mut shape = first.shape.clone();
    shape[axis] = 0;
    for value in values {
        let mut others = value.shape.clone();
        if others.len() != shape.len() {
            return Err(format!("shapes {:?} and {others:?} do not fit", first.shape));
        }
        shape[axis] += std::mem::replace(&mut others[axis], shape[axis]);
        if (0..shape.len()).any(|i| i != axis && shape[i] != others[i]) {
            return Err(format!("shapes {:?} and {:?} do not fit", first.shape, value.shape));
        }
    }
    elements(&shape)?;
    if let Some(made) = super::integers::concatenated(values, axis, &shape)? {
        return Ok(made);
    }
    let values = values.iter().filter(|value| value.len() > 0);
    let spans = values.map(|v| compiler.place(v)).collect::<Outcome<Vec<_>>>()?;
    let outer: usize = shape[..axis].iter().product();
    let mut parts = Vec::with_capacity(outer * spans.len());
    for o in 0..outer {
        for span in &spans {
            let len = span.len / outer;
            parts.push(Span { at: span.at + o * len, len });
        }
    }
    compiler.emit(Kind::Copy { parts }, shape)
}
