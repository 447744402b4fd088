//! Between a joint of the robot and the shaft of its drive.

use crate::config::BusDrive;
use hardstand_motors::{JointReading, SetPoint};
use hardstand_protocol::{JointCommand, JointReading as RobotJoint};

/// What the drive measures: it turns `ratio` times as far as the joint, from `offset_rad` on.
pub(super) fn reading(drive: &BusDrive, joint: &RobotJoint) -> JointReading {
    JointReading {
        q_rad: drive.ratio * (joint.q - drive.offset_rad),
        dq_rad_s: drive.ratio * joint.dq,
        tau_nm: joint.tau / drive.ratio,
    }
}

/// True unless the motor is free.
pub(super) fn asks_for_effort(set_point: &SetPoint) -> bool {
    match *set_point {
        SetPoint::Follow { kp, kd, tau_ff_nm, .. } => kp != 0.0 || kd != 0.0 || tau_ff_nm != 0.0,
        SetPoint::Damped { kd, .. } => kd != 0.0,
        SetPoint::Released => false,
    }
}

/// What the joint gets. The simulated motor evaluates gains in every micro-step, as the drive does;
/// a set-point whose torque is at the drive's limit becomes that torque for this tick.
pub(super) fn command(drive: &BusDrive, set_point: &SetPoint, now: &JointReading) -> JointCommand {
    let ratio = drive.ratio;
    let torque = |tau_nm: f64| JointCommand { tau_ff: ratio * tau_nm, ..Default::default() };
    match *set_point {
        SetPoint::Follow { q_rad, dq_rad_s, kp, kd, tau_ff_nm, tau_max_nm } => {
            let free =
                SetPoint::Follow { q_rad, dq_rad_s, kp, kd, tau_ff_nm, tau_max_nm: f64::INFINITY };
            if free.torque_nm(now).abs() > tau_max_nm {
                return torque(set_point.torque_nm(now));
            }
            JointCommand {
                q: q_rad / ratio + drive.offset_rad,
                dq: dq_rad_s / ratio,
                kp: ratio * ratio * kp,
                kd: ratio * ratio * kd,
                tau_ff: ratio * tau_ff_nm,
            }
        }
        SetPoint::Damped { kd, tau_max_nm } if (kd * now.dq_rad_s).abs() > tau_max_nm => {
            torque(set_point.torque_nm(now))
        }
        SetPoint::Damped { kd, .. } => {
            JointCommand { kd: ratio * ratio * kd, ..Default::default() }
        }
        SetPoint::Released => JointCommand::default(),
    }
}

/// Limits the gains of a joint to `[kp_max, kd_max]`, the largest that the scenario allows; true if
/// that changes one. What exceeds them would be refused, together with the commands of all joints.
pub(super) fn limit_gains(command: &mut JointCommand, [kp_max, kd_max]: [f64; 2]) -> bool {
    let exceeds = command.kp > kp_max || command.kd > kd_max;
    command.kp = command.kp.min(kp_max);
    command.kd = command.kd.min(kd_max);
    exceeds
}

#[cfg(test)]
mod tests {
    use super::{command, limit_gains, reading};
    use crate::config::{BusDrive, Motor};
    use hardstand_motors::SetPoint;
    use hardstand_protocol::JointReading as RobotJoint;

    const DRIVE: BusDrive = BusDrive {
        motor: Motor::MiniCheetah,
        id: 1,
        joint: 0,
        ratio: -2.0,
        offset_rad: 0.3,
        watchdog_ns: None,
    };

    /// A gain on the wire grows with the square of the gear, beyond what a command may ask for.
    #[test]
    fn a_gear_cannot_ask_for_more_than_the_largest_gains() {
        let drive = BusDrive { ratio: 6.0, ..DRIVE };
        let now = reading(&drive, &RobotJoint { q: 0.3, dq: 0.0, tau: 0.0 });
        let asked = |kp, kd| {
            let follow = SetPoint::Follow {
                q_rad: 0.0,
                dq_rad_s: 0.0,
                kp,
                kd,
                tau_ff_nm: 0.1,
                tau_max_nm: 1e9,
            };
            let mut joint = command(&drive, &follow, &now);
            let limited = limit_gains(&mut joint, [5000.0, 100.0]);
            (joint.kp, joint.kd, limited)
        };
        assert_eq!(asked(300.0, 1.0), (5000.0, 36.0, true));
        assert_eq!(asked(100.0, 5.0), (3600.0, 100.0, true));
        assert_eq!(asked(100.0, 1.0), (3600.0, 36.0, false));
        assert_eq!(asked(1e30, 1e30), (5000.0, 100.0, true));
    }

    /// Power is the same on both sides of the gear, and so is the torque of a set-point.
    #[test]
    fn a_gear_keeps_power_and_the_torque_of_a_set_point() {
        let joint = RobotJoint { q: 0.5, dq: 1.5, tau: 3.0 };
        let shaft = reading(&DRIVE, &joint);
        assert!((shaft.q_rad + 0.4).abs() < 1e-12);
        assert!((shaft.dq_rad_s * shaft.tau_nm - joint.dq * joint.tau).abs() < 1e-12);
        let follow = |tau_max_nm| SetPoint::Follow {
            q_rad: -0.9,
            dq_rad_s: 0.2,
            kp: 4.0,
            kd: 0.1,
            tau_ff_nm: 0.7,
            tau_max_nm,
        };
        for set_point in [follow(100.0), follow(0.5), SetPoint::Damped { kd: 0.4, tau_max_nm: 0.1 }]
        {
            let c = command(&DRIVE, &set_point, &shaft);
            let tau = c.tau_ff + c.kp * (c.q - joint.q) + c.kd * (c.dq - joint.dq);
            let expected = DRIVE.ratio * set_point.torque_nm(&shaft);
            assert!((tau - expected).abs() < 1e-12, "{set_point:?}: {tau}, not {expected}");
        }
    }
}
