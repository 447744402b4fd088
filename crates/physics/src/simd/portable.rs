//! Two and four lanes on any machine, by the crate `wide`.

use super::SimdReal;
use super::scalar::exponent_bits;
use wide::{f64x2, f64x4};

impl SimdReal for f64x2 {
    type Mask = f64x2;

    const COUNT: usize = 2;

    #[inline(always)]
    fn splat(x: f64) -> Self {
        Self::new([x; 2])
    }

    #[inline(always)]
    fn from_lanes(mut f: impl FnMut(usize) -> f64) -> Self {
        Self::new([f(0), f(1)])
    }

    #[inline(always)]
    fn lane(self, i: usize) -> f64 {
        self.to_array()[i]
    }

    #[inline(always)]
    fn reordered(self, [a, b, ..]: [usize; 4]) -> Self {
        let x = self.to_array();
        Self::new([x[a % 2], x[b % 2]])
    }

    #[inline(always)]
    fn by_lane(four: [Self; 4]) -> [[f64; 4]; 4] {
        let [a, b, c, d] = four.map(Self::to_array);
        let first = [a[0], b[0], c[0], d[0]];
        [first, [a[1], b[1], c[1], d[1]], first, first]
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
        self ^ (o & Self::splat(-0.0))
    }

    #[inline(always)]
    fn above(self, o: Self) -> Self {
        self.simd_gt(o)
    }

    #[inline(always)]
    fn select(mask: Self, yes: Self, no: Self) -> Self {
        mask.bitselect(yes, no)
    }

    #[inline(always)]
    fn any(mask: Self) -> bool {
        mask.any()
    }

    #[inline(always)]
    fn two_to_the(self) -> Self {
        Self::new(self.to_array().map(|k| f64::from_bits(exponent_bits(k))))
    }
}

impl SimdReal for f64x4 {
    type Mask = f64x4;

    const COUNT: usize = 4;

    #[inline(always)]
    fn splat(x: f64) -> Self {
        Self::new([x; 4])
    }

    #[inline(always)]
    fn from_lanes(mut f: impl FnMut(usize) -> f64) -> Self {
        Self::new([f(0), f(1), f(2), f(3)])
    }

    #[inline(always)]
    fn lane(self, i: usize) -> f64 {
        self.to_array()[i]
    }

    #[inline(always)]
    fn reordered(self, [a, b, c, d]: [usize; 4]) -> Self {
        let x = self.to_array();
        Self::new([x[a % 4], x[b % 4], x[c % 4], x[d % 4]])
    }

    #[inline(always)]
    fn by_lane(four: [Self; 4]) -> [[f64; 4]; 4] {
        Self::transpose(four).map(Self::to_array)
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
        self ^ (o & Self::splat(-0.0))
    }

    #[inline(always)]
    fn above(self, o: Self) -> Self {
        self.simd_gt(o)
    }

    #[inline(always)]
    fn select(mask: Self, yes: Self, no: Self) -> Self {
        mask.bitselect(yes, no)
    }

    #[inline(always)]
    fn any(mask: Self) -> bool {
        mask.any()
    }

    #[inline(always)]
    fn two_to_the(self) -> Self {
        Self::new(self.to_array().map(|k| f64::from_bits(exponent_bits(k))))
    }
}
