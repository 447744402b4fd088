//! Proposes a scenario for a robot: feet, a standing posture, gains, and a check that it stands.

#![allow(non_snake_case, reason = "monogram notation, see spatial")]

mod feet;
mod gains;
mod posture;
mod write;

use std::ops::ControlFlow;
use std::path::Path;

use crate::config::Scenario;
use crate::mjcf::{Gains, Keyframe, Robot, read_robot};
use crate::simulation::Solo;
use crate::urdf::BaseChoice;
use hardstand_error::{Error, ErrorKind, Result};
use hardstand_physics::dynamics::Positions;
use hardstand_physics::model::{Base, Joint, JointKind, Model};
use hardstand_physics::spatial::{Quaternion, Vec3};
use hardstand_protocol::{HoldGains, JointCommand};

/// Names of keyframes in which a robot stands, the best first.
const STANDING: [&str; 4] = ["home", "stand", "standing", "stand_bent_knees"];
/// Simulated time of the check, s.
const CHECKED_S: f64 = 4.0;
/// Tilt of a robot that has fallen, rad, and the share of its height that it may lose.
const TILT_MAX_RAD: f64 = 0.35;
const SINK_MAX: f64 = 0.25;
/// Gains that are tried, as multiples of those proposed.
const TRIED: [f64; 4] = [1.0, 2.0, 0.5, 4.0];
/// Robots are heavier and lighter than this only by mistake, kg.
const MASS_KG: [f64; 2] = [0.05, 1000.0];

/// A scenario for a robot.
#[derive(Clone, Debug)]
pub struct Proposal {
    /// The scenario file.
    pub toml: String,
    /// Names of the links that are feet.
    pub feet: Vec<String>,
    /// Where the posture is from: a keyframe's name, "solved", or "zero".
    pub posture: String,
    /// Whether the robot stood in it, held by its gains; `None` for a robot with a fixed base.
    pub stands: Option<bool>,
    /// What was assumed, and what looks wrong; one sentence each.
    pub notes: Vec<String>,
}

/// Proposes a scenario for the robot in `file`; `named` is how the scenario names that file.
///
/// # Errors
/// As [`read_robot`].
pub fn propose(file: &Path, named: &str) -> Result<Proposal> {
    let robot = read_robot(file, BaseChoice::Auto)?;
    let mut notes = robot.loaded.warnings.clone();
    let model = &robot.loaded.model;
    plausible(model, &mut notes);
    let keyframe = standing(&robot.converted.keyframes);
    let start = keyframe.map_or_else(|| resting(model), |k| of_keyframe(model, k));
    let folder = file.parent().unwrap_or(Path::new(""));
    let floating = model.base == Base::Floating;
    let mut found = Vec::new();
    if floating {
        found = feet::find(&robot.loaded, &robot.converted.urdf, folder, &start, &mut notes);
        if found.is_empty() {
            notes.push("no foot was found; name feet in [[feet]]".into());
        }
    }
    let (q, posture) = match keyframe {
        Some(k) => (start, k.name.clone()),
        None if found.is_empty() => (start, "zero".into()),
        None => match posture::solve(model, &found, &start) {
            Some(q) => (q, "solved".into()),
            None => {
                notes.push("no standing posture was found; give [initial.joints]".into());
                (start, "zero".into())
            }
        },
    };
    let armature = missing_armature(model, &mut notes);
    let own = gains_of_model(&robot, &q);
    let mut light = model.clone();
    light.joints.iter_mut().for_each(|j| j.armature = j.armature.max(armature.unwrap_or(0.0)));
    let proposed = gains::propose(&light, &q, &found);
    let mut draft = write::Draft {
        named,
        is_mjcf: robot.is_mjcf,
        loaded: &robot.loaded,
        feet: &found,
        q: &q,
        gains: own.clone().unwrap_or_else(|| proposed.clone()),
        armature,
        keyframe: keyframe.map(|k| k.name.as_str()),
    };
    let mut stands = None;
    if floating && !found.is_empty() {
        let mut tried = own.iter().chain([&proposed]).flat_map(|base| {
            TRIED.iter().map(|&times| base.iter().map(|g| scaled(*g, times)).collect::<Vec<_>>())
        });
        let first = draft.gains.clone();
        let found = tried.try_fold((), |(), gains| {
            draft.gains = gains;
            match stands_up(&draft.toml(), &robot.converted.urdf, &draft.gains) {
                Ok(false) => ControlFlow::Continue(()),
                other => ControlFlow::Break(other),
            }
        });
        stands = Some(match found {
            ControlFlow::Break(result) => result?,
            ControlFlow::Continue(()) => false,
        });
        if stands == Some(false) {
            draft.gains = first;
        }
    }
    let feet = found.iter().map(|f| f.link.clone()).collect();
    Ok(Proposal { toml: draft.toml(), feet, posture, stands, notes })
}

/// The keyframe in which the robot stands.
fn standing(keyframes: &[Keyframe]) -> Option<&Keyframe> {
    let named = |name: &str| keyframes.iter().find(|k| k.name == name);
    STANDING.iter().find_map(|name| named(name))
}

/// All joints at 0, or at the limit nearest to it.
fn resting(model: &Model) -> Positions {
    let mut q = Positions::zero(model);
    for (q, joint) in q.joints.iter_mut().zip(&model.joints) {
        *q = 0.0_f64.clamp(joint.q_min, joint.q_max.max(joint.q_min));
    }
    q
}

fn of_keyframe(model: &Model, keyframe: &Keyframe) -> Positions {
    let mut q = resting(model);
    if let Some((p, quat)) = keyframe.base {
        (q.p_WB, q.quat_WB) = (p.into(), Quaternion::from_wxyz(quat).normalised());
    }
    for (name, value) in &keyframe.joints {
        if let Some(i) = model.joint_index(name) {
            q.joints[i] = *value;
        }
    }
    q
}

/// The gains of the model's own position servos, if each joint has one.
fn gains_of_model(robot: &Robot, q: &Positions) -> Option<Vec<HoldGains>> {
    let model = &robot.loaded.model;
    let felt = gains::inertias(model, q);
    let of = |(joint, felt): (&Joint, f64)| {
        let Gains { kp, kd, dampratio } = *robot.converted.gains.get(&joint.name)?;
        // as MuJoCo takes it: relative to critical for the inertia that the joint feels
        let kd = dampratio.map_or(kd, |ratio| 2.0 * ratio * (kp * felt).sqrt());
        (kp > 0.0).then_some(HoldGains { kp, kd })
    };
    model.joints.iter().zip(felt).map(of).collect()
}

fn scaled(g: HoldGains, times: f64) -> HoldGains {
    // damping grows as the root: the damping ratio stays
    HoldGains { kp: g.kp * times, kd: g.kd * times.sqrt() }
}

/// An armature for a robot whose file has none; without, light joints shake.
fn missing_armature(model: &Model, notes: &mut Vec<String>) -> Option<f64> {
    if model.joints.iter().any(|j| j.armature > 0.0) || model.joints.is_empty() {
        return None;
    }
    let assumed = if model.total_mass() < 5.0 { 0.001 } else { 0.01 };
    notes.push(format!(
        "the file has no rotor inertia: armature = {assumed} kg·m² is assumed; put the rotor's \
         inertia times the square of the gear ratio there"
    ));
    Some(assumed)
}

/// What looks like a mistake of units.
fn plausible(model: &Model, notes: &mut Vec<String>) {
    let mass = model.total_mass();
    if !(MASS_KG[0]..=MASS_KG[1]).contains(&mass) {
        notes.push(format!("the robot has {mass:.3} kg; is the file in grams or tonnes?"));
    }
    let far = model.joints.iter().find(|j| j.X_PJ.p.norm() > 3.0);
    if let Some(joint) = far {
        let (name, m) = (&joint.name, joint.X_PJ.p.norm());
        notes
            .push(format!("joint {name} is {m:.1} m from its parent; is the file in millimetres?"));
    }
    let turns = |x: f64| x.is_finite() && x.abs() > 20.0;
    let degrees = model
        .joints
        .iter()
        .find(|j| j.kind == JointKind::Revolute && (turns(j.q_min) || turns(j.q_max)));
    if let Some(joint) = degrees {
        let (name, low, high) = (&joint.name, joint.q_min, joint.q_max);
        notes.push(format!("joint {name} has the limits {low} to {high} rad; are they degrees?"));
    }
}

/// Runs the scenario with its gains held, and looks whether the robot is where it was.
fn stands_up(toml: &str, urdf: &str, gains: &[HoldGains]) -> Result<bool> {
    let scenario = Scenario::from_texts(toml, urdf, &[])
        .map_err(|e| Error::new(ErrorKind::Internal, format!("the proposed scenario: {e}")))?;
    let mut solo = Solo::new(scenario.simulation(), Vec::new(), "stand");
    let start = solo.simulation.state().q.clone();
    let targets = start.joints.iter().zip(gains);
    let commands: Vec<JointCommand> = targets
        .map(|(&q, g)| JointCommand { q, kp: g.kp, kd: g.kd, ..JointCommand::default() })
        .collect();
    solo.set_points().clone_from_slice(&commands);
    let ticks = (CHECKED_S * 1e9 / scenario.spec.period_ns as f64) as u64;
    for _ in 0..ticks {
        if solo.step().failure.is_some() || solo.simulation.failure().is_some() {
            return Ok(false);
        }
    }
    let (q, v) = (&solo.simulation.state().q, &solo.simulation.state().v);
    let up = |q: &Positions| q.quat_WB.to_matrix() * Vec3::z();
    let tilt = up(q).dot(&up(&start)).clamp(-1.0, 1.0);
    let upright = tilt > hardstand_physics::math::sin_cos(TILT_MAX_RAD).1;
    let sunk = start.p_WB.z - q.p_WB.z > SINK_MAX * start.p_WB.z.abs().max(0.05);
    Ok(upright && !sunk && v.v_WB.norm() < 0.3)
}
