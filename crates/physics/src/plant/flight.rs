//! Momentum of a robot that nothing touches.
//!
//! Steps of finite length change it a little where joints move. So now and then in a flight the
//! whole robot gets the velocity and the angular velocity, about its centre of mass, that bring
//! momentum and angular momentum back to where gravity alone would have taken them.

use crate::contact::TINY;
use crate::dynamics::{Data, kinematics};
use crate::model::{Base, Model};
use crate::spatial::{Mat3, Vec3};

use super::contact_state::walk3;
use super::{Integrator, Plant, Word};

/// Micro-steps between two corrections, and ticks at most: each one costs as much as five
/// micro-steps of a quadruped.
const WINDOW_STEPS: u64 = 120;
const WINDOW_TICKS: u64 = 48;
/// Normal forces below this touch nothing, N: the exponential springs never quite end.
pub(super) const TOUCHES_N: f64 = 1e-9;
/// Share of the momentum that may be wrong between two corrections.
const ERROR_MAX: f64 = 5e-7;
const NEVER: u64 = u64::MAX;

/// The momentum that a flight keeps: part of the state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flight {
    /// Tick of the last correction; `None` while something touches the robot.
    since_tick: Option<u64>,
    /// Tick of the next one.
    due_tick: u64,
    /// Momentum at that tick in W, N·s.
    momentum_W: [f64; 3],
    /// Angular momentum about the centre of mass in W, N·m·s.
    spin_W: [f64; 3],
}

impl Flight {
    pub(super) const NONE: Self =
        Self { since_tick: None, due_tick: 0, momentum_W: [0.0; 3], spin_W: [0.0; 3] };

    #[inline(always)]
    pub(super) fn walk(&mut self, visit: &mut impl FnMut(&'static str, usize, Word<'_>)) {
        let mut since = self.since_tick.unwrap_or(NEVER);
        visit("flight.since_tick", 0, Word::U64(&mut since));
        self.since_tick = (since != NEVER).then_some(since);
        visit("flight.due_tick", 0, Word::U64(&mut self.due_tick));
        walk3("flight.momentum_W", 0, &mut self.momentum_W, visit);
        walk3("flight.spin_W", 0, &mut self.spin_W, visit);
    }
}

/// Momenta of a whole robot in W.
#[derive(Clone, Copy, Debug)]
struct Momenta {
    mass: f64,
    /// Centre of mass, m.
    c_W: Vec3,
    momentum_W: Vec3,
    /// About the centre of mass.
    spin_W: Vec3,
    /// Inertia of the robot with its joints locked, about the centre of mass.
    inertia_W: Mat3,
}

fn momenta(model: &Model, data: &Data) -> Momenta {
    let (mut mass, mut first, mut momentum_W) = (0.0, Vec3::zeros(), Vec3::zeros());
    let (mut about_origin, mut inertia) = (Vec3::zeros(), Mat3::zeros());
    // about the base's origin, so that a robot far away loses no digits
    let o_W = data.X_WB[0].p;
    for (i, body) in model.bodies.iter().enumerate() {
        let (X, V, I) = (&data.X_WB[i], &data.V[i], &body.inertia);
        let h = I.mul(V);
        let (p_W, r_W) = (X.R * h.lin, X.p - o_W);
        let h_W = X.R * I.h;
        mass += I.mass;
        first += h_W + r_W * I.mass;
        momentum_W += p_W;
        about_origin += X.R * h.ang + r_W.cross(&p_W);
        // parallel axes: I + 2 (h·r) − (h rᵀ + r hᵀ) + m (r·r − r rᵀ)
        let moved = h_W.outer(&r_W);
        let square = Mat3::from_diagonal_element(2.0 * h_W.dot(&r_W) + I.mass * r_W.dot(&r_W));
        inertia += X.R * I.I * X.R.transpose();
        inertia += square - (moved + moved.transpose() + r_W.outer(&r_W) * I.mass);
    }
    let c = first / mass;
    let steiner = Mat3::from_diagonal_element(c.dot(&c)) - c.outer(&c);
    Momenta {
        mass,
        c_W: o_W + c,
        momentum_W,
        spin_W: about_origin - c.cross(&momentum_W),
        inertia_W: inertia - steiner * mass,
    }
}

impl Plant {
    /// At the end of a tick: begins or ends the watch over the momentum, or corrects it.
    pub(super) fn keep_momentum(&mut self) {
        if !self.flies() {
            self.state.flight = Flight::NONE;
            return;
        }
        let tick = self.state.tick;
        match self.state.flight.since_tick {
            Some(_) if tick < self.state.flight.due_tick => {}
            Some(since) => {
                let now = momenta(&self.model, &self.data);
                self.correct(&now, tick.wrapping_sub(since));
            }
            None => {
                let now = momenta(&self.model, &self.data);
                self.state.flight = Flight {
                    since_tick: Some(tick),
                    due_tick: tick + 1,
                    momentum_W: now.momentum_W.into(),
                    spin_W: now.spin_W.into(),
                };
            }
        }
    }

    fn window_ticks(&self) -> u64 {
        (WINDOW_STEPS / u64::from(self.spec.micro_steps.max(1))).clamp(1, WINDOW_TICKS)
    }

    /// True if nothing but gravity acts on the robot as a whole.
    fn flies(&self) -> bool {
        self.model.base == Base::Floating
            && self.spec.integrator != Integrator::Rk4
            && !self.constraints.any_active()
            && self.state.pushes.iter().all(|p| p.ticks_left == 0)
            && !self.touches()
    }

    fn touches(&self) -> bool {
        !self.collisions.points().is_empty()
            || self.contacts.forces().any(|f| f.normal_n >= TOUCHES_N)
    }

    /// Ends the watch if something touches the robot where contacts were evaluated last: a contact
    /// may begin and end within a tick.
    #[inline(always)]
    pub(super) fn watch_contacts(&mut self) {
        if self.state.flight.since_tick.is_some() && self.touches() {
            self.state.flight = Flight::NONE;
        }
    }

    /// The same for contacts that the lanes have evaluated within a tick.
    #[inline(always)]
    pub(super) fn watch_lanes(&mut self) {
        if self.state.flight.since_tick.is_some() && self.lanes.touched() {
            self.state.flight = Flight::NONE;
        }
    }

    fn correct(&mut self, now: &Momenta, ticks: u64) {
        let window_ticks = self.window_ticks();
        let flight = &mut self.state.flight;
        let passed_s = ticks.wrapping_mul(self.spec.period_ns) as f64 / 1e9;
        let momentum_W =
            Vec3::from(flight.momentum_W) + self.spec.gravity_W * (now.mass * passed_s);
        let Some(per_inertia) = now.inertia_W.inverse() else { return };
        let (spin, push) = (Vec3::from(flight.spin_W) - now.spin_W, momentum_W - now.momentum_W);
        // as many ticks as may pass until the error is noticeable again
        let lasts = |change: Vec3, of: Vec3| {
            let allowed = ERROR_MAX * (of.norm() + ERROR_MAX * now.mass);
            (allowed * ticks as f64 / (change.norm() + TINY)) as u64
        };
        let lasts = lasts(spin, now.spin_W).min(lasts(push, now.momentum_W));
        flight.due_tick = self.state.tick + lasts.clamp(1, window_ticks);
        let (dw_W, dv_W) = (per_inertia * spin, push / now.mass);
        (flight.since_tick, flight.momentum_W) = (Some(self.state.tick), momentum_W.into());
        let v = &mut self.state.v;
        v.v_WB += dv_W + dw_W.cross(&(self.state.q.p_WB - now.c_W));
        v.w_WB += dw_W;
        // poses are as they were, and no shape is near another
        let t_ns = self.time_ns();
        let Self { model, data, state, contacts, lanes, .. } = self;
        kinematics(model, &state.q, &state.v, data);
        contacts.evaluate(data, &state.contacts, &state.regions, t_ns, true);
        lanes.load(state, data);
    }

    /// Forgets the momentum: something that is no force has changed it.
    pub fn forget_momentum(&mut self) {
        self.state.flight = Flight::NONE;
    }
}
