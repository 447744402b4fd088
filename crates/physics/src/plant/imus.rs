//! What the inertial measurement units read.

use crate::dynamics::Data;
use crate::sensor::{ImuReading, ImuSpec};
use crate::spatial::Vec3;

use super::{Plant, PlantSpec};

impl Plant {
    /// Velocity in W of the second unit; call it before a tick moves the robot.
    pub(super) fn second_imu_velocity_W(&self) -> Option<Vec3> {
        self.spec.second_imu.map(|unit| velocity_W(&unit, &self.data))
    }

    /// Reads the units at the end of a tick; the second one moved with this velocity at its begin.
    pub(super) fn read_imus(&mut self, second_before_W: Option<Vec3>) {
        let unit = self.spec.imu;
        let v_W = velocity_W(&unit, &self.data);
        self.imu = self.read_imu(&unit, v_W - self.state.imu_v_before_W);
        self.state.imu_v_before_W = v_W;
        self.second_imu = self.spec.second_imu.zip(second_before_W).map(|(unit, before_W)| {
            let v_W = velocity_W(&unit, &self.data);
            self.read_imu(&unit, v_W - before_W)
        });
    }

    fn read_imu(&self, unit: &ImuSpec, dv_W: Vec3) -> ImuReading {
        let (X_WB, V) = (&self.data.X_WB[unit.body], &self.data.V[unit.body]);
        let dt_s = self.spec.period_ns as f64 / 1e9;
        unit.read(X_WB, &V.ang, &dv_W, dt_s, &self.spec.gravity_W)
    }

    /// Reads the units as if their velocities did not change: before the first tick, after a
    /// failure, and where a state does not come out of a tick.
    pub(super) fn rest_imus(&mut self) {
        self.imu = imu_at_rest(&self.spec.imu, &self.spec, &self.data);
        let second = self.spec.second_imu;
        self.second_imu = second.map(|unit| imu_at_rest(&unit, &self.spec, &self.data));
    }
}

/// Velocity of a unit in W.
pub(super) fn velocity_W(unit: &ImuSpec, data: &Data) -> Vec3 {
    data.point_velocity_W(unit.body, &unit.X_BI.p)
}

/// Reading of a unit whose velocity does not change.
pub(super) fn imu_at_rest(unit: &ImuSpec, spec: &PlantSpec, data: &Data) -> ImuReading {
    let (X_WB, V) = (&data.X_WB[unit.body], &data.V[unit.body]);
    unit.read(X_WB, &V.ang, &Vec3::zeros(), 1.0, &spec.gravity_W)
}
