//! Helpers of the tests.

pub mod allocator;
pub mod bench;
#[path = "../../../crates/physics/tests/it/common/dice.rs"]
pub mod dice;
pub mod drive;
pub mod golden;
pub mod ladder;
pub mod logs;
#[cfg(feature = "zenoh")]
pub mod lossy;
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
mod watchdog;

pub use watchdog::{AT_ONCE, WATCHDOG};

/// The file `name` of the repository.
pub fn repository(name: &str) -> String {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    folder.join(name).display().to_string()
}
