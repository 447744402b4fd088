//! The description of the robot, with the memory behind its pointers.

use std::ffi::{CString, c_char};

use hardstand_client::ModelReply;

use crate::structs::HardstandJoint;

/// Description of robot and run. Free it with `hardstand_model_free`. It does not change, so any
/// number of threads may read it.
#[repr(C)]
#[derive(Debug)]
pub struct HardstandModel {
    /// Layout hash: names, order and period.
    pub layout_hash: u64,
    /// Length of a tick, ns.
    pub period_ns: u64,
    /// Oldest age at which a command is held, ticks.
    pub hold_ticks: u64,
    /// Ticks of damping after that.
    pub damped_ticks: u64,
    /// Run number.
    pub run_id: u32,
    /// Length of `joints`.
    pub joint_count: u32,
    /// Length of `feet`.
    pub foot_count: u32,
    /// Length of `stations`.
    pub station_count: u32,
    /// Length of `regions`.
    pub region_count: u32,
    /// Joints in the order of states and commands.
    pub joints: *const HardstandJoint,
    /// Names of the feet in the order of states.
    pub feet: *const *const c_char,
    /// Names of the stations.
    pub stations: *const *const c_char,
    /// Names of the regions of the ground whose friction can be changed.
    pub regions: *const *const c_char,
    /// Robot name.
    pub robot: *const c_char,
    /// Name of the base link.
    pub base_link: *const c_char,
    /// Version of the daemon.
    pub version: *const c_char,
    /// Largest `kp` of a command.
    pub kp_max: f64,
    /// Largest `kd` of a command.
    pub kd_max: f64,
    /// Mass of the robot, kg.
    pub mass_kg: f64,
    /// Gravity in the world, m/s².
    pub gravity_m_per_s2: [f64; 3],
}

/// The description, and what its pointers point to. It comes first, so that a pointer to it is a
/// pointer to the whole.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct OwnedModel {
    pub(crate) view: HardstandModel,
    texts: Vec<CString>,
    joints: Vec<HardstandJoint>,
    lists: [Vec<*const c_char>; 3],
}

/// A text of the daemon as one of C. It has no zero byte in it, or it ends there.
pub(crate) fn c_text(text: &str) -> CString {
    let end = text.bytes().position(|byte| byte == 0).unwrap_or(text.len());
    CString::new(&text.as_bytes()[..end]).unwrap_or_default()
}

/// A count of the description; a message has no more bytes than fit.
pub(crate) fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

impl OwnedModel {
    pub(crate) fn new(reply: &ModelReply) -> Box<Self> {
        let mut texts = Vec::new();
        // the text of a CString stays where it is when the list grows
        let mut keep = |text: &str| {
            texts.push(c_text(text));
            texts.last().map_or(std::ptr::null(), |kept: &CString| kept.as_ptr())
        };
        let joints: Vec<HardstandJoint> = reply
            .joints
            .iter()
            .zip(&reply.hold_gains)
            .map(|(joint, gains)| HardstandJoint {
                name: keep(&joint.name),
                kind: joint.kind.into(),
                q_initial: joint.q_initial,
                q_min: joint.q_min,
                q_max: joint.q_max,
                effort_max: joint.effort_max,
                velocity_max: joint.velocity_max,
                hold_kp: gains.kp,
                hold_kd: gains.kd,
            })
            .collect();
        let lists = [
            reply.feet.iter().map(|foot| keep(&foot.name)).collect::<Vec<_>>(),
            reply.stations.iter().map(|station| keep(&station.name)).collect(),
            reply.regions.iter().map(|region| keep(&region.name)).collect(),
        ];
        let view = HardstandModel {
            layout_hash: reply.layout_hash,
            period_ns: reply.period_ns,
            hold_ticks: reply.hold_ticks,
            damped_ticks: reply.damped_ticks,
            run_id: reply.run_id,
            joint_count: count(joints.len()),
            foot_count: count(lists[0].len()),
            station_count: count(lists[1].len()),
            region_count: count(lists[2].len()),
            joints: joints.as_ptr(),
            feet: lists[0].as_ptr(),
            stations: lists[1].as_ptr(),
            regions: lists[2].as_ptr(),
            robot: keep(&reply.robot),
            base_link: keep(&reply.base_link),
            version: keep(&reply.version),
            kp_max: reply.kp_max,
            kd_max: reply.kd_max,
            mass_kg: reply.mass_kg,
            gravity_m_per_s2: reply.gravity_m_per_s2,
        };
        Box::new(Self { view, texts, joints, lists })
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::CStr;

    use super::{OwnedModel, c_text};
    use hardstand_client::{JointDescription, ModelReply};

    #[test]
    fn a_text_ends_at_its_first_zero() {
        assert_eq!(c_text("a\0b").as_c_str(), c"a");
        assert_eq!(c_text("").as_c_str(), c"");
    }

    #[test]
    fn a_model_without_feet_has_empty_lists() {
        let joint = JointDescription { name: "knee".into(), q_initial: 0.5, ..Default::default() };
        let joints = vec![joint];
        let model =
            ModelReply { joints, hold_gains: vec![Default::default()], ..Default::default() };
        let owned = OwnedModel::new(&model);
        assert_eq!((owned.view.joint_count, owned.view.foot_count), (1, 0));
        assert_eq!(owned.joints[0].q_initial, 0.5);
        assert_eq!(owned.texts[0].as_c_str(), c"knee");
        assert_eq!(owned.lists.iter().map(Vec::len).sum::<usize>(), 0);
        assert_eq!(CStr::to_bytes(&owned.texts[1]), b"");
    }
}
