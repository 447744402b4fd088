//! Shapes with materials: friction of Hunt and Crossley's law, and boxes as Simbody's bricks.

use hardstand_geometry::Shape;
use hardstand_physics::contact::{
    BrickContact, ContactMaterial, HalfSpace, HertzPair, HuntCrossley, SlipCurve,
};
use hardstand_physics::plant::{
    Brick, Carrier, CollisionPoint, ContactModel, Integrator, OwnerWords, Plant, PlantSpec,
};
use hardstand_physics::spatial::{Motion, Transform, Vec3};

use super::common::bodies::{ball, bystander, cuboid, put};
use super::common::robots::G;

const SIZE_M: [f64; 3] = [0.4, 0.3, 0.2];

fn wood() -> ContactMaterial {
    ContactMaterial::new(4e4, 0.3, 0.3, 0.2, 0.05).unwrap()
}

fn laws(curve: SlipCurve) -> ContactModel {
    let pair = HertzPair::new(&wood(), &wood()).unwrap();
    let law = HuntCrossley::new(pair, 0.01).unwrap().with_curve(curve);
    ContactModel::HuntCrossley(vec![law; 2])
}

/// A box that is a brick on the floor.
fn brick(spec: &mut PlantSpec, p_W: [f64; 3]) -> BrickContact {
    let (body, _) = cuboid(SIZE_M, 6.0, p_W);
    let shape = Shape::cuboid(SIZE_M, 0.0).unwrap();
    put(spec, (body, shape), &laws(SlipCurve::Stribeck));
    let half = Vec3::from(SIZE_M) * 0.5;
    let law = BrickContact::new(&wood(), &wood(), half, 0.01).unwrap();
    let shape = spec.collisions.shapes.len() - 1;
    spec.collisions.bricks.push(Brick { shape, laws: vec![Some(law)] });
    law
}

/// Friction of a shape with materials is that of the materials, whatever the shape says.
#[test]
fn friction_of_a_shape_follows_from_its_materials() {
    for (touches, gap_m) in [("floor", 0.0), ("slab", 0.2)] {
        let (model, mut spec) = bystander();
        let model_of = laws(SlipCurve::Stribeck);
        let k = put(&mut spec, ball(0.05, 1.0, [0.0, 0.0, gap_m + 0.049]), &model_of);
        spec.collisions.bodies[k].V_W.lin.x = 1.0;
        if gap_m > 0.0 {
            put(&mut spec, cuboid([0.4, 0.4, 0.1], 6.0, [0.0, 0.0, 0.15]), &model_of);
        }
        let plant = Plant::new(model, spec);
        let [point] = plant.collisions().points() else { panic!("one point touches") };
        let f_W = point.force_W();
        // 0.2, and 0.05 s/m of viscous friction at 1 m/s
        assert!((f_W.x.abs() / f_W.z.abs() - 0.25).abs() < 1e-9, "{touches}: {f_W:?}");
        assert_eq!(point.friction.mu_static(), 0.3, "{touches}");
    }
}

/// A box that is a brick has the force and the moment of Simbody's, tilted and moving as it may be.
#[test]
fn a_brick_in_a_scene_has_the_forces_of_simbodys_brick() {
    for (rpy, v, w, deep_m, corners) in [
        ([0.0; 3], [0.0; 3], [0.0; 3], 4e-3, 4),
        ([0.0; 3], [0.02, -0.3, -0.2], [0.1, 0.2, 2.0], 4e-3, 4),
        ([0.005, 0.004, 0.7], [0.004, 0.001, 0.3], [0.1, 0.2, -0.4], 4e-3, 4),
        ([0.02, 0.03, -0.3], [0.5, 0.0, -0.1], [0.0; 3], 0.014, 3),
        ([3.1, 0.0, 0.0], [0.0, 0.1, 0.0], [0.0; 3], 4e-3, 2),
        ([0.6, 0.7, 0.2], [0.1, 0.0, -1.0], [0.3, 0.0, 0.0], 1e-4, 1),
    ] {
        let (model, mut spec) = bystander();
        let law = brick(&mut spec, [0.0; 3]);
        let at = |z: f64| Transform::from_xyz_rpy([0.1, -0.2, z], rpy);
        let half = Vec3::from(SIZE_M) * 0.5;
        let low = at(0.0).R.tr_mul(&Vec3::z());
        let reach_m: f64 = low.iter().zip(half.iter()).map(|(n, h)| n.abs() * h).sum();
        let X_WB = at(reach_m - deep_m);
        spec.collisions.bodies[0].X_WB = X_WB;
        spec.collisions.bodies[0].V_W = Motion::new(w.into(), v.into());
        let plant = Plant::new(model, spec);
        let points = plant.collisions().points();
        assert_eq!(points.len(), corners, "{rpy:?}");
        assert!(points.iter().all(|p| p.carriers == [Carrier::Body(0), Carrier::Surface(0)]));
        // the spatial velocity about the origin of W
        let V = Motion::new(w.into(), Vec3::from(v) - Vec3::from(w).cross(&X_WB.p));
        let floor = HalfSpace { point: Vec3::zeros(), normal: Vec3::z() };
        let expected = law.evaluate(&law.initial_friction(), &floor, &X_WB, &V).unwrap();
        let scale = expected.contact.force.norm();
        let force: Vec3 = points.iter().map(CollisionPoint::force_W).sum();
        assert!(scale > 0.1 && (force - expected.contact.force).norm() < 1e-9 * scale, "{rpy:?}");
        let moment: Vec3 = points.iter().map(|p| p.point_W.cross(&p.force_W())).sum();
        let of = &expected.contact;
        let all = of.moment + of.point.cross(&of.force);
        assert!((moment - all).norm() < 1e-9 * scale, "{rpy:?}: {moment:?} {all:?}");
        let energy: f64 = points.iter().map(|p| p.record_W().potential_energy_j).sum();
        let power: f64 = points.iter().map(|p| p.record_W().power_dissipation_w).sum();
        assert!((energy - of.potential_energy_j).abs() < 1e-9 * of.potential_energy_j);
        assert!((power - of.power_dissipation_w).abs() <= 1e-9 * of.power_dissipation_w.abs());
    }
}

/// A brick that falls comes to rest where its four corners carry it, and gains no energy on the way.
#[test]
fn a_brick_falls_and_rests_on_four_corners() {
    for integrator in [Integrator::SemiImplicitEuler, Integrator::LinearlyImplicit] {
        let (model, mut spec) = bystander();
        spec.integrator = integrator;
        brick(&mut spec, [0.0, 0.0, 0.3]);
        spec.collisions.bodies[0].X_WB = Transform::from_xyz_rpy([0.0, 0.0, 0.35], [0.3, 0.2, 0.1]);
        let mut plant = Plant::new(model, spec);
        let energy_j = |plant: &Plant| {
            let (body, s) = (&plant.collisions().spec().bodies[0], &plant.state().bodies[0]);
            let w_B = s.quat_WB.to_matrix().tr_mul(&s.w_WB);
            let moving = 0.5 * 6.0 * s.v_WB.norm_squared() + 0.5 * w_B.dot(&(body.inertia.I * w_B));
            moving + 6.0 * G * s.p_WB.z + plant.collisions().potential_energy()
        };
        let (start_j, mut most_j) = (energy_j(&plant), f64::NEG_INFINITY);
        for tick in 0..10_000 {
            assert_eq!(plant.step(&[], &OwnerWords::default()), None, "tick {tick}");
            most_j = most_j.max(energy_j(&plant));
        }
        assert!(most_j < start_j + 0.01, "{integrator:?}: {start_j} {most_j}");
        // k = 2e4 N/m at each corner
        let (s, depth_m) = (&plant.state().bodies[0], 6.0 * G / (4.0 * 2e4));
        assert!((s.p_WB.z - (0.1 - depth_m)).abs() < 1e-6, "{integrator:?}: {}", s.p_WB.z);
        assert!(s.v_WB.norm() < 1e-4 && plant.collisions().points().len() == 4);
    }
}
