//! Which surfaces a station is near, where stations times surfaces are more than there is room for.
//!
//! Each station then has some *places*, and the surfaces that are nearest to it take them.
//! Distances are found at the start of each tick, those to far surfaces by a box about each.

use crate::contact::{Surface, SurfacePose, SurfaceShape};
use crate::limits::{PLACES_MIN, STATIONS_MAX};
use crate::spatial::Vec3;

use super::{ContactModel, PlantSpec};

/// A spring farther away than where its force is this share of d₁ counts as none: exp(−7).
const FORCE_SHARE_LN: f64 = 7.0;
/// Speed towards a surface up to which a contact begins in its tick, m/s.
const SPEED_M_PER_S: f64 = 10.0;

/// Places of each station: one for each surface, if that is not more than there is room for.
pub(super) const fn places(stations: usize, surfaces: usize) -> usize {
    if stations * surfaces <= STATIONS_MAX || surfaces <= PLACES_MIN {
        return surfaces;
    }
    let fit = STATIONS_MAX / stations;
    if fit < PLACES_MIN { PLACES_MIN } else { fit }
}

/// Finds near surfaces. Nothing in it outlives a call but the bounds.
#[derive(Debug)]
pub(super) struct NearSurfaces {
    bounds: Vec<Bounds>,
    /// Surfaces up to this distance are near, m.
    pub(super) reach_m: f64,
    /// Distance (m) and number of near surfaces.
    found: Vec<(f64, u32)>,
}

/// A derived clone would have no room, and would allocate in the loop.
impl Clone for NearSurfaces {
    fn clone(&self) -> Self {
        let found = Vec::with_capacity(self.found.capacity());
        Self { bounds: self.bounds.clone(), reach_m: self.reach_m, found }
    }
}

/// A box in the frame of a surface in which all of it is, m.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    low: Vec3,
    high: Vec3,
}

impl Bounds {
    fn of(surface: &Surface) -> Self {
        let all = Vec3::repeat(f64::INFINITY);
        let below = |z: f64| Self { low: -all, high: Vec3::new(f64::INFINITY, f64::INFINITY, z) };
        match &surface.shape {
            SurfaceShape::Plane => below(0.0),
            SurfaceShape::Heightfield(field) => below(field.highest_m()),
            SurfaceShape::Solid(solid) => {
                let (mut low, mut high) = (all, -all);
                for corner in solid.core_corners() {
                    for k in 0..3 {
                        low[k] = low[k].min(corner[k]);
                        high[k] = high[k].max(corner[k]);
                    }
                }
                let edge = Vec3::repeat(solid.edge_radius_m());
                Self { low: low - edge, high: high + edge }
            }
        }
    }

    /// Whether a point is within `reach_m` of the box along each axis.
    #[inline]
    fn reaches(&self, p_S: &Vec3, reach_m: f64) -> bool {
        (0..3).all(|k| p_S[k] >= self.low[k] - reach_m && p_S[k] <= self.high[k] + reach_m)
    }
}

impl NearSurfaces {
    pub(super) fn new(spec: &PlantSpec) -> Self {
        let mut acts_m = 1e-3_f64;
        for station in &spec.stations {
            let ContactModel::ExponentialSpring(spring) = &station.model else { continue };
            for surface in &spec.ground {
                let spring = surface.spring.applied_to(spring).unwrap_or(*spring);
                let p = spring.parameters();
                acts_m = acts_m.max(p.d0_m + FORCE_SHARE_LN / p.d2_per_m);
            }
        }
        let way_m = SPEED_M_PER_S * spec.period_ns as f64 / 1e9;
        Self {
            bounds: spec.ground.iter().map(Bounds::of).collect(),
            reach_m: (acts_m.min(0.5) + way_m).clamp(0.01, 1.0),
            found: Vec::with_capacity(spec.ground.len()),
        }
    }

    /// The surfaces that are nearest to a station at `center_W`, which reaches `extent_m` from
    /// there; at most `most` of them, by their numbers.
    pub(super) fn find(
        &mut self,
        surfaces: &[Surface],
        poses: &[SurfacePose],
        center_W: &Vec3,
        extent_m: f64,
        most: usize,
    ) -> &mut [(f64, u32)] {
        self.found.clear();
        let reach_m = self.reach_m + extent_m;
        for (i, (surface, bounds)) in surfaces.iter().zip(&self.bounds).enumerate() {
            let p_S = poses[i].X_WS.point_inverse(center_W);
            if !bounds.reaches(&p_S, reach_m) {
                continue;
            }
            let distance_m = match &surface.shape {
                SurfaceShape::Plane => p_S.z,
                SurfaceShape::Heightfield(field) => field.nearest(&p_S).distance_m,
                SurfaceShape::Solid(solid) => solid.nearest(&p_S).distance_m,
            };
            if distance_m <= reach_m {
                self.found.push((distance_m, i as u32));
            }
        }
        self.found.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        self.found.truncate(most);
        self.found.sort_unstable_by_key(|&(_, i)| i);
        &mut self.found
    }
}
