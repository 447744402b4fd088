//! Overlap of two convex faces seen along a direction: Sutherland & Hodgman (1974).

use crate::contact_point::{NEAREST, edges, vertex_of_a, vertex_of_b};
use crate::feature::Corner;
use crate::vector::Vec3;

/// A corner of the overlap, on the incident face.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cut {
    pub(crate) p: Vec3,
    /// Height over the reference face along the normal, m.
    pub(crate) height_m: f64,
    pub(crate) feature: u32,
    /// Origin of the edge from here to the next corner: a number of the incident shape, or
    /// [`REFERENCE`] and the position in the reference face.
    from: u16,
    /// Where the gap reaches the margin.
    pub(crate) is_margin: bool,
}

const REFERENCE: u16 = 0x8000;
/// The line where the gap reaches the margin.
const MARGIN: u16 = 0xffff;

/// The face that cuts.
#[derive(Clone, Copy)]
pub(crate) struct Reference<'a> {
    /// Empty for a plane.
    pub(crate) corners: &'a [Corner],
    pub(crate) normal: Vec3,
    /// A point of its plane.
    pub(crate) at: Vec3,
    /// Unit vector of the projection, out of the face.
    pub(crate) outward: Vec3,
    /// Whether the face is A's; the incident one is then B's.
    pub(crate) is_a: bool,
}

impl Reference<'_> {
    #[inline(always)]
    fn vertex_of_incident(&self, v: u16) -> u32 {
        if self.is_a { vertex_of_b(v) } else { vertex_of_a(v) }
    }

    fn vertex_of_reference(&self, v: u16) -> u32 {
        if self.is_a { vertex_of_a(v) } else { vertex_of_b(v) }
    }

    fn crossing(&self, incident: u16, k: usize) -> u32 {
        let reference = self.corners[k].edge;
        if self.is_a { edges(reference, incident) } else { edges(incident, reference) }
    }

    /// What lies where an edge of origin `from` meets the side `k` of the reference face, on the
    /// way out of its half-plane or into it.
    fn meeting(&self, from: u16, k: usize, is_out: bool) -> u32 {
        if from == MARGIN {
            return NEAREST;
        }
        if from < REFERENCE {
            return self.crossing(from, k);
        }
        // Two sides meet in a corner of the reference face, where the side that the outline leaves
        // begins: it runs against their order. A short side between the two may have cut nothing.
        // The outline leaves each side once, so no corner is named twice even then.
        let left = if is_out { usize::from(from - REFERENCE) } else { k };
        self.vertex_of_reference(self.corners[left].vertex)
    }

    #[inline(always)]
    pub(crate) fn height_m(&self, p: Vec3) -> f64 {
        self.normal.dot(p - self.at) / self.normal.dot(self.outward)
    }

    /// The corner of the incident face as it comes.
    #[inline(always)]
    pub(crate) fn whole(&self, c: &Corner) -> Cut {
        Cut {
            p: c.p,
            height_m: self.height_m(c.p),
            feature: self.vertex_of_incident(c.vertex),
            from: c.edge,
            is_margin: false,
        }
    }

    /// Outward direction of side `k`, not a unit vector.
    #[inline(always)]
    fn side(&self, k: usize) -> Vec3 {
        let next = if k + 1 < self.corners.len() { k + 1 } else { 0 };
        (self.corners[next].p - self.corners[k].p).cross(self.outward)
    }

    /// Cuts the polygon with all sides of the face. `spare` is a buffer.
    pub(crate) fn cut_polygon(&self, polygon: &mut Vec<Cut>, spare: &mut Vec<Cut>, tiny: f64) {
        for k in 0..self.corners.len() {
            let (side, at) = (self.side(k), self.corners[k].p);
            let meet = |from, is_out| self.meeting(from, k, is_out);
            cut(polygon, spare, |c| side.dot(c.p - at) - tiny, meet, REFERENCE + k as u16);
        }
    }

    /// Cuts the polygon where the height is `limit_m`.
    pub(crate) fn cut_height(&self, polygon: &mut Vec<Cut>, spare: &mut Vec<Cut>, limit_m: f64) {
        if polygon.iter().all(|c| c.height_m <= limit_m) {
            return;
        }
        cut(polygon, spare, |c| c.height_m - limit_m, |_, _| NEAREST, MARGIN);
    }

    /// Cuts the line between two corners with all sides of the face. False if nothing is left.
    pub(crate) fn cut_line(&self, ends: &mut [Cut; 2], tiny: f64) -> bool {
        let from = ends[0].from;
        for k in 0..self.corners.len() {
            let (side, at) = (self.side(k), self.corners[k].p);
            let out = [0, 1].map(|i: usize| side.dot(ends[i].p - at) - tiny);
            match out.map(|o| o > 0.0) {
                [true, true] => return false,
                [false, false] => {}
                [is_first, _] => {
                    let i = usize::from(!is_first);
                    let share = out[0] / (out[0] - out[1]);
                    let feature = self.crossing(from, k);
                    ends[i] = between(&ends[0], &ends[1], share, feature);
                }
            }
        }
        true
    }
}

/// The point `share` of the way from `a` to `b`.
#[inline(always)]
fn between(a: &Cut, b: &Cut, share: f64, feature: u32) -> Cut {
    Cut {
        p: a.p + (b.p - a.p) * share,
        height_m: a.height_m + (b.height_m - a.height_m) * share,
        feature,
        from: a.from,
        is_margin: false,
    }
}

/// Keeps the part of a convex polygon where `out` is not positive.
#[inline(always)]
fn cut(
    polygon: &mut Vec<Cut>,
    spare: &mut Vec<Cut>,
    out: impl Fn(&Cut) -> f64,
    meeting: impl Fn(u16, bool) -> u32,
    line: u16,
) {
    let Some(last) = polygon.last() else { return };
    spare.clear();
    let (mut before, mut before_out) = (*last, out(last));
    for cut in polygon.iter() {
        let cut_out = out(cut);
        let (was_in, is_in) = (before_out <= 0.0, cut_out <= 0.0);
        if was_in != is_in {
            let share = before_out / (before_out - cut_out);
            let mut new = between(&before, cut, share, meeting(before.from, was_in));
            new.is_margin = line == MARGIN;
            // on its way out the outline follows the line that cuts, on its way in the old edge
            new.from = if was_in { line } else { before.from };
            spare.push(new);
        }
        if is_in {
            spare.push(*cut);
        }
        (before, before_out) = (*cut, cut_out);
    }
    std::mem::swap(polygon, spare);
}
