//! `<compiler>`: units, angles and what becomes of masses.

use hardstand_physics::math;
use hardstand_physics::spatial::{Mat3, Quaternion, Transform, Vec3};

use super::defaults::Resolved;
use super::element::Element;
use super::report::Report;

/// Shortest vector that has a direction.
const LENGTH_MIN: f64 = 1e-14;
/// Attributes that say an orientation.
pub(super) const ORIENTATIONS: [&str; 5] = ["quat", "axisangle", "euler", "xyaxes", "zaxis"];

/// What `<compiler>` says; of several elements, the last one that names an attribute counts.
#[derive(Clone, Debug)]
pub(super) struct Compiler {
    /// Factor of angles.
    rad_per_unit: f64,
    /// Axes of Euler angles, and which of them stay in space.
    eulerseq: [(usize, bool); 3],
    pub(super) autolimits: bool,
    pub(super) inertia_from_geoms: FromGeoms,
    pub(super) groups: [f64; 2],
    pub(super) balance: bool,
    pub(super) mass_min: f64,
    pub(super) inertia_min: f64,
    pub(super) total_mass: Option<f64>,
    /// Folder of meshes, relative to the main file.
    pub(super) mesh_folder: String,
    /// Files are named without their folders.
    pub(super) strips_path: bool,
    pub(super) discard_visual: bool,
}

/// When the inertia of a body comes from its geoms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FromGeoms {
    Never,
    Always,
    /// If it has no `<inertial>`.
    WhereNone,
}

/// Attributes, and the words that each may have; any, if there are none.
const ATTRIBUTES: [(&str, &[&str]); 23] = [
    ("autolimits", BOOL),
    ("boundmass", &[]),
    ("boundinertia", &[]),
    ("settotalmass", &[]),
    ("balanceinertia", BOOL),
    ("strippath", BOOL),
    ("coordinate", &[]),
    ("angle", &["degree", "radian"]),
    ("fitaabb", BOOL),
    ("eulerseq", &[]),
    ("meshdir", &[]),
    ("texturedir", &[]),
    ("assetdir", &[]),
    ("discardvisual", BOOL),
    ("usethread", BOOL),
    ("fusestatic", BOOL),
    ("inertiafromgeom", &["true", "false", "auto"]),
    ("inertiagrouprange", &[]),
    ("alignfree", BOOL),
    ("saveinertial", BOOL),
    ("conflict", &[]),
    // of earlier versions
    ("convexhull", BOOL),
    ("exactmeshinertia", BOOL),
];
const BOOL: &[&str] = &["true", "false"];

/// Refuses attributes and words that are not known, for they might change the robot.
fn known(sections: &[&Element], report: &mut Report) {
    for section in sections {
        for name in section.names() {
            let (place, value) = (&section.place, section.get(name).unwrap_or_default());
            match ATTRIBUTES.iter().find(|(known, _)| *known == name) {
                None => report.mistake(format!("{place}: <compiler {name}> is not known")),
                Some((_, words)) if words.is_empty() || words.contains(&value) => {}
                Some((_, words)) => report.mistake(format!(
                    "{place}: {name} of <compiler> is \"{value}\"; it must be {}",
                    words.join(" or ")
                )),
            }
        }
    }
}

impl Compiler {
    pub(super) fn of(root: &Element, report: &mut Report) -> Self {
        let sections: Vec<&Element> = root.all("compiler").collect();
        let text = |name: &str| sections.iter().rev().find_map(|s| s.get(name));
        known(&sections, report);
        let flag = |name: &str, default: bool| text(name).map_or(default, |t| t == "true");
        // of the last element that names a folder
        let folders = sections.iter().rev().filter_map(|s| s.get("meshdir").or(s.get("assetdir")));
        let mesh_folder = folders.take(1).collect();
        let sequence = text("eulerseq").unwrap_or("xyz");
        let axis = |c: char| Some(("xyz".find(c.to_ascii_lowercase())?, c.is_ascii_uppercase()));
        let axes: Vec<(usize, bool)> = sequence.chars().filter_map(axis).collect();
        let eulerseq = match axes.as_slice() {
            &[a, b, c] if sequence.len() == 3 => [a, b, c],
            _ => {
                report.mistake(format!("eulerseq is \"{sequence}\"; it must be like \"xyz\""));
                [(0, false), (1, false), (2, false)]
            }
        };
        if text("coordinate").is_some_and(|t| t != "local") {
            report.mistake("<compiler coordinate=\"global\"> is not supported".into());
        }
        let number = |name: &str| text(name).and_then(|t| t.trim().parse::<f64>().ok());
        let groups = text("inertiagrouprange")
            .map(|t| t.split_whitespace().filter_map(|w| w.parse().ok()).collect::<Vec<f64>>());
        Self {
            rad_per_unit: match text("angle").unwrap_or("degree") {
                "radian" => 1.0,
                _ => std::f64::consts::PI / 180.0,
            },
            eulerseq,
            autolimits: flag("autolimits", true),
            inertia_from_geoms: match text("inertiafromgeom").unwrap_or("auto") {
                "true" => FromGeoms::Always,
                "false" => FromGeoms::Never,
                _ => FromGeoms::WhereNone,
            },
            groups: match groups.as_deref() {
                Some(&[a, b]) => [a, b],
                _ => [0.0, 5.0],
            },
            balance: flag("balanceinertia", false),
            mass_min: number("boundmass").unwrap_or(0.0),
            inertia_min: number("boundinertia").unwrap_or(0.0),
            total_mass: number("settotalmass").filter(|m| *m > 0.0),
            mesh_folder,
            strips_path: flag("strippath", false),
            discard_visual: flag("discardvisual", false),
        }
    }

    /// An angle of the file in rad.
    pub(super) fn angle(&self, x: f64) -> f64 {
        x * self.rad_per_unit
    }

    /// The pose that `pos` and an orientation give.
    pub(super) fn pose(&self, of: &Resolved<'_>, report: &mut Report) -> Transform {
        let p = Vec3::from(of.vec3("pos", report).unwrap_or_default());
        Transform { R: self.rotation(of, report).unwrap_or(Mat3::identity()), p }
    }

    /// The orientation; that of the element hides that of its class, of whatever kind.
    pub(super) fn rotation(&self, of: &Resolved<'_>, report: &mut Report) -> Option<Mat3> {
        let has = |e: &&&Element| ORIENTATIONS.iter().any(|name| e.get(name).is_some());
        let layer = Resolved::alone(of.layers().iter().find(has)?);
        if ORIENTATIONS.iter().filter(|name| layer.text(name).is_some()).count() > 1 {
            let place = &layer.element().place;
            report.mistake(format!("{place}: there are two orientations; leave one out"));
        }
        let zero = |report: &mut Report, name: &str| {
            let place = &of.element().place;
            report.mistake(format!("{place}: {name} has no length"));
            None
        };
        if let Some(q) = layer.numbers("quat", 4..=4, report) {
            let q = Quaternion::from_wxyz([q[0], q[1], q[2], q[3]]);
            if q.norm() < LENGTH_MIN {
                return zero(report, "quat");
            }
            return Some(q.normalised().to_matrix());
        }
        if let Some(a) = layer.numbers("axisangle", 4..=4, report) {
            let axis = Vec3::new(a[0], a[1], a[2]);
            if axis.norm() < LENGTH_MIN {
                return zero(report, "axisangle");
            }
            return Some(turn(&axis.normalize(), self.angle(a[3])));
        }
        if let Some(e) = layer.vec3("euler", report) {
            return Some(self.euler(e));
        }
        if let Some(a) = layer.numbers("xyaxes", 6..=6, report) {
            let (x, y) = (Vec3::new(a[0], a[1], a[2]), Vec3::new(a[3], a[4], a[5]));
            if x.norm() < LENGTH_MIN {
                return zero(report, "xyaxes");
            }
            let x = x.normalize();
            let y = y - x * x.dot(&y);
            if y.norm() < LENGTH_MIN {
                return zero(report, "xyaxes");
            }
            let y = y.normalize();
            return Some(Mat3::from_columns(&[x, y, x.cross(&y)]));
        }
        let z = Vec3::from(layer.vec3("zaxis", report)?);
        if z.norm() < LENGTH_MIN {
            return zero(report, "zaxis");
        }
        Some(from_z(&z.normalize()))
    }

    fn euler(&self, angles: [f64; 3]) -> Mat3 {
        let mut R = Mat3::identity();
        for ((axis, in_space), angle) in self.eulerseq.into_iter().zip(angles) {
            let one = turn(&Vec3::ith(axis, 1.0), self.angle(angle));
            R = if in_space { one * R } else { R * one };
        }
        R
    }
}

/// The rotation about a unit vector.
pub(super) fn turn(axis: &Vec3, angle: f64) -> Mat3 {
    let (s, c) = math::sin_cos(0.5 * angle);
    Quaternion::from_wxyz([c, s * axis.x, s * axis.y, s * axis.z]).to_matrix()
}

/// The shortest rotation that takes z to this unit vector.
pub(super) fn from_z(z: &Vec3) -> Mat3 {
    let axis = Vec3::z().cross(z);
    let s = axis.norm();
    if s < LENGTH_MIN {
        return if z.z < 0.0 { turn(&Vec3::x(), std::f64::consts::PI) } else { Mat3::identity() };
    }
    turn(&(axis * (1.0 / s)), math::atan2(s, z.z))
}
