//! The whole daemon but its threads, on one thread: the loop, the hand-overs, the desk where commands
//! arrive, the recorder, with a link, a disk, a clock and controllers that fail. All chance comes from
//! one seed; a seed that fails says how to run it again.
//!
//! 200 seeds by default; `HARDSTAND_SEEDS=10000 cargo test --release --test simulation` for more,
//! `HARDSTAND_SEED=7 …` for one.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panic")]
#![allow(missing_docs, unreachable_pub, missing_debug_implementations, reason = "tests")]
#![allow(clippy::print_stdout, reason = "what was covered")]

#[path = "common/bench.rs"]
mod bench;
#[path = "simulation/controller.rs"]
mod controller;
#[path = "common/dice.rs"]
mod dice;
#[path = "simulation/disk.rs"]
mod disk;
#[path = "simulation/faults.rs"]
mod faults;
#[path = "common/ladder.rs"]
mod ladder;
#[path = "simulation/pace.rs"]
mod pace;
#[path = "simulation/seeds.rs"]
mod seeds;
#[path = "simulation/verdict.rs"]
mod verdict;
#[path = "simulation/world.rs"]
mod world;
