//! Ground that moves, is curved or has edges, and stations that roll: against analytic motions.
#![allow(clippy::disallowed_methods, reason = "std's functions are an independent reference")]

use crate::common::WATCHDOG;
use crate::common::robots;
use crate::common::robots::{add_body, plain_spec, plane};
use crate::common::scene::{Standing, quadruped};
use hardstand::simulation::Simulation;
use hardstand_physics::contact::{
    ContactMaterial, ConvexSolid, ExponentialSpring, Friction, Heightfield, HertzPair,
    HuntCrossley, SpringParameters, StationShape, Surface, SurfaceShape, stairs,
};
use hardstand_physics::model::{Base, Builder, Model};
use hardstand_physics::plant::{ContactModel, PlantSpec};
use hardstand_physics::spatial::{Mat3, Quaternion, SpatialInertia, Transform, Vec3};
use hardstand_protocol::TickInput;

const G: f64 = 9.81;

fn models() -> [ContactModel; 3] {
    let steel = ContactMaterial::new(1e8, 0.5, 0.8, 0.6, 0.0).unwrap();
    let pair = HertzPair::new(&steel, &steel).unwrap();
    [
        ContactModel::Rigid,
        ContactModel::ExponentialSpring(ExponentialSpring::new(stiff_friction()).unwrap()),
        ContactModel::HuntCrossley(vec![HuntCrossley::new(pair, 0.01).unwrap()]),
    ]
}

/// A spring whose friction gives way by micrometres, so that rolling is close to the ideal.
fn stiff_friction() -> SpringParameters {
    let mut parameters = SpringParameters { v_settle_m_per_s: 0.1, ..Default::default() };
    parameters.set_critical_damping(200_000.0, 1.0).unwrap();
    parameters
}

/// One body with one round station in its centre.
fn round(mass: f64, I: Mat3, shape: StationShape, model: &ContactModel) -> (Model, PlantSpec) {
    let mut b = Builder::new("round", Base::Floating);
    add_body(&mut b, "round", SpatialInertia::from_com(mass, &Vec3::zeros(), &I));
    let robot = b.build().unwrap();
    let mut spec = plain_spec(&robot);
    let mut station = robots::station("s", 0, [0.0; 3], 0.9);
    (station.shape, station.model) = (shape, model.clone());
    station.friction = Friction::new(0.9, 0.8);
    spec.stations.push(station);
    (robot, spec)
}

fn run(simulation: &mut Simulation, seconds: f64) {
    let ticks = (seconds * 1e9 / simulation.spec().period_ns as f64).round() as u32;
    for _ in 0..ticks {
        simulation.step(&TickInput::new());
        assert_eq!(simulation.failure(), None);
    }
}

#[test]
fn a_ball_rolls_down_a_ramp_with_five_sevenths_of_the_slope() {
    let (radius_m, mass) = (0.05, 2.0);
    let I = Mat3::from_diagonal_element(0.4 * mass * radius_m * radius_m);
    for model in models() {
        let (robot, mut spec) = round(mass, I, StationShape::Sphere { radius_m }, &model);
        let tilt = Quaternion::from_rpy(0.0, 0.3, 0.0);
        let R = tilt.to_matrix();
        spec.ground = vec![plane(Transform::new(R, Vec3::zeros()))];
        // settle on the spot while held by a reversed slope of gravity: along the normal only
        spec.gravity_W = R * Vec3::new(0.0, 0.0, -G * 0.3_f64.cos());
        spec.q.p_WB = R * Vec3::new(0.0, 0.0, radius_m);
        let mut simulation = Simulation::new(robot.clone(), spec.clone(), WATCHDOG);
        run(&mut simulation, 1.0);
        spec.gravity_W = Vec3::new(0.0, 0.0, -G);
        let mut q = simulation.state().q.clone();
        q.quat_WB = Quaternion::IDENTITY;
        spec.q = q;
        let mut simulation = Simulation::new(robot, spec, WATCHDOG);
        run(&mut simulation, 1.0);
        let v = R.tr_mul(&simulation.state().v.v_WB);
        let slip = simulation.contacts().evaluated()[0].v_C.xy().norm();
        let a = 5.0 / 7.0 * G * 0.3_f64.sin();
        println!("v {:.6} m/s of {a:.6}, slip {slip:.2e} m/s", v.x);
        assert!((v.x - a).abs() < 3e-3 * a, "{} m/s instead of {a}", v.x);
        assert!(slip < 2e-3, "it slips by {slip} m/s");
    }
}

/// A thin disc that rolls in a circle at a constant tilt: the spin that holds it follows from
/// `A Ω² sin θ cos θ − C ω₃ Ω sin θ = m g a cos θ + m a² Ω ω₃ sin θ`, θ between axis and vertical.
#[test]
fn a_coin_rolls_in_the_circle_that_its_tilt_asks_for() {
    let (mass, a, theta, turn) = (1.0, 0.1, 1.2_f64, 4.0);
    let (A, C) = (0.25 * mass * a * a, 0.5 * mass * a * a);
    let (s, c) = theta.sin_cos();
    let spin = (A * turn * turn * s * c - mass * G * a * c) / ((C + mass * a * a) * turn * s);
    let I = Mat3::from_diagonal(&Vec3::new(A, A, C));
    let shape = StationShape::Torus { axis_B: Vec3::z(), ring_radius_m: a, tube_radius_m: 0.0 };
    let (robot, mut spec) = round(mass, I, shape, &ContactModel::Rigid);
    spec.micro_steps = 40;
    // axis (0, sin θ, cos θ), upwards in the disc (0, −cos θ, sin θ)
    let (axis, up) = (Vec3::new(0.0, s, c), Vec3::new(0.0, -c, s));
    spec.q.quat_WB = Quaternion::from_rpy(-theta, 0.0, 0.0);
    assert!((spec.q.quat_WB.to_matrix() * Vec3::z() - axis).norm() < 1e-12);
    spec.q.p_WB.z = a * s;
    spec.v.w_WB = axis * spin + up * (turn * s);
    spec.v.v_WB = Vec3::new(a * spin, 0.0, 0.0);
    let mut simulation = Simulation::new(robot, spec, WATCHDOG);
    let radius_m = a * spin / turn;
    // the centre of the circle of the disc's centre: v = Ω ẑ × (p − centre)
    let centre = Vec3::new(0.0, radius_m, 0.0);
    let (mut tilt_off, mut circle_off) = (0.0_f64, 0.0_f64);
    for _ in 0..300 {
        run(&mut simulation, 0.01);
        let cos = (simulation.state().q.quat_WB.to_matrix() * Vec3::z()).z;
        tilt_off = tilt_off.max((cos - c).abs());
        let r = (simulation.state().q.p_WB - centre).xy().norm();
        circle_off = circle_off.max((r - radius_m.abs()).abs());
    }
    println!("spin {spin} rad/s: cos θ off by {tilt_off:.2e}, circle by {circle_off:.2e} m");
    assert!(tilt_off < 2e-3 && circle_off < 2e-3, "{tilt_off} {circle_off}");
}

#[test]
fn a_robot_on_a_belt_stands_still_on_the_belt() {
    for model in ["rigid", "exponential_spring", "hunt_crossley"] {
        let mut s = Standing::new(&quadruped(&[
            &format!("contact.model={model}"),
            "planes.0.motion={velocity_m_per_s=[-0.4, 0.1, 0.0], ramp_s=1.0}",
        ]));
        s.run(12_000);
        let (feet, belt) = (s.feet_W(), Vec3::new(-0.4, 0.1, 0.0));
        assert!(
            (s.simulation.state().v.v_WB - belt).norm() < 1e-3,
            "{}",
            s.simulation.state().v.v_WB
        );
        s.run(2_000);
        let carried: Vec<Vec3> = feet.iter().map(|p| p + belt * 2.0).collect();
        let drift = s.feet_moved_m(&carried);
        println!("{model}: {drift:.2e} m in 2 s");
        let limit = if model == "hunt_crossley" { 2e-3 } else { 1e-8 };
        assert!(drift < limit, "{model}: {drift} m on the belt");
    }
}

#[test]
fn a_shaking_table_shakes_the_robot_and_the_forces_show_it() {
    let mut s = Standing::new(&quadruped(&[
        "contact.model=rigid",
        "planes.0.motion={amplitude_m=[0.0, 0.0, 0.01], frequency_hz=2.0, ramp_s=1.0}",
    ]));
    s.run(8_000);
    let weight_n = G * s.simulation.model().total_mass();
    let (mut least, mut most) = (f64::MAX, 0.0_f64);
    for _ in 0..500 {
        s.run(1);
        let n: f64 = s.foot_contacts().iter().map(|f| f.force.normal_n).sum();
        (least, most) = (least.min(n), most.max(n));
        assert!(s.foot_contacts().iter().all(|f| f.touch.p_C.z.abs() < 1e-6));
    }
    // a table that moves by A sin ωt asks for m A ω² more and less
    let swing = s.simulation.model().total_mass() * 0.01 * (4.0 * std::f64::consts::PI).powi(2);
    println!("{least:.1} to {most:.1} N, weight {weight_n:.1} N, swing {swing:.1} N");
    assert!((most - weight_n) > 0.8 * swing && (weight_n - least) > 0.8 * swing);
    assert!((most - weight_n) < 2.0 * swing && (weight_n - least) < 2.0 * swing);
}

#[test]
fn a_robot_stands_on_boxes_ramps_stairs_and_hills() {
    let terrains = [
        "terrain=[{kind=\"box\", position_m=[0.0, 0.0, 0.05], size_m=[2.0, 2.0, 0.1]}]",
        "terrain=[{kind=\"ramp\", position_m=[-1.0, 0.0, 0.0], length_m=2.0, width_m=2.0, height_m=0.2}]",
        "terrain=[{kind=\"stairs\", position_m=[-0.05, 0.0, 0.0], steps=3, rise_m=0.06, run_m=0.3, width_m=2.0}]",
        "terrain=[{kind=\"heightfield\", position_m=[0.0, 0.0, 0.05], origin_m=[-1.0, -1.0], spacing_m=1.0, \
         heights_m=[[0.0, 0.0, 0.0], [0.0, 0.08, 0.0], [0.0, 0.0, 0.0]]}]",
    ];
    for terrain in terrains {
        for model in ["rigid", "exponential_spring", "hunt_crossley"] {
            let set = format!("contact.model={model}");
            let mut s = Standing::new(&quadruped(&[&set, terrain, "initial.clearance_m=0.01"]));
            s.run(6_000);
            let (feet, q) = (s.foot_contacts(), &s.simulation.state().q);
            let up = q.quat_WB.to_matrix()[(2, 2)];
            let total: Vec3 = feet.iter().map(|f| f.record_W().force).sum();
            assert!(up > 0.97, "{model} on {terrain}: it lies at {q:?}");
            let weight_n = G * s.simulation.model().total_mass();
            assert!((total.z / weight_n - 1.0).abs() < 0.05, "{model} on {terrain}: {total}");
            assert!(feet.iter().all(|f| f.force.normal_n > 5.0), "{model} on {terrain}");
            let creep = if model == "hunt_crossley" { 5e-3 } else { 1e-4 };
            assert!(feet.iter().all(|f| f.v_C.norm() < creep), "{model} on {terrain}: it moves");
        }
    }
}

/// A foot that is led over an edge, a step's corner or a border of cells feels no jump: on a finer
/// path the largest change of force between two places is finer in proportion.
#[test]
fn forces_are_continuous_over_edges() {
    // a ball of 20 mm, 1.5 mm deep
    let near = 0.0185;
    let edge: Vec<[f64; 2]> = (0..=90)
        .map(|deg| f64::from(deg).to_radians().sin_cos())
        .map(|(s, c)| [0.19 + (0.01 + near) * s, 0.09 + (0.01 + near) * c])
        .collect();
    let around = [&[[0.17, 0.1 + near]][..], &edge, &[[0.2 + near, 0.07]]].concat();
    let flight = stairs(3, 0.1, 0.3, 1.0, 0.01).unwrap();
    let terrains = [
        // along the top of a box, around its edge, and down beside it
        (solids(vec![ConvexSolid::cuboid([0.4, 1.0, 0.2], 0.01).unwrap()]), around, 0.0),
        // up a ramp and over its high edge
        (
            solids(vec![ConvexSolid::ramp(1.0, 1.0, 0.2, 0.01).unwrap()]),
            vec![[0.95, 0.2165], [1.05, 0.2165]],
            0.0,
        ),
        // into the corner of a stair and up its riser
        (
            flight.into_iter().map(|(X, s)| solid(s, X)).collect(),
            vec![[0.2, 0.1 + near], [0.3 - near, 0.1 + near], [0.3 - near, 0.15]],
            0.0,
        ),
        // over cells and the border of a heightfield
        (hills(), vec![[0.05, 0.0375], [0.45, 0.03]], 0.02),
    ];
    for (n, (ground, path, y)) in terrains.into_iter().enumerate() {
        for model in &models()[1..] {
            let (coarse, fine) = (
                largest_change(&ground, model, &path, y, 2e-4),
                largest_change(&ground, model, &path, y, 2e-5),
            );
            println!("terrain {n}: {coarse:.4} N, ten times finer {fine:.5} N");
            assert!(coarse > 1e-3, "terrain {n}: the path must touch");
            assert!(fine < 0.2 * coarse, "terrain {n}: a jump of {fine} N");
        }
    }
}

/// Largest change of force between two places on a path in x and z, `step_m` apart.
fn largest_change(
    ground: &[Surface],
    model: &ContactModel,
    path: &[[f64; 2]],
    y: f64,
    step_m: f64,
) -> f64 {
    let mut last: Option<Vec3> = None;
    let mut largest = 0.0_f64;
    for part in path.windows(2) {
        let [dx, dz] = [part[1][0] - part[0][0], part[1][1] - part[0][1]];
        let cuts = ((dx * dx + dz * dz).sqrt() / step_m).ceil() as u32;
        for k in 0..cuts {
            let at =
                |i: usize| part[0][i] + (part[1][i] - part[0][i]) * f64::from(k) / f64::from(cuts);
            let force = force_at(ground, model, Vec3::new(at(0), y, at(1)));
            largest = last.map_or(largest, |f| largest.max((force - f).norm()));
            last = Some(force);
        }
    }
    largest
}

fn force_at(ground: &[Surface], model: &ContactModel, p: Vec3) -> Vec3 {
    let model = match model {
        ContactModel::HuntCrossley(laws) => ContactModel::HuntCrossley(vec![laws[0]; ground.len()]),
        other => other.clone(),
    };
    let shape = StationShape::Sphere { radius_m: 0.02 };
    let (robot, mut spec) = round(1.0, Mat3::identity(), shape, &model);
    spec.ground = ground.to_vec();
    spec.q.p_WB = p;
    let simulation = Simulation::new(robot, spec, WATCHDOG);
    simulation.contacts().evaluated().iter().map(|at| at.record_W().force).sum()
}

fn solids(list: Vec<ConvexSolid>) -> Vec<Surface> {
    list.into_iter().map(|s| solid(s, Transform::identity())).collect()
}

fn solid(solid: ConvexSolid, X_WS: Transform) -> Surface {
    let (name, shape) = (format!("at {}", X_WS.p), SurfaceShape::Solid(solid));
    Surface { shape, ..Surface::plane(&name, X_WS) }
}

fn hills() -> Vec<Surface> {
    let heights = [0.0, 0.01, 0.02, 0.01, 0.0, 0.015, 0.012, 0.0, 0.0, 0.01, 0.0, 0.005];
    let field = Heightfield::new([0.0, 0.0], 0.1, 4, 3, &heights).unwrap();
    let shape = SurfaceShape::Heightfield(field);
    vec![Surface { shape, ..Surface::plane("hills", Transform::identity()) }]
}
