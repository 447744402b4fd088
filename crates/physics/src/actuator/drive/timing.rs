//! Time in a drive: delay of commands, its own control rate, the current loop, interpolation.

use crate::actuator::Reference;
use crate::math;

use super::Key;

/// When a drive acts on what.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Timing {
    /// Time from the controller's command to the drive, µs: the whole command together.
    pub delay_us: f64,
    /// Rate at which the drive reads its encoder and sets the current; it holds the current in
    /// between. 0: every micro-step.
    pub control_hz: f64,
    /// Bandwidth of the current loop: torque follows as a low-pass of first order. 0: at once.
    pub bandwidth_hz: f64,
    /// Time over which the drive moves from one command to the next, linearly, µs. 0: at once.
    pub interpolation_us: f64,
}

/// Nanoseconds of a number of microseconds.
#[must_use]
pub fn to_ns(us: f64) -> u64 {
    (us * 1e3).round() as u64
}

impl Timing {
    /// What can be set.
    pub(super) const KEYS: [Key; 4] = [
        Key::new("delay_us", (0.0, 2e5), "from command to drive, whole command together", |d| {
            &mut d.timing.delay_us
        }),
        Key::new("control_hz", (0.0, 1e6), "the drive's control rate; 0: every micro-step", |d| {
            &mut d.timing.control_hz
        }),
        Key::new("bandwidth_hz", (0.0, 1e6), "of the current loop; 0: unlimited", |d| {
            &mut d.timing.bandwidth_hz
        }),
        Key::new("interpolation_us", (0.0, 1e6), "from one command to the next; 0: a step", |d| {
            &mut d.timing.interpolation_us
        }),
    ];

    /// True if the drive computes in the micro-step of `h_ns` that starts at `t_ns`.
    #[must_use]
    pub fn is_due(&self, t_ns: u64, h_ns: u64) -> bool {
        self.control_period_ns()
            .is_none_or(|period_ns| t_ns < h_ns || t_ns / period_ns != (t_ns - h_ns) / period_ns)
    }

    /// Time from one computation to the next, ns; `None` if it computes in every micro-step.
    #[must_use]
    pub fn control_period_ns(&self) -> Option<u64> {
        (self.control_hz > 0.0).then(|| ((1e9 / self.control_hz).round() as u64).max(1))
    }

    /// Share of the way to its target that the current goes in `h_s`: `1 − exp(−2π f h)`.
    #[must_use]
    pub fn current_step(&self, h_s: f64) -> f64 {
        if self.bandwidth_hz <= 0.0 {
            return 1.0;
        }
        1.0 - math::exp(-core::f64::consts::TAU * self.bandwidth_hz * h_s)
    }
}

/// Where a drive is between two commands.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Interpolation {
    /// Position, velocity and effort from which it moves.
    from: [f64; 3],
    /// The command to which it moves.
    to: [f64; 3],
    /// Time since that command, s.
    since_s: f64,
}

impl Interpolation {
    /// At the position `q`, without command.
    pub(super) fn at_rest(q: f64) -> Self {
        Self { from: [q, 0.0, 0.0], to: [q, 0.0, 0.0], since_s: 0.0 }
    }

    /// The command `given` as the drive takes it now; then `h_s` pass.
    pub(super) fn take(&mut self, given: &Reference, over_s: f64, h_s: f64) -> Reference {
        let to = [given.q, given.dq, given.tau_ff];
        if to.map(f64::to_bits) != self.to.map(f64::to_bits) {
            (self.from, self.to, self.since_s) = (self.at(over_s), to, 0.0);
        }
        let [q, dq, tau_ff] = self.at(over_s);
        self.since_s = (self.since_s + h_s).min(over_s);
        Reference { q, dq, tau_ff, ..*given }
    }

    fn at(&self, over_s: f64) -> [f64; 3] {
        let share = (self.since_s / over_s).min(1.0);
        core::array::from_fn(|i| self.from[i] + share * (self.to[i] - self.from[i]))
    }

    /// Visits every number.
    #[inline(always)]
    pub(super) fn walk(&mut self, visit: &mut impl FnMut(&'static str, &mut f64)) {
        for x in self.from.iter_mut().chain(&mut self.to) {
            visit("drive.interpolated", x);
        }
        visit("drive.since_command_s", &mut self.since_s);
    }
}
