//! The force and the torque that the base needs, and forces on the feet that add up to them.

use std::array::from_fn;
use std::f64::consts::{FRAC_1_SQRT_2, TAU};

use libm::{remainder, sincos};
use nalgebra::{Cholesky, Matrix6, Matrix6x3, Vector2, Vector6};

use crate::{Command, estimator::Estimator, legs::Vec3, legs::Vec6};

// Of the whole robot as it stands; the legs are half of its mass.
const MASS_KG: f64 = 14.56;
const INERTIA_B_KG_M2: [f64; 3] = [0.19, 0.44, 0.50];
const HEIGHT_M: f64 = 0.30; // of the base above the ground under it
// Accelerations per error.
const VELOCITY_GAIN_PER_S: [f64; 3] = [5.0, 5.0, 20.0];
const DRIFT_GAIN_PER_S2: f64 = 6.0; // of the time integral of the error of velocity
const DRIFT_MAX_M_PER_S2: f64 = 1.5;
const HEIGHT_GAIN_PER_S2: f64 = 150.0;
const POSITION_GAIN_PER_S2: f64 = 15.0; // while it stands
const TILT_GAIN_PER_S2: [f64; 3] = [200.0, 200.0, 100.0];
const TILT_DAMPING_PER_S: [f64; 3] = [20.0, 20.0, 15.0];
const ACCELERATION_MAX_M_PER_S2: f64 = 6.0;

pub(crate) const FRICTION: f64 = 0.5; // assumed: below that of most floors
pub(crate) const FORCE_MAX_N: f64 = 200.0; // of one foot, along z
const WEIGHTS: [f64; 6] = [1.0, 1.0, 3.0, 40.0, 40.0, 10.0]; // of errors of force (N), torque (N·m)
const EFFORT: f64 = 0.002; // weight of the forces themselves
const PENALTY: f64 = 1.0;
const TURNS: usize = 8;

/// How the base is to move.
#[derive(Debug, Clone, Default)]
pub(crate) struct Goal {
    pub(crate) v_WB: Vec3, // m/s
    pub(crate) w_WB: Vec3, // rad/s
    yaw_rad: Option<f64>,
    drift_H: Vector2<f64>, // m/s²: what holds the speed
}

impl Goal {
    /// Force (N), and torque about the centre of mass (N·m), of the ground on the robot, in W.
    pub(crate) fn wrench(&mut self, c: &Command, e: &Estimator, trotting: bool, dt_s: f64) -> Vec6 {
        let last_rad = self.yaw_rad.unwrap_or(e.yaw_rad);
        let ahead_rad = remainder(last_rad - e.yaw_rad, TAU) + c.wz_rad_per_s * dt_s;
        // The limit is for obstacles: the goal does not run away.
        let yaw_rad = *self.yaw_rad.insert(e.yaw_rad + ahead_rad.clamp(-0.2, 0.2));
        self.w_WB = Vec3::z() * c.wz_rad_per_s;
        let v = e.R_WH * Vector2::new(c.vx_m_per_s, c.vy_m_per_s);
        self.v_WB = Vec3::new(v.x, v.y, e.slope_W.dot(&v));
        let lacking_H = e.R_WH.tr_mul(&(v - e.v_WB.xy())) * f64::from(trotting);
        let drift_H = self.drift_H + lacking_H * (DRIFT_GAIN_PER_S2 * dt_s);
        self.drift_H = drift_H.map(|a| a.clamp(-DRIFT_MAX_M_PER_S2, DRIFT_MAX_M_PER_S2));

        // A robot that stands keeps its centre of mass above the middle of its feet.
        let middle = e.p_GC_W.iter().sum::<Vec3>().xy() * (f64::from(!trotting) / 4.0);
        let level = e.R_WH * self.drift_H + middle * POSITION_GAIN_PER_S2;
        let a = (self.v_WB - e.v_WB).component_mul(&Vec3::from(VELOCITY_GAIN_PER_S))
            + Vec3::new(level.x, level.y, HEIGHT_GAIN_PER_S2 * (HEIGHT_M - e.height_m));
        let a = a.map(|a| a.clamp(-ACCELERATION_MAX_M_PER_S2, ACCELERATION_MAX_M_PER_S2));
        let f = (a - e.g_W) * MASS_KG;

        // The axes that B is to have: z along the normal of the ground, x along the yaw.
        let (sin, cos) = sincos(yaw_rad);
        let y = e.n_W.cross(&Vec3::new(cos, sin, 0.0)).normalize();
        let axes = [y.cross(&e.n_W), y, e.n_W];
        let tilt = (0..3).map(|i| e.R_WB.column(i).cross(&axes[i])).sum::<Vec3>() / 2.0;
        let angular = tilt.component_mul(&Vec3::from(TILT_GAIN_PER_S2))
            + (self.w_WB - e.w_WB).component_mul(&Vec3::from(TILT_DAMPING_PER_S));
        let t = e.R_WB * e.R_WB.tr_mul(&angular).component_mul(&Vec3::from(INERTIA_B_KG_M2));
        Vector6::new(f.x, f.y, f.z, t.x, t.y, t.z)
    }
}

/// Weighted least squares with limits by ADMM (Boyd et al. 2011, section 5): it takes turns between
/// the solution without limits and the limits, and goes on from the last tick, so a few turns do.
/// A maps the forces f to their wrench. The f that minimizes |A f - b|² weighted by W, plus
/// c |f - v|², is v + Aᵀ (A Aᵀ + c W⁻¹)⁻¹ (b - A v): 6 equations in place of 12 (Woodbury).
#[derive(Debug, Clone, Default)]
pub(crate) struct Distribution {
    forces: [Vec3; 4],
    prices: [Vec3; 4],
}

impl Distribution {
    /// Forces (N) on the feet for the wrench b about the centre of mass G. Foot C carries up to its
    /// share of the largest force; without a share it does not carry. All in W.
    pub(crate) fn solve(&mut self, p_GC: &[Vec3; 4], b: &Vec6, share: [f64; 4]) -> [Vec3; 4] {
        let A: [_; 4] = from_fn(|i| {
            let mut A = Matrix6x3::identity();
            A.fixed_rows_mut::<3>(3).copy_from(&p_GC[i].cross_matrix());
            A * f64::from(share[i] > 0.0)
        });
        let c = EFFORT + PENALTY;
        let softness = Matrix6::from_diagonal(&Vector6::from(WEIGHTS).map(|weight| c / weight));
        let matrix = A.iter().fold(softness, |sum, A| sum + A * A.transpose());
        let factors = Cholesky::new_unchecked(matrix);
        for _ in 0..TURNS {
            // v: effort pulls the forces to 0, the penalty pulls them to the limited ones.
            let v: [_; 4] = from_fn(|i| (self.forces[i] - self.prices[i]) * (PENALTY / c));
            let push = factors.solve(&(b - (0..4).map(|i| A[i] * v[i]).sum::<Vec6>()));
            for i in 0..4 {
                let wanted = v[i] + A[i].tr_mul(&push) + self.prices[i];
                self.forces[i] = within_friction(&wanted, share[i] * FORCE_MAX_N);
                self.prices[i] = wanted - self.forces[i];
            }
        }
        self.forces
    }
}

/// The force, cut to a pyramid inside the friction cone: a wish to push sideways adds no load.
fn within_friction(force: &Vec3, force_max_n: f64) -> Vec3 {
    let up = force.z.max(0.0).min(force_max_n);
    let side = FRICTION * FRAC_1_SQRT_2 * up;
    Vec3::new(force.x.max(-side).min(side), force.y.max(-side).min(side), up)
}
