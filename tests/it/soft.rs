//! The shipped robot on soft ground.

use std::path::Path;

use hardstand::config::Scenario;

fn load(sets: &[&str]) -> hardstand::Result<Scenario> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/quadruped.toml");
    let sets: Vec<String> = sets.iter().map(|s| (*s).to_owned()).collect();
    Scenario::load(&path, &sets)
}

#[test]
fn soft_ground_is_read_and_mistakes_are_named() {
    let s = load(&["planes.0.soft={sink_n_per_m=4000}"]).unwrap();
    let soft = s.spec.ground[0].soft.unwrap();
    assert_eq!((soft.print_m(0.02, 0.0), soft.print_m(0.02, 0.05)), (0.02, 0.0));
    assert_eq!(soft.evaluate(0.01, 0.0, 0.0).normal_n, 40.0);
    for (word, depth_m) in [("sand", 0.0357), ("grass", 0.0045), ("gravel", 0.0004)] {
        let s = load(&[&format!("planes.0.soft={word}")]).unwrap();
        let force = s.spec.ground[0].soft.unwrap().evaluate(depth_m, 0.0, 0.0);
        assert!((force.normal_n / 50.0 - 1.0).abs() < 0.05, "{word}: {force:?}");
    }
    for (sets, expected) in [
        (vec!["planes.0.soft=moss"], "soft is \"moss\"; it must be \"sand\" or \"grass\""),
        (vec!["planes.0.soft={}"], "planes[0].soft.sink_n_per_m is missing; it must be finite"),
        (vec!["planes.0.soft={sink_n_per_m=0}"], "soft.sink_n_per_m is 0; it must be finite and"),
        (
            vec!["planes.0.soft={sink_n_per_m=1, rebound=0.5}"],
            "planes[0].soft.rebound is 0.5; it must be 1 to 1000",
        ),
        (vec!["planes.0.soft={sink_n_per_m=1, depth=2}"], "planes[0].soft.depth is unknown"),
        (
            vec!["planes.0.soft={sink_n_per_m=4000}", "feet.0.model=rigid"],
            "plane.0 is soft, and FL does not have the contact model \"exponential_spring\"",
        ),
    ] {
        let text = load(&sets).map(|_| ()).unwrap_err().to_string();
        assert!(text.contains(expected), "no \"{expected}\" in:\n{text}");
    }
}

/// The trot of the shipped controller: on sand the feet sink in by millimetres, and the robot stays
/// upright and moves on.
#[test]
fn the_shipped_robot_walks_on_sand() {
    let sand = ["planes.0.soft={sink_n_per_m=12000, dissipation_s_per_m=1.0}"];
    let mut deepest_m = 0.0_f64;
    let solo = crate::walking::trot_on(&sand, 5000, |solo| {
        let feet = solo.simulation.contacts().evaluated().iter().take(4);
        deepest_m = feet.fold(deepest_m, |most, at| most.max(-at.touch.p_C.z));
    });
    let state = solo.simulation.state();
    assert_eq!(solo.simulation.failure(), None);
    let p = state.q.p_WB;
    println!("walked to {p:?}; a foot was {deepest_m} m deep");
    assert!((0.003..0.05).contains(&deepest_m), "{deepest_m}");
    let up = state.q.quat_WB.to_matrix().z.z;
    assert!(up > 0.95 && p.z > 0.2, "{up} {p:?}");
    assert!(p.xy().norm() > 0.6, "{p:?}");
}
