//! The numbers of a foot's force sensor: forces and moments along three axes, and the normal force.

use crate::actuator::drive::Key;
use crate::spatial::Mat3;

use super::imu_errors::too_short;

/// The numbers of all channels of forces, or of moments (u: N or N·m); all 0: none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FootChannel {
    /// Standard deviation of the gain, as a share, drawn once for each channel of each foot.
    pub gain_error: f64,
    /// Standard deviation of the zero, u, drawn once for each channel of each foot.
    pub offset: f64,
    /// Standard deviation of a reading, u.
    pub noise: f64,
    /// Largest magnitude, u; 0: unlimited.
    pub range: f64,
    /// Step of the reading, u; 0: continuous.
    pub resolution: f64,
    /// Width of the loop between loading and unloading, u.
    pub hysteresis: f64,
}

/// The numbers of a foot's sensor.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FootSensor {
    /// Time from the foot to the controller, µs.
    pub delay_us: f64,
    /// Low-pass of first order; 0: none.
    pub cutoff_hz: f64,
    /// Forces, N.
    pub force: FootChannel,
    /// Moments, N·m.
    pub moment: FootChannel,
    /// Shares of forces that show along other axes: `[x of y, x of z, y of x, y of z, z of x, z of
    /// y]`.
    pub shares: [f64; 6],
}

type FootKey = Key<FootSensor>;

/// The keys of forces or moments, with their unit.
macro_rules! channel {
    ($of:ident, $u:literal) => {
        [
            FootKey::new(
                concat!(stringify!($of), ".gain_error"),
                (0.0, 0.5),
                "deviation of the gain",
                |s| &mut s.$of.gain_error,
            ),
            FootKey::new(
                concat!(stringify!($of), ".offset_", $u),
                (0.0, 1e6),
                "deviation of the zero",
                |s| &mut s.$of.offset,
            ),
            FootKey::new(
                concat!(stringify!($of), ".noise_", $u),
                (0.0, 1e6),
                "standard deviation of a reading",
                |s| &mut s.$of.noise,
            ),
            FootKey::new(
                concat!(stringify!($of), ".range_", $u),
                (0.0, 1e6),
                "largest magnitude; 0: unlimited",
                |s| &mut s.$of.range,
            ),
            FootKey::new(
                concat!(stringify!($of), ".resolution_", $u),
                (0.0, 1e6),
                "step of the reading; 0: continuous",
                |s| &mut s.$of.resolution,
            ),
            FootKey::new(
                concat!(stringify!($of), ".hysteresis_", $u),
                (0.0, 1e6),
                "width of the loop between loading and unloading",
                |s| &mut s.$of.hysteresis,
            ),
        ]
    };
}

impl FootSensor {
    const TIME: [FootKey; 2] = [
        FootKey::new("delay_us", (0.0, 2e5), "from the foot to the controller", |s| {
            &mut s.delay_us
        }),
        FootKey::new("cutoff_hz", (0.0, 1e6), "low-pass; 0: none", |s| &mut s.cutoff_hz),
    ];
    const FORCE: [FootKey; 6] = channel!(force, "n");
    const MOMENT: [FootKey; 6] = channel!(moment, "nm");
    const CROSSTALK: [FootKey; 6] = [
        FootKey::new("crosstalk.x_of_y", (-1.0, 1.0), "share", |s| &mut s.shares[0]),
        FootKey::new("crosstalk.x_of_z", (-1.0, 1.0), "share", |s| &mut s.shares[1]),
        FootKey::new("crosstalk.y_of_x", (-1.0, 1.0), "share", |s| &mut s.shares[2]),
        FootKey::new("crosstalk.y_of_z", (-1.0, 1.0), "share", |s| &mut s.shares[3]),
        FootKey::new("crosstalk.z_of_x", (-1.0, 1.0), "share", |s| &mut s.shares[4]),
        FootKey::new("crosstalk.z_of_y", (-1.0, 1.0), "share", |s| &mut s.shares[5]),
    ];

    /// All numbers that can be set.
    pub fn keys() -> impl Iterator<Item = &'static Key<Self>> {
        Self::TIME.iter().chain(&Self::FORCE).chain(&Self::MOMENT).chain(&Self::CROSSTALK)
    }

    /// What is wrong with numbers that are each in their range, and the key that is to blame.
    #[must_use]
    pub fn contradiction(&self) -> Option<(&'static str, String)> {
        let channels = [
            ("force.range_n", &self.force, "force.resolution_n"),
            ("moment.range_nm", &self.moment, "moment.resolution_nm"),
        ];
        channels.into_iter().find_map(|(range, channel, resolution)| {
            Some((range, too_short(channel.range, resolution, channel.resolution)?))
        })
    }

    /// What the forces add to each other.
    #[must_use]
    pub fn crosstalk(&self) -> Mat3 {
        let [xy, xz, yx, yz, zx, zy] = self.shares;
        let rows = [[0.0, xy, xz], [yx, 0.0, yz], [zx, zy, 0.0]];
        Mat3::from_fn(|r, c| rows[r][c])
    }
}
