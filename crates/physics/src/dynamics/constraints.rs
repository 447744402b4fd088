//! Forward dynamics under bilateral constraints.
//!
//! `H v̇ + Gᵀ λ = f` with accelerations that make the acceleration errors zero: `(G H⁻¹ Gᵀ) λ` is
//! the error without constraint forces. There is no stabilisation term; what integration lets drift
//! is taken back by [`Constraints::project_positions`] and [`Constraints::project_velocities`].

use crate::model::Model;
use crate::spatial::{Force, Mat3, Vec3};
use hardstand_error::{Error, ErrorKind, Result};

use super::projection::Projector;
use super::{
    Accelerations, Data, ImpulseWorkspace, LeastSquares, PointOnPlane, Velocities, aba,
    advance_velocities, impulse_response,
};

/// `ε^(3/4)` for `ε = 2⁻⁵²`. With `m` equations, pivots below `m ε^(3/4)` of the largest count as
/// zero: Simbody's tolerance for multipliers.
const RANK_TOLERANCE: f64 = 1.0 / (1_u64 << 39) as f64;

/// A set of [`PointOnPlane`] constraints on one model, with everything that its computations need.
///
/// Redundant sets get the multipliers of least norm (three points of one rigid body: nine
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
    pub(super) points: Vec<PointOnPlane>,
    /// Whether each one acts.
    pub(super) active: Vec<bool>,
    /// In P, N; per point.
    multipliers: Vec<Vec3>,
    rank: usize,
    system: LeastSquares,
    /// Acceleration errors without constraint forces, then multipliers, as flat lists.
    errors: Vec<f64>,
    solution: Vec<f64>,
    forces_B: Vec<Force>,
    response: ImpulseWorkspace,
    change: Velocities,
    pub(super) projector: Projector,
}

impl Constraints {
    /// The set `points` on `model`.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] if a body does not exist, the plane is on the follower's own body, the
    /// point or the plane's pose is not finite, or its rotation is none.
    pub fn new(model: &Model, points: Vec<PointOnPlane>) -> Result<Self> {
        for (i, point) in points.iter().enumerate() {
            check(model, point).map_err(|e| e.within(format!("constraint {i}")))?;
        }
        let m = 3 * points.len();
        Ok(Self {
            multipliers: vec![Vec3::zeros(); points.len()],
            rank: 0,
            system: LeastSquares::new(m),
            errors: vec![0.0; m],
            solution: vec![0.0; m],
            forces_B: vec![Force::zero(); model.bodies.len()],
            response: ImpulseWorkspace::new(model),
            change: Velocities::zero(model),
            projector: Projector::new(model, points.len()),
            active: vec![true; points.len()],
            points,
        })
    }

    /// The constraints, in the order they were given.
    #[must_use]
    pub fn points(&self) -> &[PointOnPlane] {
        &self.points
    }

    /// Whether constraint `i` acts.
    #[must_use]
    pub fn is_active(&self, i: usize) -> bool {
        self.active.get(i).copied().unwrap_or(false)
    }

    /// Lets constraint `i` act, or not, with its plane through the point `p_SP` of its body S, m.
    pub fn set(&mut self, i: usize, active: bool, p_SP: Vec3) {
        if let (Some(is), Some(point)) = (self.active.get_mut(i), self.points.get_mut(i)) {
            *is = active;
            point.X_SP.p = p_SP;
        }
    }

    /// Whether any constraint acts.
    #[must_use]
    pub fn any_active(&self) -> bool {
        self.active.contains(&true)
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
        self.read_errors(|point| point.acceleration_errors(data, gravity_W));
        self.solve(model, data);
        advance_velocities(vdot, 1.0, &self.change);
        for (A, change) in data.A.iter_mut().zip(&self.response.dV) {
            *A += *change;
        }
    }

    /// Notes the velocities of the points after a step of `h` seconds without constraint forces,
    /// from the accelerations that forward dynamics have left: see [`predicted`](Self::predicted).
    pub fn predict(&mut self, data: &Data, gravity_W: &Vec3, h: f64) {
        self.read_errors(|point| {
            point.velocity_errors(data) + point.acceleration_errors(data, gravity_W) * h
        });
    }

    /// Velocity of the point of constraint `i` in its P after a step, m/s, as noted by
    /// [`predict`](Self::predict).
    ///
    /// # Panics
    /// If there is no constraint `i`.
    #[must_use]
    pub fn predicted(&self, i: usize) -> Vec3 {
        let e = &self.errors[3 * i..3 * i + 3];
        Vec3::new(e[0], e[1], e[2])
    }

    /// Notes the force on the follower of constraint `i` that another solver has found, in P, N.
    pub fn set_force(&mut self, i: usize, force_P: Vec3) {
        if let Some(multipliers) = self.multipliers.get_mut(i) {
            *multipliers = -force_P;
        }
    }

    /// Stops what moves against the constraints, by impulses: for one that begins to act. Needs the
    /// kinematics of `v` and the factors of [`articulated_inertias`](super::articulated_inertias())
    /// in `data`; leaves the kinematics as they were.
    pub fn strike(&mut self, model: &Model, data: &Data, v: &mut Velocities) {
        self.read_errors(|point| point.velocity_errors(data));
        self.solve(model, data);
        advance_velocities(v, 1.0, &self.change);
    }

    fn read_errors(&mut self, of: impl Fn(&PointOnPlane) -> Vec3) {
        let all = self.errors.chunks_exact_mut(3).zip(&self.points).zip(&self.active);
        for ((errors, point), active) in all {
            let error = if *active { of(point) } else { Vec3::zeros() };
            errors.copy_from_slice(&error.to_array());
        }
    }

    /// Multipliers that take the errors away, and what they change of the velocities.
    fn solve(&mut self, model: &Model, data: &Data) {
        self.gather_system(model, data);
        self.rank = self.system.factor(self.errors.len() as f64 * RANK_TOLERANCE);
        self.system.solve(&self.errors, &mut self.solution);
        for (multipliers, x) in self.multipliers.iter_mut().zip(self.solution.chunks_exact(3)) {
            *multipliers = Vec3::new(x[0], x[1], x[2]);
        }
        self.forces_B.fill(Force::zero());
        let all = self.points.iter().zip(&self.multipliers).zip(&self.active);
        for ((point, multipliers), _) in all.filter(|(_, active)| **active) {
            point.add_force(data, &-multipliers, &mut self.forces_B);
        }
        // forces in the place of impulses give accelerations
        impulse_response(model, data, &self.forces_B, &mut self.response, &mut self.change);
    }

    /// `G H⁻¹ Gᵀ`, a column for each unit force.
    fn gather_system(&mut self, model: &Model, data: &Data) {
        for (c, point) in self.points.iter().enumerate() {
            for axis in 0..3 {
                if !self.active[c] {
                    // no equation: nothing that other pivots would be compared with
                    for r in 0..self.errors.len() {
                        self.system.set(r, 3 * c + axis, 0.0);
                    }
                    continue;
                }
                self.forces_B.fill(Force::zero());
                point.add_force(data, &Vec3::ith(axis, 1.0), &mut self.forces_B);
                impulse_response(model, data, &self.forces_B, &mut self.response, &mut self.change);
                for (r, point) in self.points.iter().enumerate() {
                    if !self.active[r] {
                        for k in 0..3 {
                            self.system.set(3 * r + k, 3 * c + axis, 0.0);
                        }
                        continue;
                    }
                    let rows = point.velocity_in_plane(data, &self.response.dV);
                    for (k, value) in rows.iter().enumerate() {
                        self.system.set(3 * r + k, 3 * c + axis, *value);
                    }
                }
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

    /// Number of independent equations among the three of each constraint, at the last
    /// [`accelerate`](Self::accelerate).
    #[must_use]
    pub fn rank(&self) -> usize {
        self.rank
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
        self.points[i].X_WP(data).R * self.force_on_follower_P(i)
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
