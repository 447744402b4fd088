//! The drive's own watchdog, and what it reports as errors.

use super::Key;

/// What a drive does when no command arrives.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Watchdog {
    /// Time without a new command after which it acts, µs; 0: never.
    pub timeout_us: f64,
    /// Damping with which it then brakes, N·m·s/rad; 0: no torque.
    pub damping_nm_s_per_rad: f64,
}

impl Watchdog {
    /// What can be set.
    pub(super) const KEYS: [Key; 2] = [
        Key::new("watchdog.timeout_us", (0.0, 1e9), "without a new command; 0: never", |d| {
            &mut d.watchdog.timeout_us
        }),
        Key::new("watchdog.damping_nm_s_per_rad", (0.0, 1e4), "then; 0: no torque", |d| {
            &mut d.watchdog.damping_nm_s_per_rad
        }),
    ];

    /// True if it acts `since_s` after the last command.
    #[must_use]
    pub fn bites(&self, since_s: f64) -> bool {
        self.timeout_us > 0.0 && since_s * 1e6 >= self.timeout_us
    }
}

/// Error flags of a drive, as bits.
pub mod flags {
    /// Torque is reduced because the winding is hot.
    pub const DERATED: u64 = 1;
    /// The winding has been too hot: the drive is off until the run is reset.
    pub const TRIPPED: u64 = 1 << 1;
    /// No command has arrived for longer than `watchdog.timeout_us`.
    pub const WATCHDOG: u64 = 1 << 2;
    /// The effort, current or stall limit acts.
    pub const TORQUE_LIMIT: u64 = 1 << 3;
    /// Speed and voltage leave less torque than asked for.
    pub const VOLTAGE_LIMIT: u64 = 1 << 4;
    /// All of them.
    pub const ALL: u64 = (1 << 5) - 1;
}
