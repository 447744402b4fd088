//! Proposes a scenario for a robot: feet, a standing posture, gains, and a check that it stands.

#![allow(non_snake_case, reason = "monogram notation, see spatial")]

mod check;
mod feet;
mod gains;
mod posture;
mod shapes;
mod spring;
mod write;

use std::path::Path;

use crate::config::too_many_joints;
use crate::limits::FEET_MAX;
use crate::mjcf::{Gains, Keyframe, Robot, Sensors, read_robot};
use crate::urdf::BaseChoice;
use hardstand_error::{Error, ErrorKind, Result};
use hardstand_physics::dynamics::Positions;
use hardstand_physics::model::{Base, Joint, JointKind, Model};
use hardstand_physics::spatial::Quaternion;
use hardstand_protocol::HoldGains;

/// Names of keyframes in which a robot stands, the best first.
const STANDING: [&str; 4] = ["home", "stand", "standing", "stand_bent_knees"];
/// Gains that are tried, as multiples of those proposed.
const TRIED: [f64; 4] = [1.0, 2.0, 0.5, 4.0];
/// Limit of motors of which the file says 0, N·m.
const ASSUMED_EFFORT: f64 = 1000.0;
/// Robots are heavier and lighter than this only by mistake, kg.
const MASS_KG: [f64; 2] = [0.05, 1000.0];

/// A scenario for a robot.
#[derive(Clone, Debug)]
pub struct Proposal {
    /// The scenario file.
    pub toml: String,
    /// The robot's name on the bus.
    pub robot: String,
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
/// As [`read_robot`], or [`ErrorKind::Input`] if no scenario can have this robot.
pub fn propose(file: &Path, named: &str) -> Result<Proposal> {
    let robot = read_robot(file, BaseChoice::Auto)?;
    let mut notes = robot.loaded.warnings.clone();
    let model = &robot.loaded.model;
    // a posture of so many joints would be searched for minutes
    if let Some(refusal) = too_many_joints(model) {
        return Err(Error::new(ErrorKind::Input, format!("{}: {refusal}", file.display())));
    }
    plausible(model, &mut notes);
    let of_all = write::OfAllJoints {
        armature: missing_armature(model, &mut notes),
        effort_max: missing_motors(model, &mut notes),
    };
    let folder = file.parent().unwrap_or(Path::new(""));
    let mut reader = check::Reader::new(&robot.converted, folder);
    let mut first = None;
    let mut fallen = Vec::new();
    for start in starts(&robot) {
        let from = start.name();
        let attempt = attempt(&robot, &mut reader, (named, of_all), start);
        let attempt = attempt.map_err(|e| with_notes(&e, &notes))?;
        if attempt.stands != Some(false) {
            first = Some(attempt);
            notes.extend(fallen);
            break;
        }
        fallen.push(format!("the robot does not stand in {from}; another posture is proposed"));
        first.get_or_insert(attempt);
    }
    let Some(chosen) = first else {
        return Err(Error::new(ErrorKind::Internal, "no posture was tried"));
    };
    notes.extend(chosen.notes);
    let Attempt { toml, feet, posture, stands, .. } = chosen;
    Ok(Proposal { toml, robot: write::key_of(&model.name), feet, posture, stands, notes })
}

/// What was noted may be the reason.
fn with_notes(e: &Error, notes: &[String]) -> Error {
    let head = "no scenario can be proposed for this robot; what was found";
    let all: Vec<String> = std::iter::once(e.to_string()).chain(notes.iter().cloned()).collect();
    Error::list(e.kind(), head, &all)
}

/// Where the search for a posture starts.
struct Start<'a> {
    keyframe: Option<&'a Keyframe>,
    /// The base is turned, so that feet are below it.
    is_turned: bool,
    q: Positions,
}

impl Start<'_> {
    fn name(&self) -> String {
        match self.keyframe {
            Some(k) => format!("keyframe {}", k.name),
            None if self.is_turned => "the posture of the file with its base turned".into(),
            None => "the posture of the file".into(),
        }
    }
}

fn starts(robot: &Robot) -> Vec<Start<'_>> {
    let model = &robot.loaded.model;
    let mut out = Vec::new();
    if let Some(keyframe) = standing(&robot.converted.keyframes) {
        let q = of_keyframe(model, keyframe);
        out.push(Start { keyframe: Some(keyframe), is_turned: false, q });
        if model.base != Base::Floating {
            return out;
        }
    }
    let q = resting(model);
    if let Some(quat_WB) = (model.base == Base::Floating).then(|| feet::turned(model, &q)).flatten()
    {
        let q = Positions { quat_WB, ..q.clone() };
        out.push(Start { keyframe: None, is_turned: true, q });
    }
    out.push(Start { keyframe: None, is_turned: false, q });
    out
}

/// What became of one start.
struct Attempt {
    toml: String,
    feet: Vec<String>,
    posture: String,
    stands: Option<bool>,
    notes: Vec<String>,
}

fn attempt(
    robot: &Robot,
    reader: &mut check::Reader<'_>,
    (named, of_all): (&str, write::OfAllJoints),
    start: Start<'_>,
) -> Result<Attempt> {
    let model = &robot.loaded.model;
    let mut notes = Vec::new();
    let floating = model.base == Base::Floating;
    let found =
        if floating { feet_of(robot, reader.folder, &start.q, &mut notes) } else { Vec::new() };
    if start.is_turned {
        notes.push("feet are beside the base in the file: initial.rpy_rad turns it upright".into());
    }
    let connections = &robot.converted.connections;
    let keyframe = start.keyframe.map(|k| k.name.as_str());
    let (q, posture) = match keyframe {
        Some(name) => (start.q, name),
        None if found.is_empty() => (start.q, "zero"),
        None => match posture::solve(model, (&found, connections), &start.q) {
            Some(q) => (q, "solved"),
            None => {
                notes.push("no standing posture was found; give [initial.joints]".into());
                (start.q, "zero")
            }
        },
    };
    let mut light = model.clone();
    light
        .joints
        .iter_mut()
        .for_each(|j| j.armature = j.armature.max(of_all.armature.unwrap_or(0.0)));
    let proposed = gains::propose(&light, &q, &found);
    let mut candidates: Vec<Vec<HoldGains>> = Vec::new();
    for base in gains_of_model(robot, &q).into_iter().chain([proposed]) {
        let times = |&times: &f64| base.iter().map(|g| scaled(*g, times)).collect();
        candidates.extend(TRIED.iter().map(times));
    }
    let mut draft = write::Draft {
        named,
        is_mjcf: robot.is_mjcf,
        loaded: &robot.loaded,
        feet: &found,
        q: q.clone(),
        gains: candidates[0].clone(),
        of_all,
        keyframe,
        converted: &robot.converted,
        spring: None,
    };
    // what the robot sags into leaves a linkage open
    let sags = posture == "solved" && connections.is_empty();
    let stands = match (floating, found.is_empty()) {
        (false, _) => None,
        (true, true) => Some(false),
        (true, false) => Some(settle(&mut draft, reader, candidates, sags)?),
    };
    let feet = found.iter().map(|f| f.link.clone()).collect();
    Ok(Attempt { toml: draft.toml(), feet, posture: posture.into(), stands, notes })
}

fn feet_of(
    robot: &Robot,
    folder: &Path,
    q: &Positions,
    notes: &mut Vec<String>,
) -> Vec<feet::FootProposal> {
    let Robot { loaded, converted, .. } = robot;
    let mut found = feet::find(loaded, &converted.urdf, folder, q, notes);
    with_touch(&converted.sensors, &loaded.model, &mut found, notes);
    if found.is_empty() {
        notes.push("no foot was found; name feet in [[feet]]".into());
    }
    let far = |f: &&feet::FootProposal| f.points_L.iter().any(|p_L| p_L.norm() > 3.0);
    if let Some(foot) = found.iter().find(far) {
        let text = "has points more than 3 m from its origin; is its mesh in millimetres?";
        notes.push(format!("foot {} {text}", foot.link));
    }
    if let Some(more) = found.len().checked_sub(FEET_MAX).filter(|more| *more > 0) {
        notes.push(format!("a scenario has at most {FEET_MAX} feet: {more} more are left out"));
        found.truncate(FEET_MAX);
    }
    found
}

/// Where some of the lowest ends have touch sensors, only those are feet.
fn with_touch(
    sensors: &Sensors,
    model: &Model,
    found: &mut Vec<feet::FootProposal>,
    notes: &mut Vec<String>,
) {
    let has = |f: &feet::FootProposal| sensors.touch.contains(&model.bodies[f.body].name);
    let without: Vec<&str> = found.iter().filter(|f| !has(f)).map(|f| f.link.as_str()).collect();
    if !without.is_empty() && without.len() < found.len() {
        let without = without.join(", ");
        notes.push(format!("only links with a touch sensor are feet, and {without} has none"));
        found.retain(has);
    }
}

/// Gives the draft the first of these gains with which the robot stands. If it may sag, the posture
/// is also tried as what the robot sags into.
fn settle(
    draft: &mut write::Draft<'_>,
    reader: &mut check::Reader<'_>,
    mut candidates: Vec<Vec<HoldGains>>,
    may_sag: bool,
) -> Result<bool> {
    let (model, q) = (&draft.loaded.model, draft.q.clone());
    draft.gains.fill(HoldGains { kp: 0.0, kd: 0.0 });
    let [kp_max, kd_max] = reader.read(&draft.toml())?.gains_max;
    for g in candidates.iter_mut().flatten() {
        *g = HoldGains { kp: g.kp.min(kp_max), kd: g.kd.min(kd_max) };
    }
    draft.spring = spring::proposed(draft, reader);
    for sags in if may_sag { &[false, true][..] } else { &[false] } {
        for gains in &candidates {
            draft.gains.clone_from(gains);
            if *sags {
                draft.q = gains::against_sag(model, &q, draft.feet, gains);
            }
            if check::stands(&draft.toml(), reader, gains)? {
                return Ok(true);
            }
        }
    }
    draft.q = q;
    draft.gains.clone_from(&candidates[0]);
    Ok(false)
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
    model.couple(&mut q.joints);
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
    model.couple(&mut q.joints);
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

/// Motors for a robot whose file says 0 of each: exporters do for what was left open, and without
/// motors it cannot stand.
fn missing_motors(model: &Model, notes: &mut Vec<String>) -> Option<f64> {
    if model.joints.iter().any(|j| j.effort_max > 0.0) || model.joints.is_empty() {
        return None;
    }
    notes.push(format!(
        "the file says effort=\"0\" of all joints: effort_max = {ASSUMED_EFFORT} N·m is assumed; \
         put the motors' limits there, and leave joints without a motor out"
    ));
    Some(ASSUMED_EFFORT)
}

/// What looks like a mistake of units.
fn plausible(model: &Model, notes: &mut Vec<String>) {
    let mass = model.total_mass();
    if !(MASS_KG[0]..=MASS_KG[1]).contains(&mass) {
        notes.push(format!("the robot has {mass:.3} kg; is the file in grams or tonnes?"));
    }
    // a robot that is fixed to the world may stand anywhere
    let is_inner = |i: usize| model.base == Base::Floating || model.bodies[i + 1].parent != 0;
    let inner = model.joints.iter().enumerate().filter(|(i, _)| is_inner(*i));
    let far = inner.map(|(_, joint)| joint).find(|j| j.X_PJ.p.norm() > 3.0);
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
