//! Minimum-norm least squares for small symmetric positive-semidefinite matrices.
//!
//! A complete orthogonal factorisation in flat buffers: Cholesky with diagonal pivoting finds the
//! rank `r` and `A = L Lᵀ` (Higham, *Analysis of the Cholesky decomposition of a semi-definite
//! matrix*, 1990), Householder's reflections give `L = Q R`, so that `A⁺ = Q R⁻ᵀ R⁻¹ Qᵀ`. Where
//! `A = G Gᵀ`, Gram and Schmidt with row pivoting find the same `L` from `G`, without squaring what
//! is nearly singular. The order of operations is fixed, every loop is bounded by the size, and
//! nothing allocates after [`LeastSquares::new`].

use crate::simd::SimdReal as _;

/// An n × n symmetric positive-semidefinite matrix `A` and its factorisation.
///
/// ```
/// use hardstand_physics::dynamics::LeastSquares;
/// let mut twice = LeastSquares::new(2); // the same equation, x₀ + x₁ = 2, two times
/// (0..4).for_each(|k| twice.set(k / 2, k % 2, 1.0));
/// assert_eq!(twice.factor(1e-11, 1.0), 1);
/// let mut x = [0.0; 2];
/// twice.solve(&[2.0, 2.0], &mut x);
/// assert!((x[0] - 1.0).abs() < 1e-15 && (x[1] - 1.0).abs() < 1e-15);
/// ```
#[derive(Clone, Debug)]
pub struct LeastSquares {
    n: usize,
    /// Row-major: `A`, then `L`, then the strict upper triangle of `R` above the reflections.
    a: Vec<f64>,
    /// The row of `A` that is in place `i` of the factors.
    order: Vec<usize>,
    rank: usize,
    /// Diagonal of `R`.
    diagonal: Vec<f64>,
    /// `2 / vᵀ v` of the reflections.
    beta: Vec<f64>,
    work: Vec<f64>,
}

impl LeastSquares {
    /// A zero matrix of `n` rows.
    #[must_use]
    pub fn new(n: usize) -> Self {
        Self {
            n,
            a: vec![0.0; n * n],
            order: vec![0; n],
            rank: 0,
            diagonal: vec![0.0; n],
            beta: vec![0.0; n],
            work: vec![0.0; n],
        }
    }

    /// Sets `A[r, c]`. Both triangles are set; after [`factor`](Self::factor) all must be set
    /// again.
    ///
    /// # Panics
    /// If `r` or `c` is not less than the number of rows.
    pub fn set(&mut self, r: usize, c: usize, value: f64) {
        self.a[r * self.n + c] = value;
    }

    /// Takes the mean of `A` and `Aᵀ`: for matrices whose two triangles were computed apart.
    pub fn symmetrise(&mut self) {
        let n = self.n;
        for r in 0..n {
            for c in 0..r {
                let mean = 0.5 * (self.a[r * n + c] + self.a[c * n + r]);
                self.a[r * n + c] = mean;
                self.a[c * n + r] = mean;
            }
        }
    }

    /// Factorises and returns the rank: pivots that are not larger than `tolerance` times the
    /// first one, or times `scale`, count as zero. The scale is the size of the numbers of which
    /// the matrix was computed: where all of it is what rounding left of them, its rank is 0.
    pub fn factor(&mut self, tolerance: f64, scale: f64) -> usize {
        self.factor_cholesky(tolerance, scale);
        self.factor_orthogonal();
        self.rank
    }

    /// Pivoted Cholesky: `L` in the first `rank` columns, zeros above its diagonal.
    fn factor_cholesky(&mut self, tolerance: f64, scale: f64) {
        let n = self.n;
        (0..n).for_each(|i| self.order[i] = i);
        self.rank = 0;
        let mut least = 0.0;
        for k in 0..n {
            let p = self.largest_pivot(k);
            let pivot = self.a[p * n + p];
            if k == 0 {
                least = tolerance * pivot.larger(scale);
            }
            // not "pivot <= …": NaN ends it, too
            if !(pivot > least && pivot >= f64::MIN_POSITIVE) {
                break;
            }
            self.exchange(k, p);
            let d = pivot.sqrt();
            self.a[k * n + k] = d;
            for i in k + 1..n {
                self.a[i * n + k] /= d;
                self.a[k * n + i] = 0.0;
            }
            for i in k + 1..n {
                for j in k + 1..n {
                    self.a[i * n + j] -= self.a[i * n + k] * self.a[j * n + k];
                }
            }
            self.rank = k + 1;
        }
    }

    /// Factorises `A = G Gᵀ` by the rows of `G`, of `columns` elements each; what was
    /// [`set`](Self::set) does not matter. Rows that add not more than `tolerance` times the
    /// longest one, or times `scale`, count as sums of the others. Leaves in the first `rank` rows
    /// an orthonormal basis `B` of all rows: `G⁺ b = Bᵀ L⁺ b`, see
    /// [`solve_half`](Self::solve_half).
    pub(super) fn factor_rows(
        &mut self,
        rows: &mut [f64],
        columns: usize,
        tolerance: f64,
        scale: f64,
    ) {
        let n = self.n;
        (0..n).for_each(|i| self.order[i] = i);
        self.a.fill(0.0);
        self.rank = 0;
        let mut least = 0.0;
        for k in 0..n.min(columns) {
            let square = |i: usize| dot(row(rows, columns, i), row(rows, columns, i));
            let p = (k + 1..n).fold(k, |p, i| if square(i) > square(p) { i } else { p });
            if k != p {
                self.order.swap(k, p);
                (0..k).for_each(|j| self.a.swap(k * n + j, p * n + j));
                (0..columns).for_each(|j| rows.swap(k * columns + j, p * columns + j));
            }
            let (basis, rest) = rows.split_at_mut(k * columns);
            let (this, others) = rest.split_at_mut(columns);
            // a second time: what rounding left of the basis is no longer small beside the rest
            for (j, b) in basis.chunks_exact(columns).enumerate() {
                self.a[k * n + j] += take_away(this, b);
            }
            let length = dot(this, this).sqrt();
            if k == 0 {
                least = tolerance * length.larger(scale);
            }
            // not "length <= …": NaN ends it, too
            if !(length > least && length >= f64::MIN_POSITIVE) {
                break;
            }
            this.iter_mut().for_each(|x| *x /= length);
            self.a[k * n + k] = length;
            for (i, other) in others.chunks_exact_mut(columns).enumerate() {
                self.a[(k + 1 + i) * n + k] = take_away(other, this);
            }
            self.rank = k + 1;
        }
        self.factor_orthogonal();
    }

    /// The first of the largest diagonal elements from `k` on.
    fn largest_pivot(&self, k: usize) -> usize {
        let at = |i: usize| self.a[i * self.n + i];
        (k + 1..self.n).fold(k, |p, i| if at(i) > at(p) { i } else { p })
    }

    /// Exchanges two rows and the same two columns.
    fn exchange(&mut self, k: usize, p: usize) {
        let n = self.n;
        if k != p {
            self.order.swap(k, p);
            (0..n).for_each(|j| self.a.swap(k * n + j, p * n + j));
            (0..n).for_each(|i| self.a.swap(i * n + k, i * n + p));
        }
    }

    /// Householder: column `k` becomes the reflection's vector, with `R` above and beside it.
    fn factor_orthogonal(&mut self) {
        let n = self.n;
        for k in 0..self.rank {
            let square: f64 = (k..n).map(|i| self.a[i * n + k] * self.a[i * n + k]).sum();
            let (norm, first) = (square.sqrt(), self.a[k * n + k]);
            // away from the first component, so that nothing cancels
            let d = if first > 0.0 { -norm } else { norm };
            self.diagonal[k] = d;
            self.a[k * n + k] = first - d;
            self.beta[k] = 1.0 / (norm * (norm + first.abs()));
            for j in k + 1..self.rank {
                let dot: f64 = (k..n).map(|i| self.a[i * n + k] * self.a[i * n + j]).sum();
                let s = self.beta[k] * dot;
                (k..n).for_each(|i| self.a[i * n + j] -= s * self.a[i * n + k]);
            }
        }
    }

    /// `work ← H_k work`.
    fn reflect(&mut self, k: usize) {
        let n = self.n;
        let dot: f64 = (k..n).map(|i| self.a[i * n + k] * self.work[i]).sum();
        let s = self.beta[k] * dot;
        (k..n).for_each(|i| self.work[i] -= s * self.a[i * n + k]);
    }

    /// `x = A⁺ b`: of all `x` that make `|A x − b|` smallest, the shortest. Both have
    /// as many elements as there are rows. Needs [`factor`](Self::factor).
    pub fn solve(&mut self, b: &[f64], x: &mut [f64]) {
        let (n, rank) = (self.n, self.rank);
        self.solve_half(b);
        for k in 0..rank {
            let known: f64 = (0..k).map(|j| self.a[j * n + k] * self.work[j]).sum();
            self.work[k] = (self.work[k] - known) / self.diagonal[k];
        }
        self.work[rank..].fill(0.0);
        (0..rank).rev().for_each(|k| self.reflect(k));
        for i in 0..n {
            x[self.order[i]] = self.work[i];
        }
    }

    /// `y = L⁺ b`: of all `y`, the one that makes `|L y − b|` smallest; as many as the rank.
    pub(super) fn solve_half(&mut self, b: &[f64]) -> &[f64] {
        let (n, rank) = (self.n, self.rank);
        for i in 0..n {
            self.work[i] = b[self.order[i]];
        }
        (0..rank).for_each(|k| self.reflect(k));
        for k in (0..rank).rev() {
            let known: f64 = (k + 1..rank).map(|j| self.a[k * n + j] * self.work[j]).sum();
            self.work[k] = (self.work[k] - known) / self.diagonal[k];
        }
        &self.work[..rank]
    }
}

fn row(rows: &[f64], columns: usize, i: usize) -> &[f64] {
    &rows[i * columns..(i + 1) * columns]
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Takes the part along the unit vector `b` out of `a`; its length.
fn take_away(a: &mut [f64], b: &[f64]) -> f64 {
    let along = dot(a, b);
    a.iter_mut().zip(b).for_each(|(a, b)| *a -= along * b);
    along
}
