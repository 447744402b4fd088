//! The truth beside sensors with errors.

use hardstand_physics::sensor::FootSensed;
use hardstand_protocol::{FootSensorReading, JointTruth, SensorsReading};

use super::Simulation;

impl Simulation {
    /// Room for what [`fill_sensors`](Self::fill_sensors) fills in; none without errors.
    pub(super) fn new_sensors_reading(&self) -> SensorsReading {
        let mut reading = SensorsReading::default();
        if !self.spec().sensors.is_ideal() {
            reading.joints.resize(self.model().joint_count(), JointTruth::default());
            reading.feet.resize(self.spec().feet.len(), FootSensorReading::default());
        }
        reading
    }

    /// Does not allocate.
    pub(super) fn fill_sensors(&self, out: &mut SensorsReading) {
        if self.spec().sensors.is_ideal() {
            return;
        }
        let (state, truth) = (self.state(), self.plant.imu());
        (out.layout_hash, out.tick, out.time_ns) = (self.layout_hash(), state.tick, self.time_ns());
        out.truth_imu_quat_wxyz = truth.quat_WI.wxyz();
        out.truth_imu_angular_velocity_rad_per_s = truth.angular_velocity_I.into();
        out.truth_imu_specific_force_m_per_s2 = truth.specific_force_I.into();
        let [gyro, accel] = self.plant.imu_biases();
        out.truth_gyro_bias_rad_per_s = gyro.into();
        out.truth_accel_bias_m_per_s2 = accel.into();
        for (i, joint) in out.joints.iter_mut().enumerate() {
            *joint = JointTruth {
                truth_q: state.q.joints[i],
                truth_dq: state.v.joints[i],
                truth_tau: state.motor[i],
            };
        }
        for (f, (out, foot)) in out.feet.iter_mut().zip(&self.spec().feet).enumerate() {
            let (load, sensed) = (self.plant.foot_load(foot), state.sensors.feet.get(f));
            *out = FootSensorReading {
                force_foot_n: sensed.map_or(load.force_F, FootSensed::force_F),
                moment_foot_nm: sensed.map_or(load.moment_F, FootSensed::moment_F),
                truth_normal_n: load.normal_n,
                truth_force_foot_n: load.force_F,
                truth_moment_foot_nm: load.moment_F,
            };
        }
    }
}
