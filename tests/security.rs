//! The bus against those who should not be there: credentials, access list, sizes, counts, secrets.
//! Real daemons and real sessions, on loopback only.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panic")]
#![allow(clippy::print_stderr, reason = "a skipped test says why")]
#![allow(missing_docs, unreachable_pub, missing_debug_implementations, reason = "tests")]

#[path = "security/files.rs"]
mod files;
#[path = "security/floods.rs"]
mod floods;
#[path = "security/guarded.rs"]
mod guarded;
#[path = "security/matrix.rs"]
mod matrix;
#[path = "common/process.rs"]
mod process;
#[path = "security/strangers.rs"]
mod strangers;
#[cfg(feature = "tls")]
#[path = "security/tls.rs"]
mod tls;
