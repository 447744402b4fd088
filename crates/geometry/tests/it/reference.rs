//! Depth and distance against a slow reference: all faces and all pairs of edges.

use std::sync::Arc;

use hardstand_geometry::{Hull, Pose, Shape, Vec3};

use crate::common::{Random, assert_sound, box_hull, patch_of};

/// A polytope in the world.
struct Polytope {
    faces: Vec<Vec<Vec3>>,
}

impl Polytope {
    fn new(hull: &Hull, pose: &Pose) -> Self {
        let face = |i| hull.face(i).iter().map(|p| pose.point(*p)).collect();
        Self { faces: (0..hull.face_count()).map(face).collect() }
    }

    fn edges(&self) -> impl Iterator<Item = (Vec3, Vec3)> {
        let of = |f: &Vec<Vec3>| {
            let f = f.clone();
            (0..f.len()).map(move |i| (f[i], f[(i + 1) % f.len()]))
        };
        self.faces.iter().flat_map(of)
    }

    fn corners(&self) -> impl Iterator<Item = Vec3> {
        self.faces.iter().flatten().copied()
    }

    /// Reach along `d`.
    fn reach(&self, d: Vec3) -> f64 {
        self.corners().map(|p| p.dot(d)).fold(f64::NEG_INFINITY, f64::max)
    }

    fn normal(face: &[Vec3]) -> Vec3 {
        let n = (face[1] - face[0]).cross(face[2] - face[0]);
        n * (1.0 / n.norm())
    }

    fn height(&self, p: Vec3) -> f64 {
        let over = |f: &Vec<Vec3>| Self::normal(f).dot(p - f[0]);
        self.faces.iter().map(over).fold(f64::NEG_INFINITY, f64::max)
    }
}

/// Largest gap along any axis: minus the depth if the polytopes overlap.
fn gap_of_axes(a: &Polytope, b: &Polytope) -> f64 {
    let mut best = f64::NEG_INFINITY;
    let mut try_axis = |n: Vec3| {
        let gap = (-a.reach(-n) - b.reach(n)).max(-b.reach(-n) - a.reach(n));
        best = best.max(gap);
    };
    a.faces.iter().chain(&b.faces).for_each(|f| try_axis(Polytope::normal(f)));
    for (p, q) in a.edges() {
        for (r, s) in b.edges() {
            let n = (q - p).cross(s - r);
            if n.norm() > 1e-7 * (q - p).norm() * (s - r).norm() {
                try_axis(n * (1.0 / n.norm()));
            }
        }
    }
    best
}

/// Distance of two polytopes that do not overlap: corners to faces, edges to edges.
fn distance(a: &Polytope, b: &Polytope) -> f64 {
    let mut best = f64::INFINITY;
    for (own, other) in [(a, b), (b, a)] {
        for p in own.corners() {
            for face in &other.faces {
                let n = Polytope::normal(face);
                let is_over = (0..face.len()).all(|i| {
                    let side = (face[(i + 1) % face.len()] - face[i]).cross(p - face[i]);
                    side.dot(n) >= 0.0
                });
                let height = n.dot(p - face[0]);
                if is_over && height >= 0.0 {
                    best = best.min(height);
                }
            }
        }
    }
    for (p, q) in a.edges() {
        for (r, s) in b.edges() {
            best = best.min(between_edges(p, q, r, s));
        }
    }
    best
}

/// Alternating projection from several starts: slow and independent of the code under test.
fn between_edges(p: Vec3, q: Vec3, r: Vec3, s: Vec3) -> f64 {
    let (u, v) = (q - p, s - r);
    let foot = |from: Vec3, along: Vec3, x: Vec3| {
        from + along * ((x - from).dot(along) / along.norm_squared()).clamp(0.0, 1.0)
    };
    let ends = [p, q].map(|x| (x - foot(r, v, x)).norm());
    let others = [r, s].map(|x| (x - foot(p, u, x)).norm());
    let mut best = ends.into_iter().chain(others).fold(f64::INFINITY, f64::min);
    let n = u.cross(v);
    let square = n.norm_squared();
    if square > 1e-18 {
        let w = r - p;
        let (i, j) = (w.cross(v).dot(n) / square, w.cross(u).dot(n) / square);
        if (0.0..=1.0).contains(&i) && (0.0..=1.0).contains(&j) {
            best = best.min((p + u * i - r - v * j).norm());
        }
    }
    best
}

/// One of the two kinds of polytope, with its hull for the reference.
fn polytope(random: &mut Random, is_box: bool) -> (Shape, Arc<Hull>) {
    if is_box {
        let size = [0; 3].map(|_| random.between(0.1, 0.6));
        (Shape::cuboid(size, 0.0).unwrap(), Arc::new(box_hull(size)))
    } else {
        let count = 4 + random.index(28);
        let hull = random.hull(count, 0.3);
        (Shape::hull(hull.clone(), 0.0).unwrap(), hull)
    }
}

fn compare(seed: u64, count: usize, is_box: [bool; 2]) {
    let mut random = Random::new(seed);
    let (mut overlaps, mut gaps) = (0, 0);
    for case in 0..count {
        let (a, hull_a) = polytope(&mut random, is_box[0]);
        let (b, hull_b) = polytope(&mut random, is_box[1]);
        let (xa, xb) = (random.pose(0.1), random.pose(0.5));
        let (pa, pb) = (Polytope::new(&hull_a, &xa), Polytope::new(&hull_b, &xb));
        let axes = gap_of_axes(&pa, &pb);
        let expected = if axes > 0.0 { distance(&pa, &pb) } else { axes };
        let patch = patch_of((&a, &xa), (&b, &xb), 10.0);
        assert_sound(&patch, &format!("case {case}"));
        let depth = patch.depth_m();
        assert!(
            (depth + expected).abs() < 1e-9,
            "case {case}: depth {depth}, reference {}; {patch:?}",
            -expected
        );
        // the points are on the surfaces
        for p in patch.points().iter().filter(|p| p.depth_m > depth - 1e-6) {
            assert!(pa.height(p.a_W).abs() < 1e-7, "case {case}: a_W is {}", pa.height(p.a_W));
            assert!(pb.height(p.b_W).abs() < 1e-7, "case {case}: b_W is {}", pb.height(p.b_W));
        }
        if axes > 0.0 { gaps += 1 } else { overlaps += 1 }
    }
    assert!(overlaps > count / 10 && gaps > count / 10, "{overlaps} overlaps, {gaps} gaps");
}

#[test]
fn boxes_have_the_depth_and_distance_of_the_reference() {
    compare(1, 500, [true, true]);
}

#[test]
fn hulls_have_the_depth_and_distance_of_the_reference() {
    compare(2, 100, [false, false]);
}

#[test]
fn a_box_and_a_hull_have_the_depth_and_distance_of_the_reference() {
    compare(3, 100, [true, false]);
    compare(4, 100, [false, true]);
}
