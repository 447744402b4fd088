//! Four lanes in one AVX register, chosen at run time.
#![allow(unsafe_code, reason = "AVX instructions on machines that are found to have them")]

use std::arch::x86_64::{
    __m256d, _CMP_GT_OQ, _mm256_add_epi64, _mm256_add_pd, _mm256_and_pd, _mm256_andnot_pd,
    _mm256_blendv_pd, _mm256_castpd_ps, _mm256_castpd_si256, _mm256_castps_pd, _mm256_castsi256_pd,
    _mm256_cmp_pd, _mm256_div_pd, _mm256_loadu_pd, _mm256_movemask_pd, _mm256_mul_pd,
    _mm256_permute2f128_pd, _mm256_permutevar8x32_ps, _mm256_set1_epi64x, _mm256_set1_pd,
    _mm256_setr_epi32, _mm256_slli_epi64, _mm256_sqrt_pd, _mm256_storeu_pd, _mm256_sub_pd,
    _mm256_unpackhi_pd, _mm256_unpacklo_pd, _mm256_xor_pd,
};
use std::fmt;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

use super::scalar::WHOLE;
use super::{SimdReal, Work};

/// True if this machine has AVX2.
pub(crate) fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2")
}

/// Runs `work` compiled for AVX2.
///
/// # Panics
/// If the machine has no AVX2: see [`has_avx2`].
#[inline]
pub(crate) fn with_avx2<W: Work>(work: W) -> W::Output {
    assert!(has_avx2(), "this machine has no AVX2");
    // SAFETY: the machine has AVX2.
    unsafe { compiled_for_avx2(work) }
}

#[target_feature(enable = "avx2")]
fn compiled_for_avx2<W: Work>(work: W) -> W::Output {
    work.run()
}

/// Four numbers in one register. Values of it are only made after [`has_avx2`] has said yes: that
/// is what each `unsafe` below relies on. Arithmetic is fast only inside [`with_avx2`].
#[derive(Clone, Copy)]
pub(crate) struct Avx2x4(__m256d);

macro_rules! operator {
    ($operator:ident, $method:ident, $assign:ident, $assign_method:ident, $intrinsic:ident) => {
        impl $operator for Avx2x4 {
            type Output = Self;
            #[inline(always)]
            fn $method(self, o: Self) -> Self {
                // SAFETY: a value of this type exists, so the machine has AVX2.
                Self(unsafe { $intrinsic(self.0, o.0) })
            }
        }
        impl $assign for Avx2x4 {
            #[inline(always)]
            fn $assign_method(&mut self, o: Self) {
                *self = $operator::$method(*self, o);
            }
        }
    };
}
operator!(Add, add, AddAssign, add_assign, _mm256_add_pd);
operator!(Sub, sub, SubAssign, sub_assign, _mm256_sub_pd);
operator!(Mul, mul, MulAssign, mul_assign, _mm256_mul_pd);

impl Div for Avx2x4 {
    type Output = Self;
    #[inline(always)]
    fn div(self, o: Self) -> Self {
        // SAFETY: a value of this type exists, so the machine has AVX2.
        Self(unsafe { _mm256_div_pd(self.0, o.0) })
    }
}

impl Neg for Avx2x4 {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        // SAFETY: a value of this type exists, so the machine has AVX2.
        Self(unsafe { _mm256_xor_pd(self.0, _mm256_set1_pd(-0.0)) })
    }
}

impl Avx2x4 {
    #[inline(always)]
    fn to_array(self) -> [f64; 4] {
        let mut out = [0.0; 4];
        // SAFETY: a value of this type exists, so the machine has AVX2; `out` has four numbers.
        unsafe { _mm256_storeu_pd(out.as_mut_ptr(), self.0) };
        out
    }

    #[inline(always)]
    fn from_array(x: [f64; 4]) -> Self {
        // SAFETY: values are only made where there is AVX2; `x` has four numbers.
        Self(unsafe { _mm256_loadu_pd(x.as_ptr()) })
    }
}

impl Default for Avx2x4 {
    #[inline(always)]
    fn default() -> Self {
        Self::splat(0.0)
    }
}

impl PartialEq for Avx2x4 {
    fn eq(&self, o: &Self) -> bool {
        self.to_array() == o.to_array()
    }
}

impl fmt::Debug for Avx2x4 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_array().fmt(f)
    }
}

impl SimdReal for Avx2x4 {
    type Mask = __m256d;

    const COUNT: usize = 4;

    #[inline(always)]
    fn splat(x: f64) -> Self {
        // SAFETY: values are only made where there is AVX2.
        Self(unsafe { _mm256_set1_pd(x) })
    }

    #[inline(always)]
    fn from_lanes(mut f: impl FnMut(usize) -> f64) -> Self {
        Self::from_array([f(0), f(1), f(2), f(3)])
    }

    #[inline(always)]
    fn lane(self, i: usize) -> f64 {
        self.to_array()[i]
    }

    #[inline(always)]
    fn reordered(self, [a, b, c, d]: [usize; 4]) -> Self {
        let half = |i: usize, k: usize| (2 * (i % 4) + k) as i32;
        // SAFETY: a value of this type exists, so the machine has AVX2.
        Self(unsafe {
            let halves = _mm256_setr_epi32(
                half(a, 0),
                half(a, 1),
                half(b, 0),
                half(b, 1),
                half(c, 0),
                half(c, 1),
                half(d, 0),
                half(d, 1),
            );
            _mm256_castps_pd(_mm256_permutevar8x32_ps(_mm256_castpd_ps(self.0), halves))
        })
    }

    #[inline(always)]
    fn by_lane([a, b, c, d]: [Self; 4]) -> [[f64; 4]; 4] {
        // SAFETY: a value of this type exists, so the machine has AVX2.
        let rows = unsafe {
            let (ab_low, ab_high) = (_mm256_unpacklo_pd(a.0, b.0), _mm256_unpackhi_pd(a.0, b.0));
            let (cd_low, cd_high) = (_mm256_unpacklo_pd(c.0, d.0), _mm256_unpackhi_pd(c.0, d.0));
            [
                _mm256_permute2f128_pd::<0x20>(ab_low, cd_low),
                _mm256_permute2f128_pd::<0x20>(ab_high, cd_high),
                _mm256_permute2f128_pd::<0x31>(ab_low, cd_low),
                _mm256_permute2f128_pd::<0x31>(ab_high, cd_high),
            ]
        };
        [
            Self(rows[0]).to_array(),
            Self(rows[1]).to_array(),
            Self(rows[2]).to_array(),
            Self(rows[3]).to_array(),
        ]
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        // SAFETY: a value of this type exists, so the machine has AVX2.
        Self(unsafe { _mm256_sqrt_pd(self.0) })
    }

    #[inline(always)]
    fn abs(self) -> Self {
        // SAFETY: a value of this type exists, so the machine has AVX2.
        Self(unsafe { _mm256_andnot_pd(_mm256_set1_pd(-0.0), self.0) })
    }

    #[inline(always)]
    fn flipped_by(self, o: Self) -> Self {
        // SAFETY: a value of this type exists, so the machine has AVX2.
        Self(unsafe { _mm256_xor_pd(self.0, _mm256_and_pd(o.0, _mm256_set1_pd(-0.0))) })
    }

    #[inline(always)]
    fn above(self, o: Self) -> __m256d {
        // SAFETY: a value of this type exists, so the machine has AVX2.
        unsafe { _mm256_cmp_pd::<_CMP_GT_OQ>(self.0, o.0) }
    }

    #[inline(always)]
    fn select(mask: __m256d, yes: Self, no: Self) -> Self {
        // SAFETY: a value of this type exists, so the machine has AVX2.
        Self(unsafe { _mm256_blendv_pd(no.0, yes.0, mask) })
    }

    #[inline(always)]
    fn any(mask: __m256d) -> bool {
        // SAFETY: a mask comes from a value of this type, so the machine has AVX2.
        unsafe { _mm256_movemask_pd(mask) != 0 }
    }

    #[inline(never)]
    fn run<W: Work>(work: W) -> W::Output {
        with_avx2(work)
    }

    #[inline(always)]
    fn two_to_the(self) -> Self {
        let whole = (self + Self::splat(WHOLE)).0;
        // SAFETY: a value of this type exists, so the machine has AVX2.
        Self(unsafe {
            let biased = _mm256_add_epi64(_mm256_castpd_si256(whole), _mm256_set1_epi64x(1023));
            _mm256_castsi256_pd(_mm256_slli_epi64::<52>(biased))
        })
    }
}
