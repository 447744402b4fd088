//! The doctor: is this machine fit for real time, and if not, what mends it?
//!
//! [`examine`] reads the files of the machine, [`measure()`] runs the real loop, [`Times::band`]
//! judges what it showed.

mod finding;
mod kernel;
mod machine;
mod measure;
mod physics_core;
mod rights;
mod verdict;

pub use finding::{Finding, Level};
pub use machine::Machine;
pub use measure::{Measured, ThreadCounts, measure, scenario};
pub use rights::sandbox;
pub use verdict::{Band, Times};

/// All checks, the gravest matters first. A file that is missing makes a check unknown.
#[must_use]
pub fn examine(machine: &Machine) -> Vec<Finding> {
    const CHECKS: [fn(&Machine) -> Finding; 19] = [
        rights::virtual_machine,
        rights::cpus,
        rights::priority,
        rights::locked_memory,
        kernel::preemption,
        kernel::throttling,
        kernel::fair_server,
        physics_core::isolation,
        physics_core::timer_tick,
        physics_core::rcu_callbacks,
        physics_core::interrupts,
        physics_core::siblings,
        physics_core::governor,
        physics_core::idle_states,
        kernel::clock_source,
        kernel::huge_pages,
        kernel::swap,
        rights::load,
        rights::other_realtime_threads,
    ];
    CHECKS.iter().map(|check| check(machine)).collect()
}
