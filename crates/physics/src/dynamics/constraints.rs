//! Forward dynamics under bilateral constraints.
//!
//! `H v̇ + Gᵀ λ = f` with accelerations that make the acceleration errors zero: `(G H⁻¹ Gᵀ) λ` is
//! the error without constraint forces. There is no stabilisation term; what integration lets drift
//! is taken back by [`Constraints::project_positions`] and [`Constraints::project_velocities`].

use crate::model::{Coupling, Model};
use crate::spatial::{Force, Mat3, Motion, Vec3};
use hardstand_error::{Error, ErrorKind, Result};

use super::projection::Projector;
use super::rows::{Row, Rows};
use super::{
    Accelerations, Data, ImpulseWorkspace, LeastSquares, PointAxes, PointOnPlane, Velocities, aba,
    advance_velocities, impulse_response,
};

/// `ε^(3/4)` for `ε = 2⁻⁵²`. With `m` equations, pivots below `m ε^(3/4)` of the largest count as
/// zero: Simbody's tolerance for multipliers.
const RANK_TOLERANCE: f64 = 1.0 / (1_u64 << 39) as f64;

/// Share of a point's own response that is left to it where constraints hold it: what rounding
/// leaves of nothing cannot be divided by.
const GIVES_WAY: f64 = 1e-7;

/// A set of [`PointOnPlane`] constraints on one model, and the couplings of its joints, with
/// everything that their computations need.
///
/// What joints hold already (the origin of a calf on a plane of its thigh) is no equation, and
/// redundant sets get the multipliers of least norm (three points of one rigid body: nine
/// equations, rank six); sets that contradict one another, the least-squares solution.
///
/// ```
/// use hardstand_physics::dynamics::{
///     Constraints, Data, PointOnPlane, Positions, Velocities, kinematics,
/// };
/// use hardstand_physics::model::{Base, BodySpec, Builder};
/// use hardstand_physics::spatial::{Mat3, SpatialInertia, Transform, Vec3};
///
/// let mut one = Builder::new("brick", Base::Floating);
/// let inertia = SpatialInertia::from_com(2.0, &Vec3::zeros(), &Mat3::identity());
/// one.bodies.push(BodySpec { name: "brick".into(), inertia });
/// let model = one.build()?;
/// let centre = PointOnPlane {
///     plane_body: None,
///     X_SP: Transform::identity(),
///     follower_body: 0,
///     p_BF: Vec3::zeros(),
///     slides: false,
/// };
/// let mut held = Constraints::new(&model, vec![centre])?;
///
/// let (q, v) = (Positions::zero(&model), Velocities::zero(&model));
/// let (mut data, mut vdot) = (Data::new(&model), Velocities::zero(&model));
/// kinematics(&model, &q, &v, &mut data);
/// held.accelerate(&model, &mut data, &[], &Vec3::new(0.0, 0.0, -10.0), &mut vdot);
/// assert!(vdot.v_WB.norm() < 1e-14 && (held.force_on_follower_P(0).z - 20.0).abs() < 1e-13);
/// # Ok::<(), hardstand_error::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Constraints {
    pub(super) rows: Rows,
    /// In P, N; per point.
    multipliers: Vec<Vec3>,
    /// Effort on each follower, N·m or N.
    efforts: Vec<f64>,
    rank: usize,
    system: LeastSquares,
    /// Acceleration errors without constraint forces, and what takes them away; per row.
    errors: Vec<f64>,
    solution: Vec<f64>,
    /// A column of the system.
    column: Vec<f64>,
    /// What a unit force along each row does to the bodies, row after row.
    responses: Vec<Motion>,
    forces_B: Vec<Force>,
    response: ImpulseWorkspace,
    change: Velocities,
    pub(super) projector: Projector,
}

impl Constraints {
    /// The set `points` on `model`, and the model's couplings.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] if a body does not exist, the plane is on the follower's own body, the
    /// point or the plane's pose is not finite, or its rotation is none.
    pub fn new(model: &Model, points: Vec<PointOnPlane>) -> Result<Self> {
        for (i, point) in points.iter().enumerate() {
            check(model, point).map_err(|e| e.within(format!("constraint {i}")))?;
        }
        let rows = Rows::new(model, points, model.couplings.clone());
        let m = rows.all.len();
        Ok(Self {
            multipliers: vec![Vec3::zeros(); rows.points.len()],
            efforts: vec![0.0; rows.couplings.len()],
            rank: 0,
            system: LeastSquares::new(m),
            errors: vec![0.0; m],
            solution: vec![0.0; m],
            column: vec![0.0; m],
            responses: vec![Motion::zero(); m * model.bodies.len()],
            forces_B: vec![Force::zero(); model.bodies.len()],
            response: ImpulseWorkspace::new(model),
            change: Velocities::zero(model),
            projector: Projector::new(model, &rows),
            rows,
        })
    }

    /// The points, in the order they were given.
    #[must_use]
    pub fn points(&self) -> &[PointOnPlane] {
        &self.rows.points
    }

    /// The couplings of the model.
    #[must_use]
    pub fn couplings(&self) -> &[Coupling] {
        &self.rows.couplings
    }

    /// Whether point `i` is held.
    #[must_use]
    pub fn is_active(&self, i: usize) -> bool {
        self.rows.active.get(i).copied().unwrap_or(false)
    }

    /// Lets constraint `i` act, or not, with its plane through the point `p_SP` of its body S, m.
    pub fn set(&mut self, i: usize, active: bool, p_SP: Vec3) {
        let rows = &mut self.rows;
        if let (Some(is), Some(point)) = (rows.active.get_mut(i), rows.points.get_mut(i)) {
            *is = active;
            point.X_SP.p = p_SP;
        }
    }

    /// Whether any point is held.
    #[must_use]
    pub fn any_active(&self) -> bool {
        self.rows.active.contains(&true)
    }

    /// True if nothing acts: no point is held, and no joint follows another.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.rows.couplings.is_empty() && !self.any_active()
    }

    /// Number of equations, of those that act and those that do not.
    #[must_use]
    pub fn row_count(&self) -> usize {
        self.rows.all.len()
    }

    /// Constrained forward dynamics: [`aba`](super::aba()) and then the constraint forces. Same
    /// arguments and needs; leaves the constrained `vdot` and `data.A`. `data.f_ext` stays without
    /// constraint forces.
    pub fn accelerate(
        &mut self,
        model: &Model,
        data: &mut Data,
        tau: &[f64],
        gravity_W: &Vec3,
        vdot: &mut Accelerations,
    ) {
        aba(model, data, tau, gravity_W, vdot);
        self.constrain(model, data, gravity_W, vdot);
    }

    /// The second half of [`accelerate`](Self::accelerate): adds what the constraint forces do to
    /// the accelerations `vdot` and `data.A` without them, which any forward dynamics may have left
    /// together with its factors.
    pub fn constrain(
        &mut self,
        model: &Model,
        data: &mut Data,
        gravity_W: &Vec3,
        vdot: &mut Accelerations,
    ) {
        let of_point = |point: &PointOnPlane| point.acceleration_errors(data, gravity_W);
        self.rows.read(of_point, |coupling| coupling.excess(&vdot.joints), &mut self.errors);
        self.solve(model, data);
        advance_velocities(vdot, 1.0, &self.change);
        for (A, change) in data.A.iter_mut().zip(&self.response.dV) {
            *A += *change;
        }
    }

    /// Stops what moves against the constraints, by impulses: for one that begins to act. Needs the
    /// kinematics of `v` and the factors of [`articulated_inertias`](super::articulated_inertias())
    /// in `data`; leaves the kinematics as they were.
    pub fn strike(&mut self, model: &Model, data: &Data, v: &mut Velocities) {
        let of_point = |point: &PointOnPlane| point.velocity_errors(data);
        self.rows.read(of_point, |coupling| coupling.excess(&v.joints), &mut self.errors);
        self.solve(model, data);
        advance_velocities(v, 1.0, &self.change);
    }

    /// What the constraints do in answer to impulses that let the velocities jump by `dv`, and
    /// those of the bodies by `dV`: the jump that they add. With the length of a step, `h_s`, it
    /// also adds to their forces. Needs `data` and the factors of the last
    /// [`constrain`](Self::constrain).
    pub fn answer(
        &mut self,
        model: &Model,
        data: &Data,
        (dV, dv): (&[Motion], &Velocities),
        h_s: Option<f64>,
    ) -> &Velocities {
        let of_point = |point: &PointOnPlane| point.velocity_in_plane(data, dV);
        self.rows.read(of_point, |coupling| coupling.excess(&dv.joints), &mut self.errors);
        self.system.solve(&self.errors, &mut self.solution);
        if let Some(h_s) = h_s {
            self.add_multipliers(1.0 / h_s);
        }
        self.respond(model, data);
        &self.change
    }

    /// Half of what constraints keep from a point: `Yᵢᵀ Yⱼ` is what the response of point `i` to
    /// point `j` lacks. Adds the rows of `Y`, each with three columns for the directions of the
    /// point, to `out`, as many as the rank. Needs what [`answer`](Self::answer) needs.
    pub fn half(&mut self, point: &PointAxes, out: &mut Vec<Vec3>) {
        let (start, bodies) = (out.len(), self.forces_B.len());
        out.resize(start + self.rank, Vec3::zeros());
        for axis in 0..3 {
            let direction_B = point.R_BC.column(axis);
            let rows = self.responses.chunks_exact(bodies).zip(&self.rows.all);
            for (error, (response, row)) in self.errors.iter_mut().zip(rows) {
                let velocity_B = response[point.body].at_point(&point.p_B);
                *error = if self.rows.acts(*row) { velocity_B.dot(&direction_B) } else { 0.0 };
            }
            for (y, value) in out[start..].iter_mut().zip(self.system.solve_half(&self.errors)) {
                y[axis] = *value;
            }
        }
    }

    /// Takes out of the responses `W` of `points`, of which [`half`](Self::half) knows `halves`,
    /// what constraints keep from them.
    pub fn hold(&self, halves: &[Vec3], W: &mut [Mat3]) {
        if self.rank == 0 {
            return;
        }
        let n = halves.len() / self.rank;
        let of = |i: usize| &halves[i * self.rank..(i + 1) * self.rank];
        for i in 0..n {
            let own = W[i * n + i].trace() / 3.0;
            for j in 0..n {
                let kept = of(i).iter().zip(of(j));
                let lacks = kept.fold(Mat3::zeros(), |sum, (a, b)| sum + a.outer(b));
                W[i * n + j] = W[i * n + j] - lacks;
            }
            W[i * n + i] += Mat3::identity() * (GIVES_WAY * own);
        }
    }

    /// Multipliers that take the errors away, and what they change of the velocities.
    fn solve(&mut self, model: &Model, data: &Data) {
        self.gather_system(model, data);
        let tolerance = self.errors.len() as f64 * RANK_TOLERANCE;
        self.rank = self.system.factor(tolerance, self.rows.response_scale());
        self.system.solve(&self.errors, &mut self.solution);
        self.multipliers.fill(Vec3::zeros());
        self.efforts.fill(0.0);
        self.add_multipliers(1.0);
        self.respond(model, data);
    }

    fn add_multipliers(&mut self, factor: f64) {
        for (row, x) in self.rows.all.iter().zip(&self.solution) {
            match *row {
                Row::Point { point, axis } => self.multipliers[point][axis] += factor * x,
                Row::Coupling(i) => self.efforts[i] -= factor * x,
            }
        }
    }

    /// What the solution changes of the velocities.
    fn respond(&mut self, model: &Model, data: &Data) {
        self.forces_B.fill(Force::zero());
        for (row, x) in self.rows.all.iter().zip(&self.solution) {
            if self.rows.acts(*row) {
                self.rows.add_force(model, data, *row, -x, &mut self.forces_B);
            }
        }
        // forces in the place of impulses give accelerations
        impulse_response(model, data, &self.forces_B, &mut self.response, &mut self.change);
    }

    /// `G H⁻¹ Gᵀ`, a column for each unit force; zeros for rows that do not act.
    fn gather_system(&mut self, model: &Model, data: &Data) {
        let bodies = model.bodies.len();
        for c in 0..self.rows.all.len() {
            let row = self.rows.all[c];
            self.column.fill(0.0);
            if self.rows.acts(row) {
                self.forces_B.fill(Force::zero());
                self.rows.add_force(model, data, row, 1.0, &mut self.forces_B);
                impulse_response(model, data, &self.forces_B, &mut self.response, &mut self.change);
                let dV = &self.response.dV;
                self.responses[c * bodies..(c + 1) * bodies].copy_from_slice(dV);
                let of_point = |point: &PointOnPlane| point.velocity_in_plane(data, dV);
                let of_coupling = |coupling: &Coupling| coupling.excess(&self.change.joints);
                self.rows.read(of_point, of_coupling, &mut self.column);
            }
            for (r, value) in self.column.iter().enumerate() {
                self.system.set(r, c, *value);
            }
        }
        self.system.symmetrise();
    }

    /// Multipliers `λ` of the last [`accelerate`](Self::accelerate): per constraint, in its P, in
    /// x, y, z order, N. Zero before the first.
    #[must_use]
    pub fn multipliers(&self) -> &[Vec3] {
        &self.multipliers
    }

    /// Number of independent equations among all that act, at the last
    /// [`accelerate`](Self::accelerate).
    #[must_use]
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Effort with which coupling `i` moves its follower, N·m or N; its leader feels the negative
    /// of the multiplier times it.
    ///
    /// # Panics
    /// If there is no coupling `i`.
    #[must_use]
    pub fn effort_on_follower(&self, i: usize) -> f64 {
        self.efforts[i]
    }

    /// Force on the follower of constraint `i` in its P, N: the negative multiplier. The body of
    /// the plane feels the opposite force at the same place.
    ///
    /// # Panics
    /// If there is no constraint `i`.
    #[must_use]
    pub fn force_on_follower_P(&self, i: usize) -> Vec3 {
        -self.multipliers[i]
    }

    /// The same force in W, N. Needs the `data` of the last [`accelerate`](Self::accelerate).
    ///
    /// # Panics
    /// If there is no constraint `i`.
    #[must_use]
    pub fn force_on_follower_W(&self, i: usize, data: &Data) -> Vec3 {
        self.rows.points[i].X_WP(data).R * self.force_on_follower_P(i)
    }
}

fn check(model: &Model, point: &PointOnPlane) -> Result<()> {
    let refuse = |message: String| Err(Error::new(ErrorKind::Input, message));
    let bodies = model.bodies.len();
    let (b, s) = (point.follower_body, point.plane_body);
    if b >= bodies {
        return refuse(format!("the follower's body is {b}; it must be less than {bodies}"));
    }
    if let Some(s) = s.filter(|&s| s >= bodies || s == b) {
        return refuse(format!("the plane's body is {s}; it must be less than {bodies}, not {b}"));
    }
    if !point.p_BF.iter().chain(point.X_SP.p.iter()).all(|x| x.is_finite()) {
        let (p, x) = (point.p_BF, point.X_SP.p);
        return refuse(format!(
            "the point is {:?} and the plane's origin {:?}; they must be finite",
            p.to_array(),
            x.to_array()
        ));
    }
    let R = &point.X_SP.R;
    let excess = (R.transpose() * R - Mat3::identity()).amax();
    // not "excess > …": NaN is refused, too
    if !(excess < 1e-9 && R.determinant() > 0.0) {
        return refuse(format!("the plane's rotation is {R:?}; it must be a proper rotation"));
    }
    Ok(())
}
