//! Unitree's services, each a topic of calls and one of answers; `motion_switcher` itself.
//!
//! Source: unitree_sdk2_python, `rpc` and `comm/motion_switcher`.

use std::sync::{Arc, Mutex, PoisonError};

use serde::Deserialize;

use super::command_subscriber::CommandSubscriber;
use super::counters::RosCounters;
use super::messages::Message;
use super::naming::End;
use super::postures::Postures;
use super::timed_velocity::TimedVelocity;
use super::topics::MessageType;
use super::unitree::{Guard, Request, RequestHeader, Response, ResponseHeader, Status};
use super::unitree_sport::Sport;
use super::wires::{Out, Take, Wires};
use crate::bus::WallClock;
use hardstand_error::Result;

/// Codes of errors, as clients know them.
pub(super) const NOT_IMPLEMENTED: i32 = 3203;
pub(super) const WRONG_PARAMETER: i32 = 3204;

/// The call for the version, which each service has.
const VERSION: i64 = 1;

/// The mode of motion that is told while the daemon holds a posture by itself.
const POSTURE_MODE: &str = "normal";

/// What the services act on.
#[derive(Clone)]
pub(super) struct Ends {
    pub(super) subscriber: Arc<CommandSubscriber>,
    pub(super) postures: Arc<Postures>,
    pub(super) velocity: Arc<TimedVelocity>,
    pub(super) guard: Guard,
    pub(super) counters: Arc<RosCounters>,
}

/// Code and data of an answer.
pub(super) type Answer = std::result::Result<String, i32>;

/// Declares both services.
pub(super) fn serve(wires: &mut Wires<'_>, ends: &Ends) -> Result<()> {
    let sport = Arc::new(Sport::default());
    let (switcher, own, released) = (Switcher::default(), ends.clone(), Arc::clone(&sport));
    service(wires, "motion_switcher", ends, move |call| switcher.answer(call, &released, &own))?;
    let own = ends.clone();
    service(wires, "sport", ends, move |call| sport.answer(call, &own))
}

fn service(
    wires: &mut Wires<'_>,
    name: &str,
    ends: &Ends,
    answer: impl Fn(&Request) -> Answer + Send + Sync + 'static,
) -> Result<()> {
    let answers = wires.publish(MessageType::of::<Response>(), &format!("/api/{name}/response"))?;
    let topic = format!("/api/{name}/request");
    let out = Mutex::new((answers, Vec::new()));
    let (clock, ends) = (wires.bus().wall_clock(), ends.clone());
    let named = topic.clone();
    let take: Take = Box::new(move |bytes, _| {
        ends.counters.count_called();
        if let Err(refused) = ends.guard.permit() {
            ends.counters.count(&named, &refused);
            return;
        }
        let (header, answer) = match Request::decode(bytes) {
            Ok(call) => {
                let answer = match call.header.identity.api_id {
                    VERSION => Ok("1.0.0.1".into()),
                    _ => answer(&call),
                };
                (call.header, answer)
            }
            Err(e) => {
                ends.counters.count(&named, &e.into());
                // a client waits for an answer to what is too long, too
                let Some(header) = Request::head(bytes) else { return };
                (header, Err(WRONG_PARAMETER))
            }
        };
        send(&out, &header, answer, &clock, &ends.counters);
    });
    wires.listen(MessageType::of::<Request>(), &topic, End::ReliableSubscriber, take)
}

fn send(
    out: &Mutex<(Out, Vec<u8>)>,
    call: &RequestHeader,
    answer: Answer,
    clock: &WallClock,
    counters: &RosCounters,
) {
    if call.policy.noreply {
        return;
    }
    let code = answer.as_ref().err().copied().unwrap_or(0);
    let header = ResponseHeader { identity: call.identity.clone(), status: Status { code } };
    let response = Response { header, data: answer.unwrap_or_default(), binary: Vec::new() };
    let mut out = out.lock().unwrap_or_else(PoisonError::into_inner);
    let (topic, buffer) = &mut *out;
    response.encode(buffer);
    topic.put(buffer, clock.now_ns(), counters);
}

/// The mode of motion that is active; none at first, so that low-level programs begin at once.
#[derive(Debug, Default)]
struct Switcher(Mutex<String>);

#[derive(Deserialize)]
struct Mode {
    name: String,
}

impl Switcher {
    fn answer(&self, call: &Request, sport: &Sport, ends: &Ends) -> Answer {
        let mut mode = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match call.header.identity.api_id {
            1001 => {
                // a posture must be released before low-level commands, as a mode of motion
                let own = mode.is_empty() && ends.subscriber.is_following_own();
                let name = if own { POSTURE_MODE } else { mode.as_str() };
                Ok(serde_json::json!({"form": "0", "name": name}).to_string())
            }
            1002 => {
                let chosen: Mode = parameter(call)?;
                *mode = chosen.name.chars().take(64).collect();
                Ok(String::new())
            }
            1003 => {
                mode.clear();
                ends.subscriber.end_following();
                sport.forget();
                Ok(String::new())
            }
            _ => Err(NOT_IMPLEMENTED),
        }
    }
}

/// Reads the parameter of a call, an object of JSON.
pub(super) fn parameter<T: for<'a> Deserialize<'a>>(call: &Request) -> std::result::Result<T, i32> {
    let text = call.parameter.trim_start();
    // a list is read as the fields of a structure, too
    let read = serde_json::from_str(text).ok().filter(|_| text.starts_with('{'));
    read.ok_or(WRONG_PARAMETER)
}
