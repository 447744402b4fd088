//! Where the robot and bodies beside it rest on the ground: the height at which they start.

use hardstand_physics::dynamics::Velocities;
use hardstand_physics::model::Model;
use hardstand_physics::plant::{Carrier, CollisionPoint, ContactResult, Plant, PlantSpec};
use hardstand_physics::spatial::{Motion, Vec3};

use super::robot::up_W;

/// Without gravity, the contact force at which something counts as touching the ground, N.
const LEAST_WEIGHT_N: f64 = 1e-6;
/// Distance within which the search looks for the ground, m.
const SEARCH_MAX_M: f64 = 1e4;
/// Force of a rigid contact that touches, N: more than any weight.
const RIGID_N: f64 = 1e12;

/// Moves the base along the first plane's normal (against gravity, if the ground has no plane) to
/// the height at which the robot, as one rigid body, would rest, and then `clearance_m` higher.
pub(super) fn place_above(model: &Model, spec: &mut PlantSpec, clearance_m: f64) {
    if spec.ground.is_empty() {
        return;
    }
    let up_W = up_W(spec);
    let mut plant = Plant::new(model.clone(), at_rest(model, spec));
    let start_W = spec.q.p_WB;
    let carried_n = |rise_m: f64| {
        plant.contacts_at(start_W + up_W * rise_m);
        let stations = plant.contacts().evaluated().iter().map(|at| support_n(at, &up_W));
        let shapes = plant.collisions().points().iter().map(|at| shape_support_n(at, &up_W));
        stations.chain(shapes).sum::<f64>()
    };
    let weight_n = -spec.gravity_W.dot(&up_W) * model.total_mass();
    if let Some(rise_m) = rise(weight_n, carried_n) {
        spec.q.p_WB += up_W * (rise_m + clearance_m);
    }
}

/// The same for free bodies with these numbers: each rests on the ground, the robot, or those
/// before it.
pub(super) fn place_bodies(model: &Model, spec: &mut PlantSpec, placed: &[usize]) {
    let up_W = up_W(spec);
    let mut plant = Plant::new(model.clone(), at_rest(model, spec));
    for &k in placed {
        let start_W = spec.collisions.bodies[k].X_WB.p;
        let weight_n = -spec.gravity_W.dot(&up_W) * spec.collisions.bodies[k].inertia.mass;
        let carried_n = |rise_m: f64| {
            plant.contacts_with_body_at(k, start_W + up_W * rise_m);
            plant.collisions().points().iter().map(|at| body_support_n(at, k, &up_W)).sum::<f64>()
        };
        let rise_m = rise(weight_n, carried_n).unwrap_or(0.0);
        spec.collisions.bodies[k].X_WB.p = start_W + up_W * rise_m;
        // for those after it
        plant.contacts_with_body_at(k, start_W + up_W * rise_m);
    }
}

/// The plant with everything where it starts and without velocity, also the ground: what it carries
/// at rest.
fn at_rest(model: &Model, spec: &PlantSpec) -> PlantSpec {
    let mut still = spec.clone();
    still.v = Velocities::zero(model);
    for surface in &mut still.ground {
        surface.X_WS = surface.pose(0).X_WS;
        surface.platform = None;
    }
    for body in &mut still.collisions.bodies {
        body.V_W = Motion::new(Vec3::zeros(), Vec3::zeros());
    }
    still
}

/// How much higher than at the start something carries its weight; `None` where nothing is below.
fn rise(weight_n: f64, mut carried_n: impl FnMut(f64) -> f64) -> Option<f64> {
    let weight_n = weight_n.max(LEAST_WEIGHT_N);
    // bracket: too low at `low`, too high at `high`
    let (mut low, mut high, mut step_m) = (0.0, 0.0, 0.01);
    if carried_n(0.0) > weight_n {
        while carried_n(high) > weight_n && step_m < SEARCH_MAX_M {
            (low, high, step_m) = (high, high + step_m, 2.0 * step_m);
        }
    } else {
        while carried_n(low) <= weight_n {
            if step_m > SEARCH_MAX_M {
                return None;
            }
            (low, high, step_m) = (low - step_m, low, 2.0 * step_m);
        }
    }
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if middle == low || middle == high {
            break; // no number lies between them
        }
        if carried_n(middle) > weight_n { low = middle } else { high = middle }
    }
    Some(high)
}

/// Normal force of a contact at rest, N; a huge one for a rigid contact that touches.
fn support_n(at: &ContactResult, up_W: &Vec3) -> f64 {
    let along = (at.touch.R_WC * Vec3::z()).dot(up_W).max(0.0);
    let rigid_n = if at.rigid && at.touch.p_C.z < 0.0 { RIGID_N } else { 0.0 };
    (at.force.normal_n + rigid_n) * along
}

/// The same of a shape of the robot on the ground.
fn shape_support_n(at: &CollisionPoint, up_W: &Vec3) -> f64 {
    let [Carrier::Link(_), Carrier::Surface(_)] = at.carriers else { return 0.0 };
    normal_n(at) * (at.R_WC * Vec3::z()).dot(up_W).max(0.0)
}

/// The same of whatever carries a free body.
fn body_support_n(at: &CollisionPoint, body: usize, up_W: &Vec3) -> f64 {
    let along = (at.R_WC * Vec3::z()).dot(up_W);
    let [on_a, on_b] = at.carriers.map(|carrier| carrier == Carrier::Body(body));
    let sign = f64::from(u8::from(on_a)) - f64::from(u8::from(on_b));
    normal_n(at) * (sign * along).max(0.0)
}

fn normal_n(at: &CollisionPoint) -> f64 {
    at.normal_n() + if at.is_rigid && at.depth_m > 0.0 { RIGID_N } else { 0.0 }
}
