//! What an exponential spring remembers from step to step, and how it is committed.
//!
//! All forces of a step come from the memory committed before it; each evaluation only proposes the
//! next one ([`SpringForce::next_anchor_P`], [`SpringForce::next_sliding`]). The proposal is
//! committed once per step. A checkpoint holds the committed memory.

use crate::simd::SimdReal;
use crate::spatial::{self, simd::Vec3};

use super::spring_force::SpringForce;

/// Less rolling than this leaves marker and anchor where they are, to the last bit.
const ROLLED_MIN_M: f64 = 1e-9;

/// What the friction spring remembers, one contact per lane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FrictionMemory<T> {
    /// Anchor `p₀`: zero of the friction spring, x and y in P, m.
    pub(crate) anchor_P: [T; 2],
    /// Sliding `K`: 0 sticks, 1 slides.
    pub(crate) sliding: T,
}

impl<T: SimdReal> FrictionMemory<T> {
    /// What `force` proposes.
    #[inline(always)]
    fn proposed(force: &SpringForce<T>) -> Self {
        Self { anchor_P: force.next_anchor_P, sliding: force.next_sliding }
    }
}

/// The memory of a spring between a station of a body and a surface, one contact per lane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RollingMemory<T> {
    pub(crate) friction: FrictionMemory<T>,
    /// Point of body B that touched at the last commit, in B, m. A round station rolls on: the
    /// spring is stretched by the slip of this point, not by the way of the touching point.
    pub(crate) marker_B: Vec3<T>,
}

impl<T: SimdReal> RollingMemory<T> {
    /// What `force` proposes for a point, which does not roll.
    #[inline(always)]
    pub(crate) fn fixed(marker_B: Vec3<T>, force: &SpringForce<T>) -> Self {
        Self { friction: FrictionMemory::proposed(force), marker_B }
    }

    /// What `force` proposes for a round station that touches at `p_P` in the frame of the contact
    /// and at `point_B` of its body, m. Where it has rolled, the stretch passes from the old
    /// touching point of the body, the marker, to the new one.
    #[inline(always)]
    pub(crate) fn rolled(
        marker_B: Vec3<T>,
        force: &SpringForce<T>,
        p_P: &Vec3<T>,
        point_B: &Vec3<T>,
    ) -> Self {
        let FrictionMemory { anchor_P: [x, y], sliding } = FrictionMemory::proposed(force);
        let way_B = *point_B - marker_B;
        let rolled = way_B.dot(&way_B).above(T::splat(ROLLED_MIN_M * ROLLED_MIN_M));
        let [stretched_x, stretched_y, _] = force.p_P;
        let anchor_P = [
            T::select(rolled, x + (p_P.x - stretched_x), x),
            T::select(rolled, y + (p_P.y - stretched_y), y),
        ];
        let marker_B = Vec3::new(
            T::select(rolled, point_B.x, marker_B.x),
            T::select(rolled, point_B.y, marker_B.y),
            T::select(rolled, point_B.z, marker_B.z),
        );
        Self { friction: FrictionMemory { anchor_P, sliding }, marker_B }
    }
}

/// Where the end of the friction spring of a round station is, in the frame of the contact, m: the
/// touching point `p_P`, moved in the plane by the slip of the marker.
#[inline(always)]
pub(crate) fn stretched<T: SimdReal>(p_P: &Vec3<T>, slip_P: &Vec3<T>) -> Vec3<T> {
    Vec3::new(p_P.x + slip_P.x, p_P.y + slip_P.y, p_P.z)
}

/// What one spring on a plane remembers from one step to the next.
/// [`ExponentialSpring::new_memory`](super::ExponentialSpring::new_memory) makes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Memory {
    /// Anchor `p₀`: zero of the friction spring, x and y in P, m.
    pub anchor_P: [f64; 2],
    /// Sliding `K`: 0 sticks, 1 slides.
    pub sliding: f64,
    /// Simulated time of the last commit, ns; `None` before the first.
    pub committed_ns: Option<u64>,
}

impl Memory {
    /// Puts the anchor under the station at `p_P`; `sliding` stays as it is.
    pub fn reset_anchor(&mut self, p_P: &spatial::Vec3, now_ns: u64) {
        self.anchor_P = [p_P.x, p_P.y];
        self.committed_ns = Some(now_ns);
    }

    /// Seconds from the last commit to `now_ns`; NaN before the first commit.
    #[must_use]
    pub fn age_s(&self, now_ns: u64) -> f64 {
        match self.committed_ns {
            Some(t) => now_ns.wrapping_sub(t) as f64 / 1e9,
            None => f64::NAN,
        }
    }

    /// Takes over what `force` proposes.
    pub fn commit(&mut self, force: &SpringForce, now_ns: u64) {
        let FrictionMemory { anchor_P, sliding } = FrictionMemory::proposed(force);
        *self = Self { anchor_P, sliding, committed_ns: Some(now_ns) };
    }
}
