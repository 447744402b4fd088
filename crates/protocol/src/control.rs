//! Time and state of a running daemon: pause, step, reset, speed, save, restore; and pushes.

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

/// What `pause`, `resume`, `step`, `run_until`, `reset`, `snapshot`, `stop` and `arm` are given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControlRequest {
    /// `step`: how many ticks. `run_until`: the tick. Otherwise 0.
    pub number: u64,
    /// `reset`: 1 if published time shall begin at 0 again, too. Otherwise 0.
    pub rewind: u8,
}

/// The complete state of a simulation: the answer to `snapshot`, and what `restore` takes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedState {
    /// Layout hash of the robot.
    pub layout_hash: u64,
    /// Hash of robot and scenario as far as they decide the physics.
    pub physics_hash: u64,
    /// Run in which it was saved.
    pub run_id: u32,
    /// Ticks done.
    pub tick: u64,
    /// XXH3 of all other fields, see [`SavedState::sum`].
    pub checksum: u64,
    /// Names of the controllers that have joined, which the state knows by number.
    pub controllers: Vec<String>,
    /// The state; the last word is the digest.
    pub words: Vec<u64>,
}

impl SavedState {
    /// XXH3 of all fields but `checksum` as they are on the wire: little-endian, in their order,
    /// with the lengths of lists and texts before them.
    #[must_use]
    pub fn sum(&self) -> u64 {
        let mut sum = Xxh3::new();
        for word in [self.layout_hash, self.physics_hash] {
            sum.update(&word.to_le_bytes());
        }
        sum.update(&self.run_id.to_le_bytes());
        sum.update(&self.tick.to_le_bytes());
        sum.update(&(self.controllers.len() as u64).to_le_bytes());
        for name in &self.controllers {
            sum.update(&(name.len() as u64).to_le_bytes());
            sum.update(name.as_bytes());
        }
        sum.update(&(self.words.len() as u64).to_le_bytes());
        for word in &self.words {
            sum.update(&word.to_le_bytes());
        }
        sum.digest()
    }

    /// The same state with its checksum.
    #[must_use]
    pub fn summed(mut self) -> Self {
        self.checksum = self.sum();
        self
    }
}

/// A constant force on a link, for some ticks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PushRequest {
    /// Name of the link.
    pub link: String,
    /// Point of attack in the link's frame, m.
    pub point_link_m: [f64; 3],
    /// Force in world axes, N.
    pub force_world_n: [f64; 3],
    /// Duration, ticks.
    pub ticks: u64,
}

/// Whether a constraint of the scenario acts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConstraintRequest {
    /// Name of the constraint.
    pub name: String,
    /// 1 if it acts from now on, 0 if it ends.
    pub active: u8,
}

/// Velocity that controllers that walk are asked for, in the base's axes without its pitch and
/// roll: x ahead, y to the left. Also what `cmd_vel` is given. On the wire: three numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(into = "[f64; 3]", from = "[f64; 3]")]
pub struct VelocityCommand {
    /// Ahead, m/s.
    pub vx_m_per_s: f64,
    /// To the left, m/s.
    pub vy_m_per_s: f64,
    /// About the vertical, to the left, rad/s.
    pub yaw_rate_rad_per_s: f64,
}

impl VelocityCommand {
    /// Neither moves nor turns.
    pub const STAND: Self = Self { vx_m_per_s: 0.0, vy_m_per_s: 0.0, yaw_rate_rad_per_s: 0.0 };

    /// m/s, m/s, rad/s.
    #[must_use]
    pub const fn values(&self) -> [f64; 3] {
        [self.vx_m_per_s, self.vy_m_per_s, self.yaw_rate_rad_per_s]
    }
}

impl From<VelocityCommand> for [f64; 3] {
    fn from(command: VelocityCommand) -> Self {
        command.values()
    }
}

impl From<[f64; 3]> for VelocityCommand {
    fn from([vx_m_per_s, vy_m_per_s, yaw_rate_rad_per_s]: [f64; 3]) -> Self {
        Self { vx_m_per_s, vy_m_per_s, yaw_rate_rad_per_s }
    }
}

/// What `speed` is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SpeedRequest {
    /// Simulated seconds per second of wall time, 0.001 to 1000; 0 for as fast as the machine
    /// allows.
    pub speed: f64,
}
