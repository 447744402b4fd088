//! The range of each word of a state. A saved state may come from anywhere: it is one that a run
//! can have produced, or it is refused.

use hardstand_physics::actuator::drive;
use hardstand_physics::limits::FRICTION_MAX;
use hardstand_physics::plant::Word;
use hardstand_protocol::SCHEDULE_TICKS_MAX;
use hardstand_protocol::limits::{GAIN_MAX, SETPOINT_MAX, TICK_MAX, VELOCITY_COMMAND_MAX};

use super::Simulation;

/// What a word may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum WordRange {
    /// A number from the first to the second.
    Number(f64, f64),
    /// A count or an index, up to this.
    Count(u64),
    /// A moment up to this one, ns, or none.
    Moment(u64),
    /// A session, sequence number or set of bits: each of its values has a meaning, or is compared
    /// with what the state makes of it.
    Bits,
}

/// Places in the world and in a body, m.
const REACH_MAX_M: f64 = 1e7;
const BODY_MAX_M: f64 = 1e6;
const FORCE_MAX_N: f64 = 1e12;

impl WordRange {
    const fn within(max: f64) -> Self {
        Self::Number(-max, max)
    }

    /// The range of the word `index` of `group` in a state of `simulation` at `tick`; `None` for a
    /// group that has none.
    pub(super) fn of(s: &Simulation, tick: u64, group: &str, index: usize) -> Option<Self> {
        Some(match group {
            "tick" => Self::Count(TICK_MAX),
            "base.quat_WB_wxyz" => Self::within(1.0 + 1e-6),
            "base.p_WB" | "joint.q" => Self::within(1e6),
            "base.w_WB" | "base.v_WB" | "joint.dq" => Self::within(1e4),
            "imu.v_before_W" => Self::within(1e8),
            "joint.tau" => {
                Self::within(s.model().joints.get(index).map_or(0.0, |j| j.effort_max.min(1e140)))
            }
            "command.q" | "command.dq" | "command.tau_ff" => Self::within(SETPOINT_MAX),
            "command.kp" | "command.kd" => Self::Number(0.0, GAIN_MAX),
            "velocity_command" => Self::within(VELOCITY_COMMAND_MAX),
            "push.body" => Self::Count(s.model().bodies.len() as u64 - 1),
            "push.point_B" | "contact.marker_B" => Self::within(BODY_MAX_M),
            "push.force_W" => Self::within(1e6),
            "foot_switch.closed" | "region.set" | "lease.stopped" => Self::Count(1),
            "foot_switch.pending_ticks" => Self::Count(s.spec().foot_switch.debounce_ticks),
            "contact.anchor_S" | "contact.print_S" => Self::within(REACH_MAX_M),
            "contact.pressed" | "contact.print_depth" => Self::Number(0.0, REACH_MAX_M),
            "contact.surface" => Self::Moment(s.spec().ground.len() as u64 - 1),
            "contact.sliding" => Self::Number(0.0, 1.0),
            "contact.phase" => Self::Count(2),
            "contact.force_C" => Self::within(FORCE_MAX_N),
            "contact.power" => Self::within(FORCE_MAX_N * 1e4),
            "contact.mu_static" | "contact.mu_kinetic" | "region.mu_static"
            | "region.mu_kinetic" => Self::Number(0.0, FRICTION_MAX),
            "watchdog.answers_tick" | "watchdog.candidate_tick" | "lease.applied" => {
                Self::Count(tick)
            }
            // more commands than any session needs to prove life
            "watchdog.candidate_count" => Self::Count(1 << 32),
            "lease.next" => Self::Count(tick.saturating_add(2 * SCHEDULE_TICKS_MAX)),
            "fault.value" | "fault.memory" => Self::within(1e16),
            "push.ticks_left" => Self::Count(TICK_MAX),
            "contact.committed_ns" => Self::Moment(tick.saturating_mul(s.spec().period_ns)),
            "fault.ticks_left"
            | "fault.what"
            | "lease.controller"
            | "lease.session"
            | "lease.schedule"
            | "lease.flags"
            | "lease.owners"
            | "watchdog.owner"
            | "watchdog.seq"
            | "watchdog.candidate"
            | "watchdog.candidate_seq"
            | "watchdog.revoked" => Self::Bits,
            _ => {
                return Self::of_bodies(s, tick, group)
                    .or_else(|| Self::of_drives(group))
                    .or_else(|| Self::of_sensors(group));
            }
        })
    }

    /// Free bodies, shapes that touch, constraints, and the momentum of a flight.
    fn of_bodies(s: &Simulation, tick: u64, group: &str) -> Option<Self> {
        Some(match group {
            "body.quat_WB_wxyz" => Self::within(1.0 + 1e-6),
            "body.p_WB" => Self::within(1e6),
            "body.w_WB" | "body.v_WB" => Self::within(1e4),
            "flight.due_tick" => Self::Count(TICK_MAX),
            "flight.since_tick" => Self::Moment(tick),
            "flight.momentum_W" | "flight.spin_W" => Self::within(FORCE_MAX_N),
            "constraint.active" => Self::Count(1),
            "constraint.p_SP" => Self::within(REACH_MAX_M),
            "touch.count" => Self::Count(s.spec().collisions.points_max as u64),
            "touch.feature" => Self::Count(u64::from(u32::MAX)),
            "touch.marker_A" | "touch.anchor_B" => Self::within(REACH_MAX_M),
            "touch.sliding" | "touch.weight" => Self::Number(0.0, 1.0),
            "touch.stored_j" | "touch.reserve_j" => Self::Number(0.0, FORCE_MAX_N),
            "touch.committed_ns" => Self::Moment(tick.saturating_mul(s.spec().period_ns)),
            "touch.force_C" => Self::within(FORCE_MAX_N),
            "touch.pair" => Self::Bits,
            _ => return None,
        })
    }

    fn of_drives(group: &str) -> Option<Self> {
        Some(match group {
            "drive.motor_q" | "drive.anchor" => Self::within(2.0 * REACH_MAX_M),
            "drive.motor_dq" | "drive.dq_before" => Self::within(1e4),
            "drive.measured_q"
            | "drive.measured_dq"
            | "drive.target"
            | "drive.torque"
            | "drive.effort_before"
            | "drive.winding_c"
            | "drive.housing_c"
            | "drive.bus_v" => Self::within(1e140),
            "drive.interpolated" | "drive.sent" => Self::within(1e16),
            "drive.sent_gain" => Self::Number(0.0, GAIN_MAX),
            "drive.since_read_s" | "drive.since_command_s" | "drive.since_arrival_s" => {
                Self::Number(0.0, 1e16)
            }
            "drive.sent_fresh" => Self::Count(1),
            "drive.flags" => Self::Count(drive::flags::ALL),
            _ => return None,
        })
    }

    /// What sensors have shown and drawn: whatever they show, the motion does not depend on it.
    fn of_sensors(group: &str) -> Option<Self> {
        match group {
            "sensor.imu_ticks" => Some(Self::Count(TICK_MAX)),
            "sensor.imu_quat_WI_wxyz" => Some(Self::within(1.0 + 1e-6)),
            _ if group.starts_with("sensor.") => Some(Self::within(1e140)),
            _ => None,
        }
    }

    /// What is wrong with a word of these `bits`; `is` what the state has made of them. `None` if
    /// it is in the range.
    pub(super) fn objection(self, bits: u64, is: &Word<'_>) -> Option<String> {
        let is_number = matches!(is, Word::F64(_));
        let (good, allowed) = match self {
            Self::Number(min, max) => {
                let good = is_number && (min..=max).contains(&f64::from_bits(bits));
                (good, format!("{min:e} to {max:e}"))
            }
            Self::Count(max) => (!is_number && bits <= max, format!("0 to {max}")),
            Self::Moment(max) => (bits <= max || bits == u64::MAX, format!("0 to {max}, or none")),
            Self::Bits => (true, String::new()),
        };
        let shown = if is_number { f64::from_bits(bits).to_string() } else { bits.to_string() };
        if !good {
            return Some(format!("{shown}; it must be {allowed}"));
        }
        (is.bits() != bits).then(|| format!("{shown}; the other words do not allow it"))
    }
}
