//! Prints lines of output, and the text of a running daemon.

use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::OnceLock;

use serde::Serialize;

use crate::config::{Mode, OverrunPolicy, Pace, Ros2Mode, Scenario};
use crate::daemon::{EndReport, SecondReport, Stall, Summary};
use crate::rt::Grants;
use hardstand_error::{Error, ErrorKind, Result};
use hardstand_physics::plant::Integrator;
use hardstand_protocol::Authority;
use hardstand_protocol::{Distribution, SavedState};

/// What first kept output from being written.
static LOST: OnceLock<io::Error> = OnceLock::new();

/// `println!`, but a closed pipe (`| head`) ends neither the run nor its log.
macro_rules! say {
    ($($text:tt)*) => {
        note_lost(writeln!(io::stdout(), $($text)*))
    };
}

fn note_lost(written: io::Result<()>) {
    if let Err(e) = unless_closed(written) {
        let _first = LOST.set(e).is_ok();
    }
}

/// A reader that has closed the pipe has read enough.
fn unless_closed(written: io::Result<()>) -> io::Result<()> {
    written.or_else(|e| if e.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(e) })
}

/// Whether all lines of output are written.
///
/// # Errors
/// [`ErrorKind::File`] if one is not, but not for a closed pipe.
pub(super) fn all_written() -> Result<()> {
    note_lost(io::stdout().flush());
    let lost = LOST.get();
    lost.map_or(Ok(()), |e| Err(Error::new(ErrorKind::File, format!("standard output: {e}"))))
}

/// The exit code of what was made of a log that may break off, and a note if it does.
#[cfg(any(feature = "zenoh", feature = "view"))]
pub(super) fn how_whole(damage: Option<&str>, made: &str) -> super::ExitCode {
    let Some(damage) = damage else { return super::ExitCode::Done };
    note(&format!("the log breaks off ({damage}); the {made} ends there"));
    super::ExitCode::Incomplete
}

/// Prints a line of output.
pub(super) fn line(text: &str) {
    say!("{text}");
}

/// Prints a typed result as one line of JSON.
///
/// # Errors
/// [`ErrorKind::Internal`] if it has no JSON; [`ErrorKind::File`] if it cannot be written, but not
/// for a closed pipe.
pub(super) fn json(result: &impl Serialize) -> Result<()> {
    let text = serde_json::to_string(result)
        .map_err(|e| Error::new(ErrorKind::Internal, format!("--json: {e}")))?;
    let mut out = io::stdout().lock();
    unless_closed(writeln!(out, "{text}").and_then(|()| out.flush()))
        .map_err(|e| Error::new(ErrorKind::File, format!("--json: standard output: {e}")))
}

/// Prints an error.
pub(super) fn error(e: &crate::Error) {
    let _written = writeln!(std::io::stderr(), "hardstand: {e}").is_ok();
}

/// Prints a remark that is not output.
pub(super) fn note(text: &str) {
    let _written = writeln!(std::io::stderr(), "hardstand: {text}").is_ok();
}

pub(super) fn scenario(s: &Scenario) {
    let integrator = match s.spec.integrator {
        Integrator::SemiImplicitEuler => "semi-implicit Euler",
        Integrator::Rk4 => "Runge-Kutta 4",
        Integrator::LinearlyImplicit => "linearly implicit",
    };
    say!(
        "robot      {}: {} joints, {:.2} kg, {} feet, {} contact stations",
        s.bus.robot,
        s.model.joint_count(),
        s.model.total_mass(),
        s.spec.feet.len(),
        s.spec.stations.len()
    );
    say!(
        "physics    {} Hz, {} micro-steps of {} µs, {integrator}",
        1_000_000_000 / s.spec.period_ns,
        s.spec.micro_steps,
        s.spec.micro_step_ns() as f64 / 1e3
    );
    for w in &s.warnings {
        say!("warning    {w}");
    }
}

/// The saved state in which a run begins.
pub(super) fn from(file: &Path, saved: &SavedState, period_ns: u64) {
    let (tick, time_s) = (saved.tick, saved.tick as f64 * period_ns as f64 * 1e-9);
    say!("from       {}: the state after tick {tick} ({time_s:.3} s)", file.display());
}

pub(super) fn ready(s: &Scenario, grants: &Grants) {
    if s.pace == Pace::Free {
        say!("pace       free: as fast as the machine allows");
    } else {
        say!("real time  {}", grants.summary());
    }
    for refused in &grants.refused {
        say!("degraded   the system refused {refused}");
    }
    match &grants.sandbox {
        Some(sandbox) => {
            say!("sandbox    {}", sandbox.summary());
            for missing in &sandbox.not_applied {
                say!("           {missing}");
            }
        }
        None => say!("sandbox    off"),
    }
    for kept in &grants.kept {
        say!("rights     keeps {kept}");
    }
    if cfg!(feature = "zenoh") {
        let on = s.bus.listen.join(", ");
        let on = if on.is_empty() { "no endpoint: bus.listen is empty" } else { &on };
        say!("bus        hardstand/{}/… on {on}", s.bus.robot);
        ros2(s);
    }
}

/// Where packets go besides the bus.
pub(super) fn packet_ports(s: &Scenario, udp: Option<SocketAddr>) {
    if let Some(address) = udp {
        say!("udp        {address}");
    }
    if let Some(memory) = &s.ports.shared_memory {
        say!("memory     {}", memory.path.display());
    }
}

/// What a ROS 2 user has to set.
fn ros2(s: &Scenario) {
    let (domain, listen) = (s.ros2.domain, &s.bus.listen);
    // where rmw_zenoh connects by default
    let usual = listen.iter().any(|e| e.starts_with("tcp/") && e.ends_with(":7447"));
    let elsewhere = match listen.first() {
        Some(endpoint) if !usual => {
            format!(" ZENOH_CONFIG_OVERRIDE='connect/endpoints=[\"{endpoint}\"]'")
        }
        _ => String::new(),
    };
    match s.ros2.mode {
        Ros2Mode::Off => {}
        Ros2Mode::RmwZenoh => {
            say!("ros 2      ROS_DOMAIN_ID={domain} RMW_IMPLEMENTATION=rmw_zenoh_cpp{elsewhere}")
        }
        Ros2Mode::Bridge => say!("ros 2      through a zenoh-bridge-ros2dds that connects to it"),
        Ros2Mode::Dds => {
            let (domain, interface) = (s.ros2.domain, &s.ros2.interface);
            say!("ros 2      on DDS, domain {domain}, interface {interface}");
        }
    }
}

/// How to start the example controller for this scenario.
pub(super) fn waiting(s: &Scenario) {
    let mut command = String::from("hardstand controller stand");
    if let Some(endpoint) = s.bus.listen.first().filter(|e| *e != "tcp/127.0.0.1:7447") {
        // an address at which it listens on all interfaces is none to connect to
        let endpoint = endpoint.replace("/0.0.0.0:", "/HOST:").replace("/[::]:", "/HOST:");
        command.push_str(&format!(" --connect {endpoint}"));
    }
    if s.bus.robot != "quadruped" {
        command.push_str(&format!(" --robot {}", s.bus.robot));
    }
    if s.control.mode != Mode::RealTime {
        let name = s.control.controllers.first().map_or("legs", String::as_str);
        command.push_str(&format!(" --join {name}"));
    }
    if let Some(access) = &s.bus.access {
        if access.users_file.is_some() {
            let user = access.controllers.first().map_or("USER", String::as_str);
            command.push_str(&format!(" --user {user} --password-file FILE"));
        }
        if access.tls.is_some() {
            command.push_str(" --tls-certificate FILE --tls-key FILE --tls-ca FILE");
        }
    }
    say!("waiting for a controller; the example controller is: {command}");
}

pub(super) fn paused(s: &Scenario, r: &SecondReport) {
    let (of, tick, time_s) = (of_robot(s), r.tick, r.time_s);
    say!("paused     {of}after tick {tick} ({time_s:.3} s), until `hardstand ctl resume`");
}

/// Whose line it is, where there are several robots.
pub(super) fn of_robot(s: &Scenario) -> String {
    if s.has_company() { format!("{}: ", s.bus.robot) } else { String::new() }
}

pub(super) fn second(s: &Scenario, r: &SecondReport) {
    let command = match (r.authority, r.command_age_ticks) {
        (Authority::Zero, None) => "none yet".into(),
        (authority, age) => {
            let name = authority.name();
            format!("{name}, age {} ticks", age.unwrap_or(0))
        }
    };
    say!(
        "{}t {:7.2} s | rtf {:.2} | height {:.3} m | tilt {:4.1}° | feet {:5.1} N of m·g {:.1} N | \
         command {command} | overruns {} | wake-up p99 {}",
        of_robot(s),
        r.time_s,
        r.real_time_factor,
        r.base_height_m,
        r.tilt_deg,
        r.foot_normal_sum_n,
        r.weight_n,
        r.missed_deadlines,
        microseconds(r.wakeup_p99_ns)
    );
}

pub(super) fn stall(s: &Scenario, stall: Stall) {
    let Pace::RealTime(policy) = s.pace else { return };
    let then = match policy {
        OverrunPolicy::Slip => "they are skipped".into(),
        OverrunPolicy::CatchUp { ticks_max } => {
            format!("up to {ticks_max} are run at once, the others skipped")
        }
        OverrunPolicy::Stop => "the run ends".into(),
    };
    let (of, missed, tick) = (of_robot(s), stall.missed, stall.tick);
    say!("stall      {of}{missed} deadlines missed at once before tick {tick}: {then}");
}

fn microseconds(ns: u64) -> String {
    format!("{:.0} µs", ns as f64 / 1e3)
}

/// One of several robots whose end comes next.
pub(super) fn end_of(s: &Summary) {
    say!();
    say!("robot      {}", s.robot);
}

pub(super) fn summary(s: &Summary) {
    let status = &s.status;
    say!();
    say!(
        "ran        {} ticks, {:.3} s simulated in {:.3} s of wall time",
        s.ticks,
        s.last.time_s,
        s.wall_s
    );
    say!("ended      {}", EndReport::from(s));
    say!(
        "robot      height {:.3} m, tilt {:.1}°, feet carry {:.1} N of m·g {:.1} N",
        s.last.base_height_m,
        s.last.tilt_deg,
        s.last.foot_normal_sum_n,
        s.last.weight_n
    );
    let p = |d: &Distribution| {
        format!("{} (p50 / p99 / p99.9)", super::histogram::microseconds(&[d.p50, d.p99, d.p99_9]))
    };
    if status.speed > 0.0 {
        say!("wake-up    {}", p(&status.wakeup_latency_ns));
    }
    say!("tick cost  {}", p(&status.tick_cost_ns));
    let counters: Vec<String> = status
        .counters
        .iter()
        .filter(|c| c.value > 0)
        .map(|c| format!("{} {}", c.name, c.value))
        .collect();
    say!("counters   {}", if counters.is_empty() { "all 0".into() } else { counters.join(", ") });
    say!("digest     {:016x}", s.digest);
    recorded(s);
}

fn recorded(s: &Summary) {
    for (i, path) in s.recorded.segments.iter().enumerate() {
        say!("log        {}", path.display());
        if i == 0 {
            say!("replay     hardstand replay {}", path.display());
        }
    }
    for loss in &s.recorded.losses {
        say!("log        LOST: {loss}");
    }
    if let Some(gaps) = s.recorded.gaps() {
        say!("log        INCOMPLETE: {gaps}");
    }
    if let Some(e) = &s.recorded.error {
        say!("log        recording ended early: {e}");
    }
}
