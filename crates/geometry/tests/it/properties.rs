//! What holds for any pair.

use hardstand_geometry::{Hull, Mat3, Patch, Pose, Shape, Vec3, Workspace, contact};
use proptest::prelude::*;
use std::sync::Arc;

use crate::common::{KINDS, Random, assert_sound, patch_of};

/// A pair that touches: B moved along a random direction until it does.
fn touching(random: &mut Random, kinds: [usize; 2]) -> Option<[(Shape, Pose); 2]> {
    let [a, b] = kinds.map(|k| random.shape(k));
    let xa = random.pose(0.3);
    let (R, way) = (random.rotation(), random.direction());
    let place = |far: f64| Pose { R, p: xa.p + way * far };
    let depth = |far: f64| patch_of((&a, &xa), (&b, &place(far)), 10.0).depth_m();
    // the origin is inside of most hulls; a half-space and what goes into it never part
    let (mut near, mut far) = (0.0, 3.0);
    if !(depth(far) < 0.0 && depth(near) > 0.0) {
        return None;
    }
    for _ in 0..50 {
        let middle = 0.5 * (near + far);
        *(if depth(middle) > 0.0 { &mut near } else { &mut far }) = middle;
    }
    let off = random.between(-4e-3, 4e-3);
    Some([(a.clone(), xa), (b.clone(), place(far + off))])
}

/// Every point of `one` is the point of `two` with A and B exchanged, and so is its feature: what
/// was A's is B's.
fn assert_exchanged(one: &Patch, two: &Patch) {
    assert_eq!(one.points().len(), two.points().len());
    for (p, q) in one.points().iter().zip(two.points()) {
        assert_eq!((p.a_W, p.b_W, p.depth_m, p.weight), (q.b_W, q.a_W, q.depth_m, q.weight));
        let parts = |f: u32| (f >> 30, f >> 15 & 0x7fff, f & 0x7fff);
        let ((kind, a, b), other) = (parts(p.feature), parts(q.feature));
        assert_eq!(([1, 0, 2, 3][kind as usize], b, a), other, "{one:?} {two:?}");
    }
}

fn is_round(kind: usize) -> bool {
    kind == 3
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn exchanging_the_shapes_exchanges_the_points(
        seed in any::<u64>(), ka in 0..KINDS, kb in 0..KINDS,
    ) {
        let Some([(a, xa), (b, xb)]) = touching(&mut Random::new(seed), [ka, kb]) else {
            return Ok(());
        };
        let one = patch_of((&a, &xa), (&b, &xb), 0.01);
        let two = patch_of((&b, &xb), (&a, &xa), 0.01);
        assert_sound(&one, "pair");
        assert_sound(&two, "exchanged");
        let tolerance = if is_round(ka) || is_round(kb) { 2e-5 } else { 1e-9 };
        prop_assert!((one.depth_m() - two.depth_m()).abs() < tolerance, "{one:?} {two:?}");
        if ka != kb {
            assert_exchanged(&one, &two);
        }
    }

    #[test]
    fn moving_both_moves_the_contact(seed in any::<u64>(), ka in 0..KINDS, kb in 0..KINDS) {
        let mut random = Random::new(seed);
        let Some([(a, xa), (b, xb)]) = touching(&mut random, [ka, kb]) else {
            return Ok(());
        };
        let moved = random.pose(3.0);
        let one = patch_of((&a, &xa), (&b, &xb), 0.01);
        let two = patch_of((&a, &moved.compose(&xa)), (&b, &moved.compose(&xb)), 0.01);
        assert_sound(&one, "pair");
        assert_sound(&two, "moved");
        let tolerance = if is_round(ka) || is_round(kb) { 2e-5 } else { 1e-8 };
        let (depth, moved) = (one.depth_m(), two.depth_m());
        prop_assert!((depth - moved).abs() < tolerance, "{depth} {moved}: {one:?} {two:?}");
    }

    #[test]
    fn a_small_motion_changes_the_depth_by_no_more(
        seed in any::<u64>(), ka in 0..KINDS, kb in 0..KINDS,
    ) {
        let mut random = Random::new(seed);
        let Some([(a, xa), (b, xb)]) = touching(&mut random, [ka, kb]) else {
            return Ok(());
        };
        let step = random.direction() * 1e-4;
        let one = patch_of((&a, &xa), (&b, &xb), 0.05);
        let two = patch_of((&a, &xa), (&b, &Pose { R: xb.R, p: xb.p + step }), 0.05);
        let tolerance = if is_round(ka) || is_round(kb) { 2e-5 } else { 1e-9 };
        let change = (one.depth_m() - two.depth_m()).abs();
        prop_assert!(change <= 1e-4 + tolerance, "{change}: {one:?} {two:?}");
    }

    #[test]
    fn every_input_has_an_answer(
        sizes in prop::array::uniform6(prop::sample::select(
            vec![0.0, 1e-300, 1e-9, 0.1, 0.5, 1e4],
        )),
        places in prop::array::uniform3(prop::sample::select(
            vec![0.0, -0.0, 1e-300, 1e-12, 0.05, 0.1, 0.25, 0.5, -0.5, 1e4, 1e150, f64::NAN],
        )),
        turn in prop::array::uniform4(prop::sample::select(vec![0.0, 1e-9, 1.0, -1.0])),
        ka in 0..KINDS, kb in 0..KINDS,
    ) {
        let hull = |s: f64| {
            let points = [
                Vec3::ZERO, Vec3::X * s, Vec3::Y * (2.0 * s), Vec3::Z * s,
                Vec3::new(s, s, s * 1e-9),
            ];
            Hull::from_points(&points).map(Arc::new)
        };
        let shape = |kind: usize, s: &[f64]| match kind {
            0 => Shape::sphere(s[0]),
            1 => Shape::capsule(s[0], s[1]),
            2 => Shape::cuboid([s[0], s[1], s[2]], 0.0),
            3 => Shape::cylinder(s[0], s[1], 0.0),
            4 => Shape::hull(hull(s[0])?, s[1]),
            _ => Ok(Shape::plane()),
        };
        let (Ok(a), Ok(b)) = (shape(ka, &sizes[..3]), shape(kb, &sizes[3..])) else {
            return Ok(());
        };
        let pose = Pose { R: Mat3::from_quaternion(turn), p: Vec3::from(places) };
        for (xa, xb) in [(Pose::IDENTITY, pose), (pose, pose), (Pose::IDENTITY, Pose::IDENTITY)] {
            let patch = patch_of((&a, &xa), (&b, &xb), 0.1);
            for p in patch.points() {
                prop_assert!(
                    p.a_W.is_finite() && p.b_W.is_finite() && p.depth_m.is_finite(), "{:?}", patch,
                );
                prop_assert!((patch.normal_W.norm() - 1.0).abs() < 1e-9, "{:?}", patch);
                prop_assert!((0.0..=1.0 + 1e-9).contains(&p.weight), "{:?}", patch);
            }
        }
    }
}

#[test]
fn corners_beside_a_side_that_cuts_nothing_have_features_of_their_own() {
    // a cap has a short side beside the point of its rim that is lowest
    for (seed, kinds) in [
        (10_820_633_123_685_244_720, [2, 3]),
        (188 * 7919 + 13, [2, 3]),
        (424 * 7919 + 13, [2, 3]),
        (266 * 7919 + 13, [3, 3]),
        (1853 * 7919 + 13, [3, 3]),
    ] {
        let Some([(a, xa), (b, xb)]) = touching(&mut Random::new(seed), kinds) else {
            panic!("seed {seed}: no contact");
        };
        for margin_m in [0.01, 0.05, 0.3] {
            let one = patch_of((&a, &xa), (&b, &xb), margin_m);
            assert_sound(&one, &format!("seed {seed}, margin {margin_m}"));
            assert_sound(&patch_of((&b, &xb), (&a, &xa), margin_m), "exchanged");
        }
    }
}

#[test]
fn a_patch_does_not_depend_on_what_was_computed_before() {
    let mut random = Random::new(31);
    let (mut ws, mut patch) = (Workspace::new(), Patch::new());
    for case in 0..2000 {
        let kinds = [random.index(KINDS), random.index(KINDS)];
        let [a, b] = kinds.map(|k| random.shape(k));
        let (xa, xb) = (random.pose(0.3), random.pose(0.3));
        contact((&a, &xa), (&b, &xb), 0.05, &mut ws, &mut patch);
        let fresh = patch_of((&a, &xa), (&b, &xb), 0.05);
        assert_eq!(patch.points(), fresh.points(), "case {case}");
    }
}

#[test]
fn nearly_all_patches_have_features() {
    // the nearest point alone is for cases that rounding breaks, and for corners between the rim
    // of a cylinder and its polygon
    let mut random = Random::new(32);
    let (mut counts, mut alone) = ([0; 2], [0; 2]);
    for _ in 0..1500 {
        let kinds = [2 + random.index(3), 2 + random.index(3)];
        let Some([(a, xa), (b, xb)]) = touching(&mut random, kinds) else { continue };
        if kinds == [3, 3] {
            continue; // along axes, where the nearest point has no feature
        }
        let patch = patch_of((&a, &xa), (&b, &xb), 5e-3);
        let has_cylinder = usize::from(kinds.contains(&3));
        counts[has_cylinder] += usize::from(!patch.points().is_empty());
        alone[has_cylinder] += usize::from(patch.points().iter().any(|p| p.feature == 3 << 30));
    }
    assert!(counts[0] > 500 && alone[0] == 0, "{alone:?} of {counts:?} without a feature");
    assert!(counts[1] > 500 && alone[1] < counts[1] / 10, "{alone:?} of {counts:?}");
}

#[test]
fn the_depth_of_round_shapes_does_not_depend_on_the_frame() {
    // points of a round rim lie so close together that rounding may seem to enclose the origin
    for seed in (0..150).chain([1_736_092_257_408_682_907]) {
        let mut random = Random::new(seed);
        let kind = if seed > 150 { 1 } else { 1 + random.index(4) };
        let Some([(a, xa), (b, xb)]) = touching(&mut random, [3, kind]) else { continue };
        let depth = patch_of((&a, &xa), (&b, &xb), 0.01).depth_m();
        for _ in 0..100 {
            let m = random.pose(3.0);
            let moved = patch_of((&a, &m.compose(&xa)), (&b, &m.compose(&xb)), 0.01).depth_m();
            assert!((depth - moved).abs() < 2e-5, "seed {seed}, kind {kind}: {depth} {moved}");
        }
    }
}
