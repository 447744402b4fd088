//! What the loop asks of the system, seen from outside of its thread: one kind of system call, no
//! page fault, one wait a tick, no deadline missed without a word. Each detector is shown to see
//! what it is for: a loop that misbehaves is caught.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panic")]
#![allow(clippy::print_stderr, reason = "a skipped test says why")]
#![allow(missing_docs, unreachable_pub, missing_debug_implementations, reason = "tests")]

#[path = "common/bench.rs"]
mod bench;
#[path = "realtime/child.rs"]
mod child;
#[path = "realtime/cost.rs"]
mod cost;
#[path = "realtime/detectors.rs"]
mod detectors;
