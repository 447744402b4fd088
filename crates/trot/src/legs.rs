//! Where a leg is: its joints, its links and its foot, from the base in the axes of W.

use libm::{acos, atan2, cos, hypot, sin, sincos};
use nalgebra::{Matrix3, Vector3, Vector6};

pub(crate) type Vec3 = Vector3<f64>;
pub(crate) type Vec6 = Vector6<f64>;
pub(crate) type Mat3 = Matrix3<f64>;

// The robot: config/robots/quadruped.urdf.
const P_BH_M: [[f64; 3]; 4] =
    [[0.19, 0.05, 0.0], [0.19, -0.05, 0.0], [-0.19, 0.05, 0.0], [-0.19, -0.05, 0.0]]; // hip joints
const LEFT: [f64; 4] = [1.0, -1.0, 1.0, -1.0];
const THIGH_OFFSET_M: f64 = 0.095; // outwards from the hip joint
const LINK_M: f64 = 0.213; // length of the thigh, and of the calf
pub(crate) const FOOT_RADIUS_M: f64 = 0.022;
const LINKS_KG: [f64; 3] = [0.65, 1.0, 0.24]; // hip, thigh, calf with foot
const LINK_CENTRES_M: [f64; 3] = [0.02, 0.03195, 0.1243]; // from the joint along the link

pub(crate) struct Leg {
    axes_W: [Vec3; 3],       // of the joints
    p_BJ_W: [Vec3; 3],       // the joints, m
    links_W: [Vec3; 3],      // directions: outwards, down the thigh, down the calf
    pub(crate) p_BF_W: Vec3, // centre of the foot, m
}

impl Leg {
    pub(crate) fn new(leg: usize, q_rad: &Vec3, R_WB: &Mat3) -> Self {
        let [forward, left, up] = [Vec3::x(), Vec3::y(), Vec3::z()].map(|axis| R_WB * axis);
        let (s, c) = sincos(q_rad[0]);
        let (pitch_axis, straight) = (left * c + up * s, left * s - up * c);
        let along = |pitch_rad| straight * cos(pitch_rad) - forward * sin(pitch_rad);
        let links_W = [pitch_axis * LEFT[leg], along(q_rad[1]), along(q_rad[1] + q_rad[2])];
        let hip = R_WB * Vec3::from(P_BH_M[leg]);
        let thigh = hip + links_W[0] * THIGH_OFFSET_M;
        let knee = thigh + links_W[1] * LINK_M;
        let axes_W = [forward, pitch_axis, pitch_axis];
        Self { axes_W, p_BJ_W: [hip, thigh, knee], links_W, p_BF_W: knee + links_W[2] * LINK_M }
    }

    /// Velocity of the point P of the calf per velocity of each joint, m/rad.
    pub(crate) fn jacobian(&self, p_BP_W: &Vec3) -> Mat3 {
        let column = |joint: usize| self.axes_W[joint].cross(&(p_BP_W - self.p_BJ_W[joint]));
        Mat3::from_columns(&[column(0), column(1), column(2)])
    }

    /// Torques that hold the links against gravity, N·m: a joint holds those beyond it.
    pub(crate) fn weight_torques(&self, g_W: &Vec3) -> Vec3 {
        let moment = |joint: usize, link: usize| {
            let p_BL_W = self.p_BJ_W[link] + self.links_W[link] * LINK_CENTRES_M[link];
            (p_BL_W - self.p_BJ_W[joint]).cross(g_W) * LINKS_KG[link]
        };
        Vec3::from_fn(|j, _| -self.axes_W[j].dot(&(j..3).map(|l| moment(j, l)).sum::<Vec3>()))
    }
}

/// Positions of the joints (rad) for this centre of the foot (m, B), or for one that the leg can
/// reach. The knee points backwards.
pub(crate) fn inverse_kinematics(leg: usize, p_BF: &Vec3) -> Vec3 {
    let p_HF = p_BF - Vec3::from(P_BH_M[leg]);
    let outwards = THIGH_OFFSET_M * LEFT[leg];
    let below = (p_HF.yz().norm_squared() - outwards * outwards).max(1e-4).sqrt();
    let hip = atan2(p_HF.z, p_HF.y) - atan2(-below, outwards);
    let length = hypot(p_HF.x, below).clamp(0.12, 0.385);
    let calf = -2.0 * acos(length / (2.0 * LINK_M));
    Vec3::new(hip, atan2(-p_HF.x, below) - calf / 2.0, calf)
}
