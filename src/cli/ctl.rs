//! `hardstand ctl`: time, state and world of a running daemon.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::replay::{check_replaced, read_state, write_state};
use hardstand_client::Client;
use hardstand_error::{Error, ErrorKind, Result};
use hardstand_protocol::{
    ClearFaultsRequest, ControlRequest, FaultRequest, ModelReply, Order, Phase, PushRequest, Scope,
    VelocityCommand,
};

use super::arguments::{
    AnchorsArguments, ClearArguments, CtlArguments, CtlKind, DaemonArguments, FaultArguments,
    FrictionArguments, PushArguments, StateFileArguments, StepArguments, Switch,
};
use super::{ExitCode, show, stop_on_signal};

/// Time to find the daemon, and again to get its answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// What an order led to.
#[derive(Debug, Serialize)]
struct OrderResult<'a> {
    /// Word of the order.
    order: &'static str,
    /// Tick from whose start it holds, or after which the daemon pauses or goes on.
    tick: u64,
    /// File that was written or read.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(serialize_with = "crate::path_text::maybe")]
    file: Option<&'a Path>,
    #[serde(skip)]
    text: String,
}

impl OrderResult<'_> {
    fn new(order: Order, tick: u64, text: String) -> Self {
        Self { order: order.name(), tick, file: None, text }
    }
}

pub(super) fn ctl(a: &CtlArguments) -> Result<ExitCode> {
    let result = carry_out(&a.kind)?;
    if a.json {
        show::json(&result)?;
    } else {
        show::line(&result.text);
    }
    Ok(ExitCode::Done)
}

fn carry_out(kind: &CtlKind) -> Result<OrderResult<'_>> {
    Ok(match kind {
        CtlKind::Friction(a) => friction(a)?,
        CtlKind::Push(a) => push(a)?,
        CtlKind::Fault(a) => fault(a)?,
        CtlKind::CmdVel(a) => {
            let velocity = VelocityCommand::from([a.vx, a.vy, a.yaw_rate]);
            let tick = a.daemon.client()?.set_velocity(&velocity, PATIENCE)?;
            let (vx, vy, yaw_rate) = (a.vx, a.vy, a.yaw_rate);
            let text = format!("({vx}, {vy}) m/s, {yaw_rate} rad/s from tick {tick} on");
            OrderResult::new(Order::Velocity, tick, text)
        }
        CtlKind::Constraint(a) => {
            let on = a.state == Switch::On;
            let tick = a.daemon.client()?.set_constraint(&a.name, on, PATIENCE)?;
            let text =
                format!("{} {} from tick {tick} on", a.name, if on { "acts" } else { "ends" });
            OrderResult::new(Order::Constraint, tick, text)
        }
        CtlKind::Anchors(a) => anchors(a)?,
        CtlKind::Clear(a) => clear_faults(a)?,
        CtlKind::Pause(daemon) => {
            steer(daemon, Order::Pause, |tick| format!("paused after tick {tick}"))?
        }
        CtlKind::Resume(daemon) => {
            steer(daemon, Order::Resume, |tick| format!("continues after tick {tick}"))?
        }
        CtlKind::Step(a) => step(a)?,
        CtlKind::RunUntil(a) => run_on(&a.daemon.client()?, Order::RunUntil, a.tick, a.no_wait)?,
        CtlKind::Reset(a) => {
            let request = ControlRequest { rewind: a.rewind.into(), ..Default::default() };
            let tick = a.daemon.client()?.steer(Order::Reset, &request, PATIENCE)?;
            OrderResult::new(Order::Reset, tick, "begins again, as the next run".into())
        }
        CtlKind::Speed(a) => {
            let tick = a.daemon.client()?.set_speed(a.speed, PATIENCE)?;
            let pace = match a.speed {
                0.0 => "as fast as the machine allows".into(),
                speed => format!("at {speed} × real time"),
            };
            OrderResult::new(Order::Speed, tick, format!("{pace} from tick {tick} on"))
        }
        CtlKind::Stop(daemon) => steer(daemon, Order::Stop, |tick| {
            format!("stopped from tick {tick} on; hardstand ctl arm ends it")
        })?,
        CtlKind::Arm(daemon) => steer(daemon, Order::Arm, |tick| {
            format!("armed: commands are accepted from tick {tick} on")
        })?,
        CtlKind::Snapshot(a) => snapshot(a)?,
        CtlKind::Restore(a) => restore(a)?,
    })
}

/// Sends an order without arguments; `text` says what the tick in its answer means.
fn steer(
    daemon: &DaemonArguments,
    order: Order,
    text: impl FnOnce(u64) -> String,
) -> Result<OrderResult<'static>> {
    let tick = daemon.client()?.steer(order, &ControlRequest::default(), PATIENCE)?;
    Ok(OrderResult::new(order, tick, text(tick)))
}

/// Forward, or back.
fn step(a: &StepArguments) -> Result<OrderResult<'static>> {
    if a.ticks == 0 {
        let text = "N is 0; it must be a number of ticks, negative to go back";
        return Err(Error::new(ErrorKind::Input, text));
    }
    let client = a.daemon.client()?;
    if a.ticks > 0 {
        return run_on(&client, Order::Step, a.ticks.unsigned_abs(), a.no_wait);
    }
    let tick = client.step_back(a.ticks.unsigned_abs(), PATIENCE)?;
    let text = format!("paused after tick {tick}, as the next run");
    Ok(OrderResult::new(Order::Step, tick, text))
}

/// Steps, and waits until the steps are done unless `no_wait` is set.
fn run_on(
    client: &Client,
    order: Order,
    number: u64,
    no_wait: bool,
) -> Result<OrderResult<'static>> {
    let stop = stop_on_signal()?;
    let model = client.model(PATIENCE)?;
    let watcher = client.control(&model)?;
    let request = ControlRequest { number, ..Default::default() };
    let until = client.steer(order, &request, PATIENCE)?;
    if no_wait {
        return Ok(OrderResult::new(order, until, format!("will pause after tick {until}")));
    }
    let not_reached = |kind: ErrorKind, why: &str| {
        Error::new(kind, format!("the pause after tick {until} was not reached: {why}"))
    };
    let mut heard = Instant::now();
    while !stop.load(Ordering::Relaxed) {
        let Some(state) = watcher.next_state(Duration::from_millis(200))? else {
            // a slow robot may have none to tell
            if heard.elapsed() > PATIENCE {
                let why = "no state comes any more; the daemon has ended, or cannot be reached";
                client.status(PATIENCE).map_err(|_no_answer| not_reached(ErrorKind::Bus, why))?;
                heard = Instant::now();
            }
            continue;
        };
        heard = Instant::now();
        if state.run_id != model.run_id {
            let why = format!("run {} has begun; give the order again", state.run_id);
            return Err(not_reached(ErrorKind::Input, &why));
        }
        if state.phase == Phase::Failed.code() {
            return Err(not_reached(ErrorKind::Bus, "the run has ended; see `hardstand status`"));
        }
        if state.phase == Phase::Paused.code() && state.tick >= until {
            let text = format!("paused after tick {}", state.tick);
            return Ok(OrderResult::new(order, state.tick, text));
        }
    }
    Err(not_reached(ErrorKind::Bus, "the wait was interrupted; the order still holds"))
}

fn push(a: &PushArguments) -> Result<OrderResult<'_>> {
    let client = a.daemon.client()?;
    let model = client.model(PATIENCE)?;
    let ticks = ticks_of(a.duration, &model)?;
    let vector = |list: &[f64]| <[f64; 3]>::try_from(list).unwrap_or_default();
    let request = PushRequest {
        link: a.link.clone(),
        point_link_m: vector(&a.point),
        force_world_n: vector(&a.force),
        ticks,
    };
    let tick = client.push(&request, PATIENCE)?;
    let text =
        format!("push of {} with {:?} N for {ticks} ticks from tick {tick} on", a.link, a.force);
    Ok(OrderResult::new(Order::Push, tick, text))
}

fn fault(a: &FaultArguments) -> Result<OrderResult<'_>> {
    let client = a.daemon.client()?;
    let model = client.model(PATIENCE)?;
    let (part, name) = a.on.clone().unwrap_or_default();
    // 0 ticks: until it is cleared
    let ticks = a.duration_s.map_or(Ok(0), |s| ticks_of(s, &model))?;
    let whose = if name.is_empty() { String::new() } else { format!(" of {part} {name}") };
    let (kind, part, values) = (a.row.name.into(), part.into(), a.values.clone());
    let request = FaultRequest { kind, part, name, values, ticks };
    let tick = client.fault(&request, PATIENCE)?;
    let long = if ticks == 0 { "until it is cleared".into() } else { format!("for {ticks} ticks") };
    let text = format!("{}{whose} {long} from tick {tick} on", a.row.name);
    Ok(OrderResult::new(Order::Fault, tick, text))
}

fn clear_faults(a: &ClearArguments) -> Result<OrderResult<'_>> {
    let parts = [
        ("joint", &a.joint),
        ("foot", &a.foot),
        ("link", &a.link),
        ("station", &a.station),
        ("region", &a.region),
    ];
    let named = |(part, name): (&str, &Option<String>)| Some((part.into(), name.clone()?));
    let (part, name) = parts.into_iter().find_map(named).unwrap_or_default();
    let kind = a.kind.clone().unwrap_or_default();
    let request = ClearFaultsRequest { kind, part, name };
    let tick = a.daemon.client()?.clear_faults(&request, PATIENCE)?;
    Ok(OrderResult::new(Order::ClearFaults, tick, format!("cleared from tick {tick} on")))
}

/// A time in ticks, the nearest whole number.
/// `--duration` in ticks.
fn ticks_of(duration_s: f64, model: &ModelReply) -> Result<u64> {
    let ticks = (duration_s * 1e9 / model.period_ns as f64).round() as u64;
    if ticks == 0 {
        let tick_s = model.period_ns as f64 * 1e-9;
        let text = format!("--duration is {duration_s}; at least one tick, which is {tick_s} s");
        return Err(Error::new(ErrorKind::Input, text));
    }
    Ok(ticks)
}

fn snapshot(a: &StateFileArguments) -> Result<OrderResult<'_>> {
    check_replaced(&a.file)?;
    let saved = a.daemon.client()?.snapshot(PATIENCE)?;
    let (file, size) = (a.file.display(), write_state(&a.file, &saved)?);
    let text = format!("state after tick {} saved in {file} ({size} bytes)", saved.tick);
    let result = OrderResult::new(Order::Snapshot, saved.tick, text);
    Ok(OrderResult { file: Some(&a.file), ..result })
}

fn restore(a: &StateFileArguments) -> Result<OrderResult<'_>> {
    let saved = read_state(&a.file)?;
    let tick = a.daemon.client()?.restore(&saved, PATIENCE)?;
    let text = format!("continues after tick {tick}, as the next run");
    Ok(OrderResult { file: Some(&a.file), ..OrderResult::new(Order::Restore, tick, text) })
}

fn friction(a: &FrictionArguments) -> Result<OrderResult<'_>> {
    let client = a.daemon.client()?;
    let model = client.model(PATIENCE)?;
    let (scope, whose) = scope_of(&a.foot, &a.station, &a.region, &model)?;
    let (mu_s, mu_k) = (a.mu_static, a.mu_kinetic);
    let tick = client.set_friction(&model, scope, mu_s, mu_k, PATIENCE)?;
    let time_s = tick as f64 * model.period_ns as f64 * 1e-9;
    let text = format!(
        "friction of {whose}: static {mu_s}, kinetic {mu_k} from tick {tick} on ({time_s:.3} s)"
    );
    Ok(OrderResult::new(Order::Friction, tick, text))
}

fn anchors(a: &AnchorsArguments) -> Result<OrderResult<'_>> {
    let client = a.daemon.client()?;
    let model = client.model(PATIENCE)?;
    let (scope, whose) = scope_of(&a.foot, &a.station, &None, &model)?;
    let tick = client.reset_anchors(&model, scope, PATIENCE)?;
    let text = format!("anchors of {whose} begin anew at tick {tick}");
    Ok(OrderResult::new(Order::Anchors, tick, text))
}

/// The scope that the names select, and its text.
fn scope_of(
    foot: &Option<String>,
    station: &Option<String>,
    region: &Option<String>,
    model: &ModelReply,
) -> Result<(Scope, String)> {
    if let Some(name) = foot {
        let feet: Vec<&str> = model.feet.iter().map(|f| f.name.as_str()).collect();
        return Ok((Scope::Foot(index("foot", name, &feet)?), format!("foot {name}")));
    }
    if let Some(name) = station {
        let stations: Vec<&str> = model.stations.iter().map(|s| s.name.as_str()).collect();
        return Ok((Scope::Station(index("station", name, &stations)?), format!("station {name}")));
    }
    if let Some(name) = region {
        let regions: Vec<&str> = model.regions.iter().map(|r| r.name.as_str()).collect();
        return Ok((Scope::Region(index("region", name, &regions)?), format!("region {name}")));
    }
    Ok((Scope::All, "all stations".into()))
}

fn index(option: &str, name: &str, names: &[&str]) -> Result<u32> {
    let found = names.iter().position(|n| *n == name);
    found.map(|i| i as u32).ok_or_else(|| {
        let known = if names.is_empty() { "there are none".into() } else { names.join(", ") };
        Error::new(ErrorKind::Input, format!("--{option} is {name}; it must be one of: {known}"))
    })
}
