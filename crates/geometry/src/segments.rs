//! Contact along two axes: of capsules, and of cylinders side by side.

use crate::contact_point::{ContactPoint, NEAREST, Patch, vertex_of_a, vertex_of_b};
use crate::vector::{Vec3, larger, limited, smaller};

/// All points within `radius_m` of the segment `center ± half`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Axis {
    pub(crate) center: Vec3,
    pub(crate) half: Vec3,
    pub(crate) radius_m: f64,
}

impl Axis {
    fn at(&self, s: f64) -> Vec3 {
        self.center + self.half * s
    }

    /// Place of the nearest point on the axis, −1 to 1.
    pub(crate) fn nearest(&self, p: Vec3) -> f64 {
        let square = self.half.norm_squared();
        if square > 0.0 { limited(self.half.dot(p - self.center) / square, -1.0, 1.0) } else { 0.0 }
    }
}

/// Places of the nearest points of two axes, −1 to 1 on each (Ericson, 5.1.9). Of parallel axes,
/// one pair of the nearest.
pub(crate) fn nearest_places(a: &Axis, b: &Axis) -> (f64, f64) {
    let from = a.center - b.center;
    let (aa, bb, ab) = (a.half.norm_squared(), b.half.norm_squared(), a.half.dot(b.half));
    let (fa, fb) = (a.half.dot(from), b.half.dot(from));
    let determinant = aa * bb - ab * ab;
    let place =
        |on: f64, square: f64| if square > 0.0 { limited(on / square, -1.0, 1.0) } else { 0.0 };
    let s = if determinant > 1e-14 * aa * bb {
        limited((ab * fb - fa * bb) / determinant, -1.0, 1.0)
    } else {
        0.0
    };
    let t = place(ab * s + fb, bb);
    let s = place(ab * t - fa, aa);
    (s, place(ab * s + fb, bb))
}

/// The patch of two axes with the normal `n` from B to A: the nearest point, and the ends of the
/// stretch along which the axes lie side by side, if the gap there is within the margin.
pub(crate) fn along_axes([a, b]: [&Axis; 2], n: Vec3, margin_m: f64, patch: &mut Patch) {
    let (s, t) = nearest_places(a, b);
    let radii_m = a.radius_m + b.radius_m;
    let least_m = (a.at(s) - b.at(t)).norm();
    if least_m - radii_m > margin_m {
        return;
    }
    let length_a = a.half.norm();
    // the part of A beside B, −1 to 1
    let (p, q) = (a.nearest(b.at(-1.0)), a.nearest(b.at(1.0)));
    let (low, high) = (smaller(smaller(p, q), s), larger(larger(p, q), s));
    let whole = high - low;
    // how far along A the distance stays within the margin
    let b_unit = b.half.unit_or(Vec3::ZERO);
    let sine = a.half.unit_or(Vec3::ZERO).cross(b_unit).norm();
    let most_m = radii_m + margin_m;
    let square = larger(most_m * most_m - least_m * least_m, 0.0);
    let reach = square.sqrt() / larger(sine * length_a, 1e-300);
    let (from, to) = (larger(low, s - reach), smaller(high, s + reach));
    let push = |place: f64, weight: f64, feature: u32, patch: &mut Patch| {
        let on_a = a.at(place);
        let gap_m = (on_a - b.at(b.nearest(on_a))).norm() - radii_m;
        let a_W = on_a - n * a.radius_m;
        let b_W = a_W - n * gap_m;
        patch.push(ContactPoint { a_W, b_W, depth_m: -gap_m, weight, feature });
    };
    if whole * length_a <= 1e-9 {
        return push(s, 1.0, NEAREST, patch);
    }
    // half of the stretch on either side of the nearest point goes to that point: so the weighted
    // mean is the middle of the stretch, wherever the nearest point of parallel axes is
    let share = 0.5 / (to - from);
    if from <= low && s > low {
        push(low, (s - from) * share, end_feature(low, -1.0, p <= q), patch);
    }
    push(s, 0.5, NEAREST, patch);
    if to >= high && s < high {
        push(high, (to - s) * share, end_feature(high, 1.0, p > q), patch);
    }
}

/// Whose end it is: A's at the end of its axis, otherwise B's.
fn end_feature(place: f64, end: f64, is_first: bool) -> u32 {
    if place == end {
        vertex_of_a(if end > 0.0 { 1 } else { 0 })
    } else {
        vertex_of_b(u16::from(!is_first))
    }
}
