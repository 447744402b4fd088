//! Free bodies on height fields, on moving ground, and on edges.

use hardstand_geometry::Shape;
use hardstand_physics::contact::{
    ConvexSolid, ExponentialSpring, Heightfield, Platform, PlatformMotion, SpringParameters,
    Stiction, Surface, SurfaceShape,
};
use hardstand_physics::math;
use hardstand_physics::plant::{CollisionPoint, ContactModel, OwnerWords, Plant, PlantSpec};
use hardstand_physics::spatial::{Mat3, Transform, Vec3};

use super::common::bodies::{ball, bystander, cuboid, put};
use super::common::robots::{G, at};

fn holding() -> ContactModel {
    let parameters =
        SpringParameters { stiction: Stiction::Holding, cz_s_per_m: 5.0, ..Default::default() };
    ContactModel::ExponentialSpring(ExponentialSpring::new(parameters).unwrap())
}

fn run(plant: &mut Plant, ticks: u32) {
    for _ in 0..ticks {
        assert_eq!(plant.step(&[], &OwnerWords::default()), None, "tick {}", plant.state().tick);
    }
}

fn force_W(plant: &Plant) -> Vec3 {
    plant.collisions().points().iter().map(CollisionPoint::force_W).sum()
}

fn speed(plant: &Plant) -> f64 {
    let of = |body: &hardstand_physics::plant::BodyState| body.v_WB.norm() + body.w_WB.norm();
    plant.state().bodies.iter().map(of).fold(0.0, f64::max)
}

/// A field of 2 m by 2 m about the origin, a node every 5 cm.
fn field(height_m: impl Fn(f64, f64) -> f64) -> Surface {
    let along = |i: usize| 0.05 * i as f64 - 1.0;
    let heights: Vec<f64> = (0..41 * 41).map(|n| height_m(along(n % 41), along(n / 41))).collect();
    let field = Heightfield::new([-1.0, -1.0], 0.05, 41, 41, &heights).unwrap();
    let shape = SurfaceShape::Heightfield(field);
    Surface { shape, ..Surface::plane("field", Transform::identity()) }
}

/// A field that is a plane carries a box as the plane does.
#[test]
fn a_box_lies_on_a_sloping_field_as_on_a_plane() {
    let slope: f64 = 0.2;
    let (sine, cosine) = (slope / (1.0 + slope * slope).sqrt(), 1.0 / (1.0 + slope * slope).sqrt());
    // z of S along the normal of the slope z = x / 5
    let R = Mat3::from_rows(Vec3::new(cosine, 0.0, -sine), Vec3::y(), Vec3::new(sine, 0.0, cosine));
    let places = [true, false].map(|as_field| {
        let (model, mut spec) = bystander();
        let plane = Surface::plane("slope", Transform::new(R, Vec3::zeros()));
        spec.ground = vec![if as_field { field(|x, _| slope * x) } else { plane }];
        let k = put(&mut spec, cuboid([0.3, 0.2, 0.1], 5.0, [0.0, 0.0, 0.0]), &holding());
        spec.collisions.bodies[k].X_WB = Transform::new(R, R * Vec3::new(0.1, 0.0, 0.07));
        let mut plant = Plant::new(model, spec);
        run(&mut plant, 3000);
        assert!((force_W(&plant) - Vec3::z() * (5.0 * G)).norm() < 1e-3, "{:?}", force_W(&plant));
        assert!(speed(&plant) < 1e-4);
        plant.state().bodies[0]
    });
    let [on_field, on_plane] = places;
    assert!((on_field.p_WB - on_plane.p_WB).norm() < 1e-4, "{on_field:?} {on_plane:?}");
    assert!(
        on_field.quat_WB.to_matrix().column_z().dot(&on_plane.quat_WB.to_matrix().column_z())
            > 1.0 - 1e-8
    );
}

/// It comes to rest at the bottom of a hollow, on the floor of the hollow.
#[test]
fn a_ball_rolls_into_the_hollow_of_a_field() {
    let (model, mut spec) = bystander();
    let height_m = |x: f64, y: f64| 0.2 * (x * x + y * y);
    spec.ground = vec![field(height_m)];
    put(&mut spec, ball(0.1, 1.0, [0.3, 0.2, 0.15]), &holding());
    spec.collisions.shapes[0].rolling =
        hardstand_physics::contact::RollingFriction::new(0.002, 0.002, 0.01).unwrap();
    let mut plant = Plant::new(model, spec);
    for _ in 0..20 {
        run(&mut plant, 500);
        let p = plant.state().bodies[0].p_WB;
        assert!(p.z > height_m(p.x, p.y) + 0.09, "{p:?}");
    }
    let p = plant.state().bodies[0].p_WB;
    let parameters = SpringParameters::default();
    // by the formula of the law for its weight
    let gap_m = parameters.d0_m - math::ln(G / parameters.d1_n) / parameters.d2_per_m;
    let above_m = p.z - height_m(p.x, p.y) - 0.1;
    assert!(p.xy().norm() < 0.05 && (above_m - gap_m).abs() < 3e-4, "{p:?} {gap_m}");
}

/// The corners of a slab are beside a spike, a capsule's ends beside a ridge: the spike and the ridge
/// are felt where they are.
#[test]
fn faces_and_sides_rest_on_what_stands_out_of_a_field() {
    for model in [holding(), ContactModel::Rigid] {
        // one node, and a row of nodes along y, 6 cm high
        for is_ridge in [false, true] {
            let high = |x: f64, y: f64| x.abs() < 1e-6 && (is_ridge || y.abs() < 1e-6);
            let (post, mut spec) = bystander();
            spec.ground = vec![field(|x, y| if high(x, y) { 0.06 } else { 0.0 })];
            let k = if is_ridge {
                let (body, _) = cuboid([0.5, 0.1, 0.1], 4.0, [0.1, 0.012, 0.15]);
                put(&mut spec, (body, Shape::capsule(0.05, 0.4).unwrap()), &model)
            } else {
                put(&mut spec, cuboid([0.4, 0.4, 0.05], 4.0, [0.03, 0.012, 0.12]), &model)
            };
            if is_ridge {
                // its line along x, across the ridge
                let R = Mat3::from_rows(Vec3::z(), Vec3::y(), -Vec3::x());
                spec.collisions.shapes[k].X_BS = Transform::new(R, Vec3::zeros());
            }
            let half_m = if is_ridge { 0.05 } else { 0.025 };
            let mut plant = Plant::new(post, spec);
            let mut felt = false;
            for tick in 0..2000 {
                run(&mut plant, 1);
                // how high the middle of the body is over the top, across its face
                let body = plant.state().bodies[0];
                let top = Vec3::new(0.0, if is_ridge { body.p_WB.y } else { 0.0 }, 0.06);
                let up = body.quat_WB.to_matrix().column_z();
                let above_m = up.dot(&(body.p_WB - top)) - half_m;
                let beside = (body.p_WB - top).norm() > 0.15;
                assert!(beside || above_m > -8e-3, "{model:?} {is_ridge} {tick}: {above_m}");
                let on_top = |p: &CollisionPoint| (p.point_W - top).norm() < 0.02;
                felt |= plant.collisions().points().iter().any(|p| on_top(p) && p.normal_n() > 1.0);
            }
            assert!(felt, "{model:?} {is_ridge}");
        }
    }
}

/// A plane that moves as this says, instead of the floor.
fn moving(spec: &mut PlantSpec, motion: PlatformMotion) {
    motion.check().unwrap();
    spec.ground[0].platform = Some(Platform { motion, X_WE: Transform::identity() });
}

#[test]
fn a_treadmill_takes_a_body_along() {
    for model in [holding(), ContactModel::Rigid] {
        let (post, mut spec) = bystander();
        let velocity_m_per_s = [0.5, 0.0, 0.0];
        moving(&mut spec, PlatformMotion { velocity_m_per_s, ..Default::default() });
        put(&mut spec, cuboid([0.2, 0.2, 0.1], 2.0, [0.0, 0.0, 0.0525]), &model);
        let mut plant = Plant::new(post, spec);
        run(&mut plant, 3000);
        let body = plant.state().bodies[0];
        // it slips until μ g t = v
        let slipped_m = 0.5 * 0.5 / (2.0 * 0.5 * G);
        assert!((body.v_WB - Vec3::x() * 0.5).norm() < 1e-6, "{body:?}");
        assert!((1.5 - body.p_WB.x - slipped_m).abs() < 5e-3, "{model:?}: {body:?}");
    }
}

/// Below the limit of friction a body goes with the table, above it slides.
#[test]
fn a_shaking_table_takes_a_body_along_below_the_limit_of_friction() {
    for (model, hertz, slides) in [
        (holding(), 1.5, false),
        (holding(), 4.0, true),
        (ContactModel::Rigid, 1.5, false),
        (ContactModel::Rigid, 4.0, true),
    ] {
        let (post, mut spec) = bystander();
        let amplitude_m = [0.03, 0.0, 0.0];
        let motion =
            PlatformMotion { amplitude_m, frequency_hz: hertz, ramp_s: 1.0, ..Default::default() };
        moving(&mut spec, motion);
        put(&mut spec, cuboid([0.2, 0.2, 0.06], 2.0, [0.0, 0.0, 0.0325]), &model);
        let mut plant = Plant::new(post, spec);
        let mut most_m = 0.0_f64;
        for tick in 1..=3000_u64 {
            run(&mut plant, 1);
            let table_m = motion.displacement(tick * 1_000_000).p.x;
            most_m = most_m.max((plant.state().bodies[0].p_WB.x - table_m).abs());
        }
        assert_eq!(most_m > 3e-3, slides, "{model:?} {hertz}: {most_m}");
    }
}

/// A sole that stands on the nose of a stair with its centre of mass over the tread stays, one whose
/// centre is beyond the nose tips over it.
#[test]
fn a_sole_stays_on_a_stair_nose_until_its_centre_is_beyond() {
    for model in [holding(), ContactModel::Rigid] {
        for (beyond_m, stays) in [(-0.015, true), (0.015, false)] {
            let (post, mut spec) = bystander();
            let stair = ConvexSolid::cuboid([1.0, 1.0, 0.2], 0.005).unwrap();
            let shape = SurfaceShape::Solid(stair);
            // the nose is at x = 0, 0.2 m high
            spec.ground.push(Surface { shape, ..Surface::plane("stair", at(-0.5, 0.0, 0.1)) });
            put(&mut spec, cuboid([0.24, 0.1, 0.03], 1.0, [beyond_m, 0.0, 0.2175]), &model);
            let mut plant = Plant::new(post, spec);
            run(&mut plant, 1500);
            let body = plant.state().bodies[0];
            let level = body.quat_WB.to_matrix().z.z;
            if stays {
                assert!(level > 0.9995 && speed(&plant) < 1e-3, "{body:?}");
                assert!((body.p_WB.x - beyond_m).abs() < 1e-3, "{body:?}");
            } else {
                assert!(level < 0.98 && body.p_WB.z < 0.19, "{model:?}: {body:?}");
            }
        }
    }
}

/// A trunk leans on the edge of a box and on the floor: the edge carries its share, at its place and
/// across the trunk's face.
#[test]
fn a_trunk_leans_on_the_edge_of_a_box() {
    for model in [holding(), ContactModel::Rigid] {
        let (post, mut spec) = bystander();
        let block = ConvexSolid::cuboid([0.4, 1.0, 0.2], 0.005).unwrap();
        let shape = SurfaceShape::Solid(block);
        // its edge is at x = 0, 0.2 m high
        spec.ground.push(Surface { shape, ..Surface::plane("box", at(0.2, 0.0, 0.1)) });
        let k = put(&mut spec, cuboid([0.6, 0.3, 0.1], 10.0, [0.0; 3]), &model);
        let (sine, cosine) = math::sin_cos(0.45);
        // up the slope with x, one end on the floor, the middle before the edge
        let R =
            Mat3::from_rows(Vec3::new(cosine, 0.0, -sine), Vec3::y(), Vec3::new(sine, 0.0, cosine));
        let middle = Vec3::new(-0.15, 0.0, 0.0);
        let on_edge = Vec3::z() * 0.205 + R * (middle + Vec3::z() * 0.05);
        spec.collisions.bodies[k].X_WB = Transform::new(R, on_edge);
        spec.collisions.shapes[k].friction = hardstand_physics::contact::Friction::new(1.0, 1.0);
        let mut plant = Plant::new(post, spec);
        run(&mut plant, 4000);
        let body = plant.state().bodies[0];
        assert!(speed(&plant) < 1e-3, "{model:?}: {body:?}");
        assert!((force_W(&plant) - Vec3::z() * (10.0 * G)).norm() < 0.05, "{:?}", force_W(&plant));
        let high: Vec<_> =
            plant.collisions().points().iter().filter(|p| p.point_W.z > 0.1).collect();
        let carried_n: f64 = high.iter().map(|p| p.force_W().z).sum();
        assert!((0.5..0.8).contains(&(carried_n / 10.0 / G)), "{model:?}: {carried_n}");
        for p in high {
            assert!(p.point_W.x.abs() < 0.01 && (p.point_W.z - 0.2).abs() < 0.01, "{p:?}");
            assert!((p.R_WC * Vec3::z()).dot(&body.quat_WB.to_matrix().column_z()) > 0.9);
        }
    }
}
