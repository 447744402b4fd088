//! Numbers by name: what a file, a scenario and a fit to a log may set.

use super::Drive;

/// A number of a drive, or of a sensor.
#[derive(Debug)]
pub struct Key<T = Drive> {
    /// Table and key in it, `friction.coulomb_nm`, or a key alone, `delay_us`; the unit comes last.
    pub name: &'static str,
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// What it is, in a few words.
    pub about: &'static str,
    field: fn(&mut T) -> &mut f64,
}

// derived, it would ask for a T that can be copied
impl<T> Clone for Key<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Key<T> {}

impl<T: Copy> Key<T> {
    /// A number from `min` to `max`.
    pub(crate) const fn new(
        name: &'static str,
        (min, max): (f64, f64),
        about: &'static str,
        field: fn(&mut T) -> &mut f64,
    ) -> Self {
        Self { name, min, max, about, field }
    }

    /// The value in `of`.
    #[must_use]
    pub fn get(&self, of: &T) -> f64 {
        let mut copy = *of;
        *(self.field)(&mut copy)
    }

    /// Changes the value in `of`.
    pub fn set(&self, of: &mut T, value: f64) {
        *(self.field)(of) = value;
    }
}
