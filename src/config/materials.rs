//! Named materials of a scenario.

use hardstand_error::Result;
use hardstand_physics::contact::ContactMaterial;

use super::contact_law::DISSIPATION;
use super::section::{Mistakes, Range, Section};

/// Materials by name.
#[derive(Debug)]
pub(super) struct Materials(Vec<(String, ContactMaterial)>);

pub(super) fn materials(root: &Section<'_>, mistakes: &Mistakes) -> Materials {
    let section = root.section("materials");
    let mut list = Vec::new();
    for name in section.keys() {
        let s = section.section(name);
        match material(&s) {
            Some(Ok(material)) => list.push((name.to_string(), material)),
            Some(Err(e)) => mistakes.add(format!("{}: {e}", section.name(name))),
            None => {}
        }
        s.finish();
    }
    Materials(list)
}

/// `None` if a key is already reported.
fn material(s: &Section<'_>) -> Option<Result<ContactMaterial>> {
    let above = Range::above(0.0);
    // the scenario can add keys to a default material; an added key overrides the default ones
    let given = s.f64_if_given("stiffness_pa", above);
    s.know(&["young_pa", "poisson"]);
    let stiffness_pa = match given {
        Some(stiffness_pa) => Ok(stiffness_pa),
        None => ContactMaterial::plane_strain_stiffness(
            s.f64("young_pa", above),
            s.f64("poisson", Range::between(-0.999, 0.5)),
        ),
    };
    let dissipation_s_per_m = if s.has("restitution") || !s.has("dissipation_s_per_m") {
        ContactMaterial::dissipation_from_restitution(
            s.f64("restitution", Range::between(0.0, 1.0)),
            s.f64("restitution_speed_m_per_s", above),
        )
    } else {
        Ok(s.f64("dissipation_s_per_m", DISSIPATION))
    };
    if let Ok(c) = dissipation_s_per_m
        && !DISSIPATION.contains(c)
    {
        let key = "restitution_speed_m_per_s";
        s.mistake(key, &format!("such that (1 − restitution) / speed, {c} s/m, is at most 1000"));
    }
    let mu = Range::between(0.0, 100.0);
    let before = s.mistake_count();
    let (mu_static, mu_dynamic) = (s.f64("mu_static", mu), s.f64("mu_dynamic", mu));
    let mu_viscous = s.f64_if_given("mu_viscous_s_per_m", mu).unwrap_or(0.0);
    if mu_dynamic > mu_static && s.mistake_count() == before {
        s.mistake("mu_dynamic", &format!("at most mu_static, which is {mu_static}"));
        return None;
    }
    let build = || {
        ContactMaterial::new(stiffness_pa?, dissipation_s_per_m?, mu_static, mu_dynamic, mu_viscous)
    };
    Some(build())
}

impl Materials {
    /// The material that `s.key` names, or that `fallback` names if the key is not there.
    pub(super) fn named(
        &self,
        s: &Section<'_>,
        key: &str,
        fallback: Option<ContactMaterial>,
    ) -> Option<ContactMaterial> {
        if !s.has(key) {
            return fallback;
        }
        let name = s.text(key);
        let found = self.0.iter().find(|(n, _)| n == name).map(|(_, m)| *m);
        if found.is_none() {
            let names: Vec<&str> = self.0.iter().map(|(n, _)| n.as_str()).collect();
            s.mistake(key, &format!("one of the materials {}", names.join(", ")));
        }
        found
    }
}
