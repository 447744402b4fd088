//! Sessions: the secret number by which a controller proves that it is the same one.
//!
//! A controller draws a number when it starts, and sends it in every command and when it joins or
//! leaves. The daemon never publishes it. States, status, events and logs show another number that
//! is made from it, or from the name of a controller that has joined, and that proves nothing.

use sha3::{Digest, Sha3_256};

/// A random number from the system, never 0: a new session, or the nonce of an order.
#[must_use]
pub fn random_number() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    // RandomState is seeded by the system's random numbers
    let number = std::collections::hash_map::RandomState::new().build_hasher().finish();
    number.max(1)
}

/// The number by which a session that has not joined is published: the first eight bytes of
/// SHA3-256 of its eight bytes, little-endian, never 0.
///
/// ```
/// assert_eq!(hardstand_protocol::public_session(1), 0xef6e_60cf_2c63_75b8);
/// ```
#[must_use]
pub fn public_session(session: u64) -> u64 {
    let hash = Sha3_256::digest(session.to_le_bytes());
    let first: [u8; 8] = std::array::from_fn(|i| hash[i]);
    u64::from_le_bytes(first).max(1)
}
