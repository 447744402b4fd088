//! Repeatable chance.
#![allow(dead_code, reason = "the tests of two crates and the benchmarks use parts of it")]

/// A small generator for phases and mutations: xorshift.
pub struct Dice(pub u64);

impl Dice {
    pub fn roll(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % below
    }
}
