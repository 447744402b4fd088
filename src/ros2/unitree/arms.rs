//! Unitree's `rt/arm_sdk`: set-points for waist and arms that are blended into the body's commands.

use hardstand_protocol::JointCommand;

/// Set-points of one message.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Arms {
    /// Joints by index, each with its set-point.
    pub joints: Vec<(usize, JointCommand)>,
    /// Their share, 0 to 1; the rest is the body's command.
    pub weight: f64,
}

impl Arms {
    /// Blends them into a command for all joints: the effort of each becomes the weighted mean of
    /// both efforts, whatever position and velocity it has.
    pub fn blend(&self, commands: &mut [JointCommand]) {
        for &(joint, arm) in &self.joints {
            if let Some(command) = commands.get_mut(joint) {
                *command = mix(command, &arm, self.weight);
            }
        }
    }
}

/// The springs, dampers and torques of both as one drive command.
fn mix(base: &JointCommand, arm: &JointCommand, weight: f64) -> JointCommand {
    let share = |base: f64, arm: f64| (1.0 - weight) * base + weight * arm;
    let (kp, kd) = (share(base.kp, arm.kp), share(base.kd, arm.kd));
    let at = |gain: f64, torque: f64| if gain > 0.0 { torque / gain } else { 0.0 };
    JointCommand {
        q: at(kp, share(base.kp * base.q, arm.kp * arm.q)),
        dq: at(kd, share(base.kd * base.dq, arm.kd * arm.dq)),
        kp,
        kd,
        tau_ff: share(base.tau_ff, arm.tau_ff),
    }
}

#[cfg(test)]
mod tests {
    use super::{Arms, mix};
    use hardstand_protocol::JointCommand;

    const BASE: JointCommand = JointCommand { q: 0.4, dq: -1.0, kp: 80.0, kd: 2.0, tau_ff: 3.0 };
    const ARM: JointCommand = JointCommand { q: -0.7, dq: 0.5, kp: 20.0, kd: 0.5, tau_ff: -1.0 };

    fn effort(c: &JointCommand, q: f64, dq: f64) -> f64 {
        c.tau_ff + c.kp * (c.q - q) + c.kd * (c.dq - dq)
    }

    #[test]
    fn the_effort_is_the_weighted_mean_of_both_efforts_in_every_state() {
        for weight in [0.0, 0.25, 1.0] {
            let mixed = mix(&BASE, &ARM, weight);
            for (q, dq) in [(0.0, 0.0), (0.3, -2.0), (-1.0, 4.0)] {
                let mean = (1.0 - weight) * effort(&BASE, q, dq) + weight * effort(&ARM, q, dq);
                assert!((effort(&mixed, q, dq) - mean).abs() < 1e-12, "{weight} {q} {dq}");
            }
        }
        // a free motor and one without gains
        let free = JointCommand::default();
        assert_eq!(mix(&free, &free, 0.5), free);
    }

    #[test]
    fn only_the_named_joints_change() {
        let mut commands = [BASE; 3];
        Arms { joints: vec![(1, ARM), (7, ARM)], weight: 1.0 }.blend(&mut commands);
        assert_eq!([commands[0], commands[2]], [BASE; 2]);
        assert!((commands[1].q - ARM.q).abs() < 1e-12 && commands[1].kp == ARM.kp);
    }
}
