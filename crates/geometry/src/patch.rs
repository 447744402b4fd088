//! From the normal of a contact to its patch of weighted points.

use crate::clip::{Cut, Reference};
use crate::contact_point::{ContactPoint, NEAREST, POINTS_MAX, Patch};
use crate::epa::Polytope;
use crate::feature::{CORNERS_MAX, Corner, feature};
use crate::segments::{Axis, along_axes};
use crate::shape::Core;
use crate::vector::{Pose, Vec3};

/// A face that is steeper to the normal than this, as a cosine, is not projected on.
const STEEP: f64 = 0.02;

/// Tilt between two faces up to which the patch of a cap is that of its face, rad.
const NEARLY_FLAT: f64 = 0.1;
/// How far inside its circle a chord of a cap lies where two rims cross, per radius.
const CHORD: f64 = 0.04;

/// Buffers for the contact of one pair after the other. Allocates only when it is made.
#[derive(Clone, Debug)]
pub struct Workspace {
    corners_a: Vec<Corner>,
    corners_b: Vec<Corner>,
    polygon: Vec<Cut>,
    spare: Vec<Cut>,
    pub(crate) polytope: Polytope,
}

impl Default for Workspace {
    fn default() -> Self {
        Self::new()
    }
}

impl Workspace {
    /// Buffers large enough for any pair.
    #[must_use]
    pub fn new() -> Self {
        Self {
            corners_a: Vec::with_capacity(CORNERS_MAX),
            corners_b: Vec::with_capacity(CORNERS_MAX),
            polygon: Vec::with_capacity(3 * CORNERS_MAX),
            spare: Vec::with_capacity(3 * CORNERS_MAX),
            polytope: Polytope::new(),
        }
    }
}

/// A rounded core in the world.
#[derive(Clone, Copy)]
pub(crate) struct Body<'a> {
    pub(crate) core: &'a Core,
    pub(crate) pose: &'a Pose,
    pub(crate) radius_m: f64,
}

/// What is known of a contact before its patch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Near {
    /// Unit vector from B to A, in the world.
    pub(crate) normal: Vec3,
    /// Gap of the cores along the normal, m.
    pub(crate) gap_m: f64,
    /// A point of A's core that is nearest to B, in the world.
    pub(crate) a: Vec3,
}

/// Fills the patch. False if no part of the faces is as near as `near` says: then `patch` holds
/// the nearest point alone, if that is within the margin.
pub(crate) fn fill(
    [a, b]: [Body<'_>; 2],
    near: &Near,
    margin_m: f64,
    ws: &mut Workspace,
    patch: &mut Patch,
) -> bool {
    let n = near.normal;
    patch.clear();
    patch.normal_W = n;
    let size = a.core.extent() + b.core.extent();
    // the search for the normal stops earlier on round rims
    let is_round = matches!((a.core, b.core), (Core::Cylinder(..), _) | (_, Core::Cylinder(..)));
    let accuracy = if is_round { 3e-6 } else { 1e-11 };
    let Workspace { corners_a, corners_b, polygon, spare, .. } = ws;
    let normal_a = feature(a.core, a.pose, -n, corners_a);
    let normal_b = feature(b.core, b.pose, n, corners_b);
    let is_face = |core: &Core, corners: &[Corner]| *core == Core::Plane || corners.len() >= 3;
    let tilt = (normal_a + normal_b).norm();
    let mut chord_m = 0.0;
    if is_round && tilt < NEARLY_FLAT && is_face(a.core, corners_a) && is_face(b.core, corners_b) {
        chord_m += CHORD * turn_cap(&a, [-n, -normal_b], corners_a) * tilt;
        chord_m += CHORD * turn_cap(&b, [n, -normal_a], corners_b) * tilt;
    }
    if corners_a.len() == 2 && corners_b.len() == 2 {
        along_axes([&axis(&a), &axis(&b)], n, margin_m, patch);
    } else if let Some((reference, incident)) =
        choose((corners_a, normal_a, &a), (corners_b, normal_b, &b), n)
    {
        let radii_m = a.radius_m + b.radius_m;
        let tiny = accuracy * size * size;
        let [radius_a, radius_b] = [a.radius_m, b.radius_m];
        let out = Out { n, radius_a, radius_b, reference: &reference, size };
        if incident.len() >= 3 {
            polygon.clear();
            polygon.extend(incident.iter().map(|c| reference.whole(c)));
            reference.cut_polygon(polygon, spare, tiny);
            reference.cut_height(polygon, spare, margin_m + radii_m);
            out.polygon(polygon, patch);
        } else if let [c0, c1] = incident[..] {
            let mut ends = [reference.whole(&c0), reference.whole(&c1)];
            if reference.cut_line(&mut ends, tiny) {
                out.line(ends, margin_m + radii_m, patch);
            }
        }
    }
    let gap_m = near.gap_m - a.radius_m - b.radius_m;
    let equal = if patch.points().len() == POINTS_MAX { EQUAL_HEIGHT } else { 0.0 };
    let slack_m = (3.0 * accuracy + 1e-9 + 2.0 * equal) * size + chord_m + 1e-10;
    if (patch.depth_m() + gap_m).abs() <= slack_m {
        patch.weigh(margin_m);
        return true;
    }
    patch.clear();
    if gap_m <= margin_m {
        patch.push(single(near, a.radius_m, gap_m));
    }
    false
}

/// Gives the cap of a cylinder, which was `seen` along the normal of the contact, its lowest point
/// in the direction `toward` the other face: where it is does not hang on whose normal that is.
/// Returns the radius; 0 for another shape.
fn turn_cap(body: &Body<'_>, [seen, toward]: [Vec3; 2], corners: &mut Vec<Corner>) -> f64 {
    let Core::Cylinder(r, _) = body.core else { return 0.0 };
    if toward != seen {
        feature(body.core, body.pose, toward, corners);
    }
    *r
}

/// The nearest points, as one point of weight 1.
pub(crate) fn single(near: &Near, radius_a: f64, gap_m: f64) -> ContactPoint {
    let a_W = near.a - near.normal * radius_a;
    let b_W = a_W - near.normal * gap_m;
    ContactPoint { a_W, b_W, depth_m: -gap_m, weight: 1.0, feature: NEAREST }
}

/// The axis of a capsule or a cylinder, with all its radius.
fn axis(body: &Body<'_>) -> Axis {
    let (half, radius_m) = match body.core {
        Core::Segment(h) => (*h, body.radius_m),
        Core::Cylinder(r, h) => (*h, r + body.radius_m),
        _ => (0.0, body.radius_m),
    };
    Axis { center: body.pose.p, half: body.pose.R.mul(Vec3::new(0.0, 0.0, half)), radius_m }
}

type Side<'a, 'b> = (&'a [Corner], Vec3, &'a Body<'b>);

/// The face to project on, the one across the normal if there are two, and the other's corners.
fn choose<'a>(a: Side<'a, '_>, b: Side<'a, '_>, n: Vec3) -> Option<(Reference<'a>, &'a [Corner])> {
    let across = |(corners, normal, body): &Side<'_, '_>, out: Vec3| match body.core {
        Core::Plane => 2.0,
        _ if corners.len() >= 3 => normal.dot(out),
        _ => f64::NEG_INFINITY,
    };
    let (of_a, of_b) = (across(&a, -n), across(&b, n));
    let is_a = of_a >= of_b;
    let (own, other, outward) = if is_a { (a, b, -n) } else { (b, a, n) };
    let steep = if is_a { of_a } else { of_b };
    if steep < STEEP {
        return None;
    }
    let at = own.0.first().map_or(own.2.pose.p, |c| c.p);
    let normal = own.1;
    Some((Reference { corners: own.0, normal, at, outward, is_a }, other.0))
}

struct Out<'a> {
    n: Vec3,
    radius_a: f64,
    radius_b: f64,
    reference: &'a Reference<'a>,
    /// Extent of both shapes, m.
    size: f64,
}

impl Out<'_> {
    fn point(&self, cut: &Cut, weight: f64) -> ContactPoint {
        let other = cut.p - self.reference.outward * cut.height_m;
        let (a, b) = if self.reference.is_a { (other, cut.p) } else { (cut.p, other) };
        let depth_m = self.radius_a + self.radius_b - cut.height_m;
        ContactPoint {
            a_W: a - self.n * self.radius_a,
            b_W: b + self.n * self.radius_b,
            depth_m,
            weight,
            feature: cut.feature,
        }
    }

    fn polygon(&self, polygon: &mut Vec<Cut>, patch: &mut Patch) {
        reduce(polygon, self.n, self.size);
        let count = polygon.len();
        if count == 0 {
            return;
        }
        let o = polygon[0].p;
        let twice = |i: usize, from: Vec3| {
            let next = polygon[if i + 1 < count { i + 1 } else { 0 }].p;
            (polygon[i].p - from).cross(next - from).dot(self.n).abs()
        };
        let (mut area, mut centroid, mut round) = (0.0, Vec3::ZERO, 0.0);
        for i in 0..count {
            let next = polygon[if i + 1 < count { i + 1 } else { 0 }].p;
            let part = twice(i, o);
            area += part;
            centroid += (polygon[i].p + next - o * 2.0) * part;
            round += (next - polygon[i].p).norm_squared();
        }
        if area <= 1e-10 * round {
            return self.sliver(polygon, patch);
        }
        let middle = o + centroid * (1.0 / (3.0 * area));
        let mut before = twice(count - 1, middle);
        let first = before;
        let mut sum = first;
        for i in 0..count - 1 {
            sum += twice(i, middle);
        }
        for (i, cut) in polygon.iter().enumerate() {
            let after = if i + 1 < count { twice(i, middle) } else { first };
            if !cut.is_margin {
                patch.push(self.point(cut, 0.5 * (before + after) / sum));
            }
            before = after;
        }
    }

    /// A polygon without area: its ends, half each, or its only point.
    fn sliver(&self, polygon: &[Cut], patch: &mut Patch) {
        let far = |from: Vec3| {
            let mut best = (0.0, 0);
            for (i, cut) in polygon.iter().enumerate() {
                let square = (cut.p - from).norm_squared();
                if square > best.0 {
                    best = (square, i);
                }
            }
            best
        };
        let (_, i) = far(polygon[0].p);
        let (length, j) = far(polygon[i].p);
        if length <= 1e-20 {
            return patch.push(self.point(&polygon[0], 1.0));
        }
        for k in [i.min(j), i.max(j)] {
            if !polygon[k].is_margin {
                patch.push(self.point(&polygon[k], 0.5));
            }
        }
    }

    /// The ends of a line that are not higher than `limit_m`.
    fn line(&self, ends: [Cut; 2], limit_m: f64, patch: &mut Patch) {
        let is_short = (ends[1].p - ends[0].p).norm_squared() <= 1e-20;
        for end in &ends[..if is_short { 1 } else { 2 }] {
            if end.height_m <= limit_m {
                patch.push(self.point(end, 0.5));
            }
        }
    }
}

/// Areas that differ by less, as a share, are equal: rounding must not choose the corners of a face
/// that lies flat, or others carry it in every step.
const EQUAL_AREA: f64 = 1e-6;
/// Likewise heights, as a share of the size.
const EQUAL_HEIGHT: f64 = 1e-7;

/// Leaves out corners that span the least area until a patch can hold the rest, but not the lowest;
/// of equal ones the first is taken.
fn reduce(polygon: &mut Vec<Cut>, n: Vec3, size: f64) {
    loop {
        let count = polygon.len();
        let reported = polygon.iter().filter(|c| !c.is_margin).count();
        if reported <= POINTS_MAX {
            return;
        }
        let mut lowest = 0;
        for (i, cut) in polygon.iter().enumerate() {
            if cut.height_m < polygon[lowest].height_m - EQUAL_HEIGHT * size {
                lowest = i;
            }
        }
        let mut least = (f64::INFINITY, lowest);
        for i in (0..count).filter(|i| *i != lowest && !polygon[*i].is_margin) {
            let (p, before) = (polygon[i].p, polygon[(i + count - 1) % count].p);
            let area = (p - before).cross(polygon[(i + 1) % count].p - p).dot(n).abs();
            if area < (1.0 - EQUAL_AREA) * least.0 {
                least = (area, i);
            }
        }
        polygon.remove(least.1);
    }
}
