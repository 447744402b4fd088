//! What the loop asks of the system, seen from outside of its thread: one kind of system call, no
//! page fault, one wait a tick, no deadline missed without a word. Each detector is shown to see
//! what it is for: a loop that misbehaves is caught.

mod child;
mod cost;
mod detectors;
