//! What the records of touching bodies have in common: poses, velocities, surfaces, wrenches.

use hardstand_physics::contact::{ContactForce, HalfSpace, Overlap};
use hardstand_physics::spatial::{Motion, Quaternion, Transform, Vec3};
use serde_json::Value;

use super::files::{get, num, quat, transform, vec3};
use super::report::Report;

/// A rigid body at one instant; the default rests in Ground's axes.
pub struct Body {
    pub X_GB: Transform,
    pub w_G: Vec3,
    pub v_G: Vec3,
}

impl Body {
    pub fn new(v: &Value) -> Self {
        Self::of(&quat(v, "quat_GB"), vec3(v, "p_GB"), vec3(v, "omega_G"), vec3(v, "v_G"))
    }

    pub fn of(q: &Quaternion, p: Vec3, w_G: Vec3, v_G: Vec3) -> Self {
        Self { X_GB: Transform::new(q.to_matrix(), p), w_G, v_G }
    }

    pub fn ground() -> Self {
        Self { X_GB: Transform::identity(), w_G: Vec3::zeros(), v_G: Vec3::zeros() }
    }

    /// Velocity of the body's point at `p` in Ground.
    pub fn velocity(&self, p: &Vec3) -> Vec3 {
        self.v_G + self.w_G.cross(&(p - self.X_GB.p))
    }

    /// Spatial velocity at Ground's origin.
    pub fn motion(&self) -> Motion {
        Motion::new(self.w_G, self.v_G - self.w_G.cross(&self.X_GB.p))
    }
}

/// The half-space of a record: `x > 0` of its frame H.
pub fn half_space(record: &Value) -> HalfSpace {
    let X_GH = transform(get(record, "X_GH"));
    HalfSpace { point: X_GH.p, normal: -X_GH.R.column(0) }
}

/// Two round surfaces of a record, with the keys of their materials; Ground comes first.
pub struct Pair<'a> {
    pub bodies: [Body; 2],
    pub overlap: Option<Overlap>,
    pub materials: [&'a Value; 2],
    /// Keys of the wrenches on the bodies in `out`, without what follows `_force_G`.
    pub wrenches: [&'static str; 2],
}

/// The pair of a `sphere_halfspace` or `sphere_sphere` record; `swapped` makes the second sphere
/// surface 1.
pub fn pair(r: &Value, swapped: bool) -> Pair<'_> {
    if r.get("X_GH").is_some() {
        let body = Body::new(get(r, "body"));
        let centre = body.X_GB.point(&vec3(r, "sphere_center_B"));
        let radius = num(r, "sphere_radius");
        return Pair {
            overlap: Overlap::sphere_on_half_space(&half_space(r), &centre, radius),
            bodies: [Body::ground(), body],
            materials: [get(r, "material_halfspace"), get(r, "material_sphere")],
            wrenches: ["ground", "sphere_body"],
        };
    }
    let [a, b] = [Body::new(get(r, "body1")), Body::new(get(r, "body2"))];
    let p = [a.X_GB.point(&vec3(r, "center1_B1")), b.X_GB.point(&vec3(r, "center2_B2"))];
    let radius = [num(r, "radius1"), num(r, "radius2")];
    let materials = [get(r, "material1"), get(r, "material2")];
    let (i, k) = if swapped { (1, 0) } else { (0, 1) };
    let names = ["body1", "body2"];
    Pair {
        overlap: Overlap::sphere_on_sphere(&p[i], radius[i], &p[k], radius[k]),
        bodies: if swapped { [b, a] } else { [a, b] },
        materials: [materials[i], materials[k]],
        wrenches: [names[i], names[k]],
    }
}

/// Positions of about 1 m are rounded, and a force has the relative error of its depth: below 1 µm
/// the tolerance grows by this factor.
pub fn rounding(depth_m: f64) -> f64 {
    (1e-6 / depth_m).max(1.0)
}

/// Wrench of a record on a body about `origin`, against the oracle's.
pub fn compare_wrench(
    contact: &ContactForce,
    origin: &Vec3,
    expected: &Value,
    scale: f64,
    at: &str,
    report: &mut Report,
) {
    let lever = (contact.point - origin).norm().max(1.0);
    let (moment, force) = (vec3(expected, "moment"), vec3(expected, "force"));
    report.vector("force on a body", &contact.force, &force, scale, 1e-9, at);
    let own = contact.moment_about(origin);
    report.vector("moment on a body", &own, &moment, scale * lever, 1e-9, at);
}

/// A value of a size of its own, such as an energy: relative to itself.
pub fn compare_relative(
    what: &'static str,
    own: f64,
    expected: f64,
    rounding: f64,
    at: &str,
    report: &mut Report,
) {
    report.number(what, own, expected, expected.abs().max(1e-12) * rounding, 1e-9, at);
}
