//! Reads a MuJoCo model (MJCF) and writes its robot as URDF, which the rest of the daemon, logs,
//! pages and ROS understand.
//!
//! ```text
//! files ─▶ element ─▶ compiler, defaults ─▶ body (with geom) ─▶ write ─▶ URDF
//!                                           actuators, keyframe ─▶ limits, gains, postures
//! ```
//!
//! * `element` reads the files and their includes; `defaults` finds the classes of an element;
//! * `compiler` has units and angles; `body`, `geom` and `weigh` read bodies, joints, shapes and
//!   masses;
//! * `actuators` finds limits and gains of drives; `equality` joints that follow others;
//!   `keyframe` the postures that the model names; `pairs` which bodies touch each other;
//!   `options` gravity, and which parts of the physics are switched off;
//! * `write` makes a chain of links of each body, so that several joints of one body, and joints
//!   beside its origin, are those of MuJoCo.
//!
//! What would change the motion and is not understood is refused; what is left out is listed.

#![allow(non_snake_case, reason = "monogram notation, see spatial")]

mod actuators;
mod assets;
mod body;
mod collada;
mod compiler;
mod defaults;
mod element;
mod equality;
mod geom;
mod keyframe;
mod mesh;
mod options;
mod pairs;
mod report;
mod sensors;
mod weigh;
mod write;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use self::assets::Assets;
use self::body::{Body, JointType};
use self::compiler::Compiler;
use self::defaults::Defaults;
use self::element::Element;
use self::geom::{Geom, GeomShape};
use self::pairs::Pairs;
use self::report::Report;
use crate::urdf::{BaseChoice, Loaded, parse_urdf, read_urdf_text};
use hardstand_error::{Error, ErrorKind, Result};
use hardstand_physics::spatial::Vec3;

use self::element::is_mjcf;
pub use self::equality::Connection;
pub use self::keyframe::Keyframe;
pub(crate) use self::mesh::{file_of as mesh_file, points as mesh_points};
pub use self::sensors::Sensors;

/// The robot of a MuJoCo model.
#[derive(Clone, Debug, Default)]
pub struct Converted {
    /// The robot as URDF. Names of meshes are relative to the model's file.
    pub urdf: String,
    /// Gains of the position servos of its joints.
    pub gains: BTreeMap<String, Gains>,
    /// Postures that the model names. The first is that of the file.
    pub keyframes: Vec<Keyframe>,
    /// Points of bodies that stay at points of others.
    pub connections: Vec<Connection>,
    /// Pairs of bodies whose shapes do not touch each other.
    pub apart: Vec<[String; 2]>,
    /// Places of sensors.
    pub sensors: Sensors,
    /// Gravity, in world axes, m/s², if it is not (0, 0, −9.81).
    pub gravity_m_per_s2: Option<[f64; 3]>,
    /// Files that decide the robot, without the model's own: what it includes, and meshes that
    /// were weighed.
    pub files: Vec<PathBuf>,
    /// What was left out; one sentence each.
    pub warnings: Vec<String>,
}

/// Gains of a position servo, at the joint: N·m/rad and N·m·s/rad, or N/m and N·s/m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gains {
    /// Stiffness.
    pub kp: f64,
    /// Damping.
    pub kd: f64,
    /// Damping relative to critical, which takes the place of `kd`.
    pub dampratio: Option<f64>,
}

/// A robot from a URDF, or from a MuJoCo model.
#[derive(Clone, Debug)]
pub struct Robot {
    /// The checked robot, with the warnings of both readers.
    pub loaded: Loaded,
    /// What a MuJoCo model has besides, without its warnings; of a URDF only the text.
    pub converted: Converted,
    /// The file is a MuJoCo model.
    pub is_mjcf: bool,
}

/// Reads a robot from a file of either kind.
///
/// # Errors
/// As [`read_urdf_text`], [`parse_urdf`] and [`convert`]; [`ErrorKind::Input`] for a scenario.
pub fn read_robot(file: &Path, base: BaseChoice) -> Result<Robot> {
    if file.extension().is_some_and(|extension| extension == "toml") {
        let file = file.display();
        let text = format!(
            "{file}: a scenario is not a robot; give the URDF or MuJoCo model that its section \
             [robot] names"
        );
        return Err(Error::new(ErrorKind::Input, text));
    }
    let urdf = read_urdf_text(file)?;
    let is_mjcf = is_mjcf(&urdf);
    let mut converted = Converted { urdf, ..Converted::default() };
    if is_mjcf {
        converted = convert(file)?;
    }
    let loaded = parse_urdf(&converted.urdf, &file.display().to_string(), base);
    let mut loaded = if is_mjcf { loaded.map_err(without_lines)? } else { loaded? };
    loaded.warnings.splice(0..0, std::mem::take(&mut converted.warnings));
    Ok(Robot { loaded, converted, is_mjcf })
}

/// A refusal of the URDF that a model has become, without its lines: the model has others.
pub(crate) fn without_lines(e: Error) -> Error {
    let text = e.to_string();
    let mut parts = text.split(" (line ");
    let mut out = parts.next().unwrap_or_default().to_string();
    if out.len() == text.len() {
        return e;
    }
    for part in parts {
        out.push_str(part.split_once(')').map_or(part, |(_line, rest)| rest));
    }
    Error::new(e.kind(), format!("{out}\n(of the model as URDF)"))
}

/// Sections that say nothing about the robot's motion, or are read elsewhere.
const QUIET: [&str; 15] = [
    "compiler",
    "default",
    "asset",
    "worldbody",
    "actuator",
    "keyframe",
    "equality",
    "visual",
    "statistic",
    "size",
    "custom",
    "sensor",
    "contact",
    "option",
    "extension",
];

/// Reads a model.
///
/// # Errors
/// [`ErrorKind::File`] if a file cannot be read; [`ErrorKind::Input`] with all mistakes.
pub fn convert(path: &Path) -> Result<Converted> {
    let (root, included) = element::read(path)?;
    let file = path.display().to_string();
    let mut report = Report::default();
    let compiler = Compiler::of(&root, &mut report);
    let defaults = Defaults::of(&root, &mut report);
    let folder = path.parent().unwrap_or(Path::new(""));
    let assets = Assets::of(&root, folder, &compiler, &defaults, &mut report);
    let bodies = body::bodies(&root, &compiler, &defaults, &assets, &mut report);
    other_sections(&root, &mut report);
    let gravity = options::gravity(&root, &mut report);
    let body_of = |site: &str| {
        let has = |body: &&Body| body.sites.iter().any(|(name, _)| name == site);
        bodies.iter().find(has).map(|body| body.name.clone())
    };
    let sensors = sensors::sensors(&root, body_of, &mut report);
    let Some(Tops { robot: top, is_robot, is_free }) = tops(&bodies, &mut report) else {
        report.mistake("no body of the world has a joint; where is the robot?".into());
        return Err(refused(&report, &file));
    };
    let strengths = actuators::strengths(&root, &bodies, &compiler, &defaults, &mut report);
    let mut keyframes = vec![keyframe::at_reference(&bodies, &is_robot)];
    keyframes.extend(keyframe::keyframes(&root, &bodies, &is_robot, &mut report));
    let held = equality::equalities(&root, (&bodies, &is_robot), &defaults, &mut report);
    let pairs = Pairs::of(&root);
    let is_member: Vec<bool> = is_robot.iter().zip(&is_free).map(|(a, b)| *a || *b).collect();
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let urdf = write::urdf(
        &write::Robot {
            name: root.get("model").unwrap_or(&stem),
            bodies: &bodies,
            root: top,
            is_robot: &is_robot,
            is_free: &is_free,
            strengths: &strengths,
            mimics: &held.mimics,
            assets: &assets,
            compiler: &compiler,
            paired: &pairs.named(),
        },
        &mut report,
    );
    if let Some(refusal) = report.refusal(&file) {
        return Err(refusal);
    }
    let servo = |s: &actuators::Strength| s.kp != 0.0 || s.kd != 0.0;
    let gains = strengths
        .iter()
        .filter(|(_, s)| servo(s))
        .map(|(joint, s)| (joint.clone(), Gains { kp: s.kp, kd: s.kd, dampratio: s.dampratio }));
    // followers are where their leaders want them
    keyframes.iter_mut().for_each(|k| k.joints.retain(|(name, _)| !held.mimics.contains_key(name)));
    Ok(Converted {
        urdf,
        gains: gains.collect(),
        keyframes,
        connections: held.connections,
        apart: pairs.apart(&bodies, &is_member),
        sensors,
        gravity_m_per_s2: gravity,
        files: included.into_iter().chain(assets.weighed()).collect(),
        warnings: report.into_warnings(),
    })
}

fn refused(report: &Report, file: &str) -> Error {
    let none = || Error::new(ErrorKind::Internal, format!("{file}: refused without a reason"));
    report.refusal(file).unwrap_or_else(none)
}

/// Lists what moves a robot and is not read, and refuses what is not known.
fn other_sections(root: &Element, report: &mut Report) {
    for section in &root.children {
        let inside = section.children.len();
        match section.tag.as_str() {
            "tendon" | "deformable" if inside == 0 => {}
            "tendon" => report.left_out("tendons are not simulated", &section.place),
            "deformable" => report.left_out("deformable bodies are not simulated", &section.place),
            tag if QUIET.contains(&tag) => {}
            tag => report.mistake(format!("{}: <{tag}> is not known", section.place)),
        }
    }
}

/// The bodies of the world that are simulated.
struct Tops {
    /// The top body of the tree with the most joints, and which bodies belong to it.
    robot: usize,
    is_robot: Vec<bool>,
    /// Which belong to bodies beside it that fly free and have no joints of their own.
    is_free: Vec<bool>,
}

fn tops(bodies: &[Body], report: &mut Report) -> Option<Tops> {
    // a parent comes before its children
    let mut top: Vec<usize> = (0..bodies.len()).collect();
    for b in 1..bodies.len() {
        if bodies[b].parent != 0 {
            top[b] = top[bodies[b].parent];
        }
    }
    let joints = |t: usize| {
        let own = (1..bodies.len()).filter(|&b| top[b] == t);
        own.map(|b| bodies[b].joints.len()).sum::<usize>()
    };
    let mut tops: Vec<usize> = (1..bodies.len()).filter(|&b| bodies[b].parent == 0).collect();
    // of equals, the first
    tops.sort_by_key(|&t| std::cmp::Reverse(joints(t)));
    let chosen = tops.first().copied().filter(|&t| joints(t) > 0)?;
    let flies = |t: usize| {
        t != chosen && joints(t) == 1 && bodies[t].joints.iter().any(|j| j.kind == JointType::Free)
    };
    for &other in tops.iter().filter(|&&t| t != chosen && !flies(t)) {
        let what = if joints(other) == 0 {
            "bodies of the world are left out; [[terrain]] has ground"
        } else {
            "other bodies that move are left out"
        };
        report.left_out(what, &bodies[other].name);
    }
    // the floor that a scenario has by itself
    let is_floor = |g: &Geom| {
        let up = g.X_BG.R * Vec3::z();
        g.shape == GeomShape::Ground("plane".into()) && g.X_BG.p.z == 0.0 && up.z > 1.0 - 1e-12
    };
    if bodies[0].geoms.iter().any(|g| !is_floor(g)) {
        report.left_out("shapes of the world are left out; [[terrain]] has ground", "");
    }
    let of = |is: &dyn Fn(usize) -> bool| -> Vec<bool> {
        top.iter().enumerate().map(|(b, &t)| b != 0 && is(t)).collect()
    };
    Some(Tops { robot: chosen, is_robot: of(&|t| t == chosen), is_free: of(&flies) })
}
