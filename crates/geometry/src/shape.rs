//! Shapes of colliders.

use std::sync::Arc;

use hardstand_error::{Error, ErrorKind, Result};

use crate::feature::rim;
use crate::hull::Hull;
use crate::vector::{Vec3, larger};

/// Shapes reach at most so far, m.
const SIZE_MAX_M: f64 = 1e4;

/// A shape in its own frame S: a *core*, and everything within `radius_m` of it.
///
/// The radius rounds the edges, and over a rounded edge the normal turns continuously. As long as
/// bodies overlap less than the sum of their radii, the cores are apart, and the answer is that of
/// a distance between convex sets: exact and unique.
///
/// Sizes may be 0: a sphere without radius is a point, a box without height is a plate.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    pub(crate) core: Core,
    pub(crate) radius_m: f64,
}

/// A shape without its rounding. A long axis is z.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Core {
    /// All points with z ≤ 0.
    Plane,
    Point,
    /// Half the length.
    Segment(f64),
    /// Half the edges.
    Box(Vec3),
    /// Radius, half the length.
    Cylinder(f64, f64),
    Hull(Arc<Hull>),
}

/// A shape with its rounding, as it was given.
#[derive(Clone, Debug, PartialEq)]
pub enum Outline<'a> {
    /// All points with z ≤ 0.
    Plane,
    /// A ball.
    Sphere {
        /// Its radius, m.
        radius_m: f64,
    },
    /// All points within a distance of a segment along z.
    Capsule {
        /// That distance, m.
        radius_m: f64,
        /// Length of the segment, m.
        length_m: f64,
    },
    /// A box.
    Box {
        /// Edges along x, y and z, m.
        size_m: [f64; 3],
    },
    /// A cylinder about z.
    Cylinder {
        /// Its radius, m.
        radius_m: f64,
        /// Its length, m.
        length_m: f64,
    },
    /// A convex hull, without the radius that is added to it.
    Hull(&'a Hull),
}

impl Shape {
    /// What it is, with the sizes of its surface.
    ///
    /// ```
    /// use hardstand_geometry::{Outline, Shape};
    /// let shape = Shape::capsule(0.1, 0.5)?;
    /// assert_eq!(shape.outline(), Outline::Capsule { radius_m: 0.1, length_m: 0.5 });
    /// # Ok::<(), hardstand_error::Error>(())
    /// ```
    #[must_use]
    pub fn outline(&self) -> Outline<'_> {
        let r = self.radius_m;
        match &self.core {
            Core::Plane => Outline::Plane,
            Core::Point => Outline::Sphere { radius_m: r },
            Core::Segment(h) => Outline::Capsule { radius_m: r, length_m: 2.0 * h },
            Core::Box(half) => {
                Outline::Box { size_m: half.to_array().map(|half| 2.0 * (half + r)) }
            }
            Core::Cylinder(radius, h) => {
                Outline::Cylinder { radius_m: radius + r, length_m: 2.0 * (h + r) }
            }
            Core::Hull(hull) => Outline::Hull(hull),
        }
    }

    /// A distance from its origin that it does not exceed, m; infinite for a plane.
    #[must_use]
    pub fn reach_m(&self) -> f64 {
        let (center, half) = self.bounds();
        (center.abs() + half).norm()
    }

    /// The half-space z ≤ 0, free above.
    #[must_use]
    pub const fn plane() -> Self {
        Self { core: Core::Plane, radius_m: 0.0 }
    }

    /// A ball.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] if the radius is not 0 to 10 km.
    pub fn sphere(radius_m: f64) -> Result<Self> {
        check("radius_m", radius_m, SIZE_MAX_M)?;
        Ok(Self { core: Core::Point, radius_m })
    }

    /// All points within `radius_m` of a segment of `length_m` along z: two radii longer.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] if a size is not 0 to 10 km.
    pub fn capsule(radius_m: f64, length_m: f64) -> Result<Self> {
        check("radius_m", radius_m, SIZE_MAX_M)?;
        check("length_m", length_m, SIZE_MAX_M)?;
        Ok(Self { core: Core::Segment(0.5 * length_m), radius_m })
    }

    /// A box with these edges along x, y and z, its edges rounded with `edge_radius_m`. The faces
    /// lie where the edges put them, rounded or not.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] if a size is not 0 to 10 km, or the radius is more than half an edge.
    pub fn cuboid(size_m: [f64; 3], edge_radius_m: f64) -> Result<Self> {
        for (axis, size) in ["x", "y", "z"].iter().zip(size_m) {
            check(&format!("size_m.{axis}"), size, SIZE_MAX_M)?;
            check("edge_radius_m", edge_radius_m, 0.5 * size)?;
        }
        let half = Vec3::from(size_m.map(|s| larger(0.5 * s - edge_radius_m, 0.0)));
        Ok(Self { core: Core::Box(half), radius_m: edge_radius_m })
    }

    /// A cylinder of `length_m` about z, its rims rounded with `edge_radius_m`. Caps and side lie
    /// where the sizes put them. It is a true cylinder: it rolls without steps.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] if a size is not 0 to 10 km, or the edge's radius is more than the
    /// radius or half the length.
    pub fn cylinder(radius_m: f64, length_m: f64, edge_radius_m: f64) -> Result<Self> {
        check("radius_m", radius_m, SIZE_MAX_M)?;
        check("length_m", length_m, SIZE_MAX_M)?;
        check("edge_radius_m", edge_radius_m, radius_m)?;
        check("edge_radius_m", edge_radius_m, 0.5 * length_m)?;
        let core = Core::Cylinder(radius_m - edge_radius_m, 0.5 * length_m - edge_radius_m);
        Ok(Self { core, radius_m: edge_radius_m })
    }

    /// A convex hull and everything within `added_radius_m` of it: other than with boxes, the
    /// radius is added outside.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] if the radius is not 0 to 10 km.
    pub fn hull(hull: Arc<Hull>, added_radius_m: f64) -> Result<Self> {
        check("added_radius_m", added_radius_m, SIZE_MAX_M)?;
        Ok(Self { core: Core::Hull(hull), radius_m: added_radius_m })
    }

    /// Radius by which the core is rounded, m: overlap beyond it costs more and may turn normals
    /// abruptly.
    #[must_use]
    pub const fn radius_m(&self) -> f64 {
        self.radius_m
    }

    /// Whether the shape has no end.
    #[must_use]
    pub const fn is_plane(&self) -> bool {
        matches!(self.core, Core::Plane)
    }

    /// Points of the core whose balls of [`radius_m`](Self::radius_m) have the shape as their hull:
    /// corners, ends, and 16 points of each rim of a cylinder. None for a plane.
    #[must_use]
    pub fn support_points(&self) -> Vec<Vec3> {
        let ends = [-1.0, 1.0];
        match &self.core {
            Core::Plane => Vec::new(),
            Core::Point => vec![Vec3::ZERO],
            Core::Segment(h) => ends.map(|s| Vec3::new(0.0, 0.0, s * h)).to_vec(),
            Core::Box(half) => {
                let side = |i: u8, axis: u8| if i >> axis & 1 == 1 { 1.0 } else { -1.0 };
                let corner = |i: u8| {
                    Vec3::new(side(i, 0) * half.x, side(i, 1) * half.y, side(i, 2) * half.z)
                };
                (0..8).map(corner).collect()
            }
            Core::Cylinder(r, h) => {
                let rim = |z: f64| {
                    (0..16).map(move |k| {
                        let (x, y) = rim(k);
                        Vec3::new(x * r, y * r, z)
                    })
                };
                rim(-*h).chain(rim(*h)).collect()
            }
            Core::Hull(hull) => hull.vertices().to_vec(),
        }
    }

    /// Centre and half edges of the box along the axes of S that holds the shape; infinite for a
    /// plane.
    pub(crate) fn bounds(&self) -> (Vec3, Vec3) {
        let (center, half) = match &self.core {
            Core::Plane => return (Vec3::ZERO, Vec3::new(1.0, 1.0, 1.0) * f64::INFINITY),
            Core::Point => (Vec3::ZERO, Vec3::ZERO),
            Core::Segment(h) => (Vec3::ZERO, Vec3::new(0.0, 0.0, *h)),
            Core::Box(half) => (Vec3::ZERO, *half),
            Core::Cylinder(r, h) => (Vec3::ZERO, Vec3::new(*r, *r, *h)),
            Core::Hull(hull) => hull.bounds(),
        };
        (center, half + Vec3::new(1.0, 1.0, 1.0) * self.radius_m)
    }
}

impl Core {
    /// The point of the core that is farthest in direction `d`, which need not be a unit vector.
    #[inline(always)]
    pub(crate) fn support(&self, d: Vec3) -> Vec3 {
        match self {
            Self::Plane | Self::Point => Vec3::ZERO,
            Self::Segment(h) => Vec3::new(0.0, 0.0, if d.z < 0.0 { -*h } else { *h }),
            Self::Box(half) => Vec3::new(
                if d.x < 0.0 { -half.x } else { half.x },
                if d.y < 0.0 { -half.y } else { half.y },
                if d.z < 0.0 { -half.z } else { half.z },
            ),
            Self::Cylinder(r, h) => {
                let z = if d.z < 0.0 { -*h } else { *h };
                let across = d.x * d.x + d.y * d.y;
                if across > 1e-280 {
                    let s = r / across.sqrt();
                    Vec3::new(d.x * s, d.y * s, z)
                } else {
                    Vec3::new(0.0, 0.0, z)
                }
            }
            Self::Hull(hull) => hull.vertices()[hull.support(d)],
        }
    }

    /// Length that tells rounding errors from distances, m.
    #[inline(always)]
    pub(crate) fn extent(&self) -> f64 {
        match self {
            Self::Plane | Self::Point => 0.0,
            Self::Segment(h) => *h,
            Self::Box(half) => half.x + half.y + half.z,
            Self::Cylinder(r, h) => r + h,
            Self::Hull(hull) => hull.extent_m(),
        }
    }

    /// A point inside.
    #[inline(always)]
    pub(crate) fn center(&self) -> Vec3 {
        if let Self::Hull(hull) = self { hull.bounds().0 } else { Vec3::ZERO }
    }
}

fn check(name: &str, value: f64, max: f64) -> Result<()> {
    if (0.0..=max).contains(&value) {
        return Ok(());
    }
    let text = format!("{name} is {value}; it must be 0 to {max} m");
    Err(Error::new(ErrorKind::Input, text))
}
