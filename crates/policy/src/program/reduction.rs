//! Operations on the rows of a value: means, layer norms, softmax.

use super::Span;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Reduction {
    Mean,
    Sum,
    Max,
    Softmax,
    /// (x − mean) / sqrt(variance + epsilon) · scale + bias.
    LayerNorm {
        epsilon: f32,
        scale: Span,
        bias: Option<Span>,
    },
}

impl Reduction {
    pub(super) fn run(self, before: &[f32], x: &[f32], rows: usize, out: &mut [f32]) {
        let size = x.len() / rows;
        let width = out.len() / rows;
        for (x, y) in x.chunks_exact(size).zip(out.chunks_exact_mut(width)) {
            match self {
                Self::Mean => y[0] = mean(x),
                Self::Sum => y[0] = sum(x, |x| x),
                Self::Max => y[0] = greatest(x),
                Self::Softmax => softmax(x, y),
                Self::LayerNorm { epsilon, scale, bias } => {
                    normalise(x, epsilon, y);
                    for (y, scale) in y.iter_mut().zip(scale.of(before)) {
                        *y *= scale;
                    }
                    if let Some(bias) = bias {
                        super::dense::add(y, bias.of(before));
                    }
                }
            }
        }
    }
}

/// The sum of f(x): eight sums, each over every eighth number, added in a fixed order.
fn sum(x: &[f32], f: impl Fn(f32) -> f32) -> f32 {
    let mut sums = [0.0_f32; 8];
    let (parts, rest) = x.as_chunks::<8>();
    for part in parts {
        for (sum, x) in sums.iter_mut().zip(part) {
            *sum += f(*x);
        }
    }
    for (sum, x) in sums.iter_mut().zip(rest) {
        *sum += f(*x);
    }
    let [a, b, c, d, e, f, g, h] = sums;
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}

#[expect(clippy::cast_precision_loss, reason = "sizes are below 2^24")]
fn mean(x: &[f32]) -> f32 {
    sum(x, |x| x) / x.len() as f32
}

fn greatest(x: &[f32]) -> f32 {
    x.iter().fold(f32::NEG_INFINITY, |most, &x| if x > most || x.is_nan() { x } else { most })
}

#[expect(clippy::cast_precision_loss, reason = "sizes are below 2^24")]
fn normalise(x: &[f32], epsilon: f32, y: &mut [f32]) {
    let mean = mean(x);
    let variance = sum(x, |x| (x - mean) * (x - mean)) / x.len() as f32;
    let deviation = (variance + epsilon).sqrt();
    for (y, x) in y.iter_mut().zip(x) {
        *y = (x - mean) / deviation;
    }
}

fn softmax(x: &[f32], y: &mut [f32]) {
    let most = greatest(x);
    for (y, x) in y.iter_mut().zip(x) {
        *y = libm::expf(x - most);
    }
    let total = sum(y, |y| y);
    for y in y.iter_mut() {
        *y /= total;
    }
}
