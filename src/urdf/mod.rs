//! Reads a URDF robot description into a checked [`Model`].
//!
//! ```text
//! text ─▶ gate ─▶ read ─▶ urdf-rs ─▶ tree ─▶ base ─▶ merge ─▶ mass ─▶ Builder ─▶ Model
//! ```
//!
//! * `gate` accepts only well-formed XML without DTD and xacro; before that, `bounds` limits the
//!   nesting;
//! * `read` checks each attribute (with `attributes` and `limits`) and writes a `reduced` URDF
//!   without visuals, materials and plugins, so that a part that the simulation does not need
//!   cannot cause a refusal;
//! * `tree` finds the root and checks names; `base` decides how the root is held;
//! * `merge` welds links at fixed joints into bodies; `mass` checks their mass and inertia;
//! * `mimic` finds joints that follow others;
//! * `actuators` finds rotor inertias, for which URDF itself has no element.
//!
//! One error lists all mistakes of a file.

#![allow(non_snake_case, reason = "monogram notation, see spatial")]

mod actuators;
mod attributes;
mod base;
mod bounds;
mod gate;
mod interfaces;
mod limits;
mod lines;
mod mass;
mod merge;
mod mimic;
mod read;
mod reduced;
mod report;
mod source;
mod tree;

use std::io;
use std::path::Path;

pub(crate) use self::gate::{LINKS_MAX, parse_any as parse_xml};
pub use self::interfaces::{LISTED_INTERFACES, command_interfaces};
use self::report::Report;
pub(crate) use self::{lines::Lines, reduced::escaped, report::MISTAKES_SHOWN};
use crate::limits::URDF_BYTES_MAX;
use hardstand_error::{Error, ErrorKind, Result, read_text};
use hardstand_physics::model::Model;
use hardstand_physics::spatial::{SpatialInertia, Transform};

/// How the root of the robot is held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BaseChoice {
    /// Floating, unless the root link is named `world`: then floating if the only joint of `world`
    /// has the type `floating`, and fixed otherwise.
    #[default]
    Auto,
    /// Free in space.
    Floating,
    /// Welded to the world.
    Fixed,
}

/// The shape of a collision element, centred on its frame; a long axis is z.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A sphere.
    Sphere {
        /// Radius, m.
        radius_m: f64,
    },
    /// A box.
    Box {
        /// Edge lengths along x, y, z, m.
        size_m: [f64; 3],
    },
    /// A cylinder about z.
    Cylinder {
        /// Radius, m.
        radius_m: f64,
        /// Length along z, m.
        length_m: f64,
    },
    /// A cylinder about z with a half sphere on each end.
    Capsule {
        /// Radius, m.
        radius_m: f64,
        /// Length of the cylinder along z, m; the capsule is two radii longer.
        length_m: f64,
    },
    /// A mesh. The reader never opens its file.
    Mesh {
        /// Its file, as the URDF names it.
        file: String,
        /// Factors along x, y and z.
        scale: [f64; 3],
    },
}

/// A collision element of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct Collision {
    /// Name of the link, which is also the name of a frame F of the model.
    pub frame: String,
    /// Pose of the shape C in the link frame F.
    pub X_FC: Transform,
    /// The shape.
    pub shape: Shape,
}

/// A rigid body below an inner joint of type `floating`: no joint holds it, so it is no part of the
/// robot.
#[derive(Clone, Debug, PartialEq)]
pub struct FreeLink {
    /// Name of the link below the joint, whose frame is the body's frame B.
    pub name: String,
    /// The links of which it is made, in the order of the file.
    pub links: Vec<String>,
    /// Inertia of all of them, about its frame's origin.
    pub inertia: SpatialInertia,
    /// The link P above the joint; `None` for the world.
    pub parent: Option<String>,
    /// Pose at the start in P.
    pub X_PB: Transform,
    /// Its collision elements, with the names of their links and their poses in B.
    pub collisions: Vec<Collision>,
}

/// A robot and the reader's warnings.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    /// The checked robot.
    pub model: Model,
    /// Collision elements in the order of the URDF. Shapes without extent are left out.
    pub collisions: Vec<Collision>,
    /// Bodies beside the robot, in the order of their joints.
    pub free: Vec<FreeLink>,
    /// What the reader repaired, assumed or ignored; one sentence each.
    pub warnings: Vec<String>,
}

/// Reads the text of a URDF file.
///
/// # Errors
/// [`ErrorKind::File`] if the file does not exist, is not a regular file or cannot be read;
/// [`ErrorKind::Input`] if it is larger than 16 MiB or not UTF-8.
pub fn read_urdf_text(path: &Path) -> Result<String> {
    let file = path.display();
    read_text(path, URDF_BYTES_MAX).map_err(|e| match e.kind() {
        io::ErrorKind::FileTooLarge => {
            Error::new(ErrorKind::Input, format!("{file}: {e}: a URDF may have 16 MiB"))
        }
        io::ErrorKind::InvalidData => Error::new(ErrorKind::Input, format!("{file}: {e}")),
        _ => {
            let hint = "check the path to the robot's URDF and that this user may read it";
            let text = format!("{file}: cannot read the robot model: {e}; {hint}");
            Error::new(ErrorKind::File, text)
        }
    })
}

/// Parses and checks the URDF `text`; `file` names it in messages. Never opens mesh files.
///
/// ```
/// use hardstand::urdf::{BaseChoice, parse_urdf};
/// let text = r#"<robot name="ball"><link name="ball"><inertial><mass value="2"/>
///   <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link></robot>"#;
/// let loaded = parse_urdf(text, "ball.urdf", BaseChoice::Auto)?;
/// assert_eq!(loaded.model.total_mass(), 2.0);
/// # Ok::<(), hardstand::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::Input`] with file and line if the text is not well-formed XML, is unexpanded xacro
/// or is not a robot; otherwise with the list of all mistakes found in the robot.
pub fn parse_urdf(text: &str, file: &str, base: BaseChoice) -> Result<Loaded> {
    let text = gate::declare_prefixes(text, file)?;
    let document = gate::open(&text, file)?;
    let mut report = Report::new(file, &text);
    let source = read::source(&document, &mut report).map_err(|e| e.within(file))?;
    let armature = actuators::armatures(&document, &source, &mut report);
    let tree = tree::find(&source, &mut report);
    let held = base::hold(&source, &tree, base, &mut report);
    let merged = merge::bodies(&source, &tree, &held);
    mass::check(&source, &tree, &merged, &held, &armature, &mut report);
    let couplings = mimic::couplings(&source, &mut report);
    if report.has_mistakes() {
        return Err(report.refusal());
    }
    let model = merge::model(&source, &tree, &merged, &held, (&armature, couplings))?;
    let collisions = merge::collisions(&source, &merged, &held, &mut report);
    let free = merge::free_links(&source, &tree, &merged, &held, &mut report);
    Ok(Loaded { model, collisions, free, warnings: report.into_warnings() })
}
