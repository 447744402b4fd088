//! Decides whether the base is fixed or floating, and interprets a `floating` joint.

use urdf_rs::JointType;

use super::BaseChoice;
use super::report::Report;
use super::source::{Source, pose};
use super::tree::Tree;
use hardstand_physics::model::Base;
use hardstand_physics::spatial::Transform;

/// How the robot is held.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    pub(super) base: Base,
    /// The link whose frame is the base's; `None` if the file is not a tree.
    pub(super) root: Option<usize>,
    /// The massless link above a floating joint: the world, not a part of the robot.
    pub(super) world: Option<usize>,
}

/// Decides how the root is held and reports floating joints elsewhere.
pub(super) fn hold(source: &Source, tree: &Tree, choice: BaseChoice, report: &mut Report) -> Held {
    let root_joints = tree.root.map_or(&[][..], |r| &tree.joints_below[r]);
    let mut floating = None;
    for (j, joint) in source.robot.joints.iter().enumerate() {
        if joint.joint_type != JointType::Floating {
            continue;
        }
        let root = tree.root.filter(|&r| source.robot.links[r].inertial.mass.value == 0.0);
        if root.is_some() && root_joints == [j] {
            floating = Some(j);
        } else if tree.root.is_some() {
            report.mistake(format!(
                "{}: type \"floating\" is supported only for the single joint of a massless root \
                 link; leave it and that link out to get a floating base",
                source.joint(j)
            ));
        }
    }
    let is_world = tree.root.is_some_and(|r| source.robot.links[r].name == "world");
    let Some(j) = floating else {
        let is_fixed = choice == BaseChoice::Fixed || choice == BaseChoice::Auto && is_world;
        let base = if is_fixed { Base::Fixed } else { Base::Floating };
        return Held { base, root: tree.root, world: None };
    };
    if choice == BaseChoice::Fixed {
        report.warn(format!("{}: welded, because robot.base is \"fixed\"", source.joint(j)));
        return Held { base: Base::Fixed, root: tree.root, world: None };
    }
    if pose(&source.robot.joints[j].origin) != Transform::identity() {
        let text = "its <origin> is ignored; section [initial] places the base";
        report.warn(format!("{}: {text}", source.joint(j)));
    }
    let root = tree.ends[j].map(|(_, child)| child);
    Held { base: Base::Floating, root, world: tree.root }
}
