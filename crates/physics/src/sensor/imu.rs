//! Inertial measurement unit.

use crate::spatial::{Quaternion, Transform, Vec3};

/// Where the unit sits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImuSpec {
    /// The body that carries it.
    pub body: usize,
    /// Pose of its frame I in that body.
    pub X_BI: Transform,
}

/// One reading, in the axes of the unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImuReading {
    /// Orientation of the unit in W.
    pub quat_WI: Quaternion,
    /// Angular velocity, rad/s.
    pub angular_velocity_I: Vec3,
    /// Specific force, m/s²: +9.81 on z for a unit at rest and upright.
    pub specific_force_I: Vec3,
}

impl ImuSpec {
    /// Reading for a body at `X_WB` that turns with `w_WB_B`, after the unit's velocity has changed
    /// by `dv_W` within `dt_s`: the mean over that time, as a unit that integrates delta velocity
    /// gives it.
    #[must_use]
    pub fn read(
        &self,
        X_WB: &Transform,
        w_WB_B: &Vec3,
        dv_W: &Vec3,
        dt_s: f64,
        gravity_W: &Vec3,
    ) -> ImuReading {
        let R_WI = X_WB.R * self.X_BI.R;
        ImuReading {
            quat_WI: Quaternion::from_matrix(&R_WI),
            angular_velocity_I: self.X_BI.R.tr_mul(w_WB_B),
            specific_force_I: R_WI.tr_mul(&(dv_W / dt_s - gravity_W)),
        }
    }
}
