//! The `hardstand` program; see `hardstand --help`.

use std::process::ExitCode;

fn main() -> ExitCode {
    hardstand::cli::main()
}
