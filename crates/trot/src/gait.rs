//! The clock of the legs, and where it takes the feet. Diagonal legs move together.

use std::array::from_fn;

use nalgebra::Vector2;

use crate::{estimator::Estimator, forces::Goal, legs::FOOT_RADIUS_M, legs::Vec3};

const PERIOD_S: f64 = 0.4;
const DUTY: f64 = 0.55; // the share of the period in which a foot carries
const OFFSETS: [f64; 4] = [0.0, 0.5, 0.5, 0.0];
const STANCE_S: f64 = DUTY * PERIOD_S;
const SWING_S: f64 = PERIOD_S - STANCE_S;
const LOAD_S: f64 = 0.03; // in which a foot takes over its load
/// Where the feet are in mid-stance: under the shoulders, but evenly around the centre of mass.
const P_BS_M: [[f64; 2]; 4] = [[0.179, 0.145], [0.179, -0.145], [-0.201, 0.145], [-0.201, -0.145]];
const CLEARANCE_M: f64 = 0.07; // of a foot in the middle of its swing
const DEPTH_M: f64 = 0.005; // of where a swing ends in the ground, so that it does get there
const PLACEMENT_GAIN_S: f64 = 0.06; // how far a foot steps out per error of velocity
const SEARCH_M_PER_S: f64 = 0.4; // how fast a foot in the air that should carry goes down
const BOUNCE_S: f64 = 0.05; // for which a foot of a robot that stands may leave the ground

#[derive(Debug, Clone, Default)]
pub(crate) struct Gait {
    pub(crate) feet: [Foot; 4],
    pub(crate) trotting: bool,
    clock: f64, // periods, 0 to 1
}

/// What a foot is to do.
#[derive(Debug, Clone, Default)]
pub(crate) struct Foot {
    pub(crate) load_share: f64, // of its largest load, 0 to 1: it may carry this if it has contact
    pub(crate) p_WF: Vec3,      // m: where it is to be if it does not carry
    swing_share: Option<f64>,   // how much of its swing is done, 0 to 1; None: it is to carry
    lift: Option<Vec3>,         // m, W: where it began to swing
    bounce_s: f64,              // for which it goes on to carry without contact
}

impl Gait {
    /// Moves the clock. A trot starts at once, and stops when all feet are to carry.
    pub(crate) fn advance(&mut self, trot: bool, dt_s: f64) {
        let clock = if trot && !self.trotting { 0.0 } else { self.clock };
        self.clock = (clock + dt_s / PERIOD_S) % 1.0;
        let phases = OFFSETS.map(|offset| (self.clock + offset) % 1.0);
        self.trotting = trot || self.trotting && phases.iter().any(|phase| *phase >= DUTY);
        for (foot, phase) in self.feet.iter_mut().zip(phases) {
            let phase = if self.trotting { phase } else { DUTY / 2.0 }; // stands as in mid-stance
            foot.swing_share = (phase >= DUTY).then_some((phase - DUTY) / (1.0 - DUTY));
            // A load that comes in a step shakes. Late in a swing the ground may come early.
            let to_edge_s = phase.min(DUTY - phase) * PERIOD_S;
            let may_carry = foot.swing_share.is_none_or(|done| done > 0.6);
            foot.load_share = if may_carry { (to_edge_s / LOAD_S).clamp(0.1, 1.0) } else { 0.0 };
        }
    }

    /// The share of its largest load that each foot carries. While the robot stands, a foot that
    /// bounces keeps its share. Otherwise it would search for the ground and kick itself off again.
    pub(crate) fn shares(&mut self, contact: [bool; 4], dt_s: f64) -> [f64; 4] {
        from_fn(|i| {
            let foot = &mut self.feet[i];
            foot.bounce_s = if self.trotting {
                0.0
            } else if contact[i] {
                BOUNCE_S
            } else {
                foot.bounce_s - dt_s
            };
            f64::from(contact[i] || foot.bounce_s > 0.0) * foot.load_share
        })
    }
}

impl Foot {
    /// Moves the target of the foot. Its velocity, m/s, W.
    pub(crate) fn aim(&mut self, leg: usize, e: &Estimator, goal: &Goal, dt_s: f64) -> Vec3 {
        let Some(done) = self.swing_share else {
            self.lift = None;
            self.p_WF.z -= SEARCH_M_PER_S * dt_s;
            return Vec3::z() * -SEARCH_M_PER_S;
        };
        // At rest at both ends, and up and down on the way.
        let (lift, left) = (*self.lift.get_or_insert(e.p_WF[leg]), 1.0 - done);
        let way = placement(leg, left * SWING_S, e, goal) - lift;
        let bump = Vec3::z() * (CLEARANCE_M * 16.0 * done * left);
        self.p_WF = lift + way * (done * done * (3.0 - 2.0 * done)) + bump * done * left;
        (way * (6.0 * done * left) + bump * (2.0 * (left - done))) / SWING_S
    }
}

/// Where the foot is to touch down, m, W: under the shoulder when half of its stance is over
/// (Raibert), and further out in the direction of an error of velocity, which stops it.
fn placement(leg: usize, left_s: f64, e: &Estimator, goal: &Goal) -> Vec3 {
    let shoulder = e.R_WH * Vector2::from(P_BS_M[leg]);
    let turn = Vector2::new(-shoulder.y, shoulder.x) * (goal.w_WB.z * (left_s + STANCE_S / 2.0));
    let step = goal.v_WB * (STANCE_S / 2.0) + (e.v_WB - goal.v_WB) * PLACEMENT_GAIN_S;
    let level = shoulder + turn + (e.v_WB * left_s + step).xy();
    let up = level.dot(&e.slope_W) - e.height_m + FOOT_RADIUS_M - DEPTH_M;
    e.p_WB + Vec3::new(level.x, level.y, up)
}
