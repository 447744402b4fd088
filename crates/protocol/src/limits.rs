//! Bounds of messages.

/// Largest message on the bus: one zenoh batch. Fragments may be dropped and may block the sender.
pub const MESSAGE_BYTES_MAX: usize = 65_535;
