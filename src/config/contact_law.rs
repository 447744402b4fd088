//! Contact models of a scenario.

use crate::limits::FRICTION_MAX;
use hardstand_error::Result;
use hardstand_physics::contact::{
    BrickContact, ContactMaterial, ExponentialSpring, Friction, HertzPair, HuntCrossley,
    Restitution, RollingFriction, SlipCurve, SpringParameters, StationShape, Stiction,
    SurfaceShape,
};
use hardstand_physics::plant::ContactModel;
use hardstand_physics::spatial::Vec3;

use super::by_mass::SpringKeys;
use super::materials::Materials;
use super::presets;
use super::section::{Mistakes, Range, Section};
use super::spring_keys;
use super::terrain::Ground;

/// Contact settings of a foot that has none of its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct ContactDefaults {
    model: Kind,
    parameters: SpringParameters,
    /// The keys of the spring, for [`by_mass::fit`](super::by_mass::fit).
    pub(super) keys: SpringKeys,
    /// Static and kinetic friction.
    mu: [f64; 2],
    /// Moments against rolling and spinning: both coefficients, m, and the settle rate, rad/s.
    rolling: [f64; 3],
    material: Option<ContactMaterial>,
    transition_m_per_s: f64,
    slip_curve: SlipCurve,
    /// Material of the ground.
    pub(super) ground_material: Option<ContactMaterial>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Spring,
    HuntCrossley,
    Rigid,
}

const MODELS: [(&str, Kind); 3] = [
    ("exponential_spring", Kind::Spring),
    ("hunt_crossley", Kind::HuntCrossley),
    ("rigid", Kind::Rigid),
];

const STICTION: [(&str, Stiction); 2] =
    [("simbody", Stiction::Simbody), ("holding", Stiction::Holding)];
const SLIP_CURVES: [(&str, SlipCurve); 2] =
    [("hollars", SlipCurve::Hollars), ("stribeck", SlipCurve::Stribeck)];
pub(super) const MU: Range = Range::between(0.0, FRICTION_MAX);
/// s/m. At 1000 an impact faster than 1 mm/s does not bounce; a much larger value overshoots within
/// a micro-step and makes the contact unstable.
pub(super) const DISSIPATION: Range = Range::between(0.0, 1000.0);

pub(super) fn contact_defaults(
    root: &Section<'_>,
    materials: &Materials,
    mistakes: &Mistakes,
) -> ContactDefaults {
    let s = root.section("contact");
    let above = Range::above(0.0);
    presets::check_names(&s);
    let keys = spring_keys::read(&s);
    let stiction = s.choice("stiction", &STICTION).unwrap_or_default();
    // after a mistake a value may be 0, which is already reported
    let parameters = keys.parameters().unwrap_or_default();
    let parameters = SpringParameters { stiction, ..parameters };
    let before = mistakes.count();
    let mut mu = [s.f64("mu_static", MU), s.f64("mu_kinetic", MU)];
    if mistakes.count() > before {
        // no other coefficient is wrong because of this mistake
        mu = [FRICTION_MAX; 2];
    } else if mu[1] > mu[0] {
        s.mistake("mu_kinetic", &format!("at most contact.mu_static, which is {}", mu[0]));
    }
    let length = Range::between(0.0, 1.0);
    let rolling = [
        s.f64("rolling_m", length),
        s.f64("torsional_m", length),
        s.f64("settle_rad_per_s", above),
    ];
    s.know(&["bodies", "self_collision", "disable"]);
    s.know(&["restitution", "capture_m_per_s", "restitution_speed_m_per_s"]);
    let out = ContactDefaults {
        model: s.choice("model", &MODELS).unwrap_or(Kind::Spring),
        parameters,
        keys,
        mu,
        rolling,
        material: materials.named(&s, "material", None),
        transition_m_per_s: s.f64("transition_m_per_s", above),
        slip_curve: s.choice("slip_curve", &SLIP_CURVES).unwrap_or_default(),
        ground_material: materials.named(&s, "ground_material", None),
    };
    s.finish();
    out
}

/// How rigid contacts bounce.
pub(super) fn restitution(root: &Section<'_>, mistakes: &Mistakes) -> Restitution {
    let s = root.section("contact");
    let before = mistakes.count();
    let least = s.f64("restitution", Range::between(0.0, 1.0));
    let speed = Range::between(0.0, 100.0);
    let capture = s.f64("capture_m_per_s", speed);
    let full = s.f64("restitution_speed_m_per_s", speed);
    if mistakes.count() > before {
        return Restitution::default();
    }
    Restitution::new(least, capture, full.max(capture)).unwrap_or_default()
}

/// Friction coefficients of everything that has no keys of its own.
pub(super) fn friction_of_contact(defaults: &ContactDefaults) -> Friction {
    let [mu_static, mu_kinetic] = defaults.mu;
    Friction::new(mu_static, mu_kinetic)
}

/// Friction coefficients of a table; the defaults replace missing ones.
pub(super) fn friction_of(s: &Section<'_>, defaults: &ContactDefaults) -> Friction {
    let before = s.mistake_count();
    let mu_static = s.f64_if_given("mu_static", MU).unwrap_or(defaults.mu[0]);
    let mu_kinetic =
        s.f64_if_given("mu_kinetic", MU).unwrap_or_else(|| defaults.mu[1].min(mu_static));
    if mu_kinetic > mu_static && s.mistake_count() == before {
        s.mistake("mu_kinetic", &format!("at most mu_static, which is {mu_static}"));
    }
    Friction::new(mu_static, mu_kinetic)
}

/// Moments of a table; the defaults replace missing coefficients.
fn rolling_of(s: &Section<'_>, defaults: &ContactDefaults) -> RollingFriction {
    let [of_all, torsion_of_all, settle] = defaults.rolling;
    let length = Range::between(0.0, 1.0);
    let rolling_m = s.f64_if_given("rolling_m", length).unwrap_or(of_all);
    rolling([rolling_m, s.f64_if_given("torsional_m", length).unwrap_or(torsion_of_all), settle])
}

/// A number out of range is already reported.
fn rolling([rolling_m, torsional_m, settle]: [f64; 3]) -> RollingFriction {
    RollingFriction::new(rolling_m, torsional_m, settle).unwrap_or_default()
}

/// The contact model of one foot, before its stations are known.
pub(super) struct Law {
    kind: Kind,
    /// The keys of its spring, for [`by_mass::fit`](super::by_mass::fit).
    pub(super) keys: SpringKeys,
    /// Moments against rolling and spinning.
    pub(super) rolling: RollingFriction,
    parameters: SpringParameters,
    material: Option<ContactMaterial>,
    transition_m_per_s: f64,
    slip_curve: SlipCurve,
}

impl Law {
    pub(super) fn read(s: &Section<'_>, defaults: &ContactDefaults, materials: &Materials) -> Self {
        let kind = if s.has("model") { s.choice("model", &MODELS) } else { Some(defaults.model) };
        let keys = spring_keys::replaced(s, &defaults.keys);
        let stiction = defaults.parameters.stiction;
        // after a mistake a value may be 0, which is already reported
        let own = keys.parameters().unwrap_or_default();
        let mut parameters = SpringParameters { stiction, ..own };
        if s.has("stiction") {
            parameters.stiction = s.choice("stiction", &STICTION).unwrap_or_default();
        }
        Self {
            kind: kind.unwrap_or(defaults.model),
            keys,
            rolling: rolling_of(s, defaults),
            parameters,
            material: materials.named(s, "material", defaults.material),
            transition_m_per_s: defaults.transition_m_per_s,
            slip_curve: defaults.slip_curve,
        }
    }

    /// The law of everything that has no keys of its own.
    pub(super) fn of_contact(defaults: &ContactDefaults) -> Self {
        Self {
            kind: defaults.model,
            keys: defaults.keys,
            rolling: rolling(defaults.rolling),
            parameters: defaults.parameters,
            material: defaults.material,
            transition_m_per_s: defaults.transition_m_per_s,
            slip_curve: defaults.slip_curve,
        }
    }

    /// Reports keys of a foot that its contact model does not use.
    pub(super) fn refuse_idle_keys(&self, s: &Section<'_>) {
        let idle: &[&str] = match self.kind {
            Kind::Spring => &["material"],
            Kind::HuntCrossley => &["mu_static", "mu_kinetic", "stiction"],
            Kind::Rigid => &["material", "stiction"],
        };
        if self.kind == Kind::Rigid && self.rolling.acts() {
            s.complain(
                "model",
                "\"rigid\" has no rolling and torsional friction, for its forces are impulses: \
                 set rolling_m and torsional_m to 0, or take another model",
            );
        }
        for key in idle.iter().filter(|key| s.has(key)) {
            s.complain(key, "its contact model does not use it");
        }
        if self.kind != Kind::Spring {
            spring_keys::refuse(s);
        }
    }

    /// The model of a shape; that of Hunt–Crossley against shapes comes last.
    pub(super) fn of_shape(&self, ground: &Ground) -> Option<ContactModel> {
        match self.kind {
            Kind::Spring => {
                ExponentialSpring::new(self.parameters).ok().map(ContactModel::ExponentialSpring)
            }
            Kind::Rigid => Some(ContactModel::Rigid),
            Kind::HuntCrossley => self.hunt_crossley(ground, true),
        }
    }

    fn hunt_crossley(&self, ground: &Ground, and_own: bool) -> Option<ContactModel> {
        let own = self.material?;
        let against = |other: &ContactMaterial| {
            let pair = HertzPair::new(other, &own)?;
            let law = HuntCrossley::new(pair, self.transition_m_per_s)?;
            Ok(law.with_curve(self.slip_curve))
        };
        let others = ground.materials.iter().chain(and_own.then_some(&own));
        let laws = others.map(against).collect::<Result<Vec<_>>>();
        laws.ok().map(ContactModel::HuntCrossley)
    }

    /// The laws of a box as Simbody's brick on planes; complains about other models.
    pub(super) fn brick(
        &self,
        s: &Section<'_>,
        size_m: [f64; 3],
        ground: &Ground,
    ) -> Option<Vec<Option<BrickContact>>> {
        let (Kind::HuntCrossley, Some(own)) = (self.kind, self.material) else {
            s.complain("contact", "\"brick\" needs the contact model \"hunt_crossley\"");
            return None;
        };
        let half_m = Vec3::from(size_m) * 0.5;
        let laws = ground.surfaces.iter().zip(&ground.materials).map(|(surface, material)| {
            let is_plane = matches!(surface.shape, SurfaceShape::Plane);
            let law = || BrickContact::new(material, &own, half_m, self.transition_m_per_s).ok();
            is_plane.then(law).flatten()
        });
        Some(laws.collect())
    }

    pub(super) fn model(
        &self,
        s: &Section<'_>,
        shape: StationShape,
        ground: &Ground,
        first: bool,
    ) -> Option<ContactModel> {
        match self.kind {
            // parameters out of range are already reported as keys of [contact]
            Kind::Spring => {
                ExponentialSpring::new(self.parameters).ok().map(ContactModel::ExponentialSpring)
            }
            Kind::Rigid => Some(ContactModel::Rigid),
            Kind::HuntCrossley if !matches!(shape, StationShape::Sphere { .. }) => {
                if first {
                    s.complain(
                        "model",
                        "\"hunt_crossley\" is for spheres; give radius_m (m, > 0), or a link with \
                         a collision sphere or capsule, or take another model",
                    );
                }
                None
            }
            Kind::HuntCrossley => self.hunt_crossley(ground, false),
        }
    }
}
