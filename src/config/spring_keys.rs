//! The keys of exponential springs: in `[contact]`, of a foot, and of a surface.

use hardstand_physics::contact::SpringChanges;

use super::by_mass::{BY_MASS, SpringKeys};
use super::contact_law::DISSIPATION;
use super::section::{Range, Section};

const KEYS: [&str; 11] = [
    "d0_m",
    "d1_n",
    "d2_per_m",
    "cz_s_per_m",
    "damping_ratio",
    "force_z_max_n",
    "kxy_n_per_m",
    "cxy_n_s_per_m",
    "critical_mass_kg",
    "v_settle_m_per_s",
    "t_settle_s",
];
const ABOVE: Range = Range::above(0.0);
const RATIO: Range = Range::between(0.0, 10.0);

/// All keys of `[contact]`.
pub(super) fn read(s: &Section<'_>) -> SpringKeys {
    let mut keys = SpringKeys::default();
    KEYS.iter().for_each(|key| read_one(s, key, &mut keys));
    keys
}

/// The keys of a foot or body; `defaults` replace those that are not given.
pub(super) fn replaced(s: &Section<'_>, defaults: &SpringKeys) -> SpringKeys {
    let mut keys = *defaults;
    KEYS.iter().filter(|key| s.has(key)).for_each(|key| read_one(s, key, &mut keys));
    keys
}

/// Reports the keys of a foot or body that has no spring.
pub(super) fn refuse(s: &Section<'_>) {
    for key in KEYS.iter().filter(|key| s.has(key)) {
        s.complain(key, "its contact model does not use it");
    }
}

fn read_one(s: &Section<'_>, key: &str, keys: &mut SpringKeys) {
    match key {
        "d0_m" => keys.d0_m = s.f64(key, Range::finite()),
        "d1_n" => keys.d1_n = s.f64_or_word(key, ABOVE, BY_MASS),
        "d2_per_m" => keys.d2_per_m = s.f64(key, ABOVE),
        "cz_s_per_m" => keys.cz_s_per_m = s.f64_or_word(key, DISSIPATION, BY_MASS),
        "damping_ratio" => keys.damping_ratio = s.f64(key, RATIO),
        "force_z_max_n" => keys.force_z_max_n = s.f64_or_word(key, ABOVE, BY_MASS),
        "kxy_n_per_m" => keys.kxy_n_per_m = s.f64_or_word(key, ABOVE, BY_MASS),
        "cxy_n_s_per_m" => {
            keys.cxy_n_s_per_m = s.f64_or_word(key, Range::at_least(0.0), "critical");
        }
        "critical_mass_kg" => keys.critical_mass_kg = s.f64_or_word(key, ABOVE, BY_MASS),
        "v_settle_m_per_s" => keys.v_settle_m_per_s = s.f64(key, ABOVE),
        _ => keys.t_settle_s = s.f64(key, ABOVE),
    }
}

/// The keys of a surface: numbers that replace those of every spring on it.
pub(super) fn of_surface(s: &Section<'_>) -> SpringChanges {
    SpringChanges {
        d0_m: s.f64_if_given("d0_m", Range::finite()),
        d1_n: s.f64_if_given("d1_n", ABOVE),
        d2_per_m: s.f64_if_given("d2_per_m", ABOVE),
        cz_s_per_m: s.f64_if_given("cz_s_per_m", DISSIPATION),
        force_z_max_n: s.f64_if_given("force_z_max_n", ABOVE),
        kxy_n_per_m: s.f64_if_given("kxy_n_per_m", ABOVE),
        cxy_n_s_per_m: s.f64_if_given("cxy_n_s_per_m", Range::at_least(0.0)),
        v_settle_m_per_s: s.f64_if_given("v_settle_m_per_s", ABOVE),
        t_settle_s: s.f64_if_given("t_settle_s", ABOVE),
    }
}
