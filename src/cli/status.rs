//! `hardstand status`: the status of a running daemon.

use std::io::IsTerminal as _;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use crate::rt::Grants;
use hardstand_error::Result;
use hardstand_protocol::{
    AGE_EDGES_TICKS, Authority, ControllerReading, Distribution, LATENCY_EDGES_NS, Mode, Phase,
    StatusReading,
};

use super::arguments::StatusArguments;
use super::histogram::{self, bars, duration, microseconds};
use super::{ExitCode, show, stop_on_signal};

/// Time to find the daemon.
const PATIENCE: Duration = Duration::from_secs(5);
/// Period of the daemon's status.
const EVERY: Duration = Duration::from_secs(1);

pub(super) fn status(a: &StatusArguments) -> Result<ExitCode> {
    let stop = stop_on_signal()?;
    let client = a.daemon.client()?;
    let renew = a.watch && !a.json && std::io::stdout().is_terminal();
    loop {
        let status = client.status(PATIENCE)?;
        if a.json {
            show::line(&as_json(&a.daemon.robot, &status).to_string());
        } else {
            let clear = if renew { "\x1b[H\x1b[2J" } else { "" };
            show::line(&format!("{clear}{}", as_text(&a.daemon.robot, &status, a.all)));
        }
        let again = Instant::now() + EVERY;
        while a.watch && Instant::now() < again && !stop.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(20));
        }
        if !a.watch || stop.load(Ordering::Relaxed) {
            return Ok(ExitCode::Done);
        }
    }
}

fn as_text(robot: &str, s: &StatusReading, all: bool) -> String {
    let mut lines = head(robot, s);
    let latency = |d: &Distribution| {
        let numbers = microseconds(&[d.p50, d.p99, d.p99_9, d.max]);
        format!("{numbers} (p50 / p99 / p99.9 / max)")
    };
    if s.speed > 0.0 {
        lines.push(format!("wake-up    {}", latency(&s.wakeup_latency_ns)));
        lines.extend(bars(&s.wakeup_latency_ns.counts, &LATENCY_EDGES_NS, duration));
    }
    lines.push(format!("tick cost  {}", latency(&s.tick_cost_ns)));
    lines.extend(bars(&s.tick_cost_ns.counts, &LATENCY_EDGES_NS, duration));
    let d = &s.applied_age_ticks;
    let of = format!("{} / {} / {} / {}", d.p50, d.p99, d.p99_9, d.max);
    lines.push(format!("ages       {of} ticks (p50 / p99 / p99.9 / max) of applied commands"));
    lines.extend(bars(&d.counts, &AGE_EDGES_TICKS, |ticks| ticks.to_string()));
    lines.extend(counters(s, all));
    lines.join("\n")
}

fn head(robot: &str, s: &StatusReading) -> Vec<String> {
    let pace = match s.speed {
        0.0 => "free pace".into(),
        1.0 => "real time".into(),
        speed => format!("{speed} × real time"),
    };
    let (mode, phase) = (Mode::name_of(s.mode), Phase::name_of(s.phase));
    let (time_s, rtf) = (s.time_ns as f64 / 1e9, s.real_time_factor);
    let mut lines = vec![
        format!("daemon     {robot}: {phase}, {mode}, {pace}, run {}", s.run_id),
        format!("time       {time_s:.3} s simulated, tick {}, rtf {rtf:.2}", s.tick),
    ];
    if s.failure > 0 {
        lines.push(format!("failure    number {} (docs/protocol.md, state)", s.failure));
    }
    let authority = Authority::name_of(s.authority);
    lines.push(match (s.command_age_ticks, s.command_session) {
        (u32::MAX, _) | (_, 0) => format!("command    {authority}: no session owns the robot"),
        (age, owner) => format!("command    {authority}, age {age} ticks, session {owner:016x}"),
    });
    if !s.missing.is_empty() {
        lines.push(format!("waits for  {}", s.missing.join(", ")));
    }
    for c in &s.controllers {
        let role = ["required", "advisory", "observer"].get(usize::from(c.role)).unwrap_or(&"?");
        lines.push(format!(
            "joined     {}: {role}, {} joints, every {} ticks from {}, applies {} later, session \
             {:016x}",
            c.name, c.joints, c.period_ticks, c.phase_ticks, c.offset_ticks, c.session
        ));
    }
    lines.push(format!("real time  {}", grants(s).summary()));
    lines.extend(s.refused.iter().map(|r| format!("degraded   the system refused {r}")));
    lines
}

fn grants(s: &StatusReading) -> Grants {
    Grants {
        fifo_priority: (s.fifo_priority > 0).then_some(s.fifo_priority),
        core: (s.core != u32::MAX).then_some(s.core as usize),
        memory_locked: s.memory_locked == 1,
        refused: s.refused.clone(),
        ..Grants::default()
    }
}

fn counters(s: &StatusReading, all: bool) -> Vec<String> {
    let mut shown: Vec<_> = s.counters.iter().filter(|c| all || c.value > 0).collect();
    shown.sort_by_key(|c| c.value == 0); // counters above 0 first
    if shown.is_empty() {
        return vec!["counters   all 0".into()];
    }
    let line = |(i, c): (usize, &&hardstand_protocol::Counter)| {
        format!("{:<10} {:>12}  {}", if i == 0 { "counters" } else { "" }, c.value, c.name)
    };
    shown.iter().enumerate().map(line).collect()
}

/// A session as 16 hexadecimal digits: not every reader of JSON has whole numbers of 64 bits.
fn controller(c: &ControllerReading) -> Value {
    let mut all = json!(c);
    all["session"] = format!("{:016x}", c.session).into();
    all
}

/// The fields that docs/protocol.md promises.
pub(super) fn as_json(robot: &str, s: &StatusReading) -> Value {
    let owner = (s.command_session != 0).then(|| format!("{:016x}", s.command_session));
    let counters: Map<String, Value> =
        s.counters.iter().map(|c| (c.name.clone(), c.value.into())).collect();
    let grants = grants(s);
    json!({
        "robot": robot,
        "run_id": s.run_id,
        "tick": s.tick,
        "time_ns": s.time_ns,
        "period_ns": s.period_ns,
        "mode": Mode::name_of(s.mode),
        "speed": s.speed,
        "phase": Phase::name_of(s.phase),
        "failure": s.failure,
        "authority": Authority::name_of(s.authority),
        "command_age_ticks": (s.command_age_ticks != u32::MAX).then_some(s.command_age_ticks),
        "command_session": owner,
        "real_time_factor": s.real_time_factor,
        "fifo_priority": grants.fifo_priority,
        "core": grants.core,
        "memory_locked": grants.memory_locked,
        "wakeup_latency_ns": histogram::as_json(&s.wakeup_latency_ns, &LATENCY_EDGES_NS),
        "tick_cost_ns": histogram::as_json(&s.tick_cost_ns, &LATENCY_EDGES_NS),
        "applied_age_ticks": histogram::as_json(&s.applied_age_ticks, &AGE_EDGES_TICKS),
        "counters": counters,
        "refused": grants.refused,
        "controllers": s.controllers.iter().map(controller).collect::<Vec<Value>>(),
        "missing": s.missing,
    })
}
