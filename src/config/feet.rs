//! Feet and stations of a scenario.

use crate::contact::{
    ContactMaterial, ExponentialSpring, Friction, HertzPair, HuntCrossley, SpringParameters,
    StationShape, Stiction,
};
use crate::error::Result;
use crate::limits::{FEET_MAX, FRICTION_MAX, NAME_BYTES_MAX, STATIONS_MAX};
use crate::model::{Collision, Loaded, Shape};
use crate::plant::{ContactModel, Foot, Station};
use crate::spatial::{Transform, Vec3};

use super::materials::Materials;
use super::section::{Mistakes, Range, Section};
use super::terrain::Ground;

/// What holds where a foot does not say otherwise.
#[derive(Clone, Copy, Debug)]
pub(super) struct ContactDefaults {
    model: Kind,
    parameters: SpringParameters,
    mu: [f64; 2],
    material: Option<ContactMaterial>,
    transition_m_per_s: f64,
    /// Of the ground.
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
pub(super) const MU: Range = Range::between(0.0, FRICTION_MAX);

pub(super) fn contact_defaults(
    root: &Section<'_>,
    materials: &Materials,
    mistakes: &Mistakes,
) -> ContactDefaults {
    let s = root.section("contact");
    let (above, at_least) = (Range::above(0.0), Range::at_least(0.0));
    let mut parameters = SpringParameters {
        d0_m: s.f64("d0_m", Range::finite()),
        d1_n: s.f64("d1_n", above),
        d2_per_m: s.f64("d2_per_m", above),
        cz_s_per_m: s.f64("cz_s_per_m", at_least),
        force_z_max_n: s.f64("force_z_max_n", above),
        kxy_n_per_m: s.f64("kxy_n_per_m", above),
        v_settle_m_per_s: s.f64("v_settle_m_per_s", above),
        t_settle_s: s.f64("t_settle_s", above),
        stiction: s.choice("stiction", &STICTION).unwrap_or_default(),
        ..SpringParameters::default()
    };
    let mass_kg = s.f64("critical_mass_kg", above);
    if s.choice_or_number("cxy_n_s_per_m", "critical") {
        let kxy = parameters.kxy_n_per_m;
        if let (true, Err(e)) = (kxy > 0.0, parameters.set_critical_damping(kxy, mass_kg)) {
            mistakes.add(e.to_string());
        }
    } else {
        parameters.cxy_n_s_per_m = s.f64("cxy_n_s_per_m", at_least);
    }
    let before = mistakes.count();
    let mu = [s.f64("mu_static", MU), s.f64("mu_kinetic", MU)];
    if mu[1] > mu[0] && mistakes.count() == before {
        s.mistake("mu_kinetic", &format!("at most contact.mu_static, which is {}", mu[0]));
    }
    let out = ContactDefaults {
        model: s.choice("model", &MODELS).unwrap_or(Kind::Spring),
        parameters,
        mu,
        material: materials.named(&s, "material", None),
        transition_m_per_s: s.f64("transition_m_per_s", above),
        ground_material: materials.named(&s, "ground_material", None),
    };
    s.finish();
    out
}

/// Feet and stations.
#[derive(Debug, Default)]
pub(super) struct Touching {
    pub(super) feet: Vec<Foot>,
    pub(super) stations: Vec<Station>,
}

pub(super) fn touching(
    root: &Section<'_>,
    loaded: &Loaded,
    defaults: &ContactDefaults,
    materials: &Materials,
    ground: &Ground,
    mistakes: &Mistakes,
) -> Touching {
    let mut out = Touching::default();
    for (list, is_foot) in [("feet", true), ("stations", false)] {
        for s in root.sections(list) {
            let first = out.stations.len();
            let foot = stations_of(&s, loaded, defaults, materials, ground, &mut out);
            if let (true, Some((name, body, X_BF))) = (is_foot, foot) {
                let stations = (first..out.stations.len()).collect();
                out.feet.push(Foot { name, body, X_BF, stations });
            }
            s.finish();
        }
    }
    let mut names: Vec<&str> = out.stations.iter().map(|s| s.name.as_str()).collect();
    names.sort_unstable();
    for pair in names.windows(2).filter(|p| p[0] == p[1]) {
        mistakes.add(format!("feet and stations: the name \"{}\" is used twice", pair[0]));
    }
    if out.feet.len() > FEET_MAX {
        mistakes.add(format!("feet has {} entries; at most {FEET_MAX}", out.feet.len()));
    }
    let surfaces = ground.surfaces.len();
    if out.stations.len() * surfaces > STATIONS_MAX {
        mistakes.add(format!(
            "{} stations × {surfaces} surfaces are more than the {STATIONS_MAX} contacts allowed",
            out.stations.len()
        ));
    }
    out
}

/// Adds the stations of one foot or patch; returns its name and frame.
fn stations_of(
    s: &Section<'_>,
    loaded: &Loaded,
    defaults: &ContactDefaults,
    materials: &Materials,
    ground: &Ground,
    out: &mut Touching,
) -> Option<(String, usize, Transform)> {
    let (name, link) = (checked_name(s), s.text("link"));
    let friction = friction_of(s, defaults);
    let law = Law::read(s, defaults, materials);
    law.refuse_idle_keys(s);
    let given = s.points_if_given("points_m");
    let round = round(s);
    let Some(frame) = loaded.model.frame(link) else {
        s.mistake("link", "the name of a link of the robot");
        return None;
    };
    let points: Vec<(Vec3, StationShape)> = match given {
        Some(points) => points.iter().map(|&p| (Vec3::from(p), round)).collect(),
        None => derived(s, link, &round, &loaded.collisions),
    };
    let several = points.len() > 1;
    if points.is_empty() {
        s.mistake("points_m", "a list of at least one point");
    }
    for (i, (p_FS, shape)) in points.into_iter().enumerate() {
        // what is wrong with the law has been reported
        let Some(model) = law.model(s, shape, ground, i == 0) else { continue };
        out.stations.push(Station {
            name: if several { format!("{name}.{i}") } else { name.into() },
            body: frame.body,
            p_BS: frame.X_BF.point(&p_FS),
            shape: shape.turned(&frame.X_BF.R),
            model,
            friction,
        });
    }
    Some((name.into(), frame.body, frame.X_BF))
}

pub(super) fn checked_name<'a>(s: &Section<'a>) -> &'a str {
    let name = s.text("name");
    if name.is_empty() || name.len() > NAME_BYTES_MAX {
        s.mistake("name", &format!("1 to {NAME_BYTES_MAX} bytes long"));
    }
    name
}

/// Coefficients that a table may give; the defaults fill in what is missing.
pub(super) fn friction_of(s: &Section<'_>, defaults: &ContactDefaults) -> Friction {
    let mu_static = s.f64_if_given("mu_static", MU).unwrap_or(defaults.mu[0]);
    let mu_kinetic =
        s.f64_if_given("mu_kinetic", MU).unwrap_or_else(|| defaults.mu[1].min(mu_static));
    if mu_kinetic > mu_static {
        s.mistake("mu_kinetic", &format!("at most mu_static, which is {mu_static}"));
    }
    Friction::new(mu_static, mu_kinetic)
}

/// The contact model of one foot, before it is known what its stations look like.
struct Law {
    kind: Kind,
    parameters: SpringParameters,
    material: Option<ContactMaterial>,
    transition_m_per_s: f64,
}

impl Law {
    fn read(s: &Section<'_>, defaults: &ContactDefaults, materials: &Materials) -> Self {
        let kind = if s.has("model") { s.choice("model", &MODELS) } else { Some(defaults.model) };
        let mut parameters = defaults.parameters;
        if s.has("stiction") {
            parameters.stiction = s.choice("stiction", &STICTION).unwrap_or_default();
        }
        Self {
            kind: kind.unwrap_or(defaults.model),
            parameters,
            material: materials.named(s, "material", defaults.material),
            transition_m_per_s: defaults.transition_m_per_s,
        }
    }

    /// Keys of a foot that its model does not look at.
    fn refuse_idle_keys(&self, s: &Section<'_>) {
        let idle: &[&str] = match self.kind {
            Kind::Spring => &["material"],
            Kind::HuntCrossley => &["mu_static", "mu_kinetic", "stiction"],
            Kind::Rigid => &["material", "stiction"],
        };
        for key in idle.iter().filter(|key| s.has(key)) {
            s.complain(key, "the contact model of this foot does not use it");
        }
    }

    fn model(
        &self,
        s: &Section<'_>,
        shape: StationShape,
        ground: &Ground,
        first: bool,
    ) -> Option<ContactModel> {
        match self.kind {
            // parameters that are out of range have been reported as keys of [contact]
            Kind::Spring => {
                ExponentialSpring::new(self.parameters).ok().map(ContactModel::ExponentialSpring)
            }
            Kind::Rigid => Some(ContactModel::Rigid),
            Kind::HuntCrossley if !matches!(shape, StationShape::Sphere { .. }) => {
                if first {
                    s.complain(
                        "model",
                        "\"hunt_crossley\" is for spheres; give radius_m (m, > 0), or a link with \
                         a collision sphere, or take another model",
                    );
                }
                None
            }
            Kind::HuntCrossley => {
                let own = self.material?;
                let against = |of_ground: &ContactMaterial| {
                    let pair = HertzPair::new(of_ground, &own)?;
                    HuntCrossley::new(pair, self.transition_m_per_s)
                };
                let laws = ground.materials.iter().map(against).collect::<Result<Vec<_>>>();
                laws.ok().map(ContactModel::HuntCrossley)
            }
        }
    }
}

/// What is round about the points that a foot gives, in the link's axes.
fn round(s: &Section<'_>) -> StationShape {
    let size = Range::between(1e-4, 10.0);
    if s.has("ring_radius_m") {
        let tube = s.f64_if_given("radius_m", Range::between(0.0, 10.0)).unwrap_or(0.0);
        let axis = Vec3::from(s.vec3("axis", Range::between(-1e3, 1e3)));
        if axis.norm() < 1e-3 {
            s.mistake("axis", "a direction, at least 0.001 long");
            return StationShape::Point;
        }
        return StationShape::Torus {
            axis_B: axis.normalize(),
            ring_radius_m: s.f64("ring_radius_m", size),
            tube_radius_m: tube,
        };
    }
    match s.f64_if_given("radius_m", size) {
        Some(radius_m) => StationShape::Sphere { radius_m },
        None => StationShape::Point,
    }
}

/// Stations from the link's collision shapes: places in the link's frame, m. `round` rounds the
/// corners of boxes.
fn derived(
    s: &Section<'_>,
    link: &str,
    round: &StationShape,
    collisions: &[Collision],
) -> Vec<(Vec3, StationShape)> {
    let mut points = Vec::new();
    if matches!(round, StationShape::Torus { .. }) {
        s.mistake("ring_radius_m", "left out where points_m is not given");
    }
    for c in collisions.iter().filter(|c| c.frame == link) {
        match c.shape {
            Shape::Sphere { radius_m } => {
                points.push((c.X_FC.p, StationShape::Sphere { radius_m }))
            }
            Shape::Box { size_m } => {
                let half_m = size_m.map(|size| (0.5 * size - round.round_m()).max(0.0));
                for i in 0..8_u8 {
                    let side = |axis: usize| {
                        if i >> axis & 1 == 1 { half_m[axis] } else { -half_m[axis] }
                    };
                    points.push((c.X_FC.point(&Vec3::new(side(0), side(1), side(2))), *round));
                }
            }
            _ => {}
        }
    }
    if points.is_empty() {
        s.mistake(
            "points_m",
            &format!("given, because link \"{link}\" has no collision sphere or box"),
        );
    }
    points
}
