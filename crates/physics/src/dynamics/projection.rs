//! Taking positions and velocities back to where the constraints hold.
//!
//! Newton's method with the shortest step in the generalized velocities, all weighted by one:
//! `−G⁺ error`, as Simbody does it.

use crate::model::{Base, Model};
use crate::spatial::{Force, Vec3};

use super::{
    Constraints, Data, LeastSquares, PointOnPlane, Positions, Velocities, advance_positions,
    advance_velocities, kinematics,
};

const POSITION_ROUNDS_MAX: u32 = 20;
const VELOCITY_ROUNDS_MAX: u32 = 7;
/// Rows that add less than `m √ε` of the longest of `m` count as sums of the others, as in Simbody:
/// positions are not linear, and a step along what hardly changes them would be long.
const POSITION_TOLERANCE: f64 = 1.0 / (1_u64 << 26) as f64;
/// Velocity errors are `G v`, so that no step is longer than `v`, however nearly singular `G` is:
/// only what rounding makes of redundant rows (`ε` times a few) counts as zero.
const VELOCITY_TOLERANCE: f64 = 1.0 / (1_u64 << 44) as f64;
const NORMAL: &[usize] = &[2];
const ALL_AXES: &[usize] = &[0, 1, 2];

/// How a projection ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Projection {
    /// Steps tried; 0 if the error was within the tolerance from the start.
    pub iterations: u32,
    /// What is left: the root of the sum of squared errors, m or m/s. It bounds each of them.
    pub error: f64,
}

/// One Newton step: rows for some axes of each constraint.
#[derive(Clone, Debug)]
struct Newton {
    axes: &'static [usize],
    tolerance: f64,
    /// `G`: a row per equation, a column per generalized velocity, row-major; then a basis of it.
    jacobian: Vec<f64>,
    factors: LeastSquares,
    errors: Vec<f64>,
}

/// The workspace of both projections.
#[derive(Clone, Debug)]
pub(super) struct Projector {
    positions: Newton,
    velocities: Newton,
    forces_B: Vec<Force>,
    step: Velocities,
    start: Positions,
    rest: Velocities,
}

impl Projector {
    pub(super) fn new(model: &Model, points: usize) -> Self {
        Self {
            positions: Newton::new(model, points, NORMAL, POSITION_TOLERANCE),
            velocities: Newton::new(model, points, ALL_AXES, VELOCITY_TOLERANCE),
            forces_B: vec![Force::zero(); model.bodies.len()],
            step: Velocities::zero(model),
            start: Positions::zero(model),
            rest: Velocities::zero(model),
        }
    }
}

impl Newton {
    fn new(model: &Model, points: usize, axes: &'static [usize], tolerance: f64) -> Self {
        let m = points * axes.len();
        Self {
            axes,
            tolerance: m as f64 * tolerance,
            jacobian: vec![0.0; m * model.nv()],
            factors: LeastSquares::new(m),
            errors: vec![0.0; m],
        }
    }

    fn error(&self) -> f64 {
        self.errors.iter().map(|e| e * e).sum::<f64>().sqrt()
    }

    /// The step that the linearised errors ask for.
    fn step(
        &mut self,
        model: &Model,
        data: &Data,
        (points, active): (&[PointOnPlane], &[bool]),
        forces_B: &mut [Force],
        step: &mut Velocities,
    ) {
        let nv = model.nv();
        for (r, row) in self.jacobian.chunks_exact_mut(nv.max(1)).enumerate() {
            let c = r / self.axes.len();
            let (point, axis) = (&points[c], self.axes[r % self.axes.len()]);
            if !active[c] {
                row.fill(0.0);
                continue;
            }
            forces_B.fill(Force::zero());
            point.add_force(data, &Vec3::ith(axis, 1.0), forces_B);
            generalized_force(model, data, forces_B, row);
        }
        self.factors.factor_rows(&mut self.jacobian, nv, self.tolerance);
        let (basis, y) = (&self.jacobian, self.factors.solve_half(&self.errors));
        let x = |k: usize| -y.iter().enumerate().map(|(r, y)| basis[r * nv + k] * y).sum::<f64>();
        let first = nv - model.joint_count();
        if first > 0 {
            step.w_WB = Vec3::new(x(0), x(1), x(2));
            step.v_WB = Vec3::new(x(3), x(4), x(5));
        }
        for (j, joint) in step.joints.iter_mut().enumerate() {
            *joint = x(first + j);
        }
    }
}

/// `Jᵀ f` of the forces on all bodies, in the order of the mass matrix. Uses up `forces_B`.
fn generalized_force(model: &Model, data: &Data, forces_B: &mut [Force], out: &mut [f64]) {
    let first = model.nv() - model.joint_count();
    for i in (1..model.bodies.len()).rev() {
        let f = forces_B[i];
        out[first + i - 1] = data.S[i].dot(&f);
        forces_B[model.bodies[i].parent] += data.X_PB[i].force_to_parent(&f);
    }
    if model.base == Base::Floating {
        let R_WB = &data.X_WB[0].R;
        out[..3].copy_from_slice(&(R_WB * forces_B[0].ang).to_array());
        out[3..6].copy_from_slice(&(R_WB * forces_B[0].lin).to_array());
    }
}

impl Constraints {
    /// Moves `q` until the position errors are within `tolerance` (m, see [`Projection`]), in at
    /// most 20 steps; a step that does not help is halved, so that the error never grows. The
    /// base's orientation follows the exponential map. Leaves in `data` the kinematics of `q` at
    /// rest.
    pub fn project_positions(
        &mut self,
        model: &Model,
        q: &mut Positions,
        data: &mut Data,
        tolerance: f64,
    ) -> Projection {
        let mut error = self.position_error(model, q, data);
        let mut iterations = 0;
        while error > tolerance && iterations < POSITION_ROUNDS_MAX {
            let p = &mut self.projector;
            let all = (&self.points[..], &self.active[..]);
            p.positions.step(model, data, all, &mut p.forces_B, &mut p.step);
            p.start.copy_from(q);
            let (before, mut length) = (error, 1.0);
            while error >= before && iterations < POSITION_ROUNDS_MAX {
                q.copy_from(&self.projector.start);
                advance_positions(q, length, &self.projector.step);
                error = self.position_error(model, q, data);
                length *= 0.5;
                iterations += 1;
            }
            if error >= before {
                q.copy_from(&self.projector.start);
                error = self.position_error(model, q, data);
            }
        }
        Projection { iterations, error }
    }

    /// Changes `v` until the velocity errors are within `tolerance` (m/s, see [`Projection`]), in
    /// at most 7 steps. Leaves in `data` the kinematics of `q` and `v`.
    pub fn project_velocities(
        &mut self,
        model: &Model,
        q: &Positions,
        v: &mut Velocities,
        data: &mut Data,
        tolerance: f64,
    ) -> Projection {
        let mut error = self.velocity_error(model, q, v, data);
        let mut iterations = 0;
        while error > tolerance && iterations < VELOCITY_ROUNDS_MAX {
            let p = &mut self.projector;
            let all = (&self.points[..], &self.active[..]);
            p.velocities.step(model, data, all, &mut p.forces_B, &mut p.step);
            advance_velocities(v, 1.0, &p.step);
            error = self.velocity_error(model, q, v, data);
            iterations += 1;
        }
        Projection { iterations, error }
    }

    fn position_error(&mut self, model: &Model, q: &Positions, data: &mut Data) -> f64 {
        let p = &mut self.projector;
        kinematics(model, q, &p.rest, data);
        for ((error, point), active) in
            p.positions.errors.iter_mut().zip(&self.points).zip(&self.active)
        {
            *error = if *active { point.position_error(data) } else { 0.0 };
        }
        p.positions.error()
    }

    fn velocity_error(
        &mut self,
        model: &Model,
        q: &Positions,
        v: &Velocities,
        data: &mut Data,
    ) -> f64 {
        kinematics(model, q, v, data);
        let p = &mut self.projector;
        for ((errors, point), active) in
            p.velocities.errors.chunks_exact_mut(3).zip(&self.points).zip(&self.active)
        {
            let error = if *active { point.velocity_errors(data) } else { Vec3::zeros() };
            errors.copy_from_slice(&error.to_array());
        }
        p.velocities.error()
    }
}
