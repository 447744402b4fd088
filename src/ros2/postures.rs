//! The postures of Unitree's `sport` service: trajectories that the daemon follows by itself.

use super::messages::{Duration, Header, JointTrajectory, JointTrajectoryPoint};
use super::orders::Refused;
use super::trajectory::Trajectory;
use crate::config::{Scenario, UnitreeRobot};
use hardstand_protocol::HoldGains;

/// Time from one posture to another, s.
const MOVE_S: i32 = 1;
/// Thigh and calf of a quadruped that lies on its feet, rad.
const FOLDED: [f64; 2] = [1.36, -2.65];

/// What the robot shall do with its joints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Posture {
    /// Its initial joint positions.
    Up,
    /// A quadruped with folded legs; a humanoid is only damped.
    Down,
    /// Damped, without a position.
    Damp,
}

/// The postures of one robot.
#[derive(Clone, Debug)]
pub(super) struct Postures {
    up: Vec<f64>,
    down: Option<Vec<f64>>,
    gains: Vec<HoldGains>,
}

impl Postures {
    /// Of the robot of the scenario, which starts upright.
    pub(super) fn of(scenario: &Scenario, robot: &UnitreeRobot, gains: Vec<HoldGains>) -> Self {
        let up = scenario.spec.q.joints.clone();
        let down = match robot {
            UnitreeRobot::Go(motors) => {
                let mut down = up.clone();
                for leg in motors.joints.chunks(3) {
                    for (&joint, q) in leg.iter().zip([0.0, FOLDED[0], FOLDED[1]]) {
                        down[joint] = q;
                    }
                }
                Some(down)
            }
            UnitreeRobot::Hg(_) => None,
        };
        Self { up, down, gains }
    }

    /// The way to `posture` from the present joint positions, and its end, which is held.
    pub(super) fn trajectory(&self, posture: Posture) -> Result<Trajectory, Refused> {
        let (positions, damped) = match (posture, &self.down) {
            (Posture::Up, _) => (&self.up, false),
            (Posture::Down, Some(down)) => (down, false),
            (Posture::Down, None) | (Posture::Damp, _) => (&self.up, true),
        };
        let mut gains = self.gains.clone();
        if damped {
            gains.iter_mut().for_each(|g| g.kp = 0.0);
        }
        let point = JointTrajectoryPoint {
            positions: positions.clone(),
            // damped: no set-point moves
            velocities: vec![0.0; positions.len()],
            time_from_start: Duration { sec: if damped { 0 } else { MOVE_S }, nanosec: 0 },
            ..Default::default()
        };
        let message = JointTrajectory {
            header: Header::default(),
            joint_names: Vec::new(),
            points: vec![point],
        };
        let order: Vec<usize> = (0..positions.len()).collect();
        Trajectory::new(&message, &order, gains)
    }
}
