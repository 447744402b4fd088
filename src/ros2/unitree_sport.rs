//! Unitree's service `sport`: postures, and velocities for a controller that walks. Its other calls
//! are refused under their names.
//!
//! Source: unitree_sdk2_python, `go2/sport` and `g1/loco`.

use std::sync::{Mutex, PoisonError};

use serde::Deserialize;

use super::counters::RosRejection;
use super::orders::Refused;
use super::postures::Posture;
use super::unitree::Request;
use super::unitree_services::{Answer, Ends, NOT_IMPLEMENTED, WRONG_PARAMETER, parameter};
use hardstand_protocol::VelocityCommand;

/// Where its calls arrive.
const TOPIC: &str = "/api/sport/request";

/// A humanoid's state after the second of two calls from squatting to standing and back.
const SQUATTING: i64 = 2;

/// Names of the calls that are not simulated.
const NAMES: [(i64, &str); 36] = [
    (1007, "Euler"),
    (1009, "Sit"),
    (1010, "RiseSit"),
    (1015, "SpeedLevel"),
    (1016, "Hello"),
    (1017, "Stretch"),
    (1020, "Content"),
    (1022, "Dance1"),
    (1023, "Dance2"),
    (1028, "Pose"),
    (1029, "Scrape"),
    (1030, "FrontFlip"),
    (1031, "FrontJump"),
    (1032, "FrontPounce"),
    (1036, "Heart"),
    (1061, "StaticWalk"),
    (1062, "TrotRun"),
    (1063, "EconomicGait"),
    (2041, "LeftFlip"),
    (2043, "BackFlip"),
    (2044, "HandStand"),
    (2045, "FreeWalk"),
    (2046, "FreeBound"),
    (2047, "FreeJump"),
    (2048, "FreeAvoid"),
    (2049, "ClassicWalk"),
    (2050, "WalkUpright"),
    (2051, "CrossStep"),
    (2054, "AutoRecoverySet"),
    (2055, "AutoRecoveryGet"),
    (2058, "SwitchAvoidMode"),
    (7002, "GetFsmMode"),
    (7003, "GetBalanceMode"),
    (7103, "SetSwingHeight"),
    (7104, "SetStandHeight"),
    (7106, "SetArmTask"),
];

/// The service, with the state of a humanoid that was set last.
#[derive(Debug, Default)]
pub(super) struct Sport(Mutex<i64>);

#[derive(Deserialize)]
struct Move {
    x: f64,
    y: f64,
    z: f64,
}

#[derive(Deserialize)]
struct Velocity {
    velocity: [f64; 3],
    /// s; without it, the velocity holds.
    duration: Option<f64>,
}

#[derive(Deserialize)]
struct Number {
    data: f64,
}

impl Sport {
    /// Answers a call: of quadrupeds 1001 to 2058, of humanoids 7001 to 7106.
    pub(super) fn answer(&self, call: &Request, ends: &Ends) -> Answer {
        match call.header.identity.api_id {
            1001 => assume(Posture::Damp, ends),
            1002 | 1004 | 1006 => assume(Posture::Up, ends),
            1003 => velocity([0.0; 3], None, ends),
            1005 => assume(Posture::Down, ends),
            1008 => {
                let Move { x, y, z } = parameter(call)?;
                walk([x, y, z], None, ends)
            }
            // SwitchJoystick, SetBalanceMode: there is nothing to switch
            1027 | 7102 => Ok(String::new()),
            7001 => {
                let state = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
                Ok(serde_json::json!({ "data": state }).to_string())
            }
            7101 => self.set_state(parameter::<Number>(call)?.data as i64, ends),
            7105 => {
                let Velocity { velocity: values, duration } = parameter(call)?;
                walk(values, duration, ends)
            }
            id => {
                let found = NAMES.iter().find(|(number, _)| *number == id);
                let name = found.map_or("is unknown", |(_, name)| name);
                refuse(
                    format!("sport {id} {name}: there is no such motion in the simulation"),
                    ends,
                )
            }
        }
    }

    /// `SetFsmId`. Start (200) leaves the robot to a controller that has it already, which walks.
    fn set_state(&self, to: i64, ends: &Ends) -> Answer {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let stands = matches!(*state, 4 | 200 | 702 | 706);
        let (posture, next) = match to {
            0 | 1 | 3 => (Some(Posture::Damp), to),
            706 if stands => (Some(Posture::Damp), SQUATTING),
            200 if ends.subscriber.is_taken() => (None, to),
            4 | 200 | 702 | 706 => (Some(Posture::Up), to),
            _ => {
                let text = format!(
                    "sport 7101 SetFsmId {to}: states are 0 zero torque, 1 damp, 3 sit, 4 stand, \
                     200 start, 702 lie to stand, 706 squat to stand and back"
                );
                return refuse(text, ends);
            }
        };
        if let Some(posture) = posture {
            assume(posture, ends)?;
        }
        *state = next;
        Ok(String::new())
    }
}

fn refuse(text: String, ends: &Ends) -> Answer {
    ends.counters.count(TOPIC, &Refused::new(RosRejection::Call, text));
    Err(NOT_IMPLEMENTED)
}

fn assume(posture: Posture, ends: &Ends) -> Answer {
    let begun = ends.subscriber.follow_own(ends.postures.trajectory(posture));
    begun.map(|()| String::new()).map_err(|refused| count(&refused, ends))
}

/// Counts why a call has no effect.
fn count(refused: &Refused, ends: &Ends) -> i32 {
    ends.counters.count(TOPIC, refused);
    WRONG_PARAMETER
}

/// A velocity for what walks: the daemon's own walker if it has one, unless another controller has
/// the robot.
fn walk(values: [f64; 3], lasts_s: Option<f64>, ends: &Ends) -> Answer {
    let answer = velocity(values, lasts_s, ends)?;
    ends.subscriber.walk().map_err(|refused| count(&refused, ends))?;
    Ok(answer)
}

fn velocity(values: [f64; 3], lasts_s: Option<f64>, ends: &Ends) -> Answer {
    let lasts = lasts_s.is_none_or(|s| s.is_finite() && s >= 0.0);
    if !lasts || values.iter().any(|v| !v.is_finite()) {
        return Err(WRONG_PARAMETER);
    }
    // what is out of range is counted as of every order
    let ordered = ends.velocity.order(VelocityCommand::from(values), lasts_s);
    ordered.map(|()| String::new()).map_err(|_counted| WRONG_PARAMETER)
}
