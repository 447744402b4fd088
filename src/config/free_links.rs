//! Bodies of the robot's file that no joint holds: free bodies of the scenario.

use hardstand_physics::plant::{Carrier, CollisionShape, CollisionSpec, FreeBody, Mobility};
use hardstand_physics::spatial::{Mat3, Motion, SpatialInertia, Transform, Vec3};

use super::by_mass::FittedKeys;
use super::collisions::{Common, element};
use super::contact_law::{Law, friction_of_contact};
use super::posture::Posture;
use super::section::Section;
use crate::urdf::FreeLink;

/// Adds the free bodies of the file, with the names of the links that carry their shapes. Returns
/// those whose place is relative to a link of the robot.
pub(super) fn free_links<'a>(
    root: &Section<'_>,
    common: &Common<'a>,
    posture: &Posture,
    (keys, link_of): (&mut FittedKeys, &mut Vec<&'a str>),
    out: &mut CollisionSpec,
) -> Vec<usize> {
    let mut carried = Vec::new();
    for free in &common.loaded.free {
        if free.parent.is_some() {
            carried.push(out.bodies.len());
        }
        add(root, common, free, (keys, link_of), out);
        let body = start(free, common, posture);
        out.bodies.push(body);
    }
    carried
}

/// The body: its frame B has the axes of the link L, and its origin is the centre of mass.
fn start(free: &FreeLink, common: &Common<'_>, posture: &Posture) -> FreeBody {
    let parent = free.parent.as_ref().and_then(|name| common.loaded.model.frame(name));
    let X_WP = parent.map_or(Transform::identity(), |frame| posture.X_WF(frame));
    let X_WB = X_WP.compose(&free.X_PB).compose(&center(free));
    let still = Motion::new(Vec3::zeros(), Vec3::zeros());
    let I = &free.inertia;
    FreeBody {
        name: free.name.clone(),
        inertia: SpatialInertia::from_com(I.mass, &Vec3::zeros(), &I.about_com()),
        mobility: Mobility::Free,
        damping: 0.0,
        X_WB,
        // what lies on a robot that moves moves with it
        V_W: parent.map_or(still, |_| posture.velocity_at(&X_WB.p)),
    }
}

/// Pose of B in L.
fn center(free: &FreeLink) -> Transform {
    Transform::new(Mat3::identity(), free.inertia.com())
}

fn add<'a>(
    root: &Section<'_>,
    common: &Common<'a>,
    free: &'a FreeLink,
    (keys, link_of): (&mut FittedKeys, &mut Vec<&'a str>),
    out: &mut CollisionSpec,
) {
    let robot = root.section("robot");
    let law = Law::of_contact(common.defaults);
    let friction = friction_of_contact(common.defaults);
    let X_BL = center(free).inverse();
    for c in &free.collisions {
        let shape = element(&robot, &c.shape);
        let (Some(shape), Some(model)) = (shape, law.of_shape(common.ground)) else { continue };
        keys.shapes.push(law.keys);
        link_of.push(&c.frame);
        out.shapes.push(CollisionShape {
            carrier: Carrier::Body(out.bodies.len()),
            X_BS: X_BL.compose(&c.X_FC),
            shape,
            meets_ground: true,
            model,
            friction,
            rolling: law.rolling,
        });
    }
}
