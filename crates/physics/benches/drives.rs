//! Cost of a tick with drives: `cargo bench -p hardstand-physics --bench drives`.
//!
//! Each case alone: `-- friction`.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout, clippy::disallowed_methods)]
#![allow(non_snake_case, reason = "monogram notation")]

use cases::compare;
use hardstand_physics::actuator::drive::Drive;
use hardstand_physics::plant::DriveSet;

#[path = "common/cases.rs"]
mod cases;

const SPEED: &[(&str, f64)] = &[
    ("torque_speed.stall_nm", 45.0),
    ("torque_speed.no_load_rad_per_s", 30.0),
    ("torque_speed.knee_rad_per_s", 15.0),
];
const DELAY: &[(&str, f64)] = &[("delay_us", 3000.0)];
const LOOP: &[(&str, f64)] = &[("control_hz", 5000.0), ("bandwidth_hz", 800.0)];
const FRICTION: &[(&str, f64)] = &[
    ("friction.coulomb_nm", 0.3),
    ("friction.viscous_nm_s_per_rad", 0.02),
    ("friction.stribeck_nm", 0.1),
    ("friction.load_external", 0.05),
];
const ELASTIC: &[(&str, f64)] = &[
    ("motor.rotor_inertia_kg_m2", 0.01),
    ("elastic.stiffness_nm_per_rad", 2000.0),
    ("elastic.damping_nm_s_per_rad", 2.0),
    ("elastic.backlash_rad", 2e-3),
];
const HEAT: &[(&str, f64)] = &[
    ("motor.torque_constant_nm_per_a", 0.5),
    ("motor.resistance_ohm", 0.2),
    ("heat.winding_j_per_k", 50.0),
];

fn drives(parts: &[&[(&str, f64)]]) -> DriveSet {
    let mut drive = Drive::IDEAL;
    for (name, value) in parts.iter().copied().flatten() {
        Drive::keys().find(|key| key.name == *name).unwrap().set(&mut drive, *value);
    }
    assert_eq!(drive.contradiction(), None);
    DriveSet { joints: vec![drive; 12], ..DriveSet::default() }
}

fn main() {
    let cases = [
        ("none", DriveSet::default()),
        ("torque by speed", drives(&[SPEED])),
        ("3 ms late", drives(&[DELAY])),
        ("control and current", drives(&[LOOP])),
        ("friction", drives(&[FRICTION])),
        ("elastic, backlash", drives(&[ELASTIC])),
        ("heat", drives(&[HEAT])),
        ("all", drives(&[SPEED, DELAY, LOOP, FRICTION, ELASTIC, HEAT])),
    ];
    compare("drives", cases, |spec, drives| spec.drives = drives);
}
