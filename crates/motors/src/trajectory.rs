//! A position and velocity that approach a target under limits of velocity and acceleration.

/// Limits; `None` is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Limits {
    pub(crate) velocity: Option<f64>,
    pub(crate) acceleration: Option<f64>,
}

/// The set-point that moves, in any unit of position.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Trajectory {
    pub(crate) position: f64,
    pub(crate) velocity: f64,
    pub(crate) done: bool,
}

impl Trajectory {
    /// Advances by `dt_s` towards a target that itself moves with `target_velocity`.
    /// Returns the position that the target has afterwards.
    pub(crate) fn step(
        &mut self,
        target: f64,
        target_velocity: f64,
        limits: Limits,
        dt_s: f64,
    ) -> f64 {
        let moved = target + target_velocity * dt_s;
        if self.done || limits == Limits::default() {
            *self = Self { position: moved, velocity: target_velocity, done: true };
            return moved;
        }
        let distance = target - self.position;
        let relative = self.velocity - target_velocity;
        let wanted = match limits.acceleration {
            Some(a) => {
                // the velocity from which constant deceleration ends at the target
                let stop = (2.0 * a * distance.abs()).sqrt().copysign(distance) + target_velocity;
                let capped = limit(stop, limits.velocity);
                let step = a * dt_s;
                self.velocity + (capped - self.velocity).clamp(-step, step)
            }
            None => limit(f64::INFINITY.copysign(distance), limits.velocity),
        };
        let next = self.position + wanted * dt_s;
        // arrived: the target lies between here and the next position, at nearly its velocity
        let slow = limits.acceleration.is_none_or(|a| relative.abs() <= 2.0 * a * dt_s);
        if slow && (distance == 0.0 || (moved - next) * distance <= 0.0) {
            *self = Self { position: moved, velocity: target_velocity, done: true };
        } else {
            *self = Self { position: next, velocity: wanted, done: false };
        }
        moved
    }
}

fn limit(value: f64, bound: Option<f64>) -> f64 {
    bound.map_or(value, |bound| value.clamp(-bound, bound))
}
