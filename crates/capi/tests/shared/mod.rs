//! What other tests of the repository share.
#![allow(unreachable_pub, missing_debug_implementations, reason = "as the others need it")]

#[path = "../../../physics/tests/it/common/dice.rs"]
pub mod dice;
#[path = "../../../../tests/it/common/lossy.rs"]
pub mod lossy;
