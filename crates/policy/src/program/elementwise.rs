//! Functions of one or two numbers, for each number of a value.
//!
//! Comparisons are written so that NaN stays NaN: a policy that computes nonsense must not command
//! a pose that looks valid.

/// A function of one number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Map {
    Abs,
    Neg,
    Sqrt,
    Square,
    Reciprocal,
    Exp,
    Log,
    Erf,
    Sin,
    Cos,
    Relu,
    LeakyRelu(f32),
    Elu(f32),
    /// Alpha and gamma.
    Selu(f32, f32),
    Celu(f32),
    Tanh,
    Sigmoid,
    /// Alpha and beta.
    HardSigmoid(f32, f32),
    HardSwish,
    /// x · sigmoid(alpha x).
    Swish(f32),
    Softplus,
    Softsign,
    Mish,
    Gelu,
    GeluTanh,
    /// Least and greatest.
    Clip(f32, f32),
}

impl Map {
    pub(super) fn run(self, x: &[f32], y: &mut [f32]) {
        match self {
            Self::Abs => each(x, y, f32::abs),
            Self::Neg => each(x, y, |x| -x),
            Self::Sqrt => each(x, y, f32::sqrt),
            Self::Square => each(x, y, |x| x * x),
            Self::Reciprocal => each(x, y, |x| 1.0 / x),
            Self::Exp => each(x, y, libm::expf),
            Self::Log => each(x, y, libm::logf),
            Self::Erf => each(x, y, libm::erff),
            Self::Sin => each(x, y, libm::sinf),
            Self::Cos => each(x, y, libm::cosf),
            Self::Relu => each(x, y, |x| if x < 0.0 { 0.0 } else { x }),
            Self::LeakyRelu(alpha) => each(x, y, |x| if x < 0.0 { alpha * x } else { x }),
            Self::Elu(alpha) => each(x, y, |x| elu(x, alpha)),
            Self::Selu(alpha, gamma) => each(x, y, |x| gamma * elu(x, alpha)),
            Self::Celu(alpha) => {
                each(x, y, |x| if x < 0.0 { alpha * libm::expm1f(x / alpha) } else { x });
            }
            Self::Tanh => each(x, y, libm::tanhf),
            Self::Sigmoid => each(x, y, sigmoid),
            Self::HardSigmoid(alpha, beta) => {
                each(x, y, |x| clip(alpha * x + beta, 0.0, 1.0));
            }
            Self::HardSwish => each(x, y, |x| x * clip(x / 6.0 + 0.5, 0.0, 1.0)),
            Self::Swish(alpha) => each(x, y, |x| x * sigmoid(alpha * x)),
            Self::Softplus => each(x, y, softplus),
            Self::Softsign => each(x, y, |x| x / (1.0 + x.abs())),
            Self::Mish => each(x, y, |x| x * libm::tanhf(softplus(x))),
            Self::Gelu => each(x, y, |x| 0.5 * x * (1.0 + libm::erff(x * HALF_ROOT))),
            Self::GeluTanh => each(x, y, gelu_tanh),
            Self::Clip(low, high) => each(x, y, |x| clip(x, low, high)),
        }
    }
}

const HALF_ROOT: f32 = std::f32::consts::FRAC_1_SQRT_2;

fn each(x: &[f32], y: &mut [f32], f: impl Fn(f32) -> f32) {
    for (y, x) in y.iter_mut().zip(x) {
        *y = f(*x);
    }
}

fn elu(x: f32, alpha: f32) -> f32 {
    if x < 0.0 { alpha * libm::expm1f(x) } else { x }
}

pub(super) fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + libm::expf(-x))
}

/// ln(1 + exp x), without overflow.
fn softplus(x: f32) -> f32 {
    let tail = libm::log1pf(libm::expf(-x.abs()));
    if x < 0.0 { tail } else { x + tail }
}

fn gelu_tanh(x: f32) -> f32 {
    const ROOT: f32 = 0.797_884_6; // sqrt(2 / pi)
    0.5 * x * (1.0 + libm::tanhf(ROOT * (x + 0.044_715 * x * x * x)))
}

fn clip(x: f32, low: f32, high: f32) -> f32 {
    let raised = if x < low { low } else { x };
    if raised > high { high } else { raised }
}

/// A function of two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Zip {
    Add,
    Sub,
    Mul,
    Div,
    Pow,
    Min,
    Max,
    PRelu,
}

impl Zip {
    /// The shorter operand is repeated; one of them has the length of `y`.
    pub(super) fn run(self, a: &[f32], b: &[f32], y: &mut [f32]) {
        match self {
            Self::Add => pairs(a, b, y, |a, b| a + b),
            Self::Sub => pairs(a, b, y, |a, b| a - b),
            Self::Mul => pairs(a, b, y, |a, b| a * b),
            Self::Div => pairs(a, b, y, |a, b| a / b),
            Self::Pow => pairs(a, b, y, libm::powf),
            Self::Min => pairs(a, b, y, |a, b| if a < b || a.is_nan() { a } else { b }),
            Self::Max => pairs(a, b, y, |a, b| if a > b || a.is_nan() { a } else { b }),
            Self::PRelu => pairs(a, b, y, |a, b| if a < 0.0 { a * b } else { a }),
        }
    }
}

fn pairs(a: &[f32], b: &[f32], y: &mut [f32], f: impl Fn(f32, f32) -> f32) {
    if let [b] = *b {
        return each(a, y, |a| f(a, b));
    }
    if let [a] = *a {
        return each(b, y, |b| f(a, b));
    }
    let period = a.len().min(b.len()).max(1);
    let part = |x: &[f32], i: usize| if x.len() == period { 0 } else { i * period };
    for (i, y) in y.chunks_exact_mut(period).enumerate() {
        let (a, b) = (&a[part(a, i)..], &b[part(b, i)..]);
        for (y, (a, b)) in y.iter_mut().zip(a.iter().zip(b)) {
            *y = f(*a, *b);
        }
    }
}
