//! The robot as URDF, which logs, pages and ROS understand.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use hardstand_physics::math;
use hardstand_physics::spatial::{Mat3, SpatialInertia, Transform, Vec3};

use super::actuators::Strength;
use super::assets::Assets;
use super::body::{Body, Joint, JointType};
use super::compiler::{Compiler, turn};
use super::equality::Mimic;
use super::geom::{Geom, GeomShape};
use super::report::Report;
use crate::urdf::escaped;

/// Above this, the URDF reader takes a limit as none.
const UNLIMITED: f64 = 1e16;

/// What a robot is written from.
pub(super) struct Robot<'a> {
    pub(super) name: &'a str,
    pub(super) bodies: &'a [Body],
    /// The root, and which bodies belong to it.
    pub(super) root: usize,
    pub(super) is_robot: &'a [bool],
    /// Which belong to other bodies of the world, which fly free.
    pub(super) is_free: &'a [bool],
    pub(super) strengths: &'a BTreeMap<String, Strength>,
    pub(super) mimics: &'a BTreeMap<String, Mimic>,
    pub(super) assets: &'a Assets,
    pub(super) compiler: &'a Compiler,
    /// Geoms that collide because a pair names them.
    pub(super) paired: &'a BTreeSet<String>,
}

/// Writes the URDF.
pub(super) fn urdf(robot: &Robot<'_>, report: &mut Report) -> String {
    let joints = robot.bodies.iter().flat_map(|b| &b.joints).map(|j| j.name.clone()).collect();
    let mut w = Writer { out: String::new(), names: BTreeSet::new(), joints, report };
    // writing to a String cannot fail
    let _ = writeln!(w.out, "<robot name=\"{}\">", escaped(robot.name));
    let free = |b: &Body| b.joints.iter().any(|j| j.kind == JointType::Free);
    let mut links: Vec<String> = vec![String::new(); robot.bodies.len()];
    let is_member = |&b: &usize| robot.is_robot[b] || robot.is_free[b];
    let members = (0..robot.bodies.len()).filter(is_member);
    // bodies first, so that sites and steps of a chain get out of the way of their names
    for b in members.clone() {
        links[b] = w.unique(&robot.bodies[b].name, "");
    }
    let floating = free(&robot.bodies[robot.root]);
    // a base that floats needs no world, unless there is something else in it
    let is_alone = !robot.is_free.contains(&true);
    if !floating || !is_alone {
        links[0] = w.unique("world", "");
        let _ = writeln!(w.out, "  <link name=\"{}\"/>", links[0]);
    }
    let mut armatures = Vec::new();
    for b in members {
        let body = &robot.bodies[b];
        if robot.is_free[b] && body.parent == 0 {
            w.floating(&links[0], &links[b], &body.X_PB);
        } else if b == robot.root && floating && !is_alone {
            w.floating(&links[0], &links[b], &Transform::identity());
        } else if b != robot.root || !floating {
            w.chain(robot, body, &links[body.parent], &links[b], &mut armatures);
        }
        w.link(robot, body, &links[b]);
        for (name, X_BS) in &body.sites {
            let site = w.unique(name, "_site");
            let _ = writeln!(w.out, "  <link name=\"{}\"/>", escaped(&site));
            w.fixed(&format!("{site}_fixed"), &links[b], &site, X_BS);
        }
    }
    w.armatures(&armatures);
    w.out.push_str("</robot>\n");
    w.out
}

struct Writer<'a> {
    out: String,
    names: BTreeSet<String>,
    /// Names of joints.
    joints: BTreeSet<String>,
    report: &'a mut Report,
}

impl Writer<'_> {
    /// A name that no link has yet.
    fn unique(&mut self, name: &str, suffix: &str) -> String {
        let mut found = name.to_string();
        let mut count = 1;
        while !self.names.insert(found.clone()) {
            count += 1;
            found = match (suffix, count) {
                ("", _) => format!("{name}_{count}"),
                (_, 2) => format!("{name}{suffix}"),
                _ => format!("{name}{suffix}_{count}"),
            };
        }
        found
    }

    /// The joints from a parent's link to a body's, each with a link of its own but the last.
    fn chain(
        &mut self,
        robot: &Robot<'_>,
        body: &Body,
        parent: &str,
        link: &str,
        armatures: &mut Vec<(String, f64)>,
    ) {
        // from the frame that is reached to the body's, with all joints at their reference
        let (mut from, mut X) = (parent.to_string(), body.X_PB);
        let moving: Vec<&Joint> =
            body.joints.iter().filter(|j| j.kind != JointType::Free).collect();
        for (i, joint) in moving.iter().enumerate() {
            let at = Transform { R: Mat3::identity(), p: joint.p_BA };
            let ends_here = i + 1 == moving.len() && joint.p_BA == Vec3::zeros();
            let to = if ends_here { link.to_string() } else { self.unique(link, "_part") };
            let X_AJ = reference(joint);
            self.moving(robot, joint, &from, &to, &X.compose(&at).compose(&X_AJ));
            if joint.armature > 0.0 {
                armatures.push((joint.name.clone(), joint.armature));
            }
            if ends_here {
                return;
            }
            let _ = writeln!(self.out, "  <link name=\"{}\"/>", escaped(&to));
            X = at.inverse();
            from = to;
        }
        self.fixed(&format!("{link}_fixed"), &from, link, &X);
    }

    fn fixed(&mut self, name: &str, parent: &str, child: &str, X: &Transform) {
        self.still((name, "fixed"), parent, child, X);
    }

    fn floating(&mut self, world: &str, link: &str, X: &Transform) {
        self.still((&format!("{link}_free"), "floating"), world, link, X);
    }

    /// A joint without axis and limits.
    fn still(&mut self, (name, kind): (&str, &str), parent: &str, child: &str, X: &Transform) {
        let mut name = name.to_string();
        while !self.joints.insert(name.clone()) {
            name.push('_');
        }
        let _ = writeln!(
            self.out,
            "  <joint name=\"{}\" type=\"{kind}\">\n    {}\n    <parent link=\"{}\"/>\n    \
             <child link=\"{}\"/>\n  </joint>",
            escaped(&name),
            origin(X),
            escaped(parent),
            escaped(child)
        );
    }

    fn moving(&mut self, robot: &Robot<'_>, j: &Joint, parent: &str, child: &str, X: &Transform) {
        let kind = match (j.kind, j.limits) {
            (JointType::Slide, _) => "prismatic",
            (_, Some(_)) => "revolute",
            (_, None) => "continuous",
        };
        let strength = robot.strengths.get(&j.name);
        if strength.is_none() {
            self.report.left_out("no actuator: no motor, joints", &j.name);
        }
        // a model without any actuator is one whose actuators are in another file
        let without = if robot.strengths.is_empty() { f64::INFINITY } else { 0.0 };
        let of_actuators = strength.map_or(without, |s| s.effort_max);
        let effort = of_actuators.min(j.effort_max.unwrap_or(f64::INFINITY)).min(UNLIMITED);
        let range = match (kind, j.limits) {
            ("continuous", _) => String::new(),
            (_, limits) => {
                let [low, high] = limits.unwrap_or([-UNLIMITED, UNLIMITED]);
                format!("lower=\"{low}\" upper=\"{high}\" ")
            }
        };
        let [x, y, z] = j.axis_B.to_array();
        let _ = writeln!(
            self.out,
            "  <joint name=\"{}\" type=\"{kind}\">\n    {}\n    <parent link=\"{}\"/>\n    \
             <child link=\"{}\"/>\n    <axis xyz=\"{x} {y} {z}\"/>\n    \
             <limit {range}effort=\"{effort}\" velocity=\"{UNLIMITED}\"/>\n    \
             <dynamics damping=\"{}\" friction=\"{}\"/>{}\n  </joint>",
            escaped(&j.name),
            origin(X),
            escaped(parent),
            escaped(child),
            j.damping,
            j.friction,
            robot.mimics.get(&j.name).map(mimic).unwrap_or_default()
        );
    }

    fn link(&mut self, robot: &Robot<'_>, body: &Body, name: &str) {
        let _ = writeln!(self.out, "  <link name=\"{}\">", escaped(name));
        if body.inertia != SpatialInertia::zero() {
            let (c, I) = (body.inertia.com().to_array(), body.inertia.about_com());
            let _ = writeln!(
                self.out,
                "    <inertial>\n      <origin xyz=\"{} {} {}\"/>\n      \
                 <mass value=\"{}\"/>\n      \
                 <inertia ixx=\"{}\" ixy=\"{}\" ixz=\"{}\" iyy=\"{}\" iyz=\"{}\" izz=\"{}\"/>\n    \
                 </inertial>",
                c[0],
                c[1],
                c[2],
                body.inertia.mass,
                I[(0, 0)],
                I[(0, 1)],
                I[(0, 2)],
                I[(1, 1)],
                I[(1, 2)],
                I[(2, 2)]
            );
        }
        for geom in &body.geoms {
            if geom.is_shown() && !robot.compiler.discard_visual {
                self.visual(robot, geom);
            }
            if geom.collides() || robot.paired.contains(&geom.name) {
                self.collision(robot, geom);
            }
        }
        self.out.push_str("  </link>\n");
    }

    fn visual(&mut self, robot: &Robot<'_>, geom: &Geom) {
        let material = geom.material.as_ref().and_then(|m| robot.assets.colours.get(m));
        let [r, g, b, a] = *geom.rgba.as_ref().or(material).unwrap_or(&[0.6, 0.62, 0.65, 1.0]);
        let colour = format!(
            "<material name=\"{r} {g} {b} {a}\"><color rgba=\"{r} {g} {b} {a}\"/></material>"
        );
        let mut shape = |X: &Transform, text: &str| {
            let _ = writeln!(
                self.out,
                "    <visual>\n      {}\n      <geometry>{text}</geometry>\n      {colour}\n    \
                 </visual>",
                origin(X)
            );
        };
        if let GeomShape::Capsule { radius, half } = geom.shape {
            shape(&geom.X_BG, &cylinder(radius, half));
            for z in [-half, half] {
                let end = Transform { R: Mat3::identity(), p: Vec3::new(0.0, 0.0, z) };
                shape(&geom.X_BG.compose(&end), &format!("<sphere radius=\"{radius}\"/>"));
            }
        } else if let Some(text) = geometry(robot, geom) {
            shape(&place_of(robot, geom), &text);
        }
    }

    fn collision(&mut self, robot: &Robot<'_>, geom: &Geom) {
        let text = match geom.shape {
            GeomShape::Capsule { radius, half } => {
                format!("<capsule radius=\"{radius}\" length=\"{}\"/>", 2.0 * half)
            }
            _ => match geometry(robot, geom) {
                Some(text) => text,
                None => {
                    let what = "shapes that cannot touch the ground here are left out";
                    let name = if geom.name.is_empty() { &geom.place } else { &geom.name };
                    return self.report.left_out(what, name);
                }
            },
        };
        let _ = writeln!(
            self.out,
            "    <collision>\n      {}\n      <geometry>{text}</geometry>\n    </collision>",
            origin(&place_of(robot, geom))
        );
    }

    fn armatures(&mut self, all: &[(String, f64)]) {
        if all.is_empty() {
            return;
        }
        self.out.push_str("  <ros2_control name=\"mjcf\" type=\"system\">\n");
        for (joint, armature) in all {
            let _ = writeln!(
                self.out,
                "    <joint name=\"{}\"><param name=\"armature\">{armature}</param></joint>",
                escaped(joint)
            );
        }
        self.out.push_str("  </ros2_control>\n");
    }
}

/// What brings a joint from position 0 to its reference, undone.
fn reference(j: &Joint) -> Transform {
    match j.kind {
        JointType::Hinge if j.q_ref != 0.0 => {
            Transform { R: turn(&j.axis_B, -j.q_ref), p: Vec3::zeros() }
        }
        JointType::Slide => Transform { R: Mat3::identity(), p: j.axis_B * -j.q_ref },
        _ => Transform::identity(),
    }
}

fn mimic(mimic: &Mimic) -> String {
    let Mimic { leader, multiplier, offset } = mimic;
    let leader = escaped(leader);
    format!("\n    <mimic joint=\"{leader}\" multiplier=\"{multiplier}\" offset=\"{offset}\"/>")
}

fn cylinder(radius: f64, half: f64) -> String {
    format!("<cylinder radius=\"{radius}\" length=\"{}\"/>", 2.0 * half)
}

/// Pose of a geom's shape in the body.
fn place_of(robot: &Robot<'_>, geom: &Geom) -> Transform {
    let GeomShape::Mesh(name) = &geom.shape else { return geom.X_BG };
    robot.assets.meshes.get(name).map_or(geom.X_BG, |mesh| geom.X_BG.compose(&mesh.X_GF()))
}

/// A shape that URDF has.
fn geometry(robot: &Robot<'_>, geom: &Geom) -> Option<String> {
    Some(match &geom.shape {
        GeomShape::Sphere(radius) => format!("<sphere radius=\"{radius}\"/>"),
        GeomShape::Cylinder { radius, half } => cylinder(*radius, *half),
        GeomShape::Box(half) => {
            let [x, y, z] = half.map(|h| 2.0 * h);
            format!("<box size=\"{x} {y} {z}\"/>")
        }
        GeomShape::Mesh(name) => {
            let mesh = robot.assets.meshes.get(name)?;
            let [x, y, z] = mesh.scale;
            format!("<mesh filename=\"{}\" scale=\"{x} {y} {z}\"/>", escaped(&mesh.file))
        }
        GeomShape::Capsule { .. } | GeomShape::Ellipsoid(_) | GeomShape::Ground(_) => return None,
    })
}

fn origin(X: &Transform) -> String {
    let ([x, y, z], [roll, pitch, yaw]) = (X.p.to_array(), rpy(&X.R));
    format!("<origin xyz=\"{x} {y} {z}\" rpy=\"{roll} {pitch} {yaw}\"/>")
}

/// Fixed-axis angles. Yaw first, and the others from what it leaves, so that the rotation is
/// exact to rounding at every pitch.
fn rpy(R: &Mat3) -> [f64; 3] {
    let yaw = math::atan2(R[(1, 0)], R[(0, 0)]);
    let (s, c) = math::sin_cos(yaw);
    let pitch = math::atan2(-R[(2, 0)], c * R[(0, 0)] + s * R[(1, 0)]);
    let roll = math::atan2(s * R[(0, 2)] - c * R[(1, 2)], c * R[(1, 1)] - s * R[(0, 1)]);
    [roll, pitch, yaw]
}
