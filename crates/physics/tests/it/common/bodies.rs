//! Free bodies with their shapes.
#![allow(dead_code, reason = "each test uses parts of it")]

use hardstand_geometry::Shape;
use hardstand_physics::contact::{Friction, RollingFriction};
use hardstand_physics::model::{Base, Builder, Model};
use hardstand_physics::plant::{
    Carrier, CollisionShape, CollisionSpec, ContactModel, FreeBody, Mobility, PlantSpec,
};
use hardstand_physics::spatial::{Mat3, Motion, SpatialInertia, Transform, Vec3};

use super::robots::{add_body, at, plain_spec};

/// A robot that is far away.
pub fn bystander() -> (Model, PlantSpec) {
    let mut b = Builder::new("bystander", Base::Fixed);
    let I = Mat3::identity();
    add_body(&mut b, "post", SpatialInertia::from_com(1.0, &Vec3::zeros(), &I));
    let model = b.build().unwrap();
    let mut spec = plain_spec(&model);
    spec.collisions = CollisionSpec {
        margin_m: 0.012,
        reach_m: 0.03,
        pairs_max: 64,
        points_max: 128,
        face_radius_m: 0.02,
        ..CollisionSpec::none()
    };
    (model, spec)
}

pub fn cuboid(size_m: [f64; 3], mass: f64, p_W: [f64; 3]) -> (FreeBody, Shape) {
    let [x, y, z] = size_m.map(|s| s * s * mass / 12.0);
    let I = Mat3::from_diagonal(&Vec3::new(y + z, x + z, x + y));
    let body = FreeBody {
        name: format!("box at {p_W:?}"),
        inertia: SpatialInertia::from_com(mass, &Vec3::zeros(), &I),
        mobility: Mobility::Free,
        damping: 0.0,
        X_WB: at(p_W[0], p_W[1], p_W[2]),
        V_W: Motion::zero(),
    };
    (body, Shape::cuboid(size_m, 0.002).unwrap())
}

pub fn ball(radius_m: f64, mass: f64, p_W: [f64; 3]) -> (FreeBody, Shape) {
    let (mut body, _) = cuboid([radius_m; 3], mass, p_W);
    let I = Mat3::from_diagonal_element(0.4 * mass * radius_m * radius_m);
    body.inertia = SpatialInertia::from_com(mass, &Vec3::zeros(), &I);
    (body, Shape::sphere(radius_m).unwrap())
}

/// Adds a free body with its shape; returns its index.
pub fn put(spec: &mut PlantSpec, (body, shape): (FreeBody, Shape), model: &ContactModel) -> usize {
    let index = spec.collisions.bodies.len();
    spec.collisions.bodies.push(body);
    spec.collisions.shapes.push(CollisionShape {
        carrier: Carrier::Body(index),
        X_BS: Transform::identity(),
        shape,
        meets_ground: true,
        model: model.clone(),
        friction: Friction::new(0.7, 0.5),
        rolling: RollingFriction::NONE,
    });
    index
}
