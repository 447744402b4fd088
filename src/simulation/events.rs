//! What happens to the robot and the ground at the start of a tick.

use hardstand_physics::contact::Friction;
use hardstand_physics::plant::ActivePush;
use hardstand_protocol::{Event, FaultKind, InjectedFault, Part, Scope};

use super::faults::{InjectedFaults, check_fault, scope};
use super::{Outcome, Simulation};
use crate::limits::PUSHES_MAX;

/// What has to be done after the events of a tick.
#[derive(Default)]
struct Changed {
    friction: bool,
    equipment: bool,
}

impl Simulation {
    /// Pushes a body; how many pushes were refused.
    fn push(&mut self, body: u32, point_B: [f64; 3], force_W: [f64; 3], ticks_left: u64) -> u32 {
        let push = ActivePush { body: body.into(), point_B, force_W, ticks_left };
        u32::from(!self.plant.push(push))
    }

    /// False if `event` is a push or a fault that finds no place in the coming tick, after `before`
    /// in it.
    #[must_use]
    pub fn has_room_for(&self, event: &Event, before: &[Event]) -> bool {
        // what it ends is known in the tick
        if before.iter().any(|e| matches!(e, Event::ClearFaults { .. })) {
            return true;
        }
        match event {
            Event::Push { .. } => {
                let active = self.plant.state().pushes.iter().filter(|p| p.ticks_left > 0);
                let pushes = |e: &&Event| matches!(e, Event::Push { .. } | Event::Touch { .. });
                active.count() + before.iter().filter(pushes).count() < PUSHES_MAX
            }
            Event::InjectFault { fault, .. } => {
                let mut faults = self.faults;
                while faults.end_overdue().is_some() {}
                let earlier = before.iter().filter_map(|e| match e {
                    Event::InjectFault { fault, ticks } => Some((fault, *ticks)),
                    _ => None,
                });
                let all = earlier.chain([(fault, 1)]);
                all.fold(None, |_, (fault, ticks)| faults.begin(fault, ticks, [0.0; 2])).is_some()
            }
            _ => true,
        }
    }

    /// Ends the faults that have had their time, and lets happen what is due.
    pub(super) fn apply_events(&mut self, events: &[Event], outcome: &mut Outcome) {
        let mut changed = Changed::default();
        while let Some(over) = self.faults.end_overdue() {
            self.end(&over, &mut changed);
        }
        for event in events {
            match *event {
                Event::Push { body, point_B, force_W, ticks } => {
                    outcome.pushes_refused += self.push(body, point_B, force_W, ticks);
                }
                Event::Touch { body, point_B, force_W } => {
                    outcome.pushes_refused += self.push(body, point_B, force_W, 1);
                }
                Event::Friction { scope, mu_static, mu_kinetic } => {
                    changed.friction = true;
                    self.set_friction(scope, mu_static, mu_kinetic);
                }
                Event::Grant(_) | Event::Leave { .. } | Event::Stop | Event::Arm => {
                    self.change_leases(event);
                }
                Event::InjectFault { fault, ticks } => {
                    if self.begin(&fault, ticks, &mut changed).is_none() {
                        outcome.faults_refused += 1;
                    }
                }
                Event::ClearFaults { kind, part } => self.clear_faults(kind, part, &mut changed),
                Event::Velocity(command) => self.arbitration.velocity = command,
                Event::Constraint { index, active } => {
                    let _there_is_one = self.plant.set_constraint(index as usize, active);
                }
                Event::ResetAnchors { scope } => {
                    changed.friction = true;
                    self.reset_anchors(scope);
                }
            }
        }
        if changed.equipment {
            self.equip();
            self.plant.forget_momentum();
        }
        if changed.friction {
            // the forces at this instant depend on the coefficients
            self.plant.refresh_contacts();
        }
    }

    /// The faults that act in the coming tick, if these are its events.
    #[must_use]
    pub fn faults_with(&self, events: &[Event]) -> InjectedFaults {
        let mut faults = self.faults;
        while faults.end_overdue().is_some() {}
        for event in events {
            match event {
                Event::InjectFault { fault, ticks } if self.can_have(fault, *ticks) => {
                    let _there_is_room = faults.begin(fault, *ticks, [0.0; 2]).is_some();
                }
                Event::ClearFaults { kind, part } => {
                    while faults.clear_one(*kind, *part).is_some() {}
                }
                _ => {}
            }
        }
        faults
    }

    fn can_have(&self, fault: &InjectedFault, ticks: u64) -> bool {
        ticks > 0 && check_fault(fault, self.model(), self.spec()).is_ok()
    }

    /// `None` if there is no slot, or this plant cannot have the fault.
    fn begin(&mut self, fault: &InjectedFault, ticks: u64, changed: &mut Changed) -> Option<()> {
        if !self.can_have(fault, ticks) {
            return None;
        }
        let memory = match (fault.kind, fault.part) {
            (FaultKind::EncoderStuck, Part::Joint(i)) => self.shown_by_encoder(i as usize),
            (FaultKind::FootSensorStuck, Part::Foot(f)) => {
                let (closed, normal_n) = self.shown_by_foot(f as usize);
                [f64::from(u8::from(closed)), normal_n]
            }
            _ => [0.0; 2],
        };
        self.faults.begin(fault, ticks, memory)?;
        changed.equipment = true;
        if fault.kind == FaultKind::Friction {
            let [mu_static, mu_kinetic, ..] = fault.values;
            self.set_friction(scope(fault.part), mu_static, mu_kinetic);
            changed.friction = true;
        }
        Some(())
    }

    /// What the end of a fault leaves to be done; its slot is free.
    fn end(&mut self, fault: &InjectedFault, changed: &mut Changed) {
        changed.equipment = true;
        if fault.kind == FaultKind::Friction {
            self.restore_friction(fault.part);
            changed.friction = true;
        }
    }

    /// Ends the faults of this kind and part, or of any. Pushes and changes of friction are
    /// faults.
    fn clear_faults(&mut self, kind: Option<FaultKind>, part: Option<Part>, changed: &mut Changed) {
        while let Some(over) = self.faults.clear_one(kind, part) {
            self.end(&over, changed);
        }
        let is_meant = |of: FaultKind| kind.is_none_or(|kind| kind == of);
        if is_meant(FaultKind::Push) {
            match part {
                None => self.plant.end_pushes(None),
                Some(Part::Body(b)) => self.plant.end_pushes(Some(u64::from(b))),
                Some(_) => {}
            }
        }
        if is_meant(FaultKind::Friction) {
            match part {
                None => {
                    self.restore_friction(Part::Whole);
                    for r in 0..self.spec().regions.len() {
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
            && let Some(region) = self.spec().regions.get(r as usize)
        {
            let friction = region.friction;
            self.plant.set_region_friction(r as usize, friction);
        }
        if matches!(part, Part::Whole | Part::Foot(_) | Part::Station(_)) {
            for i in 0..self.plant.contacts().evaluated().len() {
                if self.is_meant(scope(part), i) {
                    self.plant.set_friction(i, self.plant.initial_friction(i));
                }
            }
        }
        let faults = self.faults;
        for (d, _) in faults.active().filter(|(d, _)| d.kind == FaultKind::Friction) {
            self.set_friction(scope(d.part), d.values[0], d.values[1]);
        }
    }

    fn set_friction(&mut self, scope: Scope, mu_static: f64, mu_kinetic: f64) {
        let friction = Friction::new(mu_static, mu_kinetic);
        if let Scope::Region(r) = scope {
            self.plant.set_region_friction(r as usize, Some(friction));
        }
        for i in 0..self.plant.contacts().evaluated().len() {
            if self.is_meant(scope, i) {
                self.plant.set_friction(i, friction);
            }
        }
    }

    fn reset_anchors(&mut self, scope: Scope) {
        for i in 0..self.plant.contacts().evaluated().len() {
            if self.is_meant(scope, i) {
                self.plant.reset_anchor(i);
            }
        }
        match scope {
            Scope::All => self.plant.reset_shape_anchors(None),
            Scope::Foot(f) => self.plant.reset_shape_anchors(Some(f as usize)),
            Scope::Station(_) | Scope::Region(_) => {}
        }
    }

    /// True if contact `i` is of a station that `scope` means.
    fn is_meant(&self, scope: Scope, i: usize) -> bool {
        let station = i / self.plant.contacts().places();
        match scope {
            Scope::All => true,
            Scope::Station(s) => s as usize == station,
            Scope::Foot(f) => {
                let foot = self.spec().feet.get(f as usize);
                foot.is_some_and(|f| f.stations.contains(&station))
            }
            Scope::Region(_) => false,
        }
    }
}
