//! The responses of contacts as `W = L Lᵀ` with few columns.
//!
//! Contacts of one body move only as it does: `W` of however many has a rank of six for each body
//! that they are on. With the rank and `L`, what all contacts need together costs as much as so
//! many numbers, not as three for each contact.
//!
//! Velocities and impulses here are scaled, so that the mean response of each contact to itself
//! is 1.

use std::mem::swap;

use crate::simd::SimdReal;
use crate::spatial::{Mat3, Vec3};

use super::low_rank::LowRank;
use super::rigid::RigidContact;
use super::row::{COMPLIANCE, Row, Square, is_short};

/// Solutions with the factors of the same equations: each takes away what compliance has left of
/// the last.
pub(super) const ROUNDS: usize = 2;

/// A contact on one of few bodies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyPoint {
    /// Which of the bodies.
    pub body: usize,
    /// The point from B's origin, in B, m.
    pub p_B: Vec3,
    /// The contact's axes, as columns in B.
    pub R_BC: Mat3,
}

/// `L` of the contacts of a step.
#[derive(Clone, Debug, Default)]
pub(super) struct ResponseFactor {
    rank: usize,
    /// Three of `L` for each contact, then those that equations add.
    rows: Vec<[Row; 3]>,
    /// Of each contact: its velocities are multiplied by it, its impulses divided.
    scales: Vec<f64>,
    /// The factor as found, of contacts or of bodies.
    found: LowRank,
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
            scales: Vec::with_capacity(contacts),
            found: LowRank::with_room(contacts),
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
        let mut moves = true;
        for i in 0..contacts {
            moves &= W[i * contacts + i].trace() > 0.0;
        }
        let known = moves && self.found.factorise::<T>(W, contacts);
        if known {
            swap(&mut self.rows, &mut self.found.rows);
            swap(&mut self.scales, &mut self.found.scales);
            self.rank = self.found.rank;
        }
        self.of = Some(known);
        known
    }

    /// The same from the responses `B` of bodies, see
    /// [`solve_on_bodies`](super::solve_on_bodies()): also gives the contacts their blocks.
    #[inline(always)]
    pub(super) fn know_bodies<T: SimdReal>(
        &mut self,
        B: &[Mat3],
        points: &[BodyPoint],
        contacts: &mut [RigidContact],
    ) -> bool {
        self.of = None;
        let bodies = B.len().isqrt();
        if !self.found.factorise::<T>(B, bodies) {
            return false;
        }
        self.rank = self.found.rank;
        self.rows.clear();
        self.scales.clear();
        for (point, contact) in points.iter().zip(contacts) {
            let rows = self.rows_of::<T>(point);
            let own = self.products::<T>(&rows);
            let mean = own.trace() / 3.0;
            if mean.is_nan() || mean <= 0.0 {
                return false; // a point that the mechanism cannot move
            }
            contact.set_block(&own);
            let scale = 1.0 / mean.sqrt();
            self.scales.push(scale);
            self.rows.push(self.scaled::<T>(&rows, scale));
        }
        self.of = Some(true);
        true
    }

    /// How a point moves with its body: not scaled.
    #[inline(always)]
    fn rows_of<T: SimdReal>(&self, point: &BodyPoint) -> [Row; 3] {
        let LowRank { rows, scales, .. } = &self.found;
        let (turns, moves) = (2 * point.body, 2 * point.body + 1);
        let mut out = [Row::NOTHING; 3];
        for (c, row) in out.iter_mut().enumerate() {
            let lin = point.R_BC.column(c);
            let ang = point.p_B.cross(&lin);
            for (block, v) in [(turns, ang / scales[turns]), (moves, lin / scales[moves])] {
                row.add::<T>(&rows[block], [v.x, v.y, v.z], is_short(self.rank));
            }
        }
        out
    }

    #[inline(always)]
    fn products<T: SimdReal>(&self, rows: &[Row; 3]) -> Mat3 {
        let short = is_short(self.rank);
        let [x, y, z] = rows;
        let (xy, xz, yz) = (x.dot::<T>(y, short), x.dot::<T>(z, short), y.dot::<T>(z, short));
        let (xx, yy, zz) = (x.dot::<T>(x, short), y.dot::<T>(y, short), z.dot::<T>(z, short));
        Mat3::from_rows(Vec3::new(xx, xy, xz), Vec3::new(xy, yy, yz), Vec3::new(xz, yz, zz))
    }

    #[inline(always)]
    fn scaled<T: SimdReal>(&self, rows: &[Row; 3], scale: f64) -> [Row; 3] {
        let mut out = [Row::NOTHING; 3];
        for (k, row) in out.iter_mut().enumerate() {
            let mut factors = [0.0; 3];
            factors[k] = scale;
            row.add::<T>(rows, factors, is_short(self.rank));
        }
        out
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
