//! All contacts of the plant: every station against every surface.

use crate::contact::{
    ExponentialSpring, Friction, Prints, RollingFriction, SpringForce, StationShape, Surface,
    SurfacePose, SurfaceShape,
};
use crate::dynamics::{Data, Velocities};
use crate::model::{Base, Model};
use crate::spatial::{Force, Transform, Vec3};

use super::contact_result::ContactResult;
use super::contact_state::{
    ContactLaw, ContactState, Place, RigidMemory, RigidPhase, SpringMemory,
};
use super::implicit::{Step, Touching};
use super::near::NearSurfaces;
use super::regions::friction_at;
use super::rigid::{CLOSED_M, NEAR_M};
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

/// One exponential spring on a plane at rest: what limbs can compute side by side.
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

    /// Memory and coefficients of all contacts at the start, anchors under their stations.
    pub(super) fn initial_states(
        &self,
        model: &Model,
        spec: &PlantSpec,
        now_ns: u64,
    ) -> Vec<ContactState> {
        let state = |(i, at): (usize, &ContactResult)| {
            let mut law = self.new_law(spec, i, now_ns);
            if let ContactLaw::Rigid(memory) = &mut law {
                *memory = self.rigid_at_rest(at, model, spec);
            }
            let near = Place::Near(at.surface.map(|surface| surface as u32));
            let place = if self.near.is_some() { near } else { Place::Fixed };
            ContactState { law, friction: self.initial_friction(spec, i), place }
        };
        self.evaluated.iter().enumerate().map(state).collect()
    }

    /// The law of contact `i` where it was evaluated last, with its anchor under the station.
    fn new_law(&self, spec: &PlantSpec, i: usize, now_ns: u64) -> ContactLaw {
        let at = &self.evaluated[i];
        let surface = at.surface.unwrap_or(0);
        match &spec.stations[i / self.places].model {
            ContactModel::ExponentialSpring(own) => {
                let Surface { spring, soft, .. } = &self.surfaces[surface];
                // the scenario checks both together
                let spring = spring.applied_to(own).unwrap_or(*own);
                let memory = SpringMemory {
                    anchor_S: at.ground_point_S().into(),
                    committed_ns: Some(now_ns),
                    marker_B: at.point_B.into(),
                    sliding: spring.new_memory().sliding,
                };
                if soft.is_none() && !self.may_be_soft {
                    return ContactLaw::Spring { spring, memory };
                }
                ContactLaw::Soft { ground: *soft, spring, memory, prints: Prints::default() }
            }
            ContactModel::HuntCrossley(laws) => ContactLaw::HuntCrossley(laws[surface]),
            ContactModel::Rigid => ContactLaw::Rigid(RigidMemory::NEW),
        }
    }

    /// Coefficients of contact `i` at the start.
    pub(super) fn initial_friction(&self, spec: &PlantSpec, i: usize) -> Friction {
        let station = &spec.stations[i / self.places];
        match &station.model {
            ContactModel::HuntCrossley(laws) => {
                laws[self.evaluated[i].surface.unwrap_or(0)].initial_friction()
            }
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
            force_C: share_C.into(),
            ..RigidMemory::NEW
        }
    }

    /// All contacts, if each is a [`PlaneSpring`] and friction depends on no region.
    pub(super) fn plane_springs(&self, contacts: &[ContactState]) -> Option<Vec<PlaneSpring>> {
        if self.near.is_some() {
            return None;
        }
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
        let n = self.places;
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

    /// Number of contacts of each station.
    #[must_use]
    pub const fn places(&self) -> usize {
        self.places
    }

    /// Mean velocity in W, until `end_ns`, of the ground of a contact that is now at `p_W`, m/s.
    pub(super) fn ground_velocity_W(
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
    pub(super) fn normal_sum_n(&self, stations: &[usize]) -> f64 {
        self.of_stations(stations).map(|i| self.evaluated[i].force.normal_n).sum()
    }

    /// Evaluates all contacts at `now_ns` for the kinematics in `data`, from committed memory;
    /// `regions` are the coefficients of the regions. Unless `all` is asked for, rigid contacts far
    /// above the ground are left as they are.
    pub(super) fn evaluate(
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
    pub(super) fn look_again(&mut self, data: &Data, h: f64) {
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
    pub(super) fn move_surfaces(&mut self, now_ns: u64) {
        for (pose, surface) in self.poses.iter_mut().zip(&self.surfaces) {
            if surface.platform.is_some() {
                *pose = surface.pose(now_ns);
            }
        }
    }

    /// Lets the surfaces that are nearest to each station take its places. One that stays keeps its
    /// place and its memory, so a second call changes nothing.
    pub(super) fn find_near(
        &mut self,
        spec: &PlantSpec,
        data: &Data,
        contacts: &mut [ContactState],
        now_ns: u64,
    ) {
        let Some(mut near) = self.near.take() else { return };
        let reach_m = near.reach_m;
        self.move_surfaces(now_ns);
        for s in 0..self.stations.len() {
            let StationPoint { body, p_BS, shape, .. } = self.stations[s];
            let center_W = data.point_W(body, &p_BS);
            let extent_m = shape.extent_m();
            let found = near.find(&self.surfaces, &self.poses, &center_W, extent_m, self.places);
            let places = s * self.places..(s + 1) * self.places;
            let mut left = found.len();
            for i in places.clone() {
                let Place::Near(held) = contacts[i].place else { continue };
                let kept = found[..left].iter().position(|&(_, g)| Some(g) == held);
                if let Some(k) = kept {
                    let surface = found[k].1 as usize;
                    found[k..left].rotate_left(1);
                    left -= 1;
                    self.keep(spec, i, surface, &mut contacts[i]);
                    continue;
                }
                if held.is_some() || self.evaluated[i].surface.is_some() {
                    let rigid = self.evaluated[i].rigid;
                    self.evaluated[i] = ContactResult::empty(body, rigid, reach_m);
                    contacts[i].place = Place::Near(None);
                    contacts[i].law = self.new_law(spec, i, 0);
                }
            }
            let mut fresh = found[..left].iter();
            for i in places {
                if contacts[i].place != Place::Near(None) {
                    continue;
                }
                let Some(&(_, g)) = fresh.next() else { break };
                let (surface, pose) = (&self.surfaces[g as usize], &self.poses[g as usize]);
                self.evaluated[i].surface = Some(g as usize);
                locate(&mut self.evaluated[i], surface, pose, &self.stations[s], data);
                contacts[i].place = Place::Near(Some(g));
                contacts[i].law = self.new_law(spec, i, now_ns);
            }
        }
        self.near = Some(near);
    }

    /// A contact that goes on with its surface: after a restore its law may be another's.
    fn keep(&mut self, spec: &PlantSpec, i: usize, surface: usize, contact: &mut ContactState) {
        if self.evaluated[i].surface == Some(surface) {
            return;
        }
        self.evaluated[i].surface = Some(surface);
        let law = match (self.new_law(spec, i, 0), contact.law) {
            (ContactLaw::Spring { spring, .. }, ContactLaw::Spring { memory, .. }) => {
                ContactLaw::Spring { spring, memory }
            }
            (ContactLaw::Soft { ground, spring, .. }, ContactLaw::Soft { memory, prints, .. }) => {
                ContactLaw::Soft { ground, spring, memory, prints }
            }
            (ContactLaw::Rigid(_), own) => own,
            (other, _) => other,
        };
        contact.law = law;
    }

    /// Forgets the last evaluation: no force anywhere.
    pub(super) fn clear(&mut self) {
        for e in &mut self.evaluated {
            e.force = SpringForce::default();
            e.moment_C = Vec3::zeros();
        }
    }

    /// Adds the evaluated forces to `data.f_ext`, but for rigid contacts: those act as impulses.
    /// Moments against rolling are taken at the end of `step`, with the inertias that stand for
    /// that in `data.added`; without it, as they are.
    pub(super) fn apply(&self, data: &mut Data, step: Option<&Step<f64>>) {
        for at in &self.evaluated {
            if !at.rigid && at.surface.is_some() {
                let f_W = at.touch.vector_to_W(&at.force.force_P());
                data.apply_force(at.body, &f_W, &at.point_B);
                if at.moment_C == Vec3::zeros() {
                    continue;
                }
                match step {
                    Some(step) => step.brake(at.body, &at.brake(), data),
                    None => data.apply_moment(at.body, &(at.touch.R_WC * at.moment_C)),
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
        for (i, (contact, at)) in contacts.iter().zip(&self.evaluated).enumerate() {
            let slopes = match &contact.law {
                ContactLaw::Spring { spring, .. } => spring.slopes(&at.force),
                ContactLaw::Soft { .. } => at.slopes,
                ContactLaw::HuntCrossley(law) => {
                    let radius_m = self.stations[i / self.places].shape.round_m();
                    law.step_slopes(&at.slopes, &at.force, radius_m, step.h)
                }
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
                step.brake(at.body, &at.brake(), data);
            }
        }
    }

    /// True if a micro-step of `h_s` is too long for a spring that strikes the ground.
    pub(super) fn needs_substep(&self, contacts: &[ContactState], h_s: f64) -> bool {
        let needs_substep = |(contact, at): (&ContactState, &ContactResult)| match &contact.law {
            ContactLaw::Spring { spring, .. } => spring.needs_substep(&at.force, h_s),
            ContactLaw::Soft { ground: None, spring, .. } => spring.needs_substep(&at.force, h_s),
            ContactLaw::Soft { .. } | ContactLaw::HuntCrossley(_) | ContactLaw::Rigid(_) => false,
        };
        contacts.iter().zip(&self.evaluated).any(needs_substep)
    }

    /// Commits what the last evaluation proposes.
    pub(super) fn commit(&self, contacts: &mut [ContactState], now_ns: u64) {
        for (i, (contact, at)) in contacts.iter_mut().zip(&self.evaluated).enumerate() {
            match (&mut contact.law, at.surface) {
                (ContactLaw::Spring { memory, .. }, Some(_)) => {
                    at.commit_spring(memory, !self.is_point(i), now_ns);
                }
                (ContactLaw::Soft { ground, memory, prints, .. }, Some(_)) => {
                    at.commit_spring(memory, !self.is_point(i), now_ns);
                    if let Some(ground) = ground {
                        prints.stand(ground, at.pressed_m, &at.ground_point_S());
                    }
                }
                _ => {}
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
