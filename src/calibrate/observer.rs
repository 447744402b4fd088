//! A replay that stays near the recording: an observer (Luenberger 1971).
//!
//! At each sample the simulated robot is pulled a little towards the recorded one. The error that
//! counts is the one before the pull, so a replay with the true values has little but the noise of
//! the sensors. Small differences do not grow, and no noisy state is ever taken over whole.
//!
//! A pull must not load the feet, or its noise lets them break loose. Anchors move with their feet,
//! so a pull along the ground loads none. Height, roll and pitch press feet into the ground, which
//! is stiff: 0.1 mm changes the normal force by a tenth. The ground holds these itself, so they are
//! pulled slowly.

#![allow(non_snake_case, reason = "monogram notation, see spatial")]

use hardstand_physics::math;
use hardstand_physics::plant::Plant;
use hardstand_physics::spatial::{Quaternion, Vec3};

use super::accuracy::turn_between;
use super::playback::Trace;
use crate::robot_log::RobotLog;

/// Height, roll and pitch are pulled this many times more slowly.
const UPRIGHT: f64 = 20.0;

/// How strongly a replay is pulled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observer {
    /// Time in which an error of joints, of the base's place and of its heading falls to 1/e, s:
    /// it is critically damped.
    pub time_constant_s: f64,
}

impl Observer {
    /// The same with another time constant.
    #[must_use]
    pub fn slower(self, times: f64) -> Self {
        Self { time_constant_s: times * self.time_constant_s }
    }

    /// Shares of an error by which position and velocity (1/s) change after `dt_s`: those of the
    /// filter with two equal roots (Brookner, *Tracking and Kalman Filtering Made Easy*, 1.2.6).
    fn gains(self, dt_s: f64) -> [f64; 2] {
        let root = math::exp(-dt_s / self.time_constant_s);
        let rest = 1.0 - root;
        [1.0 - root * root, if dt_s > 0.0 { rest * rest / dt_s } else { 0.0 }]
    }

    /// Pulls the plant, whose state is that of the last entry of `trace`, towards its row.
    pub(super) fn pull(self, plant: &mut Plant, log: &RobotLog, trace: &Trace) {
        let (Some(&row), Some(shown)) = (trace.rows.last(), trace.q.last()) else { return };
        let (mut q, mut v) = (plant.state().q.clone(), plant.state().v.clone());
        let since_s = |before: usize| log.time_s[row] - log.time_s[before];
        for (i, joint) in log.joints.iter().enumerate() {
            let error = joint.q[row] - shown[i];
            let before = (0..row).rev().find(|&before| !joint.q[before].is_nan());
            if let (false, Some(before)) = (error.is_nan(), before) {
                let [by, faster] = self.gains(since_s(before));
                q.joints[i] += by * error;
                v.joints[i] += faster * error;
            }
        }
        if let (Some(track), Some(base), Some(before)) =
            (&log.base, trace.base.last(), row.checked_sub(1))
        {
            let real: [f64; 7] = std::array::from_fn(|i| track.columns[i][row]);
            let [along, slowly] = [self, self.slower(UPRIGHT)].map(|o| o.gains(since_s(before)));
            let off_W = Vec3::new(real[0] - base[0], real[1] - base[1], real[2] - base[2]);
            let orientation = |at: &[f64; 7]| [at[3], at[4], at[5], at[6]];
            let turn_B = Vec3::from(turn_between(orientation(base), orientation(&real)));
            let turn_W = q.quat_WB.to_matrix() * turn_B;
            let place =
                |k: usize| Vec3::new(along[k] * off_W.x, along[k] * off_W.y, slowly[k] * off_W.z);
            let turn = |k: usize| {
                Vec3::new(slowly[k] * turn_W.x, slowly[k] * turn_W.y, along[k] * turn_W.z)
            };
            q.p_WB += place(0);
            v.v_WB += place(1);
            q.quat_WB = Quaternion::from_rotation_vector(&turn(0)).mul(&q.quat_WB).normalised();
            v.w_WB += turn(1);
        }
        plant.pull_to(&q, &v);
    }
}
