//! What a pair of shapes gives: a patch of weighted points.

use crate::vector::Vec3;

/// Points of a patch.
pub const POINTS_MAX: usize = 8;

/// One point of a contact patch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactPoint {
    /// Point of the surface of A, in the world, m.
    pub a_W: Vec3,
    /// Point of the surface of B, in the world, m. `a_W − b_W` is `−depth_m` times the normal.
    pub b_W: Vec3,
    /// How deep the shapes overlap here along the normal, m; negative for a gap.
    pub depth_m: f64,
    /// Share of this point in the patch: see [`Patch`].
    pub weight: f64,
    /// What touches what here; the same as long as the same features touch. No two points of a
    /// patch have the same.
    pub feature: u32,
}

impl ContactPoint {
    pub(crate) const NONE: Self =
        Self { a_W: Vec3::ZERO, b_W: Vec3::ZERO, depth_m: 0.0, weight: 0.0, feature: 0 };
}

/// The contact of two convex shapes: points with one normal.
///
/// The patch is the overlap of the faces that face each other, seen along the normal, as far as the
/// gap is within the margin. Its corners are the points.
///
/// The [`weight`](ContactPoint::weight) of a point is its share of the area of the patch, lumped to
/// the corners so that the weighted mean of the corners is the centroid of the patch. Where the gap
/// is more than half-way from the least gap to the margin, the share fades to 0 at the margin. Then
/// the shares are scaled to sum 1:
///
/// | what touches | points | weights |
/// | --- | --- | --- |
/// | face on face | 3 to 8, the corners of the overlap | of a rectangle 1/4 each |
/// | edge on face, capsule or cylinder along a face | 2 | 1/2 each |
/// | sphere, corner on face, crossing edges | 1 | 1 |
/// | capsule beside capsule | 1 to 3 | the ends 1/4 each if parallel, the middle 1 if crossing |
///
/// A law that multiplies its force by the weight has the same stiffness whatever touches, and its
/// force does not jump when points come and go: they do so at the margin, with weight 0. For this,
/// the deepest feature has to be at least as far below the margin as the law needs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Patch {
    /// Unit vector from B to A, in the world: the direction in which B pushes A.
    pub normal_W: Vec3,
    points: [ContactPoint; POINTS_MAX],
    count: usize,
}

impl Default for Patch {
    fn default() -> Self {
        Self::new()
    }
}

impl Patch {
    /// No contact.
    #[must_use]
    pub const fn new() -> Self {
        Self { normal_W: Vec3::Z, points: [ContactPoint::NONE; POINTS_MAX], count: 0 }
    }

    /// The points; none if the shapes are farther apart than the margin.
    #[must_use]
    pub fn points(&self) -> &[ContactPoint] {
        &self.points[..self.count]
    }

    /// The greatest depth, m; `−∞` without points.
    #[must_use]
    pub fn depth_m(&self) -> f64 {
        let mut most = f64::NEG_INFINITY;
        for point in self.points() {
            most = if point.depth_m > most { point.depth_m } else { most };
        }
        most
    }

    #[inline(always)]
    pub(crate) fn clear(&mut self) {
        self.count = 0;
    }

    /// Adds a point, unless there are [`POINTS_MAX`] already.
    #[inline(always)]
    pub(crate) fn push(&mut self, point: ContactPoint) {
        if let Some(free) = self.points.get_mut(self.count) {
            *free = point;
            self.count += 1;
        }
    }

    /// Turns shares of the area into weights.
    #[inline(always)]
    pub(crate) fn weigh(&mut self, margin_m: f64) {
        let points = &mut self.points[..self.count];
        let mut most_m = f64::NEG_INFINITY;
        for point in points.iter() {
            most_m = if point.depth_m > most_m { point.depth_m } else { most_m };
        }
        let half_of_range_m = 0.5 * (most_m + margin_m);
        let mut sum = 0.0;
        for point in points.iter_mut() {
            let below_m = point.depth_m + margin_m;
            point.weight *= fade(below_m, half_of_range_m);
            sum += point.weight;
        }
        let scale = 1.0 / sum;
        for point in points.iter_mut() {
            point.weight *= scale;
        }
    }

    /// The same contact with A and B exchanged.
    pub(crate) fn swap(&mut self) {
        self.normal_W = -self.normal_W;
        for point in &mut self.points[..self.count] {
            std::mem::swap(&mut point.a_W, &mut point.b_W);
            point.feature = swapped(point.feature);
        }
    }
}

/// How much of its weight a point keeps that is `below_m` below the margin: none at the margin, all
/// of it from half of the range to the deepest point on.
#[must_use]
pub fn fade(below_m: f64, half_of_range_m: f64) -> f64 {
    if below_m >= half_of_range_m {
        return 1.0;
    }
    let share = if below_m > 0.0 { below_m / half_of_range_m } else { 0.0 };
    share * share * (3.0 - 2.0 * share)
}

const KIND: u32 = 30;
const SIDE: u32 = 15;

/// A vertex of A on a face of B.
pub(crate) const fn vertex_of_a(v: u16) -> u32 {
    (v as u32) << SIDE
}

/// A vertex of B on a face of A.
pub(crate) const fn vertex_of_b(v: u16) -> u32 {
    1 << KIND | v as u32
}

/// An edge of A across an edge of B.
pub(crate) const fn edges(a: u16, b: u16) -> u32 {
    2 << KIND | (a as u32) << SIDE | b as u32
}

/// The nearest points, of which no feature is known.
pub(crate) const NEAREST: u32 = 3 << KIND;

fn swapped(feature: u32) -> u32 {
    let (kind, a, b) = (feature >> KIND, feature >> SIDE & 0x7fff, feature & 0x7fff);
    let kind = match kind {
        0 => 1,
        1 => 0,
        other => other,
    };
    kind << KIND | b << SIDE | a
}

/// For each new point the old one that it continues, if there is one: first those with the same
/// feature, then the nearest pairs, as far as `max_m` apart. Each old point is used once.
///
/// With it, a friction anchor stays with its point from step to step. The result does not depend
/// on anything but the points and their order.
///
/// ```
/// use hardstand_geometry::{Patch, Pose, Shape, Vec3, Workspace, contact, match_previous};
/// let (floor, crate_) = (Shape::plane(), Shape::cuboid([0.2, 0.2, 0.1], 0.0)?);
/// let (mut old, mut new, mut ws) = (Patch::new(), Patch::new(), Workspace::new());
/// let at = |x: f64| Pose::at(Vec3::new(x, 0.0, 0.049));
/// contact((&crate_, &at(0.0)), (&floor, &Pose::IDENTITY), 0.01, &mut ws, &mut old);
/// contact((&crate_, &at(1e-3)), (&floor, &Pose::IDENTITY), 0.01, &mut ws, &mut new);
/// let kept = match_previous(old.points(), new.points(), 0.01);
/// assert_eq!(kept[..4], [Some(0), Some(1), Some(2), Some(3)]);
/// # Ok::<(), hardstand_error::Error>(())
/// ```
#[must_use]
pub fn match_previous(
    old: &[ContactPoint],
    new: &[ContactPoint],
    max_m: f64,
) -> [Option<usize>; POINTS_MAX] {
    let (old, new) = (&old[..old.len().min(POINTS_MAX)], &new[..new.len().min(POINTS_MAX)]);
    let mut kept = [None; POINTS_MAX];
    let mut is_used = [false; POINTS_MAX];
    for (n, point) in new.iter().enumerate() {
        let same = |o: &usize| !is_used[*o] && old[*o].feature == point.feature;
        if let Some(o) = (0..old.len()).find(same) {
            (kept[n], is_used[o]) = (Some(o), true);
        }
    }
    loop {
        let mut best = (max_m * max_m, None);
        for (n, point) in new.iter().enumerate() {
            for (o, before) in old.iter().enumerate() {
                let far = (point.a_W - before.a_W).norm_squared();
                if kept[n].is_none() && !is_used[o] && (far < best.0 || is_first(far, &best)) {
                    best = (far, Some((n, o)));
                }
            }
        }
        let Some((n, o)) = best.1 else { return kept };
        (kept[n], is_used[o]) = (Some(o), true);
    }
}

/// The limit itself counts, as long as nothing is found.
fn is_first(far: f64, best: &(f64, Option<(usize, usize)>)) -> bool {
    best.1.is_none() && far <= best.0
}
