//! Reads set-points from messages: named joints and interfaces.

use std::fmt;

use super::cdr::CdrError;
use super::counters::RosRejection;
use super::messages::{DynamicJointState, Float64MultiArray, JointState, JointTrajectory};
use super::trajectory::Trajectory;
use hardstand_protocol::{HoldGains, JointCommand, JointReading};

/// Why a message is not a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Its counter.
    pub reason: RosRejection,
    /// Description of the mistake.
    pub text: String,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl From<CdrError> for Refused {
    fn from(e: CdrError) -> Self {
        Self::new(RosRejection::Cdr, e.to_string())
    }
}

impl Refused {
    pub(super) const fn new(reason: RosRejection, text: String) -> Self {
        Self { reason, text }
    }
}

/// Command interfaces of a joint. The first word of each line is the name in `ros2_control`
/// (`hardware_interface_type_values.hpp`), the others are names that drivers of legged robots use.
const INTERFACES: [&[&str]; 5] = [
    &["position"],
    &["velocity"],
    &["proportional", "stiffness", "kp"],
    &["derivative", "damping", "kd"],
    &["effort", "torque", "feedforward"],
];
const POSITION: usize = 0;
const VELOCITY: usize = 1;
const PROPORTIONAL: usize = 2;
const DERIVATIVE: usize = 3;
const EFFORT: usize = 4;

/// Names of each kind in the text of a refusal.
const LISTED_MAX: usize = 8;

/// Reads messages for a robot.
#[derive(Clone, Debug)]
pub struct Orders {
    joints: Vec<String>,
    /// Of each joint.
    gains: Vec<HoldGains>,
    /// Of each joint, whether controllers command its position, velocity and effort; empty if that
    /// is not known.
    interfaces: Vec<[bool; 3]>,
}

impl Orders {
    /// For the joints `joints` in their order; `gains` are those of each for positions without
    /// gains.
    #[must_use]
    pub const fn new(joints: Vec<String>, gains: Vec<HoldGains>) -> Self {
        Self { joints, gains, interfaces: Vec::new() }
    }

    /// The same for a robot whose `<ros2_control>` has these command interfaces: for each joint
    /// whether its position, velocity and effort are commanded.
    #[must_use]
    pub fn with_interfaces(self, interfaces: Vec<[bool; 3]>) -> Self {
        Self { interfaces, ..self }
    }

    /// Any of position, velocity, effort and gains for every joint. A missing value is 0, except
    /// for gains: a position without a gain has the scenario's `kp`, a velocity its `kd`, and a
    /// position without velocity and gains has both.
    ///
    /// # Errors
    /// [`RosRejection::Names`], [`RosRejection::Interfaces`], [`RosRejection::Size`].
    pub fn dynamic(&self, m: &DynamicJointState) -> Result<Vec<JointCommand>, Refused> {
        let order = self.order(&m.joint_names)?;
        if m.interface_values.len() != m.joint_names.len() {
            return Err(self.size("interface_values", m.interface_values.len()));
        }
        let mut commands = vec![JointCommand::default(); self.joints.len()];
        for (&joint, values) in order.iter().zip(&m.interface_values) {
            let name = &self.joints[joint];
            let given = interfaces(name, &values.interface_names, &values.values)?;
            commands[joint] = self.command(joint, &given);
        }
        Ok(commands)
    }

    /// Position, velocity and effort for every joint; each list can be empty. Gains as in
    /// [`dynamic`](Self::dynamic).
    ///
    /// `joint_state_topic_hardware_interface` names all joints, and its lists have a value for
    /// those alone that have the interface, in the order of the names.
    ///
    /// # Errors
    /// [`RosRejection::Names`], [`RosRejection::Size`].
    pub fn joints(&self, m: &JointState) -> Result<Vec<JointCommand>, Refused> {
        let order = self.order(&m.name)?;
        let lists = [("position", &m.position), ("velocity", &m.velocity), ("effort", &m.effort)];
        let mut given = vec![[None; 3]; self.joints.len()];
        for (which, (what, list)) in lists.into_iter().enumerate() {
            for (joint, value) in self.spread(&order, which, list, what)? {
                given[joint][which] = Some(value);
            }
        }
        let command = |(joint, [q, dq, tau]): (usize, &[Option<f64>; 3])| {
            self.command(joint, &[*q, *dq, None, None, *tau])
        };
        Ok(given.iter().enumerate().map(command).collect())
    }

    /// The values of a list with their joints: of all named joints, or of those that have the
    /// interface.
    fn spread(
        &self,
        order: &[usize],
        which: usize,
        list: &[f64],
        what: &str,
    ) -> Result<Vec<(usize, f64)>, Refused> {
        let has_it = |joint: &usize| self.interfaces.get(*joint).is_some_and(|has| has[which]);
        let commanded: Vec<usize> = order.iter().copied().filter(has_it).collect();
        let joints = if list.len() == order.len() { order } else { &commanded };
        if list.len() == joints.len() || list.is_empty() {
            return Ok(joints.iter().copied().zip(list.iter().copied()).collect());
        }
        let mut refused = self.size(what, list.len());
        refused.text += &format!(
            ", or for each of the {} with a <command_interface name=\"{what}\"/> in the \
             <ros2_control> of its URDF",
            commanded.len()
        );
        Err(refused)
    }

    fn command(&self, joint: usize, given: &[Option<f64>; INTERFACES.len()]) -> JointCommand {
        let HoldGains { kp, kd } = self.gains[joint];
        let positioned = given[POSITION].is_some();
        let moved = positioned || given[VELOCITY].is_some();
        let own = |gain: usize, applies: bool, standard: f64| {
            given[gain].unwrap_or(if applies { standard } else { 0.0 })
        };
        JointCommand {
            q: given[POSITION].unwrap_or(0.0),
            dq: given[VELOCITY].unwrap_or(0.0),
            kp: own(PROPORTIONAL, positioned, kp),
            kd: own(DERIVATIVE, moved, kd),
            tau_ff: given[EFFORT].unwrap_or(0.0),
        }
    }

    /// An effort for every joint, in their order.
    ///
    /// # Errors
    /// [`RosRejection::Size`].
    pub fn efforts(&self, m: &Float64MultiArray) -> Result<Vec<JointCommand>, Refused> {
        self.each(m, |_, tau_ff| JointCommand { tau_ff, ..Default::default() })
    }

    /// A position for every joint, in their order, with the scenario's gains.
    ///
    /// # Errors
    /// [`RosRejection::Size`].
    pub fn positions(&self, m: &Float64MultiArray) -> Result<Vec<JointCommand>, Refused> {
        let hold = |HoldGains { kp, kd }, q| JointCommand { q, kp, kd, ..Default::default() };
        self.each(m, |joint, q| hold(self.gains[joint], q))
    }

    fn each(
        &self,
        m: &Float64MultiArray,
        command: impl Fn(usize, f64) -> JointCommand,
    ) -> Result<Vec<JointCommand>, Refused> {
        // the layout is ignored, as in forward_command_controller
        if m.data.len() != self.joints.len() {
            return Err(self.size("data", m.data.len()));
        }
        Ok(m.data.iter().enumerate().map(|(joint, &x)| command(joint, x)).collect())
    }

    /// A trajectory for all joints, with the scenario's gains.
    ///
    /// # Errors
    /// [`RosRejection::Names`], [`RosRejection::Trajectory`].
    pub fn trajectory(&self, m: &JointTrajectory) -> Result<Trajectory, Refused> {
        let order = self.order(&m.joint_names)?;
        Trajectory::new(m, &order, self.gains.clone())
    }

    /// Holds the joints where they are, with the scenario's gains.
    #[must_use]
    pub fn still(&self, joints: &[JointReading]) -> Trajectory {
        Trajectory::still(joints, self.gains.clone())
    }

    /// Names of the joints, in their order.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.joints
    }

    /// The joint index of each name: all joints, each once.
    fn order(&self, names: &[String]) -> Result<Vec<usize>, Refused> {
        let (mut order, mut unknown, mut twice) = (Vec::new(), Vec::new(), Vec::new());
        let mut found = vec![false; self.joints.len()];
        for name in names {
            match self.joints.iter().position(|j| j == name) {
                None => unknown.push(name.as_str()),
                Some(joint) if found[joint] => twice.push(name.as_str()),
                Some(joint) => {
                    found[joint] = true;
                    order.push(joint);
                }
            }
        }
        let missing = self.joints.iter().zip(&found).filter(|(_, found)| !**found);
        let missing: Vec<&str> = missing.map(|(name, _)| name.as_str()).collect();
        let kinds = [("unknown", unknown), ("missing", missing), ("repeated", twice)];
        let problems: Vec<String> =
            kinds.iter().filter(|(_, l)| !l.is_empty()).map(|(k, l)| listed(k, l)).collect();
        if problems.is_empty() {
            return Ok(order);
        }
        Err(Refused::new(RosRejection::Names, format!("joints: {}", problems.join("; "))))
    }

    fn size(&self, what: &str, count: usize) -> Refused {
        let joints = self.joints.len();
        let text =
            format!("{what} has {count} entries; it must have one for each of {joints} joints");
        Refused::new(RosRejection::Size, text)
    }
}

/// A bounded list of names, which come from outside.
fn listed(kind: &str, names: &[&str]) -> String {
    let some = names.iter().take(LISTED_MAX).map(|name| {
        let short: String = name.chars().take(64).collect();
        format!("{short:?}")
    });
    let some: Vec<String> = some.collect();
    let more = names.len() - some.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{kind} {}{more}", some.join(", "))
}

fn interfaces(
    joint: &str,
    names: &[String],
    values: &[f64],
) -> Result<[Option<f64>; INTERFACES.len()], Refused> {
    let wrong = |text: String| Refused::new(RosRejection::Interfaces, format!("{joint}: {text}"));
    if names.len() != values.len() {
        let (names, values) = (names.len(), values.len());
        return Err(wrong(format!("{names} interfaces with {values} values")));
    }
    let mut given = [None; INTERFACES.len()];
    for (name, &value) in names.iter().zip(values) {
        let Some(i) = INTERFACES.iter().position(|words| words.contains(&name.as_str())) else {
            let known: Vec<&str> = INTERFACES.iter().map(|words| words[0]).collect();
            let unknown = listed("interface", &[name.as_str()]);
            return Err(wrong(format!("unknown {unknown}; known: {}", known.join(", "))));
        };
        if given[i].replace(value).is_some() {
            return Err(wrong(format!("the interface {} occurs twice", INTERFACES[i][0])));
        }
    }
    Ok(given)
}
