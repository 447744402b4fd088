//! Dense layers: y = x W + b.
//!
//! The weights are packed in panels of 32 outputs. Within a panel each output has its own sum, over
//! the inputs in their order, so the compiler can keep 32 sums in vector registers of any width
//! without a change of bits. The panel is read from its begin to its end, which caches prefer.

use super::Span;

const PANEL: usize = 32;
const BLOCK: usize = 32;

#[derive(Clone, Debug)]
pub(crate) struct Dense {
    /// `rows` rows of the same size.
    pub x: Span,
    pub rows: usize,
    pub outputs: usize,
    /// Where its packed weights begin, and its bias, if it has one.
    pub weights: usize,
    pub bias: Option<usize>,
}

impl Dense {
    pub(super) fn run(&self, weights: &[f32], before: &[f32], out: &mut [f32]) {
        let inputs = self.x.len / self.rows;
        let rows = out.chunks_exact_mut(self.outputs);
        for (i, y) in rows.enumerate() {
            let x = &self.x.of(before)[i * inputs..(i + 1) * inputs];
            multiply(x, &weights[self.weights..], y);
            if let Some(bias) = self.bias {
                add(y, &weights[bias..bias + self.outputs]);
            }
        }
    }
}

/// The width of the next panel when `rest` outputs remain.
const fn width(rest: usize) -> usize {
    match rest {
        0..=4 => 4,
        5..=8 => 8,
        9..=16 => 16,
        _ => PANEL,
    }
}

/// The weights (inputs × outputs, row by row) in panels, each (inputs × width); missing outputs of
/// the last panel have zeros.
pub(crate) fn pack(rows: &[f32], inputs: usize, outputs: usize) -> Vec<f32> {
    let mut packed = Vec::with_capacity(packed_size(inputs, outputs));
    let mut begin = 0;
    while begin < outputs {
        let width = width(outputs - begin);
        let end = outputs.min(begin + width);
        for row in rows.chunks_exact(outputs) {
            packed.extend_from_slice(&row[begin..end]);
            packed.resize(packed.len() + begin + width - end, 0.0);
        }
        begin = end;
    }
    packed
}

/// How many numbers the packed weights have.
pub(crate) const fn packed_size(inputs: usize, outputs: usize) -> usize {
    let whole = outputs / PANEL * PANEL;
    let rest = if whole < outputs { width(outputs - whole) } else { 0 };
    inputs * (whole + rest)
}

/// y = x W, with the packed weights at the begin of `weights`.
pub(super) fn multiply(x: &[f32], weights: &[f32], y: &mut [f32]) {
    let (mut rest, mut weights) = (y, weights);
    while !rest.is_empty() {
        let width = width(rest.len());
        let (now, later) = rest.split_at_mut(width.min(rest.len()));
        let (panel, others) = weights.split_at(width * x.len());
        match width {
            4 => multiply_panel::<4>(x, panel, now),
            8 => multiply_panel::<8>(x, panel, now),
            16 => multiply_panel::<16>(x, panel, now),
            _ => multiply_panel::<PANEL>(x, panel, now),
        }
        (rest, weights) = (later, others);
    }
}

/// The sum of each block of inputs is added to a total: rounding errors grow with the size of a
/// block and the count of blocks, not with the count of inputs.
fn multiply_panel<const N: usize>(x: &[f32], panel: &[f32], y: &mut [f32]) {
    let mut totals = [0.0_f32; N];
    for (x, panel) in x.chunks(BLOCK).zip(panel.chunks(BLOCK * N)) {
        let mut sums = [0.0_f32; N];
        for (x, weights) in x.iter().zip(panel.as_chunks::<N>().0) {
            for (sum, weight) in sums.iter_mut().zip(weights) {
                *sum += x * weight;
            }
        }
        add(&mut totals, &sums);
    }
    y.copy_from_slice(&totals[..y.len()]);
}

pub(super) fn add(y: &mut [f32], x: &[f32]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += x;
    }
}
