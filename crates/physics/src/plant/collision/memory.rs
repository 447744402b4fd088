//! What the points of contact remember from step to step: part of the state.

use crate::spatial::Vec3;

use super::super::Word;
use super::super::contact_state::walk3;

const NEVER: u64 = u64::MAX;

/// The memory of one point of a pair of shapes A and B.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PointMemory {
    /// Numbers of the shapes: A's in the upper half.
    pub(super) pair: u64,
    /// What of them touches: see `hardstand_geometry::ContactPoint::feature`.
    pub(super) feature: u64,
    /// The point of A that touched at the last commit, in the frame of A's carrier, m.
    pub(in super::super) marker_A: [f64; 3],
    /// Zero of the friction spring, in the frame of B's carrier, m.
    pub(in super::super) anchor_B: [f64; 3],
    /// Of a spring, how far it slides; of a rigid contact 0 if it sticks, 1 if it slides.
    pub(in super::super) sliding: f64,
    /// Time of the last commit, ns.
    pub(super) committed_ns: Option<u64>,
    /// Its share of the patch.
    pub(super) weight: f64,
    /// What it has stored with that share, J.
    pub(super) stored_j: f64,
    /// What is left for weights of its pair that rise, J: the same in all points of the pair.
    pub(super) reserve_j: f64,
    /// Of a rigid contact, its mean force of the last micro-step on A, in its frame C, N.
    pub(in super::super) force_C: [f64; 3],
}

impl PointMemory {
    /// The memory of a point that did not touch before.
    pub(super) const fn new(pair: u64, feature: u64, sliding: f64) -> Self {
        Self {
            pair,
            feature,
            marker_A: [0.0; 3],
            anchor_B: [0.0; 3],
            sliding,
            committed_ns: None,
            weight: 0.0,
            stored_j: 0.0,
            reserve_j: 0.0,
            force_C: [0.0; 3],
        }
    }

    /// Whether both are of one pair of shapes.
    pub(super) const fn is_of(&self, other: &Self) -> bool {
        self.pair == other.pair
    }

    pub(super) fn marker(&self) -> Vec3 {
        self.marker_A.into()
    }

    #[inline(always)]
    fn walk(&mut self, i: usize, visit: &mut impl FnMut(&'static str, usize, Word<'_>)) {
        visit("touch.pair", i, Word::U64(&mut self.pair));
        visit("touch.feature", i, Word::U64(&mut self.feature));
        walk3("touch.marker_A", i, &mut self.marker_A, visit);
        walk3("touch.anchor_B", i, &mut self.anchor_B, visit);
        visit("touch.sliding", i, Word::F64(&mut self.sliding));
        let mut committed = self.committed_ns.unwrap_or(NEVER);
        visit("touch.committed_ns", i, Word::U64(&mut committed));
        self.committed_ns = (committed != NEVER).then_some(committed);
        visit("touch.weight", i, Word::F64(&mut self.weight));
        visit("touch.stored_j", i, Word::F64(&mut self.stored_j));
        visit("touch.reserve_j", i, Word::F64(&mut self.reserve_j));
        walk3("touch.force_C", i, &mut self.force_C, visit);
    }
}

/// The memory of all points that touch, in the order of their pairs.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct CollisionMemory {
    points: Vec<PointMemory>,
    max: usize,
}

/// A derived clone would have no room, and would allocate in the loop.
impl Clone for CollisionMemory {
    fn clone(&self) -> Self {
        let mut clone = Self::new(self.max);
        clone.points.extend_from_slice(&self.points);
        clone
    }

    fn clone_from(&mut self, o: &Self) {
        self.points.clone_from(&o.points);
        self.max = o.max;
    }
}

impl CollisionMemory {
    /// Words of one point.
    pub(crate) const POINT_WORDS: usize = 16;

    pub(crate) fn new(points_max: usize) -> Self {
        Self { points: Vec::with_capacity(points_max), max: points_max }
    }

    /// Most words that a walk can visit.
    pub(crate) const fn words_max(&self) -> usize {
        if self.max == 0 { 0 } else { 1 + self.max * Self::POINT_WORDS }
    }

    pub(super) fn points(&self) -> &[PointMemory] {
        &self.points
    }

    pub(super) fn points_mut(&mut self) -> &mut [PointMemory] {
        &mut self.points
    }

    /// The memory of the point with this index, in the order of the last commit.
    pub(in super::super) fn get_mut(&mut self, i: usize) -> Option<&mut PointMemory> {
        self.points.get_mut(i)
    }

    pub(crate) fn clear(&mut self) {
        self.points.clear();
    }

    /// Adds a point; false if there is no room.
    pub(super) fn push(&mut self, point: PointMemory) -> bool {
        let has_room = self.points.len() < self.max;
        if has_room {
            self.points.push(point);
        }
        has_room
    }

    /// Sets the number of points, which a walk then visits; false if there is no room for them.
    pub(crate) fn resize(&mut self, count: usize) -> bool {
        let fits = count <= self.max;
        if fits {
            self.points.resize(count, PointMemory::new(0, 0, 0.0));
        }
        fits
    }

    pub(crate) fn len(&self) -> usize {
        self.points.len()
    }

    /// Visits the number of points and their words. Writing the number makes room.
    #[inline(always)]
    pub(crate) fn walk(&mut self, visit: &mut impl FnMut(&'static str, usize, Word<'_>)) {
        if self.max == 0 {
            return;
        }
        let mut count = self.points.len() as u64;
        visit("touch.count", 0, Word::U64(&mut count));
        self.resize((count as usize).min(self.max));
        for (i, point) in self.points.iter_mut().enumerate() {
            point.walk(i, visit);
        }
    }
}
