//! What an impact of a foot lets the structure around the inertial unit do: it rings.

use core::f64::consts::TAU;

use crate::math;

/// A mode of the structure. An impact that raises the normal force of a foot by `J` within a tick
/// starts `J e^(−ζωt) sin(ω_d t) / √(1 − ζ²)`, with `ω_d = ω √(1 − ζ²)`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Vibration {
    /// Frequency without damping; 0: no vibration.
    pub frequency_hz: f64,
    /// Damping ratio ζ.
    pub damping_ratio: f64,
}

/// The mode's displacement, N, and its rate, N/s: readings are in proportion to the first.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ringing {
    /// Displacement, N.
    pub n: f64,
    /// Its rate, N/s.
    pub n_per_s: f64,
}

/// The exact step of the mode over one tick.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Resonator {
    omega_per_s: f64,
    /// The rows of the transition matrix.
    rows: [[f64; 2]; 2],
}

impl Resonator {
    pub(super) fn new(vibration: &Vibration, h_s: f64) -> Self {
        let (omega, zeta) = (TAU * vibration.frequency_hz, vibration.damping_ratio);
        if omega <= 0.0 {
            return Self::default();
        }
        let damped = omega * (1.0 - zeta * zeta).sqrt();
        let (sin, cos) = math::sin_cos(damped * h_s);
        let decay = math::exp(-zeta * omega * h_s);
        let lean = zeta * omega / damped * sin;
        let first = [decay * (cos + lean), decay * sin / damped];
        let second = [-decay * omega * omega * sin / damped, decay * (cos - lean)];
        Self { omega_per_s: omega, rows: [first, second] }
    }

    pub(super) fn acts(&self) -> bool {
        self.omega_per_s > 0.0
    }

    /// A tick passes; at its end an impact of `impact_n` may begin another ringing.
    pub(super) fn step(&self, state: &mut Ringing, impact_n: f64) {
        let [[a, b], [c, d]] = self.rows;
        let Ringing { n, n_per_s } = *state;
        *state = Ringing {
            n: a * n + b * n_per_s,
            n_per_s: c * n + d * n_per_s + self.omega_per_s * impact_n,
        };
    }
}
