//! Requests to join and to leave, and of a speed: checked.

use crate::limits::{SPEED_MAX, SPEED_MIN};
use hardstand_physics::model::Model;
use hardstand_protocol::{
    CommandSchedule, Join, JointSet, Rejection, Role, SCHEDULE_TICKS_MAX, controller_number,
    is_controller_name,
};

use super::order::{check_layout, check_number, check_run_id, claimed, shown};
use hardstand_protocol::{HEADER_BYTES, JoinRequest, Kind, LeaveRequest, Refusal, SpeedRequest};

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
/// The first [`Refusal`] that applies, in the order size (of the header), version, size, run id.
pub fn check_leave(bytes: &[u8], run_id: u32) -> Result<u64, Refusal> {
    let r: LeaveRequest = claimed(Kind::Leave, bytes, HEADER_BYTES + 4 + 8)?;
    check_run_id(r.run_id, run_id)?;
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
