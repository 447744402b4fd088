//! All contacts of the plant: every station against every surface.

mod forces;
mod initial;
mod places;

use crate::contact::{
    Friction, RollingFriction, SpringForce, StationShape, Surface, SurfacePose, SurfaceShape,
};
use crate::dynamics::Data;
use crate::spatial::Vec3;

pub(in crate::plant) use self::initial::PlaneSpring;
use super::contact_result::ContactResult;
use super::contact_state::{ContactLaw, ContactState};
use super::near::NearSurfaces;
use super::regions::friction_at;
use super::rigid::NEAR_M;
use super::{ContactModel, FrictionRegion, PlantSpec};

/// Within a tick a rigid contact that is higher than this and carries nothing is not looked at, m.
const FAR_M: f64 = 0.02;

/// Geometry and last evaluation of all contacts. Contact `i` is the station `i / places` against
/// the surface `i % places`, or, if stations times surfaces are too many, against one that is near
/// it. Its law, memory and friction are in [`State`](super::State).
#[derive(Clone, Debug)]
pub struct ContactSet {
    surfaces: Vec<Surface>,
    poses: Vec<SurfacePose>,
    regions: Vec<FrictionRegion>,
    stations: Vec<StationPoint>,
    evaluated: Vec<ContactResult>,
    /// Contacts of each station.
    places: usize,
    /// `None` if each contact has its surface for good.
    near: Option<NearSurfaces>,
    /// Whether a contact may come to be one with soft ground.
    may_be_soft: bool,
}

#[derive(Clone, Debug)]
struct StationPoint {
    body: usize,
    p_BS: Vec3,
    shape: StationShape,
    /// From the body's origin to its farthest point at most, m.
    arm_m: f64,
    /// `None` if it has no moments.
    rolling: Option<RollingFriction>,
}

impl StationPoint {
    /// How far it is above the ground at least, m; 0 if it is near, or if only
    /// [`locate`] can tell.
    fn far_m(&self, surface: &Surface, data: &Data) -> f64 {
        if surface.platform.is_some() || !matches!(surface.shape, SurfaceShape::Plane) {
            return 0.0;
        }
        let X_WS = &surface.X_WS;
        let center_W = data.point_W(self.body, &self.p_BS);
        let above_m = X_WS.R.column(2).dot(&(center_W - X_WS.p)) - self.shape.extent_m();
        if above_m > FAR_M { above_m } else { 0.0 }
    }

    /// No point of it is faster, m/s.
    fn speed_at_most(&self, data: &Data) -> f64 {
        let V = &data.V[self.body];
        V.lin.norm() + V.ang.norm() * self.arm_m
    }
}

impl ContactSet {
    pub(in crate::plant) fn new(spec: &PlantSpec, data: &Data) -> Self {
        let mut set = Self {
            surfaces: spec.ground.clone(),
            poses: spec.ground.iter().map(|s| s.pose(0)).collect(),
            regions: spec.regions.clone(),
            stations: Vec::new(),
            evaluated: Vec::new(),
            places: spec.places(),
            near: None,
            may_be_soft: false,
        };
        let is_sparse = set.places != spec.ground.len();
        set.may_be_soft = is_sparse && spec.ground.iter().any(|s| s.soft.is_some());
        set.near = is_sparse.then(|| NearSurfaces::new(spec));
        for s in &spec.stations {
            let acts = s.rolling.acts() && !matches!(s.model, ContactModel::Rigid);
            let rolling = acts.then_some(s.rolling);
            let arm_m = s.p_BS.norm() + s.shape.extent_m();
            let station =
                StationPoint { body: s.body, p_BS: s.p_BS, shape: s.shape, arm_m, rolling };
            let rigid = matches!(s.model, ContactModel::Rigid);
            if let Some(near) = &set.near {
                let empty = ContactResult::empty(s.body, rigid, near.reach_m);
                set.evaluated.extend((0..set.places).map(|_| empty));
                set.stations.push(station);
                continue;
            }
            for (i, (surface, pose)) in set.surfaces.iter().zip(&set.poses).enumerate() {
                let mut at = ContactResult::new(s.body, Some(i), rigid);
                locate(&mut at, surface, pose, &station, data);
                set.evaluated.push(at);
            }
            set.stations.push(station);
        }
        set
    }

    fn parts_of(&self, contact: usize) -> (&StationPoint, &Surface) {
        let n = self.places;
        (&self.stations[contact / n], &self.surfaces[contact % n])
    }

    /// Where a surface is now.
    pub(in crate::plant) fn pose(&self, surface: usize) -> &SurfacePose {
        &self.poses[surface]
    }

    /// Shape of a surface.
    pub(in crate::plant) fn surface_shape(&self, surface: usize) -> &SurfaceShape {
        &self.surfaces[surface].shape
    }

    /// Regions of the ground.
    pub(in crate::plant) fn regions(&self) -> &[FrictionRegion] {
        &self.regions
    }

    /// Number of surfaces.
    #[must_use]
    pub fn surface_count(&self) -> usize {
        self.surfaces.len()
    }

    /// Number of contacts of each station.
    #[must_use]
    pub const fn places(&self) -> usize {
        self.places
    }

    /// Mean velocity in W, until `end_ns`, of the ground of a contact that is now at `p_W`, m/s.
    pub(in crate::plant) fn ground_velocity_W(
        &self,
        contact: usize,
        p_W: &Vec3,
        end_ns: u64,
        h: f64,
    ) -> Vec3 {
        let surface = self.evaluated[contact].surface.unwrap_or(0);
        self.surface_velocity_W(surface, p_W, end_ns, h)
    }

    /// Mean velocity in W, until `end_ns`, of the surface `i` at `p_W`, m/s.
    pub(in crate::plant) fn surface_velocity_W(
        &self,
        i: usize,
        p_W: &Vec3,
        end_ns: u64,
        h: f64,
    ) -> Vec3 {
        if self.surfaces[i].platform.is_none() {
            return Vec3::zeros();
        }
        let p_S = self.poses[i].X_WS.point_inverse(p_W);
        (self.surfaces[i].pose(end_ns).X_WS.point(&p_S) - p_W) / h
    }

    /// For the fast path to store what it has evaluated.
    pub(in crate::plant) fn evaluated_mut(&mut self) -> &mut [ContactResult] {
        &mut self.evaluated
    }

    /// Last evaluation of every contact, stations outer, surfaces inner.
    #[must_use]
    pub fn evaluated(&self) -> &[ContactResult] {
        &self.evaluated
    }

    /// Forces of the last evaluation, stations outer, surfaces inner.
    pub fn forces(&self) -> impl ExactSizeIterator<Item = &SpringForce> + Clone {
        self.evaluated.iter().map(|e| &e.force)
    }

    /// Contacts of the rigid model.
    pub(in crate::plant) fn rigid(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.evaluated.len()).filter(|&i| self.evaluated[i].rigid)
    }

    /// True for a station without radius: it has a place where it sticks.
    pub(in crate::plant) fn is_point(&self, contact: usize) -> bool {
        self.stations[contact / self.places].shape == StationShape::Point
    }

    /// Potential energy of all contacts, J.
    #[must_use]
    pub fn potential_energy(&self) -> f64 {
        self.forces().map(|f| f.potential_energy_j).sum()
    }

    /// Contacts of these stations.
    pub fn of_stations<'a>(
        &'a self,
        stations: &'a [usize],
    ) -> impl Iterator<Item = usize> + Clone + 'a {
        let n = self.places;
        stations.iter().flat_map(move |&s| s * n..(s + 1) * n)
    }

    /// Sum of the normal forces of these stations, N.
    pub(in crate::plant) fn normal_sum_n(&self, stations: &[usize]) -> f64 {
        self.of_stations(stations).map(|i| self.evaluated[i].force.normal_n).sum()
    }

    /// Evaluates all contacts at `now_ns` for the kinematics in `data`, from committed memory;
    /// `regions` are the coefficients of the regions. Unless `all` is asked for, rigid contacts far
    /// above the ground are left as they are.
    pub(in crate::plant) fn evaluate(
        &mut self,
        data: &Data,
        contacts: &[ContactState],
        regions: &[Option<Friction>],
        now_ns: u64,
        all: bool,
    ) {
        self.move_surfaces(now_ns);
        for (i, contact) in contacts.iter().enumerate() {
            let at = &mut self.evaluated[i];
            let Some(surface) = at.surface else { continue };
            let (station, pose) = (&self.stations[i / self.places], &self.poses[surface]);
            if let ContactLaw::Rigid(memory) = &contact.law {
                let carries = memory.force_C != [0.0; 3] || at.force.normal_n != 0.0;
                at.far_m =
                    if all || carries { 0.0 } else { station.far_m(&self.surfaces[surface], data) };
                if at.far_m > 0.0 {
                    continue;
                }
            }
            locate(at, &self.surfaces[surface], pose, station, data);
            let own = contact.friction;
            at.friction = friction_at(&self.regions, regions, surface, || at.ground_point_S(), own);
            match &contact.law {
                ContactLaw::Spring { spring, memory } => {
                    let round = station.shape != StationShape::Point;
                    at.spring(spring, memory, round, data, now_ns);
                }
                ContactLaw::Soft { ground, spring, memory, prints } => {
                    let round = station.shape != StationShape::Point;
                    match ground {
                        Some(ground) => {
                            at.soft((ground, spring), memory, prints, round, data, now_ns);
                        }
                        None => {
                            at.spring(spring, memory, round, data, now_ns);
                            at.slopes = spring.slopes(&at.force);
                        }
                    }
                }
                ContactLaw::HuntCrossley(law) => {
                    at.hunt_crossley(law, station.shape.round_m(), pose, data);
                }
                ContactLaw::Rigid(memory) => at.rigid_impulse(memory),
            }
            if let Some(rolling) = &station.rolling {
                at.roll(rolling, pose, data);
            }
        }
    }

    /// Locates the contacts that [`evaluate`](Self::evaluate) left as far, and that may yet close
    /// within two steps of `h` seconds at the velocities in `data`.
    pub(in crate::plant) fn look_again(&mut self, data: &Data, h: f64) {
        for (i, at) in self.evaluated.iter_mut().enumerate() {
            let (true, Some(surface)) = (at.far_m > 0.0, at.surface) else { continue };
            let station = &self.stations[i / self.places];
            if at.far_m < 2.0 * (NEAR_M + h * station.speed_at_most(data)) {
                at.far_m = 0.0;
                locate(at, &self.surfaces[surface], &self.poses[surface], station, data);
            }
        }
    }

    /// Moves the surfaces to where they are at `now_ns`.
    pub(in crate::plant) fn move_surfaces(&mut self, now_ns: u64) {
        for (pose, surface) in self.poses.iter_mut().zip(&self.surfaces) {
            if surface.platform.is_some() {
                *pose = surface.pose(now_ns);
            }
        }
    }
}

/// Geometry and velocity of a contact; its force is left as it is.
fn locate(
    at: &mut ContactResult,
    surface: &Surface,
    pose: &SurfacePose,
    station: &StationPoint,
    data: &Data,
) {
    let X_WB = &data.X_WB[station.body];
    let center_W = X_WB.point(&station.p_BS);
    at.touch = surface.touch(pose, &station.shape, &X_WB.R, &center_W);
    at.point_B = match station.shape {
        StationShape::Point => station.p_BS,
        _ => X_WB.point_inverse(&at.touch.point_W),
    };
    let ground_W = pose.velocity_at(&at.touch.point_W);
    let v_W = data.point_velocity_W(station.body, &at.point_B) - ground_W;
    at.v_C = at.touch.vector_from_W(&v_W);
}
