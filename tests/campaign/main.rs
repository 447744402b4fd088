//! Campaigns: real daemons and controllers, real interruptions.
#![cfg(feature = "zenoh")]
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![allow(unreachable_pub)]
#![allow(clippy::print_stderr, reason = "a skipped test says so")]

#[path = "../common/process.rs"]
mod process;

mod ends;
mod files;
mod goes_on;
mod recipes;
mod rows;
mod stage;
