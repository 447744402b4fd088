//! Requests to join and to leave, and of a speed: checked.

use crate::limits::{SPEED_MAX, SPEED_MIN};
use hardstand_physics::model::Model;
use hardstand_protocol::{
    CommandSchedule, Join, JointSet, Rejection, Role, SCHEDULE_TICKS_MAX, controller_number,
    is_controller_name,
};

use super::order::{check_layout, check_number, claimed, shown};
use hardstand_protocol::{JoinRequest, Kind, LeaveRequest, Refusal, SpeedRequest};

/// Answers of one controller that may be on their way at a time.
const IN_FLIGHT_MAX: u64 = 8;

/// A checked request to join.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedJoin {
    /// What the loop is asked for.
    pub join: Join,
    /// The controller's name.
    pub name: String,
    /// Its secret session.
    pub session: u64,
}

/// Makes a wish to join of a body, if all is well.
///
/// # Errors
/// The first [`Refusal`] that applies, in the order size, layout, physics, units, name, session,
/// role, period, phase, offset, joints.
pub fn check_join(
    body: &[u8],
    model: &Model,
    (layout_hash, physics_hash): (u64, u64),
) -> Result<CheckedJoin, Refusal> {
    let least = 8 + 8 + 8 + 1 + 3 * 8 + 3 * 8;
    let r: JoinRequest = claimed(Kind::Join, body, format!("{least} and the texts"))?;
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
    if r.session == 0 {
        let text = "session is 0; it must be a random number that the controller keeps secret";
        return refuse(text.into());
    }
    let Some(role) = Role::from_code(r.role) else {
        return refuse(format!("role is {}; it must be 0 to 2", r.role));
    };
    let schedule = check_schedule(&r)?;
    let joints = check_joints(&r, role, model)?;
    let controller = controller_number(&r.controller);
    let join = Join { controller, role, schedule, joints };
    Ok(CheckedJoin { join, name: r.controller, session: r.session })
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

/// The secret session of a body that asks to leave.
///
/// # Errors
/// [`Rejection::Size`].
pub fn check_leave(body: &[u8]) -> Result<u64, Refusal> {
    let r: LeaveRequest = claimed(Kind::Leave, body, 8)?;
    Ok(r.session)
}

/// Makes a speed of a body; 0 for as fast as possible.
///
/// # Errors
/// The first [`Refusal`] that applies, in the order size, range.
pub fn check_speed(body: &[u8]) -> Result<f64, Refusal> {
    let r: SpeedRequest = claimed(Kind::Speed, body, 8)?;
    let good = r.speed == 0.0 || (SPEED_MIN..=SPEED_MAX).contains(&r.speed);
    check_number("speed", r.speed, good, format!("0, or {SPEED_MIN} to {SPEED_MAX}"))?;
    Ok(r.speed)
}

fn refuse<T>(text: String) -> Result<T, Refusal> {
    Err(Refusal { reason: Rejection::OutOfRange, text })
}
