//! Pieces of ground: what a station meets, at rest or on a platform that moves.

use crate::spatial::{Mat3, Transform, Vec3};

use super::{ConvexSolid, Heightfield, PlatformMotion, SoftGround, SpringChanges, StationShape};

/// Shape of a piece of ground in its own frame S.
#[derive(Clone, Debug, PartialEq)]
pub enum SurfaceShape {
    /// The plane z = 0; free above.
    Plane,
    /// A height over the plane.
    Heightfield(Heightfield),
    /// A convex solid with rounded edges: a step, a ramp.
    Solid(ConvexSolid),
}

/// A piece of ground.
#[derive(Clone, Debug, PartialEq)]
pub struct Surface {
    /// Name, unique.
    pub name: String,
    /// Pose of S in W at rest.
    pub X_WS: Transform,
    /// Shape.
    pub shape: SurfaceShape,
    /// What it is fixed to, if it moves.
    pub platform: Option<Platform>,
    /// Parameters that exponential springs have on it.
    pub spring: SpringChanges,
    /// How stations with springs sink in; `None` for firm ground.
    pub soft: Option<SoftGround>,
}

/// Something that moves as prescribed, and carries a piece of ground or several.
#[derive(Clone, Debug, PartialEq)]
pub struct Platform {
    /// Pose of the platform's frame E in W at rest. It turns about E's origin.
    pub X_WE: Transform,
    /// Its motion.
    pub motion: PlatformMotion,
}

/// Where a piece of ground is and how it moves at one instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfacePose {
    /// Pose of S in W.
    pub X_WS: Transform,
    /// Angular velocity in W, rad/s.
    pub w_W: Vec3,
    /// Velocity of S's origin in W, m/s.
    pub v_W: Vec3,
}

/// One station against one piece of ground, at one instant. C is the contact's frame: z is the
/// ground's normal; for a plane C is the plane's own frame, for other shapes its origin is the
/// point of the ground that is nearest to the station.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touch {
    /// Pose of C in S; `None` for a plane, where they are the same.
    pub X_SC: Option<Transform>,
    /// Axes of C in W.
    pub R_WC: Mat3,
    /// The body's point nearest to the ground, in C, m: z is the height, negative inside.
    pub p_C: Vec3,
    /// The same point in W, m. The force acts here.
    pub point_W: Vec3,
}

/// `Rᵀ v`. Most ground is level: then `v` as it is, to the sign of a zero.
fn into_axes(R: &Mat3, v: &Vec3) -> Vec3 {
    if *R == Mat3::identity() { *v } else { R.tr_mul(v) }
}

impl Touch {
    /// A force or velocity from W to C axes.
    #[must_use]
    pub fn vector_from_W(&self, v_W: &Vec3) -> Vec3 {
        into_axes(&self.R_WC, v_W)
    }

    /// A force or velocity from C to W axes.
    #[must_use]
    pub fn vector_to_W(&self, v_C: &Vec3) -> Vec3 {
        if self.R_WC == Mat3::identity() { *v_C } else { self.R_WC * v_C }
    }

    /// From S to C coordinates.
    #[must_use]
    pub fn point_C(&self, p_S: &Vec3) -> Vec3 {
        self.X_SC.map_or(*p_S, |X_SC| X_SC.point_inverse(p_S))
    }

    /// From C to S coordinates.
    #[must_use]
    pub fn point_S(&self, p_C: &Vec3) -> Vec3 {
        self.X_SC.map_or(*p_C, |X_SC| X_SC.point(p_C))
    }
}

impl SurfacePose {
    /// Velocity in W of the point of the ground that is at `p_W`, m/s.
    #[must_use]
    pub fn velocity_at(&self, p_W: &Vec3) -> Vec3 {
        self.v_W + self.w_W.cross(&(p_W - self.X_WS.p))
    }
}

impl Surface {
    /// A plane at rest, z of `X_WS` its normal.
    #[must_use]
    pub fn plane(name: &str, X_WS: Transform) -> Self {
        let spring = SpringChanges::default();
        let (shape, platform) = (SurfaceShape::Plane, None);
        Self { name: name.into(), X_WS, shape, platform, spring, soft: None }
    }

    /// Where it is at the simulated time `t_ns`.
    #[must_use]
    pub fn pose(&self, t_ns: u64) -> SurfacePose {
        let Some(Platform { X_WE, motion }) = &self.platform else {
            return SurfacePose { X_WS: self.X_WS, w_W: Vec3::zeros(), v_W: Vec3::zeros() };
        };
        let V = motion.velocity(t_ns);
        let moved_WE = X_WE.compose(&motion.displacement(t_ns));
        let X_WS = moved_WE.compose(&X_WE.inverse().compose(&self.X_WS));
        let w_W = X_WE.R * V.ang;
        let v_W = X_WE.R * V.lin + w_W.cross(&(X_WS.p - moved_WE.p));
        SurfacePose { X_WS, w_W, v_W }
    }

    /// The contact of a station whose centre is at `center_W`, on a body with axes `R_WB`.
    #[must_use]
    pub fn touch(
        &self,
        pose: &SurfacePose,
        station: &StationShape,
        R_WB: &Mat3,
        center_W: &Vec3,
    ) -> Touch {
        let nearest = |p_S: &Vec3| match &self.shape {
            SurfaceShape::Plane => None,
            SurfaceShape::Heightfield(h) => Some(h.nearest(p_S)),
            SurfaceShape::Solid(s) => Some(s.nearest(p_S)),
        };
        let X_WS = &pose.X_WS;
        // from the station's centre to the centre of the roundness that touches
        let to_tube_W = |n_W: &Vec3| match station {
            StationShape::Torus { .. } => R_WB * station.center_to_tube(&R_WB.tr_mul(n_W)),
            _ => Vec3::zeros(),
        };
        let Some(first) = nearest(&X_WS.point_inverse(center_W)) else {
            let n_W: Vec3 = X_WS.R.column(2);
            let point_W = center_W + to_tube_W(&n_W) - n_W * station.round_m();
            let p_C = into_axes(&X_WS.R, &(point_W - X_WS.p));
            return Touch { X_SC: None, R_WC: X_WS.R, p_C, point_W };
        };
        // on curved ground the lowest point depends on the normal there: look again from the tube
        let tube_W = center_W + to_tube_W(&(X_WS.R * first.normal_S));
        let at = nearest(&X_WS.point_inverse(&tube_W)).unwrap_or(first);
        let X_SC = Transform::new(level_axes(&at.normal_S), at.point_S);
        let R_WC = X_WS.R * X_SC.R;
        let point_W = tube_W - R_WC * Vec3::z() * station.round_m();
        let p_C = Vec3::new(0.0, 0.0, at.distance_m - station.round_m());
        Touch { X_SC: Some(X_SC), R_WC, p_C, point_W }
    }
}

/// Right-handed axes with this unit normal as z. Which way x points jumps somewhere for any choice;
/// friction has no preferred direction, so nothing depends on it.
#[must_use]
pub fn level_axes(n: &Vec3) -> Mat3 {
    let helper = if n.x.abs() < 0.7 { Vec3::x() } else { Vec3::y() };
    let y = n.cross(&helper).normalize();
    Mat3::from_columns(&[y.cross(n), y, *n])
}
