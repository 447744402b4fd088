//! `<option>`: gravity, and what changes the physics and is not taken over.

use super::defaults::Resolved;
use super::element::Element;
use super::report::Report;

/// MuJoCo's default, m/s².
const GRAVITY: [f64; 3] = [0.0, 0.0, -9.81];
/// Numbers that are 0 by default: forces of a medium.
const MEDIUM: [&str; 3] = ["density", "viscosity", "wind"];
/// Flags that are on by default, and without which there is less physics.
const PHYSICS: [&str; 9] = [
    "constraint",
    "equality",
    "frictionloss",
    "limit",
    "contact",
    "passive",
    "spring",
    "damper",
    "actuation",
];

/// Gravity, in world axes, m/s², if it is not MuJoCo's default. Other options that change the
/// motion are listed.
pub(super) fn gravity(root: &Element, report: &mut Report) -> Option<[f64; 3]> {
    let mut gravity = GRAVITY;
    for option in root.all("option") {
        let of = Resolved::alone(option);
        gravity = of.vec3("gravity", report).unwrap_or(gravity);
        for name in MEDIUM {
            let numbers = of.numbers(name, 1..=3, report).unwrap_or_default();
            if numbers.iter().any(|x| *x != 0.0) {
                let option = format!("option {name}");
                report.left_out("forces of a medium are not simulated", &option);
            }
        }
    }
    if root.all("option").any(|option| option.get("actuatorgroupdisable").is_some()) {
        let what = "actuators that the model switches off are simulated";
        report.left_out(what, "option actuatorgroupdisable");
    }
    let flags = || root.all("option").flat_map(|option| option.all("flag"));
    let is_off = |name: &str| {
        let all = flags().filter_map(|flag| flag.get(name));
        all.last() == Some("disable")
    };
    for name in PHYSICS.into_iter().filter(|name| is_off(name)) {
        let flag = format!("flag {name}");
        report.left_out("physics that the model switches off is simulated", &flag);
    }
    let gravity = if is_off("gravity") { [0.0; 3] } else { gravity };
    (gravity != GRAVITY).then_some(gravity)
}
