//! What happens to the robot and the ground at the start of a tick.

use crate::contact::Friction;

use super::{Event, Outcome, Plant, Scope};

impl Plant {
    pub(super) fn apply_events(&mut self, events: &[Event], outcome: &mut Outcome) {
        let mut friction_changed = false;
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
                    friction_changed = true;
                    self.set_friction(scope, mu_static, mu_kinetic);
                }
                Event::Grant(grant) => self.grant(&grant),
                Event::Leave { session } => self.state.leases.leave(session),
                Event::Stop => self.stop(),
                Event::Arm => self.state.leases.arm(self.state.tick),
            }
        }
        if friction_changed {
            // the forces at this instant depend on the coefficients
            self.evaluate(self.time_ns());
        }
    }

    fn set_friction(&mut self, scope: Scope, mu_static: f64, mu_kinetic: f64) {
        if let Scope::Region(r) = scope
            && let Some(slot) = self.state.regions.get_mut(r as usize)
        {
            *slot = Some(Friction::new(mu_static, mu_kinetic));
        }
        let (surfaces, feet) = (self.contacts.surface_count(), &self.spec.feet);
        for (i, contact) in self.state.contacts.iter_mut().enumerate() {
            let station = i / surfaces;
            let meant = match scope {
                Scope::All => true,
                Scope::Station(s) => s as usize == station,
                Scope::Foot(f) => {
                    feet.get(f as usize).is_some_and(|f| f.stations.contains(&station))
                }
                Scope::Region(_) => false,
            };
            if meant {
                contact.friction = Friction::new(mu_static, mu_kinetic);
            }
        }
    }
}
