//! Acceptance and values of contact materials.

use hardstand::Result;
use hardstand_physics::contact::ContactMaterial;
use serde_json::Value;

use super::files::{GoldenFile, get, list, num, nums, text};
use super::report::Report;

/// A material as the files write one.
pub fn material(v: &Value) -> ContactMaterial {
    let [e, c] = [num(v, "stiffness_E"), num(v, "dissipation_c")];
    let mu = [num(v, "mu_static"), num(v, "mu_dynamic"), num(v, "mu_viscous")];
    ContactMaterial::new(e, c, mu[0], mu[1], mu[2]).expect("a material")
}

pub fn check(file: &GoldenFile, report: &mut Report) {
    for (i, r) in list(&file.json, "records").iter().enumerate() {
        let (function, args) = (text(r, "function"), nums(get(r, "args")));
        let at = format!("record {i}: {function} {args:?}");
        let own = call(function, &args);
        let throws = r.get("throws").and_then(Value::as_bool).unwrap_or(false);
        report.add("refusals", if own.is_err() == throws { 0.0 } else { 1.0 }, 0.0, &at);
        if let (Ok(Some(value)), false) = (own, throws) {
            let expected = num(r, "value");
            let scale = expected.abs().max(f64::MIN_POSITIVE);
            report.number("values", value, expected, scale, 1e-14, &at);
        }
    }
}

/// What the function gives here; `None` where only its acceptance is compared. A setter that
/// accepts a value must also give it back, and one that refuses must change nothing.
fn call(function: &str, args: &[f64]) -> Result<Option<f64>> {
    let before = ContactMaterial::new(7.0, 0.7, 0.9, 0.6, 0.1).expect("a material");
    let mut m = before;
    let outcome = match function {
        "calcPlaneStrainStiffness" => {
            return ContactMaterial::plane_strain_stiffness(args[0], args[1]).map(Some);
        }
        "calcConfinedCompressionStiffness" => {
            return ContactMaterial::confined_compression_stiffness(args[0], args[1]).map(Some);
        }
        "calcDissipationFromObservedRestitution" => {
            return ContactMaterial::dissipation_from_restitution(args[0], args[1]).map(Some);
        }
        "default_isValid" => return Ok(Some(truth(ContactMaterial::default().is_valid()))),
        "default_getDissipation_on_invalid" => {
            return Ok(Some(ContactMaterial::default().dissipation_s_per_m()));
        }
        "getStiffness23" => m.set_stiffness(args[0]).map(|()| Some(m.stiffness23())),
        "setStiffness(isValid)" => m.set_stiffness(args[0]).map(|()| Some(truth(m.is_valid()))),
        "setStiffness" => m.set_stiffness(args[0]).map(|()| None),
        "setDissipation" => m.set_dissipation(args[0]).map(|()| None),
        "setFriction" => m.set_friction(args[0], args[1], args[2]).map(|()| None),
        _ => panic!("the function {function} is not known"),
    };
    match (&outcome, function) {
        (Err(_), _) => assert_eq!(m, before, "a refused setter changed something"),
        (Ok(_), "setDissipation") => assert_eq!(m.dissipation_s_per_m(), args[0]),
        (Ok(_), "setFriction") => {
            let mu = [m.mu_static(), m.mu_dynamic(), m.mu_viscous_s_per_m()];
            assert_eq!(mu[..], args[..]);
        }
        (Ok(_), _) => assert_eq!(m.stiffness_pa(), args[0]),
    }
    outcome
}

fn truth(b: bool) -> f64 {
    f64::from(u8::from(b))
}
