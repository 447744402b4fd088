//! Helpers of the tests.

pub mod allocator;
pub mod bench;
#[path = "../../../crates/physics/tests/it/common/dice.rs"]
pub mod dice;
pub mod drive;
pub mod golden;
pub mod ladder;
pub mod logs;
pub mod memory;
#[cfg(feature = "zenoh")]
pub mod namespace;
pub mod oracle;
#[cfg(feature = "zenoh")]
pub mod process;
#[path = "../../../crates/physics/tests/it/common/robots.rs"]
pub mod robots;
pub mod scene;
pub mod serial;

use hardstand::simulation::WatchdogSpec;

/// Settings of the age ladder for tests that build their own robots.
pub const WATCHDOG: WatchdogSpec =
    WatchdogSpec { hold_ticks: 20, damped_ticks: 50, proof_commands: 3, damping: 1.0 };

/// The same; the first command of a session is in force at once.
pub const AT_ONCE: WatchdogSpec = WatchdogSpec { proof_commands: 1, ..WATCHDOG };
