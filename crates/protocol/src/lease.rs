//! Joining a run: which states a controller answers, and which joints are its own.
//!
//! ```text
//!  period 4, phase 0, offset 2
//!  state that is answered   0           4           8
//!  tick that it applies at        2           6          10
//! ```

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::limits::{JOINTS_MAX, NAME_BYTES_MAX};

/// Which states a controller answers, and how much later that applies. All in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandSchedule {
    /// Ticks between two states that are answered, at least 1.
    pub period: u64,
    /// Remainder of their ticks by `period`.
    pub phase: u64,
    /// From the state that is answered to the tick at which the answer applies.
    pub offset: u64,
}

/// Largest period and offset, ticks.
pub const SCHEDULE_TICKS_MAX: u64 = 1 << 20;

impl CommandSchedule {
    /// True if the state of this tick is to be answered.
    #[must_use]
    pub const fn answers(&self, tick: u64) -> bool {
        self.period != 0 && tick % self.period == self.phase
    }

    /// The state whose answer applies at `tick`, if there is one.
    #[must_use]
    pub fn answered_at(&self, tick: u64) -> Option<u64> {
        tick.checked_sub(self.offset).filter(|&answered| self.answers(answered))
    }

    /// The first tick from `tick` on whose state is to be answered.
    #[must_use]
    pub const fn next_from(&self, tick: u64) -> u64 {
        let period = if self.period == 0 { 1 } else { self.period };
        let behind = (tick % period + period - self.phase % period) % period;
        if behind == 0 { tick } else { tick.saturating_add(period - behind) }
    }

    /// Answers that can be on their way at a time.
    #[must_use]
    pub fn in_flight(&self) -> u64 {
        self.offset / self.period.max(1) + 1
    }

    /// All of it in one word: 22 bits of period, 21 of phase, 21 of offset.
    #[must_use]
    pub const fn word(self) -> u64 {
        (self.period << 42) | (self.phase << 21) | self.offset
    }

    /// The schedule of a word.
    #[must_use]
    pub const fn of_word(word: u64) -> Self {
        const LOW: u64 = (1 << 21) - 1;
        Self { period: word >> 42, phase: (word >> 21) & LOW, offset: word & LOW }
    }
}

/// A set of joints, by their index in the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JointSet([u64; JOINTS_MAX / 64]);

impl JointSet {
    /// Adds a joint; false if it is in the set already, or no joint can have this index.
    pub fn insert(&mut self, joint: usize) -> bool {
        match self.0.get_mut(joint / 64) {
            Some(word) if *word & (1 << (joint % 64)) == 0 => {
                *word |= 1 << (joint % 64);
                true
            }
            _ => false,
        }
    }

    /// True if the joint is in the set.
    #[must_use]
    pub fn contains(&self, joint: usize) -> bool {
        self.0.get(joint / 64).is_some_and(|word| word & (1 << (joint % 64)) != 0)
    }
}

numbered! {
    /// What a controller is to a run.
    pub enum Role {
        /// Ticks wait for its commands, if the mode lets them.
        Required = 0, "required";
        /// Its commands are obeyed if they are there.
        Advisory = 1, "advisory";
        /// It only watches.
        Observer = 2, "observer";
    }
}

/// A controller's wish to join, checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Join {
    /// Number of its name. Never 0.
    pub controller: u64,
    /// Role.
    pub role: Role,
    /// When it answers.
    pub schedule: CommandSchedule,
    /// Joints that it wants for itself.
    pub joints: JointSet,
}

/// The number by which the loop knows a controller: XXH3 of its name, never 0.
#[must_use]
pub fn controller_number(name: &str) -> u64 {
    xxh3_64(name.as_bytes()).max(1)
}

/// True if a name in keys and in names of files may have this letter.
#[must_use]
pub fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-_.".contains(c)
}

/// What a robot may be called, for messages.
pub const ROBOT_NAME: &str = "1 to 96 letters, digits, \"-\", \"_\" or \".\"";
const _: () = assert!(NAME_BYTES_MAX == 96);

/// True if a robot may be called so: it is a part of keys, in which `*` and `/` mean something.
#[must_use]
pub fn is_robot_name(name: &str) -> bool {
    (1..=NAME_BYTES_MAX).contains(&name.len()) && name.chars().all(is_name_char)
}

/// True if a controller may be called so.
#[must_use]
pub fn is_controller_name(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.chars().all(is_name_char)
}

/// What a controller is given when it joins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// Number of the controller's name. Never 0.
    pub controller: u64,
    /// Session of its commands. Never 0.
    pub session: u64,
    /// When it answers.
    pub schedule: CommandSchedule,
    /// Lockstep waits for it.
    pub required: bool,
    /// Its joints.
    pub joints: JointSet,
}

const _: () = assert!(SCHEDULE_TICKS_MAX < 1 << 21);
