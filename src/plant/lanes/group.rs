//! Equal limbs, segment by segment.

use crate::dynamics::{EqualLimbs, TOGETHER_MAX};
use crate::math::Lanes;
use crate::model::Model;

use super::segment::{Advance, AdvanceOnTrunk, Gather, GatherToTrunk, Segment};
use super::springs::Surroundings;
use super::trunk::Trunk;
use super::{Drive, Parts};

/// One limb per lane.
#[derive(Clone, Debug)]
pub(super) struct Group<T> {
    pub(super) segments: Vec<Segment<T>>,
    /// The trunk's body that carries each limb, as an index into the trunk; a single one if it
    /// carries them all.
    carriers: Vec<usize>,
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
        let mut carriers: Vec<usize> = limbs.roots.iter().map(carrier).collect();
        if carriers.iter().all(|&c| c == carriers[0]) {
            carriers.truncate(1);
        }
        Self { segments: (0..limbs.size).map(segment).collect(), carriers }
    }

    /// Pass 2, from the tips to the trunk.
    pub(super) fn gather(&mut self, drive: Drive, around: Surroundings, trunk: &mut Trunk) {
        for k in (1..self.segments.len()).rev() {
            let (before, rest) = self.segments.split_at_mut(k);
            let segment = &mut rest[0];
            let parent = &mut before[segment.parent];
            T::run(Gather { segment, parent, drive, around });
        }
        let (segment, handed) = (&mut self.segments[0], &mut *trunk.handed);
        T::run(GatherToTrunk { segment, handed, drive, around });
    }

    /// Pass 3 and the motion, from the trunk to the tips.
    pub(super) fn advance(&mut self, trunk: &Trunk, around: Surroundings) {
        let mut carriers = [trunk.carrier(self.carriers[0]); TOGETHER_MAX];
        for (carrier, &t) in carriers.iter_mut().zip(&self.carriers).skip(1) {
            *carrier = trunk.carrier(t);
        }
        let (segment, carriers) = (&mut self.segments[0], &carriers[..self.carriers.len()]);
        T::run(AdvanceOnTrunk { segment, carriers, around });
        for k in 1..self.segments.len() {
            let (before, rest) = self.segments.split_at_mut(k);
            let segment = &mut rest[0];
            let parent = &before[segment.parent];
            T::run(Advance { segment, parent, around });
        }
    }
}
