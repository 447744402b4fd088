//! Cost of the contact of a pair, and of a step of a world: `cargo bench -p hardstand-geometry`.
//!
//! Poses are random and such that the shapes touch: overlap by at most 2 mm or gap up to 5 mm.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stderr)]
#![allow(non_snake_case, reason = "monogram notation")]

use std::hint::black_box;

use divan::Bencher;
use divan::counter::ItemsCount;
use hardstand_geometry::{
    Carrier, Contacts, Patch, Pose, Scene, Shape, Vec3, Workspace, World, contact,
};

#[path = "../tests/it/common/mod.rs"]
#[allow(dead_code, unreachable_pub, missing_debug_implementations, clippy::panic)]
mod common;

use common::Random;

const COUNT: usize = 256;
const MARGIN_M: f64 = 5e-3;

fn main() {
    divan::main();
}

/// Poses of B in A's frame at which the shapes just touch.
fn touching(a: &Shape, b: &Shape, random: &mut Random) -> Vec<Pose> {
    let mut poses = Vec::new();
    while poses.len() < COUNT {
        let (R, way) = (random.rotation(), random.direction());
        let at = |far: f64| Pose { R, p: way * far };
        let depth =
            |far: f64| common::patch_of((a, &Pose::IDENTITY), (b, &at(far)), 10.0).depth_m();
        let (mut near, mut far) = (-2.0, 2.0);
        for _ in 0..40 {
            let middle = 0.5 * (near + far);
            *(if depth(middle) > 0.0 { &mut near } else { &mut far }) = middle;
        }
        let pose = at(far + random.between(-2e-3, 4e-3));
        if (-2e-3..5e-3)
            .contains(&-common::patch_of((a, &Pose::IDENTITY), (b, &pose), 1.0).depth_m())
        {
            poses.push(pose);
        }
    }
    poses
}

fn pair(bencher: Bencher<'_, '_>, shapes: impl Fn(&mut Random) -> [Shape; 2]) {
    let mut random = Random::new(5);
    let [a, b] = shapes(&mut random);
    let poses = touching(&a, &b, &mut random);
    let (mut ws, mut patch) = (Workspace::new(), Patch::new());
    bencher.counter(ItemsCount::new(COUNT)).bench_local(|| {
        for pose in black_box(&poses) {
            contact((&a, &Pose::IDENTITY), (&b, pose), MARGIN_M, &mut ws, &mut patch);
            black_box(&patch);
        }
    });
}

fn cuboid(edge_radius_m: f64) -> Shape {
    Shape::cuboid([0.3, 0.4, 0.5], edge_radius_m).unwrap()
}

fn hull(random: &mut Random, added_radius_m: f64) -> Shape {
    Shape::hull(random.hull(32, 0.3), added_radius_m).unwrap()
}

#[divan::bench]
fn sphere_plane(bencher: Bencher<'_, '_>) {
    pair(bencher, |_| [Shape::plane(), Shape::sphere(0.2).unwrap()]);
}

#[divan::bench]
fn sphere_box(bencher: Bencher<'_, '_>) {
    pair(bencher, |_| [Shape::sphere(0.2).unwrap(), cuboid(0.0)]);
}

#[divan::bench]
fn capsule_capsule(bencher: Bencher<'_, '_>) {
    let capsule = || Shape::capsule(0.1, 0.3).unwrap();
    pair(bencher, |_| [capsule(), capsule()]);
}

#[divan::bench]
fn capsule_box(bencher: Bencher<'_, '_>) {
    pair(bencher, |_| [Shape::capsule(0.1, 0.3).unwrap(), cuboid(0.0)]);
}

/// As a box lies, turned about the vertical.
#[divan::bench]
fn box_plane_flat(bencher: Bencher<'_, '_>) {
    let mut random = Random::new(5);
    let turned = |random: &mut Random| {
        let half = random.between(0.0, std::f64::consts::PI);
        let q =
            [(1.0 - half / 4.0).max(0.1), 1e-4 * random.unit(), 1e-4 * random.unit(), half / 4.0];
        let R = hardstand_geometry::Mat3::from_quaternion(q);
        Pose { R, p: Vec3::new(0.0, 0.0, 0.2495) }
    };
    let poses: Vec<Pose> = (0..COUNT).map(|_| turned(&mut random)).collect();
    let (a, b) = (Shape::plane(), cuboid(0.0));
    let (mut ws, mut patch) = (Workspace::new(), Patch::new());
    bencher.counter(ItemsCount::new(COUNT)).bench_local(|| {
        for pose in black_box(&poses) {
            contact((&a, &Pose::IDENTITY), (&b, pose), MARGIN_M, &mut ws, &mut patch);
            black_box(&patch);
        }
    });
}

#[divan::bench]
fn box_plane(bencher: Bencher<'_, '_>) {
    pair(bencher, |_| [Shape::plane(), cuboid(0.0)]);
}

#[divan::bench]
fn cylinder_plane(bencher: Bencher<'_, '_>) {
    pair(bencher, |_| [Shape::plane(), Shape::cylinder(0.2, 0.5, 0.0).unwrap()]);
}

#[divan::bench]
fn box_box(bencher: Bencher<'_, '_>) {
    pair(bencher, |_| [cuboid(0.0), cuboid(0.0)]);
}

#[divan::bench]
fn box_box_rounded(bencher: Bencher<'_, '_>) {
    pair(bencher, |_| [cuboid(0.01), cuboid(0.01)]);
}

#[divan::bench]
fn box_cylinder_rounded(bencher: Bencher<'_, '_>) {
    pair(bencher, |_| [cuboid(0.01), Shape::cylinder(0.2, 0.5, 0.01).unwrap()]);
}

#[divan::bench]
fn box_cylinder(bencher: Bencher<'_, '_>) {
    pair(bencher, |_| [cuboid(0.0), Shape::cylinder(0.2, 0.5, 0.0).unwrap()]);
}

#[divan::bench]
fn hull_plane(bencher: Bencher<'_, '_>) {
    pair(bencher, |random| [Shape::plane(), hull(random, 0.0)]);
}

#[divan::bench]
fn hull_hull(bencher: Bencher<'_, '_>) {
    pair(bencher, |random| [hull(random, 0.0), hull(random, 0.0)]);
}

#[divan::bench]
fn hull_hull_rounded(bencher: Bencher<'_, '_>) {
    pair(bencher, |random| [hull(random, 0.01), hull(random, 0.01)]);
}

/// `links` capsules in a row, each excluded from its neighbours, on `steps` boxes.
fn row(links: usize, steps: usize, apart_m: f64) -> (World, Contacts, Vec<Pose>) {
    let mut scene = Scene::new();
    for i in 0..steps {
        let place = Vec3::new(0.5 * (i % 64) as f64, 0.5 * (i / 64) as f64, -0.05);
        scene.add(Carrier::Ground, Pose::at(place), Shape::cuboid([0.5, 0.5, 0.1], 0.0).unwrap());
    }
    for i in 0..links {
        let capsule = Shape::capsule(0.05, 0.2).unwrap();
        scene.add(Carrier::Body(i), Pose::IDENTITY, capsule);
        scene.exclude(Carrier::Body(i), Carrier::Body(i + 1));
    }
    let mut random = Random::new(9);
    let mut pose = |i: usize| {
        let side = random.between(0.0, 0.2);
        Pose { R: random.rotation(), p: Vec3::new(apart_m * i as f64, side, 0.12) }
    };
    let poses: Vec<Pose> = (0..links).map(&mut pose).collect();
    let world = World::new(scene, MARGIN_M, 4096).unwrap();
    let contacts = world.new_contacts();
    (world, contacts, poses)
}

const STEPS: [(usize, usize, usize); 6] =
    [(92, 0, 25), (24, 100, 25), (24, 100, 10), (24, 100, 5), (24, 5000, 25), (1000, 5000, 25)];

/// A step: moving links, fixed boxes, distance of the links in cm. Prints the candidates and the
/// compared pairs.
#[divan::bench(args = STEPS)]
fn step(bencher: Bencher<'_, '_>, (links, steps, apart_cm): (usize, usize, usize)) {
    let (mut world, mut contacts, poses) = row(links, steps, apart_cm as f64 / 100.0);
    let candidates = world.scene().candidate_count();
    world.update(&poses);
    world.contacts(&mut contacts);
    let (evaluated, touching) = (contacts.evaluated(), contacts.pairs().len());
    eprintln!(
        "{links} links, {steps} boxes: {candidates} candidates, {evaluated} compared, \
         {touching} touch"
    );
    bencher.bench_local(|| {
        world.update(black_box(&poses));
        world.contacts(&mut contacts);
        black_box(&contacts);
    });
}
