//! Energy of bodies whose faces and edges roll over the floor and over each other.

use hardstand_geometry::Shape;
use hardstand_physics::contact::{ExponentialSpring, SpringParameters};
use hardstand_physics::plant::{CollisionPoint, ContactModel, OwnerWords, Plant};
use hardstand_physics::spatial::{Mat3, Motion, Quaternion, SpatialInertia, Vec3};

use super::common::bodies::{ball, bystander, cuboid, put};
use super::common::dice::Dice;
use super::common::robots::G;

fn between(dice: &mut Dice, low: f64, high: f64) -> f64 {
    low + (high - low) * dice.roll(1 << 20) as f64 / f64::from(1 << 20)
}

fn direction(dice: &mut Dice, length: f64) -> Vec3 {
    Vec3::new(between(dice, -1.0, 1.0), between(dice, -1.0, 1.0), between(dice, -1.0, 1.0)) * length
}

/// A box or a cylinder of 10 kg, thrown down at up to 6 m/s on the default spring.
fn thrown(seed: u64) -> Plant {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15 ^ (seed + 1).wrapping_mul(0x2545_f491_4f6c_dd1d));
    let (model, mut spec) = bystander();
    spec.micro_steps = 20;
    let size_m = [0; 3].map(|_| between(&mut dice, 0.1, 0.5));
    let (mut body, mut shape) = cuboid(size_m, 10.0, [0.0, 0.0, between(&mut dice, 0.5, 0.8)]);
    if seed % 3 == 2 {
        let (radius_m, length_m) = (0.5 * size_m[0], size_m[1]);
        let across = 10.0 * (3.0 * radius_m * radius_m + length_m * length_m) / 12.0;
        let along = 5.0 * radius_m * radius_m;
        let I = Mat3::from_diagonal(&Vec3::new(across, across, along));
        body.inertia = SpatialInertia::from_com(10.0, &Vec3::zeros(), &I);
        shape = Shape::cylinder(radius_m, length_m, 0.002).unwrap();
    }
    body.X_WB.R = Quaternion::from_rotation_vector(&direction(&mut dice, 3.0)).to_matrix();
    let down = Vec3::new(0.0, 0.0, between(&mut dice, -6.0, 0.0));
    body.V_W = Motion::new(direction(&mut dice, 8.0), direction(&mut dice, 2.0) + down);
    let spring = ExponentialSpring::new(SpringParameters::default()).unwrap();
    put(&mut spec, (body, shape), &ContactModel::ExponentialSpring(spring));
    Plant::new(model, spec)
}

/// Energy, and what contacts have stored of it, J.
fn energies_j(plant: &Plant) -> (f64, f64) {
    let (body, s) = (&plant.spec().collisions.bodies[0], plant.state().bodies[0]);
    let w_B = s.quat_WB.to_matrix().tr_mul(&s.w_WB);
    let turning = 0.5 * w_B.dot(&(body.inertia.I * w_B));
    let moving = body.inertia.mass * (0.5 * s.v_WB.dot(&s.v_WB) + G * s.p_WB.z);
    let stored = plant.collisions().potential_energy();
    (turning + moving + stored, stored)
}

/// What weights of points pass on is not made of nothing: of what a body has had between two
/// flights it never gets more back.
#[test]
fn a_body_that_rolls_from_corner_to_corner_gains_no_energy() {
    let mut worst = (0.0, 0);
    for seed in 0..60 {
        let mut plant = thrown(seed);
        let (start, _) = energies_j(&plant);
        let (mut least, mut gained, mut deepest_m) = (f64::INFINITY, 0.0_f64, 0.0_f64);
        for _ in 0..1500 {
            assert_eq!(plant.step(&[], &OwnerWords::default()), None);
            let (now, stored) = energies_j(&plant);
            deepest_m = plant.collisions().points().iter().fold(deepest_m, |d, p| d.max(p.depth_m));
            if stored < 0.05 {
                gained = gained.max(now - least);
                least = least.min(now);
            }
        }
        println!("{seed}: {start:.1} J, gains {gained:.4} J, {:.2} mm deep", 1e3 * deepest_m);
        if gained > worst.0 {
            worst = (gained, seed);
        }
    }
    assert!(worst.0 < 0.05, "seed {} gains {} J", worst.1, worst.0);
}

/// A ball that rolls off another one: the axes of their contact turn with every micro-step.
#[test]
fn the_force_of_a_rigid_contact_is_in_its_cone() {
    let (model, mut spec) = bystander();
    put(&mut spec, ball(0.3, 200.0, [0.0, 0.0, 0.3]), &ContactModel::Rigid);
    put(&mut spec, ball(0.1, 1.0, [0.04, 0.01, 0.7]), &ContactModel::Rigid);
    spec.collisions.bodies[1].V_W = Motion::new(Vec3::new(5.0, 30.0, 0.0), Vec3::zeros());
    let mut plant = Plant::new(model, spec);
    let beyond = |p: &CollisionPoint| {
        let (n_W, f_W) = (p.normal_W(), p.force_W());
        (f_W - n_W).norm() / (p.friction.mu_static() * n_W.norm()) - 1.0
    };
    let (mut worst, mut seen) = (f64::NEG_INFINITY, 0);
    for _ in 0..1000 {
        assert_eq!(plant.step(&[], &OwnerWords::default()), None);
        for p in plant.collisions().points().iter().filter(|p| p.normal_n() > 1e-6) {
            worst = worst.max(beyond(p));
            seen += usize::from(p.shapes() == [0, 1]);
        }
    }
    assert!(seen > 20 && worst > -0.5, "{seen} {worst}");
    assert!(worst < 1e-9, "{worst}");
}
