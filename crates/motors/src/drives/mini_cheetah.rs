//! The motor controller of the MIT mini cheetah, from whose packing "MIT mode" has its name.
//!
//! Standard frames with the motor's id. `FF…FC` enters motor mode, `FF…FD` leaves it, `FF…FE` takes
//! the position as zero. Each frame is answered to the master's id (0) with the motor's id,
//! position, velocity and torque: six bytes. A lost master has no effect unless `timeout` is set.

use super::mit::{Impedance, MitRanges};
use crate::{
    CanFrame, CanId, Condition, Conditions, Drive, Environment, JointReading, SetPoint, Watchdog,
};

/// A motor with Ben Katz's firmware.
#[derive(Clone, Debug)]
pub struct MiniCheetah {
    id: u16,
    ranges: MitRanges,
    enabled: bool,
    command: Impedance,
    zero_rad: f64,
    conditions: Conditions,
    watchdog: Watchdog,
}

impl MiniCheetah {
    /// `timeout_ns` is the setting `CAN_TIMEOUT`; `None` if it is 0.
    pub fn new(id: u8, ranges: MitRanges, timeout_ns: Option<u64>) -> Self {
        Self {
            id: u16::from(id),
            ranges,
            enabled: false,
            command: Impedance::default(),
            zero_rad: 0.0,
            conditions: Conditions::default(),
            watchdog: Watchdog::new(timeout_ns),
        }
    }
}

impl Drive for MiniCheetah {
    type Frame = CanFrame;

    fn on_frame(
        &mut self,
        now_ns: u64,
        frame: &CanFrame,
        reading: &JointReading,
        answers: &mut Vec<CanFrame>,
    ) {
        let Ok(data) = <[u8; 8]>::try_from(frame.data()) else { return };
        if frame.id != CanId::Standard(self.id) || frame.fd {
            return;
        }
        self.watchdog.feed(now_ns);
        match data {
            [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, last @ 0xfc..=0xfe] => {
                self.command = Impedance::default();
                match last {
                    0xfc => self.enabled = self.conditions == Conditions::default(),
                    0xfd => self.enabled = false,
                    _ => self.zero_rad = reading.q_rad,
                }
            }
            _ => self.command = self.ranges.unpack_12(&data),
        }
        let q_rad = reading.q_rad - self.zero_rad;
        let [a, b, c, d, e] = self.ranges.pack_feedback_12(q_rad, reading.dq_rad_s, reading.tau_nm);
        let answer = [self.id as u8, a, b, c, d, e];
        answers.extend(CanFrame::classic(CanId::Standard(0), &answer));
    }

    fn set_point(&mut self, now_ns: u64, _reading: &JointReading) -> SetPoint {
        if self.watchdog.expired(now_ns) {
            self.command = Impedance::default();
        }
        if self.enabled {
            self.command.set_point(self.zero_rad, self.ranges.tau_nm)
        } else {
            SetPoint::Released
        }
    }

    fn set_environment(&mut self, _environment: Environment) {}

    fn set_condition(&mut self, condition: Condition, present: bool) {
        self.conditions.set(condition, present);
        self.enabled &= !present;
    }
}
