//! The contact laws with their parameters, and the shape of the cube.

use hardstand_physics::contact::{
    ContactMaterial, ExponentialSpring, Friction, HertzPair, HuntCrossley, Restitution,
    RollingFriction, SpringParameters, StationShape, Stiction,
};
use hardstand_physics::math;
use hardstand_physics::plant::{ContactModel, Station};
use hardstand_physics::spatial::Vec3;

use super::Result;

/// A contact law of the physics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Law {
    /// Exponential spring with Simbody's friction.
    Spring,
    /// Exponential spring with friction that holds.
    Holding,
    HuntCrossley,
    Rigid,
}

/// A parameter, and the range in which it is looked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parameter {
    pub(crate) name: &'static str,
    low: f64,
    high: f64,
    /// Looked for in powers: for a quantity whose magnitude is not known.
    log: bool,
    /// Where the search begins.
    pub(crate) first: f64,
}

const fn linear(name: &'static str, low: f64, high: f64, first: f64) -> Parameter {
    Parameter { name, low, high, log: false, first }
}

const fn log(name: &'static str, low: f64, high: f64, first: f64) -> Parameter {
    Parameter { name, low, high, log: true, first }
}

impl Parameter {
    /// Value at `u`, 0 to 1.
    pub(crate) fn at(&self, u: f64) -> f64 {
        let u = u.clamp(0.0, 1.0);
        if self.log {
            self.low * math::pow(self.high / self.low, u)
        } else {
            self.low + u * (self.high - self.low)
        }
    }

    /// The `u` of a value: [`at`](Self::at) backwards.
    pub(crate) fn place(&self, value: f64) -> f64 {
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..50 {
            let middle = 0.5 * (low + high);
            if self.at(middle) < value { low = middle } else { high = middle }
        }
        low
    }
}

/// Friction, rounding and inertia of the cube: for every law.
const CUBE: [Parameter; 3] = [
    linear("mu", 0.05, 0.4, 0.17),
    linear("radius_m", 0.0005, 0.012, 0.005),
    linear("inertia_kg_m2", 0.0007, 0.0011, 0.000_9),
];
const SPRING: [Parameter; 9] = [
    CUBE[0],
    CUBE[1],
    CUBE[2],
    linear("d0_m", -0.002, 0.004, 0.001),
    log("d2_per_m", 300.0, 4000.0, 1600.0),
    linear("cz_s_per_m", 0.5, 8.0, 4.0),
    log("kxy_n_per_m", 200.0, 50_000.0, 1_000.0),
    log("cxy_n_s_per_m", 3.0, 300.0, 75.0),
    linear("constant_friction_n", 0.0, 0.4, 0.05),
];
const HUNT_CROSSLEY: [Parameter; 7] = [
    CUBE[0],
    CUBE[1],
    CUBE[2],
    log("stiffness_pa", 1e5, 1e9, 1e7),
    linear("dissipation_s_per_m", 0.0, 8.0, 2.0),
    linear("mu_viscous_s_per_m", 0.0, 0.1, 0.01),
    log("transition_m_per_s", 3e-3, 0.5, 0.03),
];

const RIGID: [Parameter; 7] = [
    CUBE[0],
    CUBE[1],
    CUBE[2],
    // of a corner that sticks or lands, over that of one that slides
    linear("mu_static_ratio", 1.0, 2.0, 1.1),
    linear("restitution", 0.0, 0.8, 0.1),
    log("restitution_at_m_per_s", 0.05, 5.0, 0.5),
    log("capture_m_per_s", 0.01, 0.5, 0.1),
];

/// What no fit of a law touches: it is measured on free flight. Length in the file of 1 m, and the
/// centre of mass in the body's axes.
pub(crate) const MEASURED: [Parameter; 4] = [
    linear("scale", 0.9, 1.1, 1.0),
    linear("com_x_m", -0.05, 0.05, 0.0),
    linear("com_y_m", -0.05, 0.05, 0.0),
    linear("com_z_m", -0.05, 0.05, 0.0),
];

/// MuJoCo's, with elliptic cones and `condim` 6: rounding and inertia as above, `solref`, `solimp`,
/// `friction` and `impratio`. All begin at MuJoCo's defaults, but friction, rounding and inertia
/// where those of our laws begin.
pub(crate) const MUJOCO: [Parameter; 11] = [
    CUBE[1],
    CUBE[2],
    log("timeconst_s", 0.002, 0.1, 0.02),
    log("dampratio", 0.1, 3.0, 1.0),
    linear("dmin", 0.1, 0.999, 0.9),
    linear("dmax", 0.1, 0.999, 0.95),
    log("width_m", 1e-5, 1e-2, 1e-3),
    linear("mu", 0.05, 0.4, 0.17),
    log("mu_torsion_m", 1e-5, 1e-1, 5e-3),
    log("mu_roll_m", 1e-6, 1e-2, 1e-4),
    log("impratio", 0.1, 30.0, 1.0),
];

/// Values of a law's parameters, made into the cube's stations.
#[derive(Clone, Debug)]
pub(crate) struct Contact {
    /// Each is at every corner: model and friction.
    materials: Vec<(ContactModel, Friction)>,
    /// Rounding of the corners.
    radius_m: f64,
    /// How rigid contacts bounce.
    pub(crate) restitution: Restitution,
    /// About any axis through the centre.
    pub(crate) inertia_kg_m2: f64,
}

impl Law {
    pub(crate) const ALL: [Self; 4] =
        [Self::Spring, Self::Holding, Self::HuntCrossley, Self::Rigid];

    /// Name in tables, in `--json` and of its table in `fitted.toml`.
    pub(crate) const fn key(self) -> &'static str {
        match self {
            Self::Spring => "exponential_spring",
            Self::Holding => "exponential_spring_holding",
            Self::HuntCrossley => "hunt_crossley",
            Self::Rigid => "rigid",
        }
    }

    pub(crate) const fn parameters(self) -> &'static [Parameter] {
        match self {
            Self::Spring | Self::Holding => &SPRING,
            Self::HuntCrossley => &HUNT_CROSSLEY,
            Self::Rigid => &RIGID,
        }
    }

    /// The contact with these values, in the order of [`parameters`](Self::parameters).
    ///
    /// # Errors
    /// If a value is missing, or the physics refuses one.
    pub(crate) fn contact(self, values: &[f64]) -> Result<Contact> {
        let of = |name: &str| {
            let i = self.parameters().iter().position(|p| p.name == name);
            i.and_then(|i| values.get(i)).copied().ok_or_else(|| format!("{name} is missing"))
        };
        let mu = of("mu")?;
        let mut restitution = Restitution::default();
        let friction = Friction::new(mu, mu);
        let materials = match self {
            Self::Rigid => {
                let least_at = of("restitution_at_m_per_s")?;
                let capture = of("capture_m_per_s")?.min(least_at);
                restitution = Restitution::new(of("restitution")?, capture, least_at)?;
                vec![(ContactModel::Rigid, Friction::new(mu * of("mu_static_ratio")?, mu))]
            }
            Self::HuntCrossley => {
                // cube and table share one material, so the pair has its coefficients
                let (stiffness, loss) = (of("stiffness_pa")?, of("dissipation_s_per_m")?);
                let viscous = of("mu_viscous_s_per_m")?;
                let both = ContactMaterial::new(stiffness, loss, mu, mu, viscous)?;
                let pair = HertzPair::new(&both, &both)?;
                let law = HuntCrossley::new(pair, of("transition_m_per_s")?)?;
                vec![(ContactModel::HuntCrossley(vec![law]), friction)]
            }
            Self::Spring | Self::Holding => {
                let holds = self == Self::Holding;
                let main = SpringParameters {
                    d0_m: of("d0_m")?,
                    d2_per_m: of("d2_per_m")?,
                    cz_s_per_m: of("cz_s_per_m")?,
                    kxy_n_per_m: of("kxy_n_per_m")?,
                    cxy_n_s_per_m: of("cxy_n_s_per_m")?,
                    stiction: if holds { Stiction::Holding } else { Stiction::Simbody },
                    ..SpringParameters::default()
                };
                let constant_n = of("constant_friction_n")?;
                let capped = SpringParameters { force_z_max_n: constant_n.max(1e-6), ..main };
                let spring = |p| ExponentialSpring::new(p).map(ContactModel::ExponentialSpring);
                // a spring whose force is capped, with coefficient 1
                vec![(spring(main)?, friction), (spring(capped)?, Friction::new(1.0, 1.0))]
            }
        };
        let (radius_m, inertia_kg_m2) = (of("radius_m")?, of("inertia_kg_m2")?);
        Ok(Contact { materials, radius_m, restitution, inertia_kg_m2 })
    }
}

impl Contact {
    /// Stations at the eight corners of a cube with this half width, m.
    pub(crate) fn stations(&self, half_width_m: f64) -> Vec<Station> {
        let mut stations = Vec::with_capacity(16);
        let inner_m = half_width_m - self.radius_m;
        for (kind, (model, friction)) in self.materials.iter().enumerate() {
            for corner in 0..8 {
                let side = |axis: u32| if corner >> axis & 1 == 1 { inner_m } else { -inner_m };
                stations.push(Station {
                    name: format!("corner.{corner}.{kind}"),
                    body: 0,
                    p_BS: Vec3::new(side(0), side(1), side(2)),
                    shape: StationShape::Sphere { radius_m: self.radius_m },
                    model: model.clone(),
                    friction: *friction,
                    rolling: RollingFriction::NONE,
                });
            }
        }
        stations
    }
}
