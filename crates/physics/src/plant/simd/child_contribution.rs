//! What bodies of the trunk feel from those that hang on them, four numbers at a time.

use crate::simd::SimdReal;
use crate::spatial::simd::{ArticulatedInertia, Force, Mat3, Sym3, Vec3};

/// What a body feels by itself and from its children, in its frame.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ChildContribution<T> {
    pub(super) I_A: ArticulatedInertia<T>,
    pub(super) p_A: Force<T>,
}

impl<T: SimdReal> ChildContribution<T> {
    /// The lanes in another order: see [`SimdReal::reordered`].
    #[inline(always)]
    pub(super) fn reordered(&self, order: [usize; 4]) -> Self {
        let mut fours = by_fours(self);
        for number in fours.as_flattened_mut() {
            *number = number.reordered(order);
        }
        from_fours(&fours)
    }

    /// Adds `o` in the lanes that the mask sets. The others keep their bits, also of -0.
    #[inline(always)]
    pub(super) fn add_where(&mut self, mask: T::Mask, o: &Self) {
        let (mut sum, o) = (by_fours(self), by_fours(o));
        for k in 0..7 {
            for i in 0..4 {
                sum[k][i] = T::select(mask, sum[k][i] + o[k][i], sum[k][i]);
            }
        }
        *self = from_fours(&sum);
    }
}

/// The same: 27 numbers and a last one that means nothing.
pub(super) type Fours = [[f64; 4]; 7];

/// Leaves what is felt in each lane.
#[inline(always)]
pub(super) fn hand_over<T: SimdReal>(contribution: &ChildContribution<T>, lanes: &mut [Fours; 4]) {
    let fours = by_fours(contribution);
    for k in 0..7 {
        let of_lanes = T::by_lane(fours[k]);
        for lane in 0..4 {
            lanes[lane][k] = of_lanes[lane];
        }
    }
}

/// Adds number by number.
#[inline(always)]
pub(super) fn add(sum: &mut Fours, contribution: &Fours) {
    for k in 0..7 {
        for i in 0..4 {
            sum[k][i] += contribution[k][i];
        }
    }
}

#[inline(always)]
pub(super) fn by_fours<T: SimdReal>(
    ChildContribution { I_A, p_A }: &ChildContribution<T>,
) -> [[T; 4]; 7] {
    let ArticulatedInertia { I, H, M } = I_A;
    [
        [I.xx, I.xy, I.xz, I.yy],
        [I.yz, I.zz, H.x.x, H.x.y],
        [H.x.z, H.y.x, H.y.y, H.y.z],
        [H.z.x, H.z.y, H.z.z, M.xx],
        [M.xy, M.xz, M.yy, M.yz],
        [M.zz, p_A.ang.x, p_A.ang.y, p_A.ang.z],
        [p_A.lin.x, p_A.lin.y, p_A.lin.z, T::splat(0.0)],
    ]
}

#[inline(always)]
pub(super) fn from_fours<T: SimdReal>(fours: &[[T; 4]; 7]) -> ChildContribution<T> {
    let [a, b, c, d, e, f, g] = fours;
    let I = Sym3 { xx: a[0], xy: a[1], xz: a[2], yy: a[3], yz: b[0], zz: b[1] };
    let H = Mat3::from_rows(
        Vec3::new(b[2], b[3], c[0]),
        Vec3::new(c[1], c[2], c[3]),
        Vec3::new(d[0], d[1], d[2]),
    );
    let M = Sym3 { xx: d[3], xy: e[0], xz: e[1], yy: e[2], yz: e[3], zz: f[0] };
    let (ang, lin) = (Vec3::new(f[1], f[2], f[3]), Vec3::new(g[0], g[1], g[2]));
    ChildContribution { I_A: ArticulatedInertia { I, H, M }, p_A: Force::new(ang, lin) }
}
