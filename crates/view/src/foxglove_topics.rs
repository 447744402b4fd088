//! Topics in Foxglove's own types, for its 3-D panel and that of Lichtblick: where the base is, how
//! the joints stand, and the forces of the ground as arrows. The robot's URDF is a topic, too.

use std::sync::Arc;

use foxglove::messages::{
    ArrowPrimitive, Color, FrameTransform, FrameTransforms, JointState, JointStates, Pose,
    Quaternion, SceneEntity, SceneUpdate, Timestamp, Vector3,
};
use foxglove::{Channel, ChannelBuilder, Context, RawChannel, Schema};
use hardstand_error::Result;
use hardstand_protocol::{ModelReply, StationReading, ViewReading};

use crate::frame::touching;
use crate::live::viewer_error;
use crate::pages::Pages;

/// The channels.
pub(crate) struct FoxgloveTopics {
    pages: Arc<Pages>,
    transforms: Channel<FrameTransforms>,
    joints: Channel<JointStates>,
    forces: Channel<SceneUpdate>,
    description: Arc<RawChannel>,
}

/// Frame of the world.
const WORLD: &str = "world";
/// Length of an arrow, m per N.
const M_PER_N: f64 = 0.004;

impl FoxgloveTopics {
    pub(crate) fn new(context: &Arc<Context>, pages: &Arc<Pages>) -> Result<Self> {
        let builder = |topic: &str| ChannelBuilder::new(topic).context(context);
        let text = br#"{"type":"object","properties":{"data":{"type":"string"}}}"#.as_slice();
        let description = builder("/robot_description")
            .message_encoding("json")
            .schema(Schema::new("std_msgs/String", "jsonschema", text))
            .build_raw()
            .map_err(|e| viewer_error(&e))?;
        Ok(Self {
            pages: Arc::clone(pages),
            transforms: builder("/tf").build(),
            joints: builder("/joint_states").build(),
            forces: builder("/contact_forces").build(),
            description,
        })
    }

    /// The URDF, as a string.
    pub(crate) const fn description(&self) -> &Arc<RawChannel> {
        &self.description
    }

    pub(crate) fn show(&self, view: &ViewReading, model: &ModelReply) {
        let s = &view.state;
        let at =
            Timestamp::new((s.time_ns / 1_000_000_000) as u32, (s.time_ns % 1_000_000_000) as u32);
        let [w, x, y, z] = s.truth_base_quat_wxyz;
        let transform = FrameTransform {
            timestamp: Some(at),
            parent_frame_id: WORLD.into(),
            child_frame_id: model.base_link.clone(),
            translation: Some(vector(s.truth_base_position_m)),
            rotation: Some(Quaternion { x, y, z, w }),
        };
        let transforms = FrameTransforms { transforms: vec![transform] };
        self.pages.show_as(&self.transforms, &transforms);
        let joints = model.joints.iter().zip(&s.joints).map(|(joint, is)| JointState {
            name: joint.name.clone(),
            position: Some(is.q),
            velocity: Some(is.dq),
            effort: Some(is.tau),
            ..JointState::default()
        });
        let joints = JointStates { timestamp: Some(at), joints: joints.collect() };
        self.pages.show_as(&self.joints, &joints);
        let arrows = touching(view, model).map(|(_, contact)| arrow(contact)).collect();
        let entity = SceneEntity {
            timestamp: Some(at),
            frame_id: WORLD.into(),
            id: "contact_forces".into(),
            arrows,
            ..SceneEntity::default()
        };
        let forces = SceneUpdate { deletions: Vec::new(), entities: vec![entity] };
        self.pages.show_as(&self.forces, &forces);
    }
}

const fn vector([x, y, z]: [f64; 3]) -> Vector3 {
    Vector3 { x, y, z }
}

/// Green while little of the friction limit is used, red at the limit.
fn arrow(contact: &StationReading) -> ArrowPrimitive {
    let [x, y, z] = contact.force_world_n;
    let force_n = (x * x + y * y + z * z).sqrt();
    let n = contact.normal_world;
    let normal_n = x * n[0] + y * n[1] + z * n[2];
    let tangential_n = (force_n * force_n - normal_n * normal_n).max(0.0).sqrt();
    let used = (tangential_n / contact.friction_limit_n.max(1e-9)).min(1.0);
    let length = force_n * M_PER_N;
    ArrowPrimitive {
        pose: Some(Pose {
            position: Some(vector(contact.position_world_m)),
            orientation: Some(along([x / force_n, y / force_n, z / force_n])),
        }),
        shaft_length: 0.8 * length,
        shaft_diameter: 0.012,
        head_length: 0.2 * length,
        head_diameter: 0.03,
        color: Some(Color { r: used, g: 1.0 - used, b: 0.2, a: 1.0 }),
    }
}

/// The rotation that turns x into `d`, a unit vector.
fn along(d: [f64; 3]) -> Quaternion {
    // half way between x and d; opposite to x any axis does
    let w = 1.0 + d[0];
    if w < 1e-9 {
        return Quaternion { x: 0.0, y: 0.0, z: 1.0, w: 0.0 };
    }
    let length = (w * w + d[1] * d[1] + d[2] * d[2]).sqrt();
    Quaternion { x: 0.0, y: -d[2] / length, z: d[1] / length, w: w / length }
}
