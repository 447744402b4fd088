//! Bodies, joints and sites, in the order of the file.

use std::collections::BTreeSet;

use hardstand_physics::spatial::{Mat3, SpatialInertia, Transform, Vec3};

use super::assets::Assets;
use super::compiler::{Compiler, ORIENTATIONS};
use super::defaults::{Defaults, Resolved};
use super::element::Element;
use super::geom::{Geom, between};
use super::report::Report;
use super::weigh::weigh;
use crate::urdf::LINKS_MAX;

/// What a joint does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JointType {
    Hinge,
    Slide,
    Free,
}

/// A joint of a body B, which moves B against its parent.
#[derive(Clone, Debug)]
pub(super) struct Joint {
    pub(super) name: String,
    pub(super) kind: JointType,
    /// Anchor in B.
    pub(super) p_BA: Vec3,
    /// Unit vector in B.
    pub(super) axis_B: Vec3,
    /// Smallest and largest position, rad or m.
    pub(super) limits: Option<[f64; 2]>,
    /// Position in which the body is as the file places it, rad or m.
    pub(super) q_ref: f64,
    pub(super) damping: f64,
    pub(super) friction: f64,
    pub(super) armature: f64,
    /// Largest effort of all actuators together, N·m or N.
    pub(super) effort_max: Option<f64>,
}

/// A body.
#[derive(Clone, Debug)]
pub(super) struct Body {
    pub(super) name: String,
    /// Index of the parent; 0 is the world.
    pub(super) parent: usize,
    /// Pose in the parent at the reference positions.
    pub(super) X_PB: Transform,
    pub(super) joints: Vec<Joint>,
    pub(super) geoms: Vec<Geom>,
    /// Names and poses in the body.
    pub(super) sites: Vec<(String, Transform)>,
    pub(super) inertial: Option<SpatialInertia>,
    /// About the body's origin.
    pub(super) inertia: SpatialInertia,
}

/// Reads all bodies; the first is the world.
pub(super) fn bodies(
    root: &Element,
    compiler: &Compiler,
    defaults: &Defaults,
    assets: &Assets,
    report: &mut Report,
) -> Vec<Body> {
    let world = Body {
        name: "world".into(),
        parent: 0,
        X_PB: Transform::identity(),
        joints: Vec::new(),
        geoms: Vec::new(),
        sites: Vec::new(),
        inertial: None,
        inertia: SpatialInertia::zero(),
    };
    let mut given = BTreeSet::new();
    joint_names(root, &mut given);
    let (names, joints) = (BTreeSet::new(), BTreeSet::new());
    let mut reader =
        Reader { compiler, defaults, report, bodies: vec![world], given, names, joints };
    for section in root.all("worldbody") {
        let class = section.get("childclass").unwrap_or_default();
        reader.contents(section, 0, &Transform::identity(), class);
    }
    let mut bodies = reader.bodies;
    weigh(&mut bodies, compiler, assets, report);
    bodies
}

struct Reader<'a> {
    compiler: &'a Compiler,
    defaults: &'a Defaults,
    report: &'a mut Report,
    bodies: Vec<Body>,
    /// Names of joints in the file.
    given: BTreeSet<String>,
    /// Names of the bodies and joints that were read.
    names: BTreeSet<String>,
    joints: BTreeSet<String>,
}

fn joint_names(of: &Element, names: &mut BTreeSet<String>) {
    for e in &of.children {
        if matches!(e.tag.as_str(), "joint" | "freejoint") {
            names.extend(e.get("name").map(String::from));
        }
        joint_names(e, names);
    }
}

impl Reader<'_> {
    /// What is in a body, or in a frame F of it.
    fn contents(&mut self, of: &Element, body: usize, X_BF: &Transform, class: &str) {
        for e in &of.children {
            match e.tag.as_str() {
                "body" => self.body(e, body, X_BF, class),
                "frame" => {
                    let pose = self.compiler.pose(&Resolved::alone(e), self.report);
                    let class = e.get("childclass").unwrap_or(class);
                    self.contents(e, body, &X_BF.compose(&pose), class);
                }
                "geom" => {
                    let of = self.defaults.resolve(e, class, &["geom"], self.report);
                    check_all(&of, &GEOM, true, self.report);
                    let geom = Geom::read(&of, X_BF, self.compiler, self.report);
                    self.bodies[body].geoms.extend(geom);
                }
                "site" => {
                    let of = self.defaults.resolve(e, class, &["site"], self.report);
                    let X_FS = match of.numbers("fromto", 6..=6, self.report) {
                        Some(ends) => between(&ends).0,
                        None => self.compiler.pose(&of, self.report),
                    };
                    let X_BS = X_BF.compose(&X_FS);
                    let name = e.get("name").map(String::from);
                    self.bodies[body].sites.extend(name.map(|name| (name, X_BS)));
                }
                "joint" | "freejoint" if body != 0 => {
                    let joint = self.joint(e, body, X_BF, class);
                    self.bodies[body].joints.extend(joint);
                }
                "inertial" if body != 0 => {
                    if self.bodies[body].inertial.is_some() {
                        self.report.mistake(format!("{}: a second <inertial>", e.place));
                    }
                    let inertia = self.inertial(e, X_BF);
                    self.bodies[body].inertial = Some(inertia);
                }
                "camera" | "light" => {}
                "plugin" => self.report.left_out("plugins are not simulated", &e.place),
                tag => self.report.mistake(format!("{}: <{tag}> is not supported here", e.place)),
            }
        }
    }

    fn body(&mut self, e: &Element, parent: usize, X_PF: &Transform, class: &str) {
        let of = Resolved::alone(e);
        let class = e.get("childclass").unwrap_or(class);
        let index = self.bodies.len();
        if index > LINKS_MAX {
            self.report.mistake(format!("more than {LINKS_MAX} bodies"));
            return;
        }
        if e.get("mocap") == Some("true") {
            self.report.left_out("mocap bodies are left out", e.get("name").unwrap_or(&e.place));
            return;
        }
        check(e, &["name", "childclass", "pos", "gravcomp", "user", "sleep"], true, self.report);
        if of.number("gravcomp", 0.0, self.report) != 0.0 {
            self.report.mistake(format!("{}: gravcomp is not supported; leave it out", e.place));
        }
        let X_PB = X_PF.compose(&self.compiler.pose(&of, self.report));
        if let Some(name) = e.get("name")
            && !self.names.insert(name.into())
        {
            self.report.mistake(format!("{}: there are two bodies \"{name}\"", e.place));
        }
        self.bodies.push(Body {
            name: e.get("name").map_or_else(|| format!("body_{index}"), String::from),
            parent,
            X_PB,
            joints: Vec::new(),
            geoms: Vec::new(),
            sites: Vec::new(),
            inertial: None,
            inertia: SpatialInertia::zero(),
        });
        self.contents(e, index, &Transform::identity(), class);
    }

    fn joint(&mut self, e: &Element, body: usize, X_BF: &Transform, class: &str) -> Option<Joint> {
        let free = e.tag == "freejoint";
        let of = if free {
            Resolved::alone(e)
        } else {
            self.defaults.resolve(e, class, &["joint"], self.report)
        };
        let kind = match of.text("type").unwrap_or("hinge") {
            _ if free => JointType::Free,
            "free" => JointType::Free,
            "hinge" => JointType::Hinge,
            "slide" => JointType::Slide,
            "ball" => {
                self.report.mistake(format!(
                    "{}: a ball joint has no single position; make it three hinges in one body",
                    e.place
                ));
                return None;
            }
            other => {
                self.report.mistake(format!("{}: joint type \"{other}\" is not known", e.place));
                return None;
            }
        };
        check_all(&of, &JOINT, false, self.report);
        if self.joints.len() >= LINKS_MAX {
            self.report.mistake(format!("more than {LINKS_MAX} joints"));
            return None;
        }
        let name = e.get("name").map_or_else(|| self.joint_name(body), String::from);
        if !self.joints.insert(name.clone()) {
            self.report.mistake(format!("{}: there are two joints \"{name}\"", e.place));
        }
        if kind == JointType::Free {
            if self.bodies[body].parent != 0 {
                let text = "only a child of the world can be free";
                self.report.mistake(format!("{}: {text}", e.place));
            }
            let is_there = |name: &&str| {
                !free && of.numbers(name, 1..=3, self.report).is_some_and(|n| n[0] != 0.0)
            };
            let lost: Vec<&str> =
                ["armature", "damping", "frictionloss"].into_iter().filter(is_there).collect();
            for what in lost {
                self.report.left_out(&format!("the {what} of a free joint is left out"), &name);
            }
        }
        Some(self.moving(&of, kind, name, X_BF))
    }

    /// A name that no joint of the file has.
    fn joint_name(&self, body: usize) -> String {
        let mut name =
            format!("{}_joint_{}", self.bodies[body].name, self.bodies[body].joints.len());
        while self.given.contains(&name) {
            name.push('_');
        }
        name
    }

    fn moving(
        &mut self,
        of: &Resolved<'_>,
        kind: JointType,
        name: String,
        X_BF: &Transform,
    ) -> Joint {
        let report = &mut *self.report;
        let axis = Vec3::from(of.vec3("axis", report).unwrap_or([0.0, 0.0, 1.0]));
        if axis.norm() < 1e-14 {
            report.mistake(format!("{}: the axis has no length", of.element().place));
        }
        let angle = |x: f64| if kind == JointType::Hinge { self.compiler.angle(x) } else { x };
        let auto = self.compiler.autolimits;
        let limits = of.limits("range", "limited", auto, report);
        let strength = of.limits("actuatorfrcrange", "actuatorfrclimited", auto, report);
        if of.numbers("stiffness", 1..=3, report).is_some_and(|k| k[0] != 0.0) {
            report.left_out("springs of joints are not simulated", &name);
        }
        for name in ["damping", "frictionloss", "armature"] {
            if of.numbers(name, 1..=3, report).is_some_and(|n| n[0] < 0.0) {
                let place = &of.element().place;
                report.mistake(format!("{place}: {name} of a joint must not be negative"));
            }
        }
        let damping = of.numbers("damping", 1..=3, report).unwrap_or_else(|| vec![0.0]);
        if damping.iter().skip(1).any(|d| *d != 0.0) {
            report.left_out("only the linear part of joint damping is simulated", &name);
        }
        Joint {
            kind,
            p_BA: X_BF.R * Vec3::from(of.vec3("pos", report).unwrap_or_default()) + X_BF.p,
            axis_B: X_BF.R * if axis.norm() > 0.0 { axis.normalize() } else { Vec3::z() },
            limits: limits.map(|l| l.map(angle)),
            q_ref: angle(of.number("ref", 0.0, report)),
            damping: damping[0],
            friction: of.number("frictionloss", 0.0, report),
            armature: of.number("armature", 0.0, report),
            effort_max: strength.map(|[low, high]| high.max(-low)),
            name,
        }
    }

    fn inertial(&mut self, e: &Element, X_BF: &Transform) -> SpatialInertia {
        check(e, &["pos", "mass", "diaginertia", "fullinertia"], true, self.report);
        let of = Resolved::alone(e);
        let X_BC = X_BF.compose(&self.compiler.pose(&of, self.report));
        let mass = of.number("mass", 0.0, self.report);
        if e.get("fullinertia").is_some() {
            let mut others = ORIENTATIONS.into_iter().chain(["diaginertia"]);
            if let Some(other) = others.find(|name| e.get(name).is_some()) {
                let text = format!("{}: fullinertia stands without {other}", e.place);
                self.report.mistake(text);
            }
        }
        let I_C = match of.numbers("fullinertia", 6..=6, self.report) {
            Some(i) => Mat3::new(i[0], i[3], i[4], i[3], i[1], i[5], i[4], i[5], i[2]),
            None => {
                let diagonal = of.vec3("diaginertia", self.report).unwrap_or_default();
                Mat3::from_diagonal(&Vec3::from(diagonal))
            }
        };
        SpatialInertia::from_com(mass, &Vec3::zeros(), &I_C).to_parent(&X_BC)
    }
}

/// What the reader understands of a joint, and what only MuJoCo's solver needs.
const JOINT: [&str; 28] = [
    "name",
    "class",
    "type",
    "pos",
    "axis",
    "range",
    "limited",
    "ref",
    "damping",
    "frictionloss",
    "armature",
    "actuatorfrcrange",
    "actuatorfrclimited",
    "stiffness",
    "springref",
    "group",
    "user",
    "margin",
    "align",
    "actuatorgravcomp",
    "solreflimit",
    "solimplimit",
    "solreffriction",
    "solimpfriction",
    "limitmargin",
    "solref",
    "solimp",
    "frictionsolref",
];

/// The same of a geom: what is read, what only the solver needs, and what is drawn.
const GEOM: [&str; 26] = [
    "name",
    "class",
    "type",
    "pos",
    "size",
    "fromto",
    "mesh",
    "hfield",
    "fitscale",
    "mass",
    "density",
    "shellinertia",
    "group",
    "contype",
    "conaffinity",
    "rgba",
    "material",
    "condim",
    "priority",
    "friction",
    "solmix",
    "solref",
    "solimp",
    "margin",
    "gap",
    "user",
];

/// The same of an element and of its classes.
fn check_all(of: &Resolved<'_>, known: &[&str], oriented: bool, report: &mut Report) {
    of.layers().iter().for_each(|e| check(e, known, oriented, report));
}

/// Refuses attributes that are not known, for they might change the robot.
fn check(e: &Element, known: &[&str], oriented: bool, report: &mut Report) {
    for name in e.names() {
        let is_orientation = oriented && ORIENTATIONS.contains(&name);
        if !known.contains(&name) && !is_orientation {
            report.mistake(format!("{}: <{} {name}> is not supported", e.place, e.tag));
        }
    }
}
