//! Sensors against closed forms.

mod feet;
mod imu;
mod joints;
mod noise;
mod state;

use hardstand_physics::sensor::{ImuErrors, ImuReading, ImuState, ImuUnit};
use hardstand_physics::spatial::{Quaternion, Vec3};

/// A reading of a unit that turns with `w` and feels `f`.
pub fn reading(w: Vec3, f: Vec3) -> ImuReading {
    ImuReading { quat_WI: Quaternion::IDENTITY, angular_velocity_I: w, specific_force_I: f }
}

pub fn still() -> ImuReading {
    reading(Vec3::zeros(), Vec3::zeros())
}

/// The numbers of a perfect unit with `change`.
pub fn errors(change: impl FnOnce(&mut ImuErrors)) -> ImuErrors {
    let mut errors = ImuErrors::NONE;
    change(&mut errors);
    errors
}

/// A unit of `seed` with ticks of `period_ns` that has just been switched on.
pub fn started(errors: &ImuErrors, seed: u64, period_ns: u64) -> (ImuUnit, ImuState) {
    let unit = ImuUnit::new(errors, seed, period_ns);
    let state = unit.start(&still());
    (unit, state)
}

/// Root of the mean square.
pub fn rms(values: &[f64]) -> f64 {
    (values.iter().map(|x| x * x).sum::<f64>() / values.len() as f64).sqrt()
}

pub fn assert_near(found: f64, expected: f64, relative: f64) {
    let off = (found - expected).abs();
    assert!(off <= relative * expected.abs(), "{found} is not {expected} within {relative}");
}
