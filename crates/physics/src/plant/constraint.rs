//! Points of links that are held on planes, which can be switched on and off, and joints that
//! follow others.

use crate::dynamics::{Constraints, Data, PointOnPlane, articulated_inertias};
use crate::model::Model;
use crate::spatial::{Mat3, Transform, Vec3};

use super::contact_state::walk3;
use super::{Plant, PlantSpec, Word};

/// Errors of positions and velocities that are left after each micro-step, m and m/s.
const EXACT: f64 = 1e-12;

/// A point of a link that is held on a plane of the world or of another link: at its height, and at
/// rest in the plane unless it slides. The plane goes through the place where the point is when the
/// constraint begins to act.
#[derive(Clone, Debug, PartialEq)]
pub struct ConstraintSpec {
    /// Name, unique.
    pub name: String,
    /// The body that carries the point.
    pub body: usize,
    /// The point, in B, m.
    pub p_BF: Vec3,
    /// The body that carries the plane; `None` for the world.
    pub plane_body: Option<usize>,
    /// Axes of the plane in the frame of its body; z is the normal.
    pub R_SP: Mat3,
    /// The point moves in the plane as it likes.
    pub slides: bool,
    /// Whether it acts from the start.
    pub active: bool,
}

/// Whether a constraint acts, and where its plane is: part of the state.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ConstraintState {
    /// Whether it acts.
    pub active: bool,
    /// A point of the plane, in the frame of its body, m.
    pub p_SP: [f64; 3],
}

impl ConstraintState {
    #[inline(always)]
    pub(super) fn walk(&mut self, i: usize, visit: &mut impl FnMut(&'static str, usize, Word<'_>)) {
        let mut active = u64::from(self.active);
        visit("constraint.active", i, Word::U64(&mut active));
        self.active = active != 0;
        walk3("constraint.p_SP", i, &mut self.p_SP, visit);
    }
}

impl ConstraintSpec {
    fn point(&self) -> PointOnPlane {
        PointOnPlane {
            plane_body: self.plane_body,
            X_SP: Transform::new(self.R_SP, Vec3::zeros()),
            follower_body: self.body,
            p_BF: self.p_BF,
            slides: self.slides,
        }
    }

    /// Where the point is now, in the frame of the plane's body, m.
    fn place(&self, data: &Data) -> Vec3 {
        let p_W = data.point_W(self.body, &self.p_BF);
        self.plane_body.map_or(p_W, |s| data.X_WB[s].point_inverse(&p_W))
    }

    /// The state at the start.
    pub(super) fn initial_state(&self, data: &Data) -> ConstraintState {
        ConstraintState { active: self.active, p_SP: self.place(data).into() }
    }
}

/// The constraints of a plant, all off; none if one is refused, which the scenario has checked.
#[expect(clippy::expect_used, reason = "no constraints have nothing to refuse")]
pub(super) fn constraints(model: &Model, spec: &PlantSpec) -> Constraints {
    let points = spec.constraints.iter().map(ConstraintSpec::point).collect();
    let all = Constraints::new(model, points);
    all.or_else(|_| Constraints::new(model, Vec::new())).expect("no constraints are no mistake")
}

impl Plant {
    /// Lets a constraint act from now on, with its plane where the point is, or not any more. What
    /// moves against it stops. False if there is none with this index.
    pub fn set_constraint(&mut self, i: usize, active: bool) -> bool {
        let (Some(spec), Some(state)) =
            (self.spec.constraints.get(i), self.state.constraints.get_mut(i))
        else {
            return false;
        };
        if state.active != active {
            *state = ConstraintState { active, p_SP: spec.place(&self.data).into() };
            self.forget_momentum();
            self.take_constraints();
            if active {
                articulated_inertias(&self.model, &mut self.data);
                self.constraints.strike(&self.model, &self.data, &mut self.state.v);
            }
            self.settle();
        }
        true
    }

    /// Which constraints act, from the state.
    pub(super) fn take_constraints(&mut self) {
        for (i, state) in self.state.constraints.iter().enumerate() {
            self.constraints.set(i, state.active, state.p_SP.into());
        }
    }

    /// Adds the forces of the constraints to the accelerations that forward dynamics have left.
    pub(super) fn constrain(&mut self) {
        if !self.constraints.is_idle() {
            let Self { model, data, spec, constraints, vdot, .. } = self;
            constraints.constrain(model, data, &spec.gravity_W, vdot);
        }
    }

    /// Takes back what the micro-step has missed of the constraints.
    pub(super) fn project(&mut self) {
        if !self.constraints.is_idle() {
            let Self { model, data, state, constraints, .. } = self;
            constraints.project_positions(model, &mut state.q, data, EXACT);
            constraints.project_velocities(model, &state.q, &mut state.v, data, EXACT);
        }
    }

    /// The constraints, with the forces of the last micro-step.
    #[must_use]
    pub const fn constraints(&self) -> &Constraints {
        &self.constraints
    }
}
