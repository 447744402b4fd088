//! The robot of a golden file.

use hardstand::urdf::{BaseChoice, parse_urdf};
use hardstand_physics::model::Model;

/// The model of a URDF, with a floating base and without anything that acts in the joints: the
/// oracle has neither limits nor friction.
pub fn load_model(urdf_text: &str) -> Model {
    let loaded = parse_urdf(urdf_text, "golden URDF", BaseChoice::Floating).expect("a robot");
    let mut model = loaded.model;
    for joint in &mut model.joints {
        (joint.q_min, joint.q_max) = (f64::NEG_INFINITY, f64::INFINITY);
        (joint.effort_max, joint.velocity_max) = (f64::INFINITY, f64::INFINITY);
        (joint.damping, joint.friction, joint.armature) = (0.0, 0.0, 0.0);
    }
    model
}
