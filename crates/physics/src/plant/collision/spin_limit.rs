//! Moments against rolling between bodies, which act as they are at the start of a step.

use crate::dynamics::least_inertia;
use crate::model::Model;
use crate::spatial::Vec3;

use super::point::CollisionPoint;
use super::{Carrier, FreeBody, Mobility};

/// Keeps them from turning a motion round within one step: the sum of the dampers on a body stays
/// below its least inertia over the length of the step. A link alone turns more easily than one
/// that hangs on others, so its own inertia is on the safe side.
#[derive(Clone, Debug)]
pub(super) struct SpinLimit {
    /// Inertia over the length of a micro-step of each link, then of each free body, N·m·s/rad.
    /// Empty without such moments.
    most: Vec<f64>,
    /// Sums of the dampers, in the same order.
    sums: Vec<f64>,
    links: usize,
}

impl SpinLimit {
    pub(super) const NONE: Self = Self { most: Vec::new(), sums: Vec::new(), links: 0 };

    pub(super) fn new(model: &Model, bodies: &[FreeBody], micro_step_ns: u64) -> Self {
        let of_links = model.bodies.iter().map(|body| least_inertia(&body.inertia.about_com()));
        let of_bodies = bodies.iter().map(|body| match body.mobility {
            Mobility::Free => least_inertia(&body.inertia.I),
            Mobility::Hinge { axis_B } => body.about(&axis_B),
            Mobility::Slide { .. } => f64::INFINITY,
        });
        let h_s = micro_step_ns as f64 / 1e9;
        let most: Vec<f64> = of_links.chain(of_bodies).map(|inertia| inertia / h_s).collect();
        Self { sums: vec![0.0; most.len()], links: model.bodies.len(), most }
    }

    /// Lets the moments of these points be as large as they may be.
    pub(super) fn apply(&mut self, points: &mut [CollisionPoint]) {
        if self.most.is_empty() {
            return;
        }
        self.sums.fill(0.0);
        let turns =
            |point: &CollisionPoint| point.moment_C != Vec3::zeros() && !point.brakes_on_ground();
        let links = self.links;
        let place = |carrier: &Carrier| match *carrier {
            Carrier::Surface(_) => None,
            Carrier::Link(i) => Some(i),
            Carrier::Body(k) => Some(links + k),
        };
        for point in points.iter().filter(|p| turns(p)) {
            let [across, along] = point.spin_damping;
            let damping = if across > along { across } else { along };
            for i in point.carriers.iter().filter_map(place) {
                self.sums[i] += damping * point.weight;
            }
        }
        for point in points.iter_mut().filter(|p| turns(p)) {
            let shares = point.carriers.iter().filter_map(place);
            let shares = shares.map(|i| self.most[i] / self.sums[i]);
            let share = shares.fold(1.0, |least, share| if share < least { share } else { least });
            if share < 1.0 {
                point.weaken_moment(share);
            }
        }
    }
}
