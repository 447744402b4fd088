//! Velocity commands that end by themselves, as those of Unitree's `sport` service do.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::bus::OrderPort;
use hardstand_protocol::{Refusal, StateReading, VelocityCommand};

/// A command that no state shows within this time after its end was refused, ns.
const SHOWN_WITHIN_NS: u64 = 1_000_000_000;

/// Gives velocity commands, and ends those whose time is over.
#[derive(Debug)]
pub(super) struct TimedVelocity {
    orders: OrderPort,
    pending: Mutex<Option<Pending>>,
}

/// A command with an end.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Pending {
    command: VelocityCommand,
    /// Length of simulated time, ns.
    lasts_ns: u64,
    /// Simulated time at which it ends; known when the first state has come.
    until_ns: Option<u64>,
    /// A state has shown it.
    shown: bool,
}

/// What a state means for a pending command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Wait,
    /// Another command has replaced it, or it was never in force.
    Forget,
    Stop,
}

impl TimedVelocity {
    pub(super) const fn new(orders: OrderPort) -> Self {
        Self { orders, pending: Mutex::new(None) }
    }

    /// Orders a velocity for `lasts_s` of simulated time; without it until the next command.
    ///
    /// # Errors
    /// As [`OrderPort::stream`].
    pub(super) fn order(
        &self,
        command: VelocityCommand,
        lasts_s: Option<f64>,
    ) -> Result<(), Refusal> {
        // held until the order has gone out: an older end must not follow it
        let mut pending = self.lock();
        self.orders.stream("unitree", &command)?;
        *pending = lasts_s.map(|s| Pending {
            command,
            lasts_ns: (s * 1e9) as u64,
            until_ns: None,
            shown: false,
        });
        Ok(())
    }

    /// True while a command has an end: every state is needed.
    pub(super) fn is_pending(&self) -> bool {
        self.lock().is_some()
    }

    /// Ends a command whose time is over, unless another one holds.
    pub(super) fn look(&self, state: &StateReading) {
        let mut pending = self.lock();
        let next = pending.as_mut().map_or(Next::Wait, |pending| pending.look(state));
        if next != Next::Wait {
            *pending = None;
        }
        if next == Next::Stop {
            let _stands = self.orders.stream("unitree", &VelocityCommand::STAND).is_ok();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Pending>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pending {
    fn look(&mut self, state: &StateReading) -> Next {
        let begun_ns = state.time_ns.saturating_add(self.lasts_ns);
        let until_ns = *self.until_ns.get_or_insert(begun_ns);
        let holds = state.velocity_command == self.command;
        self.shown |= holds;
        match () {
            () if holds && state.time_ns >= until_ns => Next::Stop,
            () if !holds && self.shown => Next::Forget,
            () if state.time_ns > until_ns.saturating_add(SHOWN_WITHIN_NS) => Next::Forget,
            () => Next::Wait,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Next, Pending};
    use hardstand_protocol::{StateReading, VelocityCommand};

    const AHEAD: VelocityCommand =
        VelocityCommand { vx_m_per_s: 0.3, vy_m_per_s: 0.0, yaw_rate_rad_per_s: 0.0 };

    fn state(ms: u64, velocity_command: VelocityCommand) -> StateReading {
        StateReading { time_ns: ms * 1_000_000, velocity_command, ..Default::default() }
    }

    fn for_ms(ms: u64) -> Pending {
        Pending { command: AHEAD, lasts_ns: ms * 1_000_000, until_ns: None, shown: false }
    }

    #[test]
    fn a_command_ends_after_its_time_unless_another_one_holds() {
        let mut pending = for_ms(1000);
        assert_eq!(pending.look(&state(500, VelocityCommand::STAND)), Next::Wait);
        assert_eq!(pending.look(&state(1499, AHEAD)), Next::Wait);
        assert_eq!(pending.look(&state(1500, AHEAD)), Next::Stop);
        let other = VelocityCommand { vx_m_per_s: 0.1, ..AHEAD };
        let mut pending = for_ms(1000);
        assert_eq!(pending.look(&state(500, AHEAD)), Next::Wait);
        assert_eq!(pending.look(&state(501, other)), Next::Forget);
    }

    #[test]
    fn a_short_command_is_ended_once_it_is_in_force_and_a_refused_one_is_forgotten() {
        let mut pending = for_ms(0);
        assert_eq!(pending.look(&state(1, VelocityCommand::STAND)), Next::Wait);
        assert_eq!(pending.look(&state(3, AHEAD)), Next::Stop);
        let mut pending = for_ms(0);
        assert_eq!(pending.look(&state(1, VelocityCommand::STAND)), Next::Wait);
        assert_eq!(pending.look(&state(1002, VelocityCommand::STAND)), Next::Forget);
    }
}
