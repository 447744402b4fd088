//! Controllers that join a run, and leave it.

use serde::{Deserialize, Serialize};

use crate::limits::{SPEED_MAX, SPEED_MIN};
use hardstand_physics::model::Model;
use hardstand_protocol::{
    CommandSchedule, Join, JointCommand, JointSet, Rejection, Role, SCHEDULE_TICKS_MAX,
    controller_number, is_controller_name,
};

use super::order::{Refusal, check_epoch, check_layout, check_number, claimed, shown};
use super::{HEADER_BYTES, Kind};

/// What a controller wants.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JoinRequest {
    /// Layout hash of the robot that is meant.
    pub layout_hash: u64,
    /// Hash of robot and scenario as far as they decide the physics; 0 for whichever there is.
    pub physics_hash: u64,
    /// 0 required, 1 advisory, 2 observer.
    pub role: u8,
    /// Ticks between two states that it answers.
    pub period_ticks: u64,
    /// Remainder of their ticks by the period.
    pub phase_ticks: u64,
    /// From the state that it answers to the tick at which the answer applies.
    pub offset_ticks: u64,
    /// Its name: the same when it comes again.
    pub controller: String,
    /// Units that it reckons in: `SI`.
    pub units: String,
    /// Joints that it wants for itself, in any order.
    pub joints: Vec<String>,
}

/// The answer: what it got.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JoinReply {
    /// 0 accepted, 1 refused, 2 busy: the same request may be accepted later.
    pub verdict: u8,
    /// 0 real time, 1 lockstep, 2 budgeted.
    pub mode: u8,
    /// Run number; every command carries it.
    pub run_id: u32,
    /// Session; every command carries it. 0 for an observer.
    pub session: u64,
    /// The first state that it answers.
    pub first_tick: u64,
    /// What its joints are told until its first command applies, in the model's order, which is
    /// that of its commands.
    pub in_force: Vec<JointCommand>,
    /// Otherwise: what is wrong, with what was expected and what came.
    pub reason: String,
}

impl JoinReply {
    /// Changes nothing.
    #[must_use]
    pub fn refused(refusal: Refusal) -> Self {
        let verdict = if refusal.reason == Rejection::QueueFull { 2 } else { 1 };
        Self { verdict, reason: refusal.text, ..Self::default() }
    }
}

/// What `leave` is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeaveRequest {
    /// Run that is meant; 0 for whichever there is.
    pub run_id: u32,
    /// Session of who leaves.
    pub session: u64,
}

/// What `speed` is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SpeedRequest {
    /// Simulated seconds per second of wall time, 0.001 to 1000; 0 for as fast as the machine
    /// allows.
    pub speed: f64,
}

/// Answers of one controller that may be on their way at a time.
const IN_FLIGHT_MAX: u64 = 8;

/// Makes a wish to join of the bytes of a request, if all is well; its name comes with it.
///
/// # Errors
/// The first [`Refusal`] that applies, in the order size (of the header), version, size, layout,
/// physics, units, name, role, period, phase, offset, joints.
pub fn check_join(
    bytes: &[u8],
    model: &Model,
    (layout_hash, physics_hash): (u64, u64),
) -> Result<(Join, String), Refusal> {
    let least = HEADER_BYTES + 8 + 8 + 1 + 3 * 8 + 3 * 8;
    let r: JoinRequest = claimed(Kind::Join, bytes, format!("{least} and the texts"))?;
    check_layout(r.layout_hash, layout_hash)?;
    if r.physics_hash != 0 && r.physics_hash != physics_hash {
        let got = r.physics_hash;
        let text = format!(
            "physics_hash is {got:016x}; it must be {physics_hash:016x}: the daemon simulates \
             another robot or scenario (0 for whichever there is)"
        );
        return Err(Refusal { reason: Rejection::Layout, text });
    }
    if r.units != "SI" {
        return refuse(format!("units is {:?}; it must be \"SI\"", shown(&r.units)));
    }
    if !is_controller_name(&r.controller) {
        let name = shown(&r.controller);
        let allowed = "1 to 64 letters, digits, \"-\", \"_\" or \".\"";
        return refuse(format!("controller is {name:?}; it must be {allowed}"));
    }
    let role = match r.role {
        0 => Role::Required,
        1 => Role::Advisory,
        2 => Role::Observer,
        other => return refuse(format!("role is {other}; it must be 0 to 2")),
    };
    let schedule = check_schedule(&r)?;
    let joints = check_joints(&r, role, model)?;
    let controller = controller_number(&r.controller);
    Ok((Join { controller, role, schedule, joints }, r.controller))
}

fn check_schedule(r: &JoinRequest) -> Result<CommandSchedule, Refusal> {
    let (period, phase, offset) = (r.period_ticks, r.phase_ticks, r.offset_ticks);
    if !(1..=SCHEDULE_TICKS_MAX).contains(&period) {
        return refuse(format!("period_ticks is {period}; it must be 1 to {SCHEDULE_TICKS_MAX}"));
    }
    if phase >= period {
        return refuse(format!(
            "phase_ticks is {phase}; it must be less than period_ticks, which is {period}"
        ));
    }
    let most = (period * IN_FLIGHT_MAX - 1).min(SCHEDULE_TICKS_MAX);
    if offset > most {
        return refuse(format!(
            "offset_ticks is {offset}; it must be at most {most}, so that no more than \
             {IN_FLIGHT_MAX} answers are on their way"
        ));
    }
    Ok(CommandSchedule { period, phase, offset })
}

fn check_joints(r: &JoinRequest, role: Role, model: &Model) -> Result<JointSet, Refusal> {
    let mut joints = JointSet::default();
    if (role == Role::Observer) != r.joints.is_empty() {
        let count = r.joints.len();
        return refuse(format!(
            "joints has {count} names; an observer has none, any other role at least one"
        ));
    }
    for name in &r.joints {
        let Some(joint) = model.joints.iter().position(|j| j.name == *name) else {
            let known: Vec<&str> = model.joints.iter().map(|j| j.name.as_str()).collect();
            let known = known.join(", ");
            return refuse(format!("joint {:?} is unknown; the robot has {known}", shown(name)));
        };
        if !joints.insert(joint) {
            return refuse(format!("joint {:?} is named twice", shown(name)));
        }
    }
    Ok(joints)
}

/// Makes a session to leave of the bytes of a request.
///
/// # Errors
/// The first [`Refusal`] that applies, in the order size (of the header), version, size, run_id.
pub fn check_leave(bytes: &[u8], run_id: u32) -> Result<u64, Refusal> {
    let r: LeaveRequest = claimed(Kind::Leave, bytes, HEADER_BYTES + 4 + 8)?;
    check_epoch(r.run_id, run_id)?;
    Ok(r.session)
}

/// Makes a speed of the bytes of a request; 0 for as fast as possible.
///
/// # Errors
/// The first [`Refusal`] that applies, in the order size (of the header), version, size, range.
pub fn check_speed(bytes: &[u8]) -> Result<f64, Refusal> {
    let r: SpeedRequest = claimed(Kind::Speed, bytes, HEADER_BYTES + 8)?;
    let good = r.speed == 0.0 || (SPEED_MIN..=SPEED_MAX).contains(&r.speed);
    check_number("speed", r.speed, good, format!("0, or {SPEED_MIN} to {SPEED_MAX}"))?;
    Ok(r.speed)
}

fn refuse<T>(text: String) -> Result<T, Refusal> {
    Err(Refusal { reason: Rejection::OutOfRange, text })
}
