//! One micro-step of a joint's drive.

use crate::actuator::{MotorLimits, Reference};

use super::{Drive, DriveState, Elastic, Teeth, flags, limited};

/// A joint's drive with all that follows from its numbers and the joint.
#[derive(Clone, Copy, Debug)]
pub struct DriveJoint {
    drive: Drive,
    /// Length of a micro-step, ns and s.
    h_ns: u64,
    h_s: f64,
    /// Inertia that the joint feels, with all that is rigidly connected with it, kg·m².
    inertia_kg_m2: f64,
    elastic: Elastic,
    teeth: Teeth,
    viscous_nm_s_per_rad: f64,
    current_step: f64,
    /// False if there is nothing to hold the joint but viscous friction.
    rubs: bool,
}

/// What a drive finds at the start of a micro-step.
#[derive(Clone, Copy, Debug)]
pub struct Instant {
    /// Simulated time, ns.
    pub t_ns: u64,
    /// Position of the joint, rad.
    pub q: f64,
    /// Speed of the joint, rad/s.
    pub dq: f64,
    /// Voltage of the battery, V; 0: none.
    pub bus_v: f64,
    /// Limits of the joint, as faults leave them.
    pub limits: MotorLimits,
    /// Largest effort of the joint, N·m, and share of the supply, as faults leave them.
    pub effort_max_nm: f64,
    /// See `effort_max_nm`.
    pub supply_share: f64,
    /// True if a new command has arrived.
    pub is_fresh: bool,
}

/// What a drive does in a micro-step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Output {
    /// Effort on the joint, N·m.
    pub effort_nm: f64,
    /// Power that it takes from the supply, W.
    pub power_w: f64,
}

impl DriveJoint {
    /// For a joint that feels the inertia `inertia_kg_m2` and micro-steps of `h_ns`.
    #[must_use]
    pub fn new(drive: &Drive, inertia_kg_m2: f64, h_ns: u64) -> Self {
        let h_s = h_ns as f64 / 1e9;
        let rotor_kg_m2 = drive.reflected_kg_m2();
        // what friction acts on
        let rubbed = if drive.elastic.acts() { rotor_kg_m2 } else { inertia_kg_m2 };
        let f = &drive.friction;
        let of_friction = [f.coulomb_nm, f.stribeck_nm, f.load_motor, f.load_external];
        let at_rest = [
            f.load_motor_stribeck,
            f.load_external_stribeck,
            f.load_motor_quadratic_per_nm,
            f.load_external_quadratic_per_nm,
        ];
        let of_gear = [1.0 - drive.gear.efficiency, 1.0 - drive.gear.efficiency_back];
        let mut all = of_friction.iter().chain(&at_rest).chain(&of_gear);
        Self {
            drive: *drive,
            h_ns,
            h_s,
            inertia_kg_m2,
            elastic: drive.elastic.limited(rotor_kg_m2, inertia_kg_m2, h_s),
            teeth: Teeth::of(rubbed, h_s),
            // a damper beyond D/h would throw the joint back within one step
            viscous_nm_s_per_rad: f.viscous_nm_s_per_rad.min(0.5 * rubbed / h_s),
            current_step: drive.timing.current_step(h_s),
            rubs: all.any(|&x| x > 0.0),
        }
    }

    /// The drive's numbers.
    #[must_use]
    pub const fn drive(&self) -> &Drive {
        &self.drive
    }

    /// Acts on `given`, the command that has arrived, for one micro-step.
    pub fn step(&self, s: &mut DriveState, given: &Reference, at: &Instant) -> Output {
        let elastic = self.elastic.acts();
        if !elastic {
            (s.rotor.q, s.rotor.dq) = (at.q, at.dq);
        }
        let (q, dq) = (s.rotor.q, s.rotor.dq);
        let reference = self.command(s, given, at);
        if self.drive.timing.is_due(at.t_ns, self.h_ns) {
            s.measured.read(&self.drive.encoder, q, dq, s.since_read_s);
            s.since_read_s = 0.0;
            s.target_nm = reference.pd_effort(s.measured.q, s.measured.dq);
        }
        s.since_read_s += self.h_s;
        let resistance_ohm = self.resistance_ohm(s);
        self.make_torque(s, resistance_ohm, at);
        let current_a = self.drive.motor.current_a(&self.drive.gear, s.torque_nm);
        let loss_w = current_a * current_a * resistance_ohm;
        let power_w = s.torque_nm * dq + loss_w;
        let spring_nm = if elastic { self.elastic.torque_nm(q - at.q, dq - at.dq) } else { 0.0 };
        let load_nm = if elastic {
            -spring_nm
        } else {
            self.inertia_kg_m2 * ((at.dq - s.dq_before) / self.h_s) - s.effort_before_nm
        };
        let net_nm = s.torque_nm + self.drive.cogging.torque_nm(q) - self.friction_nm(s, load_nm);
        let effort_nm = if elastic {
            s.rotor.dq += self.h_s * (net_nm - spring_nm) / self.drive.reflected_kg_m2();
            s.rotor.q += self.h_s * s.rotor.dq;
            spring_nm
        } else {
            net_nm
        };
        self.warm(s, loss_w);
        (s.dq_before, s.effort_before_nm) = (at.dq, effort_nm);
        Output { effort_nm, power_w }
    }

    /// Reads the encoder at the end of a tick, where the drive would read it in the next
    /// micro-step; a speed from differences waits for that.
    pub fn refresh(&self, s: &mut DriveState, q: f64, dq: f64) {
        let Drive { timing, encoder, .. } = &self.drive;
        if timing.control_hz > 0.0 || encoder.velocity_cutoff_hz > 0.0 {
            return;
        }
        let (q, dq) = if self.elastic.acts() { (s.rotor.q, s.rotor.dq) } else { (q, dq) };
        s.measured.read(encoder, q, dq, 0.0);
    }

    /// The command that the drive acts on, between two and if none arrives.
    fn command(&self, s: &mut DriveState, given: &Reference, at: &Instant) -> Reference {
        s.since_command_s = if at.is_fresh { 0.0 } else { s.since_command_s + self.h_s };
        let watchdog = &self.drive.watchdog;
        s.flags &= !flags::WATCHDOG;
        if watchdog.bites(s.since_command_s) {
            s.flags |= flags::WATCHDOG;
            return Reference { kd: watchdog.damping_nm_s_per_rad, ..Reference::default() };
        }
        let over_s = self.drive.timing.interpolation_us / 1e6;
        if over_s > 0.0 { s.interpolation.take(given, over_s, self.h_s) } else { *given }
    }

    fn resistance_ohm(&self, s: &DriveState) -> f64 {
        let Drive { motor, heat, .. } = &self.drive;
        heat.resistance_ohm(motor.resistance_ohm, s.temperatures.winding_c)
    }

    /// Torque of the motor: what is wanted, limited, through the current loop, limited by voltage.
    fn make_torque(&self, s: &mut DriveState, resistance_ohm: f64, at: &Instant) {
        let Drive { motor, gear, torque_speed, heat, .. } = &self.drive;
        let v = s.rotor.dq;
        s.flags &= flags::TRIPPED | flags::WATCHDOG;
        let share = heat.share(s.temperatures.winding_c);
        let allowed = if s.flags & flags::TRIPPED == 0 { share } else { 0.0 };
        if share < 1.0 {
            s.flags |= flags::DERATED;
        }
        let battery = at.bus_v > 0.0;
        let supply_v = at.supply_share * if battery { at.bus_v } else { motor.supply_v };
        let nominal_v = torque_speed.nominal_v;
        let of_nominal = if battery && nominal_v > 0.0 { at.bus_v / nominal_v } else { 1.0 };
        let of_nominal = at.supply_share * of_nominal;
        let mut most_nm = motor.current_limit_nm(gear).min(at.effort_max_nm);
        if share < 1.0 {
            // of the most that the drive could make at rest
            let by_speed_nm = torque_speed.range_nm(0.0, of_nominal)[1];
            let by_voltage_nm = motor.voltage_range_nm(gear, resistance_ohm, supply_v, 0.0)[1];
            most_nm = most_nm.min(by_speed_nm).min(by_voltage_nm);
        }
        // nothing of a limit that is infinite is nothing
        let cap_nm = if allowed > 0.0 { allowed * most_nm } else { 0.0 };
        let asked_nm = limited(s.target_nm, [-cap_nm, cap_nm]);
        let torque_nm = s.torque_nm + self.current_step * (asked_nm - s.torque_nm);
        let by_speed = torque_speed.range_nm(v, of_nominal);
        let by_voltage = motor.voltage_range_nm(gear, resistance_ohm, supply_v, v);
        let made_nm = if s.flags & flags::TRIPPED != 0 {
            0.0
        } else if torque_speed.acts() || by_voltage[1].is_finite() {
            limited(limited(torque_nm, by_speed), by_voltage)
        } else {
            at.limits.effort(torque_nm, v)
        };
        let stall_nm = if torque_speed.acts() { torque_speed.stall_nm } else { f64::INFINITY };
        if asked_nm != s.target_nm || made_nm.abs() >= stall_nm {
            s.flags |= flags::TORQUE_LIMIT;
        } else if made_nm != torque_nm {
            s.flags |= flags::VOLTAGE_LIMIT;
        }
        s.torque_nm = made_nm;
    }

    /// Friction against the motor's side, N·m.
    fn friction_nm(&self, s: &mut DriveState, load_nm: f64) -> f64 {
        let (q, v) = (s.rotor.q, s.rotor.dq);
        let viscous_nm = self.viscous_nm_s_per_rad * v;
        if !self.rubs {
            return viscous_nm;
        }
        // the teeth lean the way that the motor moves, or is about to
        let leaning = q - s.stiction.anchor_rad;
        let lost_nm = self.drive.gear.loss_nm(s.torque_nm, leaning);
        let budget_nm = self.drive.friction.budget_nm(s.torque_nm, load_nm, v) + lost_nm;
        s.stiction.friction_nm(&self.teeth, budget_nm, q, v) + viscous_nm
    }

    fn warm(&self, s: &mut DriveState, loss_w: f64) {
        let heat = &self.drive.heat;
        s.temperatures.advance(heat, loss_w, self.h_s);
        if heat.acts() && heat.trip_c > 0.0 && s.temperatures.winding_c >= heat.trip_c {
            s.flags |= flags::TRIPPED;
        }
    }
}
