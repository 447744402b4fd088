//! Energy, momentum and centre of mass of the whole robot. They need
//! [`kinematics`](super::kinematics()).

use crate::model::Model;
use crate::spatial::Vec3;

use super::Data;

/// Momentum of the robot about the world's origin, in W.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Momentum {
    /// Angular momentum about the world's origin, kg·m²/s.
    pub angular: Vec3,
    /// Linear momentum, kg·m/s.
    pub linear: Vec3,
}

/// Kinetic energy, J, with the rotors' share `½ armature q̇²`.
#[must_use]
pub fn kinetic_energy(model: &Model, data: &Data, v: &super::Velocities) -> f64 {
    let bodies: f64 =
        model.bodies.iter().zip(&data.V).map(|(b, V)| b.inertia.kinetic_energy(V)).sum();
    let rotors: f64 =
        model.joints.iter().zip(&v.joints).map(|(j, qd)| 0.5 * j.armature * qd * qd).sum();
    bodies + rotors
}

/// Potential energy in the field `gravity_W`, J; zero at the world's origin.
#[must_use]
pub fn potential_energy(model: &Model, data: &Data, gravity_W: &Vec3) -> f64 {
    model
        .bodies
        .iter()
        .zip(&data.X_WB)
        .map(|(b, X)| -gravity_W.dot(&(X.R * b.inertia.h + X.p * b.inertia.mass)))
        .sum()
}

/// Centre of mass in W, m.
#[must_use]
pub fn center_of_mass(model: &Model, data: &Data) -> Vec3 {
    let mut h_W = Vec3::zeros();
    for (b, X) in model.bodies.iter().zip(&data.X_WB) {
        h_W += X.R * b.inertia.h + X.p * b.inertia.mass;
    }
    h_W / model.total_mass()
}

/// Momentum about the world's origin. (2.61)
#[must_use]
pub fn momentum(model: &Model, data: &Data) -> Momentum {
    let (mut angular, mut linear) = (Vec3::zeros(), Vec3::zeros());
    for (i, body) in model.bodies.iter().enumerate() {
        let h = data.X_WB[i].force_to_parent(&body.inertia.mul(&data.V[i]));
        angular += h.ang;
        linear += h.lin;
    }
    Momentum { angular, linear }
}
