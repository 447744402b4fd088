//! The section `unitree` of a scenario: whether the daemon uses Unitree's messages.
#![allow(non_snake_case, reason = "monogram notation, see spatial")]

use std::path::PathBuf;

use super::ros2::rate;
use super::section::Section;
use super::{Ros2Mode, Ros2Settings};
use hardstand_physics::model::Model;
use hardstand_physics::plant::PlantSpec;
use hardstand_physics::sensor::ImuSpec;
use hardstand_physics::spatial::Transform;

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
#[derive(Debug, PartialEq)]
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
    /// Place of the second unit in `torso_link`, m, where the robot's file has no link for it.
    torso_imu_m: [f64; 3],
}

/// The link of the second unit in Unitree's URDF of a G1, and the one that carries it.
const TORSO_LINKS: [&str; 2] = ["imu_in_torso", "torso_link"];

/// Source: unitree_ros, descriptions of the robots (that of a H1-2 without the place of its second
/// unit, which is at the link's origin); unitree_sdk2_python, low-level examples and
/// `g1_arm7_sdk_dds_example.py`; unitree_rl_lab, controllers for `mode_machine`.
static KINDS: [HgKind; 2] = [
    HgKind {
        name: "G1",
        joints: &G1,
        mode_machine: 5,
        parallel: &[4, 5, 10, 11, 13, 14],
        arms: Some((12..29, 29)),
        torso_imu_m: [-0.03959, -0.00224, 0.14792],
    },
    HgKind {
        name: "H1-2",
        joints: &H1_2,
        mode_machine: 6,
        parallel: &[4, 5, 10, 11],
        arms: None,
        torso_imu_m: [0.0; 3],
    },
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
#[derive(Clone, Debug, PartialEq)]
pub struct HgMotors {
    /// Its kind.
    pub kind: &'static HgKind,
    /// Indices into the model's joints.
    pub joints: Vec<usize>,
    /// The unit in its torso, beside the one of `[imu]`.
    pub torso_imu: Option<ImuSpec>,
}

/// The robots that have Unitree's messages.
#[derive(Clone, Debug, PartialEq)]
pub enum UnitreeRobot {
    /// A quadruped: `unitree_go`.
    Go(Motors),
    /// A humanoid: `unitree_hg`.
    Hg(HgMotors),
}

/// Settings of Unitree's messages.
#[derive(Clone, Debug, PartialEq)]
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
    let (walker, torso) = (walker(&s), s.text("torso_imu"));
    let quadruped = Motors::of(model, spec).map(UnitreeRobot::Go);
    let humanoid = HgMotors::of(model).map(|motors| {
        let torso_imu = torso_imu(&s, torso, model, motors.kind);
        UnitreeRobot::Hg(HgMotors { torso_imu, ..motors })
    });
    let robot = quadruped.or(humanoid);
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

/// The unit in the torso of a humanoid, on the link `name`; "" for none.
fn torso_imu(s: &Section<'_>, name: &str, model: &Model, kind: &HgKind) -> Option<ImuSpec> {
    let on = |name: &str, p| {
        let frame = model.frame(name)?;
        let X_FI = Transform::from_xyz_rpy(p, [0.0; 3]);
        Some(ImuSpec { body: frame.body, X_BI: frame.X_BF.compose(&X_FI) })
    };
    match name {
        "" => None,
        "auto" => {
            let [link, torso] = TORSO_LINKS;
            on(link, [0.0; 3]).or_else(|| on(torso, kind.torso_imu_m))
        }
        link => {
            let unit = on(link, [0.0; 3]);
            if unit.is_none() {
                s.mistake("torso_imu", "the name of a link of the robot, \"auto\" or \"\"");
            }
            unit
        }
    }
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

impl UnitreeSettings {
    /// The unit in the torso of a humanoid.
    #[must_use]
    pub const fn torso_imu(&self) -> Option<ImuSpec> {
        match &self.robot {
            UnitreeRobot::Go(_) => None,
            UnitreeRobot::Hg(motors) => motors.torso_imu,
        }
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
            Some(Self { kind, joints, torso_imu: None })
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
