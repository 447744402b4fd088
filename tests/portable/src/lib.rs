//! The cases of `tests/it/determinism.rs` and `tests/it/simd.rs`, and the replay of a log, for any
//! machine.

use std::fmt::Write as _;
use std::path::Path;

use hardstand::config::Scenario;
use hardstand::simulation::input_of;
use hardstand::{Error, ErrorKind, Result};
use hardstand_log::{LogReader, LogRecord};
use xxhash_rust::xxh3::Xxh3Default;

#[path = "../../../crates/geometry/tests/it/common/mod.rs"]
#[allow(dead_code, clippy::unwrap_used, reason = "shared with tests")]
mod common;
#[path = "../../it/determinism_cases.rs"]
mod determinism_cases;
#[path = "../../../crates/geometry/tests/it/digest.rs"]
mod digest;
#[path = "../../it/walking.rs"]
mod walking;
mod wasm;

/// Runs each fixed case and compares its digest with the one that is written down. The result is a
/// line for each.
///
/// # Errors
/// A digest differs.
pub fn cases() -> Result<String> {
    let mut out = String::new();
    for case in determinism_cases::CASES {
        let (name, digest) = (case.name, (case.run)());
        if digest != case.digest {
            let text = format!("{name}: {digest:016x}, written down {:016x}", case.digest);
            return Err(Error::new(ErrorKind::Internal, text));
        }
        let _infallible = writeln!(out, "{name} {digest:016x}");
    }
    let digest = digest::digest();
    if digest != digest::DIGEST {
        let text = format!("CONTACTS: {digest:016x}, written down {:016x}", digest::DIGEST);
        return Err(Error::new(ErrorKind::Internal, text));
    }
    let _infallible = writeln!(out, "CONTACTS {digest:016x}");
    Ok(out)
}

/// Runs every tick of a log again and compares its digest. The result is one line: the number of
/// ticks, and a hash over all their digests.
///
/// # Errors
/// The log cannot be read, or a digest differs.
pub fn replay(log: Vec<u8>) -> Result<String> {
    let mut reader = LogReader::from_bytes(Path::new("log"), log)?;
    let info = reader.info().clone();
    let scenario = Scenario::from_texts(&info.scenario, &info.robot, &[])?;
    let mut simulation = scenario.simulation();
    let (mut hash, mut ticks) = (Xxh3Default::new(), 0_u64);
    while let Some(record) = reader.next_record() {
        let LogRecord::Tick(applied) = record else { continue };
        simulation.step(&input_of(&applied));
        let digest = simulation.state().digest;
        if digest != applied.digest {
            let text =
                format!("tick {}: {digest:016x}, in the log {:016x}", applied.tick, applied.digest);
            return Err(Error::new(ErrorKind::Log, text));
        }
        hash.update(&digest.to_le_bytes());
        ticks += 1;
    }
    if let Some(damage) = reader.damage() {
        return Err(Error::new(ErrorKind::Log, damage));
    }
    Ok(format!("log of {ticks} ticks {:016x}", hash.digest()))
}
