//! The face or edge of a core that faces a direction.

use crate::shape::Core;
use crate::vector::{Pose, Vec3, smaller};

/// A corner of a feature, in the world.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Corner {
    pub(crate) p: Vec3,
    /// Its number in the shape.
    pub(crate) vertex: u16,
    /// Number of the edge from here to the next corner.
    pub(crate) edge: u16,
}

/// Corners of a feature of a core.
pub(crate) const CORNERS_MAX: usize = crate::hull::HULL_VERTICES_MAX;

/// Sine of the tilt at which the lowest point of a cap is on its rim.
const FLAT: f64 = 0.005;
/// Up to this share of it a cap has no such point: its direction would be noise.
const LEVEL: f64 = 0.02;
/// Vertices of the second cap of a cylinder begin here.
const SECOND: u16 = 32;
/// The point of the rim that faces the direction.
const RIM: u16 = 16;

/// Puts the corners of the feature of `core` that faces `d_W`, a unit vector, into `out`: three or
/// more counter-clockwise seen from outside, two for a segment, one for a point. Returns the
/// outward normal of a face.
pub(crate) fn feature(core: &Core, pose: &Pose, d_W: Vec3, out: &mut Vec<Corner>) -> Vec3 {
    out.clear();
    let d = pose.R.tr_mul(d_W);
    match core {
        Core::Plane => pose.R.mul(Vec3::Z),
        Core::Point => {
            out.push(Corner { p: pose.p, vertex: 0, edge: 0 });
            d_W
        }
        Core::Segment(h) => {
            let along = pose.R.mul(Vec3::new(0.0, 0.0, *h));
            out.push(Corner { p: pose.p + along, vertex: RIM, edge: 0 });
            out.push(Corner { p: pose.p - along, vertex: RIM + SECOND, edge: 0 });
            d_W
        }
        Core::Box(half) => {
            let (normal, corners) = box_face(*half, pose, d);
            out.extend(corners);
            normal
        }
        Core::Cylinder(r, h) => cylinder_feature(*r, *h, pose, d, out),
        Core::Hull(hull) => {
            let face = hull.support_face(d);
            for (v, edge) in hull.face_corners(face) {
                let p = pose.point(hull.vertices()[v]);
                out.push(Corner { p, vertex: v as u16, edge });
            }
            pose.R.mul(face.normal)
        }
    }
}

/// The face of a box that faces `d`, given in the box, and its outward normal. A vertex has a bit
/// for each axis on whose positive side it is.
#[inline(always)]
pub(crate) fn box_face(half: Vec3, pose: &Pose, d: Vec3) -> (Vec3, [Corner; 4]) {
    let [x, y, z] = d.abs().to_array();
    let axis = if x >= y && x >= z {
        0
    } else if y >= z {
        1
    } else {
        2
    };
    let is_up = d.to_array()[axis] >= 0.0;
    let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
    // the face's sides in this order are counter-clockwise
    let (u, v) = if is_up { (u, v) } else { (v, u) };
    let columns = pose.R.transpose();
    let [x, y, z] = half.to_array();
    let arms = [columns.x * x, columns.y * y, columns.z * z];
    let normal = [columns.x, columns.y, columns.z][axis];
    let (normal, arm, first) =
        if is_up { (normal, arms[axis], 1_u16 << axis) } else { (-normal, -arms[axis], 0) };
    let center = pose.p + arm;
    let (bit_u, bit_v) = (1_u16 << u, 1_u16 << v);
    let edge = |axis: usize, vertex: u16| 8 * axis as u16 + vertex;
    let corner = |p, vertex, edge| Corner { p, vertex, edge };
    let corners = [
        corner(center - arms[u] - arms[v], first, edge(u, first)),
        corner(center + arms[u] - arms[v], first | bit_u, edge(v, first | bit_u)),
        corner(center + arms[u] + arms[v], first | bit_u | bit_v, edge(u, first | bit_v)),
        corner(center - arms[u] + arms[v], first | bit_v, edge(v, first)),
    ];
    (normal, corners)
}

/// A cap as a polygon of 16 fixed points of the rim and the one that faces `d` most, or the line of
/// the side that faces `d`.
fn cylinder_feature(r: f64, h: f64, pose: &Pose, d: Vec3, out: &mut Vec<Corner>) -> Vec3 {
    let across = Vec3::new(d.x, d.y, 0.0);
    let sine = across.norm();
    let toward = across.unit_or(Vec3::ZERO);
    if d.z.abs() <= std::f64::consts::FRAC_1_SQRT_2 {
        for (z, vertex) in [(h, RIM), (-h, RIM + SECOND)] {
            let p = pose.point(Vec3::new(r * toward.x, r * toward.y, z));
            out.push(Corner { p, vertex, edge: 0 });
        }
        return pose.R.mul(toward);
    }
    let (z, first) = if d.z >= 0.0 { (h, 0) } else { (-h, SECOND) };
    let mut push = |x: f64, y: f64, vertex: u16| {
        let p = pose.point(Vec3::new(r * x, r * y, z));
        out.push(Corner { p, vertex: first + vertex, edge: first + vertex });
    };
    for k in 0..16 {
        let (at, next) = (rim(k), rim((k + 1) % 16));
        push(at.0, at.1, k as u16);
        let is_here =
            at.0 * toward.y - at.1 * toward.x >= 0.0 && toward.x * next.1 - toward.y * next.0 > 0.0;
        if is_here && sine > LEVEL * FLAT {
            let (mx, my) = (at.0 + next.0, at.1 + next.1);
            let chord = (mx * at.0 + my * at.1) / (mx * toward.x + my * toward.y);
            let share = smaller((sine / FLAT - LEVEL) / (1.0 - LEVEL), 1.0);
            let out_m = chord + (1.0 - chord) * share * share * (3.0 - 2.0 * share);
            push(out_m * toward.x, out_m * toward.y, RIM);
        }
    }
    if d.z < 0.0 {
        out.reverse();
        // an edge begins at the corner that was its end
        let count = out.len();
        let first_edge = out[0].edge;
        for k in 0..count {
            out[k].edge = if k + 1 < count { out[k + 1].edge } else { first_edge };
        }
    }
    pose.R.mul(if d.z >= 0.0 { Vec3::Z } else { -Vec3::Z })
}

/// Point `k` of 16 on the unit circle.
pub(crate) fn rim(k: usize) -> (f64, f64) {
    // cos and sin of 22.5° and 45°
    const C: f64 = 0.923_879_532_511_286_7;
    const S: f64 = 0.382_683_432_365_089_8;
    const H: f64 = std::f64::consts::FRAC_1_SQRT_2;
    let (x, y) = [(1.0, 0.0), (C, S), (H, H), (S, C)][k % 4];
    match k / 4 {
        0 => (x, y),
        1 => (-y, x),
        2 => (-x, -y),
        _ => (y, -x),
    }
}
