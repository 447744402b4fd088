//! The tests of the contact geometry, one module for each subject.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panic")]
#![allow(clippy::disallowed_methods, reason = "std's functions are an independent reference")]
#![allow(non_snake_case, reason = "monogram notation")]
#![allow(missing_docs, unreachable_pub, missing_debug_implementations, reason = "tests")]

mod closed_forms;
mod common;
mod digest;
mod hulls;
mod patches;
mod properties;
mod reference;
mod worlds;

#[test]
fn the_digest_of_ten_thousand_contacts_is_the_one_written_down() {
    // the same in debug and release, on x86-64, aarch64 and WebAssembly
    assert_eq!(format!("{:016x}", digest::digest()), format!("{:016x}", digest::DIGEST));
}
