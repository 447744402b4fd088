//! Finds the limbs of a robot that can be computed side by side.

use std::ops::Range;

use crate::model::Model;

use super::link::JointClass;

/// Limbs that are computed side by side, one program for all: two to four of them.
///
/// The `k`-th bodies of all limbs hang on bodies of one index in their limbs. Different joints
/// share arithmetic that suits all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LimbGroup {
    /// The bodies of each limb, the longest limb first. A limb's bodies follow one another.
    pub limbs: Vec<Range<usize>>,
}

impl LimbGroup {
    /// Bodies of the longest limb.
    #[must_use]
    pub fn size(&self) -> usize {
        self.limbs[0].len()
    }

    /// The `k`-th body of each limb that has so many: of the first limbs.
    #[must_use]
    pub fn bodies(&self, k: usize) -> Vec<usize> {
        self.limbs.iter().filter(|limb| k < limb.len()).map(|limb| limb.start + k).collect()
    }
}

/// A robot, taken apart: a trunk, and limbs that hang on it.
///
/// ```
/// use hardstand_physics::dynamics::Limbs;
/// use hardstand_physics::model::{Base, BodySpec, Builder, Joint, JointKind, JointSpec};
/// use hardstand_physics::spatial::{Mat3, SpatialInertia, Transform, Vec3};
///
/// let inertia = SpatialInertia::from_com(1.0, &Vec3::zeros(), &Mat3::identity());
/// let turning = |name: String, axis: Vec3| Joint {
///     name,
///     kind: JointKind::Revolute,
///     axis,
///     X_PJ: Transform::identity(),
///     q_min: f64::NEG_INFINITY,
///     q_max: f64::INFINITY,
///     effort_max: f64::INFINITY,
///     velocity_max: f64::INFINITY,
///     damping: 0.0,
///     friction: 0.0,
///     armature: 0.0,
/// };
/// let mut robot = Builder::new("quadruped", Base::Floating);
/// robot.bodies.push(BodySpec { name: "trunk".into(), inertia });
/// for leg in ["FL", "FR", "RL", "RR"] {
///     let mut parent = "trunk".to_string();
///     for (part, axis) in [("hip", Vec3::x()), ("thigh", Vec3::y()), ("calf", Vec3::y())] {
///         let child = format!("{leg}_{part}");
///         let joint = turning(format!("{child}_joint"), axis);
///         robot.bodies.push(BodySpec { name: child.clone(), inertia });
///         robot.joints.push(JointSpec { parent, child: child.clone(), joint });
///         parent = child;
///     }
/// }
/// let limbs = Limbs::find(&robot.build()?);
/// assert_eq!(limbs.trunk, [0]);
/// assert_eq!((limbs.groups[0].limbs.len(), limbs.groups[0].size()), (4, 3));
/// # Ok::<(), hardstand_error::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limbs {
    /// Bodies of the trunk, in the model's order: the base, and what nothing can be put beside.
    pub trunk: Vec<usize>,
    /// Limbs side by side, each limb's parent in the trunk.
    pub groups: Vec<LimbGroup>,
}

/// Limbs in one group.
const TOGETHER_MAX: usize = 4;

impl Limbs {
    /// Takes a robot apart. What can be put beside nothing joins the trunk, and the branches on it
    /// are looked at in turn.
    #[must_use]
    pub fn find(model: &Model) -> Self {
        let children =
            |p: usize| (1..model.bodies.len()).filter(move |&i| model.bodies[i].parent == p);
        let (mut trunk, mut ends) = (vec![0], Vec::new());
        let mut hanging: Vec<usize> = children(0).collect();
        loop {
            let groups = side_by_side(model, &hanging, &ends);
            let limbs = || groups.iter().flat_map(|group| &group.limbs);
            let alone = |&body: &usize| limbs().all(|limb| limb.start != body);
            let Some(k) = hanging.iter().position(alone) else {
                trunk.sort_unstable();
                return Self { trunk, groups };
            };
            let body = hanging.remove(k);
            trunk.push(body);
            hanging.extend(children(body));
            if ends.contains(&body) || is_limb(model, &bodies_of(model, body)) {
                ends.extend(children(body));
            }
            hanging.sort_unstable();
        }
    }
}

/// The class of each joint: one that suits all joints beside it.
pub(super) fn joint_classes(model: &Model, limbs: &Limbs) -> Vec<JointClass> {
    let mut classes: Vec<JointClass> = model.joints.iter().map(JointClass::of).collect();
    for group in &limbs.groups {
        for k in 0..group.size() {
            let joints = || group.bodies(k).into_iter().map(|body| body - 1);
            let first = classes[group.limbs[0].start + k - 1];
            let common = joints().fold(first, |common, joint| common.or(classes[joint]));
            joints().for_each(|joint| classes[joint] = common);
        }
    }
    classes
}

/// The branches that begin with `roots`, put beside others: equal ones first, then limbs beside
/// longer ones as long as there are lanes, two legs beside two arms. The `ends` of limbs go beside
/// equal ones only: a part of a limb saves too little.
fn side_by_side(model: &Model, roots: &[usize], ends: &[usize]) -> Vec<LimbGroup> {
    let mut groups = equal_branches(model, roots);
    let whole = |limb: &Range<usize>| !ends.contains(&limb.start) && is_limb(model, limb);
    groups.retain(|group| group.limbs.len() > 1 || whole(&group.limbs[0]));
    groups.sort_by_key(|group| std::cmp::Reverse(group.size()));
    let mut out: Vec<LimbGroup> = Vec::new();
    for group in groups {
        let fits = |longer: &&mut LimbGroup| {
            let lanes = longer.limbs.len() + group.limbs.len();
            // a lane that waits for the rest of a longer limb saves nothing
            let fits = lanes <= TOGETHER_MAX && longer.size() <= 2 * group.size();
            fits && hangs_like(model, &longer.limbs[0], &group.limbs[0])
        };
        match out.iter_mut().find(fits) {
            Some(longer) => longer.limbs.extend(group.limbs),
            None => out.push(group),
        }
    }
    // what two bodies hand over costs as much as it saves
    out.retain(|group| group.limbs.len() > 1 && group.limbs.len() * group.size() > 2);
    out
}

/// All branches, those with as many bodies, forks and classes of joints together.
fn equal_branches(model: &Model, roots: &[usize]) -> Vec<LimbGroup> {
    let mut groups: Vec<LimbGroup> = Vec::new();
    for &root in roots {
        let fits = |group: &&mut LimbGroup| {
            group.limbs.len() < TOGETHER_MAX && same_shape(model, group.limbs[0].start, root)
        };
        let branch = bodies_of(model, root);
        match groups.iter_mut().find(fits) {
            Some(group) => group.limbs.push(branch),
            None => groups.push(LimbGroup { limbs: vec![branch] }),
        }
    }
    groups
}

/// True if a branch has several bodies, and two thirds of them at least are one behind the other.
/// An arm with a gripper is a limb, a waist with two arms is none.
fn is_limb(model: &Model, branch: &Range<usize>) -> bool {
    let mut behind = vec![1; branch.len()];
    for body in branch.clone().skip(1) {
        behind[body - branch.start] = behind[model.bodies[body].parent - branch.start] + 1;
    }
    let longest = behind.into_iter().max().unwrap_or(0);
    branch.len() > 1 && 3 * longest >= 2 * branch.len()
}

/// True if the bodies of `limb` hang on each other like the first ones of `longer`.
fn hangs_like(model: &Model, longer: &Range<usize>, limb: &Range<usize>) -> bool {
    let parent = |body: usize, root: usize| model.bodies[body].parent.checked_sub(root);
    longer.clone().zip(limb.clone()).all(|(i, j)| parent(i, longer.start) == parent(j, limb.start))
}

/// The bodies of the limb that begins with `root`.
fn bodies_of(model: &Model, root: usize) -> Range<usize> {
    let outside = |i: &usize| model.bodies[*i].parent < root;
    root..(root + 1..model.bodies.len()).find(outside).unwrap_or(model.bodies.len())
}

fn same_shape(model: &Model, a: usize, b: usize) -> bool {
    let (of_a, of_b) = (bodies_of(model, a), bodies_of(model, b));
    let same_topology = |(i, j): (usize, usize)| {
        let place = |body: usize, root: usize| {
            let joint = &model.joints[body - 1];
            (JointClass::of(joint), (body > root).then(|| model.bodies[body].parent - root))
        };
        place(i, a) == place(j, b)
    };
    of_a.len() == of_b.len() && of_a.zip(of_b).all(same_topology)
}
