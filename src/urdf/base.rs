//! Decides whether the base is fixed or floating, and interprets `floating` joints.

use urdf_rs::JointType;

use super::BaseChoice;
use super::report::{Report, list};
use super::source::{Source, pose};
use super::tree::Tree;
use hardstand_physics::model::Base;
use hardstand_physics::spatial::Transform;

/// How the robot is held, and what flies free of it.
#[derive(Clone, Debug)]
pub(super) struct Held {
    pub(super) base: Base,
    /// The link whose frame is the base's; `None` if the file is not a tree.
    pub(super) root: Option<usize>,
    /// The massless link above a floating base: the world, not a part of the robot.
    pub(super) world: Option<usize>,
    /// The floating joint of the base, if it is welded instead.
    pub(super) welded: Option<usize>,
    /// Floating joints elsewhere, each with its child: a body that no joint holds.
    pub(super) free: Vec<(usize, usize)>,
}

impl Held {
    /// Whether a body is not part of the robot.
    pub(super) fn is_free(&self, body: usize) -> bool {
        self.free.iter().any(|&(_, child)| child == body)
    }
}

/// Decides how the root is held, and which bodies fly free.
pub(super) fn hold(source: &Source, tree: &Tree, choice: BaseChoice, report: &mut Report) -> Held {
    let of_base = base_joint(source, tree);
    let free = free_bodies(source, tree, of_base, report);
    let held = |base, root| Held { base, root, world: None, welded: None, free: free.clone() };
    let is_world = tree.root.is_some_and(|r| source.robot.links[r].name == "world");
    let Some(j) = of_base else {
        let is_fixed = choice == BaseChoice::Fixed || choice == BaseChoice::Auto && is_world;
        return held(if is_fixed { Base::Fixed } else { Base::Floating }, tree.root);
    };
    if choice == BaseChoice::Fixed {
        report.warn(format!("{}: welded, because robot.base is \"fixed\"", source.joint(j)));
        return Held { welded: Some(j), ..held(Base::Fixed, tree.root) };
    }
    if pose(&source.robot.joints[j].origin) != Transform::identity() {
        let text = "its <origin> is ignored; section [initial] places the base";
        report.warn(format!("{}: {text}", source.joint(j)));
    }
    let root = tree.ends[j].map(|(_, child)| child);
    Held { world: tree.root, ..held(Base::Floating, root) }
}

/// The joint of a floating base: that of a massless root with floating joints alone. Of several the
/// one that carries the most moving joints, and of equals the first.
fn base_joint(source: &Source, tree: &Tree) -> Option<usize> {
    let root = tree.root.filter(|&r| source.robot.links[r].inertial.mass.value == 0.0)?;
    let joints = &tree.joints_below[root];
    let floats = |&j: &usize| source.robot.joints[j].joint_type == JointType::Floating;
    let carried = |&j: &usize| moving_below(source, tree, j).len();
    let mut all = joints.iter().copied().filter(|_| joints.iter().all(floats));
    let first = all.next()?;
    Some(all.fold(first, |best, j| if carried(&j) > carried(&best) { j } else { best }))
}

/// The other floating joints. No joint holds what is below them, so it is a body of its own: one,
/// for a second robot would need a model of its own.
fn free_bodies(
    source: &Source,
    tree: &Tree,
    of_base: Option<usize>,
    report: &mut Report,
) -> Vec<(usize, usize)> {
    let mut out = Vec::new();
    for (j, joint) in source.robot.joints.iter().enumerate() {
        let floats = joint.joint_type == JointType::Floating && of_base != Some(j);
        // without a root the tree has mistakes of its own
        let (true, Some(_), Some((_, child))) = (floats, tree.root, tree.ends[j]) else { continue };
        let moving = moving_below(source, tree, j);
        if moving.is_empty() {
            out.push((j, child));
            continue;
        }
        let names: Vec<&str> =
            moving.iter().map(|&m| source.robot.joints[m].name.as_str()).collect();
        report.mistake(format!(
            "{}: nothing holds what is below a joint of type \"floating\", so it is simulated as a \
             rigid body beside the robot, and that has no joints: {}. Make those \"fixed\", or \
             leave this joint out of the file",
            source.joint(j),
            list(&names)
        ));
    }
    out
}

/// Joints below joint `j` that move something.
fn moving_below(source: &Source, tree: &Tree, j: usize) -> Vec<usize> {
    let mut stack: Vec<usize> = tree.ends[j].iter().map(|&(_, child)| child).collect();
    let mut seen = vec![false; tree.joint_above.len()];
    let mut out = Vec::new();
    while let Some(link) = stack.pop() {
        if std::mem::replace(&mut seen[link], true) {
            continue; // a cycle, which is reported
        }
        for &below in &tree.joints_below[link] {
            if source.robot.joints[below].joint_type != JointType::Fixed {
                out.push(below);
            }
            stack.extend(tree.ends[below].map(|(_, child)| child));
        }
    }
    out
}
