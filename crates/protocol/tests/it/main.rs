//! The tests of the protocol: bytes, and the page that describes them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panic")]
#![allow(clippy::print_stdout, reason = "a skipped test prints why")]
#![allow(missing_docs, unreachable_pub, missing_debug_implementations, reason = "tests")]
#![allow(non_snake_case, reason = "a name says the frame of a vector: B the body, W the world")]

mod codec;
mod golden;
mod page;
mod probe;
