//! Heat: a winding in a housing in air, with derating and trip.
//!
//! ```text
//! Cw Ṫw = I² R(Tw) − (Tw − Th) / Rwh        Ch Ṫh = (Tw − Th) / Rwh − (Th − Ta) / Rha
//! R(T) = R₂₅ (1 + 0.00393 (T − 25 °C))       copper
//! ```

use super::Key;

/// Change of copper's resistance per K, at 20 to 25 °C.
const COPPER_PER_K: f64 = 0.00393;

/// Heat capacities and resistances of a motor; off while `winding_j_per_k` is 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Heat {
    /// Heat capacity of the winding, J/K; 0: heat is not simulated.
    pub winding_j_per_k: f64,
    /// Heat capacity of the housing, J/K.
    pub housing_j_per_k: f64,
    /// Resistance from winding to housing, K/W.
    pub winding_to_housing_k_per_w: f64,
    /// Resistance from housing to air, K/W.
    pub housing_to_air_k_per_w: f64,
    /// Temperature of the air, and at first of all, °C.
    pub air_c: f64,
    /// From here on the drive reduces its torque, to none at `trip_c`, °C.
    pub derate_c: f64,
    /// Here the drive switches off, °C; 0: never.
    pub trip_c: f64,
}

impl Heat {
    /// No heat.
    pub const NONE: Self = Self {
        winding_j_per_k: 0.0,
        housing_j_per_k: 100.0,
        winding_to_housing_k_per_w: 1.0,
        housing_to_air_k_per_w: 1.0,
        air_c: 25.0,
        derate_c: 0.0,
        trip_c: 0.0,
    };

    /// What can be set.
    pub(super) const KEYS: [Key; 7] = [
        Key::new("heat.winding_j_per_k", (0.0, 1e6), "capacity; 0: no heat", |d| {
            &mut d.heat.winding_j_per_k
        }),
        Key::new("heat.housing_j_per_k", (1e-3, 1e7), "capacity", |d| &mut d.heat.housing_j_per_k),
        Key::new("heat.winding_to_housing_k_per_w", (1e-4, 1e4), "resistance", |d| {
            &mut d.heat.winding_to_housing_k_per_w
        }),
        Key::new("heat.housing_to_air_k_per_w", (1e-4, 1e4), "resistance", |d| {
            &mut d.heat.housing_to_air_k_per_w
        }),
        Key::new("heat.air_c", (-60.0, 100.0), "of the air, and of all at first", |d| {
            &mut d.heat.air_c
        }),
        Key::new(
            "heat.derate_c",
            (0.0, 1000.0),
            "torque is reduced from here; 0: at trip_c",
            |d| &mut d.heat.derate_c,
        ),
        Key::new("heat.trip_c", (0.0, 1000.0), "switches off here; 0: never", |d| {
            &mut d.heat.trip_c
        }),
    ];

    /// True if temperatures change.
    #[must_use]
    pub fn acts(&self) -> bool {
        self.winding_j_per_k > 0.0
    }

    /// Resistance at `celsius` of one that has `at_25_ohm` at 25 °C, Ω.
    #[must_use]
    pub fn resistance_ohm(&self, at_25_ohm: f64, celsius: f64) -> f64 {
        if self.acts() { at_25_ohm * (1.0 + COPPER_PER_K * (celsius - 25.0)) } else { at_25_ohm }
    }

    /// Share of its torque that the drive allows with the winding at `celsius`.
    #[must_use]
    pub fn share(&self, celsius: f64) -> f64 {
        if !self.acts() || self.trip_c <= 0.0 || self.derate_c <= 0.0 {
            return 1.0;
        }
        let span = (self.trip_c - self.derate_c).max(1e-9);
        ((self.trip_c - celsius) / span).clamp(0.0, 1.0)
    }
}

impl Default for Heat {
    fn default() -> Self {
        Self::NONE
    }
}

/// Temperatures, °C.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Temperatures {
    /// Of the winding.
    pub winding_c: f64,
    /// Of the housing.
    pub housing_c: f64,
}

impl Temperatures {
    /// `h_s` with `loss_w` in the winding: an implicit step, which is stable for all capacities and
    /// resistances, and changes nothing where all are as warm as the air.
    pub(super) fn advance(&mut self, heat: &Heat, loss_w: f64, h_s: f64) {
        if !heat.acts() {
            return;
        }
        let (winding, housing) = (heat.winding_j_per_k, heat.housing_j_per_k);
        let inward = h_s / heat.winding_to_housing_k_per_w;
        let outward = h_s / heat.housing_to_air_k_per_w;
        let to_housing_j = inward * (self.winding_c - self.housing_c);
        let to_air_j = outward * (self.housing_c - heat.air_c);
        let (winding_j, housing_j) = (h_s * loss_w - to_housing_j, to_housing_j - to_air_j);
        // (winding + inward) x − inward y = winding_j, (housing + inward + outward) y − inward x =
        // housing_j; the determinant without differences
        let across = housing + inward + outward;
        let determinant = winding * across + inward * (housing + outward);
        self.winding_c += (across * winding_j + inward * housing_j) / determinant;
        self.housing_c += (inward * winding_j + (winding + inward) * housing_j) / determinant;
    }

    /// Visits every number.
    #[inline(always)]
    pub(super) fn walk(&mut self, visit: &mut impl FnMut(&'static str, &mut f64)) {
        visit("drive.winding_c", &mut self.winding_c);
        visit("drive.housing_c", &mut self.housing_c);
    }
}
