//! Surfaces of the ground as shapes, and as what they are not: height fields.

use hardstand_geometry::{Hull, POINTS_MAX, Patch, Pose, Shape, Workspace, contact, fade};

use crate::contact::{ConvexSolid, Heightfield, Surface, SurfaceShape};
use crate::spatial::{Mat3, Transform, Vec3};
use hardstand_error::Result;

/// A plane or a solid as a shape with its pose in the frame of the surface; `None` for a height
/// field.
pub(super) fn shape_of(surface: &Surface) -> Option<(Transform, Shape)> {
    match &surface.shape {
        SurfaceShape::Plane => Some((Transform::identity(), Shape::plane())),
        SurfaceShape::Solid(solid) => solid_shape(solid).ok(),
        SurfaceShape::Heightfield(_) => None,
    }
}

/// A box as a box, other solids as hulls of their cores.
fn solid_shape(solid: &ConvexSolid) -> Result<(Transform, Shape)> {
    if let Some((center, size_m)) = solid.as_box() {
        let shape = Shape::cuboid(size_m, solid.edge_radius_m())?;
        return Ok((Transform::new(Mat3::identity(), center), shape));
    }
    let corners: Vec<_> = solid.core_corners().map(|p| into_geometry(&p)).collect();
    let hull = Hull::from_points(&corners)?;
    Ok((Transform::identity(), Shape::hull(hull.into(), solid.edge_radius_m())?))
}

/// A pose as the geometry takes it.
pub(super) fn into_pose(X: &Transform) -> Pose {
    let R = hardstand_geometry::Mat3 {
        x: into_geometry(&X.R.x),
        y: into_geometry(&X.R.y),
        z: into_geometry(&X.R.z),
    };
    Pose { R, p: into_geometry(&X.p) }
}

/// A vector as the geometry takes it.
pub(super) fn into_geometry(v: &Vec3) -> hardstand_geometry::Vec3 {
    hardstand_geometry::Vec3::new(v.x, v.y, v.z)
}

/// A vector of the geometry.
pub(super) fn from_geometry(v: hardstand_geometry::Vec3) -> Vec3 {
    Vec3::new(v.x, v.y, v.z)
}

/// One place where a shape is near a height field.
#[derive(Clone, Copy, Debug)]
pub(super) struct FieldPoint {
    /// Unit normal of the field, in S.
    pub(super) normal_S: Vec3,
    /// Point of the field, in S, m.
    pub(super) point_S: Vec3,
    pub(super) depth_m: f64,
    pub(super) weight: f64,
    pub(super) feature: u64,
}

/// Bit of the number of a feature that is a node of a field.
const SUMMIT: u64 = 1 << 31;

/// What compares a shape with a node of a field.
#[derive(Clone, Debug)]
pub(super) struct SummitTools {
    /// A shape without extent.
    node: Shape,
    workspace: Workspace,
    patch: Patch,
}

impl SummitTools {
    pub(super) fn new() -> Result<Self> {
        Ok(Self { node: Shape::sphere(0.0)?, workspace: Workspace::new(), patch: Patch::new() })
    }
}

/// Where a shape is near a height field: its corners, and the nodes that stand out.
#[derive(Clone, Debug)]
pub(super) struct FieldContact {
    points: [FieldPoint; POINTS_MAX],
    count: usize,
}

impl FieldContact {
    pub(super) const fn new() -> Self {
        let zero = Vec3::repeat(0.0);
        let none =
            FieldPoint { normal_S: zero, point_S: zero, depth_m: 0.0, weight: 0.0, feature: 0 };
        Self { points: [none; POINTS_MAX], count: 0 }
    }

    pub(super) fn points(&self) -> &[FieldPoint] {
        &self.points[..self.count]
    }

    /// Finds the deepest of `corners` with their `radius_m`; `X_SA` is the pose of the shape in the
    /// frame of the field.
    pub(super) fn find(
        &mut self,
        field: &Heightfield,
        X_SA: &Transform,
        corners: &[Vec3],
        radius_m: f64,
        margin_m: f64,
    ) {
        self.count = 0;
        for (k, corner) in corners.iter().enumerate() {
            let p_S = X_SA.point(corner);
            let at = field.nearest(&p_S);
            let depth_m = radius_m - at.distance_m;
            if depth_m > -margin_m {
                let (normal_S, point_S) = (at.normal_S, at.point_S);
                let feature = k as u64;
                self.keep(FieldPoint { normal_S, point_S, depth_m, weight: 1.0, feature });
            }
        }
    }

    /// Finds where the nodes of a field that stand out are near a shape: in its faces and edges.
    pub(super) fn find_summits(
        &mut self,
        field: &Heightfield,
        (shape, X_SA): (&Shape, &Transform),
        (corners, radius_m): (&[Vec3], f64),
        margin_m: f64,
        tools: &mut SummitTools,
    ) {
        let reach_m = radius_m + margin_m;
        let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
        for corner in corners {
            for (k, x) in X_SA.point(corner).to_array().into_iter().enumerate() {
                low[k] = if x - reach_m < low[k] { x - reach_m } else { low[k] };
                high[k] = if x + reach_m > high[k] { x + reach_m } else { high[k] };
            }
        }
        let pose = into_pose(X_SA);
        for (node, point_S) in field.summits([low[0], low[1]], [high[0], high[1]]) {
            if point_S.z < low[2] {
                continue;
            }
            let SummitTools { node: point, workspace, patch } = tools;
            let at = Pose::at(into_geometry(&point_S));
            contact((shape, &pose), (point, &at), margin_m, workspace, patch);
            let normal_S = from_geometry(patch.normal_W);
            for found in patch.points() {
                let feature = SUMMIT | node as u64;
                let depth_m = found.depth_m;
                self.keep(FieldPoint { normal_S, point_S, depth_m, weight: 1.0, feature });
            }
        }
    }

    /// Adds a point; if there is no room, the shallowest one goes.
    fn keep(&mut self, point: FieldPoint) {
        if self.count < POINTS_MAX {
            self.points[self.count] = point;
            self.count += 1;
            return;
        }
        let mut shallowest = 0;
        for (i, p) in self.points.iter().enumerate() {
            if p.depth_m < self.points[shallowest].depth_m {
                shallowest = i;
            }
        }
        if point.depth_m > self.points[shallowest].depth_m {
            self.points[shallowest] = point;
        }
    }

    /// Equal shares that fade to 0 at the margin, as those of a patch do.
    pub(super) fn weigh(&mut self, margin_m: f64) {
        let points = &mut self.points[..self.count];
        let deepest = points
            .iter()
            .fold(f64::NEG_INFINITY, |most, p| if p.depth_m > most { p.depth_m } else { most });
        let half_of_range_m = 0.5 * (deepest + margin_m);
        let mut sum = 0.0;
        for point in points.iter_mut() {
            let below_m = point.depth_m + margin_m;
            point.weight *= fade(below_m, half_of_range_m);
            sum += point.weight;
        }
        for point in points.iter_mut() {
            point.weight /= sum;
        }
    }
}
