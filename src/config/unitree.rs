//! The section `unitree` of a scenario: whether the daemon uses Unitree's messages.

use std::path::PathBuf;

use super::ros2::rate;
use super::section::Section;
use super::{Ros2Mode, Ros2Settings};
use hardstand_physics::model::Model;
use hardstand_physics::plant::PlantSpec;

/// Highest rate that "auto" chooses, Hz: that of the real robot.
const RATE_MOST_HZ: u64 = 500;

/// Feet and legs in the order of the messages, three motors each: hip, thigh, calf.
const LEGS: [&str; 4] = ["FR", "FL", "RR", "RL"];

/// Joints and feet in the order of Unitree's messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Motors {
    /// Indices into the model's joints.
    pub joints: [usize; 12],
    /// Indices into the feet.
    pub feet: [usize; LEGS.len()],
}

/// A kind of humanoid: what Unitree's messages mean for it.
#[derive(Debug, PartialEq, Eq)]
pub struct HgKind {
    /// Its name.
    pub name: &'static str,
    /// Joints in the order of the messages, by the names in Unitree's URDF.
    joints: &'static [&'static str],
    /// `mode_machine` in the states of the real robot.
    mode_machine: u8,
    /// Motors that move a joint through parallel rods: ankles, waist roll and pitch.
    pub parallel: &'static [usize],
    /// Motors that `rt/arm_sdk` moves, and the place of their weight; none for a kind whose
    /// places were not found in a program of Unitree's.
    pub arms: Option<(std::ops::Range<usize>, usize)>,
}

/// Source: unitree_ros, descriptions of the robots; unitree_sdk2_python, low-level examples and
/// `g1_arm7_sdk_dds_example.py`; unitree_rl_lab, controllers for `mode_machine`.
static KINDS: [HgKind; 2] = [
    HgKind {
        name: "G1",
        joints: &G1,
        mode_machine: 5,
        parallel: &[4, 5, 10, 11, 13, 14],
        arms: Some((12..29, 29)),
    },
    HgKind { name: "H1-2", joints: &H1_2, mode_machine: 6, parallel: &[4, 5, 10, 11], arms: None },
];

const G1: [&str; 29] = [
    "left_hip_pitch_joint",
    "left_hip_roll_joint",
    "left_hip_yaw_joint",
    "left_knee_joint",
    "left_ankle_pitch_joint",
    "left_ankle_roll_joint",
    "right_hip_pitch_joint",
    "right_hip_roll_joint",
    "right_hip_yaw_joint",
    "right_knee_joint",
    "right_ankle_pitch_joint",
    "right_ankle_roll_joint",
    "waist_yaw_joint",
    "waist_roll_joint",
    "waist_pitch_joint",
    "left_shoulder_pitch_joint",
    "left_shoulder_roll_joint",
    "left_shoulder_yaw_joint",
    "left_elbow_joint",
    "left_wrist_roll_joint",
    "left_wrist_pitch_joint",
    "left_wrist_yaw_joint",
    "right_shoulder_pitch_joint",
    "right_shoulder_roll_joint",
    "right_shoulder_yaw_joint",
    "right_elbow_joint",
    "right_wrist_roll_joint",
    "right_wrist_pitch_joint",
    "right_wrist_yaw_joint",
];

const H1_2: [&str; 27] = [
    "left_hip_yaw_joint",
    "left_hip_pitch_joint",
    "left_hip_roll_joint",
    "left_knee_joint",
    "left_ankle_pitch_joint",
    "left_ankle_roll_joint",
    "right_hip_yaw_joint",
    "right_hip_pitch_joint",
    "right_hip_roll_joint",
    "right_knee_joint",
    "right_ankle_pitch_joint",
    "right_ankle_roll_joint",
    "torso_joint",
    "left_shoulder_pitch_joint",
    "left_shoulder_roll_joint",
    "left_shoulder_yaw_joint",
    "left_elbow_joint",
    "left_wrist_roll_joint",
    "left_wrist_pitch_joint",
    "left_wrist_yaw_joint",
    "right_shoulder_pitch_joint",
    "right_shoulder_roll_joint",
    "right_shoulder_yaw_joint",
    "right_elbow_joint",
    "right_wrist_roll_joint",
    "right_wrist_pitch_joint",
    "right_wrist_yaw_joint",
];

/// Joints of a humanoid in the order of Unitree's messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HgMotors {
    /// Its kind.
    pub kind: &'static HgKind,
    /// Indices into the model's joints.
    pub joints: Vec<usize>,
}

/// The robots that have Unitree's messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnitreeRobot {
    /// A quadruped: `unitree_go`.
    Go(Motors),
    /// A humanoid: `unitree_hg`.
    Hg(HgMotors),
}

/// Settings of Unitree's messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitreeSettings {
    /// The order of motors and feet.
    pub robot: UnitreeRobot,
    /// The kind of humanoid in its messages.
    pub mode_machine: u8,
    /// Ticks between two states.
    pub every_ticks: u64,
    /// What walks when `sport` is asked to move.
    pub walker: Option<Walker>,
}

/// A control law that the daemon runs by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Walker {
    /// The trot of the shipped quadruped.
    Trot,
    /// A learned policy: its contract, and its file if that is not the contract's.
    Policy {
        /// TOML.
        contract: PathBuf,
        /// ONNX.
        policy: Option<PathBuf>,
    },
}

/// Reads the section.
pub(super) fn unitree(
    root: &Section<'_>,
    model: &Model,
    spec: &PlantSpec,
    ros2: &Ros2Settings,
) -> Option<UnitreeSettings> {
    let s = root.section("unitree");
    let enabled = s.bool("enabled");
    let every_ticks = rate(&s, "rate_hz", 1_000_000_000 / spec.period_ns, RATE_MOST_HZ);
    let given = match s.choice_or_number("mode_machine", "auto") {
        true => None,
        false => Some(s.count("mode_machine", 0, u32::from(u8::MAX)) as u8),
    };
    let walker = walker(&s);
    let quadruped = Motors::of(model, spec).map(UnitreeRobot::Go);
    let robot = quadruped.or_else(|| HgMotors::of(model).map(UnitreeRobot::Hg));
    if enabled && robot.is_none() {
        s.mistake(
            "enabled",
            "false: Unitree's messages are for robots with feet FR, FL, RR and RL (or FR_… and so \
             on), three joints above each and no others, or with the 29 \
             joints of a G1 or the 27 of an H1-2",
        );
    } else if enabled && ros2.mode == Ros2Mode::Off {
        s.mistake("enabled", "false where ros2.mode is \"off\": the messages go over ROS 2");
    }
    s.finish();
    let every_ticks = every_ticks.unwrap_or(1);
    let robot = robot.filter(|_| enabled)?;
    let own = match &robot {
        UnitreeRobot::Go(_) => 0,
        UnitreeRobot::Hg(motors) => motors.kind.mode_machine,
    };
    Some(UnitreeSettings { robot, mode_machine: given.unwrap_or(own), every_ticks, walker })
}

fn walker(s: &Section<'_>) -> Option<Walker> {
    let (name, policy) = (s.text("walker"), s.text("walker_policy"));
    let policy = (!policy.is_empty()).then(|| PathBuf::from(policy));
    match (name, policy) {
        ("", None) => None,
        ("trot", None) => Some(Walker::Trot),
        ("" | "trot", Some(_)) => {
            s.mistake("walker_policy", "\"\" unless unitree.walker is a contract");
            None
        }
        (contract, policy) => Some(Walker::Policy { contract: contract.into(), policy }),
    }
}

impl HgMotors {
    /// The order for a robot with all joints of one kind, by their names, and no others.
    #[must_use]
    pub fn of(model: &Model) -> Option<Self> {
        let place = |name: &&str| model.joints.iter().position(|j| j.name == *name);
        let of = |kind: &'static HgKind| {
            let joints: Option<Vec<usize>> = kind.joints.iter().map(place).collect();
            let joints = joints.filter(|joints| joints.len() == model.joint_count())?;
            Some(Self { kind, joints })
        };
        KINDS.iter().find_map(of)
    }
}

impl Motors {
    /// The order for a robot whose feet have the names of the legs, or begin with them and `_`,
    /// with three joints above each foot and no other joints. `None` for all other robots.
    #[must_use]
    pub fn of(model: &Model, spec: &PlantSpec) -> Option<Self> {
        let mut all = Self { joints: [0; 12], feet: [0; LEGS.len()] };
        for (leg, name) in LEGS.iter().enumerate() {
            let is_it = |foot: &str| {
                foot.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
            };
            let foot = spec.feet.iter().position(|f| is_it(&f.name))?;
            all.feet[leg] = foot;
            let mut body = spec.feet[foot].body;
            for joint in all.joints[3 * leg..3 * leg + 3].iter_mut().rev() {
                // body 0 is the base; body n has joint n - 1
                *joint = body.checked_sub(1)?;
                body = model.bodies[body].parent;
            }
            if body != 0 {
                return None;
            }
        }
        (model.joint_count() == all.joints.len()).then_some(all)
    }
}
