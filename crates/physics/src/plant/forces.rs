//! What acts on the bodies in a micro-step besides the joints: contacts, shapes, pushes.

use super::Plant;
use super::collision::Around;
use super::implicit::Step;
use super::step::add_pushes;

impl Plant {
    /// Forces of contacts, shapes and pushes on the bodies, for a step of `h` seconds: moments
    /// against rolling give way within it.
    pub(super) fn collect_forces(&mut self, h: f64) {
        let Self { spec, data, contacts, collisions, state, brakes, .. } = self;
        data.clear_forces();
        if *brakes {
            data.added.clear_bodies();
        }
        let step = Step { h, gravity_W: spec.gravity_W };
        contacts.apply(data, Some(&step));
        collisions.apply(data, &state.bodies, Some(&step));
        add_pushes(data, &state.pushes);
    }

    /// Commits what the last evaluation of contacts and shapes proposes.
    pub(super) fn commit(&mut self, now_ns: u64) {
        self.watch_contacts();
        self.contacts.commit(&mut self.state.contacts, now_ns);
        self.collisions.commit(&mut self.state.touches, now_ns);
    }

    /// Where shapes touch at `t_ns`, for kinematics and ground that are evaluated.
    pub(super) fn touch(&mut self, t_ns: u64, renew: bool) {
        let Self { data, contacts, collisions, state, .. } = self;
        let around = Around {
            data,
            bodies: &state.bodies,
            memory: &state.touches,
            ground: contacts,
            regions: &state.regions,
            now_ns: t_ns,
        };
        collisions.evaluate(&around, renew);
    }

    /// Changes the velocities of the free bodies by the forces that were collected last, and by
    /// gravity.
    pub(super) fn accelerate_bodies(&mut self, h: f64) {
        self.collisions.accelerate_bodies(&mut self.state.bodies, &self.spec.gravity_W, h);
    }

    /// Moves the free bodies under the forces that were collected last.
    pub(super) fn move_bodies(&mut self, h: f64) {
        self.accelerate_bodies(h);
        self.collisions.advance_bodies(&mut self.state.bodies, h);
    }

    /// The end of the tick that began at `start_ns`.
    pub(super) const fn time_after_ns(&self, start_ns: u64) -> u64 {
        start_ns.wrapping_add(self.spec.period_ns)
    }
}
