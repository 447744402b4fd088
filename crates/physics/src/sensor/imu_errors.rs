//! The numbers of an inertial measurement unit that is not perfect.

use crate::actuator::drive::Key;

use super::{OrientationError, Triaxial, Vibration};

/// What an inertial measurement unit adds to the truth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImuErrors {
    /// Samples a second, at most one a tick; 0: every tick. It holds them in between.
    pub rate_hz: f64,
    /// Time from a sample to the controller, µs.
    pub delay_us: f64,
    /// Gyroscope, rad/s.
    pub gyro: Triaxial,
    /// Accelerometer, m/s².
    pub accel: Triaxial,
    /// Error of the orientation that the unit reports.
    pub orientation: OrientationError,
    /// How the structure around it rings.
    pub vibration: Vibration,
}

/// Correlation time of a bias unless another one is given, s.
const BIAS_TIME_S: f64 = 100.0;

type ImuKey = Key<ImuErrors>;

/// The keys of one of the two triads: its name, its unit in names, and its range.
macro_rules! triad {
    ($of:ident, $u:literal, $max:expr) => {
        [
            ImuKey::new(
                concat!(stringify!($of), ".noise_density_", $u, "_per_sqrt_hz"),
                (0.0, $max),
                "white noise, one-sided, as data sheets give it",
                |s| &mut s.$of.noise_density,
            ),
            ImuKey::new(
                concat!(stringify!($of), ".bias_", $u),
                (0.0, $max),
                "standard deviation of the bias at switch-on",
                |s| &mut s.$of.bias,
            ),
            ImuKey::new(
                concat!(stringify!($of), ".bias_instability_", $u),
                (0.0, $max),
                "largest Allan deviation of the bias that comes and goes",
                |s| &mut s.$of.bias_instability,
            ),
            ImuKey::new(
                concat!(stringify!($of), ".bias_time_s"),
                (0.01, 1e6),
                "correlation time of that bias",
                |s| &mut s.$of.bias_time_s,
            ),
            ImuKey::new(
                concat!(stringify!($of), ".bias_walk_", $u, "_per_s_per_sqrt_hz"),
                (0.0, $max),
                "random walk of the bias",
                |s| &mut s.$of.bias_walk,
            ),
            ImuKey::new(
                concat!(stringify!($of), ".scale_error"),
                (0.0, 0.5),
                "standard deviation of the scale of each axis",
                |s| &mut s.$of.scale_error,
            ),
            ImuKey::new(
                concat!(stringify!($of), ".misalignment_rad"),
                (0.0, 0.5),
                "standard deviation of the angle of an axis towards another",
                |s| &mut s.$of.misalignment_rad,
            ),
            ImuKey::new(
                concat!(stringify!($of), ".range_", $u),
                (0.0, 1e6),
                "largest reading; 0: unlimited",
                |s| &mut s.$of.range,
            ),
            ImuKey::new(
                concat!(stringify!($of), ".resolution_", $u),
                (0.0, $max),
                "step of the reading; 0: continuous",
                |s| &mut s.$of.resolution,
            ),
            ImuKey::new(
                concat!(stringify!($of), ".bandwidth_hz"),
                (0.0, 1e6),
                "low-pass of first order; 0: none",
                |s| &mut s.$of.bandwidth_hz,
            ),
            ImuKey::new(
                concat!(stringify!($of), ".vibration_", $u, "_per_n"),
                (0.0, $max),
                "ringing on each axis for an impact of 1 N",
                |s| &mut s.$of.vibration_per_n,
            ),
        ]
    };
}

impl ImuErrors {
    /// The truth.
    pub const NONE: Self = {
        let triad = Triaxial {
            noise_density: 0.0,
            bias: 0.0,
            bias_instability: 0.0,
            bias_time_s: BIAS_TIME_S,
            bias_walk: 0.0,
            scale_error: 0.0,
            misalignment_rad: 0.0,
            range: 0.0,
            resolution: 0.0,
            bandwidth_hz: 0.0,
            vibration_per_n: 0.0,
        };
        Self {
            rate_hz: 0.0,
            delay_us: 0.0,
            gyro: triad,
            accel: triad,
            orientation: OrientationError { tilt_rad: 0.0, heading_rad: 0.0, time_s: BIAS_TIME_S },
            vibration: Vibration { frequency_hz: 0.0, damping_ratio: 0.05 },
        }
    };

    const TIME: [ImuKey; 2] = [
        ImuKey::new("rate_hz", (0.0, 1e5), "samples a second; 0: every tick", |s| &mut s.rate_hz),
        ImuKey::new("delay_us", (0.0, 2e5), "from a sample to the controller", |s| &mut s.delay_us),
    ];
    const GYRO: [ImuKey; 11] = triad!(gyro, "rad_per_s", 100.0);
    const ACCEL: [ImuKey; 11] = triad!(accel, "m_per_s2", 1000.0);
    const REST: [ImuKey; 5] = [
        ImuKey::new("orientation.tilt_rad", (0.0, 1.0), "error about x and y of the world", |s| {
            &mut s.orientation.tilt_rad
        }),
        ImuKey::new("orientation.heading_rad", (0.0, 4.0), "error about z of the world", |s| {
            &mut s.orientation.heading_rad
        }),
        ImuKey::new("orientation.time_s", (0.01, 1e6), "correlation time of these errors", |s| {
            &mut s.orientation.time_s
        }),
        ImuKey::new("vibration.frequency_hz", (0.0, 1e4), "ringing after impacts; 0: none", |s| {
            &mut s.vibration.frequency_hz
        }),
        ImuKey::new("vibration.damping_ratio", (0.0, 0.99), "its damping ratio", |s| {
            &mut s.vibration.damping_ratio
        }),
    ];

    /// All numbers that can be set.
    pub fn keys() -> impl Iterator<Item = &'static Key<Self>> {
        Self::TIME.iter().chain(&Self::GYRO).chain(&Self::ACCEL).chain(&Self::REST)
    }

    /// What is wrong with numbers that are each in their range, and the key that is to blame.
    #[must_use]
    pub fn contradiction(&self) -> Option<(&'static str, String)> {
        let (gyro, accel) = (&self.gyro, &self.accel);
        let steps = [
            ("gyro.range_rad_per_s", gyro, "gyro.resolution_rad_per_s"),
            ("accel.range_m_per_s2", accel, "accel.resolution_m_per_s2"),
        ];
        let ringing = [
            ("gyro.vibration_rad_per_s_per_n", gyro.vibration_per_n),
            ("accel.vibration_m_per_s2_per_n", accel.vibration_per_n),
        ];
        for (range, triad, resolution) in steps {
            if let Some(allowed) = too_short(triad.range, resolution, triad.resolution) {
                return Some((range, allowed));
            }
        }
        let still = self.vibration.frequency_hz <= 0.0;
        let (key, _) = ringing.into_iter().find(|(_, per_n)| still && *per_n > 0.0)?;
        Some((key, "0 without vibration.frequency_hz".into()))
    }
}

/// What a range must be that is shorter than one step of the reading.
pub(super) fn too_short(range: f64, resolution_key: &str, resolution: f64) -> Option<String> {
    let short = range > 0.0 && range < resolution;
    short.then(|| format!("at least {resolution_key}, {resolution}, or 0 for no limit"))
}

impl Default for ImuErrors {
    fn default() -> Self {
        Self::NONE
    }
}
