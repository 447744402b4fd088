//! `hardstand drive`: what a drive does on a test bench.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use crate::config::{DRIVES, drive_of, drive_preset};
use hardstand_error::{Error, ErrorKind, Result, read_text};
use hardstand_physics::actuator::drive::{Bench, Drive};
use hardstand_physics::math;

use super::arguments::DriveArguments;
use super::{ExitCode, drive_plot, picture, show};

/// Bytes of a drive's file.
const DRIVE_BYTES_MAX: u64 = 1 << 20;
/// Points of a curve over speed.
const POINTS: i32 = 200;
/// Longest time of the step, s; a drive that is slower does not come to its end.
const STEP_MAX_S: f64 = 5.0;
/// Frequencies of the response, and how many for each factor of ten.
const FREQUENCIES_HZ: [f64; 2] = [1.0, 1000.0];
const PER_DECADE: u32 = 8;

/// All curves of a drive.
#[derive(Serialize)]
pub(super) struct DriveReport {
    pub(super) drive: String,
    pub(super) supply_v: f64,
    /// Numbers that differ from the ideal drive's.
    numbers: BTreeMap<&'static str, f64>,
    /// Speed at which the motor drives nothing more, rad/s; 0 without a limit.
    no_load_rad_per_s: f64,
    /// Speed, rad/s, least and largest torque, N·m; empty without limits.
    pub(super) torque_by_speed: Vec<[f64; 3]>,
    /// Torque of the step, N·m.
    pub(super) step_nm: f64,
    /// Time, s, and torque, N·m.
    pub(super) step_response: Vec<[f64; 2]>,
    /// Frequency, Hz, gain, and phase, degrees.
    pub(super) frequency_response: Vec<[f64; 3]>,
    /// Speed, rad/s, friction without load, and under `step_nm`, N·m.
    pub(super) friction_by_speed: Vec<[f64; 3]>,
}

/// A shipped drive.
#[derive(Serialize)]
struct Shipped {
    name: &'static str,
    /// Where its numbers come from: the comment at the head of its file.
    source: String,
}

fn list(json: bool) -> Result<ExitCode> {
    let shipped = DRIVES.iter().map(|&(name, text)| {
        let head = text.lines().map_while(|line| line.strip_prefix('#')).map(str::trim);
        Shipped { name, source: head.collect::<Vec<_>>().join(" ") }
    });
    if json {
        show::json(&shipped.collect::<Vec<_>>())?;
    } else {
        shipped.for_each(|s| show::line(&format!("{:18} {}", s.name, s.source)));
    }
    Ok(ExitCode::Done)
}

pub(super) fn drive(a: &DriveArguments) -> Result<ExitCode> {
    if let Some(file) = &a.svg {
        picture::check("--svg", file, a.drive.as_deref().map(Path::new))?;
    }
    if !(0.0..=1e5).contains(&a.supply) {
        let text = format!("--supply is {}; it must be 0 to 100000", a.supply);
        return Err(Error::new(ErrorKind::Input, text));
    }
    let Some(name) = &a.drive else { return list(a.json) };
    let drive = read(name)?;
    if a.supply > 0.0 && !Bench::new(&drive, a.supply).needs_supply() {
        show::note(&format!(
            "--supply {} has no effect on {name}: it has neither torque_speed.nominal_v nor \
             motor.torque_constant_nm_per_a with motor.resistance_ohm",
            a.supply
        ));
    }
    let report = report(name, &drive, a.supply);
    if let Some(file) = &a.svg {
        drive_plot::draw(file, &report)?;
    }
    if a.json {
        show::json(&report)?;
    } else {
        print(&report, a.svg.as_deref());
    }
    Ok(ExitCode::Done)
}

fn read(name: &str) -> Result<Drive> {
    if let Some(text) = drive_preset(name) {
        return drive_of(text, name);
    }
    let text = read_text(Path::new(name), DRIVE_BYTES_MAX).map_err(|e| {
        let names = DRIVES.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
        let text = format!("drive {name}: {e}; the shipped drives are {names}");
        Error::new(ErrorKind::File, text)
    })?;
    drive_of(&text, name)
}

fn report(name: &str, drive: &Drive, supply_v: f64) -> DriveReport {
    let bench = Bench::new(drive, supply_v);
    let changed = Drive::keys().filter(|key| key.get(drive) != key.get(&Drive::IDEAL));
    let no_load = bench.no_load_rad_per_s();
    let over = |most: f64| (-POINTS..=POINTS).map(move |i| most * f64::from(i) / f64::from(POINTS));
    let torque_by_speed = if no_load > 0.0 {
        let at = |v| {
            let [least, largest] = bench.range_nm(v);
            [v, least, largest]
        };
        over(1.2 * no_load).map(at).filter(|row| row.iter().all(|x| x.is_finite())).collect()
    } else {
        Vec::new()
    };
    let stall_nm = bench.range_nm(0.0)[1];
    let step_nm = if stall_nm.is_finite() { 0.5 * stall_nm } else { 1.0 };
    let timing = &drive.timing;
    let per = |hz: f64| if hz > 0.0 { 1.0 / hz } else { 0.0 };
    let lag_s = per(timing.bandwidth_hz) + per(timing.control_hz);
    let commands_s = 2.0 * timing.delay_us / 1e6 + timing.interpolation_us / 1e6;
    let long_s = (commands_s + 2.0 * lag_s).clamp(2e-3, STEP_MAX_S);
    let decades = PER_DECADE * 3;
    let hz = |k: u32| FREQUENCIES_HZ[0] * math::pow(10.0, f64::from(k) / f64::from(PER_DECADE));
    let response = |hz: f64| {
        let [gain, phase] = bench.gain_and_phase(hz, 0.5 * step_nm);
        [hz, gain, phase]
    };
    let stribeck = &drive.friction;
    let fast = (5.0 * stribeck.stribeck_speed_rad_per_s).max(1.0);
    let friction = |v: f64| [v, bench.friction_nm(v, 0.0), bench.friction_nm(v, step_nm)];
    DriveReport {
        drive: name.into(),
        supply_v,
        numbers: changed.map(|key| (key.name, key.get(drive))).collect(),
        no_load_rad_per_s: no_load,
        torque_by_speed,
        step_nm,
        step_response: [[0.0; 2]].into_iter().chain(bench.torque_nm(|_| step_nm, long_s)).collect(),
        frequency_response: (0..=decades)
            .map(hz)
            .filter(|hz| *hz <= FREQUENCIES_HZ[1] * (1.0 + 1e-9))
            .map(response)
            .collect(),
        friction_by_speed: over(fast).filter(|v| *v != 0.0).map(friction).collect(),
    }
}

fn print(r: &DriveReport, svg: Option<&Path>) {
    show::line(&format!("drive      {}", r.drive));
    for (key, value) in &r.numbers {
        show::line(&format!("  {key} = {value}"));
    }
    if r.numbers.is_empty() {
        show::line("  ideal: torque at once, as asked for");
    }
    let middle = r.torque_by_speed.len() / 2;
    if let Some([_, least, most]) = r.torque_by_speed.get(middle) {
        let end = r.no_load_rad_per_s;
        show::line(&format!(
            "torque     {least:.3} to {most:.3} N·m at rest, none above {end:.1} rad/s"
        ));
    }
    let late = r.step_response.iter().find(|[_, nm]| *nm >= 0.632 * r.step_nm);
    if let Some([t_s, _]) = late {
        show::line(&format!("step       63 % of {:.3} N·m after {:.2} ms", r.step_nm, t_s * 1e3));
    }
    if let Some([hz, ..]) =
        r.frequency_response.iter().find(|[_, gain, _]| *gain < std::f64::consts::FRAC_1_SQRT_2)
    {
        show::line(&format!("bandwidth  gain below -3 dB from {hz:.0} Hz"));
    }
    if let Some([_, free, loaded]) = r.friction_by_speed.last() {
        let fast = r.friction_by_speed.last().map_or(0.0, |row| row[0]);
        show::line(&format!(
            "friction   {free:.3} N·m at {fast:.1} rad/s, {loaded:.3} N·m under load"
        ));
    }
    if let Some(file) = svg {
        show::line(&format!("drawing    {}", file.display()));
    }
}
