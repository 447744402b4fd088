//! The linearly implicit step: stiff contact and stiff drives with micro-steps of 1 ms.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]
#![allow(missing_docs, non_snake_case, unreachable_pub)]

#[path = "common/golden/block.rs"]
mod block;
#[path = "common/golden/files.rs"]
mod files;
#[path = "common/golden/report.rs"]
mod report;
#[path = "common/robots.rs"]
mod robots;
#[path = "common/golden/run.rs"]
mod run;
#[path = "common/golden/spring.rs"]
mod spring;

#[path = "implicit/blocks.rs"]
mod blocks;
#[path = "implicit/formulas.rs"]
mod formulas;
#[path = "implicit/quadruped.rs"]
mod quadruped;
