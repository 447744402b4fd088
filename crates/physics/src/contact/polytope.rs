//! Faces and corners of a convex polytope given by half-spaces, and its nearest point.

use crate::math;
use crate::spatial::Vec3;

/// A polytope reaches at most so far from its origin, m. More counts as unbounded.
pub(super) const REACH_M: f64 = 1000.0;

/// Points closer than this are one corner, m.
const SAME_M: f64 = 1e-8;
/// Three planes whose unit normals span less than this have no corner.
const PARALLEL: f64 = 1e-6;

/// The points `x` with `normal · x ≤ offset_m`, and the polygon where the polytope touches it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Face {
    /// Unit normal, outward.
    pub(super) normal: Vec3,
    pub(super) offset_m: f64,
    /// Counter-clockwise seen from outside; empty if the polytope does not touch in an area.
    pub(super) corners: Vec<Vec3>,
}

impl Face {
    /// Distance of `p` from the plane, m; negative inside.
    pub(super) fn height_m(&self, p: &Vec3) -> f64 {
        self.normal.dot(p) - self.offset_m
    }
}

/// The corners of the intersection of half-spaces (unit normal, offset in m), none if it is empty.
/// An unbounded intersection is cut at [`REACH_M`] along each axis.
pub(super) fn corners(half_spaces: &[(Vec3, f64)]) -> Vec<Vec3> {
    let mut planes = half_spaces.to_vec();
    for axis in [Vec3::x(), Vec3::y(), Vec3::z()] {
        planes.extend([(axis, REACH_M), (-axis, REACH_M)]);
    }
    let mut found: Vec<Vec3> = Vec::new();
    for (i, a) in planes.iter().enumerate() {
        for (j, b) in planes.iter().enumerate().skip(i + 1) {
            for c in planes.iter().skip(j + 1) {
                let Some(p) = common_point(a, b, c) else { continue };
                let inside = planes.iter().all(|(n, o)| n.dot(&p) <= o + SAME_M);
                if inside && found.iter().all(|q| (q - p).norm() > SAME_M) {
                    found.push(p);
                }
            }
        }
    }
    found
}

fn common_point(a: &(Vec3, f64), b: &(Vec3, f64), c: &(Vec3, f64)) -> Option<Vec3> {
    let (bc, ca, ab) = (b.0.cross(&c.0), c.0.cross(&a.0), a.0.cross(&b.0));
    let span = a.0.dot(&bc);
    (span.abs() > PARALLEL).then(|| (bc * a.1 + ca * b.1 + ab * c.1) / span)
}

/// The face of a half-space: those of `corners` that lie in its plane, in order around it.
pub(super) fn face(normal: Vec3, offset_m: f64, corners: &[Vec3]) -> Face {
    let mut face = Face { normal, offset_m, corners: Vec::new() };
    let mut round: Vec<Vec3> =
        corners.iter().copied().filter(|p| face.height_m(p).abs() <= 2.0 * SAME_M).collect();
    if round.len() < 3 {
        return face;
    }
    let middle = round.iter().copied().sum::<Vec3>() / round.len() as f64;
    let x = (round[0] - middle).normalize();
    let y = normal.cross(&x);
    let angle = |p: &Vec3| math::atan2(y.dot(&(p - middle)), x.dot(&(p - middle)));
    round.sort_by(|p, q| angle(p).total_cmp(&angle(q)));
    face.corners = round;
    face
}

/// The point of a polytope nearest to a point `p` outside it, with distance and direction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outside {
    pub(super) distance_m: f64,
    /// Unit vector from the nearest point towards `p`.
    pub(super) normal: Vec3,
    pub(super) point: Vec3,
}

/// Exact, over faces, edges and corners. `None` if no face has `p` on its outer side.
///
/// The nearest point lies on a face that `p` sees. If it is inside the face's polygon, no other
/// point can be nearer; otherwise it lies on an edge that `p` is beyond.
pub(super) fn outside(faces: &[Face], p: &Vec3) -> Option<Outside> {
    let mut best: Option<Outside> = None;
    for face in faces {
        let height = face.height_m(p);
        if height <= 0.0 {
            continue;
        }
        let foot = p - face.normal * height;
        let mut within = true;
        for (i, a) in face.corners.iter().enumerate() {
            let b = &face.corners[(i + 1) % face.corners.len()];
            if (b - a).cross(&(foot - a)).dot(&face.normal) >= 0.0 {
                continue;
            }
            within = false;
            let point = nearest_of_edge(a, b, p);
            let distance_m = (p - point).norm();
            if best.is_none_or(|o| distance_m < o.distance_m) {
                // so near the edge rounding decides the direction; the face's is as good as any
                let far = distance_m > 1e-12;
                let normal = if far { (p - point) / distance_m } else { face.normal };
                best = Some(Outside { distance_m, normal, point });
            }
        }
        if within {
            return Some(Outside { distance_m: height, normal: face.normal, point: foot });
        }
    }
    best
}

fn nearest_of_edge(a: &Vec3, b: &Vec3, p: &Vec3) -> Vec3 {
    let ab = b - a;
    let share = ab.dot(&(p - a)) / ab.norm_squared();
    a + ab * share.clamp(0.0, 1.0)
}
