//! A change of friction, and of where friction springs begin.

use serde::{Deserialize, Serialize};

use crate::Scope;

/// New coefficients of friction that an operator requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FrictionRequest {
    /// Layout hash of the robot and the regions that are meant.
    pub layout_hash: u64,
    /// What is meant: 0 all stations, 1 a station, 2 a foot, 3 a region.
    pub scope: u8,
    /// Index of the station, foot or region in the order of `model`; 0 for all stations.
    pub index: u32,
    /// Static coefficient, 0 to [`FRICTION_MAX`](crate::limits::FRICTION_MAX).
    pub mu_static: f64,
    /// Kinetic coefficient, 0 to `mu_static`.
    pub mu_kinetic: f64,
}

impl FrictionRequest {
    /// A request for the robot and the regions that `layout_hash` names.
    ///
    /// ```
    /// use hardstand_protocol::{FrictionRequest, Scope};
    ///
    /// let slip = FrictionRequest::new(0x1234, Scope::Foot(2), 0.1, 0.05);
    /// assert_eq!((slip.scope, slip.index), (2, 2));
    /// ```
    #[must_use]
    pub const fn new(layout_hash: u64, scope: Scope, mu_static: f64, mu_kinetic: f64) -> Self {
        let (scope, index) = scope.numbers();
        Self { layout_hash, scope, index, mu_static, mu_kinetic }
    }
}

/// Stations whose friction springs begin anew: what the order `anchors` is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnchorsRequest {
    /// Layout hash of the robot that is meant.
    pub layout_hash: u64,
    /// What is meant: 0 all stations, 1 a station, 2 a foot.
    pub scope: u8,
    /// Index of the station or foot in the order of `model`; 0 for all stations.
    pub index: u32,
}

impl AnchorsRequest {
    /// A request for the robot that `layout_hash` names.
    #[must_use]
    pub const fn new(layout_hash: u64, scope: Scope) -> Self {
        let (scope, index) = scope.numbers();
        Self { layout_hash, scope, index }
    }
}
