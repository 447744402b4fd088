//! LSTM and GRU layers. A state that is an input of the graph is read where it is, so that the
//! caller can carry it from one run to the next.

use super::layers::transposed;
use super::node::Node;
use super::{Compiler, Outcome, Value};
use crate::program::{Cell, Kind, Op, Recurrent, Span, pack};

pub(super) fn lstm(compiler: &mut Compiler, node: &Node<'_>) -> Outcome<Vec<Value>> {
    if node.int("input_forget", 0) != 0 || node.optional(7).is_some() {
        return Err("input_forget and peepholes are not supported".to_string());
    }
    check(node, &["Sigmoid", "Tanh", "Tanh"])?;
    layer(compiler, node, Cell::Lstm)
}

pub(super) fn gru(compiler: &mut Compiler, node: &Node<'_>) -> Outcome<Vec<Value>> {
    check(node, &["Sigmoid", "Tanh"])?;
    let linear_before_reset = node.int("linear_before_reset", 0) != 0;
    layer(compiler, node, Cell::Gru { linear_before_reset })
}

fn check(node: &Node<'_>, usual: &[&str]) -> Outcome<()> {
    let direction = node.text("direction", "forward");
    if direction != "forward" {
        return Err(format!("its direction is {direction}; it must be forward"));
    }
    let activations = node.texts("activations");
    if !activations.is_empty() && activations != usual {
        return Err(format!("its activations are {activations:?}; they must be {usual:?}"));
    }
    if node.has("clip") || node.int("layout", 0) != 0 {
        return Err("clip and layout 1 are not supported".to_string());
    }
    Ok(())
}

fn layer(compiler: &mut Compiler, node: &Node<'_>, cell: Cell) -> Outcome<Vec<Value>> {
    let x = node.input(0)?;
    let &[steps, 1, inputs] = &x.shape[..] else {
        return Err(format!("its input has shape {:?}; it must be (steps, 1, size)", x.shape));
    };
    let lengths = node.integers(4)?;
    if lengths.is_some_and(|n| n.iter().any(|n| usize::try_from(*n) != Ok(steps))) {
        return Err("its sequence_lens are not those of its input".to_string());
    }
    let hidden = node.input(2)?.shape.last().copied().unwrap_or(0);
    let gates = cell.gates().saturating_mul(hidden);
    if hidden == 0 || steps == 0 || inputs == 0 {
        return Err("one of its sizes is 0".to_string());
    }
    let input_weights = weights(compiler, node.input(1)?, gates, inputs, "W")?;
    let hidden_weights = weights(compiler, node.input(2)?, gates, hidden, "R")?;
    if matches!(cell, Cell::Gru { linear_before_reset: false }) {
        let candidates = &node.input(2)?.floats()?[2 * hidden * hidden..];
        compiler.store(&pack(&transposed(candidates, hidden), hidden, hidden))?;
    }
    let (input_bias, hidden_bias) = biases(compiler, node.optional(3), gates)?;
    let states = if cell == Cell::Lstm { 2 } else { 1 };
    let mut begin = [None; 2];
    for (i, begin) in begin.iter_mut().enumerate().take(states) {
        *begin = state(compiler, node.optional(5 + i), hidden)?;
    }
    let x = compiler.place(x)?;
    let out = compiler.reserve(Recurrent::size(cell, steps, hidden))?;
    let layer = Recurrent {
        cell,
        x,
        steps,
        hidden,
        begin,
        input_weights,
        hidden_weights,
        input_bias,
        hidden_bias,
    };
    compiler.ops.push(Op { kind: Kind::Recurrent(layer), out });
    let last = out.at + steps * hidden;
    let mut outputs = vec![
        Value::computed(vec![steps, 1, 1, hidden], out.at),
        Value::computed(vec![1, 1, hidden], last),
    ];
    outputs.extend((states == 2).then(|| Value::computed(vec![1, 1, hidden], last + hidden)));
    Ok(outputs)
}

/// Where the packed weights of shape (1, gates, inputs) begin.
fn weights(
    compiler: &mut Compiler,
    value: &Value,
    gates: usize,
    inputs: usize,
    name: &str,
) -> Outcome<usize> {
    if value.shape != [1, gates, inputs] {
        let found = &value.shape;
        return Err(format!("{name} has shape {found:?}; it must be [1, {gates}, {inputs}]"));
    }
    let numbers = value.floats().map_err(|e| format!("{name}: {e}"))?;
    compiler.store(&pack(&transposed(numbers, inputs), inputs, gates))
}

/// Where the biases of the input and of the hidden state begin.
fn biases(compiler: &mut Compiler, value: Option<&Value>, gates: usize) -> Outcome<(usize, usize)> {
    let zeros = vec![0.0; 2 * gates];
    let numbers = value.map_or(Ok(&zeros[..]), Value::floats).map_err(|e| format!("B: {e}"))?;
    if numbers.len() != 2 * gates {
        return Err(format!("B has {} numbers; it must have {}", numbers.len(), 2 * gates));
    }
    let at = compiler.store(numbers)?;
    Ok((at, at + gates))
}

fn state(compiler: &mut Compiler, value: Option<&Value>, hidden: usize) -> Outcome<Option<Span>> {
    let Some(value) = value else { return Ok(None) };
    if value.len() != hidden {
        let found = &value.shape;
        return Err(format!("its initial state has shape {found:?}; it must have {hidden}"));
    }
    compiler.place(value).map(Some)
}
