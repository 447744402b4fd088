//! What the points do: to links, and to free bodies.

use super::super::ContactModel;
use super::super::implicit::{Step, Touching};
use super::point::CollisionPoint;
use super::set::CollisionSet;
use super::{BodyState, Carrier};
use crate::contact::ContactSlopes;
use crate::dynamics::Data;
use crate::spatial::{Force, Vec3};

impl CollisionSet {
    /// Adds the forces of all points to `data.f_ext` and to those on the free bodies.
    /// Moments of links against rolling on the ground are taken at the end of `step`, if it is
    /// given.
    pub(in super::super) fn apply(
        &mut self,
        data: &mut Data,
        bodies: &[BodyState],
        step: Option<&Step<f64>>,
    ) {
        self.forces.fill(Force::zero());
        for i in 0..self.points.len() {
            self.apply_point(i, data, bodies, step);
        }
    }

    fn apply_point(
        &mut self,
        i: usize,
        data: &mut Data,
        bodies: &[BodyState],
        step: Option<&Step<f64>>,
    ) {
        let at = &self.points[i];
        if at.is_rigid {
            return; // its force acts as an impulse
        }
        let f_W = at.force_W();
        let has_moment = at.moment_C != Vec3::zeros();
        let m_W = if has_moment { at.moment_W() } else { Vec3::zeros() };
        for (carrier, (f_W, m_W)) in at.carriers.iter().zip([(f_W, m_W), (-f_W, -m_W)]) {
            match *carrier {
                Carrier::Surface(_) => {}
                Carrier::Link(b) => {
                    let p_B = data.X_WB[b].point_inverse(&at.point_W);
                    data.apply_force(b, &f_W, &p_B);
                    match step {
                        Some(step) if at.brakes_on_ground() => step.brake(b, &at.brake(), data),
                        _ if has_moment => data.apply_moment(b, &m_W),
                        _ => {}
                    }
                }
                Carrier::Body(k) => {
                    let arm_W = at.point_W - bodies[k].p_WB;
                    self.forces[k] += Force::new(arm_W.cross(&f_W), f_W);
                    if has_moment {
                        self.forces[k].ang += m_W;
                    }
                }
            }
        }
    }

    /// As [`apply`](Self::apply) for a linearly implicit step: contacts of links with the ground
    /// give way within the step, others act as they are at its start.
    pub(in super::super) fn apply_implicit(
        &mut self,
        data: &mut Data,
        bodies: &[BodyState],
        step: &Step<f64>,
    ) {
        self.forces.fill(Force::zero());
        for i in 0..self.points.len() {
            let at = &self.points[i];
            let [Carrier::Link(b), Carrier::Surface(_)] = at.carriers else {
                self.apply_point(i, data, bodies, None);
                continue;
            };
            let (X_WB, V) = (data.X_WB[b], data.V[b]);
            let touching = Touching {
                f_C: at.force.force_P() * at.weight,
                v_C: at.v_C,
                R_WC: at.R_WC,
                point_B: X_WB.point_inverse(&at.point_W),
            };
            let slopes = self.step_slopes(at, step.h).scaled(at.weight);
            let (force, inertia) = step.contact(&touching, &slopes, &X_WB, &V);
            data.f_ext[b] += Force::from(force);
            data.added.bodies[b] += inertia;
            if at.moment_C != Vec3::zeros() {
                step.brake(b, &at.brake(), data);
            }
        }
    }

    /// Slopes of a point for a linearly implicit step of `h_s`.
    fn step_slopes(&self, at: &CollisionPoint, h_s: f64) -> ContactSlopes {
        let (ContactModel::HuntCrossley(laws), Carrier::Surface(surface)) =
            (self.law(at).1, at.carriers[1])
        else {
            return at.slopes;
        };
        let shapes = at.shapes();
        if self.brick(shapes[0], at.carriers[1]).is_some() {
            return at.slopes;
        }
        let radius_m = self.radius_m((shapes[0], None));
        laws.get(surface)
            .map_or(at.slopes, |law| law.step_slopes(&at.slopes, &at.force, radius_m, h_s))
    }

    /// True if a micro-step of `h_s` is too long for a spring that strikes something.
    pub(in super::super) fn needs_substep(&self, h_s: f64) -> bool {
        self.points.iter().any(|at| match &self.law(at).1 {
            ContactModel::ExponentialSpring(spring) => spring.needs_substep(&at.force, h_s),
            ContactModel::HuntCrossley(_) | ContactModel::Rigid => false,
        })
    }

    /// Changes the velocities of the free bodies by the forces that were applied last, in `h` s.
    pub(in super::super) fn accelerate_bodies(
        &self,
        bodies: &mut [BodyState],
        gravity_W: &Vec3,
        h: f64,
    ) {
        for ((body, state), force) in self.spec.bodies.iter().zip(bodies).zip(&self.forces) {
            body.accelerate(state, force, gravity_W, h);
        }
    }

    /// Moves the free bodies for `h` seconds with their velocities.
    pub(in super::super) fn advance_bodies(&self, bodies: &mut [BodyState], h: f64) {
        for (body, state) in self.spec.bodies.iter().zip(bodies) {
            body.advance(state, h);
        }
    }
}
