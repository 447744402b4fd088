//! What only a simulator knows about sensors with errors: the payload of the key `sensors`.

use std::mem::take;

use serde::{Deserialize, Serialize};

/// The truth beside what sensors show, after `tick` ticks, and what the feet's sensors show along
/// all axes. Published and logged only if the scenario gives a sensor errors: then the state has
/// what the sensors show.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SensorsReading {
    /// Layout hash, as in the state.
    pub layout_hash: u64,
    /// Run number.
    pub run_id: u32,
    /// Ticks done.
    pub tick: u64,
    /// Simulated time, ns.
    pub time_ns: u64,
    /// Ground truth: orientation of the IMU in the world, order w, x, y, z.
    pub truth_imu_quat_wxyz: [f64; 4],
    /// Ground truth: angular velocity in IMU axes, rad/s.
    pub truth_imu_angular_velocity_rad_per_s: [f64; 3],
    /// Ground truth: specific force in IMU axes, m/s², mean over the tick.
    pub truth_imu_specific_force_m_per_s2: [f64; 3],
    /// Ground truth: bias of the gyroscope at this moment, rad/s.
    pub truth_gyro_bias_rad_per_s: [f64; 3],
    /// Ground truth: bias of the accelerometer at this moment, m/s².
    pub truth_accel_bias_m_per_s2: [f64; 3],
    /// One entry per joint, in the order of `model`.
    pub joints: Vec<JointTruth>,
    /// One entry per foot, in the order of `model`.
    pub feet: Vec<FootSensorReading>,
}

/// The truth of one joint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JointTruth {
    /// Ground truth: position, rad or m.
    pub truth_q: f64,
    /// Ground truth: velocity, rad/s or m/s.
    pub truth_dq: f64,
    /// Ground truth: effort that the motor made in the last micro-step, N·m or N.
    pub truth_tau: f64,
}

/// The force sensor of one foot. Forces act on the foot; moments are about the foot's origin, both
/// in the foot's axes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FootSensorReading {
    /// Force that the sensor shows, N.
    pub force_foot_n: [f64; 3],
    /// Moment that the sensor shows, N·m.
    pub moment_foot_nm: [f64; 3],
    /// Ground truth: sum of the normal forces, N.
    pub truth_normal_n: f64,
    /// Ground truth: force, N.
    pub truth_force_foot_n: [f64; 3],
    /// Ground truth: moment, N·m.
    pub truth_moment_foot_nm: [f64; 3],
}

impl SensorsReading {
    /// True if no sensor of the scenario has errors.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.joints.is_empty() && self.feet.is_empty()
    }

    /// Copies without allocating; both have been filled by the same plant.
    pub fn copy_from(&mut self, o: &Self) {
        let (mut joints, mut feet) = (take(&mut self.joints), take(&mut self.feet));
        joints.clone_from(&o.joints);
        feet.clone_from(&o.feet);
        *self = Self { joints, feet, ..*o };
    }
}
