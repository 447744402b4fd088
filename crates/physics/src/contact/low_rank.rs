//! A symmetric matrix as `W = L Lᵀ` with few columns.
//!
//! Cholesky with diagonal pivoting finds the rank and `L` (Higham, *Analysis of the Cholesky
//! decomposition of a semi-definite matrix*, 1990).
//! [`LeastSquares`](crate::dynamics::LeastSquares) finds such an `L`, too, but works on all of the
//! square; here a row of `W` is read when it is needed, and there are as many as the rank.

use crate::simd::{SimdReal, four_lanes};
use crate::spatial::{Mat3, Vec3};

use super::row::{RANK_MAX, Row};

/// Rest of a diagonal that counts as nothing.
const NOTHING: f64 = 1e-12;

/// `L` of a matrix of blocks, scaled so that the mean of each block's diagonal is 1.
#[derive(Clone, Debug, Default)]
pub(super) struct LowRank {
    pub(super) rank: usize,
    /// Three of `L` for each block.
    pub(super) rows: Vec<[Row; 3]>,
    /// The same of each block by columns; a fourth number that means nothing fills a register.
    columns: Vec<[[f64; 4]; RANK_MAX]>,
    /// Of each block: its rows are multiplied by it.
    pub(super) scales: Vec<f64>,
    /// What is left of the diagonal, with a zero for each block.
    rest: Vec<[f64; 4]>,
}

impl LowRank {
    /// Room for `blocks` on the diagonal.
    #[must_use]
    pub(super) fn with_room(blocks: usize) -> Self {
        Self {
            rank: 0,
            rows: Vec::with_capacity(2 * blocks),
            columns: Vec::with_capacity(blocks),
            scales: Vec::with_capacity(blocks),
            rest: Vec::with_capacity(blocks),
        }
    }

    /// Factorises `W` of `n` times `n` blocks; false if its rank is too large.
    #[inline(always)]
    pub(super) fn factorise<T: SimdReal>(&mut self, W: &[Mat3], n: usize) -> bool {
        self.scales.clear();
        self.rows.clear();
        self.rest.clear();
        for i in 0..n {
            let own = &W[i * n + i];
            let mean = own.trace() / 3.0;
            let scale = if mean > 0.0 { 1.0 / mean.sqrt() } else { 1.0 };
            self.scales.push(scale);
            let diagonal = Vec3::from_fn(|k| own[(k, k)] * scale * scale);
            self.rest.push([diagonal.x, diagonal.y, diagonal.z, 0.0]);
        }
        self.rows.resize(n, [Row::NOTHING; 3]);
        self.columns.resize(n, [[0.0; 4]; RANK_MAX]);
        for rank in 0..=RANK_MAX {
            self.rank = rank;
            let (pivot, largest) = self.largest_rest::<T>();
            if largest <= NOTHING {
                return true;
            }
            if rank == RANK_MAX {
                break;
            }
            self.add_column::<T>(W, n, pivot, largest);
        }
        false
    }

    /// The largest rest, and where it is: which contact, which axis.
    #[inline(always)]
    fn largest_rest<T: SimdReal>(&self) -> ((usize, usize), f64) {
        let mut most = T::splat(0.0);
        for rest in &self.rest {
            most = T::from_lanes(|k| rest[k]).larger(most);
        }
        let [a, b, c, _] = four_lanes(most);
        let largest = c.larger(b.larger(a));
        for (i, rest) in self.rest.iter().enumerate() {
            if let Some(k) = rest[..3].iter().position(|left| *left == largest) {
                return ((i, k), largest);
            }
        }
        ((0, 0), 0.0)
    }

    #[inline(always)]
    fn add_column<T: SimdReal>(
        &mut self,
        W: &[Mat3],
        n: usize,
        (at, axis): (usize, usize),
        largest: f64,
    ) {
        let (rank, per_root) = (self.rank, T::splat(1.0 / largest.sqrt()));
        let (of_pivot, of_scale) = (self.rows[at][axis], self.scales[at]);
        let Self { rows, columns, scales, rest, .. } = self;
        let contacts = rows.iter_mut().zip(columns).zip(rest).zip(scales);
        for ((((rows, columns), rest), scale), W) in contacts.zip(&W[at * n..][..n]) {
            let responses = row(W, axis) * (*scale * of_scale);
            let responses = [responses.x, responses.y, responses.z, 0.0];
            let mut sum = T::from_lanes(|k| responses[k]);
            for (column, factor) in columns[..rank].iter().zip(&of_pivot.0) {
                sum -= T::from_lanes(|k| column[k]) * T::splat(*factor);
            }
            let entries = sum * per_root;
            let left = T::from_lanes(|k| rest[k]) - entries * entries;
            *rest = four_lanes(left);
            let four = four_lanes(entries);
            columns[rank] = four;
            for k in 0..3 {
                rows[k].0[rank] = four[k];
            }
        }
        self.rest[at][axis] = 0.0;
    }
}

/// A row of `W`, which is also a column, as it is symmetric.
#[inline(always)]
const fn row(m: &Mat3, axis: usize) -> Vec3 {
    match axis {
        0 => m.x,
        1 => m.y,
        _ => m.z,
    }
}
