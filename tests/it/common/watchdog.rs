//! Settings of the age ladder.

use hardstand::simulation::WatchdogSpec;

/// For tests that build their own robots.
pub const WATCHDOG: WatchdogSpec =
    WatchdogSpec { hold_ticks: 20, damped_ticks: 50, proof_commands: 3, damping: 1.0 };

/// The same; the first command of a session is in force at once.
pub const AT_ONCE: WatchdogSpec = WatchdogSpec { proof_commands: 1, ..WATCHDOG };
