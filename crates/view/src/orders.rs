//! Orders of the page: services in JSON that become orders to the daemon.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use foxglove::Schema;
use foxglove::websocket::service::{Request, Service, ServiceSchema};
use hardstand_client::Client;
use hardstand_error::{Error, ErrorKind, Result};
use hardstand_protocol::{
    ClearFaultsRequest, ControlRequest, FaultKind, FaultRequest, Order, PushRequest, SavedState,
    Scope, VelocityCommand,
};
use serde_json::{Map, Value, json};

use crate::pages::Pages;

/// Time for an answer of the daemon.
const PATIENCE: Duration = Duration::from_secs(3);
/// Snapshots that are kept; an older one is forgotten.
const SNAPSHOTS_MAX: usize = 100;

/// What the page can ask for, by name, and the fields of a request. Those of a fault depend on its
/// kind.
const NAMES: [(&str, &[&str]); 15] = [
    ("pause", &[]),
    ("resume", &[]),
    ("stop", &[]),
    ("arm", &[]),
    ("reset", &[]),
    ("step", &["ticks"]),
    ("run_until", &["time_s"]),
    ("speed", &["speed"]),
    ("snapshot", &[]),
    ("restore", &["id"]),
    ("push", &["link", "point_m", "force_n", "duration_s"]),
    ("friction", &["mu_static", "mu_kinetic"]),
    ("cmd_vel", &["velocity"]),
    ("fault", &[]),
    ("clear", &["kind"]),
];
/// What a fault acts on, one of them.
const PARTS: [&str; 5] = ["joint", "foot", "link", "station", "region"];

/// The connection with the daemon, if there is one.
pub(crate) type SharedClient = Arc<Mutex<Option<Arc<Client>>>>;

/// Carries out what pages ask for.
pub(crate) struct Orders {
    client: SharedClient,
    /// Published time at tick 0 of the run that is shown, ns: that of the runs before it.
    before_ns: Arc<AtomicU64>,
    pages: Arc<Pages>,
    snapshots: Mutex<(u64, VecDeque<(u64, SavedState)>)>,
}

impl Orders {
    pub(crate) fn new(client: SharedClient, before_ns: Arc<AtomicU64>, pages: Arc<Pages>) -> Self {
        Self { client, before_ns, pages, snapshots: Mutex::default() }
    }

    /// A service for each order.
    pub(crate) fn services(self: &Arc<Self>) -> Vec<Service> {
        let schema = |name: &str| {
            let object = || Schema::new(name, "jsonschema", br#"{"type":"object"}"#.as_slice());
            ServiceSchema::new(name).with_request("json", object()).with_response("json", object())
        };
        let service = |(name, _): &(&'static str, _)| {
            let (name, orders) = (*name, Arc::clone(self));
            Service::builder(format!("/hardstand/{name}"), schema(name)).blocking_handler_fn(
                move |request: Request| {
                    if !orders.pages.knows(request.client_id()) {
                        return Err("connect by the port of the page".into());
                    }
                    let answer = orders.answer(name, request.payload());
                    Ok::<Vec<u8>, String>(answer.to_string().into_bytes())
                },
            )
        };
        NAMES.iter().map(service).collect()
    }

    fn answer(&self, name: &str, payload: &[u8]) -> Value {
        let request = match serde_json::from_slice::<Value>(payload) {
            Ok(Value::Object(fields)) => Fields(fields),
            _ if payload.is_empty() => Fields(Map::new()),
            _ => {
                let text = format!("{name}: the request is no JSON object");
                return json!({ "ok": false, "text": text });
            }
        };
        match self.carry_out(name, &request) {
            Ok(mut answer) => {
                answer["ok"] = true.into();
                answer
            }
            Err(e) => json!({ "ok": false, "text": e.to_string() }),
        }
    }

    fn carry_out(&self, name: &str, request: &Fields) -> Result<Value> {
        if let Some((_, fields)) = NAMES.iter().find(|(of, _)| *of == name && name != "fault") {
            request.refuse_unknown(fields)?;
        }
        // not held: an emergency stop must not wait for an order of another page
        let client = self.client.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let none = || Error::new(ErrorKind::Bus, "no daemon answers");
        let client = client.as_deref().ok_or_else(none)?;
        let steer = |order: Order, number: u64| {
            let control = ControlRequest { number, ..ControlRequest::default() };
            client.steer(order, &control, PATIENCE)
        };
        let tick = match name {
            "pause" => steer(Order::Pause, 0)?,
            "resume" => steer(Order::Resume, 0)?,
            "stop" => steer(Order::Stop, 0)?,
            "arm" => steer(Order::Arm, 0)?,
            "reset" => steer(Order::Reset, 0)?,
            "step" => return step(client, request.number("ticks")?),
            "run_until" => {
                let before_ns = self.before_ns.load(Ordering::Relaxed) as f64;
                let until_ns = request.number("time_s")? * 1e9 - before_ns;
                let period_ns = client.model(PATIENCE)?.period_ns as f64;
                let until = (until_ns / period_ns).round().max(0.0) as u64;
                let tick = steer(Order::RunUntil, until)?;
                let text = match tick > until {
                    true => format!("paused at tick {tick}: the time is past"),
                    false => format!("runs until tick {tick}"),
                };
                return Ok(json!({ "text": text, "tick": tick }));
            }
            "speed" => client.set_speed(request.number("speed")?, PATIENCE)?,
            "snapshot" => return self.save(client),
            "restore" => self.restore(client, request.whole("id")?)?,
            "push" => push(client, request)?,
            "friction" => {
                let model = client.model(PATIENCE)?;
                let mu = [request.number("mu_static")?, request.number("mu_kinetic")?];
                client.set_friction(&model, Scope::All, mu[0], mu[1], PATIENCE)?
            }
            "cmd_vel" => {
                let velocity = VelocityCommand::from(request.vector("velocity")?);
                client.set_velocity(&velocity, PATIENCE)?
            }
            "fault" => fault(client, request)?,
            _ => {
                let kind = request.text("kind")?.unwrap_or_default();
                let request = ClearFaultsRequest { kind, ..ClearFaultsRequest::default() };
                client.clear_faults(&request, PATIENCE)?
            }
        };
        Ok(json!({ "text": format!("{} at tick {tick}", name.replace('_', " ")), "tick": tick }))
    }

    fn snapshots(&self) -> MutexGuard<'_, (u64, VecDeque<(u64, SavedState)>)> {
        self.snapshots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn save(&self, client: &Client) -> Result<Value> {
        let saved = client.snapshot(PATIENCE)?;
        let (mut snapshots, tick) = (self.snapshots(), saved.tick);
        snapshots.0 += 1;
        let id = snapshots.0;
        snapshots.1.push_back((id, saved));
        if snapshots.1.len() > SNAPSHOTS_MAX {
            snapshots.1.pop_front();
        }
        Ok(json!({ "text": format!("state {id} after tick {tick}"), "id": id, "tick": tick }))
    }

    fn restore(&self, client: &Client, id: u64) -> Result<u64> {
        let saved = self.snapshots().1.iter().find(|(own, _)| *own == id).map(|(_, s)| s.clone());
        let saved = saved.ok_or_else(|| input(format!("there is no state {id}")))?;
        client.restore(&saved, PATIENCE)
    }
}

fn input(text: String) -> Error {
    Error::new(ErrorKind::Input, text)
}

/// Ticks of a step at most: numbers of JSON are exact up to there.
const STEP_TICKS_MAX: f64 = 9_007_199_254_740_991.0;

/// Steps forward, or back.
fn step(client: &Client, ticks: f64) -> Result<Value> {
    if ticks == 0.0 || ticks.fract() != 0.0 || ticks.abs() > STEP_TICKS_MAX {
        let text = format!(
            "ticks is {ticks}; it must be a whole number of {} to {STEP_TICKS_MAX}, not 0",
            -STEP_TICKS_MAX
        );
        return Err(input(text));
    }
    let (text, tick) = if ticks > 0.0 {
        let control = ControlRequest { number: ticks as u64, ..ControlRequest::default() };
        ("pauses after", client.steer(Order::Step, &control, PATIENCE)?)
    } else {
        ("went back to", client.step_back(-ticks as u64, PATIENCE)?)
    };
    Ok(json!({ "text": format!("{text} tick {tick}"), "tick": tick }))
}

fn push(client: &Client, request: &Fields) -> Result<u64> {
    let ticks = duration_ticks(client, request)?;
    let push = PushRequest {
        link: request.text("link")?.unwrap_or_default(),
        point_link_m: request.vector("point_m")?,
        force_world_n: request.vector("force_n")?,
        ticks,
    };
    client.push(&push, PATIENCE)
}

fn fault(client: &Client, request: &Fields) -> Result<u64> {
    let kind = request.text("kind")?.unwrap_or_default();
    let Some(row) = FaultKind::TABLE.iter().find(|row| row.name == kind) else {
        return Err(input(format!("kind is {kind:?}; docs/faults.md lists the kinds")));
    };
    let parameters = row.parameters.iter().map(|p| p.name);
    let known: Vec<&str> =
        ["kind", "duration_s"].into_iter().chain(PARTS).chain(parameters).collect();
    request.refuse_unknown(&known)?;
    let (part, name) = request.part()?;
    let mut values = Vec::new();
    for p in row.parameters {
        match (request.0.get(p.name), p.default) {
            (None | Some(Value::Null), Some(default)) => {
                values.extend(std::iter::repeat_n(default, p.count));
            }
            _ if p.count == 3 => values.extend(request.vector(p.name)?),
            _ => values.push(request.number(p.name)?),
        }
    }
    let ticks = match request.0.get("duration_s") {
        None | Some(Value::Null) => 0,
        _ => duration_ticks(client, request)?,
    };
    let request = FaultRequest { kind, part: part.into(), name, values, ticks };
    client.fault(&request, PATIENCE)
}

/// `duration_s` in ticks, at least one.
fn duration_ticks(client: &Client, request: &Fields) -> Result<u64> {
    let period_ns = client.model(PATIENCE)?.period_ns as f64;
    let duration_s = request.number("duration_s")?;
    let ticks = (duration_s * 1e9 / period_ns).round() as u64;
    if ticks == 0 {
        let tick_s = period_ns * 1e-9;
        return Err(input(format!("duration_s is {duration_s}; at least one tick, {tick_s} s")));
    }
    Ok(ticks)
}

/// The fields of a request.
struct Fields(Map<String, Value>);

impl Fields {
    fn refuse_unknown(&self, known: &[&str]) -> Result<()> {
        let Some(name) = self.0.keys().find(|name| !known.contains(&name.as_str())) else {
            return Ok(());
        };
        let known = if known.is_empty() { "nothing".into() } else { known.join(", ") };
        Err(input(format!("{name} is unknown; known here: {known}")))
    }

    fn number(&self, name: &str) -> Result<f64> {
        let found = self.0.get(name).and_then(Value::as_f64).filter(|x| x.is_finite());
        found.ok_or_else(|| input(format!("{name} is missing or not a number")))
    }

    fn whole(&self, name: &str) -> Result<u64> {
        let found = self.0.get(name).and_then(Value::as_u64);
        found.ok_or_else(|| input(format!("{name} is missing or not a whole number")))
    }

    /// `None` if it is missing, null or empty.
    fn text(&self, name: &str) -> Result<Option<String>> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone()).filter(|text| !text.is_empty())),
            Some(other) => Err(input(format!("{name} is {other}; it must be a string in quotes"))),
        }
    }

    /// What a fault acts on: the kind of part, and its name; empty if it names none.
    fn part(&self) -> Result<(&'static str, String)> {
        let mut found = Vec::new();
        for part in PARTS {
            found.extend(self.text(part)?.map(|name| (part, name)));
        }
        if let [(a, _), (b, _), ..] = &found[..] {
            return Err(input(format!("{a} and {b} are given; a fault acts on one of them")));
        }
        Ok(found.pop().unwrap_or_default())
    }

    fn vector(&self, name: &str) -> Result<[f64; 3]> {
        let list = self.0.get(name).and_then(Value::as_array);
        let numbers: Option<Vec<f64>> = list.and_then(|l| l.iter().map(Value::as_f64).collect());
        let found = numbers.and_then(|n| <[f64; 3]>::try_from(n).ok());
        found.ok_or_else(|| input(format!("{name} is missing or not three numbers")))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests fail by panic")]
mod tests {
    use super::{Fields, NAMES};
    use serde_json::json;

    #[test]
    fn a_field_that_an_order_does_not_have_is_refused() {
        let (_, known) = NAMES.iter().find(|(name, _)| *name == "push").unwrap();
        let told = |request: serde_json::Value| {
            let fields = Fields(request.as_object().unwrap().clone());
            fields.refuse_unknown(known).map_err(|e| e.to_string())
        };
        assert_eq!(told(json!({ "link": "trunk", "force_n": [0, 0, 1] })), Ok(()));
        let text = told(json!({ "link": "trunk", "force": [0, 0, 1] })).unwrap_err();
        let wanted = "force is unknown; known here: link, point_m, force_n, duration_s";
        assert!(text.contains(wanted), "{text}");
    }

    #[test]
    fn a_value_of_another_type_is_not_taken_for_none() {
        let fields = |request: serde_json::Value| Fields(request.as_object().unwrap().clone());
        let text = fields(json!({ "kind": 5 })).text("kind").unwrap_err().to_string();
        assert!(text.contains("kind is 5; it must be a string in quotes"), "{text}");
        assert!(fields(json!({ "id": 1.9 })).whole("id").is_err());
        assert_eq!(fields(json!({ "id": 2 })).whole("id").unwrap(), 2);

        let part = |request| fields(request).part();
        assert_eq!(part(json!({ "joint": null, "foot": "" })).unwrap(), ("", String::new()));
        assert_eq!(part(json!({ "foot": "FL" })).unwrap(), ("foot", "FL".to_string()));
        assert!(part(json!({ "joint": 5 })).is_err());
        let text = part(json!({ "joint": "a", "foot": "FL" })).unwrap_err().to_string();
        assert!(text.contains("joint and foot are given"), "{text}");
    }
}
