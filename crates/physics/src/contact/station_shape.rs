//! Stations that are not points: a ball foot, a wheel, the rim of a disc.

use crate::math;
use crate::spatial::{Mat3, Vec3};
use hardstand_error::Result;

use super::range::{refuse, require};

/// Below this sine of its tilt a torus counts as lying flat: 1.15°.
const FLAT: f64 = 0.02;

/// The round body of a station, about the station's point, fixed in the body B.
///
/// Whatever its orientation, a round body touches a plane with one point; [`lowest`](Self::lowest)
/// finds it. On curved ground, ask the ground about the point at
/// [`center_to_tube`](Self::center_to_tube) and take [`round_m`](Self::round_m) off the distance:
/// exact for a sphere; for a torus exact as far as the ground's normal is the same at both points.
///
/// ```
/// use hardstand_physics::contact::StationShape;
/// use hardstand_physics::spatial::Vec3;
/// let wheel =
///     StationShape::Torus { axis_B: Vec3::y(), ring_radius_m: 0.08, tube_radius_m: 0.02 };
/// wheel.check()?;
/// assert_eq!(wheel.lowest(&Vec3::z()), Vec3::new(0.0, 0.0, -0.1));
/// # Ok::<(), hardstand_error::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StationShape {
    /// The station's point itself.
    Point,
    /// A ball about the station's point.
    Sphere {
        /// Radius, m. 0 to 10.
        radius_m: f64,
    },
    /// All points within `tube_radius_m` of a circle about the station's point: a wheel, or the
    /// edge of a disc.
    Torus {
        /// Unit vector along the axis of the circle, in B.
        axis_B: Vec3,
        /// Radius of the circle, m. 0 to 10.
        ring_radius_m: f64,
        /// Radius of the tube, m. 0 to 10; 0 is the sharp edge of a disc.
        tube_radius_m: f64,
    },
}

impl StationShape {
    /// Checks every parameter.
    ///
    /// # Errors
    /// [`Input`](hardstand_error::ErrorKind::Input) with all parameters that are out of range.
    pub fn check(&self) -> Result<()> {
        let mut m = Vec::new();
        match self {
            Self::Point => {}
            Self::Sphere { radius_m } => require(&mut m, "radius_m", *radius_m, 0.0, 10.0),
            Self::Torus { axis_B, ring_radius_m, tube_radius_m } => {
                let unit = (axis_B.norm() - 1.0).abs() < 1e-9;
                if !unit {
                    let (x, y, z) = (axis_B.x, axis_B.y, axis_B.z);
                    m.push(format!("axis_B is [{x}, {y}, {z}]; it must be a unit vector"));
                }
                require(&mut m, "ring_radius_m", *ring_radius_m, 0.0, 10.0);
                require(&mut m, "tube_radius_m", *tube_radius_m, 0.0, 10.0);
            }
        }
        refuse("station shape", &m)
    }

    /// Offset in B from the station's point to the lowest point of the shape against the unit
    /// normal `normal_B` of the ground, m: what touches a plane first.
    ///
    /// The lowest point of a torus runs around the ring however little the torus is tilted, and
    /// lying flat it is the whole ring. So within 1.15° of flat the offset from the centre to the
    /// tube fades to 0 with a smooth step in the sine of the tilt, and the force moves to the
    /// centre instead of jumping around. Meanwhile the point is at most 0.55 % of `ring_radius_m`
    /// higher than the true one; above 1.15° it is exact.
    #[must_use]
    pub fn lowest(&self, normal_B: &Vec3) -> Vec3 {
        self.center_to_tube(normal_B) - normal_B * self.round_m()
    }

    /// The part of [`lowest`](Self::lowest) without the roundness, m: from the station's point to
    /// the centre of the tube that touches. 0 unless the shape is a torus.
    #[must_use]
    pub fn center_to_tube(&self, normal_B: &Vec3) -> Vec3 {
        let Self::Torus { axis_B, ring_radius_m, .. } = self else {
            return Vec3::zeros();
        };
        let down = axis_B * normal_B.dot(axis_B) - normal_B; // in the ring's plane
        let sin_tilt = down.norm();
        if sin_tilt > 0.0 {
            down * (ring_radius_m * math::step_up(sin_tilt / FLAT) / sin_tilt)
        } else {
            Vec3::zeros()
        }
    }

    /// The same shape, its axis written in other axes: `R_AB` turns B's into A's.
    #[must_use]
    pub fn turned(self, R_AB: &Mat3) -> Self {
        match self {
            Self::Torus { axis_B, ring_radius_m, tube_radius_m } => {
                Self::Torus { axis_B: R_AB * axis_B, ring_radius_m, tube_radius_m }
            }
            other => other,
        }
    }

    /// Radius of the ring, 0 for a point or sphere, m.
    #[must_use]
    pub const fn ring_m(&self) -> f64 {
        match self {
            Self::Torus { ring_radius_m, .. } => *ring_radius_m,
            _ => 0.0,
        }
    }

    /// How far it reaches from its centre, m.
    pub(crate) const fn extent_m(&self) -> f64 {
        self.ring_m() + self.round_m()
    }

    /// Radius of the sphere or of the tube, 0 for a point, m.
    #[must_use]
    pub const fn round_m(&self) -> f64 {
        match self {
            Self::Point => 0.0,
            Self::Sphere { radius_m } => *radius_m,
            Self::Torus { tube_radius_m, .. } => *tube_radius_m,
        }
    }
}
