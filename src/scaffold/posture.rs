//! A standing posture: feet level and under the hips, soles flat, centre of mass over the feet,
//! linkages closed.

use super::feet::FootProposal;
use crate::config::gap_W;
use crate::mjcf::Connection;
use crate::simulation::chance;
use hardstand_physics::dynamics::{
    Data, LeastSquares, Positions, Velocities, center_of_mass, kinematics,
};
use hardstand_physics::model::{JointKind, Model};
use hardstand_physics::spatial::{Mat3, Vec3};

/// How far a leg is stretched, as a share of what it can reach downwards.
const STRETCH: f64 = 0.9;
/// Weight of a sole that is not flat, and of a joint that is not where it was preferred.
const FLAT: f64 = 0.3;
const PREFERRED: f64 = 0.01;
/// Weight of a linkage that is not closed.
const CLOSED: f64 = 100.0;
/// Distance that a joint keeps from its limits, as a share of its range.
const MARGIN: f64 = 0.03;
const SAMPLES: usize = 3000;
const ROUNDS: usize = 200;
const STARTS: usize = 12;
/// A posture whose feet are this far off their places, as a share of the leg, is no success.
const MISSED: f64 = 0.05;
/// Pivots of the normal equations below this share of the first count as none.
const RANK: f64 = 1e-14;
/// Of the random postures.
const SEED: u64 = 1;

/// Solves a posture. `None` if the legs do not get there.
pub(super) fn solve(
    model: &Model,
    (feet, connections): (&[FootProposal], &[Connection]),
    start: &Positions,
) -> Option<Positions> {
    let mut solver = Solver::new(model, (feet, connections), start)?;
    let mut best: Option<(f64, Vec<f64>)> = None;
    for round in 0..STARTS {
        let mut q = solver.preferred.clone();
        if round > 0 {
            q = solver.sample(SAMPLES + round);
        }
        let cost = solver.descend(&mut q);
        if best.as_ref().is_none_or(|(least, _)| cost < 0.5 * least) {
            best = Some((cost, q));
        }
        if best.as_ref().is_some_and(|(least, _)| *least < MISSED * MISSED) {
            break;
        }
    }
    let (cost, joints) = best?;
    let mut found = Positions { joints, ..start.clone() };
    model.couple(&mut found.joints);
    (cost < 9.0 * MISSED * MISSED).then_some(found)
}

struct Solver<'a> {
    model: &'a Model,
    feet: &'a [FootProposal],
    connections: &'a [Connection],
    base: Positions,
    still: Velocities,
    data: Data,
    preferred: Vec<f64>,
    ranges: Vec<[f64; 2]>,
    /// Of each foot: the middle of its sole, in its link, and its place under its hip.
    legs: Vec<Leg>,
    reach_m: f64,
}

struct Leg {
    middle_L: Vec3,
    x_hip: f64,
    y: f64,
    z: f64,
}

impl<'a> Solver<'a> {
    fn new(
        model: &'a Model,
        (feet, connections): (&'a [FootProposal], &'a [Connection]),
        start: &Positions,
    ) -> Option<Self> {
        let ranges: Vec<[f64; 2]> = model
            .joints
            .iter()
            .map(|j| {
                let (low, high) = (j.q_min.max(-3.0), j.q_max.min(3.0));
                let margin = MARGIN * (high - low);
                if low < high { [low + margin, high - margin] } else { [low, low] }
            })
            .collect();
        // a joint about y that bends one way only is bent a little, so that knees know theirs
        let still = Velocities::zero(model);
        let mut data = Data::new(model);
        kinematics(model, start, &still, &mut data);
        let pitches = |j: usize| {
            let axis_W = data.X_WB[j + 1].R * model.joints[j].axis;
            model.joints[j].kind == JointKind::Revolute && axis_W.y.abs() > 0.8
        };
        let preferred = ranges
            .iter()
            .zip(&start.joints)
            .enumerate()
            .map(|(j, (&[low, high], q))| {
                let one_sided = low.abs().min(high.abs()) < 0.25 * low.abs().max(high.abs());
                let bent = if high > -low { 0.25 * high } else { 0.25 * low };
                let knee = one_sided && pitches(j);
                if knee { bent.clamp(low, high) } else { q.clamp(low, high) }
            })
            .collect();
        let mut new = Self {
            model,
            feet,
            connections,
            base: Positions {
                joints: start.joints.clone(),
                quat_WB: start.quat_WB,
                ..Positions::zero(model)
            },
            still,
            data,
            preferred,
            ranges,
            legs: Vec::new(),
            reach_m: 0.0,
        };
        new.find_legs()?;
        Some(new)
    }

    fn find_legs(&mut self) -> Option<()> {
        let zero: Vec<f64> =
            self.ranges.iter().map(|&[low, high]| 0.0_f64.clamp(low, high)).collect();
        self.set(&zero);
        let mut hips = Vec::new();
        for foot in self.feet {
            let X_WL = self.data.X_WB[foot.body].compose(&foot.X_BL);
            let mut hip = foot.body;
            while self.model.bodies[hip].parent != 0 {
                hip = self.model.bodies[hip].parent;
            }
            hips.push(hip);
            let (x_hip, y) = (self.data.X_WB[hip].p.x, X_WL.p.y);
            self.legs.push(Leg { middle_L: foot.middle_L(), x_hip, y, z: 0.0 });
        }
        let mut reach = vec![0.0_f64; hips.len()];
        for i in 0..SAMPLES {
            let q = self.sample(i);
            self.set(&q);
            for (i, &hip) in hips.iter().enumerate() {
                reach[i] = reach[i].max(self.data.X_WB[hip].p.z - self.point(i).z);
            }
        }
        let level = |(i, &hip): (usize, &usize)| self.data.X_WB[hip].p.z - STRETCH * reach[i];
        let z = hips.iter().enumerate().map(level).fold(f64::NEG_INFINITY, f64::max);
        self.reach_m = reach.iter().copied().fold(0.0, f64::max);
        self.legs.iter_mut().for_each(|leg| leg.z = z);
        (self.reach_m > 0.0).then_some(())
    }

    fn set(&mut self, joints: &[f64]) {
        self.base.joints.copy_from_slice(joints);
        self.model.couple(&mut self.base.joints);
        kinematics(self.model, &self.base, &self.still, &mut self.data);
    }

    /// A random posture, always the same for an index.
    fn sample(&self, index: usize) -> Vec<f64> {
        let within = |(j, &[low, high]): (usize, &[f64; 2])| {
            low + chance(SEED, index as u64, j as u64) * (high - low)
        };
        self.ranges.iter().enumerate().map(within).collect()
    }

    fn point(&self, foot: usize) -> Vec3 {
        let proposal = &self.feet[foot];
        let X_WL = self.data.X_WB[proposal.body].compose(&proposal.X_BL);
        X_WL.R * self.legs[foot].middle_L + X_WL.p
    }

    /// What is wrong with a posture, relative to the length of a leg.
    fn residuals(&mut self, q: &[f64]) -> Vec<f64> {
        self.set(q);
        let com = center_of_mass(self.model, &self.data);
        let count = self.legs.len() as f64;
        let mean = self.legs.iter().fold([0.0; 2], |[x, y], leg| [x + leg.x_hip, y + leg.y]);
        let shift = [com.x - mean[0] / count, com.y - mean[1] / count];
        let mut out = Vec::new();
        for (i, leg) in self.legs.iter().enumerate() {
            let p = self.point(i);
            let target = Vec3::new(leg.x_hip + shift[0], leg.y + shift[1], leg.z);
            out.extend(((p - target) * (1.0 / self.reach_m)).to_array());
            let foot = &self.feet[i];
            if foot.is_flat() {
                let R: Mat3 = self.data.X_WB[foot.body].R * foot.X_BL.R;
                let up = R * foot.up_L;
                out.extend([FLAT * up.x, FLAT * up.y]);
            }
        }
        for gap_W in self.connections.iter().filter_map(|c| gap_W(c, self.model, &self.data)) {
            out.extend((gap_W * (CLOSED / self.reach_m)).to_array());
        }
        out.extend(q.iter().zip(&self.preferred).map(|(q, p)| PREFERRED * (q - p)));
        out
    }

    /// Levenberg–Marquardt within the ranges. The result is the cost without preferences.
    fn descend(&mut self, q: &mut Vec<f64>) -> f64 {
        let n = q.len();
        let square = |r: &[f64]| r.iter().map(|x| x * x).sum::<f64>();
        let mut r = self.residuals(q);
        let mut damping = 1e-3;
        let (mut normal, mut step) = (LeastSquares::new(n), vec![0.0; n]);
        for _ in 0..ROUNDS {
            let columns: Vec<Vec<f64>> = (0..n)
                .map(|j| {
                    let mut there = q.clone();
                    there[j] += 1e-6;
                    let moved = self.residuals(&there);
                    moved.iter().zip(&r).map(|(a, b)| (a - b) / 1e-6).collect()
                })
                .collect();
            let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
            for (i, a) in columns.iter().enumerate() {
                for (j, b) in columns.iter().enumerate() {
                    let own = if i == j { damping * (dot(a, a) + 1e-6) } else { 0.0 };
                    normal.set(i, j, dot(a, b) + own);
                }
            }
            normal.factor(RANK, 0.0);
            let b: Vec<f64> = columns.iter().map(|c| -dot(c, &r)).collect();
            normal.solve(&b, &mut step);
            let there: Vec<f64> = q
                .iter()
                .zip(&step)
                .zip(&self.ranges)
                .map(|((q, d), &[low, high])| (q + d.clamp(-0.3, 0.3)).clamp(low, high))
                .collect();
            let moved = self.residuals(&there);
            if square(&moved) < square(&r) {
                let gain = square(&r) - square(&moved);
                (*q, r) = (there, moved);
                damping = (damping * 0.3).max(1e-9);
                if gain < 1e-14 {
                    break;
                }
            } else {
                damping *= 10.0;
                if damping > 1e6 {
                    break;
                }
            }
        }
        square(&r[..r.len() - n])
    }
}
