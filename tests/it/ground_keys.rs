//! Keys of contact models, materials, terrain and motion: what is taken, what is refused and how.

use std::path::Path;

use hardstand::config::Scenario;
use hardstand_physics::contact::{StationShape, SurfaceShape};
use hardstand_physics::plant::ContactModel;
use hardstand_protocol::TickInput;

fn load(sets: &[&str]) -> hardstand::Result<Scenario> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/quadruped.toml");
    let sets: Vec<String> = sets.iter().map(|s| (*s).to_string()).collect();
    Scenario::load(&path, &sets)
}

#[test]
fn wrong_values_are_refused_with_key_value_and_range() {
    let terrain = |inner: &str| format!("terrain=[{{position_m=[0,0,0], {inner}}}]");
    let motion = |inner: &str| format!("planes.0.motion={{{inner}}}");
    let cases = [
        (
            "contact.model=soft".into(),
            "contact.model is \"soft\"; it must be \"exponential_spring\"",
        ),
        ("feet.0.model=3".into(), "feet[0].model is 3; it must be \"exponential_spring\" or"),
        ("contact.material=glue".into(), "contact.material is \"glue\"; it must be one of the mat"),
        (
            "planes.0.material=x".into(),
            "planes[0].material is \"x\"; it must be one of the materials",
        ),
        ("contact.transition_m_per_s=0".into(), "contact.transition_m_per_s is 0; it must be"),
        (
            "contact.slip_curve=coulomb".into(),
            "contact.slip_curve is \"coulomb\"; it must be \"hol",
        ),
        (
            "materials.rubber.young_pa=-1".into(),
            "materials.rubber.young_pa is -1; it must be finite",
        ),
        (
            "materials.rubber.poisson=0.6".into(),
            "materials.rubber.poisson is 0.6; it must be -0.999",
        ),
        (
            "materials.rubber.mu_dynamic=0.9".into(),
            "mu_dynamic is 0.9; it must be at most mu_static",
        ),
        ("materials.rubber.mu_static=nan".into(), "materials.rubber.mu_static is nan; it must be"),
        ("materials.rubber.hardness=1".into(), "materials.rubber.hardness is unknown"),
        (motion("amplitude_m=[0,0,0.1]"), "motion.frequency_hz: it is missing: without it"),
        (
            motion("velocity_m_per_s=[1,0,0], phase_rad=1"),
            "motion: give amplitude_m or rocking_rad",
        ),
        (motion(""), "planes[0].motion: give amplitude_m or rocking_rad"),
        (terrain("kind=\"cone\""), "terrain[0].kind is \"cone\"; it must be \"box\" or \"ramp\""),
        (terrain("kind=\"box\""), "terrain[0].size_m is missing; it must be three numbers"),
        (terrain("kind=\"box\", size_m=[1,1,0]"), "terrain[0].size_m is [1, 1, 0]; it must be"),
        (terrain("kind=\"box\", size_m=[1,1,0.01]"), "terrain[0].kind: "),
        (terrain("kind=\"ramp\", length_m=1, width_m=1"), "terrain[0].height_m is missing"),
        (terrain("kind=\"stairs\", steps=0, rise_m=0.1, run_m=0.3, width_m=1"), "[0].steps is 0"),
        (terrain("kind=\"stairs\", steps=127, rise_m=0.1, run_m=0.3, width_m=1"), "steps is 127"),
        (
            terrain("kind=\"heightfield\", origin_m=[0,0], spacing_m=1, heights_m=[[0,0],[0]]"),
            "terrain[0].heights_m: it must be a list of rows of equal length",
        ),
        (terrain("kind=\"box\", size_m=[1,1,1], slope=2"), "terrain[0].slope is unknown"),
        ("planes=[]".into(), "planes and terrain make 0 surfaces; 1 to 128"),
        (motion("velocity_m_per_s=[1,0]"), "planes[0].motion.velocity_m_per_s is [1, 0]; it must"),
        (motion("frequency_hz=-1"), "planes[0].motion.frequency_hz is -1; it must be 0 to 1000"),
        (motion("speed=1"), "planes[0].motion.speed is unknown; known here: amplitude_m"),
        (
            "feet.0.points_m=[[0,0,0]]\nfeet.0.radius_m=0".into(),
            "feet[0].radius_m is 0; it must be",
        ),
        (
            "feet.0.points_m=[[0,0,0]]\ncontact.model=hunt_crossley".into(),
            "feet[0].model: \"hunt_crossley\" is for spheres; give radius_m",
        ),
        (
            "feet.0.points_m=[[0,0,0]]\nfeet.0.ring_radius_m=0.1\nfeet.0.axis=[0,0,0]".into(),
            "feet[0].axis is [0, 0, 0]; it must be a direction",
        ),
        (
            "contact.model=rigid\nsim.integrator=rk4".into(),
            "sim.integrator is \"rk4\"; with a rigid contact it must be \"semi_implicit_euler\"",
        ),
        (
            "feet.0.model=rigid\nsim.integrator=linearly_implicit".into(),
            "sim.integrator is \"linearly_implicit\"; with a rigid contact it must be \
             \"semi_implicit_euler\"",
        ),
    ];
    for (sets, expected) in cases {
        let sets: Vec<&str> = sets.lines().collect();
        let message = load(&sets).map(|_| ()).unwrap_err().to_string();
        assert!(message.contains(expected), "{sets:?}: no \"{expected}\" in:\n{message}");
    }
}

#[test]
fn materials_come_as_moduli_or_as_measurements() {
    let laws = |sets: &[&str]| {
        let s = load(sets).unwrap();
        match &s.spec.stations[0].model {
            ContactModel::HuntCrossley(laws) => laws[0],
            other => panic!("{other:?}"),
        }
    };
    let young = laws(&["contact.model=hunt_crossley"]);
    let plane_strain = 5e6 / (1.0 - 0.49 * 0.49);
    let stiffness = format!(
        "materials.rubber={{stiffness_pa={plane_strain}, dissipation_s_per_m=1.0, mu_static=0.8, mu_dynamic=0.6}}"
    );
    assert_eq!(young, laws(&["contact.model=hunt_crossley", &stiffness]));
    // an impact at 0.2 m/s that keeps 0.9 of the speed loses 0.5 per m/s
    let measured = "materials.bouncy={young_pa=5e6, poisson=0.49, restitution=0.9, \
                    restitution_speed_m_per_s=0.2, mu_static=0.8, mu_dynamic=0.6}";
    let bouncy = laws(&["contact.model=hunt_crossley", measured, "feet.0.material=bouncy"]);
    assert!(bouncy.pair().dissipation_s_per_m() < 0.6 * young.pair().dissipation_s_per_m());
    // equal coefficients stay what they are
    assert!((bouncy.initial_friction().mu_static() - 0.8).abs() < 1e-15);
}

#[test]
fn terrain_becomes_surfaces_in_order() {
    let s = load(&[
        "terrain=[{kind=\"stairs\", name=\"up\", position_m=[1,0,0], steps=2, rise_m=0.1, run_m=0.3, \
         width_m=1}, {kind=\"ramp\", position_m=[-3,0,0], length_m=1, width_m=1, height_m=0.2, \
         motion={velocity_m_per_s=[0.1,0,0]}}]",
    ])
    .unwrap();
    let names: Vec<&str> = s.spec.ground.iter().map(|g| g.name.as_str()).collect();
    assert_eq!(names, ["plane.0", "up.0", "up.1", "terrain.1"]);
    assert!(matches!(s.spec.ground[0].shape, SurfaceShape::Plane));
    assert!(matches!(s.spec.ground[2].shape, SurfaceShape::Solid(_)));
    assert!(s.spec.ground[2].platform.is_none() && s.spec.ground[3].platform.is_some());
    assert_eq!(s.simulation().contacts().evaluated().len(), s.spec.stations.len() * 4);
    // a surface of another name is another layout: stations would be counted wrongly
    let plain = load(&[]).unwrap().simulation().layout_hash();
    assert_ne!(s.simulation().layout_hash(), plain);
}

#[test]
fn stations_are_points_spheres_or_wheels() {
    let shape = |sets: &[&str]| load(sets).unwrap().spec.stations[0].shape;
    let at = "feet.0.points_m=[[0,0,0]]";
    assert_eq!(shape(&[at]), StationShape::Point);
    assert_eq!(shape(&[at, "feet.0.radius_m=0.03"]), StationShape::Sphere { radius_m: 0.03 });
    let wheel = shape(&[at, "feet.0.ring_radius_m=0.1", "feet.0.axis=[0,2,0]"]);
    let StationShape::Torus { axis_B, ring_radius_m, tube_radius_m } = wheel else {
        panic!("{wheel:?}")
    };
    assert_eq!((ring_radius_m, tube_radius_m), (0.1, 0.0));
    assert!((axis_B.norm() - 1.0).abs() < 1e-12);
}

fn stairs(steps: u32) -> String {
    format!(
        "terrain=[{{kind=\"stairs\", position_m=[1,0,0], steps={steps}, rise_m=0.1, run_m=0.3, \
         width_m=2}}]"
    )
}

/// 12 stations on a plane and 24 steps are 300 candidates: each station has 16 places.
#[test]
fn a_robot_stands_before_more_steps_than_there_is_room_for_contacts() {
    let s = load(&[&stairs(24)]).unwrap();
    assert_eq!((s.spec.stations.len(), s.spec.ground.len(), s.spec.places()), (12, 25, 16));
    let mut simulation = s.simulation();
    let mut snapshot = simulation.new_snapshot();
    for _ in 0..20 {
        simulation.step(&TickInput::new());
        assert_eq!(simulation.failure(), None);
    }
    simulation.fill(&mut snapshot);
    assert_eq!(snapshot.contacts.stations.len(), 192);
    assert_eq!(snapshot.contacts.places(12), 16);
    // as on the plane alone, to what a step a metre away pushes in the exact model
    let mut plain = load(&[]).unwrap().simulation();
    for _ in 0..20 {
        plain.step(&TickInput::new());
    }
    let heights = (simulation.state().q.p_WB.z, plain.state().q.p_WB.z);
    assert!((heights.0 - heights.1).abs() < 1e-9, "{heights:?}");

    let words = simulation.snapshot_words();
    let mut other = s.simulation();
    other.restore(&words).unwrap();
    for simulation in [&mut simulation, &mut other] {
        simulation.step(&TickInput::new());
    }
    assert_eq!(simulation.state().digest, other.state().digest);
}

#[test]
fn too_many_stations_for_many_surfaces_are_refused() {
    let points: Vec<String> = (0..49).map(|i| format!("[0.0,0.0,-0.0{i:02}]")).collect();
    let stations =
        format!("stations=[{{name=\"s\", link=\"trunk\", points_m=[{}]}}]", points.join(","));
    let text = load(&[&stations, &stairs(24)]).map(|_| ()).unwrap_err().to_string();
    let expected =
        "53 stations × 25 surfaces are more than 192 contacts, and so at most 48 stations";
    assert!(text.contains(expected), "{text}");
    let sets = ["contact.model=hunt_crossley", &stairs(24), "terrain.0.material=rubber"];
    let text = load(&sets).map(|_| ()).unwrap_err().to_string();
    assert!(text.contains("surfaces have different materials"), "{text}");
}
