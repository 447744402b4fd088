//! Hulls of points and what is left out of them.

use hardstand_geometry::{HULL_VERTICES_MAX, Hull, Vec3};

use crate::common::{Random, box_hull};

/// Closed by Euler's formula, convex, outward, with all points inside up to the shrinkage.
fn assert_hull(hull: &Hull, points: &[Vec3], what: &str) {
    let (v, e, f) = (hull.vertices().len(), hull.edge_count(), hull.face_count());
    assert_eq!(v + f, e + 2, "{what}: {v} vertices, {e} edges, {f} faces");
    assert!(v <= HULL_VERTICES_MAX, "{what}: {v} vertices");
    let size = points.iter().map(|p| p.norm()).fold(0.0, f64::max);
    for i in 0..f {
        let face = hull.face(i);
        let n = face.iter().enumerate().fold(Vec3::ZERO, |sum, (k, p)| {
            sum + (*p - face[0]).cross(face[(k + 1) % face.len()] - face[0])
        });
        let n = n * (1.0 / n.norm());
        for p in hull.vertices() {
            let height = n.dot(*p - face[0]);
            assert!(height <= 5e-6 * size, "{what}: a vertex is {height} over face {i}");
        }
        for p in points {
            let height = n.dot(*p - face[0]);
            let allowed = hull.shrink_m() + 5e-6 * size;
            assert!(height <= allowed, "{what}: a point is {height} over face {i}");
        }
    }
}

#[test]
fn clouds_have_closed_convex_hulls() {
    let mut random = Random::new(41);
    for case in 0..200 {
        let count = 4 + random.index(200);
        let scale = Vec3::new(1.0, random.between(1e-3, 1.0), random.between(1e-3, 1.0));
        let is_shell = case % 2 == 0;
        let mut points = Vec::new();
        for _ in 0..count {
            let p = if is_shell { random.direction() } else { random.in_ball() };
            points.push(Vec3::new(p.x * scale.x, p.y * scale.y, p.z * scale.z));
        }
        let hull = Hull::from_points(&points).unwrap();
        assert_hull(&hull, &points, &format!("cloud {case} of {count}"));
        if hull.vertices().len() < HULL_VERTICES_MAX {
            assert!(hull.shrink_m() <= 4e-6, "cloud {case}: {}", hull.shrink_m());
        }
    }
}

#[test]
fn a_sphere_with_many_points_loses_little_and_says_how_much() {
    let mut random = Random::new(42);
    let points: Vec<Vec3> = (0..20_000).map(|_| random.direction() * 0.1).collect();
    let hull = Hull::from_points(&points).unwrap();
    assert_hull(&hull, &points, "sphere");
    assert_eq!(hull.vertices().len(), HULL_VERTICES_MAX);
    // 64 points cover a sphere with caps of about 0.25 rad: 1 − cos 0.25 = 3 %
    assert!(hull.shrink_m() < 0.06 * 0.1, "{}", hull.shrink_m());
    let farthest = points.iter().map(|p| distance_below(&hull, *p)).fold(0.0, f64::max);
    assert!(hull.shrink_m() >= farthest - 1e-9, "{} but {farthest}", hull.shrink_m());
}

/// A lower bound of the distance from a point to the hull: over the highest plane.
fn distance_below(hull: &Hull, p: Vec3) -> f64 {
    let over = |i: usize| {
        let face = hull.face(i);
        let n = (face[1] - face[0]).cross(face[2] - face[0]);
        n.dot(p - face[0]) / n.norm()
    };
    (0..hull.face_count()).map(over).fold(f64::NEG_INFINITY, f64::max)
}

#[test]
fn a_cube_of_many_triangles_is_a_cube_however_it_is_turned() {
    let mut random = Random::new(43);
    for case in 0..50 {
        let (R, n) = (random.rotation(), 1 + random.index(8));
        let mut points = Vec::new();
        for i in 0..=n {
            for j in 0..=n {
                let (u, v) = (i as f64 / n as f64 - 0.5, j as f64 / n as f64 - 0.5);
                for side in [-0.5, 0.5] {
                    points.extend([
                        Vec3::new(u, v, side),
                        Vec3::new(side, u, v),
                        Vec3::new(v, side, u),
                    ]);
                }
            }
        }
        // as a file in single precision holds them
        let single = |p: Vec3| {
            let [x, y, z] = (R.mul(p) * 0.3).to_array().map(|c| f64::from(c as f32));
            Vec3::new(x, y, z)
        };
        let points: Vec<Vec3> = points.into_iter().map(single).collect();
        let hull = Hull::from_points(&points).unwrap();
        assert_hull(&hull, &points, &format!("cube {case}"));
        assert_eq!((hull.vertices().len(), hull.face_count()), (8, 6), "cube {case}, {n}");
        assert!(hull.shrink_m() < 1e-7, "cube {case}: {}", hull.shrink_m());
    }
}

#[test]
fn the_order_of_the_points_and_duplicates_do_not_matter() {
    let mut random = Random::new(44);
    let points: Vec<Vec3> = (0..100).map(|_| random.in_ball()).collect();
    let hull = Hull::from_points(&points).unwrap();
    let mut other: Vec<Vec3> = points.iter().rev().copied().collect();
    other.extend(&points[..50]);
    assert_eq!(hull, Hull::from_points(&other).unwrap());
}

#[test]
fn flat_points_make_a_polygon_and_a_line_is_refused() {
    let mut random = Random::new(45);
    let (R, count) = (random.rotation(), 300);
    let disc = |k: usize| {
        let angle = k as f64 / count as f64 * std::f64::consts::TAU;
        R.mul(Vec3::new(angle.cos(), angle.sin(), 0.0))
    };
    let points: Vec<Vec3> = (0..count).map(disc).collect();
    let hull = Hull::from_points(&points).unwrap();
    assert_hull(&hull, &points, "disc");
    assert_eq!((hull.vertices().len(), hull.face_count()), (HULL_VERTICES_MAX, 2));
    let square = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::new(1.0, 1.0, 0.0), Vec3::new(0.5, 0.0, 0.0)];
    assert_eq!(Hull::from_points(&square).unwrap().vertices().len(), 4);
    for line in [&[][..], &[Vec3::X; 5], &[Vec3::ZERO, Vec3::X, Vec3::X * 2.0]] {
        let error = Hull::from_points(line).unwrap_err();
        assert!(error.to_string().contains("on one line"), "{error}");
    }
    let error = Hull::from_points(&[Vec3::ZERO, Vec3::X * f64::NAN, Vec3::Y]).unwrap_err();
    assert!(error.to_string().contains("NaN"), "{error}");
}

#[test]
fn a_box_of_corners_has_six_faces() {
    let hull = box_hull([0.1, 0.2, 0.3]);
    assert_eq!((hull.vertices().len(), hull.edge_count(), hull.face_count()), (8, 12, 6));
    assert_eq!(hull.shrink_m(), 0.0);
}
