//! Ground that is uneven, solid or moving, and round stations: geometry against closed forms.
#![allow(clippy::disallowed_methods, reason = "std's functions are an independent reference")]

use crate::common::dice::Dice;
use hardstand_physics::contact::{
    ConvexSolid, Heightfield, Nearest, PlatformMotion, StationShape, stairs,
};
use hardstand_physics::spatial::{Quaternion, Vec3};

const S: u64 = 1_000_000_000;

/// Even chance between −1 and 1.
fn chance(dice: &mut Dice) -> f64 {
    dice.roll(1 << 53) as f64 / (1_u64 << 52) as f64 - 1.0
}

fn point(dice: &mut Dice, size: [f64; 3]) -> Vec3 {
    Vec3::from(size.map(|s| s * chance(dice)))
}

fn direction(dice: &mut Dice) -> Vec3 {
    loop {
        let d = point(dice, [1.0; 3]);
        if d.norm() > 0.1 && d.norm() < 1.0 {
            return d.normalize();
        }
    }
}

/// Gradient of the distance by central differences of `h_m`.
fn gradient(nearest: &impl Fn(&Vec3) -> Nearest, p: &Vec3, h_m: f64) -> Vec3 {
    Vec3::from_fn(|i| {
        let mut step = Vec3::zeros();
        step[i] = h_m;
        (nearest(&(p + step)).distance_m - nearest(&(p - step)).distance_m) / (2.0 * h_m)
    })
}

/// The largest jump of distance and normal per length of a straight path, walked in `steps`.
fn steepest(
    nearest: &impl Fn(&Vec3) -> Nearest,
    from: &Vec3,
    to: &Vec3,
    steps: usize,
) -> (f64, f64) {
    let length = (to - from).norm() / steps as f64;
    let mut last = nearest(from);
    let mut most = (0.0_f64, 0.0_f64);
    for k in 1..=steps {
        let now = nearest(&(from + (to - from) * (k as f64 / steps as f64)));
        most.0 = most.0.max((now.distance_m - last.distance_m).abs() / length);
        most.1 = most.1.max((now.normal_S - last.normal_S).norm() / length);
        last = now;
    }
    most
}

/// Waves 0.8 m long and 8 cm high, 40 × 30 nodes 5 cm apart, inside the outer ring of cells.
fn waves() -> Heightfield {
    let h = |i: usize, j: usize| 0.02 * ((i as f64 * 0.39).sin() + (j as f64 * 0.39 + 0.5).cos());
    field(40, 30, 0.05, h)
}

fn field(
    columns: usize,
    rows: usize,
    spacing_m: f64,
    mut height_m: impl FnMut(usize, usize) -> f64,
) -> Heightfield {
    let mut heights = Vec::new();
    for j in 0..rows {
        for i in 0..columns {
            heights.push(height_m(i, j));
        }
    }
    Heightfield::new([0.0, 0.0], spacing_m, columns, rows, &heights).unwrap()
}

/// Rubble: any height within ±5 cm at nodes 10 cm apart.
fn rubble(seed: u64) -> Heightfield {
    let mut dice = Dice(seed);
    field(20, 20, 0.1, |_, _| 0.05 * chance(&mut dice))
}

/// A point over or under the inner cells of a field, at most `reach_m` above or below.
fn near_ground(dice: &mut Dice, ground: &Heightfield, side_m: [f64; 2], reach_m: f64) -> Vec3 {
    let [x, y] = side_m.map(|s| 0.5 * s + (0.5 * s - 0.1) * chance(dice));
    Vec3::new(x, y, ground.height_m(x, y) + reach_m * chance(dice))
}

#[test]
fn on_waves_the_normal_is_the_gradient_of_the_distance() {
    let ground = waves();
    let nearest = |p: &Vec3| ground.nearest(p);
    let mut dice = Dice(7);
    // distance, m, and the bound of the error there
    for (reach_m, bound) in [(0.005, 1e-9), (0.02, 1e-6), (0.05, 1e-5), (0.1, 1e-4)] {
        let mut worst = 0.0_f64;
        for _ in 0..2000 {
            let p = near_ground(&mut dice, &ground, [1.95, 1.45], reach_m);
            let n = nearest(&p);
            assert!((n.normal_S.norm() - 1.0).abs() < 1e-15);
            assert_eq!(n.point_S.z, ground.height_m(n.point_S.x, n.point_S.y));
            worst = worst.max((gradient(&nearest, &p, 1e-6) - n.normal_S).norm());
        }
        assert!(worst < bound, "{worst:.2e} at {reach_m} m");
    }
}

#[test]
fn on_waves_no_point_of_the_surface_is_nearer() {
    let ground = waves();
    let mut dice = Dice(8);
    for _ in 0..200 {
        let p = near_ground(&mut dice, &ground, [1.95, 1.45], 0.1);
        let n = ground.nearest(&p);
        assert_eq!(n.distance_m < 0.0, p.z < ground.height_m(p.x, p.y));
        for i in -30..=30 {
            for j in -30..=30 {
                let (x, y) = (p.x + f64::from(i) * 4e-3, p.y + f64::from(j) * 4e-3);
                let d = (p - Vec3::new(x, y, ground.height_m(x, y))).norm();
                assert!(d > n.distance_m.abs() - 1e-7, "{d} is less than {}", n.distance_m);
            }
        }
    }
}

#[test]
fn over_rubble_the_distance_errs_a_little_and_only_to_the_safe_side() {
    // curvature radii down to 1 cm: hollows are narrower than the distances here
    let ground = rubble(3);
    let nearest = |p: &Vec3| ground.nearest(p);
    let mut dice = Dice(9);
    for (reach_m, bound, mean_bound) in [(0.005, 1e-4, 1e-6), (0.02, 0.1, 1e-3)] {
        let (mut worst, mut sum) = (0.0_f64, 0.0);
        for _ in 0..2000 {
            let p = near_ground(&mut dice, &ground, [1.9, 1.9], reach_m);
            let n = nearest(&p);
            let error = (gradient(&nearest, &p, 1e-6) - n.normal_S).norm();
            worst = worst.max(error);
            sum += error / 2000.0;
            assert!(n.distance_m.abs() <= (p.z - ground.height_m(p.x, p.y)).abs() + 1e-15);
        }
        assert!(worst < bound && sum < mean_bound, "{worst:.2e}, mean {sum:.2e} at {reach_m} m");
    }
}

#[test]
fn heightfields_are_continuous_everywhere() {
    let mut dice = Dice(10);
    // largest change of distance and normal per m of way
    for (ground, bounds) in [(waves(), (1.001, 100.0)), (rubble(3), (3.0, 1000.0))] {
        let nearest = |p: &Vec3| ground.nearest(p);
        let mut most = (0.0_f64, 0.0_f64);
        for _ in 0..200 {
            // over cell borders, the border of the field and through the surface
            let from = Vec3::new(0.9, 0.7, 0.0) + point(&mut dice, [1.2, 1.0, 0.06]);
            let to = from + point(&mut dice, [0.2, 0.2, 0.05]);
            let (d, n) = steepest(&nearest, &from, &to, 5000);
            most = (most.0.max(d), most.1.max(n));
        }
        assert!(most.0 < bounds.0 && most.1 < bounds.1, "{most:?}");
    }
}

#[test]
fn planes_are_reproduced() {
    let (a, b) = (0.3, -0.7);
    let ground = field(12, 9, 0.05, |i, j| 0.4 + 0.05 * (a * i as f64 + b * j as f64));
    let normal = Vec3::new(-a, -b, 1.0).normalize();
    let mut dice = Dice(11);
    for _ in 0..1000 {
        let foot = Vec3::new(0.275, 0.2, 0.0) + point(&mut dice, [0.17, 0.095, 0.0]);
        let foot = Vec3::new(foot.x, foot.y, 0.4 + a * foot.x + b * foot.y);
        assert!((ground.height_m(foot.x, foot.y) - foot.z).abs() < 1e-15);
        let d = 0.03 * chance(&mut dice);
        let p = foot + normal * d;
        let start = Vec3::new(p.x, p.y, 0.0); // the search starts here; two cells from the border
        if (start.x - 0.275).abs() > 0.175 || (start.y - 0.2).abs() > 0.1 {
            continue;
        }
        let n = ground.nearest(&p);
        assert!((n.distance_m - d).abs() < 1e-14 && (n.normal_S - normal).norm() < 1e-14);
        assert!((n.point_S - foot).norm() < 1e-13);
    }
    let level = field(5, 5, 0.1, |_, _| 0.123);
    let n = level.nearest(&Vec3::new(9.0, 0.17, 0.2));
    assert_eq!(
        n,
        Nearest {
            distance_m: 0.2 - 0.123,
            normal_S: Vec3::z(),
            point_S: Vec3::new(9.0, 0.17, 0.123),
        }
    );
}

#[test]
fn no_cell_overshoots_its_corners() {
    for seed in 1..6 {
        let mut dice = Dice(seed);
        // random heights with level stretches, steps and spikes
        let mut heights = [[0.0; 12]; 12];
        for h in heights.iter_mut().flatten() {
            *h = [0.0, 0.0, 0.1, chance(&mut dice), 3.0][dice.roll(5) as usize];
        }
        let ground = field(12, 12, 0.1, |i, j| heights[j][i]);
        for j in 0..11 {
            for i in 0..11 {
                let c =
                    [heights[j][i], heights[j][i + 1], heights[j + 1][i], heights[j + 1][i + 1]];
                let low = c.iter().copied().fold(f64::INFINITY, f64::min);
                let high = c.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                for k in 0..=400_u32 {
                    let (u, v) = (f64::from(k % 20) / 20.0, f64::from(k / 20) / 20.0);
                    let h = ground.height_m((i as f64 + u) * 0.1, (j as f64 + v) * 0.1);
                    assert!(h > low - 1e-13 && h < high + 1e-13, "{h} is not in {low} to {high}");
                }
            }
        }
    }
}

#[test]
fn the_steepest_corner_stays_below_its_top() {
    // steep slopes in x and y meet at a node whose cell has no room above its other corners
    let ground = field(4, 4, 1.0, |i, j| match (i, j) {
        (0, _) | (_, 0) => -5.0,
        (1, 1) => 0.0,
        _ => 1.0,
    });
    let mut top = f64::NEG_INFINITY;
    for k in 0..10_000_u32 {
        let (u, v) = (f64::from(k % 100) / 100.0, f64::from(k / 100) / 100.0);
        top = top.max(ground.height_m(1.0 + u, 1.0 + v));
    }
    assert!(top <= 1.0 + 1e-15, "{top}");
}

#[test]
fn the_ground_goes_on_level_beyond_the_border() {
    let ground = waves();
    for (inside, outside) in [([0.0, 0.7], [-5.0, 0.7]), ([1.1, 1.45], [1.1, 1e6])] {
        let border = ground.height_m(inside[0], inside[1]);
        assert_eq!(ground.height_m(outside[0], outside[1]), border);
    }
    // smooth across the border: the slope there is 0 from both sides
    let slope = (ground.height_m(1e-6, 0.7) - ground.height_m(0.0, 0.7)) / 1e-6;
    assert!(slope.abs() < 1e-4, "{slope}");
}

#[test]
fn bad_heightfields_are_refused() {
    let refusal = |origin, spacing, columns, rows, heights: &[f64]| {
        Heightfield::new(origin, spacing, columns, rows, heights).unwrap_err().to_string()
    };
    let text = refusal([f64::NAN, 0.0], 0.0, 1, 2000, &[0.0, f64::INFINITY]);
    for line in [
        "origin_m[0] is NaN; it must be -100000 to 100000",
        "spacing_m is 0; it must be 0.001 to 100",
        "columns is 1; it must be 2 to 1024",
        "rows is 2000; it must be 2 to 1024",
        "heights_m has 2 entries; it must have 1 × 2000",
        "heights_m[1] is inf; it must be -100000 to 100000",
    ] {
        assert!(text.contains(line), "{line} is not in {text}");
    }
    let many = refusal([0.0, 0.0], 0.1, 10, 10, &[f64::NAN; 100]);
    assert_eq!(many.lines().count(), 9, "a list that a person can read: {many}");
    let huge = refusal([0.0, 0.0], 0.1, usize::MAX, 2, &[]);
    assert!(huge.contains("columns is 18446744073709551615"), "{huge}");
}

/// Distance from a box with rounded edges and its gradient, in closed form.
fn rounded_box(size: [f64; 3], r: f64, p: &Vec3) -> (f64, Vec3) {
    let beyond = Vec3::from_fn(|i| p[i].abs() - (0.5 * size[i] - r));
    let out = beyond.map(|b| b.max(0.0));
    if out.norm() > 0.0 {
        let n = Vec3::from_fn(|i| out[i] * p[i].signum() / out.norm());
        return (out.norm() - r, n);
    }
    let i = (1..3).fold(0, |i, k| if beyond[k] > beyond[i] { k } else { i });
    let mut n = Vec3::zeros();
    n[i] = p[i].signum();
    (beyond[i] - r, n)
}

#[test]
fn a_cuboid_is_the_rounded_box() {
    let (size, r) = ([0.4, 0.2, 0.1], 0.015);
    let solid = ConvexSolid::cuboid(size, r).unwrap();
    let mut dice = Dice(12);
    for _ in 0..20_000 {
        let p = point(&mut dice, [0.3, 0.2, 0.1]);
        let n = solid.nearest(&p);
        let (d, normal) = rounded_box(size, r, &p);
        assert!((n.distance_m - d).abs() < 1e-15, "{} is not {d} at {p}", n.distance_m);
        assert!((n.normal_S - normal).norm() < 1e-10, "{} is not {normal} at {p}", n.normal_S);
        assert!((n.point_S + n.normal_S * d - p).norm() < 1e-15);
        assert!(solid.nearest(&n.point_S).distance_m.abs() < 1e-15, "on the surface");
    }
}

/// Directions and offsets of a solid with many kinds of corners: a cut ball with 26 faces.
fn gem() -> ConvexSolid {
    let mut faces = Vec::new();
    for k in 0..27 {
        let n = Vec3::new(f64::from(k % 3 - 1), f64::from(k / 3 % 3 - 1), f64::from(k / 9 - 1));
        if n.norm() > 0.5 {
            faces.push((n, n.norm() * (0.1 + 0.001 * f64::from(k % 5))));
        }
    }
    ConvexSolid::from_faces(&faces, 0.01).unwrap()
}

fn solids() -> [ConvexSolid; 3] {
    [
        ConvexSolid::cuboid([0.2, 0.2, 0.1], 0.01).unwrap(),
        ConvexSolid::ramp(0.3, 0.2, 0.1, 0.01).unwrap(),
        gem(),
    ]
}

#[test]
fn on_solids_the_normal_is_the_gradient_of_the_distance() {
    let mut dice = Dice(13);
    for solid in solids() {
        let nearest = |p: &Vec3| solid.nearest(p);
        for _ in 0..20_000 {
            let p = point(&mut dice, [0.4, 0.2, 0.2]);
            let n = nearest(&p);
            if n.distance_m < -0.0095 {
                continue; // at the core the normal may jump
            }
            // normals turn at most by 1 / (distance from the core) per m
            let h = 1e-7;
            let error = (gradient(&nearest, &p, h) - n.normal_S).norm();
            assert!(error < 2e-8 + 4.0 * h / (n.distance_m + 0.01), "{error} at {p}");
        }
    }
}

#[test]
fn solids_are_continuous_over_edges_and_corners() {
    let mut dice = Dice(14);
    for solid in solids() {
        let nearest = |p: &Vec3| solid.nearest(p);
        let mut most = 0.0_f64;
        for _ in 0..300 {
            let from = point(&mut dice, [0.3, 0.2, 0.2]);
            let to = from + point(&mut dice, [0.1; 3]);
            most = most.max(steepest(&nearest, &from, &to, 2000).0);
        }
        assert!(most < 1.0 + 1e-9, "the distance is Lipschitz with 1, in the core too: {most}");
        // around the solid at 1 mm: there the normal turns at most by 1 / 11 mm
        let mut last: Option<Nearest> = None;
        for k in 0..40_000 {
            let angle = f64::from(k) * 1e-3;
            let out = Vec3::new(angle.cos(), (angle * 0.73).sin(), angle.sin());
            let far = solid.nearest(&(out * 0.5));
            let now = solid.nearest(&(far.point_S + far.normal_S * 1e-3));
            assert!((now.distance_m - 1e-3).abs() < 1e-14);
            if let Some(last) = last {
                let way = (now.point_S - last.point_S).norm() * 1.1 + 1e-12;
                assert!((now.normal_S - last.normal_S).norm() <= way / 0.01);
            }
            last = Some(now);
        }
    }
}

/// A point of a convex body is the nearest one to `p` if and only if no corner of the body is
/// farther on towards `p`.
#[test]
fn the_nearest_point_of_an_octahedron_is_proven_by_its_corners() {
    let mut faces = Vec::new();
    for k in 0..8 {
        let sign = |bit: i32| if k >> bit & 1 == 1 { 1.0 } else { -1.0 };
        faces.push((Vec3::new(sign(0), sign(1), sign(2)), 1.0));
    }
    let solid = ConvexSolid::from_faces(&faces, 0.0).unwrap();
    let mut dice = Dice(15);
    for _ in 0..20_000 {
        let p = point(&mut dice, [2.0; 3]);
        let n = solid.nearest(&p);
        let on = n.point_S;
        assert!((on.map(f64::abs).iter().sum::<f64>() - 1.0).abs() < 1e-14, "on the surface");
        assert_eq!(n.distance_m > 0.0, p.map(f64::abs).iter().sum::<f64>() > 1.0);
        if n.distance_m > 0.0 {
            for axis in 0..3 {
                for end in [-1.0, 1.0] {
                    let mut corner = Vec3::zeros();
                    corner[axis] = end;
                    assert!(n.normal_S.dot(&(corner - on)) < 1e-14);
                }
            }
        }
    }
}

#[test]
fn a_ramp_rises_from_the_floor_without_a_bump() {
    let ramp = ConvexSolid::ramp(0.5, 1.0, 0.1, 0.02).unwrap();
    let normal = Vec3::new(-0.1, 0.0, 0.5).normalize();
    for k in 0..=85_u32 {
        let on_slope = Vec3::new(0.5, 0.0, 0.1) * (f64::from(k) / 100.0) + Vec3::y() * 0.3;
        for d in [0.01, 0.0, -0.02, -0.04] {
            let n = ramp.nearest(&(on_slope + normal * d));
            assert!((n.distance_m - d).abs() < 1e-15, "{} is not {d} at {on_slope}", n.distance_m);
            assert!((n.normal_S - normal).norm() < 1e-15);
        }
    }
}

#[test]
fn treads_have_no_seams() {
    let (rise, run, r) = (0.17, 0.29, 0.01);
    let flight = stairs(4, rise, run, 1.0, r).unwrap();
    assert_eq!(flight.len(), 4);
    let touching = |p: &Vec3| {
        let near = flight.iter().map(|(X, solid)| solid.nearest(&X.point_inverse(p)));
        near.filter(|n| n.distance_m < 0.0).collect::<Vec<_>>()
    };
    for k in 0..4 {
        let (front, top) = (f64::from(k) * run, f64::from(k + 1) * rise);
        // from the end of the rounded edge to 1 mm in front of the next riser, 3 mm deep
        for i in 0..=1000 {
            let last = if k == 3 { run - r } else { run - 0.001 };
            let x = front + r + (last - r) * f64::from(i) / 1000.0;
            let found = touching(&Vec3::new(x, 0.3, top - 0.003));
            assert_eq!(found.len(), 1, "one box at x = {x}");
            assert!((found[0].distance_m + 0.003).abs() < 1e-14);
            assert!((found[0].normal_S - Vec3::z()).norm() < 1e-12);
        }
        // 1 mm inside the riser above the lower tread: the riser pushes back
        let found = touching(&Vec3::new(front + 0.001, 0.3, top - 0.05));
        assert_eq!((found.len(), found[0].normal_S), (1, -Vec3::x()));
        assert!((found[0].distance_m + 0.001).abs() < 1e-14);
    }
}

#[test]
fn bad_solids_are_refused() {
    let refused = |solid: hardstand_error::Result<ConvexSolid>, part: &str| {
        let text = solid.unwrap_err().to_string();
        assert!(text.contains(part), "{part} is not in {text}");
    };
    let cube = |last: f64| {
        let (x, y, z) = (Vec3::x(), Vec3::y(), Vec3::z());
        [(x, 1.0), (-x, 1.0), (y, 1.0), (-y, 1.0), (z, 1.0), (-z, last)]
    };
    refused(ConvexSolid::from_faces(&cube(1.0)[..3], 0.0), "has 3 entries; it must have 4 to 32");
    refused(ConvexSolid::from_faces(&[cube(1.0)[0]; 33], 0.0), "has 33 entries");
    refused(ConvexSolid::from_faces(&cube(1.0)[..5], 0.0), "open or too long; it must end within");
    refused(ConvexSolid::from_faces(&cube(2000.0), 0.0), "open or too long");
    refused(ConvexSolid::from_faces(&cube(-1.5), 0.0), "enclose nothing; the solid must have");
    refused(ConvexSolid::from_faces(&cube(-1.0), 0.0), "enclose nothing");
    refused(ConvexSolid::from_faces(&cube(1.0), 1.0), "edge_radius_m is 1; it must be so small");
    refused(ConvexSolid::from_faces(&cube(1.0), -0.1), "edge_radius_m is -0.1; it must be 0 to");
    refused(
        ConvexSolid::from_faces(&cube(f64::NAN), 0.0),
        "offset of half-space 5 is NaN; it must",
    );
    let mut flat = cube(1.0);
    flat[2].0 = Vec3::zeros();
    refused(ConvexSolid::from_faces(&flat, 0.0), "length of normal 2 is 0; it must be");
    // a small bevel that would vanish under the rounding
    let mut bevelled = cube(1.0).to_vec();
    bevelled.push((Vec3::new(1.0, 1.0, 0.0), 1.98));
    assert!(ConvexSolid::from_faces(&bevelled, 0.02).is_ok());
    refused(ConvexSolid::from_faces(&bevelled, 0.05), "a core with all faces");
    // one that cuts nothing off is left out
    bevelled[6].1 = 2.5;
    assert!(ConvexSolid::from_faces(&bevelled, 0.05).is_ok());
    refused(ConvexSolid::cuboid([0.1, f64::NAN, 0.1], 0.0), "size_m[1] is NaN; it must be 0.001");
    refused(ConvexSolid::cuboid([0.1, 0.1, 0.02], 0.01), "edge_radius_m is 0.01");
    refused(ConvexSolid::ramp(0.5, 0.0, 0.1, 0.0), "width_m is 0; it must be 0.001 to 1000");
    let text = stairs(101, -0.1, 0.3, 1.0, 0.0).unwrap_err().to_string();
    assert!(text.contains("count is 101; it must be 1 to 100"), "{text}");
    assert!(text.contains("rise_m is -0.1; it must be 0.001 to 10"), "{text}");
}

#[test]
fn the_lowest_point_of_a_torus_is_the_lowest_of_its_surface() {
    let mut dice = Dice(16);
    let (ring, tube) = (0.08, 0.015);
    for _ in 0..100 {
        let (axis, normal) = (direction(&mut dice), direction(&mut dice));
        let shape = StationShape::Torus { axis_B: axis, ring_radius_m: ring, tube_radius_m: tube };
        shape.check().unwrap();
        if axis.cross(&normal).norm() < 0.02 {
            continue; // nearly flat
        }
        let x = axis.cross(&Vec3::new(0.3, 0.5, -0.7)).normalize();
        let y = axis.cross(&x);
        let mut lowest = f64::INFINITY;
        for k in 0..200 * 200 {
            let (a, b) = (f64::from(k % 200) * 0.031_416, f64::from(k / 200) * 0.031_416);
            let out = x * a.cos() + y * a.sin();
            let p = out * (ring + tube * b.cos()) + axis * (tube * b.sin());
            lowest = lowest.min(p.dot(&normal));
        }
        let height = shape.lowest(&normal).dot(&normal);
        assert!(height <= lowest + 1e-15 && height > lowest - 5e-5, "{height} is not {lowest}");
        let center = shape.center_to_tube(&normal);
        assert!((center.norm() - ring).abs() < 1e-15 && center.dot(&axis).abs() < 1e-15);
        assert_eq!(shape.lowest(&normal), center - normal * shape.round_m());
    }
}

#[test]
fn a_disc_that_lies_down_moves_its_lowest_point_without_a_jump() {
    let disc = StationShape::Torus { axis_B: Vec3::z(), ring_radius_m: 1.0, tube_radius_m: 0.0 };
    let mut last = disc.lowest(&Vec3::z());
    assert_eq!(last, Vec3::zeros());
    let mut missed = 0.0_f64;
    for k in 1..=4000 {
        let tilt = f64::from(k) * 1e-5;
        let normal = Vec3::new(tilt.sin(), 0.0, tilt.cos());
        let now = disc.lowest(&normal);
        // the smooth step is steepest in its middle: 1.875 / 0.02 per rad
        assert!((now - last).norm() < 1e-5 * (1.876 / 0.02), "at {tilt}");
        missed = missed.max(now.dot(&normal) + tilt.sin());
        last = now;
    }
    assert!(missed > 0.005 && missed < 0.0055, "{missed} of the ring's radius too high");
    assert!((last - Vec3::new(-1.0, 0.0, 0.0)).norm() < 1e-15, "exact when tilted enough");
}

#[test]
fn points_and_spheres_have_their_lowest_point_below() {
    let normal = Vec3::new(0.6, 0.0, 0.8);
    assert_eq!(StationShape::Point.lowest(&normal), Vec3::zeros());
    assert_eq!(StationShape::Point.round_m(), 0.0);
    let ball = StationShape::Sphere { radius_m: 0.02 };
    assert_eq!(ball.lowest(&normal), -normal * 0.02);
    assert_eq!((ball.center_to_tube(&normal), ball.round_m()), (Vec3::zeros(), 0.02));
    let text = StationShape::Sphere { radius_m: -1.0 }.check().unwrap_err().to_string();
    assert!(text.contains("radius_m is -1; it must be 0 to 10"), "{text}");
    let axis_B = Vec3::new(0.0, 0.0, 1.1);
    let bad = StationShape::Torus { axis_B, ring_radius_m: f64::NAN, tube_radius_m: 11.0 };
    let text = bad.check().unwrap_err().to_string();
    for line in [
        "axis_B is [0, 0, 1.1]; it must be a unit vector",
        "ring_radius_m is NaN; it must be 0 to 10",
        "tube_radius_m is 11; it must be 0 to 10",
    ] {
        assert!(text.contains(line), "{line} is not in {text}");
    }
}

fn shaker(ramp_s: f64) -> PlatformMotion {
    PlatformMotion {
        velocity_m_per_s: [0.5, -0.2, 0.1],
        amplitude_m: [0.02, 0.05, -0.01],
        rocking_rad: [0.1, -0.3, 0.2],
        frequency_hz: 1.7,
        phase_rad: 0.6,
        ramp_s,
    }
}

#[test]
fn the_velocity_of_a_platform_is_the_derivative_of_its_place() {
    for ramp_s in [0.0, 1.5] {
        let platform = shaker(ramp_s);
        platform.check().unwrap();
        for k in 1..300_u64 {
            let (t, h) = (k * 10_007_011, 10_000);
            let (before, after) = (platform.displacement(t - h), platform.displacement(t + h));
            let v = platform.velocity(t);
            let span_s = 2.0 * h as f64 * 1e-9;
            assert!(((after.p - before.p) / span_s - v.lin).norm() < 1e-7, "at {t} ns");
            // rotation from before to after, in P0 axes: about twice the vector part
            let q = Quaternion::from_matrix(&(after.R * before.R.transpose()));
            let turn = Vec3::new(q.x, q.y, q.z) * (2.0 / span_s);
            assert!((turn - v.ang).norm() < 1e-6, "{turn} is not {} at {t} ns", v.ang);
        }
    }
}

#[test]
fn a_platform_starts_at_rest_and_ends_at_its_speed() {
    let platform = shaker(2.0);
    let start = platform.displacement(0);
    assert_eq!((start.p.norm(), platform.velocity(0).lin.norm()), (0.0, 0.0));
    let belt = PlatformMotion { amplitude_m: [0.0; 3], rocking_rad: [0.0; 3], ..platform };
    assert!((belt.displacement(5 * S).p - Vec3::new(0.5, -0.2, 0.1) * 4.0).norm() < 1e-15);
    // no jump where the ramp ends
    for f in
        [|p: &PlatformMotion, t| p.displacement(t).p, |p: &PlatformMotion, t| p.velocity(t).lin]
    {
        let jump = f(&platform, 2 * S) - f(&platform, 2 * S - 1);
        assert!(jump.norm() < 1e-8, "{jump}");
    }
    // rocking keeps its axis
    let axis = Vec3::new(0.1, -0.3, 0.2);
    assert!((platform.displacement(3 * S).R * axis - axis).norm() < 1e-15);
    assert_eq!(
        PlatformMotion::default().displacement(7 * S),
        hardstand_physics::spatial::Transform::identity()
    );
}

/// The fraction of a period from exact integer arithmetic.
fn exact_fraction(frequency_hz: f64, t_ns: u64) -> f64 {
    let unit = 1_u128 << 51; // a frequency of 2 to 4 Hz is a multiple of 2⁻⁵¹ Hz
    let period = unit * u128::from(S);
    let periods = (frequency_hz * unit as f64) as u128 * u128::from(t_ns);
    (periods % period) as f64 / period as f64
}

#[test]
fn a_platform_keeps_its_precision_for_years() {
    let platform = PlatformMotion {
        amplitude_m: [1.0, 0.0, 0.0],
        frequency_hz: 3.7,
        ..PlatformMotion::default()
    };
    for (t_s, bound) in [(1, 2e-15), (36_000, 2e-15), (100_000_000, 2e-15)] {
        for k in 0..1000 {
            let t_ns = t_s * S + k * 1_234_567;
            let exact = (std::f64::consts::TAU * exact_fraction(3.7, t_ns)).sin();
            let x = platform.displacement(t_ns).p.x;
            assert!((x - exact).abs() < bound, "{:e} off at {t_ns} ns", x - exact);
        }
    }
    // after a whole number of periods everything is the same again, to the bit
    let whole = PlatformMotion { frequency_hz: 1.25, ..platform };
    for k in 0..1000 {
        let (now, later) = (k * 1_234_567, 36_000 * S + k * 1_234_567);
        assert_eq!(whole.displacement(now), whole.displacement(later));
        assert_eq!(whole.velocity(now), whole.velocity(later));
    }
    let _ = shaker(1.0).displacement(u64::MAX); // 584 years: total, no overflow
}

#[test]
fn bad_platforms_are_refused() {
    let bad = PlatformMotion {
        velocity_m_per_s: [0.0, f64::NAN, 0.0],
        amplitude_m: [0.0, 0.0, 101.0],
        rocking_rad: [4.0, 0.0, 0.0],
        frequency_hz: -1.0,
        phase_rad: f64::INFINITY,
        ramp_s: -0.5,
    };
    let text = bad.check().unwrap_err().to_string();
    for line in [
        "velocity_m_per_s[1] is NaN; it must be -100 to 100",
        "amplitude_m[2] is 101; it must be -100 to 100",
        "rocking_rad[0] is 4; it must be -3.14159",
        "frequency_hz is -1; it must be 0 to 1000",
        "phase_rad is inf; it must be -6.28318",
        "ramp_s is -0.5; it must be 0 to 1000000",
    ] {
        assert!(text.contains(line), "{line} is not in {text}");
    }
}
