//! The broad phase finds what comparing all pairs finds, and allocates nothing in a step.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use hardstand_geometry::{Carrier, Pose, Scene, Shape, Vec3, World};

use crate::common::{KINDS, Random, patch_of};

const MARGIN_M: f64 = 0.02;

struct Placed {
    carrier: Carrier,
    X_BS: Pose,
    shape: Shape,
}

/// Bodies, platforms and ground with shapes of all kinds.
fn scene(random: &mut Random, bodies: usize, fixed: usize) -> (Scene, Vec<Placed>) {
    let (mut scene, mut placed) = (Scene::new(), Vec::new());
    let mut add = |carrier, X_BS, shape: Shape| {
        scene.add(carrier, X_BS, shape.clone());
        placed.push(Placed { carrier, X_BS, shape });
    };
    add(Carrier::Ground, Pose::IDENTITY, Shape::plane());
    for i in 0..bodies {
        let carrier = if i % 7 == 6 { Carrier::Platform(i) } else { Carrier::Body(i) };
        for _ in 0..1 + i % 2 {
            let kind = random.index(KINDS - 1);
            let shape = random.shape(kind);
            add(carrier, random.pose(0.2), shape);
        }
    }
    add(Carrier::Platform(6), random.pose(0.5), Shape::plane());
    for _ in 0..fixed {
        let kind = random.index(KINDS - 1);
        let shape = random.shape(kind);
        add(Carrier::Ground, random.pose(4.0), shape);
    }
    for i in 1..bodies {
        let link = |i: usize| if i % 7 == 6 { Carrier::Platform(i) } else { Carrier::Body(i) };
        scene.exclude(link(i - 1), link(i));
    }
    scene.exclude(Carrier::Ground, Carrier::Body(1));
    scene.exclude_shapes(0, 5);
    (scene, placed)
}

#[test]
fn a_world_finds_the_contacts_of_all_pairs_in_order() {
    let mut random = Random::new(51);
    for (bodies, fixed) in [(1, 0), (2, 3), (12, 40), (30, 200)] {
        let (scene, placed) = scene(&mut random, bodies, fixed);
        let mut world = World::new(scene.clone(), MARGIN_M, 5000).unwrap();
        let mut contacts = world.new_contacts();
        let mut found = 0;
        for step in 0..30 {
            let poses: Vec<Pose> = (0..bodies).map(|_| random.pose(1.5)).collect();
            world.update(&poses);
            world.contacts(&mut contacts);
            assert_eq!(contacts.dropped(), 0);
            let place = |p: &Placed| match p.carrier {
                Carrier::Ground => p.X_BS,
                Carrier::Platform(i) | Carrier::Body(i) => {
                    poses.get(i).map_or(Pose::at(Vec3::X * f64::NAN), |X| X.compose(&p.X_BS))
                }
            };
            let mut expected = Vec::new();
            for (a, of_a) in placed.iter().enumerate() {
                for (b, of_b) in placed.iter().enumerate().skip(a + 1) {
                    if scene.may_touch(a as u32, b as u32) {
                        let (xa, xb) = (place(of_a), place(of_b));
                        let patch = patch_of((&of_a.shape, &xa), (&of_b.shape, &xb), MARGIN_M);
                        if !patch.points().is_empty() {
                            expected.push((a as u32, b as u32, patch.points().to_vec()));
                        }
                    }
                }
            }
            let pairs = contacts.pairs().iter();
            let got: Vec<_> = pairs.map(|p| (p.a, p.b, contacts.points(p).to_vec())).collect();
            assert_eq!(got, expected, "{bodies} bodies, step {step}");
            found += got.len();
        }
        assert!(found > 10 * bodies || bodies < 3, "{bodies} bodies: {found} contacts");
    }
}

#[test]
fn neighbours_prescribed_bodies_and_excluded_pairs_do_not_touch() {
    let ball = || Shape::sphere(1.0).unwrap();
    let mut scene = Scene::new();
    let own = scene.add(Carrier::Body(0), Pose::IDENTITY, ball());
    let same_body = scene.add(Carrier::Body(0), Pose::IDENTITY, ball());
    let neighbour = scene.add(Carrier::Body(1), Pose::IDENTITY, ball());
    let other = scene.add(Carrier::Body(2), Pose::IDENTITY, ball());
    let ground = scene.add(Carrier::Ground, Pose::IDENTITY, ball());
    let platform = scene.add(Carrier::Platform(3), Pose::IDENTITY, ball());
    scene.exclude(Carrier::Body(1), Carrier::Body(0));
    scene.exclude_shapes(ground, other);
    let mut world = World::new(scene, 0.0, 64).unwrap();
    let mut contacts = world.new_contacts();
    world.update(&[Pose::IDENTITY; 4]);
    world.contacts(&mut contacts);
    let touch = |a, b| !contacts.points_of(a, b).is_empty();
    assert!(!touch(own, same_body));
    assert!(!touch(own, neighbour) && !touch(same_body, neighbour));
    assert!(!touch(ground, other) && !touch(ground, platform));
    assert!(touch(own, other) && touch(neighbour, other) && touch(own, ground));
    assert!(touch(platform, own) && touch(neighbour, ground) && touch(other, platform));
}

#[test]
fn only_near_pairs_of_four_thousand_candidates_are_compared() {
    let mut scene = Scene::new();
    for i in 0..92 {
        scene.add(Carrier::Body(i), Pose::IDENTITY, Shape::sphere(0.1).unwrap());
        scene.exclude(Carrier::Body(i), Carrier::Body(i + 1));
    }
    assert_eq!(scene.candidate_count(), 4095);
    scene.add(Carrier::Ground, Pose::at(Vec3::new(0.0, 0.0, 1e3)), Shape::plane());
    let mut world = World::new(scene, 0.01, 256).unwrap();
    let mut contacts = world.new_contacts();
    // in a row, each ball near the next but one
    let poses: Vec<Pose> =
        (0..92).map(|i| Pose::at(Vec3::new(0.104 * f64::from(i), 0.0, 2e3))).collect();
    world.update(&poses);
    world.contacts(&mut contacts);
    assert_eq!(contacts.evaluated(), 90);
    assert_eq!(contacts.pairs().len(), 90);
}

#[test]
fn what_does_not_fit_is_counted_and_poses_without_numbers_touch_nothing() {
    let mut scene = Scene::new();
    for i in 0..4 {
        scene.add(Carrier::Body(i), Pose::IDENTITY, Shape::sphere(0.1).unwrap());
    }
    let mut world = World::new(scene, 0.01, 4).unwrap();
    let mut contacts = world.new_contacts();
    world.update(&[Pose::IDENTITY; 4]);
    world.contacts(&mut contacts);
    assert_eq!((contacts.pairs().len(), contacts.dropped()), (4, 2));
    let nowhere = Pose::at(Vec3::new(0.0, f64::NAN, 0.0));
    world.update(&[Pose::IDENTITY, nowhere, nowhere]);
    world.contacts(&mut contacts);
    assert_eq!((contacts.pairs().len(), contacts.dropped()), (0, 0));
}

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: passes everything on to the system's allocator.
#[allow(unsafe_code, reason = "an allocator that counts")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|c| c.set(c.get() + 1));
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

#[test]
fn a_step_allocates_nothing() {
    let mut random = Random::new(52);
    let (scene, _) = scene(&mut random, 30, 200);
    let mut world = World::new(scene, MARGIN_M, 5000).unwrap();
    let mut contacts = world.new_contacts();
    let steps: Vec<Vec<Pose>> =
        (0..200).map(|_| (0..30).map(|_| random.pose(1.0)).collect()).collect();
    let before = ALLOCATIONS.with(Cell::get);
    let mut points = 0;
    for poses in &steps {
        world.update(poses);
        world.contacts(&mut contacts);
        points += contacts.pairs().len();
    }
    let count = ALLOCATIONS.with(Cell::get) - before;
    assert!(before > 0 && points > 10_000, "{points} pairs");
    assert_eq!(count, 0, "allocations in {points} pairs");
}
