//! Random shapes and poses with a fixed seed, and what every contact must fulfil.

pub mod random;

use std::sync::Arc;

use hardstand_geometry::{Hull, Patch, Pose, Shape, Vec3, Workspace, contact};

pub use random::Random;

impl Random {
    pub fn hull(&mut self, count: usize, radius_m: f64) -> Arc<Hull> {
        let points: Vec<Vec3> = (0..count).map(|_| self.direction() * radius_m).collect();
        Arc::new(Hull::from_points(&points).unwrap())
    }

    /// One of each kind with sizes of about 0.3 m; half of them with rounded edges.
    pub fn shape(&mut self, kind: usize) -> Shape {
        let edge = if self.unit() < 0.5 { 0.0 } else { 0.01 };
        let mut size = || self.between(0.1, 0.6);
        match kind {
            0 => Shape::sphere(size()).unwrap(),
            1 => Shape::capsule(0.3 * size(), size()).unwrap(),
            2 => Shape::cuboid([size(), size(), size()], edge).unwrap(),
            3 => Shape::cylinder(0.5 * size(), size(), edge).unwrap(),
            4 => {
                let count = 4 + self.index(40);
                Shape::hull(self.hull(count, 0.3), edge).unwrap()
            }
            _ => Shape::plane(),
        }
    }
}

pub const KINDS: usize = 6;

pub fn patch_of(a: (&Shape, &Pose), b: (&Shape, &Pose), margin_m: f64) -> Patch {
    let mut patch = Patch::new();
    contact(a, b, margin_m, &mut Workspace::new(), &mut patch);
    patch
}

pub fn box_hull(size: [f64; 3]) -> Hull {
    let [x, y, z] = size.map(|s| 0.5 * s);
    let sign = |i: usize, bit: usize| if i >> bit & 1 == 1 { 1.0 } else { -1.0 };
    let corner = |i| Vec3::new(x * sign(i, 0), y * sign(i, 1), z * sign(i, 2));
    Hull::from_points(&(0..8).map(corner).collect::<Vec<_>>()).unwrap()
}

/// A point at a finite place, with a unit normal and points that fit the depth.
pub fn assert_sound(patch: &Patch, what: &str) {
    let n = patch.normal_W;
    for p in patch.points() {
        assert!((n.norm() - 1.0).abs() < 1e-9, "{what}: normal {n:?}");
        assert!(p.a_W.is_finite() && p.b_W.is_finite() && p.depth_m.is_finite(), "{what}: {p:?}");
        assert!((0.0..=1.0 + 1e-12).contains(&p.weight), "{what}: {p:?}");
        let gap = p.a_W - p.b_W + n * p.depth_m;
        assert!(gap.norm() < 1e-9, "{what}: points and depth differ by {}", gap.norm());
    }
    for (i, p) in patch.points().iter().enumerate() {
        let is_twice = patch.points()[..i].iter().any(|q| q.feature == p.feature);
        assert!(!is_twice, "{what}: two points of one feature: {patch:?}");
    }
    let sum: f64 = patch.points().iter().map(|p| p.weight).sum();
    let is_one = patch.points().is_empty() || (sum - 1.0).abs() < 1e-12;
    assert!(is_one, "{what}: weights sum to {sum}");
}
