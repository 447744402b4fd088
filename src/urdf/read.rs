//! Checks every attribute that the simulation needs and writes a reduced URDF for urdf-rs.
//!
//! urdf-rs stops at its first error and names neither line nor element; this reader reports all
//! bad attributes at once. It replaces a bad one by a harmless value, so that the later checks
//! still see the rest of the robot.

use roxmltree::{Document, Node};

use super::limits;
use super::reduced::{Reduced, spaced};
use super::report::{Report, shown};
use super::source::{LinkNote, Source, describe};
use hardstand_error::{Error, ErrorKind, Result};
use hardstand_physics::spatial::Vec3;

/// Maximum length of a name, bytes.
const NAME_BYTES_MAX: usize = 256;

/// Reads links and joints of the document into urdf-rs' types.
///
/// # Errors
/// [`ErrorKind::Internal`] if urdf-rs rejects the reduced text.
pub(super) fn source(document: &Document<'_>, report: &mut Report) -> Result<Source> {
    let root = document.root_element();
    let mut reader = Reader { report, xml: Reduced::default(), is_sound: true };
    let name = shown(root.attribute("name").unwrap_or("robot"));
    reader.xml.open("robot", &[("name", &name)]);
    let (mut links, mut joints, mut has_lost_joints) = (Vec::new(), Vec::new(), false);
    for node in children(root) {
        if is(node, "link") {
            links.extend(reader.link(node));
        } else if is(node, "joint") {
            let line = reader.joint(node);
            has_lost_joints |= line.is_none();
            joints.extend(line.iter().flat_map(|read| vec![read.line; read.count]));
            let steps = line.iter().flat_map(|read| vec![read.line; read.count - 1]);
            links.extend(steps.map(|line| LinkNote { line, is_sound: true }));
        }
    }
    reader.xml.close("robot");
    let xml = reader.xml.into_text();
    let robot = urdf_rs::read_from_string(&xml)
        .map_err(|e| internal(&format!("urdf-rs rejected the reduced URDF: {e}")))?;
    if robot.links.len() != links.len() || robot.joints.len() != joints.len() {
        return Err(internal("urdf-rs lost a link or joint of the reduced URDF"));
    }
    Ok(Source { robot, link_notes: links, joint_lines: joints, has_lost_joints })
}

fn internal(message: &str) -> Error {
    Error::new(ErrorKind::Internal, message)
}

/// The child elements of a node.
pub(super) fn children<'a, 'i>(node: Node<'a, 'i>) -> impl Iterator<Item = Node<'a, 'i>> {
    node.children().filter(Node::is_element)
}

/// True for the URDF element `name`, false for one of that name in a foreign namespace.
pub(super) fn is(node: Node<'_, '_>, name: &str) -> bool {
    node.tag_name().name() == name
        && node.tag_name().namespace() == node.document().root_element().tag_name().namespace()
}

/// The first child element `name`; further ones are ignored, as in urdfdom.
pub(super) fn child<'a, 'i>(node: Node<'a, 'i>, name: &str) -> Option<Node<'a, 'i>> {
    children(node).find(|&c| is(c, name))
}

/// A joint of the file, and as how many it was written.
#[derive(Clone, Copy, Debug)]
struct JointRead {
    line: usize,
    count: usize,
}

/// Reads elements and writes the reduced URDF.
#[derive(Debug)]
pub(super) struct Reader<'r> {
    pub(super) report: &'r mut Report,
    pub(super) xml: Reduced,
    /// No mistake since this flag was last set.
    is_sound: bool,
}

impl Reader<'_> {
    pub(super) fn mistake(&mut self, text: String) {
        self.is_sound = false;
        self.report.mistake(text);
    }

    fn link(&mut self, node: Node<'_, '_>) -> Option<LinkNote> {
        let (name, line) = self.name(node, "link")?;
        let owner = describe("link", name, line);
        self.xml.open("link", &[("name", name)]);
        self.is_sound = true;
        if let Some(inertial) = child(node, "inertial") {
            self.inertial(inertial, &owner);
        }
        let note = LinkNote { line, is_sound: self.is_sound };
        for collision in children(node).filter(|&c| is(c, "collision")) {
            self.collision(collision, &owner);
        }
        self.xml.close("link");
        Some(note)
    }

    fn inertial(&mut self, node: Node<'_, '_>, owner: &str) {
        let (Some(mass), Some(inertia)) = (child(node, "mass"), child(node, "inertia")) else {
            let line = self.report.line(node);
            let text = format!("{owner}: <inertial> (line {line}) lacks <mass> or <inertia>");
            return self.mistake(text);
        };
        self.xml.open("inertial", &[]);
        self.origin(node, owner);
        let value = self.number(owner, mass, "value", None);
        if value < 0.0 {
            self.mistake(format!("{owner}: mass is {value} kg; it must not be negative"));
        }
        self.xml.leaf("mass", &[("value", value)]);
        let moments = ["ixx", "ixy", "ixz", "iyy", "iyz", "izz"];
        let values = moments.map(|m| (m, self.number(owner, inertia, m, None)));
        self.xml.leaf("inertia", &values);
        self.xml.close("inertial");
    }

    fn collision(&mut self, node: Node<'_, '_>, owner: &str) {
        let shape = child(node, "geometry").and_then(|g| children(g).next());
        let Some(shape) = shape else {
            return self.report.warn(format!(
                "{owner}: <collision> (line {}) has no shape and is ignored",
                self.report.line(node)
            ));
        };
        let name = shape.tag_name().name();
        let mut sizes: Vec<(&str, String)> = Vec::new();
        let mut smallest = f64::INFINITY;
        match name {
            "mesh" => {
                let file = shape.attribute("filename").unwrap_or_default();
                sizes.push(("filename", file.to_string()));
                let scale = self.triple(owner, shape, "scale", Some([1.0; 3]));
                sizes.push(("scale", spaced(scale)));
            }
            "box" => {
                let size = self.triple(owner, shape, "size", None);
                smallest = size.into_iter().fold(smallest, f64::min);
                sizes.push(("size", spaced(size)));
            }
            "sphere" | "cylinder" | "capsule" => {
                let all = ["radius", "length"];
                for attribute in if name == "sphere" { &all[..1] } else { &all[..] } {
                    let size = self.number(owner, shape, attribute, None);
                    smallest = smallest.min(size);
                    sizes.push((attribute, size.to_string()));
                }
            }
            _ => smallest = f64::NAN,
        }
        if smallest.is_nan() || smallest <= 0.0 {
            return self.report.warn(format!(
                "{owner}: collision shape <{}> (line {}) is unknown or without extent; ignored",
                shown(name),
                self.report.line(shape)
            ));
        }
        self.xml.open("collision", &[]);
        self.origin(node, owner);
        self.xml.open("geometry", &[]);
        let sizes: Vec<(&str, &str)> = sizes.iter().map(|(a, v)| (*a, v.as_str())).collect();
        self.xml.open(name, &sizes);
        self.xml.close(name);
        self.xml.close("geometry");
        self.xml.close("collision");
    }

    fn joint(&mut self, node: Node<'_, '_>) -> Option<JointRead> {
        let (name, line) = self.name(node, "joint")?;
        let owner = describe("joint", name, line);
        let kind = node.attribute("type").unwrap_or_default();
        let ends = ["parent", "child"].map(|end| {
            let link = child(node, end).and_then(|n| n.attribute("link"));
            if link.is_none() {
                self.mistake(format!("{owner}: has no <{end} link=\"…\"/>"));
            }
            link
        });
        let [Some(parent), Some(child_link)] = ends else { return None };
        if kind == "planar" {
            return Some(self.planar(node, &owner, [name, parent, child_link], line));
        }
        let moves = match kind {
            "revolute" | "continuous" | "prismatic" => true,
            "fixed" | "floating" => false,
            other => {
                self.unsupported(&owner, other);
                false
            }
        };
        // an unsupported joint counts as fixed, so that the links below it are still checked
        let known = if moves || kind == "floating" { kind } else { "fixed" };
        self.xml.open("joint", &[("name", name), ("type", known)]);
        self.origin(node, &owner);
        self.xml.open("parent", &[("link", parent)]);
        self.xml.close("parent");
        self.xml.open("child", &[("link", child_link)]);
        self.xml.close("child");
        if moves {
            limits::read(self, node, &owner, kind, name);
        }
        self.xml.close("joint");
        Some(JointRead { line, count: 1 })
    }

    /// Two slides along the plane and a turn about its normal, with links between them.
    fn planar(
        &mut self,
        node: Node<'_, '_>,
        owner: &str,
        [name, parent, child_link]: [&str; 3],
        line: usize,
    ) -> JointRead {
        if let Some(mimic) = child(node, "mimic") {
            let line = self.report.line(mimic);
            self.mistake(format!("{owner}: <mimic> (line {line}) of a planar joint; remove it"));
        }
        let normal = Vec3::from(limits::axis(self, node, owner));
        let helper = if normal.x.abs() < 0.7 { Vec3::x() } else { Vec3::y() };
        let y = normal.cross(&helper).normalize();
        let axes = [y.cross(&normal), y, normal];
        let steps = [format!("{name}_x"), format!("{name}_y"), format!("{name}_yaw")];
        let ends = [parent, &steps[0], &steps[1], child_link];
        for (k, step) in steps.iter().enumerate() {
            let kind = if k < 2 { "prismatic" } else { "continuous" };
            if k < 2 {
                self.xml.open("link", &[("name", step)]);
                self.xml.close("link");
            }
            self.xml.open("joint", &[("name", step), ("type", kind)]);
            if k == 0 {
                self.origin(node, owner);
            }
            self.xml.open("parent", &[("link", ends[k])]);
            self.xml.close("parent");
            self.xml.open("child", &[("link", ends[k + 1])]);
            self.xml.close("child");
            self.xml.axis(axes[k].to_array());
            limits::read_unbounded(self, node, owner, step);
            self.xml.close("joint");
        }
        JointRead { line, count: steps.len() }
    }

    fn unsupported(&mut self, owner: &str, kind: &str) {
        let reason = match kind {
            "" => "has no type".into(),
            "spherical" | "ball" => {
                format!("type \"{kind}\" has several degrees of freedom; only one is supported")
            }
            other => format!("type \"{}\" is not a URDF joint type", shown(other)),
        };
        let hint = "use revolute, continuous, prismatic, planar, floating or fixed";
        self.mistake(format!("{owner}: {reason}; {hint}"));
    }

    /// The name of a link or joint, if it has a valid one, and its line.
    fn name<'a>(&mut self, node: Node<'a, '_>, element: &str) -> Option<(&'a str, usize)> {
        let line = self.report.line(node);
        let name = node.attribute("name").unwrap_or_default();
        let reason = if name.is_empty() {
            "has no name"
        } else if name.len() > NAME_BYTES_MAX {
            "has a name of more than 256 bytes"
        } else if name.chars().any(char::is_control) {
            "has a name with control characters"
        } else if name == "*" && element == "joint" {
            "has the name \"*\", which stands for all joints in a scenario"
        } else {
            return Some((name, line));
        };
        self.mistake(format!("<{element}> on line {line} {reason}"));
        None
    }
}
