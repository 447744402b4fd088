//! The topics that are filled from snapshots: names, types and rates. The bus and the log use the
//! same list.

use super::messages::{
    Bool, Clock, Contacts, DynamicJointState, Imu, JointState, Message, Odometry, RosString,
    TfMessage, Twist, WrenchStamped,
};
use super::readings::Readings;
use crate::config::Scenario;

/// Encodes the message of a topic; the number is the index of the foot.
pub type Encode = fn(&mut Readings, usize, &mut Vec<u8>);

/// A message type.
#[derive(Clone, Copy, Debug)]
pub struct MessageType {
    /// `package/msg/Type`.
    pub name: &'static str,
    /// `RIHS01_` and 64 hex digits.
    pub hash: &'static str,
    /// See [`Message::definition`].
    pub definition: fn() -> String,
}

impl MessageType {
    /// The type of a message.
    #[must_use]
    pub fn of<T: Message>() -> Self {
        Self { name: T::NAME, hash: T::HASH, definition: T::definition }
    }
}

/// A topic that is filled from snapshots.
#[derive(Clone, Debug)]
pub struct Source {
    /// Name, see [`full_name`].
    pub topic: String,
    /// Type of its messages.
    pub of: MessageType,
    /// Ticks between two messages.
    pub every: u64,
    /// Index of the foot, for topics of a foot.
    pub which: usize,
    /// Encodes its message.
    pub encode: Encode,
    /// True for what a robot tells its controllers: faults of the link act on it.
    pub is_of_robot: bool,
}

/// A topic with one constant message.
#[derive(Clone, Debug)]
pub struct Latched {
    /// Name, see [`full_name`].
    pub topic: &'static str,
    /// Type of its message.
    pub of: MessageType,
    /// Its message.
    pub bytes: Vec<u8>,
}

/// The full name of a topic without its first slash. A name with a leading slash, such as `/clock`,
/// is global; all others are in the robot's namespace.
#[must_use]
pub fn full_name(namespace: &str, topic: &str) -> String {
    match topic.strip_prefix('/') {
        Some(global) => global.into(),
        None if namespace.is_empty() => topic.into(),
        None => format!("{namespace}/{topic}"),
    }
}

/// Rates of the topics that show what no robot does.
const OF_WORLD: [&str; 4] = ["clock", "contacts", "odometry", "tf"];

/// All topics for which the scenario has a rate, time first.
#[must_use]
pub fn sources(scenario: &Scenario) -> Vec<Source> {
    let mut all = Vec::new();
    let mut add = |rate: &str, of: MessageType, topic: &str, which: usize, encode: Encode| {
        if let Some(every) = scenario.ros2.every(rate) {
            let is_of_robot = !OF_WORLD.contains(&rate);
            all.push(Source { topic: topic.into(), of, every, which, encode, is_of_robot });
        }
    };
    let (clock, truth) = (MessageType::of::<Clock>(), MessageType::of::<Odometry>());
    add("clock", clock, "/clock", 0, |r, _, b| r.clock().encode(b));
    let joints = MessageType::of::<JointState>();
    add("joint_states", joints, "joint_states", 0, |r, _, b| r.joint_states().encode(b));
    add("imu", MessageType::of::<Imu>(), "imu/data", 0, |r, _, b| r.imu().encode(b));
    for (i, foot) in foot_topics(scenario).iter().enumerate() {
        let (topic, of) = (format!("feet/{foot}/wrench"), MessageType::of::<WrenchStamped>());
        add("foot_wrench", of, &topic, i, |r, i, b| r.foot_wrench(i).encode(b));
        let (topic, of) = (format!("feet/{foot}/contact"), MessageType::of::<Bool>());
        add("foot_contact", of, &topic, i, |r, i, b| r.foot_contact(i).encode(b));
    }
    let contacts = MessageType::of::<Contacts>();
    add("contacts", contacts, "contacts", 0, |r, _, b| r.contacts().encode(b));
    add("odometry", truth, "ground_truth/odom", 0, |r, _, b| r.odometry().encode(b));
    let [tf, _] = tf_topics(scenario);
    add("tf", MessageType::of::<TfMessage>(), tf, 0, |r, _, b| r.tf().encode(b));
    let (name, dynamic) = ("dynamic_joint_states", MessageType::of::<DynamicJointState>());
    add(name, dynamic, name, 0, |r, _, b| r.dynamic_joint_states().encode(b));
    let (name, twist) = ("velocity_command", MessageType::of::<Twist>());
    add(name, twist, name, 0, |r, _, b| r.velocity_command().encode(b));
    all
}

/// The constant messages for late subscribers: the robot description and the fixed frames.
#[must_use]
pub fn latched(scenario: &Scenario, readings: &Readings) -> [Latched; 2] {
    fn message_of<T: Message>(topic: &'static str, message: &T) -> Latched {
        let mut bytes = Vec::new();
        message.encode(&mut bytes);
        Latched { topic, of: MessageType::of::<T>(), bytes }
    }
    let description = RosString { data: scenario.robot_urdf.clone() };
    let [_, tf_static] = tf_topics(scenario);
    [message_of("robot_description", &description), message_of(tf_static, &readings.tf_static())]
}

/// The topics of moving and fixed frames. Several robots of a daemon have frames of the same names.
const fn tf_topics(scenario: &Scenario) -> [&'static str; 2] {
    if scenario.has_company() { ["tf", "tf_static"] } else { ["/tf", "/tf_static"] }
}

/// The part of the topic name for each foot, all different.
fn foot_topics(scenario: &Scenario) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for (i, foot) in scenario.spec.feet.iter().enumerate() {
        let mut part = topic_part(&foot.name);
        while all.contains(&part) {
            part = format!("{part}_{i}");
        }
        all.push(part);
    }
    all
}

/// A valid part of a ROS topic name: other characters become `_`.
fn topic_part(name: &str) -> String {
    let fits = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let part: String = name.chars().map(fits).collect();
    // a part begins with a letter, and has no two `_` in a row
    let part = part.split('_').filter(|p| !p.is_empty()).collect::<Vec<_>>().join("_");
    if part.starts_with(|c: char| c.is_ascii_alphabetic()) { part } else { format!("n{part}") }
}
