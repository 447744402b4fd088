//! Surfaces of the ground as shapes, and as what they are not: height fields.

use hardstand_geometry::{Hull, POINTS_MAX, Pose, Shape, fade};

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

/// The corners of a shape that are near a height field.
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
        self.weigh(margin_m);
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
    fn weigh(&mut self, margin_m: f64) {
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
