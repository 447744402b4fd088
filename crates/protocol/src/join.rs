//! Controllers that join a run, and leave it.

use serde::{Deserialize, Serialize};

/// What a controller wants.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JoinRequest {
    /// Layout hash of the robot that is meant.
    pub layout_hash: u64,
    /// Hash of robot and scenario as far as they decide the physics; 0 for whichever there is.
    pub physics_hash: u64,
    /// 0 required, 1 advisory, 2 observer.
    pub role: u8,
    /// Ticks between two states that it answers.
    pub period_ticks: u64,
    /// Remainder of their ticks by the period.
    pub phase_ticks: u64,
    /// From the state that it answers to the tick at which the answer applies.
    pub offset_ticks: u64,
    /// Its name: the same when it comes again.
    pub controller: String,
    /// Units that it reckons in: `SI`.
    pub units: String,
    /// Joints that it wants for itself, in any order.
    pub joints: Vec<String>,
}

/// What `leave` is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeaveRequest {
    /// Run that is meant; 0 for whichever there is.
    pub run_id: u32,
    /// Session of who leaves.
    pub session: u64,
}
