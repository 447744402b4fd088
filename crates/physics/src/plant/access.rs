//! What the plant lets others see, and snapshots of it.

use crate::actuator::Reference;
use crate::contact::Memory;
use crate::dynamics::Data;
use crate::model::Model;
use crate::sensor::ImuReading;

use super::contact_state::ContactLaw;
use super::{CollisionSet, ContactSet, Plant, PlantFailure, PlantSpec, State};

impl Plant {
    /// The robot, with its payloads.
    #[must_use]
    pub const fn model(&self) -> &Model {
        &self.model
    }

    /// Everything else the physics depends on.
    #[must_use]
    pub const fn spec(&self) -> &PlantSpec {
        &self.spec
    }

    /// See [`layout_hash`](super::layout_hash()).
    #[must_use]
    pub const fn layout_hash(&self) -> u64 {
        self.layout_hash
    }

    /// The state.
    #[must_use]
    pub const fn state(&self) -> &State {
        &self.state
    }

    /// Kinematics of the current state: `X_PB`, `X_WB`, `V`, `c`. What the algorithms leave besides
    /// is from some step before, or from none.
    #[must_use]
    pub const fn data(&self) -> &Data {
        &self.data
    }

    /// Sum of the normal forces of a foot, N.
    #[must_use]
    pub fn foot_normal_n(&self, foot: &super::Foot) -> f64 {
        let of_shapes_n = self.collisions.normal_sum_n(&foot.shapes);
        self.contacts.normal_sum_n(&foot.stations) + of_shapes_n
    }

    /// Committed memory of the spring with this contact index (stations outer, surfaces inner), its
    /// anchor in the axes of the surface: what the forces come from, and what a snapshot holds.
    #[must_use]
    pub fn spring_memory(&self, contact: usize) -> Option<Memory> {
        match &self.state.contacts.get(contact)?.law {
            ContactLaw::Spring { memory, .. } | ContactLaw::Soft { memory, .. } => {
                Some(memory.in_surface_frame())
            }
            _ => None,
        }
    }

    /// Contacts, evaluated for the current state.
    #[must_use]
    pub const fn contacts(&self) -> &ContactSet {
        &self.contacts
    }

    /// Shapes that touch, evaluated for the current state.
    #[must_use]
    pub const fn collisions(&self) -> &CollisionSet {
        &self.collisions
    }

    /// True IMU reading of the last tick.
    #[must_use]
    pub const fn imu(&self) -> &ImuReading {
        &self.imu
    }

    /// True reading of the second unit of the last tick, if there is one.
    #[must_use]
    pub const fn second_imu(&self) -> Option<&ImuReading> {
        self.second_imu.as_ref()
    }

    /// Set once the plant has stopped.
    #[must_use]
    pub const fn failure(&self) -> Option<PlantFailure> {
        self.failure
    }

    /// Simulated time, ns: always `tick × period`.
    #[must_use]
    pub const fn time_ns(&self) -> u64 {
        self.state.tick.wrapping_mul(self.spec.period_ns)
    }

    /// The state, to be overwritten; then [`wake`](Self::wake).
    pub const fn state_mut(&mut self) -> &mut State {
        &mut self.state
    }

    /// Continues from the state as it is: the following ticks have the same bits as if the plant
    /// had never stopped. Until the next tick the IMU reads as at rest, for it is not state.
    pub fn wake(&mut self) {
        self.digest.take(&mut self.state);
        self.failure = None;
        self.references.fill(Reference::default());
        self.settle();
        self.rest_imus();
        if let Some(failure) = self.check() {
            self.freeze(failure);
        }
    }
}
