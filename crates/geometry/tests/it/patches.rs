//! Weights and continuity of patches.

use std::sync::Arc;

use hardstand_geometry::{Hull, Mat3, Patch, Pose, Shape, Vec3, match_previous};

use crate::common::{Random, assert_sound, box_hull, patch_of};

const MARGIN_M: f64 = 0.01;

/// Turned by `angle` about `axis`.
fn turned(axis: Vec3, angle: f64, p: Vec3) -> Pose {
    let (s, c) = (0.5 * angle).sin_cos();
    Pose { R: Mat3::from_quaternion([c, s * axis.x, s * axis.y, s * axis.z]), p }
}

/// Force and moment of an exponential law with the weights of the patch.
fn load(patch: &Patch) -> [Vec3; 2] {
    let (mut force, mut moment) = (Vec3::ZERO, Vec3::ZERO);
    for p in patch.points() {
        let f = patch.normal_W * (p.weight * (1000.0 * p.depth_m).exp());
        force += f;
        moment += ((p.a_W + p.b_W) * 0.5).cross(f);
    }
    [force, moment]
}

#[test]
fn a_face_on_a_beam_has_one_stiffness_however_many_points_it_has() {
    let mut random = Random::new(21);
    let beam = Shape::cuboid([0.3, 2.0, 0.1], 0.0).unwrap();
    let mut counts = [0; 9];
    for _ in 0..500 {
        let size = [random.between(0.2, 0.8), random.between(0.2, 0.8), 0.1];
        let slab = Shape::cuboid(size, 0.0).unwrap();
        let p = Vec3::new(random.between(-0.2, 0.2), random.between(-0.2, 0.2), 0.099);
        let pose = turned(Vec3::Z, random.between(0.0, 6.0), p);
        let patch = patch_of((&slab, &pose), (&beam, &Pose::IDENTITY), MARGIN_M);
        assert_sound(&patch, "slab");
        counts[patch.points().len()] += 1;
        let sum: f64 = patch.points().iter().map(|p| p.weight).sum();
        assert!((sum - 1.0).abs() < 1e-12, "{patch:?}");
        // the weighted mean is the centroid of the overlap
        let (mut inside, mut mean) = (0.0, Vec3::ZERO);
        const N: usize = 60;
        for i in 0..N * N {
            let along = |k: usize| (k as f64 + 0.5) / N as f64 - 0.5;
            let q = pose.point(Vec3::new(along(i % N) * size[0], along(i / N) * size[1], -0.05));
            if q.x.abs() <= 0.15 {
                (inside, mean) = (inside + 1.0, mean + q);
            }
        }
        let weighted = patch.points().iter().fold(Vec3::ZERO, |s, p| s + p.a_W * p.weight);
        let off = (weighted - mean * (1.0 / inside)).norm();
        assert!(off < 0.01, "the centre is off by {off}: {patch:?}");
    }
    assert!(counts[4..=6].iter().all(|c| *c > 20), "{counts:?}");
}

#[test]
fn a_box_tilts_from_four_points_to_two_and_one_and_the_load_does_not_jump() {
    let (plane, cuboid) = (Shape::plane(), Shape::cuboid([0.4, 0.3, 0.2], 0.0).unwrap());
    let hull = Shape::hull(Arc::new(box_hull([0.4, 0.3, 0.2])), 0.0).unwrap();
    let floor = Shape::cuboid([4.0, 4.0, 0.2], 0.0).unwrap();
    let below = Pose::at(Vec3::new(0.0, 0.0, -0.1));
    let ground = [(&plane, &Pose::IDENTITY), (&floor, &below)];
    for (axis, last) in [(Vec3::Y, 2), (Vec3::new(0.6, 0.8, 0.0), 1)] {
        for (shape, ground) in [(&cuboid, ground[0]), (&hull, ground[0]), (&cuboid, ground[1])] {
            let mut before: Option<[Vec3; 2]> = None;
            let mut counts = Vec::new();
            const STEPS: usize = 20_000;
            for k in 0..=STEPS {
                let angle = std::f64::consts::FRAC_PI_4 * k as f64 / STEPS as f64;
                let R = turned(axis, angle, Vec3::ZERO).R;
                let arms = Vec3::new(0.2 * R.z.x, 0.15 * R.z.y, 0.1 * R.z.z).abs();
                let p = Vec3::new(0.0, 0.0, arms.x + arms.y + arms.z - 1e-3);
                let patch = patch_of((shape, &Pose { R, p }), ground, MARGIN_M);
                assert_sound(&patch, "tilted");
                assert!((patch.depth_m() - 1e-3).abs() < 1e-9, "{angle}: {patch:?}");
                let now = load(&patch);
                if let Some(old) = before {
                    let jump = (now[0] - old[0]).norm();
                    assert!(jump < 0.05, "{angle}: the force jumps by {jump} to {patch:?}");
                    let jump = (now[1] - old[1]).norm();
                    assert!(jump < 0.05, "{angle}: the moment jumps by {jump} to {patch:?}");
                }
                before = Some(now);
                if counts.last() != Some(&patch.points().len()) {
                    counts.push(patch.points().len());
                }
            }
            assert_eq!(counts[0], 4, "{counts:?}");
            assert_eq!(*counts.last().unwrap(), last, "{counts:?}");
            let force = before.unwrap()[0].norm() / std::f64::consts::E;
            assert!((force - 1.0).abs() < 1e-6, "weights of the end: {force}");
        }
    }
}

#[test]
fn over_a_rounded_edge_the_load_turns_without_a_jump() {
    // a box with rounded edges is drawn across the edge of another, from beside it to above it
    let mut random = Random::new(22);
    for case in 0..10 {
        let a = Shape::cuboid([0.3, 0.2, 0.25], 0.02).unwrap();
        let b = Shape::cuboid([0.5, 2.0, 0.5], 0.02).unwrap();
        let R = turned(random.direction(), random.between(0.1, 3.0), Vec3::ZERO).R;
        // the place at which the boxes overlap by 1 mm, along a circle about the edge
        let mut before: Option<[Vec3; 2]> = None;
        let mut last = Vec3::ZERO;
        const STEPS: usize = 1000;
        for k in 0..=STEPS {
            let angle = std::f64::consts::FRAC_PI_2 * k as f64 / STEPS as f64;
            let way = Vec3::new(angle.cos(), 0.0, angle.sin());
            let place = |far: f64| Pose {
                R,
                p: Vec3::new(0.25, 0.0, 0.25) + way * far + Vec3::new(0.0, 0.1, 0.0),
            };
            let gap =
                |far: f64| -patch_of((&a, &place(far)), (&b, &Pose::IDENTITY), 10.0).depth_m();
            let (mut near, mut far) = (0.0, 1.0);
            for _ in 0..50 {
                let middle = 0.5 * (near + far);
                *(if gap(middle) < -1e-3 { &mut near } else { &mut far }) = middle;
            }
            let patch = patch_of((&a, &place(far)), (&b, &Pose::IDENTITY), MARGIN_M);
            assert_sound(&patch, "edge");
            let now = load(&patch);
            if let Some(old) = before {
                let jump = (now[0] - old[0]).norm();
                // twice what the law alone changes at its steepest over this way
                let most = 2.0 * std::f64::consts::E * 1000.0 * (place(far).p - last).norm();
                assert!(
                    jump < most,
                    "case {case}, {angle}: the force jumps by {jump} to {patch:?}"
                );
            }
            last = place(far).p;
            before = Some(now);
        }
    }
}

#[test]
fn a_patch_of_many_corners_keeps_the_deepest_and_most_of_the_area() {
    let mut random = Random::new(23);
    for case in 0..200 {
        let mut points = Vec::new();
        for _ in 0..30 {
            let (s, c) = random.between(0.0, std::f64::consts::TAU).sin_cos();
            points.extend([Vec3::new(0.2 * c, 0.2 * s, 0.0), Vec3::new(0.2 * c, 0.2 * s, 0.1)]);
        }
        let hull = Arc::new(Hull::from_points(&points).unwrap());
        let corners: Vec<Vec3> = hull.vertices().to_vec();
        let shape = Shape::hull(hull, 0.0).unwrap();
        let mut axis = random.direction();
        axis.z = 0.0;
        let pose = turned(axis * (1.0 / axis.norm()), 1e-3, Vec3::ZERO);
        let patch = patch_of((&shape, &pose), (&Shape::plane(), &Pose::IDENTITY), MARGIN_M);
        assert_sound(&patch, "prism");
        assert_eq!(patch.points().len(), 8, "case {case}");
        let deepest = corners.iter().map(|p| -pose.point(*p).z).fold(0.0, f64::max);
        // heights that differ by less are equal
        assert!((patch.depth_m() - deepest).abs() < 1e-7, "case {case}: {patch:?}");
        // a regular octagon has 90 % of the area of its circle
        let round: Vec<Vec3> = patch.points().iter().map(|p| p.b_W).collect();
        let twice: f64 = (0..8).map(|i| round[i].cross(round[(i + 1) % 8]).z.abs()).sum();
        let share = twice / (2.0 * std::f64::consts::PI * 0.04);
        assert!(share > 0.75, "case {case}: {share} of the area");
    }
}

/// What stands flat keeps its points, whatever the last digits of its pose are.
#[test]
fn rounding_does_not_choose_the_points_of_a_level_face() {
    let mut random = Random::new(29);
    let prism = |n: usize| {
        let corner = |k: usize, z: f64| {
            let (s, c) = (std::f64::consts::TAU * k as f64 / n as f64).sin_cos();
            Vec3::new(0.2 * c, 0.2 * s, z)
        };
        let points: Vec<Vec3> = (0..n).flat_map(|k| [corner(k, -0.1), corner(k, 0.1)]).collect();
        Shape::hull(Arc::new(Hull::from_points(&points).unwrap()), 0.0).unwrap()
    };
    let shapes = [prism(9), prism(12), prism(20), Shape::cylinder(0.2, 0.2, 0.0).unwrap()];
    for (shape, name) in shapes.iter().zip(["9", "12", "20", "cylinder"]) {
        for yaw in [0.0, 0.2, 1.3] {
            let features = |pose: &Pose| {
                let patch = patch_of((shape, pose), (&Shape::plane(), &Pose::IDENTITY), MARGIN_M);
                let mut all: Vec<u32> = patch.points().iter().map(|p| p.feature).collect();
                all.sort_unstable();
                assert_eq!(all.len(), 8, "{name}");
                all
            };
            let level = turned(Vec3::new(0.0, 0.0, 1.0), yaw, Vec3::new(20.0, -3.0, 0.0999));
            let first = features(&level);
            for _ in 0..200 {
                let mut axis = random.direction() * 1e-10;
                axis.z += 1.0;
                let p = level.p + random.direction() * 1e-12;
                assert_eq!(features(&turned(axis, yaw, p)), first, "{name} at {yaw}");
            }
        }
    }
}

/// A cap is a polygon, whose corners are not as low as its rim: that is no reason to take the
/// nearest point alone, which another tilt gives back.
#[test]
fn a_cap_that_tilts_a_little_keeps_its_patch() {
    let mut random = Random::new(31);
    let [cap, wide] = [0.1, 0.14].map(|r| Shape::cylinder(r, 0.1, 0.0).unwrap());
    let below = Pose { p: Vec3::new(0.0, 0.0, -0.05), ..Pose::IDENTITY };
    let plane = Shape::plane();
    let others = [(&plane, &Pose::IDENTITY), (&wide, &below), (&cap, &below)];
    for _ in 0..3000 {
        let (s, c) = random.between(0.0, 6.3).sin_cos();
        let tilt = 10.0_f64.powf(random.between(-5.0, -1.5));
        let (x, y) = (random.between(-0.03, 0.03), random.between(-0.03, 0.03));
        let at = Vec3::new(x, y, 0.05 - 0.0001 + 0.1 * tilt);
        let pose = turned(Vec3::new(c, s, 0.0), tilt, at);
        for (other, name) in others.iter().zip(["a plane", "a wider cap", "an equal cap"]) {
            let patch = patch_of((&cap, &pose), *other, 0.05);
            let count = patch.points().len();
            assert!(count >= 7, "on {name} with a tilt of {tilt} rad: {count} points");
        }
    }
}

#[test]
fn points_keep_their_features_while_the_same_features_touch() {
    let beam = Shape::cuboid([0.3, 2.0, 0.1], 0.0).unwrap();
    let slab = Shape::cuboid([0.6, 0.6, 0.1], 0.0).unwrap();
    let at = |k: usize| {
        let t = k as f64 * 1e-3;
        turned(Vec3::new(0.1, 0.2, 1.0), 0.3 + t, Vec3::new(0.1 * t, 0.0, 0.0985))
    };
    let mut old = patch_of((&slab, &at(0)), (&beam, &Pose::IDENTITY), 0.1);
    let first: Vec<u32> = old.points().iter().map(|p| p.feature).collect();
    assert_eq!(first.len(), 4);
    for k in 1..100 {
        let new = patch_of((&slab, &at(k)), (&beam, &Pose::IDENTITY), 0.1);
        let mut features: Vec<u32> = new.points().iter().map(|p| p.feature).collect();
        features.sort_unstable();
        let mut expected = first.clone();
        expected.sort_unstable();
        assert_eq!(features, expected, "step {k}");
        let kept = match_previous(old.points(), new.points(), 0.01);
        for (n, point) in new.points().iter().enumerate() {
            let o = kept[n].unwrap();
            assert_eq!(old.points()[o].feature, point.feature);
            assert!((old.points()[o].a_W - point.a_W).norm() < 0.01);
        }
        old = new;
    }
}

#[test]
fn points_without_a_feature_of_their_own_are_matched_by_nearness() {
    let slab = Shape::cuboid([0.6, 0.6, 0.1], 0.0).unwrap();
    let patch = patch_of(
        (&slab, &Pose::at(Vec3::new(0.0, 0.0, 0.049))),
        (&Shape::plane(), &Pose::IDENTITY),
        MARGIN_M,
    );
    let mut new: Vec<_> = patch.points().to_vec();
    new.rotate_left(1);
    for (i, p) in new.iter_mut().enumerate() {
        p.feature = 1000 + i as u32;
        p.a_W.x += 2e-3;
    }
    let kept = match_previous(patch.points(), &new, 5e-3);
    assert_eq!(kept[..4], [Some(1), Some(2), Some(3), Some(0)]);
    assert_eq!(match_previous(patch.points(), &new, 1e-3), [None; 8]);
    // an old point is used once
    let twice = [new[0], new[0]];
    let kept = match_previous(patch.points(), &twice, 5e-3);
    assert_eq!(kept[..2], [Some(1), None]);
}
