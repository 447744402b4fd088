//! All contacts of the plant: every station against every plane.

use crate::contact::{ContactPlane, ExponentialSpring, Friction, Memory, SpringForce};
use crate::dynamics::Data;
use crate::spatial::Vec3;

use super::PlantSpec;

/// Geometry and last evaluation of all contacts. Contact `i` is the station `i / planes` against
/// the plane `i % planes`; its memory and friction are in
/// [`State`](super::State).
#[derive(Clone, Debug)]
pub struct ContactSet {
    planes: Vec<ContactPlane>,
    stations: Vec<StationPoint>,
    forces: Vec<SpringForce>,
}

#[derive(Clone, Debug)]
struct StationPoint {
    body: usize,
    p_BS: Vec3,
    radius_m: f64,
    spring: ExponentialSpring,
}

/// Contact memory and coefficients as the state keeps them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ContactState {
    pub(super) memory: Memory,
    pub(super) friction: Friction,
}

impl ContactSet {
    pub(super) fn new(spec: &PlantSpec) -> Self {
        let stations = spec
            .stations
            .iter()
            .map(|s| StationPoint {
                body: s.body,
                p_BS: s.p_BS,
                radius_m: s.radius_m,
                spring: s.spring,
            })
            .collect();
        let count = spec.stations.len() * spec.planes.len();
        Self { planes: spec.planes.clone(), stations, forces: vec![SpringForce::default(); count] }
    }

    /// Number of planes.
    #[must_use]
    pub fn plane_count(&self) -> usize {
        self.planes.len()
    }

    /// The plane with index `i`.
    ///
    /// # Panics
    /// If there is no such plane.
    #[must_use]
    pub fn plane(&self, i: usize) -> &ContactPlane {
        &self.planes[i]
    }

    /// Last evaluation of every contact, stations outer, planes inner.
    #[must_use]
    pub fn forces(&self) -> &[SpringForce] {
        &self.forces
    }

    /// Potential energy of all contacts, J.
    #[must_use]
    pub fn potential_energy(&self) -> f64 {
        self.forces.iter().map(|f| f.potential_energy_j).sum()
    }

    /// Sum of the normal forces of these stations, N.
    pub(super) fn normal_sum_n(&self, stations: &[usize]) -> f64 {
        let planes = self.planes.len();
        let contacts = stations.iter().flat_map(|&s| s * planes..(s + 1) * planes);
        contacts.map(|i| self.forces[i].normal_n).sum()
    }

    /// Evaluates all contacts at `now_ns` for the kinematics in `data`, from committed memory.
    pub(super) fn evaluate(&mut self, data: &Data, contacts: &[ContactState], now_ns: u64) {
        let planes = self.planes.len();
        for (s, station) in self.stations.iter().enumerate() {
            let p_WS = data.point_W(station.body, &station.p_BS);
            let v_WS = data.point_velocity_W(station.body, &station.p_BS);
            for (p, plane) in self.planes.iter().enumerate() {
                let i = s * planes + p;
                let contact = &contacts[i];
                let mut p_P = plane.position_P(&p_WS);
                p_P.z -= station.radius_m;
                self.forces[i] = station.spring.evaluate(
                    &contact.friction,
                    &contact.memory,
                    &p_P,
                    &plane.vector_P(&v_WS),
                    contact.memory.age_s(now_ns),
                );
            }
        }
    }

    /// Forgets the last evaluation: no force anywhere.
    pub(super) fn clear(&mut self) {
        self.forces.fill(SpringForce::default());
    }

    /// Adds the evaluated forces to `data.f_ext`.
    pub(super) fn apply(&self, data: &mut Data) {
        let planes = self.planes.len();
        for (s, station) in self.stations.iter().enumerate() {
            for (p, plane) in self.planes.iter().enumerate() {
                let f_W = self.forces[s * planes + p].force_W(plane);
                data.apply_force(station.body, &f_W, &station.p_BS);
            }
        }
    }

    /// Commits what the last evaluation proposes.
    pub(super) fn commit(&self, contacts: &mut [ContactState], now_ns: u64) {
        for (contact, force) in contacts.iter_mut().zip(&self.forces) {
            contact.memory.commit(force, now_ns);
        }
    }

    /// Puts every anchor under its station.
    pub(super) fn reset_anchors(&self, data: &Data, contacts: &mut [ContactState], now_ns: u64) {
        let planes = self.planes.len();
        for (s, station) in self.stations.iter().enumerate() {
            let p_WS = data.point_W(station.body, &station.p_BS);
            for (p, plane) in self.planes.iter().enumerate() {
                contacts[s * planes + p].memory.reset_anchor(&plane.position_P(&p_WS), now_ns);
            }
        }
    }
}
