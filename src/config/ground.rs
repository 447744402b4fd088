//! Ground, feet and stations of a scenario.

use crate::contact::{ContactPlane, ExponentialSpring, Friction, SpringParameters, Stiction};
use crate::limits::{FEET_MAX, NAME_BYTES_MAX, PLANES_MAX, STATIONS_MAX};
use crate::model::{Collision, Loaded, Shape};
use crate::plant::{Foot, Station};
use crate::spatial::{Transform, Vec3};

use super::section::{Mistakes, Range, Section};

/// Spring parameters and coefficients that hold where a foot does not say otherwise.
#[derive(Clone, Copy, Debug)]
pub(super) struct ContactDefaults {
    parameters: SpringParameters,
    mu: [f64; 2],
}

const MU: Range = Range::between(0.0, 100.0);
const STICTION: [(&str, Stiction); 2] =
    [("simbody", Stiction::Simbody), ("holding", Stiction::Holding)];

pub(super) fn contact_defaults(root: &Section<'_>, mistakes: &Mistakes) -> ContactDefaults {
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
    s.finish();
    ContactDefaults { parameters, mu }
}

pub(super) fn planes(root: &Section<'_>, mistakes: &Mistakes) -> Vec<ContactPlane> {
    let mut planes = Vec::new();
    for s in root.sections("planes") {
        let p = s.vec3("position_m", Range::between(-1e5, 1e5));
        let rpy = s.vec3("rpy_rad", Range::between(-10.0, 10.0));
        planes.push(ContactPlane { X_WP: Transform::from_xyz_rpy(p, rpy) });
        s.finish();
    }
    if planes.is_empty() || planes.len() > PLANES_MAX {
        mistakes.add(format!("planes has {} entries; 1 to {PLANES_MAX}", planes.len()));
    }
    planes
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
    planes: usize,
    mistakes: &Mistakes,
) -> Touching {
    let mut out = Touching::default();
    for (list, is_foot) in [("feet", true), ("stations", false)] {
        for s in root.sections(list) {
            let first = out.stations.len();
            let foot = stations_of(&s, loaded, defaults, &mut out);
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
    if out.stations.len() * planes > STATIONS_MAX {
        mistakes.add(format!(
            "{} stations × {planes} planes are more than the {STATIONS_MAX} contacts allowed",
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
    out: &mut Touching,
) -> Option<(String, usize, Transform)> {
    let (name, link) = (s.text("name"), s.text("link"));
    if name.is_empty() || name.len() > NAME_BYTES_MAX {
        s.mistake("name", &format!("1 to {NAME_BYTES_MAX} bytes long"));
    }
    let mu_static = s.f64_if_given("mu_static", MU).unwrap_or(defaults.mu[0]);
    let mu_kinetic =
        s.f64_if_given("mu_kinetic", MU).unwrap_or_else(|| defaults.mu[1].min(mu_static));
    if mu_kinetic > mu_static {
        s.mistake("mu_kinetic", &format!("at most mu_static, which is {mu_static}"));
    }
    let mut parameters = defaults.parameters;
    if s.has("stiction") {
        parameters.stiction = s.choice("stiction", &STICTION).unwrap_or_default();
    }
    let given = s.points_if_given("points_m");
    let Some(frame) = loaded.model.frame(link) else {
        s.mistake("link", "the name of a link of the robot");
        return None;
    };
    let points: Vec<(Vec3, f64)> = match given {
        Some(points) => points.iter().map(|&p| (Vec3::from(p), 0.0)).collect(),
        None => derived(s, link, &loaded.collisions),
    };
    let several = points.len() > 1;
    if points.is_empty() {
        s.mistake("points_m", "a list of at least one point");
    }
    for (i, (p_FS, radius_m)) in points.into_iter().enumerate() {
        // parameters that are out of range have been reported as keys of [contact]
        let Ok(spring) = ExponentialSpring::new(parameters) else { continue };
        out.stations.push(Station {
            name: if several { format!("{name}.{i}") } else { name.into() },
            body: frame.body,
            p_BS: frame.X_BF.point(&p_FS),
            radius_m,
            spring,
            friction: Friction::new(mu_static, mu_kinetic),
        });
    }
    Some((name.into(), frame.body, frame.X_BF))
}

/// Stations from the link's collision shapes: points in the link's frame with their radius, m.
fn derived(s: &Section<'_>, link: &str, collisions: &[Collision]) -> Vec<(Vec3, f64)> {
    let mut points = Vec::new();
    for c in collisions.iter().filter(|c| c.frame == link) {
        match c.shape {
            // whatever its orientation, a sphere touches one radius below its centre
            Shape::Sphere { radius_m } => points.push((c.X_FC.p, radius_m)),
            Shape::Box { size_m } => {
                for i in 0..8_u8 {
                    let half = |axis: usize| {
                        if i >> axis & 1 == 1 { 0.5 * size_m[axis] } else { -0.5 * size_m[axis] }
                    };
                    points.push((c.X_FC.point(&Vec3::new(half(0), half(1), half(2))), 0.0));
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
