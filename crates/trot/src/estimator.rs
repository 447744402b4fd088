//! How the base moves, from the IMU and from the legs whose feet are on the ground.
//!
//! A foot on the ground stands still, so its leg measures the velocity of the base, but with
//! shocks. The accelerometer has none, but its integral drifts. So the velocity follows it, and the
//! legs correct it. A lasting difference is taken for gravity: it shows where down is if W leans.

use std::array::from_fn;

use libm::atan2;
use nalgebra::{Matrix2, Quaternion, Rotation2, UnitQuaternion, Vector2};

use crate::Readings;
use crate::legs::{FOOT_RADIUS_M, Leg, Mat3, Vec3};

const P_BG_M: [f64; 3] = [-0.011, 0.0, -0.021]; // centre of mass G of the whole robot as it stands
const VELOCITY_PER_S: f64 = 40.0; // how fast the velocity follows the legs
const GRAVITY_PER_S2: f64 = 60.0;
const SLOPE_PER_S: f64 = 6.0;

#[derive(Debug, Clone, Default)]
pub(crate) struct Estimator {
    pub(crate) R_WB: Mat3,
    pub(crate) R_WH: Matrix2<f64>,
    pub(crate) yaw_rad: f64,
    pub(crate) w_WB: Vec3,            // rad/s
    pub(crate) p_WB: Vec3,            // m, from where it began
    pub(crate) v_WB: Vec3,            // m/s
    pub(crate) g_W: Vec3,             // m/s²
    pub(crate) p_WF: [Vec3; 4],       // the centres of the feet, m
    pub(crate) p_BC_W: [Vec3; 4],     // the lowest points of the feet, m
    pub(crate) p_GC_W: [Vec3; 4],     // the same from the centre of mass
    pub(crate) n_W: Vec3,             // normal of the ground
    pub(crate) slope_W: Vector2<f64>, // of the ground along x and y
    pub(crate) height_m: f64,         // of the base above the ground under it
    footholds_W: Option<[Vec3; 4]>,   // m: where the feet touched the ground last
}

impl Estimator {
    /// Takes the readings of one tick. Gives the legs.
    pub(crate) fn update(&mut self, r: &Readings, carrying: [bool; 4], dt_s: f64) -> [Leg; 4] {
        if self.footholds_W.is_none() {
            self.g_W = Vec3::new(0.0, 0.0, -9.81);
        }
        let [w, x, y, z] = r.imu_quat_wxyz;
        let unit = UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z));
        self.R_WB = unit.to_rotation_matrix().into_inner();
        self.yaw_rad = atan2(self.R_WB[(1, 0)], self.R_WB[(0, 0)]);
        self.R_WH = Rotation2::new(self.yaw_rad).into_inner();
        self.w_WB = self.R_WB * Vec3::from(r.imu_gyro_rad_per_s);
        let of_leg = |joints: &[f64; 12], leg| Vec3::from_fn(|joint, _| joints[3 * leg + joint]);
        let legs = from_fn(|leg| Leg::new(leg, &of_leg(&r.q_rad, leg), &self.R_WB));

        // A foot is a ball that rolls, so what stands still is its lowest point, not its centre.
        self.n_W = Vec3::new(-self.slope_W.x, -self.slope_W.y, 1.0).normalize();
        self.p_BC_W = from_fn(|leg| legs[leg].p_BF_W - self.n_W * FOOT_RADIUS_M);
        self.p_GC_W = self.p_BC_W.map(|p_BC_W| p_BC_W - self.R_WB * Vec3::from(P_BG_M));
        self.v_WB += (self.R_WB * Vec3::from(r.imu_acc_m_per_s2) + self.g_W) * dt_s;
        let on_ground = (0..4).filter(|leg| carrying[*leg]);
        let v_BC_W = |leg: usize| {
            let p_BC_W = &self.p_BC_W[leg];
            legs[leg].jacobian(p_BC_W) * of_leg(&r.dq_rad_per_s, leg) + self.w_WB.cross(p_BC_W)
        };
        if carrying.contains(&true) {
            let mean = on_ground.clone().map(v_BC_W).sum::<Vec3>() / on_ground.count() as f64;
            let error = -mean - self.v_WB;
            self.v_WB += error * (VELOCITY_PER_S * dt_s);
            self.g_W += error * (GRAVITY_PER_S2 * dt_s);
        }
        self.p_WB += self.v_WB * dt_s;
        self.p_WF = from_fn(|leg| self.p_WB + legs[leg].p_BF_W);
        self.fit_ground(carrying, dt_s);
        legs
    }

    /// Fits a plane to the footholds: its slope, and the height above it.
    fn fit_ground(&mut self, carrying: [bool; 4], dt_s: f64) {
        let now = self.p_BC_W.map(|p_BC_W| self.p_WB + p_BC_W);
        let footholds = self.footholds_W.get_or_insert(now);
        (0..4).filter(|leg| carrying[*leg]).for_each(|leg| footholds[leg] = now[leg]);
        let middle = footholds.iter().sum::<Vec3>() / 4.0 - self.p_WB;
        let spread = footholds.map(|foothold| foothold - self.p_WB - middle);
        let squares = spread.iter().map(|s| s.xy() * s.xy().transpose()).sum::<Matrix2<f64>>();
        let rises = spread.iter().map(|s| s.xy() * s.z).sum::<Vector2<f64>>();
        let slope = squares.try_inverse().map_or(self.slope_W, |inverse| inverse * rises);
        self.slope_W += (slope.map(|s| s.clamp(-0.4, 0.4)) - self.slope_W) * (SLOPE_PER_S * dt_s);
        self.height_m = self.slope_W.dot(&middle.xy()) - middle.z;
    }
}
