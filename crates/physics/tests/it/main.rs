//! The tests of the physics, one module for each subject.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panic")]
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "long runs print figures, skipped tests why"
)]
#![allow(non_snake_case, reason = "monogram notation, see spatial")]
#![allow(missing_docs, unreachable_pub, missing_debug_implementations, reason = "tests")]

mod common;

mod collision;
mod constraints;
mod coupled;
mod drives;
mod dynamics;
mod energy;
mod examples;
mod ground_shapes;
mod held;
mod hertz_shapes;
mod material;
mod math;
mod momentum;
mod near;
mod patches;
mod rolling;
mod sensors;
mod soft;
mod sole;
mod spatial;
mod springs;
mod terrain;
