//! Limbs side by side, segment by segment.

use std::ops::Range;

use crate::dynamics::{Data, LimbGroup};
use crate::model::Model;
use crate::plant::rigid::Jumps;
use crate::simd::SimdReal;
use crate::spatial::simd::{Motion, Transform};

use super::Parts;
use super::child_contribution::{ChildContribution, Fours, hand_over};
use super::segment::{Carrier, Onto, Segment, with_parent};
use super::springs::StepParams;
use super::trunk::Trunk;

/// One limb per lane.
#[derive(Clone, Debug)]
pub(super) struct Group<T> {
    pub(super) segments: Vec<Segment<T>>,
    /// The trunk's body that carries each limb, as an index into the trunk; a single one if it
    /// carries them all.
    carriers: Vec<usize>,
    /// What the trunk feels.
    contribution: ChildContribution<T>,
}

impl<T: SimdReal> Group<T> {
    pub(super) fn new(
        parts: &Parts<'_>,
        model: &Model,
        trunk: &[usize],
        group: &LimbGroup,
    ) -> Self {
        let mut segments: Vec<Segment<T>> = Vec::new();
        for k in 0..group.size() {
            let bodies = group.bodies(k);
            let parent = model.bodies[bodies[0]].parent.checked_sub(group.limbs[0].start);
            let segment = Segment::new(parts, bodies, parent);
            segments.push(segment.on_lanes_of(parent.map(|p| &segments[p])));
        }
        let carrier =
            |limb: &Range<usize>| trunk.iter().position(|&b| b == model.bodies[limb.start].parent);
        let mut carriers: Vec<usize> =
            group.limbs.iter().map(|limb| carrier(limb).unwrap_or(0)).collect();
        if carriers.iter().all(|&c| c == carriers[0]) {
            carriers.truncate(1);
        }
        Self { segments, carriers, contribution: ChildContribution::default() }
    }

    /// Pass 2, from the tips to the trunk.
    #[inline(always)]
    pub(super) fn inward_pass(&mut self, params: &StepParams, lanes: &mut [Fours; 4]) {
        for k in (0..self.segments.len()).rev() {
            let (parent, segment) = with_parent(&mut self.segments, k);
            match parent {
                Some(parent) => segment.inward_pass_onto(parent, params),
                None => segment.inward_pass(params, Onto::Nothing(&mut self.contribution)),
            }
        }
        hand_over(&self.contribution, lanes);
    }

    /// Pass 3 and the motion, from the trunk to the tips. No joint waits here for another's sine.
    #[inline(always)]
    pub(super) fn outward_pass(&mut self, trunk: &Trunk, params: &StepParams) {
        let (A, ..) = self.carried_by(trunk);
        for k in 0..self.segments.len() {
            let (parent, segment) = with_parent(&mut self.segments, k);
            segment.outward_pass(parent.map_or(&A, |p| &p.A), params);
        }
        for segment in &mut self.segments {
            segment.turn();
        }
    }

    /// Places the limbs on the trunk, and evaluates their contacts.
    #[inline(always)]
    pub(super) fn place(&mut self, trunk: &Trunk, params: &StepParams) {
        let (A, X_WB, V) = self.carried_by(trunk);
        let trunk = Carrier { A: &A, X_WB: &X_WB, V: &V };
        for k in 0..self.segments.len() {
            let (parent, segment) = with_parent(&mut self.segments, k);
            segment.place(&parent.map_or(trunk, |p| p.carrier()));
            if params.contacts {
                segment.touch(params);
            }
        }
    }

    /// Pass 3, and the velocities that it leads to, before impulses and in the same place.
    #[inline(always)]
    pub(super) fn start_jump(&mut self, trunk: &Trunk, h: f64) {
        let (A, X_WB, V) = self.carried_by(trunk);
        let trunk = Carrier { A: &A, X_WB: &X_WB, V: &V };
        for k in 0..self.segments.len() {
            let (parent, segment) = with_parent(&mut self.segments, k);
            segment.start_jump(&parent.map_or(trunk, |p| p.carrier()), h);
        }
    }

    /// Gives back what impulses need to know.
    #[inline(always)]
    pub(super) fn store_response(&self, data: &mut Data) {
        for segment in &self.segments {
            segment.store_response(data);
        }
    }

    /// The rest of a micro-step after impulses.
    #[inline(always)]
    pub(super) fn jump(&mut self, trunk: &Trunk, jumps: Jumps<'_>, h: f64) {
        let (A, X_WB, V) = self.carried_by(trunk);
        let at = |lane: usize| {
            let carrier = self.carriers.get(lane).unwrap_or(&self.carriers[0]);
            trunk.jumps(*carrier)
        };
        let jumps_P = [0, 1].map(|k| Motion::from_lanes(|i| at(i)[k]));
        let trunk = Carrier { A: &A, X_WB: &X_WB, V: &V };
        for k in 0..self.segments.len() {
            let (parent, segment) = with_parent(&mut self.segments, k);
            let (jumps_P, parent) = parent.map_or((jumps_P, trunk), |p| (*p.jumps(), p.carrier()));
            segment.jump(jumps, &jumps_P, &parent, h);
        }
    }

    /// Acceleration, pose and velocity of the bodies that carry the limbs.
    #[inline(always)]
    fn carried_by(&self, trunk: &Trunk) -> (Motion<T>, Transform<T>, Motion<T>) {
        let carriers = &self.carriers;
        let one = trunk.carrier(carriers[0]);
        let mut on = [one; 4];
        for (on, &t) in on.iter_mut().zip(carriers).skip(1) {
            *on = trunk.carrier(t);
        }
        if carriers.len() == 1 {
            (Motion::splat(one.A), Transform::splat(one.X_WB), Motion::splat(one.V))
        } else {
            (
                Motion::from_lanes(|i| *on[i].A),
                Transform::from_lanes(|i| *on[i].X_WB),
                Motion::from_lanes(|i| *on[i].V),
            )
        }
    }
}
