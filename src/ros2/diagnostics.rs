//! The status as a ROS diagnostics message.

use super::field::Byte;
use super::messages::{DiagnosticArray, DiagnosticStatus, Header, KeyValue};
use super::readings::time;
use hardstand_protocol::{Authority, Phase, StatusReading};

const OK: Byte = Byte(0);
const WARN: Byte = Byte(1);
const ERROR: Byte = Byte(2);

/// The message on `/diagnostics` for `status`, with `before` as the previous status: one entry for
/// the loop, one for the commands; their names begin with `prefix`. `last_refusal` describes the
/// last message that was not a command.
#[must_use]
pub fn diagnostics(
    (prefix, robot): (&str, &str),
    status: &StatusReading,
    before: &StatusReading,
    last_refusal: &str,
) -> DiagnosticArray {
    let header = Header { stamp: time(status.time_ns), ..Default::default() };
    let part = |name: &str, (level, message): (Byte, String), values: Vec<KeyValue>| {
        let (name, hardware_id) = (format!("{prefix}{name}"), robot.into());
        DiagnosticStatus { level, name, message, hardware_id, values }
    };
    let status = vec![
        part("loop", loop_verdict(status, before), loop_values(status)),
        part("commands", command_verdict(status, before), command_values(status, last_refusal)),
    ];
    DiagnosticArray { header, status }
}

fn grown(status: &StatusReading, before: &StatusReading, name: &str) -> u64 {
    status.counter(name).saturating_sub(before.counter(name))
}

fn loop_verdict(status: &StatusReading, before: &StatusReading) -> (Byte, String) {
    let missed = grown(status, before, "missed_deadlines");
    match Phase::from_code(status.phase) {
        Some(Phase::Failed) => (ERROR, format!("stopped by plant failure {}", status.failure)),
        Some(Phase::Waiting) => (OK, "waiting for a controller".into()),
        Some(Phase::Paused) => (OK, "paused".into()),
        Some(Phase::Awaiting) => (OK, format!("waiting for {}", status.missing.join(", "))),
        _ if missed > 0 => (WARN, format!("{missed} deadlines missed in the last second")),
        _ if !status.refused.is_empty() => (WARN, status.refused.join("; ")),
        _ => (OK, "on time".into()),
    }
}

fn command_verdict(status: &StatusReading, before: &StatusReading) -> (Byte, String) {
    let rejected = |s: &StatusReading| -> u64 {
        let refusals = s.counters.iter().filter(|c| c.name.contains("rejected_"));
        refusals.map(|c| c.value).sum()
    };
    let refused = rejected(status).saturating_sub(rejected(before));
    let authority = Authority::name_of(status.authority);
    if status.phase == Phase::Running.code() && !Authority::is_command(status.authority) {
        (WARN, format!("no controller commands the robot: {authority}"))
    } else if refused > 0 {
        (WARN, format!("{refused} commands rejected in the last second"))
    } else {
        (OK, authority.into())
    }
}

fn value(key: &str, value: impl Into<String>) -> KeyValue {
    KeyValue { key: key.into(), value: value.into() }
}

fn count(key: &str, count: u64) -> KeyValue {
    value(key, count.to_string())
}

fn loop_values(s: &StatusReading) -> Vec<KeyValue> {
    vec![
        count("tick", s.tick),
        value("real_time_factor", format!("{:.3}", s.real_time_factor)),
        count("missed_deadlines", s.counter("missed_deadlines")),
        count("wakeup_latency_p99_ns", s.wakeup_latency_ns.p99),
        count("wakeup_latency_max_ns", s.wakeup_latency_ns.max),
        count("tick_cost_p99_ns", s.tick_cost_ns.p99),
        count("snapshots_dropped", s.counter("snapshots_dropped")),
        count("log_ticks_dropped", s.counter("log_ticks_dropped")),
    ]
}

fn command_values(s: &StatusReading, last_refusal: &str) -> Vec<KeyValue> {
    let age = if s.command_age_ticks == u32::MAX {
        "none".to_string()
    } else {
        s.command_age_ticks.to_string()
    };
    let mut values = vec![
        value("authority", Authority::name_of(s.authority)),
        value("command_age_ticks", age),
        count("command_age_p99_ticks", s.applied_age_ticks.p99),
        value("command_session", format!("{:016x}", s.command_session)),
        value("last_refusal", last_refusal),
    ];
    let counts = |name: &str| {
        ["commands_", "rejected_", "ros2_"].iter().any(|prefix| name.starts_with(prefix))
    };
    values.extend(s.counters.iter().filter(|c| counts(&c.name)).map(|c| count(&c.name, c.value)));
    values
}
