//! The responses of contacts as `W = L Lᵀ` with few columns.
//!
//! Contacts of one body move only as it does: `W` of however many has a rank of six for each body
//! that they are on. Cholesky with diagonal pivoting finds the rank and `L` (Higham, *Analysis of
//! the Cholesky decomposition of a semi-definite matrix*, 1990), and with both what all contacts
//! need together costs as much as so many numbers, not as three for each contact.
//! [`LeastSquares`](crate::dynamics::LeastSquares) finds such an `L`, too, but works on all of the
//! square; here a column of `W` is read when it is needed, and there are as many as the rank.
//!
//! Velocities and impulses here are scaled, so that the mean response of each contact to itself
//! is 1.

use crate::simd::F64x4;
use crate::spatial::{Mat3, Vec3};

/// Largest rank: four bodies.
const RANK_MAX: usize = 24;
/// Rest of a diagonal that counts as nothing.
const NOTHING: f64 = 1e-12;
/// What keeps equations regular: contacts of one body can share its load in more than one way. The
/// one nearest to the guess is taken.
const COMPLIANCE: f64 = 1e-9;

/// Solutions with the factors of the same equations: each takes away what compliance has left of
/// the last.
pub(super) const ROUNDS: usize = 2;

/// A row of `L`, or a sum of rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row([f64; RANK_MAX]);

impl Row {
    pub(super) const NOTHING: Self = Self([0.0; RANK_MAX]);

    #[inline(always)]
    fn quad(&self, q: usize) -> F64x4 {
        let at = 4 * q;
        F64x4::new([self.0[at], self.0[at + 1], self.0[at + 2], self.0[at + 3]])
    }

    /// The scalar product of the first `quads` times four numbers: four sums side by side.
    #[inline(always)]
    fn dot(&self, o: &Self, quads: usize) -> f64 {
        let mut sums = F64x4::splat(0.0);
        for q in 0..quads {
            sums += self.quad(q) * o.quad(q);
        }
        let [a, b, c, d] = sums.to_array();
        (a + b) + (c + d)
    }

    #[inline(always)]
    fn add(&mut self, o: &Self, factor: f64, quads: usize) {
        let factor = F64x4::splat(factor);
        for q in 0..quads {
            let four = self.quad(q) + o.quad(q) * factor;
            self.0[4 * q..4 * q + 4].copy_from_slice(&four.to_array());
        }
    }
}

/// `L` of the contacts of a step.
#[derive(Clone, Debug, Default)]
pub(super) struct ResponseFactor {
    rank: usize,
    /// Fours that contain it; what is beyond the rank is zero.
    quads: usize,
    /// Three for each contact.
    rows: Vec<Row>,
    /// Of each contact: its velocities are multiplied by it, its impulses divided.
    scales: Vec<f64>,
    /// What is left of the diagonal.
    rest: Vec<f64>,
    of: Option<bool>,
    square: Box<Square>,
}

/// `ε + Q P`, of the columns and rows of some equations.
#[derive(Clone, Debug)]
struct Square {
    matrix: [Row; RANK_MAX],
    order: [usize; RANK_MAX],
}

impl Default for Square {
    fn default() -> Self {
        Self { matrix: [Row::NOTHING; RANK_MAX], order: [0; RANK_MAX] }
    }
}

impl Square {
    /// Adds an equation: its row of `P`, and the column of `Q` of its unknown.
    fn add(&mut self, row: &Row, column: &Row, (rank, quads): (usize, usize)) {
        for (of, factor) in self.matrix[..rank].iter_mut().zip(&column.0) {
            of.add(row, *factor, quads);
        }
    }

    /// `L U` in place with the rows in `order`, with ones on the diagonal of `L`; false if a pivot
    /// vanishes.
    fn factorise(&mut self, size: usize) -> bool {
        let Self { matrix, order } = self;
        (0..size).for_each(|k| order[k] = k);
        for k in 0..size {
            let mut best = k;
            for i in k + 1..size {
                best = if matrix[i].0[k].abs() > matrix[best].0[k].abs() { i } else { best };
            }
            matrix.swap(k, best);
            order.swap(k, best);
            let (above, below) = matrix.split_at_mut(k + 1);
            let pivot_row = &above[k].0;
            if pivot_row[k].is_nan() || pivot_row[k] == 0.0 {
                return false;
            }
            let per_pivot = 1.0 / pivot_row[k];
            for Row(row) in &mut below[..size - k - 1] {
                let factor = row[k] * per_pivot;
                row[k] = factor;
                for (x, u) in row[k + 1..size].iter_mut().zip(&pivot_row[k + 1..size]) {
                    *x -= factor * u;
                }
            }
        }
        true
    }

    /// Solves with the factors.
    fn solve(&self, b: &Row, size: usize) -> Row {
        let Self { matrix, order } = self;
        let mut x = [0.0; RANK_MAX];
        for i in 0..size {
            let mut sum = b.0[order[i]];
            for (l, x) in matrix[i].0[..i].iter().zip(&x) {
                sum -= l * x;
            }
            x[i] = sum;
        }
        for i in (0..size).rev() {
            let mut sum = x[i];
            for (u, x) in matrix[i].0[i + 1..size].iter().zip(&x[i + 1..size]) {
                sum -= u * x;
            }
            x[i] = sum / matrix[i].0[i];
        }
        Row(x)
    }
}

impl ResponseFactor {
    /// Room for `contacts`.
    #[must_use]
    pub(super) fn with_room(contacts: usize) -> Self {
        Self {
            rows: Vec::with_capacity(3 * contacts),
            scales: Vec::with_capacity(contacts),
            rest: Vec::with_capacity(3 * contacts),
            ..Self::default()
        }
    }

    /// Forgets the responses of the step before.
    pub(super) const fn forget(&mut self) {
        self.of = None;
    }

    /// Factorises `W`, unless that was done already; false if the rank is too large, or a point
    /// cannot move.
    pub(super) fn know(&mut self, W: &[Mat3], contacts: usize) -> bool {
        if let Some(known) = self.of {
            return known;
        }
        let known = self.factorise(W, contacts);
        self.of = Some(known);
        known
    }

    fn factorise(&mut self, W: &[Mat3], n: usize) -> bool {
        self.scales.clear();
        self.rows.clear();
        self.rest.clear();
        for i in 0..n {
            let own = &W[i * n + i];
            let mean = own.trace() / 3.0;
            if mean.is_nan() || mean <= 0.0 {
                return false; // a point that the mechanism cannot move
            }
            let scale = 1.0 / mean.sqrt();
            self.scales.push(scale);
            self.rest.extend((0..3).map(|k| own[(k, k)] * scale * scale));
        }
        self.rows.resize(3 * n, Row::NOTHING);
        for rank in 0..=RANK_MAX {
            self.rank = rank;
            let mut pivot = 0;
            for i in 1..3 * n {
                pivot = if self.rest[i] > self.rest[pivot] { i } else { pivot };
            }
            let largest = self.rest[pivot];
            if largest.is_nan() || largest <= NOTHING {
                self.quads = rank.div_ceil(4);
                return true;
            }
            if rank == RANK_MAX {
                break;
            }
            self.add_column(W, n, pivot);
        }
        false
    }

    fn add_column(&mut self, W: &[Mat3], n: usize, pivot: usize) {
        let (rank, at) = (self.rank, pivot / 3);
        let per_root = 1.0 / self.rest[pivot].sqrt();
        let of_pivot = self.rows[pivot];
        for i in 0..n {
            let column = W[i * n + at].column(pivot % 3) * (self.scales[i] * self.scales[at]);
            for k in 0..3 {
                let row = &mut self.rows[3 * i + k];
                let entry = (column[k] - row.dot(&of_pivot, rank.div_ceil(4))) * per_root;
                row.0[rank] = entry;
                self.rest[3 * i + k] -= entry * entry;
            }
        }
        self.rest[pivot] = 0.0;
    }

    /// This, if [`know`](Self::know) was asked since [`forget`](Self::forget) and said yes.
    pub(super) fn known(&self) -> Option<&Self> {
        (self.of == Some(true)).then_some(self)
    }

    pub(super) fn scale(&self, contact: usize) -> f64 {
        self.scales[contact]
    }

    /// Row `k` of a contact: how its velocity along axis `k` follows from all impulses.
    fn row(&self, contact: usize, k: usize) -> &Row {
        &self.rows[3 * contact + k]
    }

    /// Adds an impulse of a contact to a sum.
    pub(super) fn add(&self, sum: &mut Row, contact: usize, impulse: &Vec3) {
        for k in 0..3 {
            sum.add(self.row(contact, k), impulse[k], self.quads);
        }
    }

    /// Velocity of a contact for a sum of impulses.
    pub(super) fn velocity(&self, contact: usize, sum: &Row) -> Vec3 {
        Vec3::from_fn(|k| self.row(contact, k).dot(sum, self.quads))
    }

    /// Begins equations `(ε + P Q) x = b` in as many unknowns as will be added.
    pub(super) fn clear_equations(&mut self) {
        for (k, row) in self.square.matrix[..self.rank].iter_mut().enumerate() {
            row.0[..4 * self.quads].fill(0.0);
            row.0[k] = COMPLIANCE;
        }
    }

    /// Adds the equation of one direction of a contact.
    pub(super) fn add_direction(&mut self, contact: usize, k: usize) {
        let row = &self.rows[3 * contact + k];
        self.square.add(row, row, (self.rank, self.quads));
    }

    /// Adds the equation of a contact in one `direction`.
    pub(super) fn add_along(&mut self, contact: usize, direction: &Vec3) {
        let mut column = Row::NOTHING;
        self.add(&mut column, contact, direction);
        self.square.add(&column, &column, (self.rank, self.quads));
    }

    /// Adds the equation of the normal of a contact whose impulse may change in `direction`.
    pub(super) fn add_sliding(&mut self, contact: usize, direction: &Vec3) {
        let mut column = Row::NOTHING;
        self.add(&mut column, contact, direction);
        self.square.add(&self.rows[3 * contact + 2], &column, (self.rank, self.quads));
    }

    /// Factorises the equations; false if they have no unique solution.
    pub(super) fn close_equations(&mut self) -> bool {
        self.square.factorise(self.rank)
    }

    /// The common part `y` of the solution for the sum `Q b`: `x = (b − row · y) / ε` for each
    /// unknown (Woodbury's formula).
    pub(super) fn common(&self, sum: &Row) -> Row {
        self.square.solve(sum, self.rank)
    }

    /// The unknowns of a contact for the right sides `b` of its equations.
    pub(super) fn unknowns(&self, contact: usize, b: &Vec3, common: &Row) -> Vec3 {
        (b - self.velocity(contact, common)) * (1.0 / COMPLIANCE)
    }
}
