//! What a drive sees of its joint: resolution, offset, speed by differences.

use core::f64::consts::TAU;

use crate::math;

use super::Key;

/// The drive's encoder; on the motor's side where the drive is elastic.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Encoder {
    /// Counts in a turn of the joint; 0: continuous.
    pub counts_per_turn: f64,
    /// What it shows more than the truth, rad.
    pub offset_rad: f64,
    /// Cut-off of the filter after differences of positions; 0: the true speed.
    pub velocity_cutoff_hz: f64,
}

impl Encoder {
    /// What can be set.
    pub(super) const KEYS: [Key; 3] = [
        Key::new("encoder.counts_per_turn", (0.0, 1e9), "of the joint; 0: continuous", |d| {
            &mut d.encoder.counts_per_turn
        }),
        Key::new("encoder.offset_rad", (-10.0, 10.0), "what it shows too much", |d| {
            &mut d.encoder.offset_rad
        }),
        Key::new(
            "encoder.velocity_cutoff_hz",
            (0.0, 1e6),
            "filter of speeds from differences; 0: the true speed",
            |d| &mut d.encoder.velocity_cutoff_hz,
        ),
    ];

    /// Position that it shows of `q`, rad.
    #[must_use]
    pub fn shown_rad(&self, q: f64) -> f64 {
        let q = q + self.offset_rad;
        if self.counts_per_turn <= 0.0 {
            return q;
        }
        let count_rad = TAU / self.counts_per_turn;
        (q / count_rad).round() * count_rad
    }
}

/// What the drive has read last.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Measured {
    /// Position, rad.
    pub q: f64,
    /// Speed, rad/s.
    pub dq: f64,
}

impl Measured {
    /// Reads the encoder at position `q` and speed `dq`, `since_s` after the last time.
    pub fn read(&mut self, encoder: &Encoder, q: f64, dq: f64, since_s: f64) {
        let shown = encoder.shown_rad(q);
        if encoder.velocity_cutoff_hz > 0.0 && since_s > 0.0 {
            let raw = (shown - self.q) / since_s;
            let share = 1.0 - math::exp(-TAU * encoder.velocity_cutoff_hz * since_s);
            self.dq += share * (raw - self.dq);
        } else if encoder.velocity_cutoff_hz <= 0.0 {
            self.dq = dq;
        }
        self.q = shown;
    }

    /// Visits every number.
    #[inline(always)]
    pub(super) fn walk(&mut self, visit: &mut impl FnMut(&'static str, &mut f64)) {
        visit("drive.measured_q", &mut self.q);
        visit("drive.measured_dq", &mut self.dq);
    }
}
