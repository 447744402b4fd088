//! The description of a plant, as the answer to a query of `model`.

use hardstand_geometry::{Outline, Shape};
use hardstand_physics::contact::{Mesh, Surface, SurfaceShape};
use hardstand_physics::model::{Coupling, Joint, JointKind, Model};
use hardstand_physics::plant::{
    CollisionShape, ConstraintSpec, ContactModel, Foot, FreeBody, FrictionRegion, Mobility,
    PlantSpec, Station,
};
use hardstand_physics::spatial::{Transform, Vec3};
use hardstand_protocol::{
    BodyDescription, ConstraintDescription, FootDescription, FrameDescription, GroundReply,
    HoldGains, JointDescription, MeshDescription, ModelReply, RegionDescription, ShapeDescription,
    StationDescription, SurfaceDescription,
};

use super::bodies::carrier;
use super::{Simulation, pose_of};

/// The description of `simulation`; of gains the largest that are allowed, and those that hold each
/// joint.
#[must_use]
pub fn describe(
    simulation: &Simulation,
    run_id: u32,
    [kp_max, kd_max]: [f64; 2],
    hold_gains: &[HoldGains],
) -> ModelReply {
    let (model, spec) = (simulation.model(), simulation.spec());
    let watchdog = simulation.watchdog();
    let joint = |(i, j): (usize, &Joint)| JointDescription {
        name: j.name.clone(),
        kind: u8::from(j.kind == JointKind::Prismatic),
        q_initial: spec.q.joints[i],
        q_min: j.q_min,
        q_max: j.q_max,
        effort_max: j.effort_max,
        velocity_max: j.velocity_max,
    };
    let foot = |f: &Foot| FootDescription {
        name: f.name.clone(),
        stations: f.stations.iter().map(|&s| s as u32).collect(),
    };
    let station = |s: &Station| StationDescription {
        name: s.name.clone(),
        body: model.bodies[s.body].name.clone(),
        position_body_m: s.p_BS.into(),
        model: law_number(&s.model),
        round_m: s.shape.round_m(),
        ring_m: s.shape.ring_m(),
    };
    let frame = |body: usize, x: &Transform| FrameDescription {
        body: model.bodies[body].name.clone(),
        pose: pose_of(x),
    };
    let body = |b: usize| model.bodies[b].name.clone();
    ModelReply {
        layout_hash: simulation.layout_hash(),
        run_id,
        period_ns: spec.period_ns,
        hold_ticks: watchdog.hold_ticks,
        damped_ticks: watchdog.damped_ticks,
        proof_commands: watchdog.proof_commands,
        kp_max,
        kd_max,
        mass_kg: model.total_mass(),
        gravity_m_per_s2: spec.gravity_W.into(),
        version: env!("CARGO_PKG_VERSION").into(),
        robot: model.name.clone(),
        base_link: model.bodies[0].name.clone(),
        joints: model.joints.iter().enumerate().map(joint).collect(),
        feet: spec.feet.iter().map(foot).collect(),
        stations: spec.stations.iter().map(station).collect(),
        surfaces: spec.ground.iter().map(describe_surface).collect(),
        foot_frames: spec.feet.iter().map(|f| frame(f.body, &f.X_BF)).collect(),
        imu_frame: frame(spec.imu.body, &spec.imu.X_BI),
        regions: spec.regions.iter().map(describe_region).collect(),
        hold_gains: hold_gains.to_vec(),
        constraints: spec
            .constraints
            .iter()
            .map(|c| describe_constraint(c, &body))
            .chain(model.couplings.iter().map(|c| describe_coupling(c, model, &body)))
            .collect(),
        links: model.bodies.iter().map(|b| b.name.clone()).collect(),
        bodies: spec.collisions.bodies.iter().map(describe_body).collect(),
        shapes: spec.collisions.shapes.iter().map(describe_shape).collect(),
    }
}

const fn law_number(model: &ContactModel) -> u8 {
    match model {
        ContactModel::ExponentialSpring(_) => 0,
        ContactModel::HuntCrossley(_) => 1,
        ContactModel::Rigid => 2,
    }
}

fn describe_body(body: &FreeBody) -> BodyDescription {
    let (joint, axis) = match body.mobility {
        Mobility::Free => (0, Vec3::zeros()),
        Mobility::Hinge { axis_B } => (1, axis_B),
        Mobility::Slide { axis_B } => (2, axis_B),
    };
    BodyDescription {
        name: body.name.clone(),
        mass_kg: body.inertia.mass,
        joint,
        axis: axis.into(),
        pose: pose_of(&body.X_WB),
    }
}

fn describe_shape(of: &CollisionShape) -> ShapeDescription {
    let (carrier, index) = carrier(of.carrier);
    let (kind, size_m, vertices_m) = sizes(&of.shape);
    ShapeDescription {
        carrier,
        index,
        kind,
        size_m,
        pose: pose_of(&of.X_BS),
        vertices_m,
        model: law_number(&of.model),
        mu_static: of.friction.mu_static(),
        mu_kinetic: of.friction.mu_kinetic(),
    }
}

/// Kind, sizes and corners of a shape, with its rounding.
fn sizes(shape: &Shape) -> (u8, [f64; 3], Vec<f64>) {
    match shape.outline() {
        Outline::Sphere { radius_m } => (0, [radius_m, 0.0, 0.0], Vec::new()),
        Outline::Capsule { radius_m, length_m } => (1, [radius_m, length_m, 0.0], Vec::new()),
        Outline::Box { size_m } => (2, size_m, Vec::new()),
        Outline::Cylinder { radius_m, length_m } => (3, [radius_m, length_m, 0.0], Vec::new()),
        Outline::Hull(hull) => {
            (4, [0.0; 3], hull.vertices().iter().flat_map(|v| v.to_array()).collect())
        }
        Outline::Plane => (u8::MAX, [0.0; 3], Vec::new()),
    }
}

/// The triangles of the ground, to be looked at.
#[must_use]
pub fn describe_ground(spec: &PlantSpec) -> GroundReply {
    let mesh = |surface: &Surface| {
        let Mesh { vertices_S, triangles } = surface.mesh();
        MeshDescription {
            vertices_m: vertices_S.iter().flat_map(Vec3::to_array).collect(),
            triangles: triangles.concat(),
        }
    };
    GroundReply { surfaces: spec.ground.iter().map(mesh).collect() }
}

fn describe_surface(surface: &Surface) -> SurfaceDescription {
    SurfaceDescription {
        name: surface.name.clone(),
        kind: match surface.shape {
            SurfaceShape::Plane => 0,
            SurfaceShape::Heightfield(_) => 1,
            SurfaceShape::Solid(_) => 2,
        },
        moves: u8::from(surface.platform.is_some()),
        pose: pose_of(&surface.X_WS),
    }
}

fn describe_constraint(
    c: &ConstraintSpec,
    body: &impl Fn(usize) -> String,
) -> ConstraintDescription {
    ConstraintDescription {
        name: c.name.clone(),
        body: body(c.body),
        position_body_m: c.p_BF.into(),
        plane_body: c.plane_body.map(body).unwrap_or_default(),
        normal: c.R_SP.column(2).into(),
    }
}

/// A joint that follows another, as a constraint of its name along its axis.
fn describe_coupling(
    c: &Coupling,
    model: &Model,
    body: &impl Fn(usize) -> String,
) -> ConstraintDescription {
    let joint = &model.joints[c.follower];
    ConstraintDescription {
        name: joint.name.clone(),
        body: body(c.follower + 1),
        position_body_m: [0.0; 3],
        plane_body: c.leader.map(|leader| body(leader + 1)).unwrap_or_default(),
        normal: joint.axis.into(),
    }
}

fn describe_region(r: &FrictionRegion) -> RegionDescription {
    let (name, surface) = (r.name.clone(), r.surface as u32);
    RegionDescription { name, surface, min_m: r.min_m, max_m: r.max_m }
}
