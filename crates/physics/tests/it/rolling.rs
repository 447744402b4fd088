//! Rolling and torsional friction, against closed forms.

use hardstand_physics::contact::{
    ExponentialSpring, RollingFriction, SpringParameters, StationShape, Stiction,
};
use hardstand_physics::math;
use hardstand_physics::model::{Base, Builder, Model};
use hardstand_physics::plant::{ContactModel, Integrator, OwnerWords, Plant, PlantSpec};
use hardstand_physics::spatial::{Mat3, Motion, SpatialInertia, Vec3};

use super::common::bodies::{ball, bystander, cuboid, put};
use super::common::robots::{G, add_body, plain_spec, station};

const RADIUS_M: f64 = 0.1;
const MASS_KG: f64 = 1.0;
const SETTLE: f64 = 0.1;

fn holding() -> ContactModel {
    // stiff, so that the ball hovers little
    let parameters = SpringParameters {
        stiction: Stiction::Holding,
        d0_m: 0.0,
        d1_n: MASS_KG * G,
        cz_s_per_m: 5.0,
        d2_per_m: 3000.0,
        ..Default::default()
    };
    ContactModel::ExponentialSpring(ExponentialSpring::new(parameters).unwrap())
}

fn rolling(rolling_m: f64, torsional_m: f64) -> RollingFriction {
    RollingFriction::new(rolling_m, torsional_m, SETTLE).unwrap()
}

/// A robot that is a ball with a round station, and a scene with a free ball.
fn balls(friction: RollingFriction) -> [(Model, PlantSpec); 2] {
    let mut b = Builder::new("ball", Base::Floating);
    let I = Mat3::from_diagonal_element(0.4 * MASS_KG * RADIUS_M * RADIUS_M);
    add_body(&mut b, "ball", SpatialInertia::from_com(MASS_KG, &Vec3::zeros(), &I));
    let model = b.build().unwrap();
    let mut spec = plain_spec(&model);
    let mut touching = station("ball", 0, [0.0; 3], 0.8);
    (touching.shape, touching.model) = (StationShape::Sphere { radius_m: RADIUS_M }, holding());
    touching.rolling = friction;
    spec.stations.push(touching);
    spec.q.p_WB.z = RADIUS_M;

    let (post, mut scene) = bystander();
    put(&mut scene, ball(RADIUS_M, MASS_KG, [0.0, 0.0, RADIUS_M]), &holding());
    scene.collisions.shapes[0].rolling = friction;
    [(model, spec), (post, scene)]
}

fn set_velocity(spec: &mut PlantSpec, V: Motion) {
    (spec.v.w_WB, spec.v.v_WB) = (V.ang, V.lin);
    if let Some(body) = spec.collisions.bodies.first_mut() {
        body.V_W = V;
    }
}

/// Place, angular velocity and velocity of the ball.
fn motion(plant: &Plant) -> (Vec3, Vec3, Vec3) {
    let state = plant.state();
    match state.bodies.first() {
        Some(body) => (body.p_WB, body.w_WB, body.v_WB),
        None => (state.q.p_WB, state.v.w_WB, state.v.v_WB),
    }
}

fn run(plant: &mut Plant, ticks: u32) {
    for _ in 0..ticks {
        assert_eq!(plant.step(&[], &OwnerWords::default()), None);
    }
}

#[test]
fn a_rolling_ball_comes_to_rest_where_the_closed_form_says() {
    let (rolling_m, v) = (0.004, 1.0);
    let slowing = 5.0 / 7.0 * rolling_m * G / RADIUS_M;
    // a constant moment down to the settle rate, then a damper
    let settled = SETTLE * RADIUS_M;
    let expected_m = (v * v + settled * settled) / (2.0 * slowing);
    for integrator in [Integrator::SemiImplicitEuler, Integrator::LinearlyImplicit] {
        for (model, mut spec) in balls(rolling(rolling_m, 0.0)) {
            spec.integrator = integrator;
            set_velocity(&mut spec, Motion::new(Vec3::new(0.0, v / RADIUS_M, 0.0), Vec3::x() * v));
            let mut plant = Plant::new(model, spec);
            run(&mut plant, 1000);
            let at_1_s = motion(&plant).2.x;
            assert!((at_1_s - (v - slowing)).abs() < 2e-3, "{integrator:?}: {at_1_s}");
            run(&mut plant, 8000);
            let (p, w, v) = motion(&plant);
            assert!((p.x / expected_m - 1.0).abs() < 5e-3, "{integrator:?}: {p:?} {expected_m}");
            assert!(w.norm() < 1e-6 && v.norm() < 1e-6, "{w:?} {v:?}");
        }
    }
}

#[test]
fn a_spinning_ball_stops_in_the_time_of_the_closed_form() {
    let (torsional_m, w) = (0.003, 20.0);
    let slowing = torsional_m * MASS_KG * G / (0.4 * MASS_KG * RADIUS_M * RADIUS_M);
    let ramp_s = (w - SETTLE) / slowing;
    for (model, mut spec) in balls(rolling(0.0, torsional_m)) {
        set_velocity(&mut spec, Motion::new(Vec3::z() * w, Vec3::zeros()));
        let mut plant = Plant::new(model, spec);
        run(&mut plant, 1000);
        let at_1_s = motion(&plant).1.z;
        assert!((at_1_s - (w - slowing)).abs() < 1e-3 * w, "{at_1_s}");
        let (before, after) = ((1e3 * ramp_s) as u32 - 1000, 60);
        run(&mut plant, before);
        assert!((motion(&plant).1.z - SETTLE).abs() < 0.02, "{:?}", motion(&plant));
        run(&mut plant, after);
        // a damper from there on; the last tick of the ramp may be half a tick early or late
        let expected = SETTLE * math::exp(-0.06 * slowing / SETTLE);
        let found = motion(&plant).1.z;
        assert!((found / expected - 1.0).abs() < 0.08, "{found} {expected}");
        assert!(motion(&plant).0.x.abs() < 1e-9);
    }
}

#[test]
fn on_a_slope_a_ball_creeps_below_the_rolling_angle_and_rolls_above() {
    let rolling_m = 0.01;
    for (tangent, rolls) in [(0.08, false), (0.15, true)] {
        for (model, mut spec) in balls(rolling(rolling_m, 0.0)) {
            let cosine = 1.0 / (1.0_f64 + tangent * tangent).sqrt();
            spec.gravity_W = Vec3::new(G * tangent * cosine, 0.0, -G * cosine);
            let mut plant = Plant::new(model, spec);
            run(&mut plant, 2000);
            let v = motion(&plant).2.x;
            let expected = if rolls {
                2.0 * 5.0 / 7.0 * G * cosine * (tangent - rolling_m / RADIUS_M)
            } else {
                SETTLE * RADIUS_M * tangent / (rolling_m / RADIUS_M)
            };
            assert!((v / expected - 1.0).abs() < 0.02, "{tangent}: {v} {expected}");
        }
    }
}

/// Long steps for so light a ball: an explicit damper would be unstable.
#[test]
fn the_implicit_step_bears_a_stiff_moment() {
    let stiff = RollingFriction::new(0.05, 0.05, 1e-4).unwrap();
    let (model, mut spec) = balls(stiff)[0].clone();
    spec.integrator = Integrator::LinearlyImplicit;
    set_velocity(&mut spec, Motion::new(Vec3::new(0.0, 5.0, 3.0), Vec3::x() * 0.5));
    let mut plant = Plant::new(model, spec);
    run(&mut plant, 1000);
    let (_, w, v) = motion(&plant);
    assert!(w.norm() < 1e-6 && v.norm() < 1e-6, "{w:?} {v:?}");
}

/// What the moments take out is heat.
#[test]
fn the_power_of_the_moments_is_published() {
    let friction = rolling(0.002, 0.003);
    for (model, mut spec) in balls(friction) {
        let (w, v) = (Vec3::new(0.0, 10.0, 4.0), Vec3::x());
        set_velocity(&mut spec, Motion::new(w, v));
        let plant = Plant::new(model, spec);
        let stations = plant.contacts().evaluated().iter().map(|at| at.record_W());
        let points = plant.collisions().points().iter().map(|at| at.record_W());
        let all: Vec<_> = stations.chain(points).filter(|r| r.force.z > 0.1).collect();
        let [record] = all.as_slice() else { panic!("{all:?}") };
        let normal_n = record.force.z;
        let moment = Vec3::new(0.0, -0.002 * normal_n, -0.003 * normal_n);
        assert!((record.moment - moment).norm() < 1e-9, "{record:?}");
        let power_w = -record.force.dot(&(v + w.cross(&(record.point - Vec3::z() * RADIUS_M))))
            - record.moment.dot(&w);
        assert!((record.power_dissipation_w - power_w).abs() < 1e-3 * power_w.abs());
    }
}

/// A foot so light that its moment would turn it round within a step: it comes to rest, and stays
/// there, as a robot, as a free body on the ground, and between two bodies.
#[test]
fn a_strong_moment_does_not_turn_a_light_foot_back_and_forth() {
    let (radius_m, mass) = (0.01, 10.0);
    for lightest in [1e-5, 1e-4] {
        let mut b = Builder::new("foot", Base::Floating);
        let I = Mat3::from_diagonal_element(lightest);
        add_body(&mut b, "foot", SpatialInertia::from_com(mass, &Vec3::zeros(), &I));
        let model = b.build().unwrap();
        let mut spec = plain_spec(&model);
        let mut touching = station("foot", 0, [0.0; 3], 0.8);
        (touching.shape, touching.model) = (StationShape::Sphere { radius_m }, holding());
        touching.rolling = rolling(0.005, 0.005);
        spec.stations.push(touching);
        spec.q.p_WB.z = radius_m;

        let (post, mut alone) = bystander();
        let mut foot = ball(radius_m, mass, [0.0, 0.0, radius_m]);
        foot.0.inertia = SpatialInertia::from_com(mass, &Vec3::zeros(), &I);
        put(&mut alone, foot.clone(), &holding());
        let mut on_box = alone.clone();
        on_box.collisions.bodies[0].X_WB.p.z += 0.2;
        put(&mut on_box, cuboid([0.4, 0.4, 0.2], 20.0, [0.0, 0.0, 0.1]), &holding());
        for scene in [&mut alone, &mut on_box] {
            scene.collisions.shapes.iter_mut().for_each(|s| s.rolling = rolling(0.005, 0.005));
        }
        for (name, model, mut spec) in
            [("robot", &model, spec), ("alone", &post, alone), ("on a box", &post, on_box)]
        {
            set_velocity(&mut spec, Motion::new(Vec3::z() * 2.0, Vec3::zeros()));
            let mut plant = Plant::new(model.clone(), spec);
            let mut before = 2.0;
            for tick in 0..500 {
                run(&mut plant, 1);
                let w = motion(&plant).1;
                let turns_back = w.z < -1e-3 || w.z.abs() > before + 1e-4;
                assert!(!turns_back, "{name} {lightest} {tick}: {w:?}");
                before = w.z.abs();
            }
            let w = motion(&plant).1;
            assert!(w.norm() < 1e-2, "{name} {lightest}: {w:?}");
        }
    }
}
