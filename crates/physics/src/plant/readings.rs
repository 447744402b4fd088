//! What the sensors read at the end of a tick.

use crate::sensor::{FootLoad, FootSwitch, ImuReading};
use crate::spatial::Vec3;

use super::sensors::{Sensors, Truth};
use super::{Carrier, Foot, Plant, SensorStates};

impl Plant {
    /// Switches the sensors on in the state as it is.
    pub(super) fn start_sensors(&mut self) {
        if !self.sensors.is_ideal() {
            self.with_truth(Sensors::start);
        }
        for i in 0..self.spec.feet.len() {
            let normal_n = self.normal_n(i);
            self.state.switches[i] = FootSwitch::settled(&self.spec.foot_switch, normal_n);
        }
    }

    /// Reads them after a tick.
    pub(super) fn read_sensors(&mut self) {
        if !self.sensors.is_ideal() {
            self.with_truth(Sensors::step);
        }
        for i in 0..self.spec.feet.len() {
            let normal_n = self.normal_n(i);
            self.state.switches[i].update(&self.spec.foot_switch, normal_n);
        }
    }

    /// Lets `read` bring what the sensors show up to date with the truth.
    fn with_truth(&mut self, read: fn(&Sensors, &mut SensorStates, u64, &Truth<'_>)) {
        // taken out for a moment; what stays in their place is empty and costs no allocation
        let mut states = std::mem::take(&mut self.state.sensors);
        let mut loads = std::mem::take(&mut self.sensors.loads);
        for (load, foot) in loads.iter_mut().zip(&self.spec.feet) {
            *load = self.foot_load(foot);
        }
        let joint = |i: usize| {
            let [q, dq] = self.seen_by_drive(i);
            [q, dq, self.state.motor[i]]
        };
        let truth = Truth { imu: &self.imu, joint: &joint, feet: &loads };
        read(&self.sensors, &mut states, self.state.tick, &truth);
        (self.state.sensors, self.sensors.loads) = (states, loads);
    }

    /// Normal force that the sensor of foot `i` shows, N: the truth if it has no errors.
    #[must_use]
    pub fn normal_n(&self, i: usize) -> f64 {
        match self.state.sensors.feet.get(i) {
            Some(sensed) => sensed.normal_n(),
            None => self.foot_normal_n(&self.spec.feet[i]),
        }
    }

    /// Position and velocity of joint `i` as its drive has read them; the truth if it is ideal.
    #[must_use]
    pub fn seen_by_drive(&self, i: usize) -> [f64; 2] {
        match self.state.drives.joints.get(i) {
            None => [self.state.q.joints[i], self.state.v.joints[i]],
            Some(drive) => [drive.measured.q, drive.measured.dq],
        }
    }

    /// Position and velocity of what the encoder of joint `i` is on, the motor of an elastic drive,
    /// as it shows them but for its steps and its filter.
    #[must_use]
    pub fn at_encoder(&self, i: usize) -> [f64; 2] {
        let truth = [self.state.q.joints[i], self.state.v.joints[i]];
        let drive = self.spec.drives.joints.get(i).zip(self.state.drives.joints.get(i));
        let Some((drive, state)) = drive else { return truth };
        let rotor = [state.rotor.q, state.rotor.dq];
        let [q, dq] = if drive.elastic.acts() { rotor } else { truth };
        [q + drive.encoder.offset_rad, dq]
    }

    /// Position, velocity and torque that joint `i` reports.
    #[must_use]
    pub fn reported_joint(&self, i: usize) -> [f64; 3] {
        match self.state.sensors.joints.get(i) {
            Some(sensed) => [sensed.measured.q, sensed.measured.dq, sensed.torque_nm],
            None => {
                let [q, dq] = self.seen_by_drive(i);
                [q, dq, self.state.motor[i]]
            }
        }
    }

    /// What the unit shows: the truth if it has no errors.
    #[must_use]
    pub fn reported_imu(&self) -> ImuReading {
        self.sensors.imu(&self.state.sensors, self.state.tick).unwrap_or(self.imu)
    }

    /// True biases of gyroscope, rad/s, and accelerometer, m/s², of this moment.
    #[must_use]
    pub fn imu_biases(&self) -> [Vec3; 2] {
        match (&self.sensors.imu, &self.state.sensors.imu) {
            (Some(unit), Some(state)) => unit.biases(state),
            _ => [Vec3::zeros(); 2],
        }
    }

    /// What the ground and other bodies do to a foot.
    #[must_use]
    pub fn foot_load(&self, foot: &Foot) -> FootLoad {
        let X_WB = &self.data.X_WB[foot.body];
        let (R_WF, p_F) = (X_WB.R * foot.X_BF.R, X_WB.point(&foot.X_BF.p));
        let (mut force, mut moment, mut normal) = (Vec3::zeros(), Vec3::zeros(), Vec3::zeros());
        let mut add = |point: Vec3, f: Vec3, n: Vec3| {
            force += f;
            moment += (point - p_F).cross(&f);
            normal += n;
        };
        for i in self.contacts.of_stations(&foot.stations) {
            let at = &self.contacts.evaluated()[i];
            let record = at.record_W();
            add(record.point, record.force, at.normal_W());
        }
        for at in self.collisions.of_shapes(&foot.shapes) {
            // the force is that on A
            let sign = if at.carriers[0] == Carrier::Link(foot.body) { 1.0 } else { -1.0 };
            add(at.point_W, at.force_W() * sign, at.normal_W() * sign);
        }
        let length = normal.norm();
        let along = if length > 0.0 { normal * (1.0 / length) } else { normal };
        FootLoad {
            normal_n: self.foot_normal_n(foot),
            normal_F: R_WF.tr_mul(&along).into(),
            force_F: R_WF.tr_mul(&force).into(),
            moment_F: R_WF.tr_mul(&moment).into(),
        }
    }
}
