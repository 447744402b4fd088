//! The sandbox in processes of their own: what it must prevent, each with a line, and what it must
//! let through. Each attempt is made without the sandbox too, where it must not be refused, so that
//! no line is a failure for another reason.

#![cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
#![allow(unreachable_pub)]
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::exit, clippy::panic)]

mod allowed;
mod calls;
mod child;
mod files;
mod outcome;
#[cfg(target_arch = "x86_64")]
mod page;
mod physics;
mod sockets;
