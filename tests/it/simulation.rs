//! The whole daemon but its threads, on one thread: the loop, the hand-overs, the desk where
//! commands arrive, the recorder, with a link, a disk, a clock and controllers that fail. All
//! chance comes from one seed; a seed that fails says how to run it again.
//!
//! 200 seeds by default; `HARDSTAND_SEEDS=10000 cargo test --release --test it simulation::` for
//! more, `HARDSTAND_SEED=7 …` for one.

mod controller;
mod disk;
mod faults;
mod pace;
mod seeds;
mod verdict;
mod world;
