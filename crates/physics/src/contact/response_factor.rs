//! The responses of contacts as `W = L Lᵀ` with few columns.
//!
//! Contacts of one body move only as it does: `W` of however many has a rank of six for each body
//! that they are on. Cholesky with diagonal pivoting finds the rank and `L` (Higham, *Analysis of
//! the Cholesky decomposition of a semi-definite matrix*, 1990), and with both what all contacts
//! need together costs as much as so many numbers, not as three for each contact.
//! [`LeastSquares`](crate::dynamics::LeastSquares) finds such an `L`, too, but works on all of the
//! square; here a row of `W` is read when it is needed, and there are as many as the rank.
//!
//! Velocities and impulses here are scaled, so that the mean response of each contact to itself
//! is 1.

use crate::simd::{SimdReal, four_lanes};
use crate::spatial::{Mat3, Vec3};

use super::row::{COMPLIANCE, RANK_MAX, Row, Square, is_short};

/// Rest of a diagonal that counts as nothing.
const NOTHING: f64 = 1e-12;

/// Solutions with the factors of the same equations: each takes away what compliance has left of
/// the last.
pub(super) const ROUNDS: usize = 2;

/// `L` of the contacts of a step.
#[derive(Clone, Debug, Default)]
pub(super) struct ResponseFactor {
    rank: usize,
    /// Three of `L` for each contact, then those that equations add.
    rows: Vec<[Row; 3]>,
    /// The same of each contact by columns; a fourth number that means nothing fills a register.
    columns: Vec<[[f64; 4]; RANK_MAX]>,
    /// Of each contact: its velocities are multiplied by it, its impulses divided.
    scales: Vec<f64>,
    /// What is left of the diagonal, with a zero for each contact.
    rest: Vec<[f64; 4]>,
    of: Option<bool>,
    /// The row and the column of each equation, among `rows`.
    equations: Vec<[usize; 2]>,
    square: Box<Square>,
}

impl ResponseFactor {
    /// Room for `contacts`.
    #[must_use]
    pub(super) fn with_room(contacts: usize) -> Self {
        Self {
            rows: Vec::with_capacity(2 * contacts),
            columns: Vec::with_capacity(contacts),
            scales: Vec::with_capacity(contacts),
            rest: Vec::with_capacity(contacts),
            equations: Vec::with_capacity(3 * contacts),
            ..Self::default()
        }
    }

    /// Forgets the responses of the step before.
    pub(super) const fn forget(&mut self) {
        self.of = None;
    }

    /// Factorises `W`, unless that was done already; false if the rank is too large, or a point
    /// cannot move.
    #[inline(always)]
    pub(super) fn know<T: SimdReal>(&mut self, W: &[Mat3], contacts: usize) -> bool {
        if let Some(known) = self.of {
            return known;
        }
        let known = self.factorise::<T>(W, contacts);
        self.of = Some(known);
        known
    }

    #[inline(always)]
    fn factorise<T: SimdReal>(&mut self, W: &[Mat3], n: usize) -> bool {
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
            for k in 0..3 {
                if rest[k] == largest {
                    return ((i, k), largest);
                }
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

    /// This, if [`know`](Self::know) was asked since [`forget`](Self::forget) and said yes.
    #[inline(always)]
    pub(super) fn known(&self) -> Option<&Self> {
        (self.of == Some(true)).then_some(self)
    }

    #[inline(always)]
    pub(super) fn scale(&self, contact: usize) -> f64 {
        self.scales[contact]
    }

    /// Adds an impulse of a contact to a sum.
    #[inline(always)]
    pub(super) fn add<T: SimdReal>(&self, sum: &mut Row, contact: usize, impulse: &Vec3) {
        let factors = [impulse.x, impulse.y, impulse.z];
        sum.add::<T>(&self.rows[contact], factors, is_short(self.rank));
    }

    /// Velocity of a contact for a sum of impulses.
    #[inline(always)]
    pub(super) fn velocity<T: SimdReal>(&self, contact: usize, sum: &Row) -> Vec3 {
        let [x, y, z] = &self.rows[contact];
        let short = is_short(self.rank);
        Vec3::new(x.dot::<T>(sum, short), y.dot::<T>(sum, short), z.dot::<T>(sum, short))
    }

    /// Begins equations `(ε + P Q) x = b` in as many unknowns as will be added.
    #[inline(always)]
    pub(super) fn clear_equations(&mut self) {
        self.equations.clear();
        self.rows.truncate(self.scales.len());
    }

    /// Adds the equation of one direction of a contact.
    #[inline(always)]
    pub(super) fn add_direction(&mut self, contact: usize, k: usize) {
        self.equations.push([3 * contact + k; 2]);
    }

    /// Adds the equation of a contact in one `direction`.
    #[inline(always)]
    pub(super) fn add_along<T: SimdReal>(&mut self, contact: usize, direction: &Vec3) {
        let column = self.add_row::<T>(contact, direction);
        self.equations.push([column; 2]);
    }

    /// Adds the equation of the normal of a contact whose impulse may change in `direction`.
    #[inline(always)]
    pub(super) fn add_sliding<T: SimdReal>(&mut self, contact: usize, direction: &Vec3) {
        let column = self.add_row::<T>(contact, direction);
        self.equations.push([3 * contact + 2, column]);
    }

    #[inline(always)]
    fn add_row<T: SimdReal>(&mut self, contact: usize, direction: &Vec3) -> usize {
        let mut row = Row::NOTHING;
        self.add::<T>(&mut row, contact, direction);
        self.rows.push([row, Row::NOTHING, Row::NOTHING]);
        3 * (self.rows.len() - 1)
    }

    /// Factorises the equations; false if they have no unique solution.
    #[inline(always)]
    pub(super) fn close_equations<T: SimdReal>(&mut self) -> bool {
        let rows = self.rows.as_flattened();
        self.square.close::<T>(self.rank, rows, &self.equations)
    }

    /// The common part `y` of the solution for the sum `Q b`: `x = (b − row · y) / ε` for each
    /// unknown (Woodbury's formula).
    #[inline(always)]
    pub(super) fn common(&self, sum: &Row) -> Row {
        self.square.solve(sum)
    }

    /// The unknowns of a contact for the right sides `b` of its equations.
    #[inline(always)]
    pub(super) fn unknowns<T: SimdReal>(&self, contact: usize, b: &Vec3, common: &Row) -> Vec3 {
        (b - self.velocity::<T>(contact, common)) * (1.0 / COMPLIANCE)
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
