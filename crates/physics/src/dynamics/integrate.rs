//! Integration on the manifold: base orientation as a unit quaternion, everything else linear.

use crate::model::{Base, Model};
use crate::spatial::{Quaternion, Vec3};

use super::{Accelerations, Positions, Velocities};

/// `v ← v + h v̇`.
pub fn advance_velocities(v: &mut Velocities, h: f64, vdot: &Accelerations) {
    v.w_WB += vdot.w_WB * h;
    v.v_WB += vdot.v_WB * h;
    for (v, vdot) in v.joints.iter_mut().zip(&vdot.joints) {
        *v += h * vdot;
    }
}

/// `q ← q ⊕ h v`: the orientation follows the exponential map and is normalised.
pub fn advance_positions(q: &mut Positions, h: f64, v: &Velocities) {
    advance_base(q, h, v);
    for (q, v) in q.joints.iter_mut().zip(&v.joints) {
        *q += h * v;
    }
}

/// The base's part of [`advance_positions`].
#[inline(always)]
pub(crate) fn advance_base(q: &mut Positions, h: f64, v: &Velocities) {
    turn_and_move(q, h, &v.w_WB, &v.v_WB);
}

/// `q ← q ⊕ h (v + ½ h v̇)`, then `v ← v + h v̇`: the mean velocity of the step moves the robot.
pub(crate) fn advance_by_mean(q: &mut Positions, v: &mut Velocities, h: f64, vdot: &Accelerations) {
    advance_base_by_mean(q, v, h, &vdot.w_WB, &vdot.v_WB);
    for ((q, v), vdot) in q.joints.iter_mut().zip(&mut v.joints).zip(&vdot.joints) {
        *q += h * (*v + 0.5 * h * vdot);
        *v += h * vdot;
    }
}

/// The base's part of [`advance_by_mean`].
pub(crate) fn advance_base_by_mean(
    q: &mut Positions,
    v: &mut Velocities,
    h: f64,
    alpha_W: &Vec3,
    a_W: &Vec3,
) {
    turn_and_move(q, h, &(v.w_WB + alpha_W * (0.5 * h)), &(v.v_WB + a_W * (0.5 * h)));
    v.w_WB += alpha_W * h;
    v.v_WB += a_W * h;
}

/// Moves the base for `h` s at this angular velocity, rad/s, and velocity, m/s, both in W.
#[inline(always)]
pub(crate) fn turn_and_move(q: &mut Positions, h: f64, w_WB: &Vec3, v_WB: &Vec3) {
    q.p_WB += v_WB * h;
    q.quat_WB = Quaternion::from_rotation_vector(&(w_WB * h)).mul(&q.quat_WB).renormalised();
}

/// The classical Runge–Kutta method of order 4, with its four stages preallocated.
///
/// The quaternion's components are integrated like any other coordinate and normalised at the end
/// of the step, as Simbody does.
#[derive(Clone, Debug)]
pub struct Rk4 {
    stage_q: Positions,
    stage_v: Velocities,
    sum_q: Rates,
    sum_v: Accelerations,
    vdot: Accelerations,
}

/// Time derivative of [`Positions`].
#[derive(Clone, Debug)]
struct Rates {
    quat: Quaternion,
    p: Vec3,
    joints: Vec<f64>,
}

const NO_RATE: Quaternion = Quaternion { w: 0.0, x: 0.0, y: 0.0, z: 0.0 };

impl Rk4 {
    /// A workspace for `model`.
    #[must_use]
    pub fn new(model: &Model) -> Self {
        let n = model.joint_count();
        Self {
            stage_q: Positions::zero(model),
            stage_v: Velocities::zero(model),
            sum_q: Rates { quat: NO_RATE, p: Vec3::zeros(), joints: vec![0.0; n] },
            sum_v: Velocities::zero(model),
            vdot: Velocities::zero(model),
        }
    }

    /// One step of length `h` in s. `accelerate(stage, q, v, vdot)` is called four times, for stage
    /// 0 at the start, 1 and 2 in the middle, 3 at the end of the step.
    pub fn step(
        &mut self,
        base: Base,
        q: &mut Positions,
        v: &mut Velocities,
        h: f64,
        mut accelerate: impl FnMut(usize, &Positions, &Velocities, &mut Accelerations),
    ) {
        const REACH: [f64; 3] = [0.5, 0.5, 1.0];
        const WEIGHT: [f64; 4] = [1.0, 2.0, 2.0, 1.0];
        self.stage_q.copy_from(q);
        self.stage_v.copy_from(v);
        self.clear_sums();
        for stage in 0..4 {
            accelerate(stage, &self.stage_q, &self.stage_v, &mut self.vdot);
            let quat_rate = match base {
                Base::Floating => self.stage_q.quat_WB.derivative(&self.stage_v.w_WB),
                Base::Fixed => NO_RATE,
            };
            self.accumulate(WEIGHT[stage], &quat_rate);
            if stage < 3 {
                let reach = REACH[stage] * h;
                // positions first: they need this stage's velocity
                self.stage_q.quat_WB = q.quat_WB.plus_scaled(reach, &quat_rate);
                self.stage_q.p_WB = q.p_WB + self.stage_v.v_WB * reach;
                for (i, q0) in q.joints.iter().enumerate() {
                    self.stage_q.joints[i] = q0 + reach * self.stage_v.joints[i];
                }
                self.stage_v.copy_from(v);
                advance_velocities(&mut self.stage_v, reach, &self.vdot);
            }
        }
        let sixth = h / 6.0;
        q.quat_WB = q.quat_WB.plus_scaled(sixth, &self.sum_q.quat).normalised();
        q.p_WB += self.sum_q.p * sixth;
        for (q, rate) in q.joints.iter_mut().zip(&self.sum_q.joints) {
            *q += sixth * rate;
        }
        advance_velocities(v, sixth, &self.sum_v);
    }

    fn clear_sums(&mut self) {
        self.sum_q.quat = NO_RATE;
        self.sum_q.p = Vec3::zeros();
        self.sum_q.joints.fill(0.0);
        self.sum_v.w_WB = Vec3::zeros();
        self.sum_v.v_WB = Vec3::zeros();
        self.sum_v.joints.fill(0.0);
    }

    fn accumulate(&mut self, weight: f64, quat_rate: &Quaternion) {
        self.sum_q.quat = self.sum_q.quat.plus_scaled(weight, quat_rate);
        self.sum_q.p += self.stage_v.v_WB * weight;
        for (sum, rate) in self.sum_q.joints.iter_mut().zip(&self.stage_v.joints) {
            *sum += weight * rate;
        }
        advance_velocities(&mut self.sum_v, weight, &self.vdot);
    }
}
