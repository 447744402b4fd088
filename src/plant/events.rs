//! What happens to the robot and the ground at the start of a tick.

use crate::contact::Friction;

use super::defects::{Defect, DefectKind, Defects, Part, scope};
use super::{ActivePush, Event, Outcome, Plant, Scope};

/// What has to be done after the events of a tick.
#[derive(Default)]
struct Changed {
    friction: bool,
    equipment: bool,
}

impl Plant {
    /// Ends the faults that have had their time, and lets happen what is due.
    pub(super) fn apply_events(&mut self, events: &[Event], outcome: &mut Outcome) {
        let mut changed = Changed::default();
        while let Some(over) = self.state.defects.end_overdue() {
            self.end(&over, &mut changed);
        }
        for event in events {
            match *event {
                Event::Push { body, point_B, force_W, ticks } => {
                    let slot = self.state.pushes.iter_mut().find(|p| p.ticks_left == 0);
                    match slot {
                        Some(slot) if (body as usize) < self.model.bodies.len() => {
                            slot.body = u64::from(body);
                            (slot.point_B, slot.force_W) = (point_B, force_W);
                            slot.ticks_left = ticks;
                        }
                        _ => outcome.pushes_refused += 1,
                    }
                }
                Event::Friction { scope, mu_static, mu_kinetic } => {
                    changed.friction = true;
                    self.set_friction(scope, mu_static, mu_kinetic);
                }
                Event::Grant(_) | Event::Leave { .. } | Event::Stop | Event::Arm => {
                    self.change_leases(event);
                }
                Event::Fault { defect, ticks } => {
                    if self.begin(&defect, ticks, &mut changed).is_none() {
                        outcome.faults_refused += 1;
                    }
                }
                Event::Mend { kind, part } => self.mend(kind, part, &mut changed),
            }
        }
        if changed.equipment {
            self.equip();
        }
        if changed.friction {
            // the forces at this instant depend on the coefficients
            self.evaluate(self.time_ns());
        }
    }

    /// The faults that act in the coming tick, if these are its events.
    #[must_use]
    pub fn defects_with(&self, events: &[Event]) -> Defects {
        let mut defects = self.state.defects;
        while defects.end_overdue().is_some() {}
        for event in events {
            match event {
                Event::Fault { defect, ticks } if self.can_have(defect, *ticks) => {
                    let _there_is_room = defects.begin(defect, *ticks, [0.0; 2]).is_some();
                }
                Event::Mend { kind, part } => while defects.mend_one(*kind, *part).is_some() {},
                _ => {}
            }
        }
        defects
    }

    fn can_have(&self, defect: &Defect, ticks: u64) -> bool {
        ticks > 0 && defect.check(&self.model, &self.spec).is_ok()
    }

    /// `None` if there is no slot, or this plant cannot have the fault.
    fn begin(&mut self, defect: &Defect, ticks: u64, changed: &mut Changed) -> Option<()> {
        if !self.can_have(defect, ticks) {
            return None;
        }
        let memory = match (defect.kind, defect.part) {
            (DefectKind::EncoderStuck, Part::Joint(i)) => self.shown_by_encoder(i as usize),
            (DefectKind::FootSensorStuck, Part::Foot(f)) => {
                let (closed, normal_n) = self.shown_by_foot(f as usize);
                [f64::from(u8::from(closed)), normal_n]
            }
            _ => [0.0; 2],
        };
        self.state.defects.begin(defect, ticks, memory)?;
        changed.equipment = true;
        if defect.kind == DefectKind::Friction {
            let [mu_static, mu_kinetic, ..] = defect.values;
            self.set_friction(scope(defect.part), mu_static, mu_kinetic);
            changed.friction = true;
        }
        Some(())
    }

    /// What the end of a fault leaves to be done; its slot is free.
    fn end(&mut self, defect: &Defect, changed: &mut Changed) {
        changed.equipment = true;
        if defect.kind == DefectKind::Friction {
            self.restore_friction(defect.part);
            changed.friction = true;
        }
    }

    /// Ends the faults of this kind and part, or of any. Pushes and changes of friction are
    /// faults.
    fn mend(&mut self, kind: Option<DefectKind>, part: Option<Part>, changed: &mut Changed) {
        while let Some(over) = self.state.defects.mend_one(kind, part) {
            self.end(&over, changed);
        }
        let is_meant = |of: DefectKind| kind.is_none_or(|kind| kind == of);
        if is_meant(DefectKind::Push) {
            let on = |p: &ActivePush| match part {
                None => true,
                Some(Part::Body(b)) => u64::from(b) == p.body,
                Some(_) => false,
            };
            for push in self.state.pushes.iter_mut().filter(|p| on(p)) {
                push.ticks_left = 0;
            }
        }
        if is_meant(DefectKind::Friction) {
            match part {
                None => {
                    self.restore_friction(Part::Whole);
                    for r in 0..self.spec.regions.len() {
                        self.restore_friction(Part::Region(r as u32));
                    }
                }
                Some(part) => self.restore_friction(part),
            }
            changed.friction = true;
        }
    }

    /// The scenario's coefficients again, but for those of faults that still act.
    fn restore_friction(&mut self, part: Part) {
        if let Part::Region(r) = part
            && let Some(slot) = self.state.regions.get_mut(r as usize)
        {
            *slot = self.spec.regions[r as usize].friction;
        }
        if matches!(part, Part::Whole | Part::Foot(_) | Part::Station(_)) {
            for i in 0..self.state.contacts.len() {
                if self.is_meant(scope(part), i) {
                    self.state.contacts[i].friction = self.contacts.initial_friction(&self.spec, i);
                }
            }
        }
        let defects = self.state.defects;
        for (d, _) in defects.active().filter(|(d, _)| d.kind == DefectKind::Friction) {
            self.set_friction(scope(d.part), d.values[0], d.values[1]);
        }
    }

    fn set_friction(&mut self, scope: Scope, mu_static: f64, mu_kinetic: f64) {
        if let Scope::Region(r) = scope
            && let Some(slot) = self.state.regions.get_mut(r as usize)
        {
            *slot = Some(Friction::new(mu_static, mu_kinetic));
        }
        for i in 0..self.state.contacts.len() {
            if self.is_meant(scope, i) {
                self.state.contacts[i].friction = Friction::new(mu_static, mu_kinetic);
            }
        }
    }

    /// True if contact `i` is of a station that `scope` means.
    fn is_meant(&self, scope: Scope, i: usize) -> bool {
        let station = i / self.contacts.surface_count();
        match scope {
            Scope::All => true,
            Scope::Station(s) => s as usize == station,
            Scope::Foot(f) => {
                let foot = self.spec.feet.get(f as usize);
                foot.is_some_and(|f| f.stations.contains(&station))
            }
            Scope::Region(_) => false,
        }
    }
}
