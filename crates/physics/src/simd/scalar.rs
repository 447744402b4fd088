//! One lane.

use super::SimdReal;

impl SimdReal for f64 {
    type Mask = bool;

    const COUNT: usize = 1;

    #[inline(always)]
    fn splat(x: f64) -> Self {
        x
    }

    #[inline(always)]
    fn from_lanes(mut f: impl FnMut(usize) -> f64) -> Self {
        f(0)
    }

    #[inline(always)]
    fn lane(self, i: usize) -> f64 {
        assert!(i == 0, "a single number has no lane {i}");
        self
    }

    #[inline(always)]
    fn reordered(self, _: [usize; 4]) -> Self {
        self
    }

    #[inline(always)]
    fn by_lane(four: [Self; 4]) -> [[f64; 4]; 4] {
        [four; 4]
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        self.sqrt()
    }

    #[inline(always)]
    fn abs(self) -> Self {
        self.abs()
    }

    #[inline(always)]
    fn flipped_by(self, o: Self) -> Self {
        f64::from_bits(self.to_bits() ^ (o.to_bits() & (-0.0_f64).to_bits()))
    }

    #[inline(always)]
    fn above(self, o: Self) -> bool {
        self > o
    }

    #[inline(always)]
    fn select(mask: bool, yes: Self, no: Self) -> Self {
        if mask { yes } else { no }
    }

    #[inline(always)]
    fn any(mask: bool) -> bool {
        mask
    }

    #[inline(always)]
    fn two_to_the(self) -> Self {
        f64::from_bits(exponent_bits(self))
    }
}

/// Adding this to a whole number puts it into the low bits of the mantissa.
pub(super) const WHOLE: f64 = 6_755_399_441_055_744.0; // 1.5 · 2⁵²

/// Bits of `2^k`.
#[inline(always)]
pub(super) fn exponent_bits(k: f64) -> u64 {
    (k + WHOLE).to_bits().wrapping_add(1023) << 52
}
