//! The convex hull of points as triangles, by inserting the farthest point first.
//!
//! Which triangles a point sees is decided in integers, without rounding, on a grid of 2⁻²⁴ of the
//! extent (60 nm for 1 m). So the surface stays closed and convex for any input: there is no case
//! of nearly coplanar points in which it could break.

use crate::hull::HULL_VERTICES_MAX;
use crate::vector::{Vec3, larger};

/// Steps of the grid from the centre to the farthest coordinate.
const GRID: f64 = 16_777_216.0;
/// Points less high over the surface than this part of the extent add nothing.
const FLAT: f64 = 1e-6;

/// A closed surface of triangles, counter-clockwise seen from outside.
#[derive(Debug)]
pub(crate) struct Triangles {
    pub(crate) vertices: Vec<Vec3>,
    pub(crate) triangles: Vec<[usize; 3]>,
    /// Largest coordinate, from the centre.
    pub(crate) extent_m: f64,
}

struct Point {
    p: Vec3,
    grid: [i64; 3],
}

struct Triangle {
    corners: [usize; 3],
    normal: Vec3,
    offset_m: f64,
    /// Points of the cloud that are above this triangle, with their heights.
    above: Vec<(usize, f64)>,
}

/// The hull with at most [`HULL_VERTICES_MAX`] vertices; `None` if all points are on one line.
pub(crate) fn triangles(cloud: &[Vec3]) -> Option<Triangles> {
    let (points, extent_m) = on_grid(cloud)?;
    let flat_m = FLAT * extent_m;
    let a = 0;
    let b = farthest(&points, |p| (p - points[a].p).norm(), flat_m)?;
    let along = (points[b].p - points[a].p).unit_or(Vec3::X);
    let c = farthest(&points, |p| along.cross(p - points[a].p).norm(), flat_m)?;
    let normal = along.cross(points[c].p - points[a].p).unit_or(Vec3::Z);
    let d = farthest(&points, |p| normal.dot(p - points[a].p).abs(), flat_m);
    let corners = match d {
        Some(d) if volume(&points, [a, b, c], d) != 0 => [a, b, c, d],
        _ => return Some(polygon(&points, normal, extent_m)),
    };
    let mut hull = Hull { points: &points, triangles: Vec::new(), flat_m, vertices: 4 };
    hull.start(corners);
    while hull.vertices < HULL_VERTICES_MAX && hull.insert_farthest() {}
    let triangles = hull.triangles.iter().map(|t| t.corners).collect();
    let vertices = points.iter().map(|p| p.p).collect();
    Some(Triangles { vertices, triangles, extent_m })
}

/// Sorted, so that the order of the input does not matter, and without duplicates.
fn on_grid(cloud: &[Vec3]) -> Option<(Vec<Point>, f64)> {
    let first = *cloud.first()?;
    let (mut low, mut high) = (first.to_array(), first.to_array());
    for p in cloud {
        for (k, c) in p.to_array().into_iter().enumerate() {
            low[k] = if c < low[k] { c } else { low[k] };
            high[k] = if c > high[k] { c } else { high[k] };
        }
    }
    let center = (Vec3::from(low) + Vec3::from(high)) * 0.5;
    let half = (Vec3::from(high) - Vec3::from(low)) * 0.5;
    let extent_m = larger(half.x, larger(half.y, half.z));
    if extent_m <= 0.0 {
        return None;
    }
    let grid = |p: Vec3| ((p - center) * (1.0 / extent_m)).to_array().map(|c| (c * GRID) as i64);
    let mut points: Vec<Point> = cloud.iter().map(|p| Point { p: *p, grid: grid(*p) }).collect();
    let key = |p: &Point| p.p.to_array();
    points.sort_unstable_by(|a, b| {
        let by = |k: usize| key(a)[k].total_cmp(&key(b)[k]);
        a.grid.cmp(&b.grid).then(by(0)).then(by(1)).then(by(2))
    });
    points.dedup_by(|a, b| a.grid == b.grid);
    Some((points, extent_m))
}

/// The point for which `measure` is largest and above `least`.
fn farthest(points: &[Point], measure: impl Fn(Vec3) -> f64, least: f64) -> Option<usize> {
    let mut best = (least, None);
    for (i, p) in points.iter().enumerate() {
        let m = measure(p.p);
        if m > best.0 {
            best = (m, Some(i));
        }
    }
    best.1
}

/// Six times the volume that a triangle spans with a point, on the grid: positive outside.
fn volume(points: &[Point], corners: [usize; 3], p: usize) -> i128 {
    let [a, b, c] = corners.map(|i| points[i].grid.map(i128::from));
    let q = points[p].grid.map(i128::from);
    let sub = |x: [i128; 3], y: [i128; 3]| [x[0] - y[0], x[1] - y[1], x[2] - y[2]];
    let (u, v, w) = (sub(b, a), sub(c, a), sub(q, a));
    (u[1] * v[2] - u[2] * v[1]) * w[0]
        + (u[2] * v[0] - u[0] * v[2]) * w[1]
        + (u[0] * v[1] - u[1] * v[0]) * w[2]
}

struct Hull<'a> {
    points: &'a [Point],
    triangles: Vec<Triangle>,
    flat_m: f64,
    vertices: usize,
}

impl Hull<'_> {
    fn start(&mut self, [a, b, c, d]: [usize; 4]) {
        // d below the triangle a b c
        let (b, c) = if volume(self.points, [a, b, c], d) > 0 { (c, b) } else { (b, c) };
        for corners in [[a, b, c], [a, c, d], [c, b, d], [b, a, d]] {
            self.triangles.push(self.triangle(corners));
        }
        let all: Vec<usize> = (0..self.points.len()).collect();
        self.assign(0, &all);
    }

    fn triangle(&self, corners: [usize; 3]) -> Triangle {
        let [a, b, c] = corners.map(|i| self.points[i].p);
        let normal = (b - a).cross(c - a).unit_or(Vec3::Z);
        Triangle { corners, normal, offset_m: normal.dot(a), above: Vec::new() }
    }

    /// Gives each of these points to the triangle, from `first` on, under which it is highest.
    fn assign(&mut self, first: usize, points: &[usize]) {
        for &i in points {
            let mut best = (self.flat_m, None);
            for (t, triangle) in self.triangles.iter().enumerate().skip(first) {
                let height = triangle.normal.dot(self.points[i].p) - triangle.offset_m;
                if height > best.0 {
                    best = (height, Some(t));
                }
            }
            if let (height, Some(t)) = best {
                self.triangles[t].above.push((i, height));
            }
        }
    }

    /// Makes the point that is farthest outside a vertex. False if none is outside.
    fn insert_farthest(&mut self) -> bool {
        let mut best = (0.0, None);
        for triangle in &self.triangles {
            for &(i, height) in &triangle.above {
                if height > best.0 {
                    best = (height, Some(i));
                }
            }
        }
        let Some(p) = best.1 else { return false };
        let (mut seen, mut kept) = (Vec::new(), Vec::new());
        for t in self.triangles.drain(..) {
            let is_seen = volume(self.points, t.corners, p) > 0;
            if is_seen { seen.push(t) } else { kept.push(t) }
        }
        for t in seen.iter_mut().chain(&mut kept) {
            t.above.retain(|(i, _)| *i != p);
        }
        self.triangles = kept;
        if seen.is_empty() {
            return true; // rounding: in truth it is not outside
        }
        let first = self.triangles.len();
        let edges = |t: &Triangle| {
            let [a, b, c] = t.corners;
            [(a, b), (b, c), (c, a)]
        };
        let all: Vec<(usize, usize)> = seen.iter().flat_map(edges).collect();
        for &(a, b) in all.iter().filter(|(a, b)| !all.contains(&(*b, *a))) {
            self.triangles.push(self.triangle([a, b, p]));
        }
        let orphans: Vec<usize> = seen.iter().flat_map(|t| &t.above).map(|(i, _)| *i).collect();
        self.assign(first, &orphans);
        self.vertices += 1;
        true
    }
}

/// The hull of points in one plane, as two fans that look opposite ways.
fn polygon(points: &[Point], normal: Vec3, extent_m: f64) -> Triangles {
    let x = normal.across();
    let y = normal.cross(x);
    let mut order: Vec<(f64, f64, usize)> = Vec::new();
    order.extend(points.iter().enumerate().map(|(i, p)| (x.dot(p.p), y.dot(p.p), i)));
    order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let turn = |a: &(f64, f64, usize), b: &(f64, f64, usize), c: &(f64, f64, usize)| {
        (b.0 - a.0) * (c.1 - a.1) - (b.1 - a.1) * (c.0 - a.0)
    };
    let least = FLAT * extent_m * extent_m;
    // Andrew's monotone chain, there and back
    let mut round: Vec<(f64, f64, usize)> = Vec::new();
    for pass in 0..2 {
        let start = round.len();
        for p in &order {
            while round.len() >= start + 2
                && turn(&round[round.len() - 2], &round[round.len() - 1], p) <= least
            {
                round.pop();
            }
            round.push(*p);
        }
        round.pop();
        if pass == 0 {
            order.reverse();
        }
    }
    while round.len() > HULL_VERTICES_MAX {
        let n = round.len();
        let area = |i: usize| turn(&round[(i + n - 1) % n], &round[i], &round[(i + 1) % n]);
        let least = (0..n).min_by(|a, b| area(*a).total_cmp(&area(*b))).unwrap_or(0);
        round.remove(least);
    }
    let ring: Vec<usize> = round.iter().map(|r| r.2).collect();
    let up = (2..ring.len()).map(|k| [ring[0], ring[k - 1], ring[k]]);
    let down = (2..ring.len()).map(|k| [ring[0], ring[k], ring[k - 1]]);
    let triangles = up.chain(down).collect();
    Triangles { vertices: points.iter().map(|p| p.p).collect(), triangles, extent_m }
}
