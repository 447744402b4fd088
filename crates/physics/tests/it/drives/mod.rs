//! Drives against closed forms and published numbers.

mod friction;
mod laws;
mod motion;
mod response;
mod state;

use hardstand_physics::actuator::Reference;
use hardstand_physics::actuator::drive::Drive;
use hardstand_physics::model::{Base, Builder, Joint, JointKind, Model};
use hardstand_physics::plant::{DriveSet, OwnerWords, Plant, PlantSpec};
use hardstand_physics::spatial::{Mat3, SpatialInertia, Transform, Vec3};

use crate::common::robots::{add_body, add_joint, joint, plain_spec};

/// Inertia of the flywheel about its axis, kg·m².
pub const INERTIA: f64 = 0.1;

/// A flywheel about a vertical axis on a fixed base, ticks of 1 ms with ten micro-steps.
pub fn flywheel_of(change: impl FnOnce(&mut Joint)) -> (Model, PlantSpec) {
    let mut b = Builder::new("flywheel", Base::Fixed);
    add_body(&mut b, "base", SpatialInertia::zero());
    let I = Mat3::from_diagonal_element(INERTIA);
    add_body(&mut b, "wheel", SpatialInertia::from_com(1.0, &Vec3::zeros(), &I));
    let mut j = joint("j", JointKind::Revolute, [0.0, 0.0, 1.0], Transform::identity());
    change(&mut j);
    add_joint(&mut b, "base", "wheel", j);
    let model = b.build().unwrap();
    let spec = PlantSpec { micro_steps: 10, ..plain_spec(&model) };
    (model, spec)
}

/// The flywheel with a drive that `change` makes of the ideal one.
pub fn flywheel(change: impl FnOnce(&mut Drive, &mut PlantSpec)) -> Plant {
    let (model, mut spec) = flywheel_of(|_| {});
    let mut drive = Drive::IDEAL;
    change(&mut drive, &mut spec);
    let battery = spec.drives.battery;
    spec.drives = DriveSet { joints: vec![drive], battery };
    Plant::new(model, spec)
}

pub fn torque(tau_ff: f64) -> Reference {
    Reference { tau_ff, ..Reference::default() }
}

/// Runs for `ticks` under one command.
pub fn run(plant: &mut Plant, reference: Reference, ticks: u32) {
    for _ in 0..ticks {
        let failure = plant.step(&[reference], &OwnerWords::default());
        assert_eq!(failure, None);
    }
}

pub fn q(plant: &Plant) -> f64 {
    plant.state().q.joints[0]
}

pub fn dq(plant: &Plant) -> f64 {
    plant.state().v.joints[0]
}
