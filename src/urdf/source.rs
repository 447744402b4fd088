//! The robot as in the file: urdf-rs' types and the data that they cannot hold.

use hardstand_physics::spatial::{SpatialInertia, Transform};

/// Data of a link that its URDF elements do not have.
#[derive(Debug)]
pub(super) struct LinkNote {
    /// Line in the file, from 1.
    pub(super) line: usize,
    /// The mass and inertia have no mistake, so later checks can use them.
    pub(super) is_sound: bool,
}

/// The links and joints of a file. `link_notes` and `joint_lines` run parallel to the robot's.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) robot: urdf_rs::Robot,
    pub(super) link_notes: Vec<LinkNote>,
    pub(super) joint_lines: Vec<usize>,
    /// A joint could not be read, so the tree has a gap.
    pub(super) has_lost_joints: bool,
}

impl Source {
    /// `link "a" (line 7)`.
    pub(super) fn link(&self, i: usize) -> String {
        match (self.robot.links.get(i), self.link_notes.get(i)) {
            (Some(link), Some(note)) => describe("link", &link.name, note.line),
            _ => String::from("link"),
        }
    }

    /// `joint "a" (line 7)`.
    pub(super) fn joint(&self, j: usize) -> String {
        match (self.robot.joints.get(j), self.joint_lines.get(j)) {
            (Some(joint), Some(&line)) => describe("joint", &joint.name, line),
            _ => String::from("joint"),
        }
    }
}

/// `link "a" (line 7)`.
pub(super) fn describe(element: &str, name: &str, line: usize) -> String {
    format!("{element} \"{}\" (line {line})", super::report::shown(name))
}

/// The pose that an `<origin>` states.
pub(super) fn pose(origin: &urdf_rs::Pose) -> Transform {
    Transform::from_xyz_rpy(origin.xyz.0, origin.rpy.0)
}

/// Inertia of a link about its centre of mass, in the axes of its `<inertia>`, kg·m².
pub(super) fn inertia_about_com(link: &urdf_rs::Link) -> hardstand_physics::spatial::Mat3 {
    let i = &link.inertial.inertia;
    hardstand_physics::spatial::Mat3::new(
        i.ixx, i.ixy, i.ixz, i.ixy, i.iyy, i.iyz, i.ixz, i.iyz, i.izz,
    )
}

/// Inertia of a link about its origin, in its axes.
pub(super) fn link_inertia(link: &urdf_rs::Link) -> SpatialInertia {
    let X_LC = pose(&link.inertial.origin);
    let I_com = inertia_about_com(link);
    let zero = hardstand_physics::spatial::Vec3::zeros();
    SpatialInertia::from_com(link.inertial.mass.value, &zero, &I_com).to_parent(&X_LC)
}
