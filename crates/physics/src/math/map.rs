//! One program over a slice.

use crate::simd::{F64x4, SimdReal};

/// A program from one number to one number, written once for any number of lanes.
pub trait Program {
    /// What becomes of `x`. Should be `#[inline(always)]`: only then is it compiled for AVX2.
    fn run<T: SimdReal>(&self, x: T) -> T;
}

#[cfg(target_arch = "x86_64")]
struct InAvx2<'a, P>(&'a P, &'a mut [f64]);

#[cfg(target_arch = "x86_64")]
impl<P: Program> crate::simd::Work for InAvx2<'_, P> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        in_lanes::<crate::simd::Avx2x4>(self.0, self.1);
    }
}

/// Replaces every number by what `program` makes of it: four side by side, in AVX registers if the
/// machine has AVX2. The bits are those of one number after another.
pub fn map_lanes(program: &impl Program, numbers: &mut [f64]) {
    #[cfg(target_arch = "x86_64")]
    if crate::simd::has_avx2() {
        return crate::simd::with_avx2(InAvx2(program, numbers));
    }
    in_lanes::<F64x4>(program, numbers);
}

#[inline(always)]
fn in_lanes<T: SimdReal>(program: &impl Program, numbers: &mut [f64]) {
    let mut groups = numbers.chunks_exact_mut(T::COUNT);
    for group in &mut groups {
        let out = program.run(T::from_lanes(|i| group[i]));
        for (i, x) in group.iter_mut().enumerate() {
            *x = out.lane(i);
        }
    }
    for x in groups.into_remainder() {
        *x = program.run(*x);
    }
}
