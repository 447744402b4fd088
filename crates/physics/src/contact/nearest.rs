//! What every ground shape answers: how far, in which direction, and where.

use crate::spatial::Vec3;

/// The point of a ground's surface that is nearest to a query point `p`, in the ground's frame S.
///
/// [`Heightfield`](super::Heightfield) and [`ConvexSolid`](super::ConvexSolid) give it. A sphere of
/// radius `r` about `p` is `distance_m − r` away, with the same normal.
///
/// ```
/// use hardstand_physics::contact::ConvexSolid;
/// use hardstand_physics::spatial::Vec3;
/// let table = ConvexSolid::cuboid([1.0, 1.0, 0.1], 0.005)?;
/// let n = table.nearest(&Vec3::new(0.2, 0.0, 0.07));
/// assert!((n.distance_m - 0.02).abs() < 1e-15);
/// assert_eq!(n.normal_S, Vec3::z());
/// # Ok::<(), hardstand_error::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nearest {
    /// Distance of `p` from the surface, m: positive outside, negative inside.
    pub distance_m: f64,
    /// Unit normal at the nearest point, out of the ground.
    pub normal_S: Vec3,
    /// The nearest point, m.
    pub point_S: Vec3,
}
