//! What does not change during a run: the robot, its contact points and the ground.

use hardstand_protocol::{
    FaultKind, GroundReply, ModelReply, Parameter, Place, PoseDescription, RegionDescription,
    ShapeDescription, TouchReading,
};
use serde_json::{Value, json};

use crate::robot_text;
use crate::shape_mesh::ShapeMesh;

/// Where the data of a page come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A running daemon.
    Live,
    /// A log.
    Log,
    /// A simulation in the page itself.
    Plant,
}

/// The robot and its surroundings, as the page reads them.
#[derive(Clone, Debug)]
pub struct Scene {
    pub(crate) model: ModelReply,
    pub(crate) value: Value,
}

impl Scene {
    /// Of a robot; `urdf` has the names of meshes that the page can load.
    #[must_use]
    pub fn new(source: Source, model: &ModelReply, ground: &GroundReply, urdf: &str) -> Self {
        let urdf = robot_text::without_bodies(urdf, model);
        let value = json!({
            "source": match source {
                Source::Live => "live",
                Source::Log => "log",
                Source::Plant => "plant",
            },
            "robot": model.robot,
            "version": model.version,
            "run_id": model.run_id,
            "layout_hash": format!("{:016x}", model.layout_hash),
            "period_ns": model.period_ns,
            "mass_kg": model.mass_kg,
            "gravity_m_per_s2": model.gravity_m_per_s2,
            "base_link": model.base_link,
            "urdf": urdf,
            "joints": model.joints.iter().map(|j| json!({
                "name": j.name,
                "kind": if j.kind == 1 { "prismatic" } else { "revolute" },
                "q_initial": j.q_initial,
                "q_min": finite(j.q_min),
                "q_max": finite(j.q_max),
                "effort_max": finite(j.effort_max),
                "velocity_max": finite(j.velocity_max),
            })).collect::<Vec<_>>(),
            "feet": model.feet.iter().map(|f| json!({
                "name": f.name,
                "stations": f.stations,
            })).collect::<Vec<_>>(),
            "stations": model.stations.iter().map(|s| json!({
                "name": s.name,
                "body": s.body,
                "position_body_m": s.position_body_m,
                "radius_m": s.round_m,
                "ring_m": s.ring_m,
            })).collect::<Vec<_>>(),
            "surfaces": surfaces(model, ground),
            "regions": model.regions.iter().map(region).collect::<Vec<_>>(),
            "faults": faults(),
        });
        Self { model: model.clone(), value }
    }

    /// The same under the robot's name in the keys, where several may have one description.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        self.value["name"] = name.into();
        self
    }

    /// All of it, as the page reads it.
    #[must_use]
    pub const fn json(&self) -> &Value {
        &self.value
    }

    /// Name of the robot.
    #[must_use]
    pub fn robot(&self) -> &str {
        &self.model.robot
    }
}

/// JSON has no infinity: what is missing is `null`.
fn finite(x: f64) -> Option<f64> {
    x.is_finite().then_some(x)
}

fn surfaces(model: &ModelReply, ground: &GroundReply) -> Vec<Value> {
    let kind = |kind: u8| match kind {
        1 => "heightfield",
        2 => "convex",
        _ => "plane",
    };
    let all = model.surfaces.iter().enumerate().map(|(i, s)| {
        let PoseDescription { position_m, quat_wxyz } = s.pose;
        let mesh = ground.surfaces.get(i);
        json!({
            "name": s.name,
            "kind": kind(s.kind),
            "moves": s.moves == 1,
            "position_m": position_m,
            "quat": quat_wxyz,
            "vertices": mesh.map(|m| &m.vertices_m),
            "triangles": mesh.map(|m| &m.triangles),
        })
    });
    all.chain((0..model.bodies.len()).map(|i| body(i, model))).collect()
}

/// A free body is a surface that moves, after those of the ground.
fn body(index: usize, model: &ModelReply) -> Value {
    let body = &model.bodies[index];
    let mut mesh = ShapeMesh::default();
    let own = |s: &&ShapeDescription| {
        s.carrier == TouchReading::BODY && usize::try_from(s.index) == Ok(index)
    };
    model.shapes.iter().filter(own).for_each(|shape| mesh.add(shape));
    json!({
        "name": body.name,
        "kind": "convex",
        "moves": true,
        "position_m": body.pose.position_m,
        "quat": body.pose.quat_wxyz,
        "vertices": mesh.vertices,
        "triangles": mesh.triangles,
    })
}

fn region(r: &RegionDescription) -> Value {
    json!({
        "name": r.name,
        "surface": r.surface,
        "min_m": r.min_m,
        "max_m": r.max_m,
        "mu_static": null,
        "mu_kinetic": null,
    })
}

/// The faults that can be asked for, with what the page's form needs.
fn faults() -> Vec<Value> {
    let parameter = |p: &Parameter| {
        let [min, max] = p.range;
        let of = match (p.count, p.whole) {
            (3, _) => "vector",
            (_, true) => "integer",
            _ => "number",
        };
        json!({
            "name": p.name,
            "unit": p.unit,
            "min": finite(min),
            "max": finite(max),
            "of": of,
            "optional": p.default.is_some(),
        })
    };
    let place = |name: &str, optional: bool| {
        let none = Value::Null;
        json!({
            "name": name,
            "unit": "",
            "min": none,
            "max": none,
            "of": name,
            "optional": optional,
        })
    };
    let row = |row: &hardstand_protocol::FaultSpec| {
        let places = match row.place {
            Place::Joint => vec![place("joint", false)],
            Place::Joints => vec![place("joint", true)],
            Place::Foot => vec![place("foot", false)],
            Place::Link => vec![place("link", false)],
            Place::Ground => vec![place("foot", true)],
            Place::Robot | Place::Commands | Place::States => Vec::new(),
        };
        let duration = json!({
            "name": "duration_s", "unit": "s", "min": 0.0, "max": null, "of": "number",
            "optional": !row.needs_duration,
        });
        let all = places.into_iter().chain(row.parameters.iter().map(parameter)).chain([duration]);
        json!({ "kind": row.name, "summary": row.what, "parameters": all.collect::<Vec<_>>() })
    };
    FaultKind::TABLE.iter().map(row).collect()
}
