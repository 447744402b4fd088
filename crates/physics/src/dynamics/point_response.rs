//! Response of points of the tree to impulses at each other, along their paths to the base.
//!
//! Pass 2 of the articulated-body algorithm factorises the inverse of the inertia matrix. What an
//! impulse at a point brings along joint `k` on its way to the base is `a_k = Sᵀ F`; the joint
//! gives way by `a_k / D_k` and passes on `F − U a_k / D_k`; the base takes the rest. So the
//! velocity of point `i` for a unit impulse at point `j` is the sum of `a_kᵢ a_kⱼ / D_k` over the
//! joints that both paths share, and of `yᵢᵀ diag(S⁻¹, M⁻¹) yⱼ` for the base, with the halves `y`
//! of [`InertiaFactor::half`]: `J M⁻¹ Jᵀ` without `M`, and without a walk through the whole tree.
//! (section 7.3; operational-space inertia by propagated forces)

use crate::model::Model;
use crate::simd::{FourLaneWork, SimdReal, four_lanes, in_four_lanes};
use crate::spatial::simd::{self, Force, InertiaFactor, Transform};
use crate::spatial::{Mat3, Vec3};

use super::Data;

/// A point of a body with three directions, in which it is pushed and its velocity is read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointAxes {
    /// The body.
    pub body: usize,
    /// The point from B's origin, in B, m.
    pub p_B: Vec3,
    /// The directions, as columns in B.
    pub R_BC: Mat3,
}

/// The jump of velocities that impulses lead to, before it is spread over the tree.
#[derive(Clone, Debug)]
pub struct VelocityChange {
    /// Of the base's spatial velocity, about its origin in its axes, rad/s and m/s.
    pub dV_base: simd::Motion<f64>,
    /// Impulse along the joint of each body, N·m·s or N·s.
    pub u: Vec<f64>,
}

impl VelocityChange {
    /// None, for a tree of `bodies`.
    #[must_use]
    pub fn zero(bodies: usize) -> Self {
        Self { dV_base: simd::Motion::zero(), u: vec![0.0; bodies] }
    }
}

/// What unit impulses at one point bring along one joint, or in one direction of the base: one
/// number per direction of the point, and one that means nothing.
#[derive(Clone, Copy, Debug, Default)]
struct PathTerm {
    a: [f64; 4],
    /// `a / D`; for the base, what `diag(S⁻¹, M⁻¹)` makes of its six.
    shares: [f64; 4],
}

/// Where unit impulses at one point pass on their way to the base.
#[derive(Clone, Copy, Debug, Default)]
struct Path {
    /// Its joints in [`PointResponses::crossings`], from the point inward.
    start: usize,
    end: usize,
    /// The base's angular and linear directions.
    base: [PathTerm; 6],
}

/// The paths of some points. Preallocated: no function but [`new`](Self::new) allocates.
///
/// ```
/// use hardstand_physics::dynamics::{Data, PointAxes, PointResponses, Positions, Velocities};
/// use hardstand_physics::dynamics::{articulated_inertias, kinematics};
/// use hardstand_physics::model::{Base, BodySpec, Builder};
/// use hardstand_physics::spatial::{Mat3, SpatialInertia, Vec3};
///
/// let mut one = Builder::new("brick", Base::Floating);
/// let inertia = SpatialInertia::from_com(2.0, &Vec3::zeros(), &Mat3::identity());
/// one.bodies.push(BodySpec { name: "brick".into(), inertia });
/// let model = one.build()?;
/// let mut data = Data::new(&model);
/// kinematics(&model, &Positions::zero(&model), &Velocities::zero(&model), &mut data);
/// articulated_inertias(&model, &mut data);
///
/// let (mut responses, mut W) = (PointResponses::new(&model, 1), Vec::new());
/// let centre = PointAxes { body: 0, p_B: Vec3::zeros(), R_BC: Mat3::identity() };
/// responses.respond(&model, &data, &[centre], &mut W);
/// assert_eq!(W, [Mat3::identity() * 0.5]); // 1 N·s moves 2 kg at 0.5 m/s
/// # Ok::<(), hardstand_error::Error>(())
/// ```
#[derive(Debug)]
pub struct PointResponses {
    points_max: usize,
    crossings_max: usize,
    portable: bool,
    /// The base's inertia.
    base: InertiaFactor<f64>,
    /// Joints by the bodies behind them, of all points one after another.
    crossings: Vec<(usize, PathTerm)>,
    paths: Vec<Path>,
}

/// A derived clone would have no room.
impl Clone for PointResponses {
    fn clone(&self) -> Self {
        Self { portable: self.portable, ..Self::with_room(self.points_max, self.crossings_max) }
    }
}

impl PointResponses {
    /// For up to `points` points on `model`.
    #[must_use]
    pub fn new(model: &Model, points: usize) -> Self {
        let mut depth = vec![0; model.bodies.len()];
        for i in 1..depth.len() {
            depth[i] = depth[model.bodies[i].parent] + 1;
        }
        Self::with_room(points, points * depth.iter().max().unwrap_or(&0))
    }

    fn with_room(points_max: usize, crossings_max: usize) -> Self {
        Self {
            points_max,
            crossings_max,
            portable: false,
            base: InertiaFactor::default(),
            crossings: Vec::with_capacity(crossings_max),
            paths: Vec::with_capacity(points_max),
        }
    }

    /// Whether to use only instructions that any machine has. No bit depends on it.
    pub fn set_portable(&mut self, portable: bool) {
        self.portable = portable;
    }

    /// Follows the paths of `points` and writes `W[i * n + j]`, the velocity of point `i` for a
    /// unit impulse at point `j`, each in its own directions, m/s per N·s: symmetric to the last
    /// bit. Needs `X_PB`, `U`, `D` and the base's inertia in `data`, as [`aba`](super::aba()) or
    /// [`articulated_inertias`](super::articulated_inertias()) leave them.
    pub fn respond(&mut self, model: &Model, data: &Data, points: &[PointAxes], W: &mut Vec<Mat3>) {
        let pushed = Pushed::Points(points);
        in_four_lanes(self.portable, Respond { responses: self, model, data, pushed, W });
    }

    /// The same of whole bodies, each as two points: `2 k` is turned by unit moments about the
    /// origin of `bodies[k]` along its axes, `2 k + 1` is pushed there by unit forces. `W` gives
    /// angular velocities in the first case, and velocities in the second.
    pub fn respond_of_bodies(
        &mut self,
        model: &Model,
        data: &Data,
        bodies: &[usize],
        W: &mut Vec<Mat3>,
    ) {
        let pushed = Pushed::Bodies(bodies);
        in_four_lanes(self.portable, Respond { responses: self, model, data, pushed, W });
    }

    /// The jump of the base and the impulses along the joints for one impulse at each point of the
    /// last [`respond`](Self::respond), in the point's directions, N·s.
    pub fn jump(&self, impulses: &[Vec3], jump: &mut VelocityChange) {
        jump.u.fill(0.0);
        let mut weighed = [0.0; 6];
        for (impulse, path) in impulses.iter().zip(&self.paths) {
            for (body, at) in &self.crossings[path.start..path.end] {
                jump.u[*body] += along(&at.a, impulse);
            }
            for (sum, at) in weighed.iter_mut().zip(&path.base) {
                *sum += along(&at.shares, impulse);
            }
        }
        let [wx, wy, wz, vx, vy, vz] = weighed;
        let weighed = simd::Motion::new(simd::Vec3::new(wx, wy, wz), simd::Vec3::new(vx, vy, vz));
        jump.dV_base = self.base.whole(&weighed);
    }
}

/// What an impulse brings along, from what unit impulses do.
fn along(unit: &[f64; 4], impulse: &Vec3) -> f64 {
    unit[0] * impulse.x + unit[1] * impulse.y + unit[2] * impulse.z
}

/// The work of [`PointResponses::respond`], with the three directions side by side.
struct Respond<'a> {
    responses: &'a mut PointResponses,
    model: &'a Model,
    data: &'a Data,
    pushed: Pushed<'a>,
    W: &'a mut Vec<Mat3>,
}

/// What is pushed in three directions each.
#[derive(Clone, Copy, Debug)]
enum Pushed<'a> {
    Points(&'a [PointAxes]),
    /// By moments, and by forces.
    Bodies(&'a [usize]),
}

impl Pushed<'_> {
    #[inline(always)]
    const fn count(self) -> usize {
        match self {
            Self::Points(points) => points.len(),
            Self::Bodies(bodies) => 2 * bodies.len(),
        }
    }

    /// The body, and unit impulses on it: one direction per lane; the last lane is empty.
    #[inline(always)]
    fn impulses<T: SimdReal>(self, i: usize) -> (usize, Force<T>) {
        match self {
            Self::Points(points) => {
                let PointAxes { body, p_B, R_BC } = &points[i];
                (*body, Force::at_point(by_columns(R_BC), &simd::Vec3::splat(p_B)))
            }
            Self::Bodies(bodies) => {
                let (unit, none) = (by_columns(&Mat3::identity()), simd::Vec3::zeros());
                let turns = i.is_multiple_of(2);
                let (ang, lin) = if turns { (unit, none) } else { (none, unit) };
                (bodies[i / 2], Force::new(ang, lin))
            }
        }
    }
}

impl FourLaneWork for Respond<'_> {
    type Output = ();

    #[inline(always)]
    fn run<T: SimdReal>(self) {
        let Self { responses, model, data, pushed, W } = self;
        responses.base = data.base;
        let base = InertiaFactor::<T>::from_lanes(|_| data.base);
        responses.crossings.clear();
        responses.paths.clear();
        let n = pushed.count();
        for i in 0..n {
            follow(responses, &base, model, data, pushed.impulses::<T>(i));
        }
        W.clear();
        W.resize(n * n, Mat3::zeros());
        for i in 0..n {
            for j in 0..=i {
                let mut block = common::<T>(responses, i, j);
                if i == j {
                    block = mirrored(&block);
                }
                W[i * n + j] = block;
                W[j * n + i] = block.transpose();
            }
        }
    }
}

/// Carries unit impulses on a body to the base.
#[inline(always)]
fn follow<T: SimdReal>(
    responses: &mut PointResponses,
    base: &InertiaFactor<T>,
    model: &Model,
    data: &Data,
    (mut body, mut F): (usize, Force<T>),
) {
    let start = responses.crossings.len();
    while body > 0 {
        let (link, per_D) = (&data.links[body - 1], data.per_D[body]);
        let a = link.project_several(&F);
        let share = a * T::splat(per_D);
        responses.crossings.push((body, PathTerm { a: four_lanes(a), shares: four_lanes(share) }));
        let U = Force::<T>::splat(&data.U[body]);
        let X_PB = Transform::<T>::splat(&data.X_PB[body]);
        F = X_PB.force_to_parent(&(F - U.scaled(share)));
        body = model.bodies[body].parent;
    }
    let half = base.half(&F);
    let weighed = base.weigh(&half);
    let base = [
        (half.ang.x, weighed.ang.x),
        (half.ang.y, weighed.ang.y),
        (half.ang.z, weighed.ang.z),
        (half.lin.x, weighed.lin.x),
        (half.lin.y, weighed.lin.y),
        (half.lin.z, weighed.lin.z),
    ];
    let base = base.map(|(a, share)| PathTerm { a: four_lanes(a), shares: four_lanes(share) });
    responses.paths.push(Path { start, end: responses.crossings.len(), base });
}

/// One column per lane; the last lane is empty.
#[inline(always)]
fn by_columns<T: SimdReal>(R: &Mat3) -> simd::Vec3<T> {
    let row = |r: usize| T::from_lanes(|c| if c < 3 { R[(r, c)] } else { 0.0 });
    simd::Vec3::new(row(0), row(1), row(2))
}

/// The sum over what the paths of `i` and `j` share: from the base outward.
#[inline(always)]
fn common<T: SimdReal>(responses: &PointResponses, i: usize, j: usize) -> Mat3 {
    let PointResponses { paths, crossings, .. } = responses;
    let (path_i, path_j) = (&paths[i], &paths[j]);
    let mut columns = [T::splat(0.0); 3];
    for k in 0..6 {
        add_product(&path_i.base[k], &path_j.base[k], &mut columns);
    }
    let outward = |path: &Path| crossings[path.start..path.end].iter().rev();
    for ((body_i, at_i), (body_j, at_j)) in outward(path_i).zip(outward(path_j)) {
        if body_i != body_j {
            break;
        }
        add_product(at_i, at_j, &mut columns);
    }
    let [x, y, z] = columns;
    let [x, y, z, _] = T::by_lane([x, y, z, T::splat(0.0)]);
    Mat3::from_fn(|r, c| [x, y, z][r][c])
}

/// Adds what the unit impulses of `at_j` do to the velocities of `at_i`, by columns.
#[inline(always)]
fn add_product<T: SimdReal>(at_i: &PathTerm, at_j: &PathTerm, columns: &mut [T; 3]) {
    let a = T::from_lanes(|r| at_i.a[r]);
    for (column, &share) in columns.iter_mut().zip(&at_j.shares) {
        *column += a * T::splat(share);
    }
}

/// The lower triangle and its mirror image.
fn mirrored(m: &Mat3) -> Mat3 {
    Mat3::from_fn(|r, c| if r < c { m[(c, r)] } else { m[(r, c)] })
}
