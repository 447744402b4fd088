//! Contacts at the start: laws, memory, friction.

use super::super::contact_result::ContactResult;
use super::super::contact_state::{
    ContactLaw, ContactState, Place, RigidMemory, RigidPhase, SpringMemory,
};
use super::super::rigid::CLOSED_M;
use super::super::{ContactModel, PlantSpec};
use super::{ContactSet, StationPoint};
use crate::contact::{ExponentialSpring, Friction, Prints, StationShape, Surface, SurfaceShape};
use crate::dynamics::Velocities;
use crate::model::{Base, Model};
use crate::spatial::{Transform, Vec3};

/// One exponential spring on a plane at rest: what limbs can compute side by side.
#[derive(Clone, Copy, Debug)]
pub(in crate::plant) struct PlaneSpring {
    /// Index of the contact.
    pub(in crate::plant) contact: usize,
    pub(in crate::plant) body: usize,
    pub(in crate::plant) p_BS: Vec3,
    pub(in crate::plant) shape: StationShape,
    pub(in crate::plant) X_WS: Transform,
    pub(in crate::plant) spring: ExponentialSpring,
}

impl ContactSet {
    /// Memory and coefficients of all contacts at the start, anchors under their stations.
    pub(in crate::plant) fn initial_states(
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
    pub(super) fn new_law(&self, spec: &PlantSpec, i: usize, now_ns: u64) -> ContactLaw {
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
    pub(in crate::plant) fn initial_friction(&self, spec: &PlantSpec, i: usize) -> Friction {
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
    pub(in crate::plant) fn plane_springs(
        &self,
        contacts: &[ContactState],
    ) -> Option<Vec<PlaneSpring>> {
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
}
