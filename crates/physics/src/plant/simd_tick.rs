//! A tick's micro-steps with limbs side by side.

use super::rigid::{Jumps, Sets};
use super::simd::SimdStep;
use super::{ComputePath, Integrator, Plant};

impl Plant {
    /// Chooses how this plant computes: for tests and benchmarks, since no bit depends on it.
    pub fn set_path(&mut self, path: ComputePath) {
        let springs = self.contacts.plane_springs(&self.state.contacts);
        let springs = springs.filter(|_| self.simd_contacts);
        let portable = path == ComputePath::Portable;
        self.path = path;
        let ideal = self.drives.is_ideal();
        self.lanes = SimdStep::new(
            &self.model,
            &self.spec,
            if ideal { &self.motors } else { &self.drives.unlimited },
            &self.passive,
            &springs.unwrap_or_default(),
            portable,
        );
        self.rigid.set_portable(path != ComputePath::Fastest);
        self.lanes.load(&self.state, &self.data);
    }

    /// Runge–Kutta steps take one body after another, and so do explicit ones with moments against
    /// rolling, which add to the inertias.
    pub(super) fn in_lanes(&self) -> bool {
        self.path != ComputePath::OneByOne
            && self.constraints.is_idle()
            && (self.is_implicit() || !self.brakes)
            && (self.spec.integrator != Integrator::Rk4 || !self.rigid.is_idle())
    }

    /// All micro-steps of the tick that starts at `start_ns`. On entry kinematics and contacts are
    /// evaluated for the current state, and so they are on exit.
    /// Returns whether what is near has been found anew.
    pub(super) fn simd_micro_steps(&mut self, start_ns: u64) -> bool {
        let pushed = self.state.pushes.iter().any(|p| p.ticks_left > 0);
        let all = self.spec.micro_steps;
        // forces that the lanes do not know are renewed after each micro-step, and so are efforts
        let ideal = self.drives.is_ideal();
        let halves_bodies = self.is_implicit() && !self.state.bodies.is_empty();
        let all_known = self.simd_contacts && self.collisions.is_idle() && self.rigid.is_idle();
        let known = all_known && !pushed && !halves_bodies && ideal;
        let at_once = if known { all } else { 1 };
        for i in (0..all).step_by(at_once.max(1) as usize) {
            if !ideal {
                self.run_drives(start_ns.wrapping_add(u64::from(i) * self.spec.micro_step_ns()));
                self.lanes.load_references(&self.references);
            }
            match (self.is_implicit(), known) {
                (false, _) => self.some_micro_steps(start_ns, i, at_once, known),
                (true, true) => self.all_implicit_steps(start_ns),
                (true, false) => self.simd_implicit_step(start_ns, i),
            }
        }
        !known
    }

    /// `known` is true if the lanes know all forces.
    fn some_micro_steps(&mut self, start_ns: u64, first: u32, count: u32, known: bool) {
        let time_ns = |i: u32| start_ns.wrapping_add(u64::from(i) * self.spec.micro_step_ns());
        let (begin_ns, last_ns, end_ns) =
            (time_ns(first), time_ns(first + count - 1), time_ns(first + count));
        let h = self.spec.micro_step_ns() as f64 / 1e9;
        self.collect_forces(h);
        self.commit(begin_ns);
        let Self {
            lanes,
            model,
            data,
            state,
            contacts,
            collisions,
            constraints,
            rigid,
            references,
            ..
        } = self;
        lanes.load_forces(data);
        if first == 0 {
            lanes.load_tick(state, references);
        }
        if rigid.is_idle() {
            lanes.advance(count, state);
            for _ in 0..count {
                collisions.accelerate_bodies(&mut state.bodies, &self.spec.gravity_W, h);
                collisions.advance_bodies(&mut state.bodies, h);
            }
        } else {
            lanes.accelerate(state, data);
            let h_ns = self.spec.micro_step_ns();
            contacts.look_again(data, h);
            let sets = Sets { ground: contacts, collisions };
            collisions.accelerate_bodies(&mut state.bodies, &self.spec.gravity_W, h);
            let found = rigid.solve(model, data, sets, constraints, state, (begin_ns, h_ns));
            rigid.move_bodies(collisions, &mut state.bodies, h);
            lanes.jump(if found { rigid.jumps() } else { Jumps::default() }, state);
        }
        lanes.store(state, data);
        if count > 1 {
            lanes.store_contacts(state, last_ns);
            self.watch_lanes();
        }
        if known {
            self.lanes.show(self.contacts.evaluated_mut(), h);
        } else {
            self.evaluate_contacts_after(end_ns);
        }
    }

    /// All implicit micro-steps of a tick.
    fn all_implicit_steps(&mut self, start_ns: u64) {
        let count = self.spec.micro_steps;
        let (halves, step_ns) = (self.needs_substep(), self.spec.micro_step_ns());
        let half_ns = self.spec.part_ns(0, 2);
        self.collect_implicit(if halves { half_ns } else { step_ns } as f64 / 1e9);
        self.commit(start_ns);
        let Self { lanes, data, state, contacts, references, .. } = self;
        lanes.load_implicit(data);
        lanes.load_tick(state, references);
        let halved = lanes.advance_implicit(count, halves, state);
        lanes.store(state, data);
        let since_last_ns = if halved { step_ns - half_ns } else { step_ns };
        if count > 1 || halved {
            let end_ns = start_ns.wrapping_add(u64::from(count) * step_ns);
            lanes.store_contacts(state, end_ns.wrapping_sub(since_last_ns));
        }
        lanes.show(contacts.evaluated_mut(), since_last_ns as f64 / 1e9);
        self.watch_lanes();
    }

    /// The implicit micro-step `i` of a tick, in one or more parts, between forces that the lanes
    /// do not know.
    fn simd_implicit_step(&mut self, start_ns: u64, i: u32) {
        let step_ns = self.spec.micro_step_ns();
        let mut t_ns = start_ns.wrapping_add(u64::from(i) * step_ns);
        if i == 0 {
            self.lanes.load_tick(&self.state, &self.references);
        }
        let count = self.part_count();
        for part in 0..count {
            let part_ns = self.spec.part_ns(part, count);
            let h = part_ns as f64 / 1e9;
            self.collect_implicit(h);
            self.commit(t_ns);
            let Self { lanes, data, state, .. } = self;
            lanes.load_implicit(data);
            lanes.implicit_step(h, state);
            lanes.store(state, data);
            t_ns = t_ns.wrapping_add(part_ns);
            self.move_bodies(h);
            self.evaluate_contacts_after(t_ns);
        }
    }
}
