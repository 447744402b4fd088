//! Boxes along the axes of the world.

use crate::vector::{Vec3, larger, smaller};

/// A box along the axes, from `low` to `high`, m. It is empty if a `low` is above its `high`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Aabb {
    pub(crate) low: [f64; 3],
    pub(crate) high: [f64; 3],
}

impl Aabb {
    /// Overlaps nothing, and adds nothing to a union.
    pub(crate) const EMPTY: Self = Self { low: [f64::INFINITY; 3], high: [f64::NEG_INFINITY; 3] };

    /// About a centre; empty if a number is not finite.
    pub(crate) fn about(center: Vec3, half: Vec3) -> Self {
        let (low, high) = (center - half, center + half);
        if !(low.is_finite() && high.is_finite()) {
            return Self::EMPTY;
        }
        Self { low: low.to_array(), high: high.to_array() }
    }

    #[inline(always)]
    pub(crate) fn overlaps(&self, o: &Self) -> bool {
        // without branches: the answers are hard to predict
        (self.low[0] <= o.high[0])
            & (o.low[0] <= self.high[0])
            & (self.low[1] <= o.high[1])
            & (o.low[1] <= self.high[1])
            & (self.low[2] <= o.high[2])
            & (o.low[2] <= self.high[2])
    }

    pub(crate) fn union(&self, o: &Self) -> Self {
        let mut out = *self;
        for k in 0..3 {
            out.low[k] = smaller(self.low[k], o.low[k]);
            out.high[k] = larger(self.high[k], o.high[k]);
        }
        out
    }

    pub(crate) fn center(&self, axis: usize) -> f64 {
        0.5 * (self.low[axis] + self.high[axis])
    }
}
