//! The `hardstand` program; see `hardstand --help`.

use std::process::ExitCode;
use std::sync::Arc;

use signal_hook::consts::SIGXFSZ;
use signal_hook::flag;

fn main() -> ExitCode {
    // a file that may not grow (`ulimit -f`) is a write that failed, and can be told
    let _handled = flag::register(SIGXFSZ, Arc::default()).is_ok();
    hardstand::cli::main()
}
