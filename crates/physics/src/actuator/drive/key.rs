//! The numbers of a drive by name: what a file, a scenario and a fit to a log may set.

use super::Drive;

/// A number of a drive.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Table and key in it, `friction.coulomb_nm`, or a key alone, `delay_us`; the unit comes last.
    pub name: &'static str,
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// What it is, in a few words.
    pub about: &'static str,
    field: fn(&mut Drive) -> &mut f64,
}

impl Key {
    /// A number from `min` to `max`.
    pub(super) const fn new(
        name: &'static str,
        (min, max): (f64, f64),
        about: &'static str,
        field: fn(&mut Drive) -> &mut f64,
    ) -> Self {
        Self { name, min, max, about, field }
    }

    /// The value in `drive`.
    #[must_use]
    pub fn get(&self, drive: &Drive) -> f64 {
        let mut copy = *drive;
        *(self.field)(&mut copy)
    }

    /// Changes the value in `drive`.
    pub fn set(&self, drive: &mut Drive, value: f64) {
        *(self.field)(drive) = value;
    }
}
