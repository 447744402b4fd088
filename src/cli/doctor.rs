//! `hardstand doctor`: is this machine fit for real time?

use std::path::Path;

use serde_json::{Value, json};

use crate::config::Scenario;
use crate::doctor::{Band, Finding, Level, Machine, Measured, examine, measure, sandbox, scenario};
use crate::rt::pick_core;
use hardstand_error::{Error, ErrorKind, Result};
use hardstand_protocol::LATENCY_EDGES_NS;

use super::arguments::DoctorArguments;
use super::histogram::{self, bars, duration, microseconds};
use super::{ExitCode, plot, progress, run, show, stop_on_signal};

const SECONDS_MAX: f64 = 604_800.0;

pub(super) fn doctor(a: &DoctorArguments) -> Result<ExitCode> {
    let stop = stop_on_signal()?;
    if !(1.0..=SECONDS_MAX).contains(&a.seconds) {
        let text = format!("--seconds is {}; it must be 1 to {SECONDS_MAX} (a week)", a.seconds);
        return Err(Error::new(ErrorKind::Input, text));
    }
    if let Some(file) = &a.plot {
        plot::check(file, a.scenario.as_deref())?; // now, not after a measurement of hours
    }
    let scenario = scenario(a.scenario.as_deref(), &a.sets, a.seconds)?;
    let core = pick_core(scenario.realtime.core).unwrap_or(0);
    let machine = Machine::new(Path::new("/"), core, scenario.realtime.priority);
    if let Some(cores) = machine.cores_instead() {
        let text = format!(
            "realtime.core is {core}, and this machine has no such core; it has {cores}: choose \
             one of these"
        );
        return Err(Error::new(ErrorKind::Input, text));
    }
    let mut findings = examine(&machine);
    findings.push(sandbox());
    if !a.json {
        show_findings(&findings, core);
        let rate_hz = 1_000_000_000 / scenario.spec.period_ns;
        show::line(&format!("\nmeasuring {} s of the loop at {rate_hz} Hz …", a.seconds));
    }
    let bar = progress::bar(a.seconds.ceil() as u64, "measuring");
    let measured = measure(&scenario, &stop, |time_s| bar.set_position(time_s as u64))?;
    bar.finish_and_clear();
    if a.json {
        show::line(&as_json(&scenario, &findings, &measured).to_string());
    } else {
        show_measured(&measured);
    }
    // last: print what took hours to measure before the file can fail
    if let Some(file) = &a.plot {
        plot::latency(file, &measured)?;
    }
    let code = run::code_of(&measured.summary);
    let usable = measured.times().band().is_usable();
    Ok(if code == ExitCode::Done && !usable { ExitCode::Negative } else { code })
}

fn show_findings(findings: &[Finding], core: usize) {
    show::line(&format!("this machine, with the physics thread on core {core}:\n"));
    for f in findings {
        let mark = match f.level {
            Level::Ok => "ok",
            Level::Advice => "advice",
            Level::Bad => "BAD",
            Level::Unknown => "unknown",
        };
        show::line(&format!("{mark:<8} {:<16} {}", f.id, f.found));
        for (when, command) in [("now", &f.now), ("for good", &f.for_good)] {
            if let Some(command) = command {
                show::line(&format!("{:>24}   {command}", format!("{when}:")));
            }
        }
    }
}

fn show_measured(m: &Measured) {
    let (s, times) = (&m.summary, m.times());
    show::line(&format!("real time  {}", m.grants.summary()));
    for refused in &m.grants.refused {
        show::line(&format!("degraded   the system refused {refused}"));
    }
    let percentiles = "p50 / p99 / p99.9 / p99.99 / max";
    for (name, d) in
        [("wake-up", &s.status.wakeup_latency_ns), ("tick cost", &s.status.tick_cost_ns)]
    {
        let numbers = microseconds(&[d.p50, d.p99, d.p99_9, d.p99_99, d.max]);
        show::line(&format!("\n{name:<10} {numbers} ({percentiles})"));
        for line in bars(&d.counts, &LATENCY_EDGES_NS, duration) {
            show::line(&line);
        }
    }
    show::line(&format!(
        "\nticks      {} in {:.1} s, {} deadlines missed, {} reports lost",
        s.ticks,
        s.wall_s,
        times.missed_deadlines,
        s.status.counter("reports_dropped")
    ));
    if let Some(t) = &m.thread {
        show::line(&format!(
            "thread     in {:.0} s: {} minor, {} major page faults, {} waits, made room {} times",
            t.seconds, t.minor_faults, t.major_faults, t.voluntary_switches, t.involuntary_switches
        ));
    }
    if let Some(steal_s) = m.steal_s {
        show::line(&format!("steal      the host took {steal_s:.2} s from the physics core"));
    }
    show_verdict(times.band(), times.period_share());
}

fn show_verdict(band: Band, period_share: f64) {
    show::line("");
    for b in Band::ALL {
        let mark = if b == band { "→" } else { " " };
        show::line(&format!("  {mark} {:<18} {}", b.name(), b.condition()));
    }
    let percent = 100.0 * period_share;
    show::line(&format!("\nverdict    {}: {}", band.name(), band.meaning()));
    show::line(&format!("           99.9 % of the wake-ups took ≤ {percent:.1} % of the period"));
    show::line("           a short run without load proves little: see docs/real-time.md");
}

/// The fields that docs/real-time.md promises.
fn as_json(scenario: &Scenario, findings: &[Finding], m: &Measured) -> Value {
    let (s, times) = (&m.summary, m.times());
    let band = times.band();
    let grants = &m.grants;
    json!({
        "findings": findings,
        "run": {
            "robot": scenario.bus.robot,
            "period_ns": times.period_ns,
            "ticks": s.ticks,
            "wall_s": s.wall_s,
            "fifo_priority": grants.fifo_priority,
            "core": grants.core,
            "memory_locked": grants.memory_locked,
            "refused": grants.refused,
            "wakeup_latency_ns": histogram::as_json(&s.status.wakeup_latency_ns, &LATENCY_EDGES_NS),
            "tick_cost_ns": histogram::as_json(&s.status.tick_cost_ns, &LATENCY_EDGES_NS),
            "missed_deadlines": times.missed_deadlines,
            "reports_dropped": s.status.counter("reports_dropped"),
            "physics_thread": m.thread,
            "steal_s": m.steal_s,
        },
        "verdict": {
            "band": band,
            "usable": band.is_usable(),
            "wakeup_share_of_period": times.period_share(),
            "missed_share": times.missed_share(),
        },
    })
}
