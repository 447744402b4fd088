//! Taking positions and velocities back to where the constraints hold.
//!
//! Newton's method with the shortest step in the generalized velocities, all weighted by one:
//! `−G⁺ error`, as Simbody does it.

use crate::model::{Coupling, Model};
use crate::spatial::{Force, Vec3};

use super::rows::{Row, Rows};
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

/// How a projection ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Projection {
    /// Steps tried; 0 if the error was within the tolerance from the start.
    pub iterations: u32,
    /// What is left: the root of the sum of squared errors, m or m/s, of couplings rad or rad/s.
    /// It bounds each of them.
    pub error: f64,
}

/// One Newton step.
#[derive(Clone, Debug)]
struct Newton {
    rows: Vec<Row>,
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
    pub(super) fn new(model: &Model, rows: &Rows) -> Self {
        Self {
            positions: Newton::new(model, rows.of_positions(), POSITION_TOLERANCE),
            velocities: Newton::new(model, rows.all.clone(), VELOCITY_TOLERANCE),
            forces_B: vec![Force::zero(); model.bodies.len()],
            step: Velocities::zero(model),
            start: Positions::zero(model),
            rest: Velocities::zero(model),
        }
    }
}

impl Newton {
    fn new(model: &Model, rows: Vec<Row>, tolerance: f64) -> Self {
        let m = rows.len();
        Self {
            rows,
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
        rows: &Rows,
        forces_B: &mut [Force],
        step: &mut Velocities,
    ) {
        let nv = model.nv();
        for (row, out) in self.rows.iter().zip(self.jacobian.chunks_exact_mut(nv.max(1))) {
            if rows.acts(*row) {
                rows.jacobian(model, data, *row, forces_B, out);
            } else {
                out.fill(0.0);
            }
        }
        let scale = rows.lever_scale();
        self.factors.factor_rows(&mut self.jacobian, nv, self.tolerance, scale);
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
            p.positions.step(model, data, &self.rows, &mut p.forces_B, &mut p.step);
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
            p.velocities.step(model, data, &self.rows, &mut p.forces_B, &mut p.step);
            advance_velocities(v, 1.0, &p.step);
            error = self.velocity_error(model, q, v, data);
            iterations += 1;
        }
        Projection { iterations, error }
    }

    fn position_error(&mut self, model: &Model, q: &Positions, data: &mut Data) -> f64 {
        let p = &mut self.projector;
        kinematics(model, q, &p.rest, data);
        let rows = &self.rows;
        for (error, row) in p.positions.errors.iter_mut().zip(&p.positions.rows) {
            *error = match *row {
                _ if !rows.acts(*row) => 0.0,
                Row::Point { point, .. } => rows.points[point].position_error(data),
                Row::Coupling(i) => rows.couplings[i].position_error(&q.joints),
            };
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
        let of_point = |point: &PointOnPlane| point.velocity_errors(data);
        let of_coupling = |coupling: &Coupling| coupling.excess(&v.joints);
        self.rows.read(of_point, of_coupling, &mut p.velocities.errors);
        p.velocities.error()
    }
}
