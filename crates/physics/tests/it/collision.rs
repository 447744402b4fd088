//! Shapes of links and free bodies that touch the ground and each other.

use hardstand_geometry::Shape;
use hardstand_physics::contact::{
    CompliantContact, ContactMaterial, ConvexSolid, ExponentialSpring, Friction, HertzPair,
    HuntCrossley, Overlap, Platform, PlatformMotion, Restitution, RollingFriction, SlipCurve,
    SpringParameters, Stiction, Surface, SurfaceShape,
};
use hardstand_physics::dynamics::kinetic_energy;
use hardstand_physics::math;
use hardstand_physics::model::{Base, Builder};
use hardstand_physics::plant::{
    Carrier, CollisionPoint, CollisionShape, ComputePath, ContactModel, Integrator, Mobility,
    OwnerWords, Plant, PlantFailure, Station, Walk,
};
use hardstand_physics::spatial::{Mat3, Motion, Quaternion, SpatialInertia, Transform, Vec3};

use super::common::bodies::{ball, bystander, cuboid, put};
use super::common::robots::{G, add_body, at, plain_spec, station, walker};

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

/// Force of the ground on everything, N.
fn ground_force_W(plant: &Plant) -> Vec3 {
    let on_ground = |p: &&CollisionPoint| matches!(p.carriers[1], Carrier::Surface(_));
    plant.collisions().points().iter().filter(on_ground).map(CollisionPoint::force_W).sum()
}

/// `other` in the state of `one`.
fn restored(one: &mut Plant, mut other: Plant) -> Plant {
    let mut words = Vec::new();
    one.state_mut().append_words(&mut words);
    assert!(other.state_mut().fit(words.len(), 0));
    other.state_mut().overwrite(words.iter().copied());
    other.state_mut().digest = one.state().digest;
    other.wake();
    other
}

fn is_at_rest(plant: &Plant) -> bool {
    plant.state().bodies.iter().all(|b| b.v_WB.norm() < 1e-7 && b.w_WB.norm() < 1e-7)
}

#[test]
fn a_body_that_is_placed_goes_on_as_if_it_had_begun_there() {
    let scene = |x: f64, z: f64| {
        let (model, mut spec) = bystander();
        put(&mut spec, cuboid([0.4, 0.3, 0.2], 6.0, [0.0, 0.0, 0.099]), &holding());
        put(&mut spec, ball(0.1, 2.0, [x, 0.0, z]), &holding());
        Plant::new(model, spec)
    };
    let mut begun = scene(0.15, 0.298);
    let mut placed = scene(0.3, 0.09);
    placed.place_body(1, Vec3::new(0.1, 0.0, 0.25));
    placed.place_body(1, Vec3::new(0.15, 0.0, 0.298));
    placed.place_body(2, Vec3::zeros());
    for plant in [&mut begun, &mut placed] {
        assert!(plant.collisions().points().iter().any(|p| p.carriers[1] == Carrier::Body(1)));
    }
    let points = |plant: &Plant| format!("{:?}", plant.collisions().points());
    for _ in 0..3 {
        assert_eq!(begun.state().bodies, placed.state().bodies);
        assert!(points(&begun) == points(&placed));
        run(&mut begun, 100);
        run(&mut placed, 100);
    }
    let stretched = points(&begun);
    let (mut found, p_WB) = (begun.clone(), begun.state().bodies[1].p_WB);
    begun.place_body(1, p_WB);
    assert!(points(&begun) != stretched, "friction begins anew");
    found.contacts_with_body_at(1, p_WB);
    assert!(points(&found) == points(&begun), "as if it were placed there");
}

#[test]
fn a_box_rests_on_the_floor_with_its_weight() {
    let (model, mut spec) = bystander();
    put(&mut spec, cuboid([0.4, 0.3, 0.2], 6.0, [0.0, 0.0, 0.12]), &holding());
    let mut plant = Plant::new(model, spec);
    run(&mut plant, 3000);
    // the spring of one station that carries it, by the formula of the law
    let parameters = SpringParameters::default();
    let gap_m = parameters.d0_m - math::ln(6.0 * G / parameters.d1_n) / parameters.d2_per_m;
    assert!((plant.state().bodies[0].p_WB.z - (0.1 + gap_m)).abs() < 1e-9);
    assert!((ground_force_W(&plant).z - 6.0 * G).abs() < 1e-6);
    assert!(is_at_rest(&plant));
}

/// Its corners are in the air: only the faces touch.
#[test]
fn a_slab_lies_on_a_beam_that_is_narrower() {
    let (model, mut spec) = bystander();
    let beam = ConvexSolid::cuboid([0.2, 2.0, 0.1], 0.01).unwrap();
    let shape = SurfaceShape::Solid(beam);
    let X_WS = at(0.0, 0.0, 0.05);
    spec.ground.push(Surface { shape, ..Surface::plane("beam", X_WS) });
    put(&mut spec, cuboid([1.0, 1.0, 0.2], 10.0, [0.01, 0.0, 0.25]), &holding());
    let mut plant = Plant::new(model, spec);
    run(&mut plant, 10_000);
    let z = plant.state().bodies[0].p_WB.z;
    assert!((0.199..0.204).contains(&z), "{z}");
    assert!((ground_force_W(&plant).z - 10.0 * G).abs() < 1e-4);
    assert!(is_at_rest(&plant), "{:?}", plant.state().bodies);
}

#[test]
fn a_box_slides_with_kinetic_friction_and_then_sticks() {
    let (model, mut spec) = bystander();
    let k = put(&mut spec, cuboid([0.4, 0.3, 0.2], 6.0, [0.0, 0.0, 0.1025]), &holding());
    spec.collisions.bodies[k].V_W.lin.x = 1.0;
    let mut plant = Plant::new(model, spec);
    run(&mut plant, 100);
    let [early, late] = [100, 150].map(|_| {
        let v = plant.state().bodies[0].v_WB.x;
        run(&mut plant, 50);
        v
    });
    assert!(((early - late) / 0.05 - 0.5 * G).abs() < 0.02 * G, "{early} {late}");
    run(&mut plant, 2000);
    assert!(is_at_rest(&plant), "{:?}", plant.state().bodies);
    // v²/2μg
    let x = plant.state().bodies[0].p_WB.x;
    assert!((x - 1.0 / (2.0 * 0.5 * G)).abs() < 0.01, "{x}");
}

#[test]
fn a_box_stays_on_a_slope_below_the_angle_of_friction() {
    for (slope_rad, stays) in [(0.45_f64, true), (0.75, false)] {
        let (model, mut spec) = bystander();
        let (sine, cosine) = math::sin_cos(slope_rad);
        spec.gravity_W = Vec3::new(G * sine, 0.0, -G * cosine);
        put(&mut spec, cuboid([0.4, 0.3, 0.1], 6.0, [0.0, 0.0, 0.0522]), &holding());
        let mut plant = Plant::new(model, spec);
        run(&mut plant, 2000);
        let x = plant.state().bodies[0].p_WB.x;
        assert_eq!(x < 2e-3, stays, "{slope_rad}: {x}");
        if stays {
            run(&mut plant, 10_000);
            assert!((plant.state().bodies[0].p_WB.x - x).abs() < 1e-9);
        }
    }
}

/// Rolling is not slip: nothing holds a ball back.
#[test]
fn a_ball_rolls_on() {
    let (model, mut spec) = bystander();
    let k = put(&mut spec, ball(0.1, 1.0, [0.0, 0.0, 0.1025]), &holding());
    spec.collisions.bodies[k].V_W = Motion::new(Vec3::new(0.0, 10.0, 0.0), Vec3::x());
    let mut plant = Plant::new(model, spec);
    run(&mut plant, 3000);
    let ball = plant.state().bodies[0];
    // it hovers by the gap of the spring, so it slips a little until the speeds agree
    assert!((ball.v_WB.x - 1.0).abs() < 0.02, "{ball:?}");
    assert!(ball.p_WB.x > 2.9, "{ball:?}");
}

#[test]
fn bodies_that_hit_each_other_keep_momentum() {
    let (model, mut spec) = bystander();
    spec.gravity_W = Vec3::zeros();
    let first = cuboid([0.2, 0.2, 0.2], 2.0, [0.0, 0.0, 1.0]);
    let second = cuboid([0.3, 0.1, 0.2], 1.0, [0.5, 0.05, 1.03]);
    put(&mut spec, first, &holding());
    put(&mut spec, second, &holding());
    let round = ball(0.1, 0.5, [-0.6, 0.02, 0.95]);
    put(&mut spec, round, &holding());
    for shape in &mut spec.collisions.shapes {
        shape.rolling = RollingFriction::new(0.01, 0.02, 0.1).unwrap();
    }
    spec.collisions.bodies[0].V_W = Motion::new(Vec3::new(1.0, -2.0, 0.5), Vec3::x() * 2.0);
    spec.collisions.bodies[2].V_W.lin.x = 5.0;
    let momentum = |plant: &Plant| {
        let (mut p, mut L) = (Vec3::zeros(), Vec3::zeros());
        for (body, s) in plant.spec().collisions.bodies.iter().zip(&plant.state().bodies) {
            let R = s.quat_WB.to_matrix();
            let own = R * (body.inertia.I * R.tr_mul(&s.w_WB));
            p += s.v_WB * body.inertia.mass;
            L += own + s.p_WB.cross(&s.v_WB) * body.inertia.mass;
        }
        (p, L)
    };
    let mut plant = Plant::new(model, spec);
    let before = momentum(&plant);
    let mut touched = 0;
    for _ in 0..1000 {
        run(&mut plant, 1);
        touched += usize::from(!plant.collisions().points().is_empty());
    }
    assert!(touched > 10);
    let after = momentum(&plant);
    assert!((after.0 - before.0).norm() < 1e-12, "{before:?} {after:?}");
    assert!((after.1 - before.1).norm() < 1e-12, "{before:?} {after:?}");
    let speeds: Vec<f64> = plant.state().bodies.iter().map(|b| b.v_WB.x).collect();
    assert!(speeds[1] > 0.5 && speeds[2] < 4.0, "{speeds:?}");
}

#[test]
fn a_stack_of_boxes_stands() {
    let (model, mut spec) = bystander();
    for i in 0..4 {
        let z = 0.1 + 0.202 * f64::from(i);
        put(&mut spec, cuboid([0.2, 0.2, 0.2], 1.0, [0.003 * f64::from(i), 0.0, z]), &holding());
    }
    let mut plant = Plant::new(model, spec);
    run(&mut plant, 6000);
    for (i, body) in plant.state().bodies.iter().enumerate() {
        let z = 0.1 + 0.2 * i as f64;
        assert!((body.p_WB.z - z).abs() < 0.01, "{i}: {body:?}");
        assert!((body.p_WB.x - 0.003 * i as f64).abs() < 1e-3, "{i}: {body:?}");
    }
    assert!((ground_force_W(&plant).z - 4.0 * G).abs() < 1e-3);
}

#[test]
fn a_door_swings_about_its_hinge_and_a_cart_stays_on_its_rail() {
    let (model, mut spec) = bystander();
    spec.gravity_W = Vec3::zeros();
    let (mut door, _) = cuboid([0.8, 0.04, 2.0], 10.0, [0.0, 0.0, 0.0]);
    let c = Vec3::new(0.4, 0.0, 0.0);
    door.inertia = SpatialInertia::from_com(10.0, &c, &door.inertia.about_com());
    door.X_WB = at(0.0, 0.0, 1.5);
    door.mobility = Mobility::Hinge { axis_B: Vec3::z() };
    put(&mut spec, (door, Shape::cuboid([0.8, 0.04, 2.0], 0.002).unwrap()), &holding());
    spec.collisions.shapes[0].X_BS = at(0.4, 0.0, 0.0);
    let (mut cart, shape) = cuboid([0.2, 0.2, 0.2], 1.0, [0.7, -1.0, 1.5]);
    cart.mobility = Mobility::Slide { axis_B: Vec3::y() };
    cart.V_W.lin.y = 2.0;
    put(&mut spec, (cart, shape), &holding());
    let mut plant = Plant::new(model, spec);
    let about_hinge = |plant: &Plant| {
        let I = plant.spec().collisions.bodies[0].inertia.I[(2, 2)];
        let [door, cart] = [0, 1].map(|i| plant.state().bodies[i]);
        I * door.w_WB.z + 0.7 * cart.v_WB.y
    };
    let before = about_hinge(&plant);
    run(&mut plant, 800);
    let [door, cart] = [0, 1].map(|i| plant.state().bodies[i]);
    assert!(door.w_WB.z > 0.1 && cart.v_WB.y < 1.9, "{door:?} {cart:?}");
    assert_eq!(door.p_WB, Vec3::new(0.0, 0.0, 1.5));
    assert_eq!((cart.p_WB.x, cart.p_WB.z), (0.7, 1.5));
    // the moment of the force on the cart about the hinge, where the cart moves along y, is not
    // exactly 0.7 m times the force: the push turns with the door
    assert!((about_hinge(&plant) - before).abs() < 0.05 * before, "{before}");
}

/// A time constant of far less than a micro-step.
#[test]
fn damping_brings_a_door_to_rest_however_strong_it_is() {
    for damping in [0.1, 1e9, 1e300] {
        let (model, mut spec) = bystander();
        let (mut door, shape) = ball(0.02, 0.01, [0.0, 0.0, 1.0]);
        door.mobility = Mobility::Hinge { axis_B: Vec3::z() };
        (door.damping, door.V_W.ang.z) = (damping, 1.0);
        put(&mut spec, (door, shape), &holding());
        let mut plant = Plant::new(model, spec);
        let mut speed = 1.0;
        for _ in 0..10 {
            run(&mut plant, 1);
            let now = plant.state().bodies[0].w_WB.z;
            assert!((0.0..speed).contains(&now) || now == 0.0, "{damping}: {now}");
            speed = now;
        }
        assert!(speed < 1e-6, "{damping}: {speed}");
    }
}

/// While nothing touches, nothing else asks where the ground is.
#[test]
fn ground_that_rises_meets_what_falls() {
    let steel = ContactMaterial::new(1e8, 0.5, 0.8, 0.6, 0.0).unwrap();
    let pair = HertzPair::new(&steel, &steel).unwrap();
    let hertz = ContactModel::HuntCrossley(vec![HuntCrossley::new(pair, 0.01).unwrap()]);
    for contact in [holding(), hertz, ContactModel::Rigid] {
        let (model, mut spec) = bystander();
        let velocity_m_per_s = [0.0, 0.0, 1.0];
        let motion = PlatformMotion { velocity_m_per_s, ..Default::default() };
        spec.ground[0].platform = Some(Platform { motion, X_WE: Transform::identity() });
        put(&mut spec, ball(0.1, 1.0, [0.0, 0.0, 0.6]), &contact);
        let start = spec.clone();
        let mut plant = Plant::new(model.clone(), spec);
        let mut touched = 0;
        for tick in 1..=1000 {
            run(&mut plant, 1);
            let depth_m = 1e-3 * f64::from(tick) + 0.1 - plant.state().bodies[0].p_WB.z;
            assert!(depth_m < 0.02, "{contact:?}: {depth_m} m deep in tick {tick}");
            touched += plant.collisions().points().len();
            if tick % 50 == 0 {
                let mut other = restored(&mut plant, Plant::new(model.clone(), start.clone()));
                let mut ahead = plant.clone();
                run(&mut ahead, 60);
                run(&mut other, 60);
                assert_eq!(ahead.state(), other.state(), "{contact:?}, from tick {tick}");
            }
        }
        assert!(touched > 0, "{contact:?} never touches");
    }
}

/// What is left and right of a tick's end has the same bits: nothing is remembered besides the
/// state.
#[test]
fn a_restored_state_continues_with_the_same_bits() {
    for integrator in [Integrator::SemiImplicitEuler, Integrator::LinearlyImplicit] {
        let plant = || {
            let (model, mut spec) = bystander();
            spec.integrator = integrator;
            put(&mut spec, cuboid([0.4, 0.3, 0.2], 6.0, [0.0, 0.0, 0.2]), &holding());
            put(&mut spec, cuboid([0.2, 0.3, 0.2], 2.0, [0.05, 0.02, 0.45]), &holding());
            put(&mut spec, ball(0.1, 0.5, [0.0, 0.02, 0.7]), &holding());
            spec.collisions.bodies[1].V_W = Motion::new(Vec3::new(3.0, 1.0, 0.5), Vec3::x());
            Plant::new(model, spec)
        };
        let mut one = plant();
        let mut touching = 0;
        for _ in 0..40 {
            run(&mut one, 17);
            touching += one.collisions().points().len();
            let mut other = restored(&mut one, plant());
            let mut ahead = one.clone();
            run(&mut ahead, 10);
            run(&mut other, 10);
            assert_eq!(ahead.state(), other.state());
        }
        assert!(touching > 100);
    }
}

/// The walker falls: its links lie on the floor, and every way of computing has the same bits.
#[test]
fn a_robot_that_falls_lies_on_its_links() {
    let mut found = Vec::new();
    for path in [ComputePath::OneByOne, ComputePath::Portable, ComputePath::Fastest] {
        let (model, mut spec) = walker();
        spec.collisions = bystander().1.collisions;
        for link in 0..model.bodies.len() {
            spec.collisions.shapes.push(CollisionShape {
                carrier: Carrier::Link(link),
                X_BS: Transform::identity(),
                shape: Shape::cuboid(if link == 0 { [0.4; 3] } else { [0.05; 3] }, 0.01).unwrap(),
                meets_ground: true,
                model: holding(),
                friction: Friction::new(0.7, 0.5),
                rolling: RollingFriction::NONE,
            });
            spec.collisions.apart.push((Carrier::Link(0), Carrier::Link(link)));
        }
        put(&mut spec, ball(0.2, 1.0, [0.05, 0.0, 1.4]), &holding());
        let mass = model.total_mass() + 1.0;
        spec.q.quat_WB = Quaternion::from_rpy(1.3, 0.2, 0.0);
        spec.q.p_WB.z = 0.5;
        let mut plant = Plant::new(model, spec);
        plant.set_path(path);
        run(&mut plant, 2500);
        let stations: f64 = plant.contacts().forces().map(|f| f.normal_n).sum();
        let links = ground_force_W(&plant).z;
        println!("{stations} {links} {}", mass * G);
        assert!(links > 0.2 * mass * G && (links + stations - mass * G).abs() < 0.2 * mass * G);
        found.push(plant.state().clone());
    }
    assert_eq!(found[0], found[1]);
    assert_eq!(found[0], found[2]);
}

#[test]
fn too_many_contacts_stop_the_plant() {
    let (model, mut spec) = bystander();
    spec.collisions.points_max = 3;
    put(&mut spec, cuboid([0.4, 0.3, 0.2], 6.0, [0.0, 0.0, 0.2]), &holding());
    let mut plant = Plant::new(model, spec);
    let failed = (0..1000).find_map(|_| plant.step(&[], &OwnerWords::default()));
    assert_eq!(failed, Some(PlantFailure::TooManyContacts));
}

#[test]
fn a_rigid_box_rests_slides_and_sticks() {
    let (model, mut spec) = bystander();
    let k = put(&mut spec, cuboid([0.4, 0.3, 0.2], 6.0, [0.0, 0.0, 0.1]), &ContactModel::Rigid);
    spec.collisions.bodies[k].V_W.lin.x = 1.0;
    let mut plant = Plant::new(model, spec);
    run(&mut plant, 100);
    let early = plant.state().bodies[0].v_WB.x;
    run(&mut plant, 50);
    let late = plant.state().bodies[0].v_WB.x;
    assert!(((early - late) / 0.05 - 0.5 * G).abs() < 1e-3 * G, "{early} {late}");
    run(&mut plant, 2000);
    assert!((ground_force_W(&plant).z - 6.0 * G).abs() < 1e-6);
    let x = plant.state().bodies[0].p_WB.x;
    assert!((x - 1.0 / (2.0 * 0.5 * G)).abs() < 0.01, "{x}");
    assert!(is_at_rest(&plant), "{:?}", plant.state().bodies);
    run(&mut plant, 5000);
    assert!((plant.state().bodies[0].p_WB.x - x).abs() < 1e-9);
    assert!((plant.state().bodies[0].p_WB.z - 0.1).abs() < 1e-6);
}

/// All micro-steps of a tick are run, with whatever law, while nothing touches.
#[test]
fn a_body_and_a_robot_in_the_air_fall_with_gravity() {
    for law in [holding(), ContactModel::Rigid] {
        let (model, mut spec) = walker();
        spec.stations.clear();
        spec.feet.clear();
        spec.collisions = bystander().1.collisions;
        spec.collisions.shapes.push(CollisionShape {
            carrier: Carrier::Link(0),
            X_BS: Transform::identity(),
            shape: Shape::cuboid([0.2, 0.2, 0.1], 0.01).unwrap(),
            meets_ground: true,
            model: law.clone(),
            friction: Friction::new(0.7, 0.5),
            rolling: RollingFriction::NONE,
        });
        put(&mut spec, ball(0.1, 1.0, [5.0, 0.0, 20.0]), &law);
        spec.q.p_WB.z = 20.0;
        let mut plant = Plant::new(model, spec);
        run(&mut plant, 1000);
        // semi-implicit steps of 0.25 ms fall half a step's velocity farther
        let fallen = 0.5 * G * (1.0 + 0.25e-3);
        assert!((20.0 - plant.state().bodies[0].p_WB.z - fallen).abs() < 1e-9);
        assert!((20.0 - plant.state().q.p_WB.z - fallen).abs() < 0.01);
    }
}

/// Links, free bodies and the ground in one rigid system, the same on every path.
#[test]
fn rigid_bodies_pile_up_on_a_robot() {
    let mut found = Vec::new();
    for path in [ComputePath::OneByOne, ComputePath::Portable, ComputePath::Fastest] {
        let (model, mut spec) = walker();
        spec.collisions = bystander().1.collisions;
        for station in &mut spec.stations {
            station.model = ContactModel::Rigid;
        }
        spec.collisions.shapes.push(CollisionShape {
            carrier: Carrier::Link(0),
            X_BS: Transform::identity(),
            shape: Shape::cuboid([0.5, 0.4, 0.1], 0.01).unwrap(),
            meets_ground: true,
            model: ContactModel::Rigid,
            friction: Friction::new(0.7, 0.5),
            rolling: RollingFriction::NONE,
        });
        spec.q.p_WB.z += 0.3;
        let top = spec.q.p_WB.z;
        let dropped = cuboid([0.2, 0.2, 0.2], 2.0, [0.02, 0.01, top + 0.2]);
        put(&mut spec, dropped, &ContactModel::Rigid);
        let mut plant = Plant::new(model, spec);
        plant.set_path(path);
        let on_trunk = |plant: &Plant| {
            let on = |p: &&CollisionPoint| p.carriers == [Carrier::Link(0), Carrier::Body(0)];
            -plant.collisions().points().iter().filter(on).map(|p| p.force_W().z).sum::<f64>()
        };
        let mut carried = 0.0;
        for _ in 0..300 {
            run(&mut plant, 10);
            carried += on_trunk(&plant) / 300.0;
        }
        println!("{carried} {:?}", plant.state().bodies);
        assert!(carried > 0.5 * 2.0 * G);
        found.push(plant.state().clone());
    }
    assert_eq!(found[0], found[1]);
    assert_eq!(found[0], found[2]);
}

/// Each bounce keeps the share of the speed, until it is captured.
#[test]
fn a_rigid_ball_bounces_by_its_restitution() {
    let (model, mut spec) = bystander();
    spec.restitution = Restitution::new(0.6, 0.05, 0.1).unwrap();
    put(&mut spec, ball(0.1, 1.0, [0.0, 0.0, 1.1]), &ContactModel::Rigid);
    let mut plant = Plant::new(model, spec);
    let (mut before, mut bounces) = (0.0, Vec::new());
    for _ in 0..6000 {
        run(&mut plant, 1);
        let v = plant.state().bodies[0].v_WB.z;
        if before < -0.3 && v > 0.0 {
            bounces.push(-v / before);
        }
        before = v;
    }
    assert!(bounces.len() >= 5, "{bounces:?}");
    for share in &bounces {
        assert!((share - 0.6).abs() < 0.03, "{bounces:?}");
    }
    assert!(is_at_rest(&plant));
    assert!((plant.state().bodies[0].p_WB.z - 0.1).abs() < 1e-6);
}

/// A body on two points that gives back all of both impulses would leave with a third more energy,
/// by friction; and far away a ball strikes the floor in the same micro-step: only the first loses
/// its bounce.
#[test]
fn a_bounce_that_adds_energy_is_refused_alone() {
    for alone in [true, false] {
        let mut b = Builder::new("top", Base::Floating);
        let I = Mat3::from_diagonal(&Vec3::new(0.003_764_5, 0.022_560_6, 0.019_985_4));
        add_body(&mut b, "top", SpatialInertia::from_com(1.0, &Vec3::zeros(), &I));
        let model = b.build().unwrap();
        let mut spec = plain_spec(&model);
        for p in [[0.025_726, 0.122_349, -0.35], [-0.021_484, -0.159_94, -0.35]] {
            let point = station(&format!("{p:?}"), 0, p, 0.0);
            let friction = Friction::new(0.4205, 0.4205);
            spec.stations.push(Station { friction, model: ContactModel::Rigid, ..point });
        }
        spec.gravity_W = Vec3::zeros();
        spec.collisions = bystander().1.collisions;
        let gap_m = 2e-5;
        spec.q.p_WB.z = 0.35 + gap_m;
        spec.v.v_WB = Vec3::new(0.072, 0.1925, -0.922_26);
        spec.v.w_WB = Vec3::new(-2.862_17, 1.030_86, 2.862_63);
        spec.restitution = Restitution::new(1.0, 0.05, 0.1).unwrap();
        if !alone {
            let mut round = ball(0.1, 1.0, [3.0, 0.0, 0.1 + gap_m]);
            round.0.V_W.lin.z = -2.0;
            put(&mut spec, round, &ContactModel::Rigid);
        }
        (spec.period_ns, spec.micro_steps) = (100_000, 1);
        let mut plant = Plant::new(model, spec);
        let energy = |p: &Plant| kinetic_energy(p.model(), p.data(), &p.state().v);
        let before = energy(&plant);
        run(&mut plant, 1);
        println!("{} of {before} J", energy(&plant));
        assert!(energy(&plant) < 0.5 * before, "{} of {before} J", energy(&plant));
        if !alone {
            let v = plant.state().bodies[0].v_WB.z;
            assert!((v - 2.0).abs() < 0.01, "{v}");
        }
    }
}

/// Of two shapes a spring counts before Hunt and Crossley's law, and that before a rigid contact.
#[test]
fn the_more_compliant_law_of_two_shapes_counts() {
    let firm = ContactMaterial::new(1e7, 0.1, 0.5, 0.5, 0.0).unwrap();
    let law = HuntCrossley::new(HertzPair::new(&firm, &firm).unwrap(), 0.01).unwrap();
    let laws = [holding(), ContactModel::HuntCrossley(vec![law; 2]), ContactModel::Rigid];
    for (i, one) in laws.iter().enumerate() {
        for (k, other) in laws.iter().enumerate() {
            let (model, mut spec) = bystander();
            spec.gravity_W = Vec3::zeros();
            put(&mut spec, cuboid([0.2; 3], 1.0, [0.0, 0.0, 1.0]), one);
            put(&mut spec, cuboid([0.2; 3], 1.0, [0.0, 0.0, 1.199]), other);
            let plant = Plant::new(model, spec);
            let points = plant.collisions().points();
            let force_n: f64 = points.iter().map(CollisionPoint::normal_n).sum();
            let found = match () {
                () if points.iter().all(|p| p.is_rigid) => 2,
                () if force_n < 10.0 => 0,
                () => 1,
            };
            assert!(!points.is_empty());
            assert_eq!(found, i.min(k), "{one:?} on {other:?}: {force_n} N");
        }
    }
}

/// A body that strikes so hard that the limit of the normal force acts gets no energy from it.
#[test]
fn the_limit_of_the_force_keeps_energy() {
    let parameters = SpringParameters {
        cz_s_per_m: 0.0,
        force_z_max_n: 300.0,
        stiction: Stiction::Holding,
        ..Default::default()
    };
    let spring = ContactModel::ExponentialSpring(ExponentialSpring::new(parameters).unwrap());
    let (model, mut spec) = bystander();
    (spec.period_ns, spec.micro_steps) = (100_000, 20);
    put(&mut spec, ball(0.1, 1.0, [0.0, 0.0, 0.4]), &spring);
    let mut plant = Plant::new(model, spec);
    let energy = |plant: &Plant| {
        let s = plant.state().bodies[0];
        let moving = 0.5 * s.v_WB.dot(&s.v_WB) + G * s.p_WB.z;
        (moving + plant.collisions().potential_energy(), plant.collisions().potential_energy())
    };
    let start = energy(&plant).0;
    let (mut most_j, mut capped) = (0.0_f64, 0);
    for _ in 0..6000 {
        run(&mut plant, 1);
        let (now, stored) = energy(&plant);
        assert!((now - start).abs() < 2e-3 * start, "{now} J of {start} J");
        most_j = most_j.max(stored);
        let at_limit = |p: &CollisionPoint| p.normal_n() >= 300.0;
        capped += usize::from(plant.collisions().points().iter().any(at_limit));
    }
    assert!(capped > 20 && most_j > 2.0, "{capped} {most_j}");
}

/// Two balls that touch in a scene have the force of Simbody's compliant contact of two spheres, if
/// friction follows its curve.
#[test]
fn two_balls_meet_as_simbodys_compliant_spheres_do() {
    let rubber = ContactMaterial::new(1e7, 0.2, 0.7, 0.5, 0.1).unwrap();
    let pair = HertzPair::new(&rubber, &rubber).unwrap();
    let law = HuntCrossley::new(pair, 0.05).unwrap().with_curve(SlipCurve::Stribeck);
    let compliant = CompliantContact::new(pair, 0.05).unwrap();
    // sinking, and slipping below and above the speeds where the curve bends
    for (sinks, slips) in [(0.0, 0.01), (0.3, 0.04), (-0.2, 0.1), (0.1, 1.0)] {
        let (model, mut spec) = bystander();
        let above = put(
            &mut spec,
            ball(0.1, 1.0, [0.0, 0.0, 2.148]),
            &ContactModel::HuntCrossley(vec![law; 2]),
        );
        put(&mut spec, ball(0.05, 1.0, [0.0, 0.0, 2.0]), &ContactModel::HuntCrossley(vec![law; 2]));
        let v = Vec3::new(slips, 0.0, -sinks);
        spec.collisions.bodies[above].V_W.lin = v;
        for shape in &mut spec.collisions.shapes {
            shape.friction = Friction::new(0.7, 0.5);
        }
        let plant = Plant::new(model, spec);
        let [point] = plant.collisions().points() else { panic!("the balls touch once") };
        let (lower, upper) = (Vec3::new(0.0, 0.0, 2.0), Vec3::new(0.0, 0.0, 2.148));
        let overlap = Overlap::sphere_on_sphere(&lower, 0.05, &upper, 0.1).unwrap();
        let friction = Friction::new(0.7, 0.5);
        let expected = compliant.evaluate(&friction, &overlap, &-v);
        let sign = if point.carriers[0] == Carrier::Body(above) { 1.0 } else { -1.0 };
        let found = point.force_W() * sign;
        assert!((found - expected.force).norm() < 1e-9 * expected.force.norm(), "{sinks} {slips}");
        assert!(found.x < -1e-3 && found.z > 1.0, "{found:?}");
    }
}
