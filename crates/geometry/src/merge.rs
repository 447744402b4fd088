//! Triangles of a hull that lie in one plane, as polygons.

use crate::vector::{Vec3, larger};

/// The polygons of a closed convex surface: triangles whose corners are all within `flat_m` of a
/// plane are one. Only corners where three polygons meet are kept: the others lie on an edge or in
/// a face. For a flat surface these are the corners of both polygons.
pub(crate) fn merged_faces(
    vertices: &[Vec3],
    triangles: &[[usize; 3]],
    flat_m: f64,
) -> Vec<Vec<usize>> {
    let region = regions(vertices, triangles, flat_m);
    let count = region.iter().copied().max().map_or(0, |r| r + 1);
    let mut around: Vec<Vec<usize>> = vec![Vec::new(); vertices.len()];
    for (triangle, r) in triangles.iter().zip(&region) {
        for &v in triangle {
            if !around[v].contains(r) {
                around[v].push(*r);
            }
        }
    }
    let least = if count == 2 { 2 } else { 3 };
    let mut polygons = Vec::new();
    for r in 0..count {
        let own = triangles.iter().zip(&region).filter(|(_, of)| **of == r).map(|(t, _)| t);
        let mut corners: Vec<usize> = Vec::new();
        let mut normal = Vec3::ZERO;
        for triangle in own {
            normal += across(vertices, triangle);
            corners.extend(triangle);
        }
        corners.sort_unstable();
        corners.dedup();
        corners.retain(|v| around[*v].len() >= least);
        if corners.len() >= 3 {
            polygons.push(in_order(vertices, &corners, normal.unit_or(Vec3::Z)));
        }
    }
    polygons
}

/// The corners of a convex polygon, counter-clockwise about `normal`.
fn in_order(vertices: &[Vec3], corners: &[usize], normal: Vec3) -> Vec<usize> {
    let sum = corners.iter().fold(Vec3::ZERO, |s, v| s + vertices[*v]);
    let middle = sum * (1.0 / corners.len() as f64);
    let x = normal.across();
    let y = normal.cross(x);
    // grows with the angle from x, from 0 to 4
    let angle = |v: usize| {
        let (c, s) = (x.dot(vertices[v] - middle), y.dot(vertices[v] - middle));
        let part = c / larger(c.abs() + s.abs(), 1e-300);
        if s >= 0.0 { 1.0 - part } else { 3.0 + part }
    };
    let mut order: Vec<(f64, usize)> = corners.iter().map(|v| (angle(*v), *v)).collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    order.into_iter().map(|(_, v)| v).collect()
}

/// Normal of a triangle, twice its area long.
fn across(vertices: &[Vec3], triangle: &[usize; 3]) -> Vec3 {
    let [a, b, c] = triangle.map(|i| vertices[i]);
    (b - a).cross(c - a)
}

/// The number of the region of each triangle. Regions grow from the largest triangles.
fn regions(vertices: &[Vec3], triangles: &[[usize; 3]], flat_m: f64) -> Vec<usize> {
    let normal = |t: &[usize; 3]| across(vertices, t);
    let mut order: Vec<usize> = (0..triangles.len()).collect();
    let area = |t: usize| normal(&triangles[t]).norm_squared();
    order.sort_by(|a, b| area(*b).total_cmp(&area(*a)));
    let mut region = vec![usize::MAX; triangles.len()];
    let mut count = 0;
    for seed in order {
        if region[seed] != usize::MAX {
            continue;
        }
        let n = normal(&triangles[seed]).unit_or(Vec3::Z);
        let at = vertices[triangles[seed][0]];
        let in_plane = |t: &[usize; 3]| {
            t.iter().all(|v| n.dot(vertices[*v] - at).abs() <= flat_m) && normal(t).dot(n) >= 0.0
        };
        region[seed] = count;
        let mut open = vec![seed];
        while let Some(t) = open.pop() {
            for (i, other) in triangles.iter().enumerate() {
                let is_free = region[i] == usize::MAX;
                if is_free && share_edge(&triangles[t], other) && in_plane(other) {
                    region[i] = count;
                    open.push(i);
                }
            }
        }
        count += 1;
    }
    region
}

fn edges([a, b, c]: [usize; 3]) -> [(usize, usize); 3] {
    [(a, b), (b, c), (c, a)]
}

fn share_edge(t: &[usize; 3], other: &[usize; 3]) -> bool {
    edges(*t).iter().any(|(a, b)| edges(*other).contains(&(*b, *a)))
}
