//! Cost of a tick against what touches: `cargo bench -p hardstand-physics --bench collisions`.
//!
//! Ticks of 1 ms with ten micro-steps. Each figure is the least of `ROUNDS` means over `TICKS`
//! ticks; scenes are measured in turn. `cargo test --benches` runs each scene once, without
//! figures.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout, clippy::disallowed_methods)]
#![allow(non_snake_case, reason = "monogram notation")]

use std::time::Instant;

use hardstand_geometry::Shape;
use hardstand_physics::actuator::Reference;
use hardstand_physics::contact::{
    ExponentialSpring, Friction, RollingFriction, SpringParameters, Stiction, Surface,
    SurfaceShape, stairs,
};
use hardstand_physics::model::{Base, Builder, JointKind, Model};
use hardstand_physics::plant::{
    Carrier, CollisionShape, CollisionSpec, ContactModel, FreeBody, Mobility, OwnerWords, Plant,
    PlantSpec,
};
use hardstand_physics::spatial::{Mat3, Motion, Quaternion, SpatialInertia, Transform, Vec3};

#[path = "../tests/it/common/robots.rs"]
#[allow(unreachable_pub)]
mod robots;

use robots::{add_body, add_joint, at, box_on_springs, joint, plain_spec, walker};

const TICKS: u32 = 200;
const ROUNDS: usize = 25;

struct Scene {
    name: String,
    plant: Plant,
    references: Vec<Reference>,
    least_us: f64,
}

fn spring() -> ContactModel {
    let parameters =
        SpringParameters { stiction: Stiction::Holding, cz_s_per_m: 2.0, ..Default::default() };
    ContactModel::ExponentialSpring(ExponentialSpring::new(parameters).unwrap())
}

fn collisions() -> CollisionSpec {
    CollisionSpec {
        margin_m: 0.0121,
        reach_m: 0.0221,
        pairs_max: 4096,
        points_max: 1024,
        face_radius_m: 0.02,
        ..CollisionSpec::none()
    }
}

fn shape(carrier: Carrier, X_BS: Transform, shape: Shape) -> CollisionShape {
    let friction = Friction::new(0.7, 0.5);
    CollisionShape {
        carrier,
        X_BS,
        shape,
        meets_ground: true,
        model: spring(),
        friction,
        rolling: RollingFriction::NONE,
    }
}

fn scene(name: String, model: Model, mut spec: PlantSpec) -> Scene {
    spec.micro_steps = 10;
    let hold = |q: &f64| Reference { q: *q, dq: 0.0, kp: 100.0, kd: 3.0, tau_ff: 0.0 };
    let references = spec.q.joints.iter().map(hold).collect();
    Scene { name, plant: Plant::new(model, spec), references, least_us: f64::INFINITY }
}

/// Boxes of 0.2 m in rows, or in stacks of four.
fn boxes(count: usize, high: usize) -> Scene {
    let mut b = Builder::new("post", Base::Fixed);
    let I = Mat3::identity();
    add_body(&mut b, "post", SpatialInertia::from_com(1.0, &Vec3::zeros(), &I));
    let model = b.build().unwrap();
    let mut spec = plain_spec(&model);
    spec.collisions = collisions();
    for i in 0..count {
        let (tower, floor) = (i / high, i % high);
        let place = [0.4 * (tower % 8) as f64, 0.4 * (tower / 8) as f64, 0.1 + 0.2 * floor as f64];
        spec.collisions.bodies.push(FreeBody {
            name: format!("box {i}"),
            inertia: SpatialInertia::from_com(
                2.0,
                &Vec3::zeros(),
                &Mat3::from_diagonal_element(0.0133),
            ),
            mobility: Mobility::Free,
            damping: 0.0,
            X_WB: at(place[0], place[1], place[2]),
            V_W: Motion::zero(),
        });
        let cube = Shape::cuboid([0.2; 3], 0.002).unwrap();
        spec.collisions.shapes.push(shape(Carrier::Body(i), Transform::identity(), cube));
    }
    let what = if high == 1 { "on a plane" } else { "in stacks of 4" };
    scene(format!("{count} boxes {what}"), model, spec)
}

/// A trunk, a head and four limbs of three links, which lies on its back or is far from the ground.
fn humanoid(lies: bool) -> Scene {
    let mut b = Builder::new("humanoid", Base::Floating);
    let inertia = |m: f64| {
        SpatialInertia::from_com(
            m,
            &Vec3::new(0.0, 0.0, -0.1),
            &Mat3::from_diagonal_element(0.02 * m),
        )
    };
    add_body(&mut b, "trunk", inertia(22.0));
    let places = [(0.26, 0.2), (-0.26, 0.2), (0.1, -0.3), (-0.1, -0.3)];
    for (i, (y, z)) in places.into_iter().enumerate() {
        let mut parent = "trunk".to_string();
        for (k, axis) in [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 1.0, 0.0]].into_iter().enumerate()
        {
            let name = format!("limb{i}{k}");
            add_body(&mut b, &name, inertia(2.0));
            let X = if k == 0 { at(0.0, y, z) } else { at(0.0, 0.0, -0.3) };
            let mut j = joint(&format!("{name}_joint"), JointKind::Revolute, axis, X);
            (j.q_min, j.q_max, j.effort_max, j.damping) = (-1.5, 1.5, 100.0, 1.0);
            add_joint(&mut b, &parent, &name, j);
            parent = name;
        }
    }
    let model = b.build().unwrap();
    let mut spec = plain_spec(&model);
    spec.collisions = collisions();
    let all = &mut spec.collisions;
    let trunk = Shape::cuboid([0.2, 0.35, 0.5], 0.002).unwrap();
    all.shapes.push(shape(Carrier::Link(0), Transform::identity(), trunk));
    all.shapes.push(shape(Carrier::Link(0), at(0.0, 0.0, 0.38), Shape::sphere(0.11).unwrap()));
    for link in 1..model.bodies.len() {
        let limb = Shape::capsule(0.05, 0.18).unwrap();
        all.shapes.push(shape(Carrier::Link(link), at(0.0, 0.0, -0.14), limb));
        all.apart.push((Carrier::Link(model.bodies[link].parent), Carrier::Link(link)));
    }
    if lies {
        spec.q.quat_WB = Quaternion::from_rpy(0.0, -1.5, 0.0);
    }
    spec.q.p_WB.z = if lies { 0.2 } else { 1e4 };
    let what = if lies { "a humanoid that lies on the floor" } else { "a humanoid in the air" };
    scene(what.into(), model, spec)
}

/// A quadruped on stations, with shapes of all links or without.
fn standing(with_shapes: bool) -> Scene {
    let (model, mut spec) = walker();
    if with_shapes {
        spec.collisions = collisions();
        for link in 0..model.bodies.len() {
            let size = if link == 0 { [0.4, 0.2, 0.1] } else { [0.03, 0.03, 0.08] };
            let cuboid = Shape::cuboid(size, 0.002).unwrap();
            let is_foot = model.bodies[link].name.starts_with("shank");
            let mut shape = shape(Carrier::Link(link), Transform::identity(), cuboid);
            shape.meets_ground = !is_foot;
            spec.collisions.shapes.push(shape);
            let parent = model.bodies[link].parent;
            spec.collisions.apart.push((Carrier::Link(parent), Carrier::Link(link)));
            spec.collisions.apart.push((Carrier::Link(0), Carrier::Link(link)));
        }
    }
    let what = if with_shapes { "with 13 shapes" } else { "without shapes" };
    scene(format!("a quadruped on its feet, {what}"), model, spec)
}

/// A box with so many stations on a tread of a flight of stairs.
fn on_steps(stations: usize, steps: usize) -> Scene {
    let (model, mut spec) = box_on_springs(0.8);
    let bottom = spec.stations[0].clone();
    for i in spec.stations.len()..stations {
        let mut station = bottom.clone();
        station.name = format!("s{i}");
        station.p_BS.x = 0.1 - 0.2 * (i as f64 / stations as f64);
        spec.stations.push(station);
    }
    spec.stations.iter_mut().for_each(|s| s.model = spring());
    for (i, (X_WS, step)) in stairs(steps, 0.1, 0.4, 2.0, 0.01).unwrap().into_iter().enumerate() {
        let shape = SurfaceShape::Solid(step);
        spec.ground.push(Surface { shape, ..Surface::plane(&format!("step {i}"), X_WS) });
    }
    let tread = (steps / 2) as f64;
    spec.q.p_WB = Vec3::new(0.4 * (tread + 0.5), 0.0, 0.1 * (tread + 1.0) + 0.105);
    let candidates = stations * spec.ground.len();
    scene(format!("{stations} stations on {steps} steps: {candidates} candidates"), model, spec)
}

fn run(scene: &mut Scene, ticks: u32) {
    for _ in 0..ticks {
        let failure = scene.plant.step(&scene.references, &OwnerWords::default());
        assert_eq!(failure, None, "{}", scene.name);
    }
}

fn main() {
    let rows = [1, 2, 4, 8, 16, 32, 64].map(|count| boxes(count, 1));
    let stacks = [4, 16, 64].map(|count| boxes(count, 4));
    let mut scenes: Vec<Scene> = rows.into_iter().chain(stacks).collect();
    scenes.extend([humanoid(false), humanoid(true), standing(false), standing(true)]);
    let flights = [(8, 2), (8, 11), (8, 23), (8, 24), (8, 63), (8, 99), (48, 100)];
    scenes.extend(flights.map(|(stations, steps)| on_steps(stations, steps)));
    if !std::env::args().any(|arg| arg == "--bench") {
        scenes.iter_mut().for_each(|scene| run(scene, 2));
        return;
    }
    scenes.iter_mut().for_each(|scene| run(scene, 1500));
    for _ in 0..ROUNDS {
        for scene in &mut scenes {
            let begin = Instant::now();
            run(scene, TICKS);
            let us = begin.elapsed().as_secs_f64() * 1e6 / f64::from(TICKS);
            scene.least_us = scene.least_us.min(us);
        }
    }
    println!("| scene | near pairs | points | µs a tick |\n| --- | ---: | ---: | ---: |");
    for scene in &scenes {
        let touching = scene.plant.collisions();
        let stations = scene.plant.contacts().evaluated();
        let of_stations = stations.iter().filter(|at| at.surface.is_some()).count();
        let near = touching.near_count() + of_stations;
        let carrying = stations.iter().filter(|at| at.force.normal_n > 0.1).count();
        let points = touching.points().len() + carrying;
        println!("| {} | {near} | {points} | {:.1} |", scene.name, scene.least_us);
    }
}
