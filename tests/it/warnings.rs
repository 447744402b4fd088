//! What a scenario says, but hardly means, is told.

use crate::common::scene::quadruped;

#[test]
fn a_robot_placed_in_the_ground_is_told() {
    let as_given = "initial.place=as_given";
    let warnings =
        |z: &str| quadruped(&[as_given, &format!("initial.position_m=[0,0,{z}]")]).warnings;
    let deep = warnings("0.25").concat();
    assert!(deep.contains("deep in the ground") && deep.contains("above_ground"), "{deep}");
    assert!(warnings("0.5").is_empty());
    assert!(quadruped(&[]).warnings.is_empty());
}

#[test]
fn friction_that_has_no_effect_is_told() {
    let of = |sets: &[&str]| quadruped(sets).warnings.concat();
    let balls = ["contact.model=hunt_crossley", "stations=[]"];
    let ice = ["contact.mu_static=0.2", "contact.mu_kinetic=0.1"];
    let told = of(&[&balls[..], &ice].concat());
    assert!(told.contains("contact.mu_static has no effect"), "{told}");
    assert!(told.contains("materials."), "{told}");
    assert_eq!(of(&balls), "");
    assert_eq!(of(&ice), "");
}
