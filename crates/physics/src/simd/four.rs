//! Work in four lanes, of whatever kind the machine has.

#[cfg(target_arch = "x86_64")]
use super::{Avx2x4, Work, has_avx2, with_avx2};
use super::{F64x4, SimdReal};

/// A piece of work for [`in_four_lanes`]. Functions that it calls must be `#[inline(always)]`.
pub(crate) trait FourLaneWork {
    /// What comes out of it.
    type Output;

    /// Does it in the lanes of `T`, which has four.
    fn run<T: SimdReal>(self) -> Self::Output;
}

/// Does `work` with AVX2 where the machine has that, unless told to be `portable`. No bit depends
/// on it.
pub(crate) fn in_four_lanes<W: FourLaneWork>(portable: bool, work: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    if has_avx2() && !portable {
        return with_avx2(OnAvx2(work));
    }
    let _ = portable;
    work.run::<F64x4>()
}

#[cfg(target_arch = "x86_64")]
struct OnAvx2<W>(W);

#[cfg(target_arch = "x86_64")]
impl<W: FourLaneWork> Work for OnAvx2<W> {
    type Output = W::Output;

    #[inline(always)]
    fn run(self) -> W::Output {
        self.0.run::<Avx2x4>()
    }
}

/// All four lanes.
#[inline(always)]
pub(crate) fn four_lanes<T: SimdReal>(x: T) -> [f64; 4] {
    [x.lane(0), x.lane(1), x.lane(2), x.lane(3)]
}
