//! Which surfaces the stations may touch, where there are too many for all.

use super::super::PlantSpec;
use super::super::contact_result::ContactResult;
use super::super::contact_state::{ContactLaw, ContactState, Place};
use super::{ContactSet, StationPoint, locate};
use crate::dynamics::Data;

impl ContactSet {
    /// Lets the surfaces that are nearest to each station take its places. One that stays keeps its
    /// place and its memory, so a second call changes nothing.
    pub(in crate::plant) fn find_near(
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
}
