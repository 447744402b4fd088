//! Pairs whose contact has a formula.

use std::sync::Arc;

use hardstand_geometry::{Hull, Mat3, Patch, Pose, Shape, Vec3};

use crate::common::{assert_sound, box_hull, patch_of};

const EXACT: f64 = 1e-12;
/// Faces are cut 10⁻¹¹ of their size beyond their edges, so that what lies on an edge is kept.
const CUT: f64 = 1e-9;

fn at(x: f64, y: f64, z: f64) -> Pose {
    Pose::at(Vec3::new(x, y, z))
}

/// Turned by `angle` about y.
fn tilted(angle: f64, p: Vec3) -> Pose {
    let (s, c) = (0.5 * angle).sin_cos();
    Pose { R: Mat3::from_quaternion([c, 0.0, s, 0.0]), p }
}

fn lying() -> Mat3 {
    tilted(std::f64::consts::FRAC_PI_2, Vec3::ZERO).R
}

fn assert_one(patch: &Patch, normal: Vec3, depth: f64, a: Vec3) {
    assert_sound(patch, "pair");
    let [p] = patch.points() else { panic!("{patch:?}") };
    assert!((patch.normal_W - normal).norm() < EXACT, "{patch:?}");
    assert!((p.depth_m - depth).abs() < EXACT, "{patch:?}");
    assert!((p.a_W - a).norm() < EXACT, "{patch:?}");
    assert_eq!(p.weight, 1.0);
}

#[test]
fn balls_touch_on_the_line_of_their_centres() {
    let (a, b) = (Shape::sphere(0.2).unwrap(), Shape::sphere(0.1).unwrap());
    let patch = patch_of((&a, &at(0.0, 0.28, 0.0)), (&b, &Pose::IDENTITY), 0.0);
    assert_one(&patch, Vec3::Y, 0.02, Vec3::new(0.0, 0.08, 0.0));
    assert!(patch_of((&a, &at(0.0, 0.31, 0.0)), (&b, &Pose::IDENTITY), 0.0).points().is_empty());
    let gap = patch_of((&a, &at(0.0, 0.31, 0.0)), (&b, &Pose::IDENTITY), 0.02);
    assert_one(&gap, Vec3::Y, -0.01, Vec3::new(0.0, 0.11, 0.0));
}

#[test]
fn a_ball_meets_a_box_at_its_face_edge_and_corner_and_leaves_it_by_the_nearest_face() {
    let (ball, cuboid) = (Shape::sphere(0.1).unwrap(), Shape::cuboid([2.0; 3], 0.0).unwrap());
    let of = |p: Vec3| patch_of((&ball, &Pose::at(p)), (&cuboid, &Pose::IDENTITY), 0.05);
    assert_one(&of(Vec3::new(0.3, 0.2, 1.08)), Vec3::Z, 0.02, Vec3::new(0.3, 0.2, 0.98));
    let h = 0.5_f64.sqrt();
    let edge = of(Vec3::new(1.0 + 0.1 * h, 0.2, 1.0 + 0.1 * h));
    assert_one(&edge, Vec3::new(h, 0.0, h), 0.0, Vec3::new(1.0, 0.2, 1.0));
    let third = (1.0_f64 / 3.0).sqrt();
    let diagonal = Vec3::new(third, third, third);
    let corner = of(Vec3::new(1.0, 1.0, 1.0) + diagonal * 0.12);
    assert_one(&corner, diagonal, -0.02, Vec3::new(1.0, 1.0, 1.0) + diagonal * 0.02);
    assert_one(&of(Vec3::new(0.0, -0.9, 0.5)), -Vec3::Y, 0.2, Vec3::new(0.0, -0.8, 0.5));
}

#[test]
fn a_ball_meets_a_hull_as_it_meets_the_box_with_the_same_corners() {
    let ball = Shape::sphere(0.1).unwrap();
    let cuboid = Shape::cuboid([2.0; 3], 0.0).unwrap();
    let hull = Shape::hull(Arc::new(box_hull([2.0; 3])), 0.0).unwrap();
    for p in [
        Vec3::new(0.3, 0.2, 1.08),
        Vec3::new(1.05, 0.2, 1.03),
        Vec3::new(1.05, 1.04, 1.03),
        Vec3::new(0.1, -0.9, 0.5),
        Vec3::new(0.1, 0.2, 0.3),
    ] {
        let of = |shape| patch_of((&ball, &Pose::at(p)), (shape, &Pose::IDENTITY), 0.05);
        let (a, b) = (of(&cuboid), of(&hull));
        assert!((a.normal_W - b.normal_W).norm() < EXACT, "{a:?} {b:?}");
        assert!((a.points()[0].a_W - b.points()[0].a_W).norm() < EXACT, "{a:?} {b:?}");
        assert!((a.points()[0].depth_m - b.points()[0].depth_m).abs() < EXACT, "{a:?} {b:?}");
    }
}

#[test]
fn a_ball_meets_a_cylinder_at_its_side_cap_and_rim() {
    let (ball, cylinder) = (Shape::sphere(0.1).unwrap(), Shape::cylinder(0.5, 1.0, 0.0).unwrap());
    let of = |p: Vec3| patch_of((&ball, &Pose::at(p)), (&cylinder, &Pose::IDENTITY), 0.0);
    assert_one(&of(Vec3::new(0.59, 0.0, 0.2)), Vec3::X, 0.01, Vec3::new(0.49, 0.0, 0.2));
    assert_one(&of(Vec3::new(0.1, 0.3, -0.59)), -Vec3::Z, 0.01, Vec3::new(0.1, 0.3, -0.49));
    let h = 0.5_f64.sqrt();
    let rim = of(Vec3::new(0.5 + 0.09 * h, 0.0, 0.5 + 0.09 * h));
    let a = Vec3::new(0.5 - 0.01 * h, 0.0, 0.5 - 0.01 * h);
    assert_one(&rim, Vec3::new(h, 0.0, h), 0.01, a);
    assert_one(&of(Vec3::new(0.0, 0.4, 0.0)), Vec3::Y, 0.2, Vec3::new(0.0, 0.3, 0.0));
}

#[test]
fn a_capsule_lies_on_two_points_and_stands_on_one() {
    let (plane, capsule) = (Shape::plane(), Shape::capsule(0.1, 0.4).unwrap());
    let lies = Pose { R: lying(), p: Vec3::new(0.0, 0.0, 0.099) };
    let patch = patch_of((&capsule, &lies), (&plane, &Pose::IDENTITY), 0.01);
    assert_sound(&patch, "lying");
    assert_eq!(patch.points().len(), 2);
    for p in patch.points() {
        assert!((p.weight - 0.5).abs() < EXACT && (p.depth_m - 1e-3).abs() < EXACT, "{p:?}");
        assert!((p.a_W.x.abs() - 0.2).abs() < EXACT, "{p:?}");
    }
    let stands = patch_of((&capsule, &at(0.0, 0.0, 0.299)), (&plane, &Pose::IDENTITY), 0.01);
    let [p] = stands.points() else { panic!("{stands:?}") };
    assert!((p.depth_m - 1e-3).abs() < EXACT && p.weight == 1.0, "{p:?}");
}

#[test]
fn capsules_cross_in_a_point_and_lie_side_by_side_along_their_overlap() {
    let capsule = Shape::capsule(0.1, 1.0).unwrap();
    let across = Pose { R: lying(), p: Vec3::new(0.0, 0.19, 0.2) };
    let patch = patch_of((&capsule, &across), (&capsule, &Pose::IDENTITY), 0.01);
    assert_one(&patch, Vec3::Y, 0.01, Vec3::new(0.0, 0.09, 0.2));
    let beside = patch_of((&capsule, &at(0.0, 0.19, 0.4)), (&capsule, &Pose::IDENTITY), 0.01);
    assert_sound(&beside, "beside");
    let mut ends: Vec<f64> = beside.points().iter().map(|p| p.a_W.z).collect();
    ends.sort_by(f64::total_cmp);
    assert_eq!(ends.len(), 3);
    assert!((ends[0] + 0.1).abs() < EXACT && (ends[2] - 0.5).abs() < EXACT, "{ends:?}");
    let mean: f64 = beside.points().iter().map(|p| p.a_W.z * p.weight).sum();
    assert!((mean - 0.2).abs() < EXACT, "{mean}");
    // turned a little, the middle takes over from the ends without a jump
    let mut before = 0.5;
    for k in 0..200 {
        let turned = tilted(k as f64 * 0.005, Vec3::new(0.0, 0.19, 0.4));
        let patch = patch_of((&capsule, &turned), (&capsule, &Pose::IDENTITY), 0.01);
        assert_sound(&patch, "turned");
        let heaviest = patch.points().iter().map(|p| p.weight).fold(0.0, f64::max);
        assert!((heaviest - before).abs() < 0.1, "{k}: {before} to {heaviest}");
        before = heaviest;
    }
    assert!(before > 0.7, "{before}");
}

#[test]
fn a_cylinder_stands_on_its_cap_tips_on_its_rim_and_rolls_on_its_side() {
    let (plane, cylinder) = (Shape::plane(), Shape::cylinder(0.2, 0.6, 0.0).unwrap());
    let of = |pose: &Pose| patch_of((&cylinder, pose), (&plane, &Pose::IDENTITY), 0.01);
    let stands = of(&at(0.0, 0.0, 0.299));
    assert_sound(&stands, "standing");
    assert_eq!(stands.points().len(), 8);
    assert!((stands.points().iter().map(|p| p.weight).sum::<f64>() - 1.0).abs() < EXACT);
    assert!(stands.points().iter().all(|p| (p.depth_m - 1e-3).abs() < EXACT));
    for degrees in [2.0_f64, 10.0, 30.0, 44.0, 46.0, 60.0, 80.0] {
        let angle = degrees.to_radians();
        let lowest = 0.2 * angle.sin() + 0.3 * angle.cos();
        let patch = of(&tilted(angle, Vec3::new(0.0, 0.0, lowest - 1e-3)));
        assert_sound(&patch, "tilted");
        assert!((patch.depth_m() - 1e-3).abs() < EXACT, "{degrees}°: {patch:?}");
        let deepest = patch.points().iter().find(|p| p.depth_m == patch.depth_m()).unwrap();
        assert!(deepest.weight > 0.05, "{degrees}°: {deepest:?}");
    }
    for roll in 0..100 {
        let (s, c) = (0.01 * f64::from(roll)).sin_cos();
        let R = lying().product(&Mat3::from_quaternion([c, 0.0, 0.0, s]));
        let lies = of(&Pose { R, p: Vec3::new(0.0, 0.0, 0.199) });
        assert_eq!(lies.points().len(), 2);
        for p in lies.points() {
            assert!((p.depth_m - 1e-3).abs() < EXACT && (p.weight - 0.5).abs() < EXACT, "{p:?}");
            assert!((p.a_W.x.abs() - 0.3).abs() < EXACT && p.a_W.y.abs() < EXACT, "{p:?}");
        }
    }
}

#[test]
fn a_cylinder_rolls_on_a_box_and_beside_a_cylinder_as_on_a_plane() {
    let cuboid = Shape::cuboid([2.0, 2.0, 0.2], 0.0).unwrap();
    for edge in [0.0, 0.01] {
        let cylinder = Shape::cylinder(0.2, 0.6, edge).unwrap();
        let half = 0.3 - edge;
        for roll in 0..50 {
            let (s, c) = (0.02 * f64::from(roll)).sin_cos();
            let R = lying().product(&Mat3::from_quaternion([c, 0.0, 0.0, s]));
            let pose = Pose { R, p: Vec3::new(0.1, 0.2, 0.299) };
            let patch = patch_of((&cylinder, &pose), (&cuboid, &Pose::IDENTITY), 0.01);
            assert_sound(&patch, "on a box");
            assert_eq!(patch.points().len(), 2, "{patch:?}");
            for p in patch.points() {
                assert!((p.depth_m - 1e-3).abs() < 2e-6, "{roll}: {p:?}");
                assert!(((p.a_W.x - 0.1).abs() - half).abs() < 1e-4, "{roll}: {p:?}");
            }
            let other = Pose { R: lying(), p: Vec3::new(0.1, 0.599, 0.299) };
            let patch = patch_of((&cylinder, &pose), (&cylinder, &other), 0.01);
            assert_sound(&patch, "beside a cylinder");
            assert!((patch.depth_m() - 1e-3).abs() < 2e-6, "{roll}: {patch:?}");
        }
    }
}

#[test]
fn a_box_on_crossing_edges_touches_in_one_point() {
    let cuboid = Shape::cuboid([1.0, 1.0, 1.0], 0.0).unwrap();
    let quarter = std::f64::consts::FRAC_PI_4;
    let ridge = tilted(quarter, Vec3::ZERO); // along y, at the height √½
    let (s, c) = (0.5 * quarter).sin_cos();
    let R = Mat3::from_quaternion([c, s, 0.0, 0.0]); // along x
    let upper = Pose { R, p: Vec3::new(0.1, -0.2, 2.0 * 0.5_f64.sqrt() - 1e-3) };
    let patch = patch_of((&cuboid, &upper), (&cuboid, &ridge), 5e-3);
    assert_sound(&patch, "edges");
    let deepest = patch.points().iter().max_by(|p, q| p.depth_m.total_cmp(&q.depth_m)).unwrap();
    assert!((deepest.depth_m - 1e-3).abs() < CUT && deepest.weight == 1.0, "{patch:?}");
    assert!((patch.normal_W - Vec3::Z).norm() < EXACT, "{patch:?}");
    assert!((deepest.a_W - Vec3::new(0.0, -0.2, 0.5_f64.sqrt() - 1e-3)).norm() < CUT, "{patch:?}");
}

#[test]
fn a_box_rests_on_a_flat_triangle_as_on_a_face() {
    let corners = [Vec3::new(-2.0, -1.0, 0.0), Vec3::new(2.0, -1.0, 0.0), Vec3::new(0.0, 2.0, 0.0)];
    let flat = Arc::new(Hull::from_points(&corners).unwrap());
    let (triangle, cuboid) =
        (Shape::hull(flat, 0.0).unwrap(), Shape::cuboid([0.2; 3], 0.0).unwrap());
    for z in [0.099, 0.1005, -0.0995] {
        let patch = patch_of((&cuboid, &at(0.1, 0.2, z)), (&triangle, &Pose::IDENTITY), 2e-3);
        assert_sound(&patch, "triangle");
        assert_eq!(patch.points().len(), 4, "{patch:?}");
        assert!((patch.normal_W - Vec3::Z * z.signum()).norm() < 1e-9, "{patch:?}");
        for p in patch.points() {
            assert!((p.depth_m - (0.1 - z.abs())).abs() < 1e-9, "{p:?}");
            assert!((p.weight - 0.25).abs() < 1e-9, "{p:?}");
        }
    }
}
