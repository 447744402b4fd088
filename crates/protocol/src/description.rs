//! The answer to a query of `model`: what a controller must know to begin.

use serde::{Deserialize, Serialize};

use crate::JointCommand;

/// Description of robot and run. Units: SI. Frames: REP-103 (x forward, y left, z up).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelReply {
    /// Layout hash; every command carries it.
    pub layout_hash: u64,
    /// Run number; every command carries it.
    pub run_id: u32,
    /// Length of a tick, ns.
    pub period_ns: u64,
    /// Oldest age at which a command is held, ticks.
    pub hold_ticks: u64,
    /// Ticks of damping after that.
    pub damped_ticks: u64,
    /// Commands in a row that prove that a controller lives.
    pub proof_commands: u64,
    /// Largest `kp` of a command.
    pub kp_max: f64,
    /// Largest `kd` of a command.
    pub kd_max: f64,
    /// Mass of the robot, kg.
    pub mass_kg: f64,
    /// Gravity in the world, m/s².
    pub gravity_m_per_s2: [f64; 3],
    /// Version of the daemon.
    pub version: String,
    /// Robot name.
    pub robot: String,
    /// Name of the base link.
    pub base_link: String,
    /// Joints in the order of states and commands.
    pub joints: Vec<JointDescription>,
    /// Feet in the order of states.
    pub feet: Vec<FootDescription>,
    /// Stations in the order of contacts.
    pub stations: Vec<StationDescription>,
    /// Surfaces of the ground; the stations of `contacts` repeat for each.
    pub surfaces: Vec<SurfaceDescription>,
    /// Frames of the feet, one per foot; `_foot` vectors of `contacts` are in their axes.
    pub foot_frames: Vec<FrameDescription>,
    /// Frame of the IMU.
    pub imu_frame: FrameDescription,
    /// Regions of the ground whose friction can be changed.
    pub regions: Vec<RegionDescription>,
    /// Gains with which a position of each joint can be held.
    pub hold_gains: Vec<HoldGains>,
    /// Constraints in the order of contacts.
    pub constraints: Vec<ConstraintDescription>,
    /// Links that can move, by name: what `links` of the points in `bodies` counts.
    pub links: Vec<String>,
    /// Free bodies in the order of `bodies`.
    pub bodies: Vec<BodyDescription>,
    /// Collision shapes of links and free bodies.
    pub shapes: Vec<ShapeDescription>,
}

impl ModelReply {
    /// Commands that hold the initial positions, with the gains that the scenario suggests.
    #[must_use]
    pub fn hold(&self) -> Vec<JointCommand> {
        let all = self.joints.iter().zip(&self.hold_gains);
        let hold = |(joint, gains): (&JointDescription, &HoldGains)| JointCommand {
            q: joint.q_initial,
            kp: gains.kp,
            kd: gains.kd,
            ..JointCommand::default()
        };
        all.map(hold).collect()
    }
}

/// Gains of a position, as the scenario suggests them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct HoldGains {
    /// Stiffness, N·m/rad or N/m.
    pub kp: f64,
    /// Damping, N·m·s/rad or N·s/m.
    pub kd: f64,
}

impl Default for HoldGains {
    fn default() -> Self {
        Self { kp: 100.0, kd: 3.0 }
    }
}

/// A pose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PoseDescription {
    /// Position, m.
    pub position_m: [f64; 3],
    /// Orientation, order w, x, y, z.
    pub quat_wxyz: [f64; 4],
}

/// A frame fixed to a body.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FrameDescription {
    /// Body that carries it.
    pub body: String,
    /// Pose in the body's frame.
    pub pose: PoseDescription,
}

/// One joint. No limit is ±∞.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JointDescription {
    /// Name in the URDF.
    pub name: String,
    /// 0 revolute (rad, N·m), 1 prismatic (m, N).
    pub kind: u8,
    /// Initial position.
    pub q_initial: f64,
    /// Lower position limit.
    pub q_min: f64,
    /// Upper position limit.
    pub q_max: f64,
    /// Largest effort.
    pub effort_max: f64,
    /// Largest velocity.
    pub velocity_max: f64,
}

/// One foot.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FootDescription {
    /// Name.
    pub name: String,
    /// Indices of its stations.
    pub stations: Vec<u32>,
}

/// A point of a link that can be held on a plane.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ConstraintDescription {
    /// Name.
    pub name: String,
    /// Body that carries the point.
    pub body: String,
    /// The point in the body's frame, m.
    pub position_body_m: [f64; 3],
    /// Body that carries the plane; "" for the world.
    pub plane_body: String,
    /// Unit normal of the plane in the frame of its body.
    pub normal: [f64; 3],
}

/// One region of the ground.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RegionDescription {
    /// Name.
    pub name: String,
    /// Index of its surface in `surfaces`.
    pub surface: u32,
    /// Smallest x and y in the surface's axes, m.
    pub min_m: [f64; 2],
    /// Largest x and y in the surface's axes, m.
    pub max_m: [f64; 2],
}

/// One station.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StationDescription {
    /// Name.
    pub name: String,
    /// Body that carries it.
    pub body: String,
    /// Position in the body's frame, m.
    pub position_body_m: [f64; 3],
    /// Contact model: 0 exponential spring, 1 Hunt–Crossley, 2 rigid.
    pub model: u8,
    /// Radius of the sphere, or of the torus's tube, m; 0 for a point or a sharp edge.
    pub round_m: f64,
    /// Radius of the torus's ring, m; 0 for a point or sphere.
    pub ring_m: f64,
}

/// One free body.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BodyDescription {
    /// Name.
    pub name: String,
    /// Mass, kg.
    pub mass_kg: f64,
    /// 0 free, 1 hinge, 2 slide.
    pub joint: u8,
    /// Axis of the joint in the body's frame; zeros of a free body.
    pub axis: [f64; 3],
    /// Pose in the world at the start.
    pub pose: PoseDescription,
}

/// One convex shape that touches.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ShapeDescription {
    /// What carries it: 1 link, 2 free body.
    pub carrier: u8,
    /// Index of that in `links` or `bodies`.
    pub index: u32,
    /// 0 sphere, 1 capsule, 2 box, 3 cylinder, 4 hull.
    pub kind: u8,
    /// Sizes, m. Sphere: radius. Capsule and cylinder: radius, length along z without the capsule's
    /// ends. Box: edges. What is left over is 0.
    pub size_m: [f64; 3],
    /// Pose in the frame of its carrier.
    pub pose: PoseDescription,
    /// x, y, z of each corner of a hull, in the shape's frame, m.
    pub vertices_m: Vec<f64>,
    /// Contact model: 0 exponential spring, 1 Hunt–Crossley, 2 rigid.
    pub model: u8,
    /// Static coefficient of friction.
    pub mu_static: f64,
    /// Kinetic coefficient of friction.
    pub mu_kinetic: f64,
}

/// One surface of the ground.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SurfaceDescription {
    /// Name.
    pub name: String,
    /// 0 plane (its z-axis is the normal), 1 heightfield, 2 convex solid.
    pub kind: u8,
    /// 1 if it moves as the scenario prescribes.
    pub moves: u8,
    /// Pose in the world at rest.
    pub pose: PoseDescription,
}

/// The ground as triangles, to be looked at: the answer to `model/ground`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GroundReply {
    /// In the order of [`ModelReply::surfaces`].
    pub surfaces: Vec<MeshDescription>,
}

/// Triangles in the frame of a surface; none for a plane.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MeshDescription {
    /// x, y, z of each corner, m.
    pub vertices_m: Vec<f64>,
    /// Three indices of corners for each triangle, counter-clockwise seen from outside.
    pub triangles: Vec<u32>,
}
