//! Whether the equations of motion of a robot have a solution.

use hardstand_physics::dynamics::{
    Data, MassMatrix, Positions, Velocities, articulated_inertias, crba, kinematics,
};
use hardstand_physics::model::Model;
use hardstand_physics::plant::{Integrator, PlantSpec};

use super::section::Mistakes;

/// What is left of a joint's inertia when the joints below it give way, as a share of what it has
/// when they are stiff: below it, only rounding is left.
const SHARE_MIN: f64 = 1e-11;

/// The first joint that nothing resists in this posture: the bodies that it moves have no inertia,
/// or the joints below it can undo all of its motion.
pub(crate) fn singular_joint<'a>(model: &'a Model, q: &Positions) -> Option<&'a str> {
    let mut data = Data::new(model);
    let mut stiff = MassMatrix::zero(model);
    kinematics(model, q, &Velocities::zero(model), &mut data);
    crba(model, &mut data, &mut stiff);
    articulated_inertias(model, &mut data);
    let first = stiff.size() - model.joint_count();
    let resists = |j: &usize| {
        // NaN resists nothing
        data.D[j + 1] > SHARE_MIN * stiff.at(first + j, first + j)
    };
    let joint = (0..model.joint_count()).rev().find(|j| !resists(j))?;
    Some(&model.joints[joint].name)
}

/// Reports such a joint of a scenario without other mistakes. With a linearly implicit step damping
/// and gains resist, too.
pub(super) fn check(model: &Model, spec: &PlantSpec, mistakes: &Mistakes) {
    if mistakes.count() == 0
        && spec.integrator != Integrator::LinearlyImplicit
        && let Some(joint) = singular_joint(model, &spec.q)
    {
        mistakes.add(refusal(joint, "in the initial posture"));
    }
}

/// What is wrong with such a joint, and what helps.
pub(crate) fn refusal(joint: &str, posture: &str) -> String {
    format!(
        "joint {joint}: no inertia resists it {posture}, for links without mass and the joints \
         between them let it move alone; give one of these links an <inertial>, or the joint an \
         armature"
    )
}
