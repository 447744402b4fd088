//! Unitree's service `sport`: postures, and velocities for a controller that walks. Its other calls
//! are refused under their names.
//!
//! Source: unitree_sdk2_python, `go2/sport` and `g1/loco`.

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Deserialize;

use super::counters::RosRejection;
use super::orders::Refused;
use super::postures::Posture;
use super::unitree::Request;
use super::unitree_services::{Answer, Ends, NOT_IMPLEMENTED, WRONG_PARAMETER, parameter};
use hardstand_protocol::VelocityCommand;

/// Where its calls arrive.
const TOPIC: &str = "/api/sport/request";

/// States of a humanoid. That of a run or a posture that has ended is [`NONE`].
const NONE: i64 = 0;
const DAMPED: i64 = 1;
/// After the second of two calls from squatting to standing and back.
const SQUATTING: i64 = 2;
const STANDING: i64 = 4;
/// A controller outside walks, if it has the robot.
const START: i64 = 200;

/// Names of the calls that are not simulated.
const NAMES: [(i64, &str); 39] = [
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
    (7004, "GetSwingHeight"),
    (7005, "GetStandHeight"),
    (7006, "GetPhase"),
    (7103, "SetSwingHeight"),
    (7104, "SetStandHeight"),
    (7106, "SetArmTask"),
];

/// The service, with the state of a humanoid that was set last, and its run.
#[derive(Debug, Default)]
pub(super) struct Sport(Mutex<(u32, i64)>);

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
            1001 => self.assume(Posture::Damp, DAMPED, ends),
            1002 | 1004 | 1006 => self.assume(Posture::Up, STANDING, ends),
            1003 => answered(order(VelocityCommand::STAND, None, ends), ends),
            // what a humanoid does not fold is damped
            1005 => self.assume(Posture::Down, DAMPED, ends),
            1008 => {
                let Move { x, y, z } = read(call, "{\"x\": m/s, \"y\": m/s, \"z\": rad/s}", ends)?;
                walk([x, y, z], None, ends)
            }
            // SwitchJoystick, SetBalanceMode: there is nothing to switch
            1027 | 7102 => Ok(String::new()),
            7001 => {
                let (_, state) = *self.state(ends);
                Ok(serde_json::json!({ "data": state }).to_string())
            }
            7101 => self.set_state(read_state(call, ends)?, ends),
            7105 => {
                let what = "{\"velocity\": [m/s, m/s, rad/s], \"duration\": s}";
                let Velocity { velocity: values, duration } = read(call, what, ends)?;
                walk(values, duration, ends)
            }
            id => {
                let found = NAMES.iter().find(|(number, _)| *number == id);
                let name = found.map_or("is unknown", |(_, name)| name);
                let what = if name.contains("Get") { "value" } else { "motion" };
                refuse(
                    format!("sport {id} {name}: there is no such {what} in the simulation"),
                    ends,
                )
            }
        }
    }

    /// Forgets the state: its posture has been released.
    pub(super) fn forget(&self) {
        self.kept().1 = NONE;
    }

    /// The state that was set last, unless its run has ended, or the posture that came with it: by
    /// a stop, or because another controller has the robot.
    fn state(&self, ends: &Ends) -> MutexGuard<'_, (u32, i64)> {
        let mut kept = self.kept();
        let run_id = ends.subscriber.now().run_id;
        let started = kept.1 == START && ends.subscriber.is_taken();
        if kept.0 != run_id || !(started || ends.subscriber.is_following_own()) {
            *kept = (run_id, NONE);
        }
        kept
    }

    fn kept(&self) -> MutexGuard<'_, (u32, i64)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a posture; `state` is then that of a humanoid.
    fn assume(&self, posture: Posture, state: i64, ends: &Ends) -> Answer {
        let mut kept = self.state(ends);
        assume(posture, ends)?;
        kept.1 = state;
        Ok(String::new())
    }

    /// `SetFsmId`. Start (200) leaves the robot to a controller that has it already, which walks.
    fn set_state(&self, to: i64, ends: &Ends) -> Answer {
        let mut kept = self.state(ends);
        let stands = matches!(kept.1, STANDING | START | 702 | 706);
        let (posture, next) = match to {
            0 | DAMPED | 3 => (Some(Posture::Damp), to),
            706 if stands => (Some(Posture::Damp), SQUATTING),
            START if ends.subscriber.is_taken() => (None, to),
            STANDING | START | 702 | 706 => (Some(Posture::Up), to),
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
        kept.1 = next;
        Ok(String::new())
    }
}

fn refuse(text: String, ends: &Ends) -> Answer {
    ends.counters.count(TOPIC, &Refused::new(RosRejection::Call, text));
    Err(NOT_IMPLEMENTED)
}

fn assume(posture: Posture, ends: &Ends) -> Answer {
    answered(ends.subscriber.follow_own(ends.postures.trajectory(posture)), ends)
}

fn answered(done: Result<(), Refused>, ends: &Ends) -> Answer {
    done.map(|()| String::new()).map_err(|refused| count(&refused, ends))
}

/// Counts why a call has no effect.
fn count(refused: &Refused, ends: &Ends) -> i32 {
    ends.counters.count(TOPIC, refused);
    WRONG_PARAMETER
}

/// The parameter of a call, which must be `what`.
fn read<T: for<'a> Deserialize<'a>>(call: &Request, what: &str, ends: &Ends) -> Result<T, i32> {
    parameter(call).inspect_err(|_| {
        let (id, given) = (call.header.identity.api_id, &call.parameter);
        let text = format!("the parameter of sport {id} is {given:.80?}; it must be {what}");
        count(&Refused::new(RosRejection::Call, text), ends);
    })
}

/// The parameter of `SetFsmId`.
fn read_state(call: &Request, ends: &Ends) -> Result<i64, i32> {
    let Number { data } = read(call, "{\"data\": a whole number}", ends)?;
    let whole = data.fract() == 0.0 && data.abs() < 1e9;
    if whole {
        return Ok(data as i64);
    }
    let text =
        format!("data of sport 7101 SetFsmId is {data}; it must be a whole number of -1e9 to 1e9");
    Err(count(&Refused::new(RosRejection::Call, text), ends))
}

/// A velocity for what walks: the daemon's own walker if it has one, unless another controller has
/// the robot.
fn walk(values: [f64; 3], lasts_s: Option<f64>, ends: &Ends) -> Answer {
    if let Some(s) = lasts_s.filter(|s| !s.is_finite() || *s < 0.0) {
        let text = format!("duration of sport 7105 SetVelocity is {s} s; it must be 0 or more");
        return Err(count(&Refused::new(RosRejection::Call, text), ends));
    }
    let velocity = VelocityCommand::from(values);
    answered(ends.subscriber.walk(&velocity, || order(velocity, lasts_s, ends)), ends)
}

fn order(velocity: VelocityCommand, lasts_s: Option<f64>, ends: &Ends) -> Result<(), Refused> {
    let ordered = ends.velocity.order(velocity, lasts_s);
    ordered.map_err(|refusal| Refused::new(RosRejection::Call, refusal.text))
}
