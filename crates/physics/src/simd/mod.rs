//! Several numbers side by side: one program, the same bits in every lane.
//!
//! What is written for any [`SimdReal`] computes in each lane what it computes for a single `f64`:
//! all operations here are exactly rounded or choose between their operands, and none computes
//! across lanes.
//! So two limbs, four limbs, SSE2, AVX2 and NEON give the same bits as one limb after another.
//!
//! ```
//! use hardstand_physics::simd::{F64x4, SimdReal};
//!
//! fn hypotenuse<T: SimdReal>(a: T, b: T) -> T {
//!     (a * a + b * b).sqrt()
//! }
//! let four = hypotenuse(F64x4::from_lanes(|i| i as f64), F64x4::splat(1.0));
//! assert_eq!(four.lane(3), hypotenuse(3.0, 1.0));
//! ```

#[cfg(target_arch = "x86_64")]
mod avx2;
mod four;
mod portable;
mod scalar;

use std::fmt::Debug;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

#[cfg(target_arch = "x86_64")]
pub(crate) use avx2::{Avx2x4, has_avx2, with_avx2};
pub(crate) use four::{FourLaneWork, four_lanes, in_four_lanes};

/// Two lanes: one SSE2 or NEON register.
pub type F64x2 = wide::f64x2;
/// Four lanes on any machine: one register, or two of half the size.
pub type F64x4 = wide::f64x4;

/// A piece of work for [`SimdReal::run`].
///
/// Not a closure: those cannot be told to be inlined always, and what is not inlined into code for
/// AVX2 calls a function for each addition.
pub trait Work {
    /// What comes out of it.
    type Output;

    /// Does it. Must be `#[inline(always)]`, and so must all it calls that computes in lanes.
    fn run(self) -> Self::Output;
}

/// What `f` says of each lane; lanes that `T` does not have repeat the first.
#[inline(always)]
pub(crate) fn by_lanes<T: SimdReal, U>(f: impl Fn(usize) -> U) -> [U; 4] {
    let at = |i: usize| f(if i < T::COUNT { i } else { 0 });
    [at(0), at(1), at(2), at(3)]
}

/// `COUNT` numbers of type `f64` side by side. Comparisons are false for NaN.
pub trait SimdReal:
    Copy
    + Debug
    + Default
    + PartialEq
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + 'static
{
    /// One truth value per lane.
    type Mask: Copy;

    /// Number of lanes.
    const COUNT: usize;

    /// The same number in every lane.
    #[must_use]
    fn splat(x: f64) -> Self;

    /// Lane `i` is `f(i)`.
    #[must_use]
    fn from_lanes(f: impl FnMut(usize) -> f64) -> Self;

    /// The number in lane `i`.
    ///
    /// # Panics
    /// If there is no lane `i`.
    #[must_use]
    fn lane(self, i: usize) -> f64;

    /// Lane `i` is lane `order[i]` of this; lanes that there are not, count from the first again.
    #[must_use]
    fn reordered(self, order: [usize; 4]) -> Self;

    /// Four numbers of each lane side by side: `[i][k]` is lane `i` of `four[k]`. What lies beyond
    /// [`COUNT`](Self::COUNT) means nothing.
    #[must_use]
    fn by_lane(four: [Self; 4]) -> [[f64; 4]; 4];

    /// Square root, exactly rounded.
    #[must_use]
    fn sqrt(self) -> Self;

    /// Amount.
    #[must_use]
    fn abs(self) -> Self;

    /// `−self` where the sign bit of `o` is set, else `self`.
    #[must_use]
    fn flipped_by(self, o: Self) -> Self;

    /// `self > o`, lane by lane.
    #[must_use]
    fn above(self, o: Self) -> Self::Mask;

    /// In each lane `yes` if the mask is set, else `no`.
    #[must_use]
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;

    /// True if any lane's mask is set.
    #[must_use]
    fn any(mask: Self::Mask) -> bool;

    /// `2^self` for whole numbers from −1022 to 1023; anything else gives some number.
    #[must_use]
    fn two_to_the(self) -> Self;

    /// Does `work`, compiled for the instructions that this type needs. Vectors are slow outside.
    #[inline(never)]
    fn run<W: Work>(work: W) -> W::Output {
        work.run()
    }

    /// The nearest whole number, the even one of two equally near; for amounts up to 2⁵¹.
    #[inline(always)]
    #[must_use]
    fn nearest_whole(self) -> Self {
        let shift = Self::splat(scalar::WHOLE);
        (self + shift) - shift
    }

    /// `self` if it is larger, else `o`. Not `f64::max`, which leaves the sign of zero open.
    #[inline(always)]
    #[must_use]
    fn larger(self, o: Self) -> Self {
        Self::select(self.above(o), self, o)
    }

    /// `self` if it is smaller, else `o`.
    #[inline(always)]
    #[must_use]
    fn smaller(self, o: Self) -> Self {
        Self::select(o.above(self), self, o)
    }
}
