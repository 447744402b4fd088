//! The memory of the last state, and set-points on their way to the daemon.

use hardstand_client::{JointCommand, Result, StateReading};
use hardstand_protocol::limits::SETPOINT_MAX;

use crate::description::count;
use crate::failure::refused;
use crate::names::HARDSTAND_NO_TICK;
use crate::structs::{HardstandJointCommand, HardstandState};

/// The last state. Arrays keep their memory from one state to the next.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    pub(crate) reading: StateReading,
    q: Vec<f64>,
    dq: Vec<f64>,
    tau: Vec<f64>,
}

impl Buffers {
    pub(crate) fn take(&mut self, reading: StateReading) {
        let Self { q, dq, tau, .. } = self;
        for array in [&mut *q, dq, tau] {
            array.clear();
        }
        for joint in &reading.joints {
            q.push(joint.q);
            dq.push(joint.dq);
            tau.push(joint.tau);
        }
        self.reading = reading;
    }

    /// The state as C sees it. Its pointers hold until the next [`take`](Self::take).
    pub(crate) fn view(&self) -> HardstandState {
        let r = &self.reading;
        // the age is that in the tick before this state
        let age = (r.command_age_ticks != u32::MAX).then_some(u64::from(r.command_age_ticks) + 1);
        HardstandState {
            tick: r.tick,
            time_ns: r.time_ns,
            answers_tick: age.and_then(|age| r.tick.checked_sub(age)).unwrap_or(HARDSTAND_NO_TICK),
            digest: r.digest,
            run_id: r.run_id,
            mode: r.mode,
            phase: r.phase,
            failure: r.failure,
            authority: r.authority,
            joint_count: count(self.q.len()),
            foot_count: count(r.foot_contact.len().min(r.foot_normal_n.len())),
            q: self.q.as_ptr(),
            dq: self.dq.as_ptr(),
            tau: self.tau.as_ptr(),
            foot_contact: r.foot_contact.as_ptr(),
            foot_normal_n: r.foot_normal_n.as_ptr(),
            imu_quat_wxyz: r.imu_quat_wxyz,
            imu_angular_velocity_rad_per_s: r.imu_angular_velocity_rad_per_s,
            imu_specific_force_m_per_s2: r.imu_specific_force_m_per_s2,
            truth_base_position_m: r.truth_base_position_m,
            truth_base_quat_wxyz: r.truth_base_quat_wxyz,
            truth_base_velocity_m_per_s: r.truth_base_velocity_m_per_s,
            truth_base_angular_velocity_rad_per_s: r.truth_base_angular_velocity_rad_per_s,
            velocity_command: r.velocity_command.values(),
        }
    }
}

/// The joints that a controller commands, and the largest gains.
#[derive(Debug)]
pub(crate) struct Joints {
    pub(crate) names: Vec<String>,
    pub(crate) gains_max: [f64; 2],
}

impl Joints {
    /// Checks set-points before they are sent, and copies them to `out`.
    ///
    /// # Errors
    /// Names the joint, the value and the range.
    pub(crate) fn check(
        &self,
        commands: &[HardstandJointCommand],
        out: &mut Vec<JointCommand>,
    ) -> Result<()> {
        let expected = self.names.len();
        if commands.len() != expected {
            let n = commands.len();
            return Err(refused(format!(
                "n is {n}; it must be {expected}, one command for each joint of this controller"
            )));
        }
        let [kp_max, kd_max] = self.gains_max;
        out.clear();
        for (name, command) in self.names.iter().zip(commands) {
            let HardstandJointCommand { q, dq, kp, kd, tau_ff } = *command;
            let ranges = [
                ("q", q, -SETPOINT_MAX, SETPOINT_MAX),
                ("dq", dq, -SETPOINT_MAX, SETPOINT_MAX),
                ("kp", kp, 0.0, kp_max),
                ("kd", kd, 0.0, kd_max),
                ("tau_ff", tau_ff, -SETPOINT_MAX, SETPOINT_MAX),
            ];
            // NaN is in no range
            for (field, value, min, max) in ranges {
                if !(min..=max).contains(&value) {
                    return Err(refused(format!(
                        "{field} of {name} is {value}; it must be {min} to {max}; nothing was sent"
                    )));
                }
            }
            out.push(JointCommand { q, dq, kp, kd, tau_ff });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Buffers, Joints};
    use crate::{HARDSTAND_NO_TICK, HardstandJointCommand};
    use hardstand_client::StateReading;
    use hardstand_protocol::JointReading;

    fn refusal(n: usize, change: impl Fn(&mut HardstandJointCommand)) -> String {
        let joints = Joints { names: vec!["hip".into(), "knee".into()], gains_max: [500.0, 20.0] };
        let mut commands = vec![HardstandJointCommand::default(); n];
        commands.last_mut().map(change);
        let mut out = Vec::new();
        joints.check(&commands, &mut out).err().map(|e| e.to_string()).unwrap_or_default()
    }

    #[test]
    fn set_points_out_of_range_are_named() {
        assert_eq!(refusal(2, |c| c.kp = 500.0), "");
        assert!(refusal(3, |_| ()).starts_with("n is 3; it must be 2"));
        assert!(refusal(2, |c| c.q = f64::NAN).starts_with("q of knee is NaN; it must be"));
        let text = refusal(2, |c| c.kd = 20.1);
        assert_eq!(text, "kd of knee is 20.1; it must be 0 to 20; nothing was sent");
        assert!(refusal(2, |c| c.tau_ff = f64::INFINITY).starts_with("tau_ff of knee is inf"));
        assert!(refusal(2, |c| c.kp = -1e-9).starts_with("kp of knee is -"));
    }

    #[test]
    fn each_array_has_its_quantity() {
        let joint = |i: f64| JointReading { q: i, dq: 10.0 * i, tau: 100.0 * i };
        let joints = vec![joint(1.0), joint(2.0)];
        let mut buffers = Buffers::default();
        for _ in 0..2 {
            buffers.take(StateReading { joints: joints.clone(), ..Default::default() });
        }
        assert_eq!(buffers.q, [1.0, 2.0]);
        assert_eq!(buffers.dq, [10.0, 20.0]);
        assert_eq!(buffers.tau, [100.0, 200.0]);
        let view = buffers.view();
        let expected = [&buffers.q, &buffers.dq, &buffers.tau].map(|array| array.as_ptr());
        assert_eq!([view.q, view.dq, view.tau], expected);
        assert_eq!((view.joint_count, view.foot_count), (2, 0));
    }

    #[test]
    fn the_answered_tick_follows_from_the_age() {
        let mut buffers = Buffers::default();
        for (tick, command_age_ticks, answers) in
            [(9, 0, 8), (9, 3, 5), (9, u32::MAX, HARDSTAND_NO_TICK), (0, 0, HARDSTAND_NO_TICK)]
        {
            buffers.take(StateReading { tick, command_age_ticks, ..Default::default() });
            assert_eq!(buffers.view().answers_tick, answers);
        }
    }
}
