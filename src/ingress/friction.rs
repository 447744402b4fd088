//! Requests to change friction, and where friction springs begin: checked.

use crate::limits::FRICTION_MAX;
use hardstand_protocol::{Event, Rejection, Scope};

use super::order::{check_layout, check_number, claimed};
use hardstand_protocol::{AnchorsRequest, FrictionRequest, Kind, Refusal};

/// What is allowed in a [`FrictionRequest`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrictionLimits {
    /// Layout hash of the robot.
    pub layout_hash: u64,
    /// Number of stations, feet and regions.
    pub counts: [u32; 3],
    /// Bit `i` is set if foot `i` is made of shapes, whose friction stays as the scenario has it.
    pub feet_of_shapes: u32,
}

const BYTES: usize = 8 + 1 + 4 + 8 + 8;
const ANCHORS_BYTES: usize = 8 + 1 + 4;
/// Names of the scopes that have an index, in the order of [`FrictionLimits::counts`].
const INDEXED: [&str; 3] = ["stations", "feet", "regions"];

/// Makes an event of a body, if all is well.
///
/// # Errors
/// The first [`Refusal`] that applies, in the order size, layout, scope and index, coefficients. It
/// is never one of those that depend on an owner.
pub fn check_friction(body: &[u8], limits: &FrictionLimits) -> Result<Event, Refusal> {
    let r: FrictionRequest = claimed(Kind::Friction, body, BYTES)?;
    check_layout(r.layout_hash, limits.layout_hash)?;
    let scope = scope_of(r.scope, r.index, limits, 3)?;
    if let Scope::Foot(i) = scope
        && limits.feet_of_shapes.checked_shr(i).unwrap_or(0) & 1 == 1
    {
        let text = format!(
            "index is {i}; it must be a foot with points_m, for the friction of a foot of shapes \
             stays as the scenario has it"
        );
        return Err(Refusal { reason: Rejection::OutOfRange, text });
    }
    coefficient("mu_static", r.mu_static, FRICTION_MAX, "")?;
    coefficient("mu_kinetic", r.mu_kinetic, r.mu_static, "mu_static, which is ")?;
    Ok(Event::Friction { scope, mu_static: r.mu_static, mu_kinetic: r.mu_kinetic })
}

/// Makes a reset of anchors of a body, if all is well.
///
/// # Errors
/// The first [`Refusal`] that applies, in the order size, layout, scope and index.
pub fn check_anchors(body: &[u8], limits: &FrictionLimits) -> Result<Event, Refusal> {
    let r: AnchorsRequest = claimed(Kind::Anchors, body, ANCHORS_BYTES)?;
    check_layout(r.layout_hash, limits.layout_hash)?;
    let scope = scope_of(r.scope, r.index, limits, 2)?;
    Ok(Event::ResetAnchors { scope })
}

/// `most` is the largest scope that is allowed.
fn scope_of(scope: u8, index: u32, limits: &FrictionLimits, most: u8) -> Result<Scope, Refusal> {
    let refuse = |text| Err(Refusal { reason: Rejection::OutOfRange, text });
    let kind = usize::from(scope);
    if scope > most {
        return refuse(format!("scope is {scope}; it must be 0 to {most}"));
    }
    let scope = match scope {
        0 if index == 0 => return Ok(Scope::All),
        0 => {
            return refuse(format!("index is {index}; it must be 0 when scope is 0, all stations"));
        }
        1 => Scope::Station(index),
        2 => Scope::Foot(index),
        _ => Scope::Region(index),
    };
    let (count, name) = (limits.counts[kind - 1], INDEXED[kind - 1]);
    match count.checked_sub(1) {
        Some(last) if index > last => {
            refuse(format!("index is {index}; it must be 0 to {last}, the {name}"))
        }
        None => refuse(format!("scope is {kind}; this scenario has no {name}")),
        Some(_) => Ok(scope),
    }
}

/// NaN fails every comparison; the reason distinguishes it from a number that is too large.
fn coefficient(name: &str, value: f64, max: f64, max_name: &str) -> Result<(), Refusal> {
    check_number(name, value, (0.0..=max).contains(&value), format!("0 to {max_name}{max}"))
}

const _: () = assert!(BYTES == 29);
