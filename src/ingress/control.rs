//! Requests about time and state, and pushes: checked.

use hardstand_physics::model::Model;
use hardstand_physics::plant::PlantSpec;
use hardstand_protocol::limits::VELOCITY_COMMAND_MAX;
use hardstand_protocol::{
    ConstraintRequest, ControlRequest, Kind, PushRequest, Refusal, VelocityCommand,
};
use hardstand_protocol::{Event, Rejection};

use super::order::{check_number, claimed, shown};

/// Largest force of a push along each axis, N.
const FORCE_MAX_N: f64 = 1e6;
/// Farthest point of attack along each axis, m.
const POINT_MAX_M: f64 = 1e3;
/// Largest number of ticks in an order: what a double still tells apart.
const TICKS_MAX: u64 = 1 << 53;

const CONTROL_BYTES: usize = 8 + 1;

/// Makes a request of a body, if all is well.
///
/// # Errors
/// The first [`Refusal`] that applies, in the order size, range.
pub fn check_control(body: &[u8]) -> Result<ControlRequest, Refusal> {
    let r: ControlRequest = claimed(Kind::Control, body, CONTROL_BYTES)?;
    check_ticks("number", r.number, 0)?;
    if r.rewind > 1 {
        let text = format!("rewind is {}; it must be 0 or 1", r.rewind);
        return Err(Refusal { reason: Rejection::OutOfRange, text });
    }
    Ok(r)
}

/// Makes a push of a body, if all is well.
///
/// # Errors
/// The first [`Refusal`] that applies, in the order size, link, point, force, ticks.
pub fn check_push(body: &[u8], model: &Model) -> Result<Event, Refusal> {
    let least = 8 + 24 + 24 + 8;
    let r: PushRequest = claimed(Kind::Push, body, format!("{least} and the link's name"))?;
    let Some(frame) = model.frame(&r.link) else {
        let name = shown(&r.link);
        let text = format!("link is {name:?}; it must be the name of a link of the robot");
        return Err(Refusal { reason: Rejection::OutOfRange, text });
    };
    let vectors = [
        ("point_link_m", r.point_link_m, POINT_MAX_M),
        ("force_world_n", r.force_world_n, FORCE_MAX_N),
    ];
    for (name, vector, max) in vectors {
        for x in vector {
            check_number(name, x, x.abs() <= max, format!("-{max} to {max} along each axis"))?;
        }
    }
    check_ticks("ticks", r.ticks, 1)?;
    Ok(Event::Push {
        body: frame.body as u32,
        point_B: frame.X_BF.point(&r.point_link_m.into()).into(),
        force_W: r.force_world_n,
        ticks: r.ticks,
    })
}

/// Makes the begin or end of a constraint of a body, if all is well.
///
/// # Errors
/// The first [`Refusal`] that applies, in the order size, name, active.
pub fn check_constraint(body: &[u8], spec: &PlantSpec) -> Result<Event, Refusal> {
    let r: ConstraintRequest =
        claimed(Kind::Constraint, body, "9 and the constraint's name".to_string())?;
    let refuse = |text: String| Err(Refusal { reason: Rejection::OutOfRange, text });
    let Some(index) = spec.constraints.iter().position(|c| c.name == r.name) else {
        let names: Vec<&str> = spec.constraints.iter().map(|c| c.name.as_str()).collect();
        let name = shown(&r.name);
        return refuse(match names.as_slice() {
            [] => format!("name is {name:?}; the scenario has no [[constraints]]"),
            names => {
                let names = names.join(", ");
                format!("name is {name:?}; it must be a constraint of the scenario: {names}")
            }
        });
    };
    if r.active > 1 {
        return refuse(format!("active is {}; it must be 0 or 1", r.active));
    }
    Ok(Event::Constraint { index: index as u32, active: r.active == 1 })
}

/// Makes a change of the velocity command of a body, if all is well.
///
/// # Errors
/// The first [`Refusal`] that applies, in the order size, range.
pub fn check_velocity(body: &[u8]) -> Result<Event, Refusal> {
    let v: VelocityCommand = claimed(Kind::Velocity, body, 3 * 8)?;
    let max = VELOCITY_COMMAND_MAX;
    let names = ["vx_m_per_s", "vy_m_per_s", "yaw_rate_rad_per_s"];
    for (name, x) in names.into_iter().zip(v.values()) {
        check_number(name, x, x.abs() <= max, format!("-{max} to {max}"))?;
    }
    Ok(Event::Velocity(v))
}

/// # Errors
/// [`Rejection::OutOfRange`].
pub(super) fn check_ticks(name: &str, ticks: u64, min: u64) -> Result<(), Refusal> {
    if (min..=TICKS_MAX).contains(&ticks) {
        return Ok(());
    }
    let text = format!("{name} is {ticks}; it must be {min} to {TICKS_MAX}");
    Err(Refusal { reason: Rejection::OutOfRange, text })
}
