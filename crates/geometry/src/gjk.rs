//! Distance between convex cores: Gilbert, Johnson & Keerthi (1988), with the closest points of a
//! simplex by Voronoi regions (Ericson, Real-Time Collision Detection, 5.1).

use crate::shape::Core;
use crate::vector::{Pose, Vec3};

/// Polytopes need fewer than 20 steps; a round rim converges to the tolerance in as many again.
const STEPS: usize = 64;
/// Relative distance between the bounds of the squared distance at which the search ends.
const CLOSE: f64 = 1e-11;
/// Sine of the angle between a side and an edge of a tetrahedron below which it has no volume.
const FLAT: f64 = 1e-9;

/// A point of the difference of two cores, `a − b`, in A's frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Vertex {
    pub(crate) w: Vec3,
    pub(crate) a: Vec3,
}

/// Up to four points of the difference.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Simplex {
    pub(crate) v: [Vertex; 4],
    pub(crate) count: usize,
}

/// The nearest point of core A to a core B apart from it, in A's frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Apart {
    /// Unit vector from B to A.
    pub(crate) normal: Vec3,
    pub(crate) distance_m: f64,
    pub(crate) a: Vec3,
}

/// Result of [`gjk`].
#[derive(Clone, Copy, Debug)]
pub(crate) enum Distance {
    /// Farther than asked for.
    Far,
    Apart(Apart),
    /// They share a point, or are so close that rounding decides.
    Overlap(Simplex),
}

/// The difference of two cores.
#[derive(Clone, Copy)]
pub(crate) struct Difference<'a> {
    pub(crate) a: &'a Core,
    pub(crate) b: &'a Core,
    pub(crate) x_ab: &'a Pose,
}

impl Difference<'_> {
    /// Its farthest point along `d`.
    #[inline(always)]
    pub(crate) fn support(&self, d: Vec3) -> Vertex {
        let a = self.a.support(d);
        let b = self.x_ab.point(self.b.support(self.x_ab.R.tr_mul(-d)));
        Vertex { w: a - b, a }
    }

    /// Lengths below this are rounding errors, m.
    pub(crate) fn tiny_m(&self) -> f64 {
        1e-11 * (self.a.extent() + self.b.extent() + 1e-3)
    }
}

/// Distance of two cores, B at `x_ab` in A's frame, as far as it is at most `max_m`.
pub(crate) fn gjk(a: &Core, b: &Core, x_ab: &Pose, max_m: f64) -> Distance {
    let difference = Difference { a, b, x_ab };
    let tiny_m = difference.tiny_m();
    let from = a.center() - x_ab.point(b.center());
    let first = difference.support((-from).unit_or(Vec3::X));
    let mut simplex = Simplex { v: [first; 4], count: 1 };
    let mut v = first.w;
    let mut square = v.norm_squared();
    let mut weights = [1.0, 0.0, 0.0, 0.0];
    for _ in 0..STEPS {
        if square.is_nan() || square <= tiny_m * tiny_m {
            return Distance::Overlap(simplex);
        }
        let next = difference.support(-v);
        let along = v.dot(next.w);
        if along > 0.0 && along * along > max_m * max_m * square {
            return Distance::Far;
        }
        let is_known = simplex.v[..simplex.count].iter().any(|o| o.w == next.w);
        if is_known || square - along <= CLOSE * square {
            break;
        }
        simplex.v[simplex.count] = next;
        simplex.count += 1;
        let Some(found) = nearest(&simplex.v.map(|v| v.w), simplex.count) else {
            return Distance::Overlap(simplex);
        };
        let less = found.near.norm_squared();
        if less >= square {
            simplex.count -= 1; // as near as rounding lets it come
            break;
        }
        (v, square) = (found.near, less);
        let mut count = 0;
        for i in 0..simplex.count {
            if found.parts[i] > 0.0 {
                simplex.v[count] = simplex.v[i];
                weights[count] = found.parts[i];
                count += 1;
            }
        }
        simplex.count = count;
    }
    let normal = normal_of(&simplex, v);
    let distance_m = normal.dot(v);
    if distance_m > max_m {
        return Distance::Far;
    }
    let mut on_a = Vec3::ZERO;
    for (vertex, share) in simplex.v.iter().zip(weights).take(simplex.count) {
        on_a += vertex.a * share;
    }
    Distance::Apart(Apart { normal, distance_m, a: on_a })
}

/// The direction of `v`, which is nearest to the origin on the simplex: across a triangle, which is
/// exact however short `v` is.
fn normal_of(simplex: &Simplex, v: Vec3) -> Vec3 {
    let normal = v.unit_or(Vec3::Z);
    if simplex.count != 3 {
        return normal;
    }
    let [o, p, q, _] = simplex.v.map(|s| s.w);
    let across = (p - o).cross(q - o).unit_or(normal);
    let same = across.dot(normal);
    if same > 0.99 {
        across
    } else if same < -0.99 {
        -across
    } else {
        normal
    }
}

/// The point of a simplex nearest to the origin.
#[derive(Clone, Copy)]
struct Nearest {
    near: Vec3,
    /// Weights of the vertices that span it; a vertex with weight 0 is not needed.
    parts: [f64; 4],
}

impl Nearest {
    #[inline(always)]
    fn corner(w: &[Vec3; 4], i: usize) -> Self {
        let mut parts = [0.0; 4];
        parts[i] = 1.0;
        Self { near: w[i], parts }
    }

    #[inline(always)]
    fn edge(w: &[Vec3; 4], i: usize, j: usize, share: f64) -> Self {
        let mut parts = [0.0; 4];
        (parts[i], parts[j]) = (1.0 - share, share);
        Self { near: w[i] * (1.0 - share) + w[j] * share, parts }
    }
}

/// `None` if the origin is inside a tetrahedron.
#[inline(always)]
fn nearest(w: &[Vec3; 4], count: usize) -> Option<Nearest> {
    match count {
        1 => Some(Nearest::corner(w, 0)),
        2 => Some(of_segment(w)),
        3 => Some(of_triangle(w, [0, 1, 2])),
        _ => of_tetrahedron(w),
    }
}

#[inline(always)]
fn of_segment(w: &[Vec3; 4]) -> Nearest {
    let (a, b) = (w[0], w[1]);
    let ab = b - a;
    let (along, whole) = (-a.dot(ab), ab.norm_squared());
    if along <= 0.0 {
        Nearest::corner(w, 0)
    } else if along >= whole {
        Nearest::corner(w, 1)
    } else {
        Nearest::edge(w, 0, 1, along / whole)
    }
}

#[inline(always)]
fn of_triangle(w: &[Vec3; 4], [i, j, k]: [usize; 3]) -> Nearest {
    let (a, b, c) = (w[i], w[j], w[k]);
    let (ab, ac) = (b - a, c - a);
    let (d1, d2) = (-ab.dot(a), -ac.dot(a));
    if d1 <= 0.0 && d2 <= 0.0 {
        return Nearest::corner(w, i);
    }
    let (d3, d4) = (-ab.dot(b), -ac.dot(b));
    if d3 >= 0.0 && d4 <= d3 {
        return Nearest::corner(w, j);
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 && d1 > d3 {
        return Nearest::edge(w, i, j, d1 / (d1 - d3));
    }
    let (d5, d6) = (-ab.dot(c), -ac.dot(c));
    if d6 >= 0.0 && d5 <= d6 {
        return Nearest::corner(w, k);
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 && d2 > d6 {
        return Nearest::edge(w, i, k, d2 / (d2 - d6));
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 >= d3 && d5 >= d6 && (d4 - d3) + (d5 - d6) > 0.0 {
        return Nearest::edge(w, j, k, (d4 - d3) / ((d4 - d3) + (d5 - d6)));
    }
    let sum = va + vb + vc;
    if sum <= 0.0 {
        return Nearest::corner(w, i); // no area
    }
    // across the triangle, not as a sum of its corners: that would lose the digits of a short way
    let n = ab.cross(ac);
    let near = n * (n.dot(a) / n.norm_squared());
    let mut parts = [0.0; 4];
    (parts[j], parts[k]) = (vb / sum, vc / sum);
    parts[i] = 1.0 - parts[j] - parts[k];
    Nearest { near, parts }
}

fn of_tetrahedron(w: &[Vec3; 4]) -> Option<Nearest> {
    const SIDES: [([usize; 3], usize); 4] =
        [([0, 1, 2], 3), ([0, 2, 3], 1), ([0, 3, 1], 2), ([1, 3, 2], 0)];
    let mut best: Option<(f64, Nearest)> = None;
    for (side, opposite) in SIDES {
        let [a, b, c] = side.map(|i| w[i]);
        let n = (b - a).cross(c - a);
        let up = w[opposite] - a;
        let (inner, outer) = (n.dot(up), -n.dot(a));
        // of a flat tetrahedron rounding decides which side is the inner one, so every side counts
        let is_flat = inner * inner <= FLAT * FLAT * n.norm_squared() * up.norm_squared();
        if inner * outer > 0.0 && !is_flat {
            continue; // the origin is on the inner side
        }
        let found = of_triangle(w, side);
        let square = found.near.norm_squared();
        if best.as_ref().is_none_or(|(least, _)| square < *least) {
            best = Some((square, found));
        }
    }
    best.map(|(_, found)| found)
}
