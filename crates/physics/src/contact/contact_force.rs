//! The record of one contact: Simbody's `ContactForce`.

use crate::spatial::{Transform, Vec3};

/// Force of one contact between the surfaces 1 and 2, reduced to a point. All vectors are in one
/// frame A; the function that returns a record names it.
///
/// ```
/// use hardstand_physics::contact::ContactForce;
/// use hardstand_physics::spatial::Vec3;
///
/// let push = |x| ContactForce {
///     point: Vec3::new(x, 0.0, 0.0),
///     force: Vec3::new(0.0, 0.0, 10.0),
///     ..ContactForce::default()
/// };
/// // both forces are normal ones; the moments about x = 0 weigh the points 1 : 3
/// let parts = [(push(1.0), push(1.0).force), (push(3.0), push(3.0).force)];
/// let sum = ContactForce::resultant(parts.into_iter(), &Vec3::zeros());
/// assert_eq!(sum.point, Vec3::new(2.5, 0.0, 0.0));
/// assert_eq!(sum.force.z, 20.0);
/// assert_eq!(sum.moment_about(&Vec3::zeros()), Vec3::new(0.0, -40.0, 0.0));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContactForce {
    /// Where the force acts on both surfaces, with opposite signs, from A's origin, m.
    pub point: Vec3,
    /// Force on surface 2, N.
    pub force: Vec3,
    /// Moment on surface 2 about `point`, N·m: what is left when the force acts there.
    pub moment: Vec3,
    /// Elastic energy stored in the contact, J.
    pub potential_energy_j: f64,
    /// Power that deformation rate and friction take out, W; positive when energy is lost.
    pub power_dissipation_w: f64,
}

impl ContactForce {
    /// The same contact from the other side: force and moment on surface 1, at the same point.
    #[must_use]
    pub fn on_surface_1(&self) -> Self {
        Self { force: -self.force, moment: -self.moment, ..*self }
    }

    /// Re-measures the point and re-expresses the vectors in frame B, where `X_BA` is the pose of
    /// the present frame A in B. The moment stays about the contact point: it is turned, not
    /// shifted.
    pub fn change_frame(&mut self, X_BA: &Transform) {
        self.point = X_BA.point(&self.point);
        self.force = X_BA.R * self.force;
        self.moment = X_BA.R * self.moment;
    }

    /// Moment on surface 2 about another point `p` of A, N·m.
    #[must_use]
    pub fn moment_about(&self, p: &Vec3) -> Vec3 {
        self.moment + (self.point - p).cross(&self.force)
    }

    /// The resultant of several parts at Simbody's centre of pressure. A part is a record and its
    /// normal force `Fn` (N, on surface 2, without friction). With `r_i` from `reference` to the
    /// point of part i:
    ///
    /// `centre = reference + Σ r_i |r_i × Fn_i| / Σ |r_i × Fn_i|`
    ///
    /// and `reference` itself if all these moments are 0. The moment of the resultant is about the
    /// centre; force and wrench are exactly the sum of the parts, energy and power add up.
    ///
    /// **The centre depends on the reference.** The weights are moments about it, not forces: they
    /// favour the parts far from it, and another reference gives another centre. So compare centres
    /// of one reference only. It is the centre of the forces themselves (`Σ r_i f_i / Σ f_i`) when
    /// all parts are equally far from the reference. The wrench does not depend on it.
    #[must_use]
    pub fn resultant(parts: impl Iterator<Item = (Self, Vec3)> + Clone, reference: &Vec3) -> Self {
        let (mut weighted, mut weights) = (Vec3::zeros(), 0.0);
        // `for_each`: a chain of iterators that a loop asks for the next part each time costs more
        parts.clone().for_each(|(part, normal_force)| {
            let r = part.point - reference;
            let weight = r.cross(&normal_force).norm();
            weighted += r * weight;
            weights += weight;
        });
        let mut sum = Self { point: *reference, ..Self::default() };
        if weights > 0.0 {
            sum.point += weighted / weights;
        }
        parts.for_each(|(part, _)| {
            sum.force += part.force;
            sum.moment += part.moment_about(&sum.point);
            sum.potential_energy_j += part.potential_energy_j;
            sum.power_dissipation_w += part.power_dissipation_w;
        });
        sum
    }
}
