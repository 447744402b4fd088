//! The daemon as real processes: life, death, strangers, signals, rights.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panic")]
#![allow(clippy::print_stderr, reason = "a skipped test says why")]
#![allow(missing_docs, unreachable_pub, missing_debug_implementations, reason = "tests")]

#[path = "daemon/broken.rs"]
mod broken;
#[path = "daemon/clocks.rs"]
mod clocks;
#[path = "daemon/control.rs"]
mod control;
#[path = "daemon/disk.rs"]
mod disk;
#[path = "daemon/faults.rs"]
mod faults;
#[path = "daemon/friction.rs"]
mod friction;
#[path = "common/ladder.rs"]
mod ladder;
#[path = "daemon/life.rs"]
mod life;
#[path = "daemon/links.rs"]
mod links;
#[path = "daemon/lockstep.rs"]
mod lockstep;
#[path = "daemon/loss.rs"]
mod loss;
#[path = "common/namespace.rs"]
mod namespace;
#[path = "daemon/partition.rs"]
mod partition;
#[path = "common/process.rs"]
mod process;
#[path = "daemon/rights.rs"]
mod rights;
#[path = "daemon/shown.rs"]
mod shown;
#[path = "daemon/stalls.rs"]
mod stalls;
#[path = "daemon/status.rs"]
mod status;
#[path = "daemon/strangers.rs"]
mod strangers;
#[path = "daemon/subscribers.rs"]
mod subscribers;
