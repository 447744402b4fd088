//! The scene of a plant's shapes for the geometry, and their laws.

use hardstand_geometry::{Carrier as GeometryCarrier, Scene};

use super::super::{ContactModel, PlantSpec};
use super::ground::{into_pose, shape_of};
use super::{Carrier, CollisionSpec};
use crate::contact::{BrickContact, ExponentialSpring, Surface, SurfaceShape};

/// For each shape its laws as a brick.
pub(super) fn bricks(of: &CollisionSpec) -> Vec<Vec<Option<BrickContact>>> {
    let mut out = vec![Vec::new(); of.shapes.len()];
    for brick in &of.bricks {
        if let Some(laws) = out.get_mut(brick.shape) {
            laws.clone_from(&brick.laws);
        }
    }
    out
}

/// The scene of the geometry: what carries each shape, and the height fields, which are none.
pub(super) fn scene(spec: &PlantSpec, links: usize) -> (Scene, Vec<Carrier>, Vec<(usize, f64)>) {
    let of = &spec.collisions;
    let platform = |i: usize| GeometryCarrier::Platform(links + of.bodies.len() + i);
    let as_geometry = |carrier: Carrier| match carrier {
        Carrier::Link(i) => GeometryCarrier::Body(i),
        Carrier::Body(i) => GeometryCarrier::Body(links + i),
        Carrier::Surface(i) if spec.ground[i].platform.is_some() => platform(i),
        Carrier::Surface(_) => GeometryCarrier::Ground,
    };
    let (mut scene, mut carriers, mut fields) = (Scene::new(), Vec::new(), Vec::new());
    for shape in &of.shapes {
        scene.add(as_geometry(shape.carrier), into_pose(&shape.X_BS), shape.shape.clone());
        carriers.push(shape.carrier);
    }
    for (i, surface) in spec.ground.iter().enumerate() {
        if let SurfaceShape::Heightfield(field) = &surface.shape {
            fields.push((i, field.highest_m()));
        }
        let Some((X_SC, shape)) = shape_of(surface) else { continue };
        let still = surface.platform.is_none();
        let X = if still { surface.X_WS.compose(&X_SC) } else { X_SC };
        let id = scene.add(as_geometry(Carrier::Surface(i)), into_pose(&X), shape);
        carriers.push(Carrier::Surface(i));
        for (k, of) in of.shapes.iter().enumerate() {
            if !of.meets_ground {
                scene.exclude_shapes(k as u32, id);
            }
        }
    }
    for (a, b) in &of.apart {
        scene.exclude(as_geometry(*a), as_geometry(*b));
    }
    for (a, b) in &of.apart_shapes {
        scene.exclude_shapes(*a as u32, *b as u32);
    }
    (scene, carriers, fields)
}

/// Shapes and height fields that may touch, by their numbers among shapes and among height fields.
pub(super) fn field_pairs(of: &CollisionSpec, fields: &[(usize, f64)]) -> Vec<(u32, u32)> {
    let mut out = Vec::new();
    for (k, shape) in of.shapes.iter().enumerate().filter(|(_, shape)| shape.meets_ground) {
        let may = |surface| !of.apart.contains(&(shape.carrier, Carrier::Surface(surface)));
        let all = fields.iter().enumerate().filter(|(_, (surface, _))| may(*surface));
        out.extend(all.map(|(f, _)| (k as u32, f as u32)));
    }
    out
}

/// The law of each shape on each surface, surfaces inner; none if no surface changes any.
pub(super) fn on_surfaces(spec: &PlantSpec) -> Vec<ContactModel> {
    if spec.ground.iter().all(|surface| surface.spring.is_empty()) {
        return Vec::new();
    }
    let on = |model: &ContactModel, surface: &Surface| match model {
        ContactModel::ExponentialSpring(spring) => {
            let changed = surface.spring.applied_to(spring).unwrap_or(*spring);
            ContactModel::ExponentialSpring(changed)
        }
        other => other.clone(),
    };
    let shapes = spec.collisions.shapes.iter();
    shapes.flat_map(|s| spec.ground.iter().map(|surface| on(&s.model, surface))).collect()
}

/// A law whose spring does not act before the surface: parts of a machine have less clearance than
/// Simbody's springs reach.
pub(super) fn from_the_surface(model: &ContactModel) -> ContactModel {
    let ContactModel::ExponentialSpring(spring) = model else { return model.clone() };
    let mut parameters = *spring.parameters();
    parameters.d0_m = parameters.d0_m.min(0.0);
    ExponentialSpring::new(parameters)
        .map_or_else(|_| model.clone(), ContactModel::ExponentialSpring)
}
