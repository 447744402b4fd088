//! Prints the digests of the fixed cases, then replays the logs that it is given.
//!
//! ```text
//! portable run1.mcap run2.mcap
//! ```
//!
//! The output has no path, time or name of a machine: two outputs can be compared byte for byte.

use std::process::ExitCode;

fn main() -> ExitCode {
    print!("{}", portable::cases());
    for path in std::env::args().skip(1) {
        let replayed = std::fs::read(&path)
            .map_err(|e| e.to_string())
            .and_then(|bytes| portable::replay(bytes).map_err(|e| e.to_string()));
        match replayed {
            Ok(line) => println!("{line}"),
            Err(e) => {
                eprintln!("{path}: {e}");
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}
