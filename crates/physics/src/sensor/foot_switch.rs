//! A contact boolean with hysteresis and debouncing.

/// Thresholds of the foot switches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FootSwitchSpec {
    /// Normal force above which a foot counts as down, N.
    pub on_n: f64,
    /// Normal force below which it counts as up, N.
    pub off_n: f64,
    /// Ticks that the new condition must last.
    pub debounce_ticks: u64,
}

/// One foot's switch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FootSwitch {
    /// Debounced contact.
    pub closed: bool,
    /// Ticks for which the force has asked for the other state.
    pub pending_ticks: u64,
}

impl FootSwitch {
    /// The switch of a foot that has carried `normal_n` for long.
    #[must_use]
    pub fn settled(spec: &FootSwitchSpec, normal_n: f64) -> Self {
        Self { closed: normal_n > spec.on_n, pending_ticks: 0 }
    }

    /// Takes in one tick's normal force.
    pub fn update(&mut self, spec: &FootSwitchSpec, normal_n: f64) {
        let asks = if self.closed { normal_n < spec.off_n } else { normal_n > spec.on_n };
        if !asks {
            self.pending_ticks = 0;
            return;
        }
        self.pending_ticks += 1;
        if self.pending_ticks >= spec.debounce_ticks {
            *self = Self { closed: !self.closed, pending_ticks: 0 };
        }
    }
}
