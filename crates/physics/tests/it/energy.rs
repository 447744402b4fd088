//! Energy of contacts in linearly implicit steps.

use hardstand_physics::contact::{ContactMaterial, HertzPair, HuntCrossley, StationShape, Surface};
use hardstand_physics::dynamics::{kinetic_energy, potential_energy};
use hardstand_physics::math;
use hardstand_physics::model::{Base, Builder, Model};
use hardstand_physics::plant::{ContactModel, Integrator, OwnerWords, Plant, PlantSpec};
use hardstand_physics::spatial::{Mat3, SpatialInertia, Transform, Vec3};

use super::common::bodies::{ball, bystander, cuboid, put};
use super::common::dice::Dice;
use super::common::robots::{add_body, plain_spec, station};

fn between(dice: &mut Dice, low: f64, high: f64) -> f64 {
    low + (high - low) * (dice.roll(1 << 32) as f64 / (1_u64 << 32) as f64)
}

/// Two planes that meet at the origin.
fn wedge(dice: &mut Dice) -> Vec<Surface> {
    let tilts = [between(dice, 0.2, 1.2), -between(dice, 0.2, 1.2)];
    let side = |(i, &tilt): (usize, &f64)| {
        let X_WS = Transform::from_xyz_rpy([0.0; 3], [0.0, tilt, 0.0]);
        Surface::plane(&format!("side {i}"), X_WS)
    };
    tilts.iter().enumerate().map(side).collect()
}

/// Hunt and Crossley's law of a random stiffness, on both sides of the wedge and on other shapes.
fn rubber(dice: &mut Dice, dissipation: f64) -> ContactModel {
    let stiffness_pa = math::exp(between(dice, 11.5, 15.4));
    let rubber = ContactMaterial::new(stiffness_pa, dissipation, 0.5, 0.4, 0.0).unwrap();
    let law = HuntCrossley::new(HertzPair::new(&rubber, &rubber).unwrap(), 0.02).unwrap();
    ContactModel::HuntCrossley(vec![law; 3])
}

/// A ball of 0.2 to 5 kg that is thrown into a wedge of two planes.
fn thrown_into_a_wedge(dice: &mut Dice, dissipation: f64) -> (Model, PlantSpec) {
    let mass = between(dice, 0.2, 5.0);
    let radius_m = between(dice, 0.02, 0.1);
    let mut b = Builder::new("ball", Base::Floating);
    let I = Mat3::from_diagonal_element(0.4 * mass * radius_m * radius_m);
    add_body(&mut b, "ball", SpatialInertia::from_com(mass, &Vec3::zeros(), &I));
    let model = b.build().unwrap();
    let mut spec = plain_spec(&model);
    (spec.micro_steps, spec.integrator) = (1, Integrator::LinearlyImplicit);
    spec.ground = wedge(dice);
    let mut touching = station("ball", 0, [0.0; 3], 0.5);
    touching.shape = StationShape::Sphere { radius_m };
    touching.model = rubber(dice, dissipation);
    spec.stations.push(touching);
    spec.q.p_WB = Vec3::new(between(dice, -0.1, 0.1), 0.0, 0.3 + 3.0 * radius_m);
    spec.v.v_WB = Vec3::new(between(dice, -2.0, 2.0), 0.0, between(dice, -4.0, 0.0));
    (model, spec)
}

fn energy_j(plant: &Plant) -> f64 {
    let (model, data) = (plant.model(), plant.data());
    kinetic_energy(model, data, &plant.state().v)
        + potential_energy(model, data, &plant.spec().gravity_W)
        + plant.contacts().potential_energy()
}

/// Steps of 1 ms, balls that are as deep in the ground as fast. The energy at the start counts from
/// the bottom of the wedge.
#[test]
fn a_ball_in_a_wedge_gains_next_to_no_energy() {
    for dissipation in [0.0, 0.2] {
        let mut dice = Dice(0x5eed_0e01);
        let mut worst = 0.0_f64;
        for _ in 0..200 {
            let (model, spec) = thrown_into_a_wedge(&mut dice, dissipation);
            let mut plant = Plant::new(model, spec);
            let start_j = energy_j(&plant);
            for _ in 0..1500 {
                assert_eq!(plant.step(&[], &OwnerWords::default()), None);
                worst = worst.max((energy_j(&plant) - start_j) / start_j);
            }
        }
        println!("dissipation {dissipation} s/m: at most {:.3} % more", 100.0 * worst);
        // with the tangent instead of the chord: 4.1 %
        assert!(worst < 1e-4, "{worst}");
    }
}

/// A box and a ball of 0.05 to 7 kg that are no part of the robot, thrown into a wedge, one onto the
/// other.
fn bodies_in_a_wedge(dice: &mut Dice) -> (Model, PlantSpec) {
    let (model, mut spec) = bystander();
    (spec.micro_steps, spec.integrator) = (1, Integrator::LinearlyImplicit);
    spec.ground = wedge(dice);
    let law = rubber(dice, 0.2);
    let size_m = between(dice, 0.03, 0.15);
    for (i, height_m) in [0.4, 0.8].into_iter().enumerate() {
        let mass = math::exp(between(dice, -3.0, 2.0));
        let p_W = [between(dice, -0.05, 0.05), 0.0, height_m];
        let thrown = match i {
            0 => cuboid([size_m; 3], mass, p_W),
            _ => ball(0.5 * size_m, mass, p_W),
        };
        let body = put(&mut spec, thrown, &law);
        let V_W = &mut spec.collisions.bodies[body].V_W;
        V_W.lin = Vec3::new(between(dice, -1.0, 1.0), 0.0, between(dice, -3.0, 0.0));
        V_W.ang = Vec3::new(between(dice, -5.0, 5.0), between(dice, -5.0, 5.0), 0.0);
    }
    (model, spec)
}

fn energy_of_bodies_j(plant: &Plant) -> f64 {
    let (bodies, spec) = (&plant.state().bodies, plant.spec());
    let of_motion = bodies.iter().zip(&spec.collisions.bodies).map(|(state, body)| {
        let w_B = state.quat_WB.to_matrix().tr_mul(&state.w_WB);
        let mass = body.inertia.mass;
        let weight_j = -mass * spec.gravity_W.dot(&state.p_WB);
        0.5 * (mass * state.v_WB.dot(&state.v_WB) + w_B.dot(&(body.inertia.I * w_B))) + weight_j
    });
    of_motion.sum::<f64>() + plant.collisions().potential_energy()
}

/// Steps of 1 ms. What free bodies do is not taken into the linearly implicit step.
#[test]
fn free_bodies_in_a_wedge_gain_next_to_no_energy() {
    let mut dice = Dice(0x5eed_0e02);
    let mut worst = 0.0_f64;
    for _ in 0..60 {
        let (model, spec) = bodies_in_a_wedge(&mut dice);
        let mut plant = Plant::new(model, spec);
        let start_j = energy_of_bodies_j(&plant);
        for _ in 0..1000 {
            assert_eq!(plant.step(&[], &OwnerWords::default()), None);
            worst = worst.max((energy_of_bodies_j(&plant) - start_j) / start_j);
        }
    }
    println!("at most {:.3} % more", 100.0 * worst);
    assert!(worst < 1e-3, "{worst}");
}
