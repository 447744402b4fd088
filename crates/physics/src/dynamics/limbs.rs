//! Finds the equal limbs of a robot, which can be computed side by side.

use std::ops::Range;

use crate::model::Model;

use super::link::JointClass;

/// Limbs with as many bodies, branches and kinds of joints, which turn about the same coordinate
/// axes if about any: one program fits them all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EqualLimbs {
    /// First body of each limb: two to four of them. A limb's bodies follow one another.
    pub roots: Vec<usize>,
    /// Bodies of one limb.
    pub size: usize,
}

/// A robot, taken apart: a trunk, and equal limbs that hang on it.
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
/// assert_eq!((limbs.equal[0].roots.len(), limbs.equal[0].size), (4, 3));
/// # Ok::<(), hardstand_error::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limbs {
    /// Bodies of the trunk, in the model's order: the base, and all that is like nothing else.
    pub trunk: Vec<usize>,
    /// Groups of equal limbs, each limb's parent in the trunk.
    pub equal: Vec<EqualLimbs>,
}

/// Limbs in one group.
const TOGETHER_MAX: usize = 4;

impl Limbs {
    /// Takes a robot apart. A limb that is like no other joins the trunk, and the limbs on it are
    /// looked at in turn.
    #[must_use]
    pub fn find(model: &Model) -> Self {
        let children =
            |p: usize| (1..model.bodies.len()).filter(move |&i| model.bodies[i].parent == p);
        let mut trunk = vec![0];
        let mut hanging: Vec<usize> = children(0).collect();
        while let Some(k) = first_single(model, &hanging) {
            let body = hanging.swap_remove(k);
            trunk.push(body);
            hanging.extend(children(body));
        }
        hanging.sort_unstable();
        let mut equal = Vec::new();
        while let Some(&first) = hanging.first() {
            let like = |&&b: &&usize| same_shape(model, first, b);
            let roots: Vec<usize> =
                hanging.iter().filter(like).take(TOGETHER_MAX).copied().collect();
            hanging.retain(|b| !roots.contains(b));
            let size = bodies_of(model, first).len();
            match roots.len() {
                1 => trunk.extend(bodies_of(model, first)),
                _ => equal.push(EqualLimbs { roots, size }),
            }
        }
        trunk.sort_unstable();
        Self { trunk, equal }
    }
}

/// Index into `hanging` of a limb that is like no other.
fn first_single(model: &Model, hanging: &[usize]) -> Option<usize> {
    let alone = |&k: &usize| {
        hanging.iter().enumerate().all(|(j, &o)| j == k || !same_shape(model, hanging[k], o))
    };
    (0..hanging.len()).find(alone)
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
