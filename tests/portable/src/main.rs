//! Prints the digests of the fixed cases, then replays the logs that it is given.
//!
//! ```text
//! portable run1.mcap run2.mcap
//! ```
//!
//! The output has no path, time or name of a machine: two outputs can be compared byte for byte.

use std::process::ExitCode;

fn main() -> ExitCode {
    match report(std::env::args().skip(1)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("{e}");
            ExitCode::FAILURE
        }
    }
}

fn report(logs: impl Iterator<Item = String>) -> Result<(), String> {
    print!("{}", portable::cases().map_err(|e| e.to_string())?);
    for path in logs {
        let bytes = std::fs::read(&path).map_err(|e| format!("{path}: {e}"))?;
        println!("{}", portable::replay(bytes).map_err(|e| format!("{path}: {e}"))?);
    }
    Ok(())
}
