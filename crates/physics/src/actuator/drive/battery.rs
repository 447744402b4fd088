//! The battery that all drives share.

/// A battery with inner resistance. Its voltage follows the power of all drives.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Battery {
    /// Voltage without load, V; 0: there is no battery, and each drive has its own supply.
    pub voltage_v: f64,
    /// Inner resistance, Ω.
    pub resistance_ohm: f64,
    /// Power of all that is no drive, W.
    pub idle_w: f64,
    /// Largest voltage when drives brake, V; what would raise it further goes into a resistor.
    pub voltage_max_v: f64,
}

impl Battery {
    /// True if there is one.
    #[must_use]
    pub fn is_there(&self) -> bool {
        self.voltage_v > 0.0
    }

    /// Voltage at the terminals when the drives take `drives_w` (negative: give back). From
    /// `V = V₀ − R P / V`: the larger root, and the least that carries any load, `V₀ / 2`, if
    /// there is none.
    #[must_use]
    pub fn terminal_v(&self, drives_w: f64) -> f64 {
        let (open_v, power_w) = (self.voltage_v, drives_w + self.idle_w);
        let square = open_v * open_v - 4.0 * self.resistance_ohm * power_w;
        let v = 0.5 * (open_v + square.max(0.0).sqrt());
        if self.voltage_max_v > 0.0 { v.min(self.voltage_max_v.max(open_v)) } else { v }
    }
}
