//! The equations of constraints: three of each point on a plane, one of each coupling of joints.

use crate::model::{Base, Coupling, Model};
use crate::simd::SimdReal as _;
use crate::spatial::{Force, Vec3};

use super::{Data, PointOnPlane};

/// No link is thinner than 1 cm, as far as [`loose_response`] goes.
const LEAST_GYRATION_M2: f64 = 1e-4;

/// One equation.
#[derive(Clone, Copy, Debug)]
pub(super) enum Row {
    /// A point along an axis of its plane: 0, 1 or 2 for x, y or z.
    Point { point: usize, axis: usize },
    /// A coupling.
    Coupling(usize),
}

/// All equations.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    pub(super) points: Vec<PointOnPlane>,
    /// Whether each point is held.
    pub(super) active: Vec<bool>,
    pub(super) couplings: Vec<Coupling>,
    /// Those of velocities and accelerations: of the points, then of the couplings.
    pub(super) all: Vec<Row>,
    /// What a unit impulse on each point would do to its bodies if no joint held them, 1/kg.
    loose: Vec<f64>,
}

impl Rows {
    pub(super) fn new(model: &Model, points: Vec<PointOnPlane>, couplings: Vec<Coupling>) -> Self {
        let of_points = (0..3 * points.len()).map(|r| Row::Point { point: r / 3, axis: r % 3 });
        let all = of_points.chain((0..couplings.len()).map(Row::Coupling)).collect();
        let loose = points.iter().map(|point| {
            let of_plane = |s| loose_response(model, s, &point.X_SP.p);
            loose_response(model, point.follower_body, &point.p_BF)
                + point.plane_body.map_or(0.0, of_plane)
        });
        let loose = loose.collect();
        Self { active: vec![true; points.len()], points, couplings, all, loose }
    }

    /// Size of the numbers of which responses to unit impulses along the rows are computed, 1/kg:
    /// joints may leave nothing of them but rounding.
    pub(super) fn response_scale(&self) -> f64 {
        self.largest(0.0, |point| self.loose[point])
    }

    /// The same of the rows of `G`: levers, m.
    pub(super) fn lever_scale(&self) -> f64 {
        self.largest(1.0, |point| self.points[point].p_BF.norm())
    }

    /// The largest of the points that are held, but not less than `least`.
    fn largest(&self, least: f64, of_point: impl Fn(usize) -> f64) -> f64 {
        let held = (0..self.points.len()).filter(|&point| self.active[point]);
        held.fold(least, |most, point| most.larger(of_point(point)))
    }

    /// Those of positions.
    pub(super) fn of_positions(&self) -> Vec<Row> {
        let is_one = |row: &&Row| !matches!(row, Row::Point { axis: 0 | 1, .. });
        self.all.iter().filter(is_one).copied().collect()
    }

    pub(super) fn acts(&self, row: Row) -> bool {
        match row {
            Row::Point { point, axis } => self.active[point] && self.points[point].holds(axis),
            Row::Coupling(_) => true,
        }
    }

    /// What the points and the couplings have, in the order of [`all`](Self::all); 0 for those
    /// that do not act.
    pub(super) fn read(
        &self,
        of_point: impl Fn(&PointOnPlane) -> Vec3,
        of_coupling: impl Fn(&Coupling) -> f64,
        out: &mut [f64],
    ) {
        let (of_points, of_couplings) = out.split_at_mut(3 * self.points.len());
        let points = self.points.iter().zip(&self.active);
        for (out, (point, active)) in of_points.chunks_exact_mut(3).zip(points) {
            let value = if *active { of_point(point) } else { Vec3::zeros() };
            for (axis, out) in out.iter_mut().enumerate() {
                *out = if point.holds(axis) { value[axis] } else { 0.0 };
            }
        }
        for (out, coupling) in of_couplings.iter_mut().zip(&self.couplings) {
            *out = of_coupling(coupling);
        }
    }

    /// Adds to `forces_B` what the force `f` along `row` is on the bodies: N, or N·m or N on the
    /// follower of a coupling.
    pub(super) fn add_force(
        &self,
        model: &Model,
        data: &Data,
        row: Row,
        f: f64,
        forces_B: &mut [Force],
    ) {
        match row {
            Row::Point { point, axis } => {
                self.points[point].add_force(data, &Vec3::ith(axis, f), forces_B);
            }
            Row::Coupling(i) => {
                let Coupling { follower, leader, multiplier, .. } = self.couplings[i];
                add_effort(model, data, follower, f, forces_B);
                if let Some(leader) = leader {
                    add_effort(model, data, leader, -(multiplier * f), forces_B);
                }
            }
        }
    }

    /// `Jᵀ` of a unit force along `row`, in the order of the mass matrix. Uses up `forces_B`.
    pub(super) fn jacobian(
        &self,
        model: &Model,
        data: &Data,
        row: Row,
        forces_B: &mut [Force],
        out: &mut [f64],
    ) {
        match row {
            Row::Point { point, axis } => {
                forces_B.fill(Force::zero());
                self.points[point].add_force(data, &Vec3::ith(axis, 1.0), forces_B);
                generalized_force(model, data, forces_B, out);
            }
            Row::Coupling(i) => {
                let Coupling { follower, leader, multiplier, .. } = self.couplings[i];
                let first = model.nv() - model.joint_count();
                out.fill(0.0);
                out[first + follower] = 1.0;
                if let Some(leader) = leader {
                    out[first + leader] = -multiplier;
                }
            }
        }
    }
}

/// Response of a link with all that hangs on it to a unit impulse at `arm_B` from its origin, 1/kg,
/// if no joint held it: an estimate from above.
fn loose_response(model: &Model, link: usize, arm_B: &Vec3) -> f64 {
    let is_below = |mut b: usize| {
        while b > link {
            b = model.bodies[b].parent;
        }
        b == link
    };
    let below = (link..model.bodies.len()).filter(|&b| is_below(b));
    let mass: f64 = below.map(|b| model.bodies[b].inertia.mass).sum();
    let gyration_m2 = (model.bodies[link].inertia.I.trace() / mass).larger(LEAST_GYRATION_M2);
    let response = (1.0 + arm_B.dot(arm_B) / gyration_m2) / mass;
    if response.is_finite() { response } else { 0.0 }
}

/// An effort along a joint: on the body that it moves, and the opposite on the one before it.
fn add_effort(model: &Model, data: &Data, joint: usize, effort: f64, forces_B: &mut [Force]) {
    let body = joint + 1;
    let S = &data.S[body];
    let f_B = Force::new(S.ang * effort, S.lin * effort);
    forces_B[body] += f_B;
    forces_B[model.bodies[body].parent] -= data.X_PB[body].force_to_parent(&f_B);
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
