//! LSTM and GRU layers for one robot, forwards in time
//! (<https://onnx.ai/onnx/operators/onnx__LSTM.html>, `onnx__GRU.html`).

use super::Span;
use super::dense::{add, multiply};
use super::elementwise::sigmoid;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cell {
    Lstm,
    /// Whether the reset gate multiplies after the recurrent layer.
    Gru {
        linear_before_reset: bool,
    },
}

impl Cell {
    /// Gates of a cell: i o f c, or z r h.
    pub(crate) const fn gates(self) -> usize {
        match self {
            Self::Lstm => 4,
            Self::Gru { .. } => 3,
        }
    }
}

/// A layer. Its output is: the hidden state after each step, the last hidden state, the cell state,
/// and two times `gates` × `hidden` numbers of scratch.
#[derive(Clone, Debug)]
pub(crate) struct Recurrent {
    pub cell: Cell,
    /// `steps` rows.
    pub x: Span,
    pub steps: usize,
    pub hidden: usize,
    /// Hidden and cell state before the first step; zeros if absent.
    pub begin: [Option<Span>; 2],
    /// Where the packed weights of the input begin, those of the hidden state, and both biases.
    pub input_weights: usize,
    pub hidden_weights: usize,
    pub input_bias: usize,
    pub hidden_bias: usize,
}

impl Recurrent {
    /// Size of the output with its scratch.
    pub(crate) fn size(cell: Cell, steps: usize, hidden: usize) -> usize {
        hidden * (steps + 2 + 2 * cell.gates())
    }

    pub(super) fn run(&self, weights: &[f32], before: &[f32], out: &mut [f32]) {
        let n = self.hidden;
        let gates = self.cell.gates() * n;
        let (all, rest) = out.split_at_mut(self.steps * n);
        let (h, rest) = rest.split_at_mut(n);
        let (c, rest) = rest.split_at_mut(n);
        let (from_x, from_h) = rest.split_at_mut(gates);
        for (state, begin) in [&mut *h, &mut *c].into_iter().zip(self.begin) {
            match begin {
                Some(begin) => state.copy_from_slice(begin.of(before)),
                None => state.fill(0.0),
            }
        }
        let inputs = self.x.len / self.steps;
        let x = self.x.of(before).chunks_exact(inputs);
        for (x, y) in x.zip(all.chunks_exact_mut(n)) {
            multiply(x, &weights[self.input_weights..], from_x);
            add(from_x, &weights[self.input_bias..self.input_bias + gates]);
            match self.cell {
                Cell::Lstm => {
                    self.recur(weights, h, from_h);
                    lstm(from_x, from_h, h, c);
                }
                Cell::Gru { linear_before_reset: true } => {
                    self.recur(weights, h, from_h);
                    gru(from_x, from_h, h);
                }
                Cell::Gru { linear_before_reset: false } => {
                    self.reset_first(weights, from_x, from_h, h, c);
                }
            }
            y.copy_from_slice(h);
        }
    }

    /// The share of the hidden state in the gates.
    fn recur(&self, weights: &[f32], h: &[f32], from_h: &mut [f32]) {
        multiply(h, &weights[self.hidden_weights..], from_h);
        add(from_h, &weights[self.hidden_bias..self.hidden_bias + from_h.len()]);
    }

    /// A step of a GRU whose reset gate multiplies the hidden state. `spare` has the size of it.
    fn reset_first(
        &self,
        weights: &[f32],
        from_x: &[f32],
        from_h: &mut [f32],
        h: &mut [f32],
        spare: &mut [f32],
    ) {
        let n = h.len();
        self.recur(weights, h, from_h);
        for i in 0..n {
            from_h[i] = sigmoid(from_x[i] + from_h[i]);
            spare[i] = sigmoid(from_x[n + i] + from_h[n + i]) * h[i];
        }
        // the gates z stay; the layer runs again for the candidates
        let (z, rest) = from_h.split_at_mut(n);
        let candidates = &mut rest[n..];
        let columns = &weights[self.candidate_weights(n)..];
        multiply(spare, columns, candidates);
        add(candidates, &weights[self.hidden_bias + 2 * n..self.hidden_bias + 3 * n]);
        for i in 0..n {
            let candidate = libm::tanhf(from_x[2 * n + i] + candidates[i]);
            h[i] = (1.0 - z[i]) * candidate + z[i] * h[i];
        }
    }

    /// Where the weights of the candidates alone begin: they are packed behind the others.
    fn candidate_weights(&self, n: usize) -> usize {
        self.hidden_weights + super::dense::packed_size(n, 3 * n)
    }
}

fn lstm(from_x: &[f32], from_h: &[f32], h: &mut [f32], c: &mut [f32]) {
    let n = h.len();
    let gate = |i: usize| from_x[i] + from_h[i];
    for i in 0..n {
        let (input, output) = (sigmoid(gate(i)), sigmoid(gate(n + i)));
        let (forget, cell) = (sigmoid(gate(2 * n + i)), libm::tanhf(gate(3 * n + i)));
        c[i] = forget * c[i] + input * cell;
        h[i] = output * libm::tanhf(c[i]);
    }
}

fn gru(from_x: &[f32], from_h: &[f32], h: &mut [f32]) {
    let n = h.len();
    for i in 0..n {
        let z = sigmoid(from_x[i] + from_h[i]);
        let r = sigmoid(from_x[n + i] + from_h[n + i]);
        let candidate = libm::tanhf(from_x[2 * n + i] + r * from_h[2 * n + i]);
        h[i] = (1.0 - z) * candidate + z * h[i];
    }
}
