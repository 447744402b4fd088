//! Equal limbs, segment by segment.

use crate::dynamics::EqualLimbs;
use crate::math::Lanes;
use crate::model::Model;
use crate::spatial::lanes::{Motion, Transform};

use super::felt::{Felt, hand_over};
use super::segment::Segment;
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
    /// How those move, lane by lane.
    hub: Carrier<T>,
}

/// What a body is handed by its parent in pass 3.
#[derive(Clone, Copy, Debug, Default)]
struct Carrier<T> {
    A: Motion<T>,
    X_WB: Transform<T>,
    V: Motion<T>,
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
        let segments = (0..limbs.size).map(segment).collect();
        Self { segments, carriers, hub: Carrier::default() }
    }

    /// Pass 2, from the tips to the trunk.
    #[inline(always)]
    pub(super) fn gather(&mut self, drive: Drive, felt: &mut [Felt]) {
        for k in (0..self.segments.len()).rev() {
            let (before, rest) = self.segments.split_at_mut(k);
            let segment = &mut rest[0];
            let (I_P, p_P) = segment.gather(drive);
            match before.get_mut(segment.parent) {
                Some(parent) => parent.feel(I_P, p_P),
                None => hand_over(&I_P, &p_P, &segment.bodies, felt),
            }
        }
    }

    /// Pass 3 and the motion, from the trunk to the tips.
    #[inline(always)]
    pub(super) fn advance(&mut self, trunk: &Trunk, around: &Surroundings) {
        let carried_by =
            |i: usize| trunk.carrier(self.carriers[if i < self.carriers.len() { i } else { 0 }]);
        self.hub = Carrier {
            A: Motion::from_lanes(|i| *carried_by(i).0),
            X_WB: Transform::from_lanes(|i| carried_by(i).1.X_WB),
            V: Motion::from_lanes(|i| carried_by(i).1.V),
        };
        for k in 0..self.segments.len() {
            let (before, rest) = self.segments.split_at_mut(k);
            let segment = &mut rest[0];
            let (A_P, X_WP, V_P) = match before.get(segment.parent) {
                Some(parent) => (&parent.A, &parent.placed.X_WB, &parent.placed.V),
                None => (&self.hub.A, &self.hub.X_WB, &self.hub.V),
            };
            segment.advance(A_P, X_WP, V_P, around);
        }
    }
}
