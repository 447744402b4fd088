//! What every drive has: readings in, a set-point out, faults, a watchdog.

/// What the simulation measures at the joint, at the output shaft of the gearbox.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct JointReading {
    /// Position.
    pub q_rad: f64,
    /// Velocity.
    pub dq_rad_s: f64,
    /// Torque that the motor applies.
    pub tau_nm: f64,
}

/// What surrounds the drive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Environment {
    /// Supply voltage.
    pub bus_v: f64,
    /// Temperature of the power stage.
    pub board_c: f64,
    /// Temperature of the winding.
    pub motor_c: f64,
}

impl Default for Environment {
    fn default() -> Self {
        Self { bus_v: 24.0, board_c: 25.0, motor_c: 25.0 }
    }
}

/// What the drive does with its motor until the next frame, at the output shaft.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SetPoint {
    /// `clamp(kp (q - q_now) + kd (dq - dq_now) + tau_ff, ±tau_max)`.
    Follow {
        /// Target position.
        q_rad: f64,
        /// Target velocity.
        dq_rad_s: f64,
        /// Stiffness in N·m/rad.
        kp: f64,
        /// Damping in N·m·s/rad.
        kd: f64,
        /// Torque that is added.
        tau_ff_nm: f64,
        /// Limit of the sum.
        tau_max_nm: f64,
    },
    /// `clamp(-kd dq_now, ±tau_max)`: a brake, or the reaction to a lost master.
    Damped {
        /// Damping in N·m·s/rad.
        kd: f64,
        /// Limit of the torque.
        tau_max_nm: f64,
    },
    /// The power stage is off.
    Released,
}

impl SetPoint {
    /// Torque at a reading.
    pub fn torque_nm(&self, now: &JointReading) -> f64 {
        match *self {
            Self::Follow { q_rad, dq_rad_s, kp, kd, tau_ff_nm, tau_max_nm } => {
                let tau = kp * (q_rad - now.q_rad) + kd * (dq_rad_s - now.dq_rad_s) + tau_ff_nm;
                tau.clamp(-tau_max_nm, tau_max_nm)
            }
            Self::Damped { kd, tau_max_nm } => (-kd * now.dq_rad_s).clamp(-tau_max_nm, tau_max_nm),
            Self::Released => 0.0,
        }
    }
}

/// A fault of the drive's hardware, set from outside. How a drive reports it is the maker's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Condition {
    /// The supply is above the drive's limit.
    OverVoltage,
    /// The supply is below the drive's limit.
    UnderVoltage,
    /// A phase current is above the drive's limit.
    OverCurrent,
    /// Power stage or winding is too hot.
    OverTemperature,
    /// The encoder gives no valid position.
    Encoder,
    /// The gate driver reports a fault.
    GateDriver,
}

impl Condition {
    /// All, by name.
    pub const ALL: [(&'static str, Self); 6] = [
        ("over-voltage", Self::OverVoltage),
        ("under-voltage", Self::UnderVoltage),
        ("over-current", Self::OverCurrent),
        ("over-temperature", Self::OverTemperature),
        ("encoder", Self::Encoder),
        ("gate-driver", Self::GateDriver),
    ];
}

/// A set of conditions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Conditions(u8);

impl Conditions {
    /// Adds or removes one.
    pub fn set(&mut self, condition: Condition, present: bool) {
        let bit = 1 << condition as u8;
        self.0 = if present { self.0 | bit } else { self.0 & !bit };
    }

    /// Whether one is present.
    pub fn has(self, condition: Condition) -> bool {
        self.0 & 1 << condition as u8 != 0
    }
}

/// A watchdog: it has expired when more than `timeout_ns` passed since the last feed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Watchdog {
    /// `None` never expires.
    pub timeout_ns: Option<u64>,
    fed_ns: u64,
}

impl Watchdog {
    /// One that was last fed at time 0.
    pub const fn new(timeout_ns: Option<u64>) -> Self {
        Self { timeout_ns, fed_ns: 0 }
    }

    /// Restarts it.
    pub fn feed(&mut self, now_ns: u64) {
        self.fed_ns = now_ns;
    }

    /// Whether it has expired.
    pub fn expired(&self, now_ns: u64) -> bool {
        self.timeout_ns.is_some_and(|timeout| now_ns.saturating_sub(self.fed_ns) > timeout)
    }
}

/// A drive on a bus. It never fails: frames that a real drive would ignore are ignored.
pub trait Drive {
    /// [`crate::CanFrame`], or [`crate::Packet`] for a serial bus.
    type Frame;

    /// A frame has arrived, addressed to this drive or not. Appends the drive's answers.
    fn on_frame(
        &mut self,
        now_ns: u64,
        frame: &Self::Frame,
        reading: &JointReading,
        answers: &mut Vec<Self::Frame>,
    );

    /// When [`Drive::on_time`] is due, for drives that send without a request.
    fn next_time_ns(&self) -> Option<u64> {
        None
    }

    /// Appends the frames that are due.
    fn on_time(&mut self, _now_ns: u64, _reading: &JointReading, _out: &mut Vec<Self::Frame>) {}

    /// What the drive does from `now_ns` on. Watchdog, protections and trajectories advance here,
    /// so it is called at the rate of the physics, with non-decreasing times.
    fn set_point(&mut self, now_ns: u64, reading: &JointReading) -> SetPoint;

    /// Voltage and temperatures.
    fn set_environment(&mut self, environment: Environment);

    /// Adds or removes a fault of the hardware.
    fn set_condition(&mut self, condition: Condition, present: bool);
}
