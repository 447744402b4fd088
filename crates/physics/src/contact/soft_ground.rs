//! Ground that gives way for good: sand, mud, snow.

use hardstand_error::{Error, ErrorKind, Result};

/// Sinkage of a station: linear on the way in, steeper on the way out (the hysteretic law of Walton
/// and Braun, 1986). With the depth `x` below the level surface, the deepest `s` so far in this
/// print, and the rebound ratio `ρ`:
///
/// ```text
/// x ≥ s:  f = k x                    the print grows: s = x
/// x < s:  f = ρ k (x − s (1 − 1/ρ))  at least 0: the print stays, s (1 − 1/ρ) deep
/// damping f c ẋ, at least −f
/// ```
///
/// Of the work `k s² / 2` of the way in, the share `1/ρ` comes back. A print is a bowl: at the
/// distance `r` from where it is deepest it is `s (1 − (r / R)²)` deep, and nothing beyond `R`.
///
/// ```
/// use hardstand_physics::contact::SoftGround;
///
/// let sand = SoftGround::new(4000.0, 10.0, 0.0, 0.05)?;
/// let (way_in, way_out) = (sand.evaluate(0.02, 0.1, 0.01), sand.evaluate(0.019, -0.1, 0.02));
/// assert_eq!((way_in.normal_n, way_in.deepest_m), (80.0, 0.02));
/// assert!((way_out.normal_n - 40.0).abs() < 1e-9 && way_out.deepest_m == 0.02);
/// assert_eq!(sand.evaluate(0.017, 0.0, 0.02).normal_n, 0.0);
/// # Ok::<(), hardstand_error::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SoftGround {
    sink_n_per_m: f64,
    rebound: f64,
    dissipation_s_per_m: f64,
    print_radius_m: f64,
}

/// The normal force of soft ground on one station.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SoftForce {
    /// Without damping, N.
    pub elastic_n: f64,
    /// Normal force, N; never negative.
    pub normal_n: f64,
    /// Deepest point of the print if this evaluation is committed, m.
    pub deepest_m: f64,
    /// Energy that would come back, J.
    pub stored_j: f64,
    /// Power that the ground takes for good, W.
    pub dissipated_w: f64,
    /// How the force gives way, N/m and N·s/m.
    pub slopes: [f64; 2],
}

impl SoftGround {
    /// Stiffness of the way in for one station, N/m; how many times steeper the way out is;
    /// damping, s/m; radius of a print, m.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] unless all are finite, stiffness and radius greater than 0, the ratio
    /// at least 1 and the damping at least 0.
    pub fn new(
        sink_n_per_m: f64,
        rebound: f64,
        dissipation_s_per_m: f64,
        print_radius_m: f64,
    ) -> Result<Self> {
        let check = |name: &str, value: f64, ok: bool, range: &str| {
            if ok && value.is_finite() {
                return Ok(());
            }
            Err(Error::new(ErrorKind::Input, format!("{name} is {value}; it must be {range}")))
        };
        let above = "finite and greater than 0";
        check("sink_n_per_m", sink_n_per_m, sink_n_per_m > 0.0, above)?;
        check("rebound", rebound, rebound >= 1.0, "finite and at least 1")?;
        let damps = dissipation_s_per_m >= 0.0;
        check("dissipation_s_per_m", dissipation_s_per_m, damps, "finite and at least 0")?;
        check("print_radius_m", print_radius_m, print_radius_m > 0.0, above)?;
        Ok(Self { sink_n_per_m, rebound, dissipation_s_per_m, print_radius_m })
    }

    /// Radius of a print, m.
    #[must_use]
    pub const fn print_radius_m(&self) -> f64 {
        self.print_radius_m
    }

    /// Depth of the print whose bottom is `depth_m` below the level surface, m; 0 above that.
    #[must_use]
    pub fn pressed_m(&self, depth_m: f64) -> f64 {
        if depth_m > 0.0 { depth_m / (1.0 - 1.0 / self.rebound) } else { 0.0 }
    }

    /// Depth of a print of depth `deepest_m` at this distance from its middle, m.
    #[must_use]
    pub fn print_m(&self, deepest_m: f64, distance_m: f64) -> f64 {
        let share = distance_m / self.print_radius_m;
        if share < 1.0 { deepest_m * (1.0 - share * share) } else { 0.0 }
    }

    /// Force on a station at `depth_m` below the level surface that sinks at `sinking_m_per_s`,
    /// where the print has been `print_m` deep.
    #[must_use]
    pub fn evaluate(&self, depth_m: f64, sinking_m_per_s: f64, print_m: f64) -> SoftForce {
        let (way_in, way_out) = (self.sink_n_per_m, self.rebound * self.sink_n_per_m);
        let loads = depth_m >= print_m && depth_m > 0.0;
        let (elastic_n, deepest_m, stiffness) = if loads {
            (way_in * depth_m, depth_m, way_in)
        } else {
            (way_out * (depth_m - print_m * (1.0 - 1.0 / self.rebound)), print_m, way_out)
        };
        if elastic_n <= 0.0 {
            return SoftForce { deepest_m, ..SoftForce::default() };
        }
        let damping_n = elastic_n * self.dissipation_s_per_m * sinking_m_per_s;
        let (damping_n, damps) = if damping_n > -elastic_n {
            (damping_n, elastic_n * self.dissipation_s_per_m)
        } else {
            (-elastic_n, 0.0)
        };
        let crushes = loads && sinking_m_per_s > 0.0;
        let kept = if crushes { 1.0 - 1.0 / self.rebound } else { 0.0 };
        SoftForce {
            elastic_n,
            normal_n: elastic_n + damping_n,
            deepest_m,
            stored_j: 0.5 * elastic_n * elastic_n / way_out,
            dissipated_w: (kept * elastic_n + damping_n) * sinking_m_per_s,
            slopes: [stiffness, damps],
        }
    }
}
