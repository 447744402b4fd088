//! Rows of few numbers, and small systems of equations made of them.

use crate::simd::{SimdReal, four_lanes};

/// Largest rank: four bodies.
pub(super) const RANK_MAX: usize = 24;
/// Fours in a row of the largest rank, and in one of two bodies.
const QUADS_MAX: usize = 6;
const QUADS_OF_TWO: usize = 3;
/// What keeps equations regular: contacts of one body can share its load in more than one way. The
/// one nearest to the guess is taken.
pub(super) const COMPLIANCE: f64 = 1e-9;

/// A row of a factor, or a sum of rows. Operations are for four lanes; what is beyond the rank is
/// zero, and `short` rows, of up to two bodies, end after three fours.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row(pub(super) [f64; RANK_MAX]);

/// True if the rows of this rank are short.
pub(super) const fn is_short(rank: usize) -> bool {
    rank <= 4 * QUADS_OF_TWO
}

impl Row {
    pub(super) const NOTHING: Self = Self([0.0; RANK_MAX]);

    #[inline(always)]
    fn quad<T: SimdReal>(&self, q: usize) -> T {
        T::from_lanes(|k| self.0[4 * q + k])
    }

    #[inline(always)]
    fn set_quad<T: SimdReal>(&mut self, q: usize, four: T) {
        self.0[4 * q..4 * q + 4].copy_from_slice(&four_lanes(four));
    }

    /// The scalar product: four sums side by side.
    #[inline(always)]
    pub(super) fn dot<T: SimdReal>(&self, o: &Self, short: bool) -> f64 {
        let mut sums = T::splat(0.0);
        for q in 0..QUADS_OF_TWO {
            sums += self.quad::<T>(q) * o.quad(q);
        }
        if !short {
            for q in QUADS_OF_TWO..QUADS_MAX {
                sums += self.quad::<T>(q) * o.quad(q);
            }
        }
        let [a, b, c, d] = four_lanes(sums);
        (a + b) + (c + d)
    }

    /// Adds `factors` times `rows`.
    #[inline(always)]
    pub(super) fn add<T: SimdReal>(&mut self, rows: &[Self; 3], factors: [f64; 3], short: bool) {
        for q in 0..QUADS_OF_TWO {
            self.add_quad::<T>(q, rows, factors);
        }
        if !short {
            for q in QUADS_OF_TWO..QUADS_MAX {
                self.add_quad::<T>(q, rows, factors);
            }
        }
    }

    #[inline(always)]
    fn add_quad<T: SimdReal>(&mut self, q: usize, rows: &[Self; 3], factors: [f64; 3]) {
        let mut four = self.quad::<T>(q);
        for k in 0..3 {
            four += rows[k].quad::<T>(q) * T::splat(factors[k]);
        }
        self.set_quad(q, four);
    }
}

/// `ε + Q P`, of the columns and rows of some equations, as `L U` with the rows in another order.
#[derive(Clone, Debug)]
pub(super) struct Square {
    matrix: [Row; RANK_MAX],
    order: [usize; RANK_MAX],
    rank: usize,
}

impl Default for Square {
    fn default() -> Self {
        Self { matrix: [Row::NOTHING; RANK_MAX], order: [0; RANK_MAX], rank: 0 }
    }
}

impl Square {
    /// Adds up and factorises `equations` in as many unknowns as the rank: for each, which of
    /// `rows` is its row of `P`, and which the column of `Q` of its unknown. False if they have no
    /// unique solution.
    #[inline(always)]
    pub(super) fn close<T: SimdReal>(
        &mut self,
        rank: usize,
        rows: &[Row],
        equations: &[[usize; 2]],
    ) -> bool {
        self.rank = rank;
        if is_short(rank) {
            self.sum::<T, QUADS_OF_TWO, 3>(rows, equations);
            self.factorise::<T, QUADS_OF_TWO>()
        } else {
            self.sum::<T, QUADS_MAX, 2>(rows, equations);
            self.factorise::<T, QUADS_MAX>()
        }
    }

    /// Adds `N` rows of the matrix at a time, of `Q` fours: as many as there are registers for.
    #[inline(always)]
    fn sum<T: SimdReal, const Q: usize, const N: usize>(
        &mut self,
        rows: &[Row],
        equations: &[[usize; 2]],
    ) {
        for first in (0..self.rank).step_by(N) {
            let mut sums = [[T::splat(0.0); Q]; N];
            for &[row, column] in equations {
                let (Row(column), row) = (&rows[column], &rows[row]);
                for (sums, factor) in sums.iter_mut().zip(&column[first..first + N]) {
                    let factor = T::splat(*factor);
                    for (q, sum) in sums.iter_mut().enumerate() {
                        *sum += row.quad::<T>(q) * factor;
                    }
                }
            }
            for (n, (row, sums)) in self.matrix[first..].iter_mut().zip(sums).enumerate() {
                for (q, sum) in sums.into_iter().enumerate() {
                    row.set_quad(q, sum);
                }
                row.0[first + n] += COMPLIANCE;
            }
        }
    }

    /// `L U` in place with the rows in `order`, with ones on the diagonal of `L`; false if a pivot
    /// vanishes.
    #[inline(always)]
    fn factorise<T: SimdReal, const Q: usize>(&mut self) -> bool {
        let Self { matrix, order, rank } = self;
        let size = *rank;
        for (k, row) in order.iter_mut().enumerate() {
            *row = k;
        }
        for k in 0..size {
            let (mut best, mut most) = (k, matrix[k].0[k].abs());
            for (i, row) in matrix[..size].iter().enumerate().skip(k + 1) {
                let amount = row.0[k].abs();
                (best, most) = if amount > most { (i, amount) } else { (best, most) };
            }
            if best != k {
                matrix.swap(k, best);
                order.swap(k, best);
            }
            let (above, below) = matrix.split_at_mut(k + 1);
            let mut right = above[k];
            let pivot = right.0[k];
            if pivot.is_nan() || pivot == 0.0 {
                return false;
            }
            let per_pivot = 1.0 / pivot;
            right.0[4 * (k / 4)..=k].fill(0.0); // what is left of it stays
            for row in &mut below[..size - k - 1] {
                let factor = row.0[k] * per_pivot;
                let factors = T::splat(factor);
                for q in k / 4..Q {
                    row.set_quad(q, row.quad::<T>(q) - right.quad::<T>(q) * factors);
                }
                row.0[k] = factor;
            }
        }
        true
    }

    /// Solves with the factors.
    #[inline(always)]
    pub(super) fn solve(&self, b: &Row) -> Row {
        let Self { matrix, order, rank } = self;
        let mut x = [0.0; RANK_MAX];
        for i in 0..*rank {
            let mut sum = b.0[order[i]];
            for (l, x) in matrix[i].0[..i].iter().zip(&x) {
                sum -= l * x;
            }
            x[i] = sum;
        }
        for i in (0..*rank).rev() {
            let mut sum = x[i];
            for (u, x) in matrix[i].0[i + 1..*rank].iter().zip(&x[i + 1..*rank]) {
                sum -= u * x;
            }
            x[i] = sum / matrix[i].0[i];
        }
        Row(x)
    }
}
