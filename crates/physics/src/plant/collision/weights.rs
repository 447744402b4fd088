//! Weights of the points of a patch, changed so that they do no work.
//!
//! The geometry gives each point a share of the patch by the gaps. A patch stores `Σ w U`, with the
//! energy `U` that the law stores at a point of weight 1: a change of a weight changes what is
//! stored, although nothing moves. So a weight that falls pays `U |Δw|` into a reserve of its pair,
//! and so do points that end, and half of what damping and friction take; a weight rises as far as
//! the reserve can pay for it. No pair gives more than was put into it.

use hardstand_geometry::POINTS_MAX;

use super::memory::PointMemory;
use super::point::CollisionPoint;
use super::set::CollisionSet;

/// Share of the dissipated energy that counts: its power is known at the ends of steps only.
const FED: f64 = 0.5;

impl CollisionSet {
    /// Sets the weights of the points from number `first` on, all of one pair, from those of the
    /// geometry and `before`, what the pair has remembered. A pair that has just met takes the
    /// geometry's.
    pub(super) fn weigh(&mut self, first: usize, before: PairMemory, now_ns: u64) {
        let points = &mut self.points[first..];
        if points.first().is_none_or(|p| p.is_rigid) {
            return;
        }
        let mut reserve_j = 0.0;
        if before.met {
            reserve_j = before.reserve_j + before.stored_j;
            for p in points.iter() {
                reserve_j -= p.memory.stored_j;
                reserve_j += FED * p.fed_j(now_ns);
            }
            reserve_j = if reserve_j > 0.0 { reserve_j } else { 0.0 };
            reserve_j = share(points, reserve_j);
        }
        for p in points {
            p.memory.weight = p.weight;
            p.memory.stored_j = p.weight * p.force.potential_energy_j;
            p.memory.reserve_j = reserve_j;
        }
    }
}

/// What a pair has remembered: 0 if it has just met.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PairMemory {
    met: bool,
    reserve_j: f64,
    /// Of all its points.
    stored_j: f64,
}

impl PairMemory {
    pub(super) fn of(points: &[PointMemory]) -> Self {
        Self {
            met: !points.is_empty(),
            reserve_j: points.first().map_or(0.0, |m| m.reserve_j),
            stored_j: points.iter().map(|m| m.stored_j).sum(),
        }
    }
}

impl CollisionPoint {
    /// What damping and friction have taken since the last commit, J.
    fn fed_j(&self, now_ns: u64) -> f64 {
        let since_ns = self.memory.committed_ns.map_or(0, |then| now_ns.saturating_sub(then));
        let taken_j = self.memory.weight * self.force.power_dissipation_w * since_ns as f64 / 1e9;
        if taken_j > 0.0 { taken_j } else { 0.0 }
    }
}

/// Lets weights fall, and rise as far as the reserve pays for it, those first that cost least.
/// Returns what is left.
fn share(points: &mut [CollisionPoint], mut reserve_j: f64) -> f64 {
    let mut rises = [false; POINTS_MAX];
    for (p, rises) in points.iter().zip(&mut rises) {
        let change = p.weight - p.memory.weight;
        *rises = change > 0.0;
        if !*rises {
            reserve_j -= change * p.force.potential_energy_j;
        }
    }
    loop {
        let mut least: Option<usize> = None;
        for i in 0..points.len().min(POINTS_MAX) {
            let cheaper =
                |k: usize| points[i].force.potential_energy_j < points[k].force.potential_energy_j;
            if rises[i] && least.is_none_or(cheaper) {
                least = Some(i);
            }
        }
        let Some(i) = least else { return reserve_j };
        rises[i] = false;
        let p = &mut points[i];
        let cost_j = (p.weight - p.memory.weight) * p.force.potential_energy_j;
        if cost_j > reserve_j {
            p.weight = p.memory.weight + (p.weight - p.memory.weight) * (reserve_j / cost_j);
            reserve_j = 0.0;
        } else {
            reserve_j -= cost_j;
        }
    }
}
