//! Contact of two shapes.

use crate::contact_point::{ContactPoint, NEAREST, Patch, vertex_of_b};
use crate::feature::box_face;
use crate::gjk::{Difference, Distance, gjk};
use crate::patch::{Body, Near, Workspace, fill};
use crate::sat::boxes;
use crate::segments::{Axis, along_axes, nearest_places};
use crate::shape::{Core, Shape};
use crate::vector::{Pose, Vec3, larger, limited, smaller};

/// The contact of shape A at `X_WA` with shape B at `X_WB`, where they are at most `margin_m`
/// apart. The result does not depend on what `ws` and `patch` held before.
///
/// Every input has an answer: shapes without extent, coincident centres, deep overlap. If a pose is
/// not finite, or both shapes are planes, there is no contact.
///
/// Exchanging A and B exchanges the points, if the shapes are of different kinds. Of two shapes of
/// one kind, A's sides and axes divide the patch where both could.
///
/// ```
/// use hardstand_geometry::{Patch, Pose, Shape, Vec3, Workspace, contact};
/// let (slab, beam) = (Shape::cuboid([1.0, 1.0, 0.1], 0.0)?, Shape::cuboid([0.2, 2.0, 0.1], 0.0)?);
/// let above = Pose::at(Vec3::new(0.0, 0.0, 0.099));
/// let (mut ws, mut patch) = (Workspace::new(), Patch::new());
/// contact((&slab, &above), (&beam, &Pose::IDENTITY), 0.0, &mut ws, &mut patch);
/// // no corner of the slab is near the beam: the patch is 0.2 m wide and 1 m long
/// let points = patch.points();
/// assert_eq!(points.len(), 4);
/// for p in points {
///     assert!((p.a_W.x.abs() - 0.1).abs() < 1e-9 && (p.a_W.y.abs() - 0.5).abs() < 1e-9);
///     assert!((p.depth_m - 1e-3).abs() < 1e-9);
///     assert!((p.weight - 0.25).abs() < 1e-9);
/// }
/// # Ok::<(), hardstand_error::Error>(())
/// ```
#[inline]
pub fn contact(
    (a, x_wa): (&Shape, &Pose),
    (b, x_wb): (&Shape, &Pose),
    margin_m: f64,
    ws: &mut Workspace,
    patch: &mut Patch,
) {
    patch.clear();
    let a = Body { core: &a.core, pose: x_wa, radius_m: a.radius_m };
    let b = Body { core: &b.core, pose: x_wb, radius_m: b.radius_m };
    if rank(a.core) <= rank(b.core) {
        ordered([a, b], margin_m, ws, patch);
    } else {
        ordered([b, a], margin_m, ws, patch);
        patch.swap();
    }
}

fn rank(core: &Core) -> u8 {
    match core {
        Core::Plane => 0,
        Core::Point => 1,
        Core::Segment(_) => 2,
        Core::Box(_) => 3,
        Core::Cylinder(..) => 4,
        Core::Hull(_) => 5,
    }
}

#[inline(always)]
fn ordered([a, b]: [Body<'_>; 2], margin_m: f64, ws: &mut Workspace, patch: &mut Patch) {
    match (a.core, b.core) {
        (Core::Plane, Core::Plane) => {}
        (Core::Plane, Core::Point) => plane_ball(&a, &b, margin_m, patch),
        (Core::Plane, Core::Box(half)) => plane_box([a, b], *half, margin_m, ws, patch),
        (Core::Plane, _) => plane_any([a, b], margin_m, ws, patch),
        (Core::Point, _) => ball_any([a, b], margin_m, patch),
        _ => solids([a, b], margin_m, ws, patch),
    }
}

#[inline(always)]
fn plane_ball(a: &Body<'_>, b: &Body<'_>, margin_m: f64, patch: &mut Patch) {
    let up = Vec3::new(a.pose.R.x.z, a.pose.R.y.z, a.pose.R.z.z);
    let height = up.dot(b.pose.p - a.pose.p);
    let gap_m = height - b.radius_m;
    if gap_m <= margin_m && height.is_finite() {
        patch.normal_W = -up;
        let b_W = b.pose.p - up * b.radius_m;
        let a_W = b_W - up * gap_m;
        patch.push(ContactPoint { a_W, b_W, depth_m: -gap_m, weight: 1.0, feature: NEAREST });
    }
}

/// The same as [`plane_any`], faster for a box that lies flat or stands on a corner.
fn plane_box(
    [a, b]: [Body<'_>; 2],
    half: Vec3,
    margin_m: f64,
    ws: &mut Workspace,
    patch: &mut Patch,
) {
    let up = Vec3::new(a.pose.R.x.z, a.pose.R.y.z, a.pose.R.z.z);
    let (_, corners) = box_face(half, b.pose, b.pose.R.tr_mul(-up));
    let gaps = corners.map(|c| up.dot(c.p - a.pose.p) - b.radius_m);
    let count = gaps.iter().filter(|g| **g <= margin_m).count();
    match count {
        0 => return,
        1 | 4 => {}
        _ => return plane_any([a, b], margin_m, ws, patch),
    };
    if smaller(half.x, smaller(half.y, half.z)) <= 0.0 {
        return plane_any([a, b], margin_m, ws, patch);
    }
    patch.normal_W = -up;
    for (corner, gap_m) in corners.iter().zip(gaps) {
        if gap_m <= margin_m {
            let b_W = corner.p - up * b.radius_m;
            let a_W = b_W - up * gap_m;
            let feature = vertex_of_b(corner.vertex);
            patch.push(ContactPoint { a_W, b_W, depth_m: -gap_m, weight: 0.25, feature });
        }
    }
    patch.weigh(margin_m);
}

fn plane_any([a, b]: [Body<'_>; 2], margin_m: f64, ws: &mut Workspace, patch: &mut Patch) {
    let up = Vec3::new(a.pose.R.x.z, a.pose.R.y.z, a.pose.R.z.z);
    let lowest = b.pose.point(b.core.support(b.pose.R.tr_mul(-up)));
    let gap_m = up.dot(lowest - a.pose.p);
    if gap_m - b.radius_m <= margin_m && gap_m.is_finite() {
        let near = Near { normal: -up, gap_m, a: lowest - up * gap_m };
        fill([a, b], &near, margin_m, ws, patch);
    }
}

/// A ball is a point with a radius: closed forms, and a search only for hulls.
fn ball_any([a, b]: [Body<'_>; 2], margin_m: f64, patch: &mut Patch) {
    let radii_m = a.radius_m + b.radius_m;
    let p = b.pose.point_inverse(a.pose.p);
    let (n, gap_m) = match b.core {
        Core::Point | Core::Plane => from_point(p, Vec3::ZERO, Vec3::Z),
        Core::Segment(h) => from_point(p, Vec3::new(0.0, 0.0, limited(p.z, -*h, *h)), Vec3::X),
        Core::Box(half) => from_box(p, *half),
        Core::Cylinder(r, h) => from_cylinder(p, *r, *h),
        Core::Hull(hull) => {
            let (face, height) = hull.deepest_face(p);
            if height > margin_m + radii_m {
                return;
            }
            let tiny = 1e-11 * hull.extent_m();
            if height <= tiny {
                (face.normal, height)
            } else {
                match gjk(&Core::Point, b.core, &Pose::at(-p), margin_m + radii_m) {
                    Distance::Far => return,
                    Distance::Apart(d) => (d.normal, d.distance_m),
                    Distance::Overlap(_) => (face.normal, height),
                }
            }
        }
    };
    let total_m = gap_m - radii_m;
    if total_m <= margin_m && total_m.is_finite() {
        let normal = b.pose.R.mul(n);
        let a_W = a.pose.p - normal * a.radius_m;
        let b_W = a_W - normal * total_m;
        patch.normal_W = normal;
        patch.push(ContactPoint { a_W, b_W, depth_m: -total_m, weight: 1.0, feature: NEAREST });
    }
}

/// From the nearest point `q` to `p`; along `other` if they coincide.
#[inline(always)]
fn from_point(p: Vec3, q: Vec3, other: Vec3) -> (Vec3, f64) {
    let d = p - q;
    let n = d.unit_or(other);
    (n, n.dot(d))
}

fn from_box(p: Vec3, half: Vec3) -> (Vec3, f64) {
    let over = p.abs() - half;
    if over.x > 0.0 || over.y > 0.0 || over.z > 0.0 {
        let q = Vec3::new(
            limited(p.x, -half.x, half.x),
            limited(p.y, -half.y, half.y),
            limited(p.z, -half.z, half.z),
        );
        return from_point(p, q, Vec3::Z);
    }
    // out through the nearest face, the first of equals
    let (axis, height) = if over.x >= over.y && over.x >= over.z {
        (Vec3::new(if p.x < 0.0 { -1.0 } else { 1.0 }, 0.0, 0.0), over.x)
    } else if over.y >= over.z {
        (Vec3::new(0.0, if p.y < 0.0 { -1.0 } else { 1.0 }, 0.0), over.y)
    } else {
        (Vec3::new(0.0, 0.0, if p.z < 0.0 { -1.0 } else { 1.0 }), over.z)
    };
    (axis, height)
}

fn from_cylinder(p: Vec3, r: f64, h: f64) -> (Vec3, f64) {
    let across = Vec3::new(p.x, p.y, 0.0);
    let outward = across.unit_or(Vec3::X);
    let along = outward.dot(across);
    let (over_r, over_h) = (along - r, p.z.abs() - h);
    if over_r > 0.0 || over_h > 0.0 {
        let q = outward * (if along > r { r } else { along });
        return from_point(p, Vec3::new(q.x, q.y, limited(p.z, -h, h)), outward);
    }
    if over_r >= over_h {
        (outward, over_r)
    } else {
        (Vec3::new(0.0, 0.0, if p.z < 0.0 { -1.0 } else { 1.0 }), over_h)
    }
}

/// Two cores with an extent.
fn solids([a, b]: [Body<'_>; 2], margin_m: f64, ws: &mut Workspace, patch: &mut Patch) {
    if !(a.pose.is_finite() && b.pose.is_finite()) {
        return;
    }
    let reach_m = margin_m + a.radius_m + b.radius_m;
    match (a.core, b.core) {
        (Core::Segment(ha), Core::Segment(hb)) => capsules([(&a, *ha), (&b, *hb)], margin_m, patch),
        (Core::Segment(_) | Core::Box(_), Core::Box(half_b)) => {
            let half_a = match a.core {
                Core::Box(half) => *half,
                Core::Segment(h) => Vec3::new(0.0, 0.0, *h),
                _ => Vec3::ZERO,
            };
            let Some(axis) = boxes((half_a, a.pose), (*half_b, b.pose), reach_m) else { return };
            let on_a = a.pose.point(a.core.support(a.pose.R.tr_mul(-axis.normal)));
            let near = Near { normal: axis.normal, gap_m: axis.gap_m, a: on_a };
            let is_found = fill([a, b], &near, margin_m, ws, patch);
            if !is_found && axis.gap_m > 0.0 {
                // nearest at corners or edges: the axis gives only a bound
                search([a, b], reach_m, margin_m, ws, patch);
            }
        }
        _ => search([a, b], reach_m, margin_m, ws, patch),
    }
}

fn capsules([(a, half_a), (b, half_b)]: [(&Body<'_>, f64); 2], margin_m: f64, patch: &mut Patch) {
    let axis = |body: &Body<'_>, h: f64| Axis {
        center: body.pose.p,
        half: body.pose.R.mul(Vec3::new(0.0, 0.0, h)),
        radius_m: body.radius_m,
    };
    let (a, b) = (axis(a, half_a), axis(b, half_b));
    let (s, t) = nearest_places(&a, &b);
    let (on_a, on_b) = (a.center + a.half * s, b.center + b.half * t);
    // crossing axes part across both
    let other = a.half.cross(b.half).unit_or(a.half.unit_or(Vec3::Z).across());
    let from = on_a - on_b;
    let size = larger(a.half.norm(), b.half.norm());
    let n = if from.norm() > 1e-12 * size { from.unit_or(other) } else { other };
    patch.normal_W = n;
    along_axes([&a, &b], n, margin_m, patch);
    patch.weigh(margin_m);
}

/// Nearest points by search: distance if the cores are apart, depth if they overlap.
fn search(
    [a, b]: [Body<'_>; 2],
    reach_m: f64,
    margin_m: f64,
    ws: &mut Workspace,
    patch: &mut Patch,
) {
    patch.clear();
    let x_ab = a.pose.inverse_compose(b.pose);
    let (normal, gap_m, on_a) = match gjk(a.core, b.core, &x_ab, reach_m) {
        Distance::Far => return,
        Distance::Apart(d) => (d.normal, d.distance_m, d.a),
        Distance::Overlap(simplex) => {
            let difference = Difference { a: a.core, b: b.core, x_ab: &x_ab };
            let d = ws.polytope.depth(&difference, &simplex);
            (d.normal, -d.depth_m, d.a)
        }
    };
    let near = Near { normal: a.pose.R.mul(normal), gap_m, a: a.pose.point(on_a) };
    fill([a, b], &near, margin_m, ws, patch);
}
