//! How much of a log before a row decides what drives remember there and the row does not show.

use core::f64::consts::TAU;

use hardstand_physics::actuator::drive::Drive;
use hardstand_physics::plant::DriveSet;

use super::playback::ROUNDING_S;

/// Time constants after which a current, or a command between two, is what it would have been.
const SETTLED: f64 = 7.0;
/// Time in which springs of drives stretch and their oscillation fades, s.
const SPRINGS_S: f64 = 1.0;

/// Time before a row, s, in which drives come to be what they were: commands under way and between
/// two, currents, springs. If `with_heat`, all of the log where drives warm up, or control at a
/// rate of their own, whose phase it is that counts.
pub(super) fn hidden_s(drives: &DriveSet, with_heat: bool) -> f64 {
    drives.joints.iter().map(|drive| of(drive, with_heat)).fold(0.0, f64::max)
}

fn of(drive: &Drive, with_heat: bool) -> f64 {
    let timing = &drive.timing;
    if with_heat && (drive.heat.acts() || timing.control_hz > 0.0) {
        return f64::INFINITY;
    }
    let per = |hz: f64, times: f64| if hz > 0.0 { times / hz } else { 0.0 };
    // a way that begins anew with each command is one of first order
    let commands_s = 1e-6 * (timing.delay_us + SETTLED * timing.interpolation_us);
    let current_s = per(timing.control_hz, 1.0) + per(timing.bandwidth_hz, SETTLED / TAU);
    let springs_s = if drive.elastic.acts() { SPRINGS_S } else { 0.0 };
    commands_s + current_s + springs_s
}

/// `missing_s`, made longer to whole periods of the drives' own control, whose phase then stays.
pub(super) fn whole_periods_s(drives: &DriveSet, missing_s: f64) -> f64 {
    let rates = drives.joints.iter().map(|drive| drive.timing.control_hz);
    let slowest_hz = rates.filter(|hz| *hz >= 1.0).fold(f64::INFINITY, f64::min);
    if !slowest_hz.is_finite() {
        return missing_s;
    }
    // without its rounding, which would be a tick more
    (missing_s * slowest_hz).ceil() / slowest_hz - ROUNDING_S
}
