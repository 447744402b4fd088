//! The phases of a gait clock.

use crate::contract::Clock;
use std::f64::consts::TAU;

#[derive(Clone, Debug)]
pub(crate) struct Phases {
    clock: Clock,
    step_rad: f64,
    count: i64,
    /// rad, within ±π.
    pub phases_rad: Vec<f64>,
}

impl Phases {
    pub(crate) fn new(clock: &Clock, policy_hz: f64) -> Self {
        let mut made = Self {
            clock: clock.clone(),
            step_rad: TAU / (policy_hz * clock.period_s),
            count: 0,
            phases_rad: vec![0.0; clock.offsets.len()],
        };
        made.reset();
        made
    }

    /// Starts the clock again.
    pub(crate) fn reset(&mut self) {
        self.count = self.clock.first_step.wrapping_sub(1);
    }

    /// One policy step on.
    #[expect(clippy::cast_precision_loss, reason = "exact below 2^53 steps")]
    pub(crate) fn advance(&mut self, command: &[f64]) {
        self.count = self.count.wrapping_add(1);
        let stands = command.iter().all(|value| value.abs() < self.clock.standing_below);
        let standing = self.clock.standing.filter(|_| stands);
        for (phase, offset) in self.phases_rad.iter_mut().zip(&self.clock.offsets) {
            let walking = TAU * offset + self.step_rad * self.count as f64;
            *phase = wrapped(standing.map_or(walking, |share| TAU * share));
        }
        if standing.is_some() {
            self.count = -1;
        }
    }
}

/// The angle within ±π.
fn wrapped(angle_rad: f64) -> f64 {
    use std::f64::consts::PI;
    let rest = libm::fmod(angle_rad + PI, TAU);
    (if rest < 0.0 { rest + TAU } else { rest }) - PI
}
