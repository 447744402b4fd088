//! Equal limbs, segment by segment.

use crate::dynamics::EqualLimbs;
use crate::math::Lanes;
use crate::model::Model;
use crate::spatial::lanes::{Motion, Transform};

use super::segment::Segment;
use super::springs::Surroundings;
use super::trunk::Trunk;
use super::{Drive, Parts};

/// One limb per lane.
#[derive(Clone, Debug)]
pub(super) struct Group<T> {
    pub(super) segments: Vec<Segment<T>>,
    /// The trunk's body that carries each limb, as an index into the trunk.
    carriers: Vec<usize>,
    /// True if one body carries them all.
    shared: bool,
}

impl<T: Lanes> Group<T> {
    pub(super) fn new(
        parts: &Parts<'_>,
        model: &Model,
        trunk: &[usize],
        limbs: &EqualLimbs,
    ) -> Self {
        let segment = |k: usize| {
            let bodies: Vec<usize> = limbs.roots.iter().map(|r| r + k).collect();
            let parent = if k == 0 { 0 } else { model.bodies[bodies[0]].parent - limbs.roots[0] };
            Segment::new(parts, bodies, parent)
        };
        let carrier =
            |root: &usize| trunk.iter().position(|&b| b == model.bodies[*root].parent).unwrap_or(0);
        let carriers: Vec<usize> = limbs.roots.iter().map(carrier).collect();
        Self {
            segments: (0..limbs.size).map(segment).collect(),
            shared: carriers.iter().all(|&c| c == carriers[0]),
            carriers,
        }
    }

    /// Pass 2, from the tips to the trunk.
    #[inline(always)]
    pub(super) fn gather(&mut self, drive: Drive, trunk: &mut Trunk) {
        for k in (1..self.segments.len()).rev() {
            let (I_P, p_P) = self.segments[k].gather(drive);
            let parent = self.segments[k].parent;
            self.segments[parent].I_A += I_P;
            self.segments[parent].p_A += p_P;
        }
        let (I_P, p_P) = self.segments[0].gather(drive);
        // over all lanes, so that it is unrolled
        for lane in 0..T::COUNT {
            if let Some(&root) = self.segments[0].bodies.get(lane) {
                trunk.hand_over(root, I_P.lane(lane), p_P.lane(lane));
            }
        }
    }

    /// Pass 3 and the motion, from the trunk to the tips.
    #[inline(always)]
    pub(super) fn advance(&mut self, trunk: &Trunk, around: &Surroundings) {
        let (A_P, X_WP, V_P) = self.carried_by(trunk);
        self.segments[0].advance(&A_P, &X_WP, &V_P, around);
        for k in 1..self.segments.len() {
            let (before, rest) = self.segments.split_at_mut(k);
            let parent = &before[rest[0].parent];
            rest[0].advance(&parent.A, &parent.placed.X_WB, &parent.placed.V, around);
        }
    }

    /// Acceleration, pose and velocity of the bodies that carry the limbs.
    #[inline(always)]
    fn carried_by(&self, trunk: &Trunk) -> (Motion<T>, Transform<T>, Motion<T>) {
        if self.shared {
            let (A, X_WB, V) = trunk.at(self.carriers[0]);
            let same = (Motion::from_lanes(|_| A), Transform::from_lanes(|_| X_WB));
            return (same.0, same.1, Motion::from_lanes(|_| V));
        }
        let at = |i: usize| trunk.at(self.carriers[if i < self.carriers.len() { i } else { 0 }]);
        (
            Motion::from_lanes(|i| at(i).0),
            Transform::from_lanes(|i| at(i).1),
            Motion::from_lanes(|i| at(i).2),
        )
    }
}
