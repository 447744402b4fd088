//! What drives show besides the state: the payload of the key `drives`.

use std::mem::take;

use serde::{Deserialize, Serialize};

/// Drives after `tick` ticks. Published only if the scenario gives a joint a drive that is not
/// ideal.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DrivesReading {
    /// Layout hash, as in the state.
    pub layout_hash: u64,
    /// Run number.
    pub run_id: u32,
    /// Ticks done.
    pub tick: u64,
    /// Simulated time, ns.
    pub time_ns: u64,
    /// Voltage at the battery's terminals, V; 0 without a battery.
    pub bus_v: f64,
    /// One entry per joint, in the order of `model`.
    pub joints: Vec<DriveReading>,
}

/// One joint's drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DriveReading {
    /// Position of the motor's side at the joint, rad or m: the joint's if nothing is elastic.
    pub motor_q: f64,
    /// Its velocity, rad/s or m/s.
    pub motor_dq: f64,
    /// Ground truth: position of the joint, rad or m; the state has what the encoder shows.
    pub truth_q: f64,
    /// Ground truth: velocity of the joint, rad/s or m/s.
    pub truth_dq: f64,
    /// Current of the motor, A; 0 without a torque constant.
    pub current_a: f64,
    /// Temperature of the winding, °C.
    pub winding_c: f64,
    /// Temperature of the housing, °C.
    pub housing_c: f64,
    /// Errors, as bits: 1 derated, 2 tripped, 4 watchdog, 8 torque limit, 16 voltage limit.
    pub flags: u32,
}

impl DrivesReading {
    /// Copies without allocating; both have been filled by the same plant.
    pub fn copy_from(&mut self, o: &Self) {
        let mut joints = take(&mut self.joints);
        joints.clone_from(&o.joints);
        *self = Self { joints, ..*o };
    }
}
