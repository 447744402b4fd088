//! All contacts of the plant: every station against every surface.

use crate::contact::{
    ExponentialSpring, Friction, RollingFriction, SpringForce, StationShape, Surface, SurfacePose,
    SurfaceShape,
};
use crate::dynamics::{Data, Velocities};
use crate::model::{Base, Model};
use crate::spatial::{Force, Transform, Vec3};

use super::contact_result::ContactResult;
use super::contact_state::{ContactLaw, ContactState, RigidMemory, RigidPhase, SpringMemory};
use super::implicit::{Step, Touching};
use super::regions::friction_at;
use super::rigid::CLOSED_M;
use super::{ContactModel, FrictionRegion, PlantSpec};

/// Geometry and last evaluation of all contacts. Contact `i` is the station `i / surfaces` against
/// the surface `i % surfaces`; its law, memory and friction are in [`State`](super::State).
#[derive(Clone, Debug)]
pub struct ContactSet {
    surfaces: Vec<Surface>,
    poses: Vec<SurfacePose>,
    regions: Vec<FrictionRegion>,
    stations: Vec<StationPoint>,
    evaluated: Vec<ContactResult>,
}

#[derive(Clone, Debug)]
struct StationPoint {
    body: usize,
    p_BS: Vec3,
    shape: StationShape,
    /// `None` if it has no moments.
    rolling: Option<RollingFriction>,
}

/// One exponential spring on a plane at rest: what equal limbs can compute side by side.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlaneSpring {
    /// Index of the contact.
    pub(super) contact: usize,
    pub(super) body: usize,
    pub(super) p_BS: Vec3,
    pub(super) shape: StationShape,
    pub(super) X_WS: Transform,
    pub(super) spring: ExponentialSpring,
}

impl ContactSet {
    pub(super) fn new(spec: &PlantSpec, data: &Data) -> Self {
        let mut set = Self {
            surfaces: spec.ground.clone(),
            poses: spec.ground.iter().map(|s| s.pose(0)).collect(),
            regions: spec.regions.clone(),
            stations: Vec::new(),
            evaluated: Vec::new(),
        };
        for s in &spec.stations {
            let acts = s.rolling.acts() && !matches!(s.model, ContactModel::Rigid);
            let rolling = acts.then_some(s.rolling);
            let station = StationPoint { body: s.body, p_BS: s.p_BS, shape: s.shape, rolling };
            for (surface, pose) in set.surfaces.iter().zip(&set.poses) {
                let mut at = ContactResult::new(s.body, matches!(s.model, ContactModel::Rigid));
                locate(&mut at, surface, pose, &station, data);
                set.evaluated.push(at);
            }
            set.stations.push(station);
        }
        set
    }

    /// Memory and coefficients of all contacts at the start, anchors under their stations.
    pub(super) fn initial_states(
        &self,
        model: &Model,
        spec: &PlantSpec,
        now_ns: u64,
    ) -> Vec<ContactState> {
        let n = self.surfaces.len();
        let state = |(i, at): (usize, &ContactResult)| {
            let law = match &spec.stations[i / n].model {
                ContactModel::ExponentialSpring(spring) => ContactLaw::Spring {
                    // the scenario checks both together
                    spring: self.surfaces[i % n].spring.applied_to(spring).unwrap_or(*spring),
                    memory: SpringMemory {
                        anchor_S: at.ground_point_S().into(),
                        committed_ns: Some(now_ns),
                        marker_B: at.point_B.into(),
                        sliding: spring.new_memory().sliding,
                    },
                },
                ContactModel::HuntCrossley(laws) => ContactLaw::HuntCrossley(laws[i % n]),
                ContactModel::Rigid => ContactLaw::Rigid(self.rigid_at_rest(at, model, spec)),
            };
            ContactState { law, friction: self.initial_friction(spec, i) }
        };
        self.evaluated.iter().enumerate().map(state).collect()
    }

    /// Coefficients of contact `i` at the start.
    pub(super) fn initial_friction(&self, spec: &PlantSpec, i: usize) -> Friction {
        let n = self.surfaces.len();
        let station = &spec.stations[i / n];
        match &station.model {
            ContactModel::HuntCrossley(laws) => laws[i % n].initial_friction(),
            _ => station.friction,
        }
    }

    /// A rigid contact of a robot that starts at rest on the ground shows an equal share of the
    /// weight until the first step finds its force: it is not in flight.
    fn rigid_at_rest(&self, at: &ContactResult, model: &Model, spec: &PlantSpec) -> RigidMemory {
        let closed = |at: &&ContactResult| at.rigid && at.touch.p_C.z.abs() <= CLOSED_M;
        let along = -spec.gravity_W.dot(&(at.touch.R_WC * Vec3::z()));
        let floats_at_rest = model.base == Base::Floating && spec.v == Velocities::zero(model);
        if !closed(&at) || along <= 0.0 || !floats_at_rest {
            return RigidMemory::NEW;
        }
        let count = self.evaluated.iter().filter(closed).count();
        let share_C = Vec3::z() * (model.total_mass() * along / count as f64);
        RigidMemory {
            phase: RigidPhase::Sticks,
            anchor_S: at.ground_point_S().into(),
            force_S: at.touch.vector_S(&share_C).into(),
            ..RigidMemory::NEW
        }
    }

    /// All contacts, if each is a [`PlaneSpring`] and friction depends on no region.
    pub(super) fn plane_springs(&self, contacts: &[ContactState]) -> Option<Vec<PlaneSpring>> {
        let spring = |(i, contact): (usize, &ContactState)| {
            let (station, surface) = self.parts_of(i);
            let plane = surface.shape == SurfaceShape::Plane && surface.platform.is_none();
            let is_torus = matches!(station.shape, StationShape::Torus { .. });
            let simple = !is_torus && station.rolling.is_none();
            match &contact.law {
                ContactLaw::Spring { spring, .. } if plane && simple && self.regions.is_empty() => {
                    let StationPoint { body, p_BS, shape, .. } = *station;
                    let X_WS = surface.X_WS;
                    Some(PlaneSpring { contact: i, body, p_BS, shape, X_WS, spring: *spring })
                }
                _ => None,
            }
        };
        contacts.iter().enumerate().map(spring).collect()
    }

    fn parts_of(&self, contact: usize) -> (&StationPoint, &Surface) {
        let n = self.surfaces.len();
        (&self.stations[contact / n], &self.surfaces[contact % n])
    }

    /// Where a surface is now.
    pub(super) fn pose(&self, surface: usize) -> &SurfacePose {
        &self.poses[surface]
    }

    /// Shape of a surface.
    pub(super) fn surface_shape(&self, surface: usize) -> &SurfaceShape {
        &self.surfaces[surface].shape
    }

    /// Regions of the ground.
    pub(super) fn regions(&self) -> &[FrictionRegion] {
        &self.regions
    }

    /// Number of surfaces.
    #[must_use]
    pub fn surface_count(&self) -> usize {
        self.surfaces.len()
    }

    /// Mean velocity in W, until `end_ns`, of the ground of a contact that is now at `p_W`, m/s.
    pub(super) fn ground_velocity_W(
        &self,
        contact: usize,
        p_W: &Vec3,
        end_ns: u64,
        h: f64,
    ) -> Vec3 {
        self.surface_velocity_W(contact % self.surfaces.len(), p_W, end_ns, h)
    }

    /// Mean velocity in W, until `end_ns`, of the surface `i` at `p_W`, m/s.
    pub(super) fn surface_velocity_W(&self, i: usize, p_W: &Vec3, end_ns: u64, h: f64) -> Vec3 {
        if self.surfaces[i].platform.is_none() {
            return Vec3::zeros();
        }
        let p_S = self.poses[i].X_WS.point_inverse(p_W);
        (self.surfaces[i].pose(end_ns).X_WS.point(&p_S) - p_W) / h
    }

    /// For the fast path to store what it has evaluated.
    pub(super) fn evaluated_mut(&mut self) -> &mut [ContactResult] {
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
    pub(super) fn rigid(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.evaluated.len()).filter(|&i| self.evaluated[i].rigid)
    }

    /// True for a station without radius: it has a place where it sticks.
    pub(super) fn is_point(&self, contact: usize) -> bool {
        self.stations[contact / self.surfaces.len()].shape == StationShape::Point
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
        let n = self.surfaces.len();
        stations.iter().flat_map(move |&s| s * n..(s + 1) * n)
    }

    /// Sum of the normal forces of these stations, N.
    pub(super) fn normal_sum_n(&self, stations: &[usize]) -> f64 {
        self.of_stations(stations).map(|i| self.evaluated[i].force.normal_n).sum()
    }

    /// Evaluates all contacts at `now_ns` for the kinematics in `data`, from committed memory;
    /// `regions` are the coefficients of the regions.
    pub(super) fn evaluate(
        &mut self,
        data: &Data,
        contacts: &[ContactState],
        regions: &[Option<Friction>],
        now_ns: u64,
    ) {
        for (pose, surface) in self.poses.iter_mut().zip(&self.surfaces) {
            if surface.platform.is_some() {
                *pose = surface.pose(now_ns);
            }
        }
        let n = self.surfaces.len();
        for (i, contact) in contacts.iter().enumerate() {
            let (station, pose) = (&self.stations[i / n], &self.poses[i % n]);
            let at = &mut self.evaluated[i];
            locate(at, &self.surfaces[i % n], pose, station, data);
            let own = contact.friction;
            at.friction = friction_at(&self.regions, regions, i % n, || at.ground_point_S(), own);
            match &contact.law {
                ContactLaw::Spring { spring, memory } => {
                    let round = station.shape != StationShape::Point;
                    at.spring(spring, memory, round, data, now_ns);
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

    /// Forgets the last evaluation: no force anywhere.
    pub(super) fn clear(&mut self) {
        for e in &mut self.evaluated {
            e.force = SpringForce::default();
            e.moment_C = Vec3::zeros();
        }
    }

    /// Adds the evaluated forces to `data.f_ext`, but for rigid contacts: those act as impulses.
    pub(super) fn apply(&self, data: &mut Data) {
        for at in &self.evaluated {
            if !at.rigid {
                let f_W = at.touch.vector_to_W(&at.force.force_P());
                data.apply_force(at.body, &f_W, &at.point_B);
                if at.moment_C != Vec3::zeros() {
                    data.apply_moment(at.body, &(at.touch.R_WC * at.moment_C));
                }
            }
        }
    }

    /// As [`apply`](Self::apply) for a linearly implicit step: with what the forces will have given
    /// way, and the inertias that stand for the rest in `data.added`.
    pub(super) fn apply_implicit(
        &self,
        data: &mut Data,
        contacts: &[ContactState],
        step: &Step<f64>,
    ) {
        for (contact, at) in contacts.iter().zip(&self.evaluated) {
            let slopes = match &contact.law {
                ContactLaw::Spring { spring, .. } => spring.slopes(&at.force),
                ContactLaw::HuntCrossley(_) => at.slopes,
                ContactLaw::Rigid(_) => continue,
            };
            let touching = Touching {
                f_C: at.force.force_P(),
                v_C: at.v_C,
                R_WC: at.touch.R_WC,
                point_B: at.point_B,
            };
            let (X_WB, V) = (data.X_WB[at.body], data.V[at.body]);
            let (force, inertia) = step.contact(&touching, &slopes, &X_WB, &V);
            data.f_ext[at.body] += Force::from(force);
            data.added.bodies[at.body] += inertia;
            if at.moment_C != Vec3::zeros() {
                let (moment, inertia) =
                    step.spin(&at.moment_C, at.spin_damping, &at.touch.R_WC, &X_WB);
                data.f_ext[at.body].ang += moment;
                data.added.bodies[at.body] += inertia;
            }
        }
    }

    /// True if a micro-step of `h_s` is too long for a spring that strikes the ground.
    pub(super) fn needs_substep(&self, contacts: &[ContactState], h_s: f64) -> bool {
        let needs_substep = |(contact, at): (&ContactState, &ContactResult)| match &contact.law {
            ContactLaw::Spring { spring, .. } => spring.needs_substep(&at.force, h_s),
            ContactLaw::HuntCrossley(_) | ContactLaw::Rigid(_) => false,
        };
        contacts.iter().zip(&self.evaluated).any(needs_substep)
    }

    /// Commits what the last evaluation proposes.
    pub(super) fn commit(&self, contacts: &mut [ContactState], now_ns: u64) {
        for (i, (contact, at)) in contacts.iter_mut().zip(&self.evaluated).enumerate() {
            if let ContactLaw::Spring { memory, .. } = &mut contact.law {
                at.commit_spring(memory, !self.is_point(i), now_ns);
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
