//! What the plant lets others see, and snapshots of it.

use crate::actuator::Reference;
use crate::contact::Memory;
use crate::dynamics::Data;
use crate::model::Model;
use crate::sensor::ImuReading;

use super::contact_state::ContactLaw;
use super::faults::check_fault;
use super::step::imu_at_rest;
use super::{Authority, ContactSet, Plant, PlantFailure, PlantSpec, State};

impl Plant {
    /// The robot, with the payloads that faults have put on it.
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
        self.contacts.normal_sum_n(&foot.stations)
    }

    /// Committed memory of the spring with this contact index (stations outer, surfaces inner), its
    /// anchor in the axes of the surface: what the forces come from, and what a snapshot holds.
    #[must_use]
    pub fn spring_memory(&self, contact: usize) -> Option<Memory> {
        match &self.state.contacts.get(contact)?.law {
            ContactLaw::Spring { memory, .. } => Some(memory.in_surface_frame()),
            _ => None,
        }
    }

    /// Contacts, evaluated for the current state.
    #[must_use]
    pub const fn contacts(&self) -> &ContactSet {
        &self.contacts
    }

    /// IMU reading of the last tick.
    #[must_use]
    pub const fn imu(&self) -> &ImuReading {
        &self.imu
    }

    /// What the drives obeyed in the last tick.
    #[must_use]
    pub const fn authority(&self) -> Authority {
        self.authority
    }

    /// Set once the plant has stopped.
    #[must_use]
    pub const fn fault(&self) -> Option<PlantFailure> {
        self.fault
    }

    /// Simulated time, ns: always `tick × period`.
    #[must_use]
    pub const fn time_ns(&self) -> u64 {
        self.state.tick.wrapping_mul(self.spec.period_ns)
    }

    /// The complete state as words, for [`restore`](Self::restore).
    #[must_use]
    pub fn snapshot_words(&mut self) -> Vec<u64> {
        let mut words = Vec::new();
        self.state.write_words(&mut words);
        words
    }

    /// Appends the complete state as words to `out`; does not allocate if `out` has room.
    pub fn write_words(&mut self, out: &mut Vec<u64>) {
        self.state.write_words(out);
    }

    /// Names of all words of the state, in their order: a snapshot of one plant fits another one
    /// only if these are the same.
    #[must_use]
    pub fn word_names(&mut self) -> Vec<(&'static str, usize)> {
        let mut names = Vec::new();
        self.state.walk(&mut |group, index, _| names.push((group, index)));
        names
    }

    /// Counts and indices that a damaged snapshot could have set beyond all sense.
    fn check_counts(&self) -> hardstand_error::Result<()> {
        let s = &self.state;
        let pushes = s.pushes.iter().all(|p| (p.body as usize) < self.model.bodies.len());
        let switches = s.switches.iter().all(|f| f.pending_ticks <= 1 << 32);
        let faults = s.faults.all(|d| check_fault(d, &self.model, &self.spec).is_ok());
        let counts = s.tick <= 1 << 62 && s.watchdog.candidate_count <= 1 << 32;
        if counts && pushes && switches && faults && !s.leases.is_senseless() {
            return Ok(());
        }
        let what = "a snapshot holds a tick, count, body, lease or fault that no run can produce";
        Err(hardstand_error::Error::new(hardstand_error::ErrorKind::Log, what))
    }

    /// Names the first difference between two snapshots of this plant.
    #[must_use]
    pub fn first_difference(&mut self, a: &[u64], b: &[u64]) -> Option<String> {
        self.state.first_difference(a, b)
    }

    /// Continues from a snapshot: the following ticks have the same bits as if the plant had never
    /// stopped. Until the next tick the IMU reads as at rest and the authority is zero, since
    /// neither is state.
    ///
    /// # Errors
    /// [`ErrorKind::Log`](hardstand_error::ErrorKind::Log) if the snapshot is another plant's or
    /// holds what
    /// no run can produce; the plant is then unchanged.
    pub fn restore(&mut self, words: &[u64]) -> hardstand_error::Result<()> {
        let before = self.state.clone();
        self.state.set_words(words)?;
        if let Err(e) = self.check_counts() {
            self.state = before;
            return Err(e);
        }
        self.wake();
        Ok(())
    }

    /// [`restore`](Self::restore) from words that another plant of the same model and spec has
    /// accepted. Does not allocate; words of a wrong number change nothing.
    pub fn adopt(&mut self, words: &[u64]) {
        if self.state.set_words(words).is_ok() {
            self.wake();
        }
    }

    /// Brings everything that depends on the state up to date with it.
    pub(super) fn wake(&mut self) {
        self.digest.take(&mut self.state);
        (self.fault, self.authority) = (None, Authority::Zero);
        self.references.fill(Reference::default());
        self.gains.fill([0.0; 2]);
        self.equip();
        self.settle();
        self.imu = self.shown_by_imu(imu_at_rest(&self.spec, &self.data));
        if let Some(fault) = self.check() {
            self.freeze(fault);
        }
    }
}
