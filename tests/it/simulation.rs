//! The whole daemon but its threads, on one thread: the loop, the hand-overs, the desks where
//! commands and orders arrive, the recorder, with a link, a disk, a clock, controllers, operators
//! and strangers that fail or do harm. All chance comes from one seed; a seed that fails says how
//! to run it again.
//!
//! 300 seeds by default; `HARDSTAND_SEEDS=10000 cargo test --release --test it simulation::` for
//! more, `HARDSTAND_SEED=7 …` for one. `.ci/simulated` puts defects back and prints which seed
//! finds which.

mod asker;
mod book;
mod controller;
mod disk;
mod faults;
mod joiner;
mod leases;
mod misfortunes;
mod pace;
mod seeds;
mod sim_bus;
mod strangers;
mod tick_watch;
mod verdict;
mod world;
